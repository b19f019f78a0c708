//! Setup and teardown: what ends them, and what makes them fail beside requests.

use squall_runner::{FinishedRun, PhaseEnd};

use crate::common::{End, Steps, options, outcome, target};

/// Runs a plan with these sections around one request, and tells how many requests the target has seen.
fn run(sections: &str) -> (FinishedRun, u64) {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let load = "scenarios: {a: {load: {users: 1, iterations: 1}, steps: [{get: /}]}}";
    let plan = format!("target: {}\nvars: {{q: x}}\n{sections}\n{load}\n", server.url());
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let outcome = outcome(folder.path(), &options());
    (outcome, server.stats().requests)
}

#[test]
fn an_expression_that_fails_ends_the_setup() {
    for step in ["set: {z: '${int(q)}'}", "log: '${int(q)}'", "if: int(q) == 1, then: [{get: /}]"] {
        let (outcome, requests) = run(&format!("setup: [{{{step}}}, {{get: /never}}]"));
        assert_eq!(requests, 0, "{step}");
        let PhaseEnd::Failed(reason) = &outcome.phases[0].end else { panic!("{outcome:?}") };
        assert!(reason.contains("`x` is not a number"), "{reason}");
        assert!(!outcome.run.passed() && !outcome.has_load, "{step}");
    }
}

#[test]
fn an_expression_or_a_look_that_fails_makes_a_teardown_fail_which_goes_on() {
    for step in [
        "set: {z: '${int(q)}'}",
        "look: abc, check: body == '1'",
        "look: abc, extract: {z: {regex: 'nothing(.)'}}",
    ] {
        let (outcome, requests) = run(&format!("teardown: [{{{step}}}, {{get: /after}}]"));
        assert_eq!(requests, 2, "{step}");
        let down = outcome.phases.last().expect("a teardown");
        assert!(matches!(&down.end, PhaseEnd::Failed(_)), "{step}: {down:?}");
        assert!(!outcome.run.passed(), "{step}");
    }
}

#[test]
fn a_look_that_fails_says_why_a_setup_failed() {
    let check = r#"{look: abc, check: {expr: 'body == "1"', name: is one}}"#;
    let (outcome, requests) = run(&format!("setup: [{check}, {{get: /never}}]"));
    assert_eq!(requests, 0);
    let PhaseEnd::Failed(reason) = &outcome.phases[0].end else { panic!("{outcome:?}") };
    assert!(reason.contains("look: ") && reason.contains("is one"), "{reason}");
}

/// The load has ended: there is nothing more to stop.
#[test]
fn a_teardown_may_stop_the_run() {
    let (outcome, requests) = run("teardown: [{stop: run}, {get: /never}]");
    assert_eq!(requests, 1);
    assert_eq!(outcome.phases.last().map(|down| &down.end), Some(&PhaseEnd::Done));
    assert!(outcome.run.passed());
}

#[test]
fn a_look_that_finds_nothing_fails_a_run() {
    let steps = "\n      - get: /\n      - {look: abc, extract: {z: {regex: 'nothing(.)'}}}";
    let json = Steps::one(&target().url(), steps).run(End::Failed);
    assert_eq!(json["outcome"]["reasons"][0]["kind"], "expressions", "{}", json["outcome"]);
}
