//! In which part of a run the plan's load stays as it is.

use std::path::Path;

use squall_engine::{CompileOptions, compile};

/// The part in which these loads are constant, in seconds.
fn constant(loads: &[&str]) -> Option<(f64, Option<f64>)> {
    let scenario = |(number, load)| format!("a{number}: {{load: {{{load}}}, steps: [{{get: /}}]}}");
    let scenarios: Vec<String> = loads.iter().enumerate().map(scenario).collect();
    let plan = format!("target: http://a.test\nscenarios: {{{}}}\n", scenarios.join(", "));
    let loaded = squall_plan::yaml::load_str("plan", &plan, Path::new(""), &Default::default());
    let plan = loaded.expect("a good plan").plan;
    compile(&plan, &CompileOptions::default()).expect("a good plan").constant_s()
}

#[test]
fn a_load_is_constant_after_its_ramp_until_its_end() {
    assert_eq!(constant(&["rate: 200/s, ramp: 1s, for: 6500ms"]), Some((1.0, Some(6.5))));
    assert_eq!(constant(&["users: 2, for: 7500ms"]), Some((0.0, Some(7.5))));
    assert_eq!(constant(&["users: 2, iterations: 5"]), Some((0.0, None)));
    let two = ["users: 2, ramp: 3s, for: 20s", "rate: 5/s, ramp: 1s, for: 10s"];
    assert_eq!(constant(&two), Some((3.0, Some(10.0))), "while all are");
}

#[test]
fn a_load_that_always_changes_is_never_constant() {
    assert_eq!(constant(&["stages: [{users: 2, over: 1s}, {users: 4, over: 1s}]"]), None);
    let two = ["users: 2, for: 1h", "stages: [{users: 2, over: 1s}, {users: 4, over: 1s}]"];
    assert_eq!(constant(&two), None);
}
