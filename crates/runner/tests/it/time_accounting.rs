//! Time accounting: it adds up for every shape of load, and the times that the plan
//! determines are exact.

use serde_json::Value;
use squall_runner::Options;

use crate::common::{End, options, refused, result, target, workers};

/// Runs a plan of these lines against a target of its own.
fn run(plan: &str, options: &Options) -> Value {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!("target: {}\n{plan}", server.url());
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    result(folder.path(), options, End::Passed)
}

/// One scenario with this load and these steps, on two workers.
fn load(load: &str, steps: &str) -> Value {
    run(&format!("scenarios: {{a: {{load: {load}, steps: [{steps}]}}}}\n"), &workers(2))
}

/// User-seconds in a state.
fn time(json: &Value, state: &str) -> f64 {
    json["time_accounting"][state]
        .as_f64()
        .unwrap_or_else(|| panic!("{state}: {}", json["time_accounting"]))
}

/// Checks that the states add up to users × elapsed time, and the causes to the throughput gap.
fn adds_up(json: &Value, users: u64) {
    let states = ["requests", "think", "pacing", "waiting", "not_started", "finished", "generator"];
    let sum: f64 = states.iter().map(|state| time(json, state)).sum();
    let whole = users as f64 * json["elapsed_s"].as_f64().expect("a length");
    assert_eq!(json["time_accounting"]["users"].as_u64(), Some(users));
    assert!((sum - whole).abs() <= whole * 0.001, "{sum} of {whole}: {json}");
    assert!(states.iter().all(|state| time(json, state) >= 0.0), "{}", json["time_accounting"]);
    let phases = json["time_accounting"]["requests_by_phase"].as_object().expect("phases");
    let phases: f64 = phases.values().filter_map(Value::as_f64).sum();
    assert!((phases - time(json, "requests")).abs() < 1e-6, "{}", json["time_accounting"]);
    let gap = &json["throughput_gap"];
    let causes = gap["causes"].as_array().expect("causes");
    let causes: f64 = causes.iter().filter_map(|cause| cause["share"].as_f64()).sum();
    let share = gap["gap"].as_f64().expect("a gap");
    assert!((causes - share).abs() < 1e-9, "{gap}");
    let rate = |name: &str| gap[name].as_f64().expect("a rate");
    let (total, mean) = (rate("measured"), rate("littles_law"));
    assert!(((mean - total) / mean - share).abs() < 1e-9, "{gap}");
}

/// Checks a state's time, which the plan alone decides: it ends when the plan says, not when squall saw that.
fn exactly(json: &Value, state: &str, seconds: f64) {
    let time = time(json, state);
    assert!(
        (time - seconds).abs() < 1e-6,
        "{state} {time}, not {seconds}: {}",
        json["time_accounting"]
    );
}

#[test]
fn time_adds_up_on_every_shape() {
    let step = "{get: /}, {think: 5ms}";
    let shapes = [
        ("{users: 5, for: 1s}", 5),
        ("{users: 7, ramp: 600ms, for: 1s}", 7),
        ("{users: 6, pacing: 30ms, for: 1s}", 6),
        ("{users: 6, iterations: 20}", 6),
        ("{users: 6, iterations: 20, end: together}", 6),
        ("{users: 9, total_iterations: 200}", 9),
        (
            "{stages: [{users: 8, over: 500ms}, {users: 2, over: 300ms}, {users: 8, over: 500ms}]}",
            8,
        ),
        ("{stages: [{users: 4, over: 0}, {users: 4, over: 500ms}, {users: 0, over: 500ms}]}", 4),
    ];
    // At the same time, as they mostly wait.
    std::thread::scope(|scope| {
        for (shape, users) in shapes {
            scope.spawn(move || adds_up(&load(shape, step), users));
        }
    });
    let failing = "scenarios: {a: {load: {users: 3, for: 2s}, steps: [{get: /}, {get: /status/500}, {stop: user}]}}\nthresholds: [error_rate <= 50%]\n";
    adds_up(&run(failing, &workers(2)), 3);
    let parallel = "{parallel: {limit: 3, steps: [{get: /delay/5}, {get: /}, {think: 3ms}, {repeat: 3, steps: [{get: /}]}, {parallel: [{get: /}, {get: /delay/9}]}]}}, {get: /}";
    adds_up(&load("{users: 3, for: 1s}", parallel), 3);
    adds_up(&load("{users: 3, pacing: 40ms, for: 1s}", parallel), 3);
    let page =
        "{get: /page/20, resources: true}, {parallel: [{get: /page/8, resources: true}, {get: /}]}";
    adds_up(&load("{users: 3, for: 1s}", page), 3);
    adds_up(&load("{users: 3, iterations: 30}", "{exec: [sleep, '0']}, {get: /delay/2}"), 3);
}

#[test]
fn what_the_plan_decides_is_exact() {
    let json = load("{users: 4, iterations: 3}", "{get: /}, {think: 50ms}");
    adds_up(&json, 4);
    exactly(&json, "think", 4.0 * 3.0 * 0.05);
    exactly(&json, "pacing", 0.0);
    // At the same time the longest wait counts, and only while no request is in flight.
    let waits = "{parallel: [{think: 50ms}, {think: 20ms}, {think: 10ms}]}";
    let json = load("{users: 4, iterations: 3}", &format!("{waits}, {{get: /}}"));
    adds_up(&json, 4);
    exactly(&json, "think", 4.0 * 3.0 * 0.05);
    let json = load("{users: 4, iterations: 1}", "{parallel: [{think: 200ms}, {get: /delay/100}]}");
    adds_up(&json, 4);
    let (requests, think) = (time(&json, "requests"), time(&json, "think"));
    assert!(requests >= 4.0 * 0.1 - 1e-6, "{}", json["time_accounting"]);
    assert!(requests + think >= 4.0 * 0.2 - 1e-6, "{}", json["time_accounting"]);
    // Four users start at 0, 100, 200 and 300 ms.
    let json = load("{users: 4, ramp: 400ms, iterations: 1}", "{get: /}");
    adds_up(&json, 4);
    exactly(&json, "not_started", 0.1 + 0.2 + 0.3);
    let json = run(
        "scenarios: {a: {load: {users: 2, iterations: 1}, start_after: 300ms, steps: [{get: /}]}}\n",
        &options(),
    );
    adds_up(&json, 2);
    exactly(&json, "not_started", 0.6);
    // Open workloads have no users whose time is accounted for.
    let json = load("{rate: 20/s, for: 1s}", "{get: /}");
    assert_eq!(
        (json["time_accounting"]["users"].as_u64(), &json["throughput_gap"]),
        (Some(0), &Value::Null)
    );
}

#[test]
fn the_explanation_names_the_cause() {
    let first = |json: &Value| {
        let cause = &json["throughput_gap"]["causes"][0];
        (cause["state"].as_str().unwrap_or_default().to_owned(), cause["share"].as_f64())
    };
    // While one thinks for 3 s, 19 are done: next to that, what a busy machine adds is little.
    let each = load("{users: 20, iterations: 1}", "{get: /}, {if: user == 0, then: [{think: 3s}]}");
    adds_up(&each, 20);
    assert_eq!(first(&each).0, "finished", "{}", each["throughput_gap"]);
    let text = each["throughput_gap"]["causes"][0]["text"].as_str().expect("a text");
    assert!(text.contains("users finished while others continued (the first after"), "{text}");
    // The first that is done ends the one that would think for longer than anybody waits.
    let slow = "{if: user == 0, then: [{think: 1h}, {get: /, name: late}]}, {get: /}";
    let together = load("{users: 20, iterations: 1, end: together}", slow);
    adds_up(&together, 20);
    assert!(together["requests"]["late"].is_null(), "not all made their iterations: {together}");
    let ramp = load("{users: 20, ramp: 3s, for: 3s}", "{get: /delay/10}");
    adds_up(&ramp, 20);
    assert_eq!(first(&ramp).0, "not_started", "{}", ramp["throughput_gap"]);
}

#[test]
fn ending_together_needs_iterations() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = "target: http://a\nscenarios: {a: {load: {users: 1, for: 1s, end: together}, steps: [{get: /}]}}\n";
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let text = refused(folder.path(), &options());
    assert!(
        text.contains("plan.yaml:2:43: error: `end` only applies together with `iterations`"),
        "{text}"
    );
}
