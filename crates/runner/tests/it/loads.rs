//! Loads against a real target: how many users and iterations there are, and how
//! they end. What is asserted are counts and lower bounds of time, which a busy machine keeps too.

use serde_json::Value;
use squall_runner::{LoadOverrides, Options};
use squall_target::Server;

use crate::common::{End, all_good, counter, kinds, options, result, target, workers};

/// Runs a plan of this text, `URL` in it being the target's.
fn run(server: &Server, plan: &str, options: &Options) -> Value {
    ended(server, plan, options, End::Passed)
}

/// The same, for a run that is to end so.
fn ended(server: &Server, plan: &str, options: &Options, end: End) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plan.yaml"), plan.replace("URL", &server.url()))
        .expect("writable");
    result(folder.path(), options, end)
}

/// Runs one scenario with this load and these steps.
fn load(load: &str, steps: &str, options: &Options) -> Value {
    let plan = format!("target: URL\nscenarios: {{a: {{load: {load}, steps: [{steps}]}}}}\n");
    run(&target(), &plan, options)
}

fn elapsed(result: &Value) -> f64 {
    result["elapsed_s"].as_f64().expect("a length")
}

#[test]
fn stages_jump_at_their_time() {
    let stages = "{stages: [{users: 2, over: 0}, {users: 2, over: 1s}, {users: 5, over: 0}, {users: 5, over: 1s}]}";
    let json = load(stages, "{get: /}, {think: 20ms}", &options());
    assert_eq!(counter(&json, "users_active"), 5);
    assert_eq!(json["series"][1]["users"].as_u64(), Some(5), "{}", json["series"]);
    assert!(elapsed(&json) >= 2.0);
}

#[test]
fn a_ramp_ends_with_all_its_users() {
    let json = load("{users: 4, ramp: 300ms, for: 2s}", "{get: /}, {think: 10ms}", &options());
    assert_eq!(counter(&json, "users_active"), 4);
    assert_eq!(counter(&json, "connections_opened"), 4);
}

#[test]
fn iterations_start_no_sooner_than_the_pace() {
    let json = load("{users: 3, pacing: 200ms, iterations: 4}", "get: /", &options());
    all_good(&json, 12);
    assert!(elapsed(&json) >= 0.6, "three intervals: {}", elapsed(&json));
    assert_eq!(json["totals"]["corrected_latency_us"]["count"].as_u64(), Some(12));
}

#[test]
fn iterations_are_shared_exactly_over_workers() {
    let json = load("{users: 6, total_iterations: 500}", "get: /", &workers(2));
    all_good(&json, 500);
    assert_eq!(counter(&json, "iterations_done"), 500);
    let json = load("{users: 7, iterations: 11}", "get: /", &workers(2));
    all_good(&json, 77);
}

/// A worker without users has no iterations, no arrivals and no rows that nobody would use.
#[test]
fn scenarios_with_fewer_users_than_workers_lose_nothing() {
    let plan = "target: URL
data: {n: {numbers: {from: 1, to: 20}, at_end: stop}}
scenarios:
  many: {load: {users: 8, iterations: 5}, steps: [{get: /, name: many}]}
  one: {load: {users: 1, total_iterations: 20}, steps: [{get: /, name: one}]}
  rows: {load: {users: 1, for: 1m}, steps: [{get: '/?n=${n.number}', name: row}]}
  stages: {load: {stages: [{users: 1, over: 0}, {users: 1, over: 1m}], total_iterations: 20}, steps: [{get: /, name: stages}]}
  poll: {load: {rate: 1/s, max_users: 1, total_iterations: 3}, steps: [{get: /, name: poll}]}
";
    let json = run(&target(), plan, &workers(4));
    for (name, count) in [("many", 40), ("one", 20), ("row", 20), ("stages", 20), ("poll", 3)] {
        assert_eq!(json["requests"][name]["count"].as_u64(), Some(count), "{name}: {json}");
    }
    assert_eq!(counter(&json, "arrivals_dropped"), 0);
}

#[test]
fn arrivals_are_what_the_rate_says() {
    let json = load("{rate: 100/s, for: 1s}", "get: /", &workers(2));
    assert_eq!(counter(&json, "arrivals_due"), 100);
    let json =
        load("{stages: [{rate: 0/s, over: 0}, {rate: 100/s, over: 1s}]}", "get: /", &options());
    assert_eq!(counter(&json, "arrivals_due"), 50, "a ramp has half the arrivals");
    assert_eq!(
        counter(&load("{rate: 600/min, for: 1s}", "get: /", &options()), "arrivals_due"),
        10
    );
}

#[test]
fn a_seed_repeats_random_arrivals_on_any_number_of_workers() {
    let poisson = |seed: u64, options: Options| {
        let options = Options { seed: Some(seed), ..options };
        let json = load("{rate: 300/s, for: 1s, arrivals: poisson}", "get: /", &options);
        counter(&json, "arrivals_due")
    };
    let first = poisson(5, workers(1));
    assert_eq!(first, poisson(5, workers(2)));
    let others: Vec<u64> = [6, 7, 8].map(|seed| poisson(seed, options())).to_vec();
    assert!(others.iter().any(|other| *other != first), "{first} {others:?}");
    let ended = "{rate: 400/s, total_iterations: 60, arrivals: poisson}";
    all_good(&load(ended, "get: /", &workers(2)), 60);
}

#[test]
fn scenarios_share_a_load_by_weight() {
    let plan = "target: URL
load: {users: 20, iterations: 2}
scenarios:
  look: {weight: 9, steps: [{get: /, name: look}]}
  buy: {weight: 1, steps: [{get: /, name: buy}]}
";
    let json = run(&target(), plan, &workers(2));
    assert_eq!(json["requests"]["look"]["count"].as_u64(), Some(36), "{json}");
    assert_eq!(json["requests"]["buy"]["count"].as_u64(), Some(4));
}

#[test]
fn scenarios_run_side_by_side_and_start_later() {
    let plan = "target: URL
scenarios:
  first: {load: {users: 2, iterations: 3}, steps: [{get: /, name: first}]}
  later: {load: {users: 1, iterations: 1}, start_after: 400ms, steps: [{get: /, name: later}]}
  open: {load: {rate: 10/s, for: 1s}, steps: [{get: /, name: open}]}
";
    let json = run(&target(), plan, &options());
    for (name, count) in [("first", 6), ("later", 1), ("open", 10)] {
        assert_eq!(json["requests"][name]["count"].as_u64(), Some(count), "{name}: {json}");
    }
    assert!(elapsed(&json) >= 0.4);
}

#[test]
fn options_take_the_place_of_users_and_length() {
    let plan = "target: URL
scenarios:
  many: {load: {users: 30, iterations: 1}, steps: [{get: /, name: many}, {think: 10ms}]}
  few: {load: {users: 10, for: 1h}, steps: [{get: /, name: few}, {think: 10ms}]}
";
    let json = run(
        &target(),
        plan,
        &Options {
            loads: LoadOverrides {
                users: Some(8),
                length: Some(std::time::Duration::from_secs(1)),
                ..LoadOverrides::default()
            },
            ..options()
        },
    );
    assert_eq!(counter(&json, "users_active"), 8);
    assert!(elapsed(&json) >= 1.0);
    assert!(json["requests"]["many"]["count"].as_u64() > json["requests"]["few"]["count"].as_u64());
}

#[test]
fn what_is_in_flight_at_the_end_may_finish_during_the_graceful_stop() {
    let graceful = |grace: &str, delay: u32, end: End| {
        let plan = format!(
            "target: URL\ngraceful_stop: {grace}\nscenarios: {{a: {{load: {{users: 3, for: 1s}}, steps: [{{get: /delay/{delay}}}]}}}}\n"
        );
        ended(&target(), &plan, &options(), end)
    };
    let json = graceful("1h", 2_000, End::Passed);
    all_good(&json, 3);
    assert!(elapsed(&json) >= 2.0);
    // These responses are not waited for.
    let json = graceful("100ms", 3_600_000, End::Failed);
    assert_eq!(json["totals"]["latency_us"]["count"].as_u64(), Some(0), "{json}");
    let totals = &json["totals"];
    let of = |name: &str| totals[name].as_u64();
    assert_eq!((of("cut_off"), of("count"), of("errors")), (Some(3), Some(0), Some(0)), "{totals}");
}

#[test]
fn what_squall_cuts_off_is_no_error_of_the_target() {
    let thresholds = "[error_rate < 1%, errors == 0, cut_off == 3, cut_off(GET /late) == 3]";
    let plan = format!(
        "target: URL\ngraceful_stop: 100ms\nthresholds: {thresholds}\nscenarios: {{a: {{load: {{users: 3, for: 2s}}, steps: [{{get: /}}, {{get: /delay/3600000, name: GET /late}}]}}}}\n"
    );
    let json = run(&target(), &plan, &options());
    assert_eq!(kinds(&json), "{}");
    assert_eq!((counter(&json, "log_dropped"), json["log"].as_array().map(Vec::len)), (0, Some(0)));
}

#[test]
fn thresholds_on_moving_windows_judge_each_of_them_at_the_end() {
    let plan = "target: URL\nthresholds: [rate >= 0/s over 2s, p95(GET /) < 1h over 2s, 'error_rate < 1% over 1h']\nscenarios: {a: {load: {rate: 20/s, for: 4s}, steps: [{get: /}]}}\n";
    let json = ended(&target(), plan, &options(), End::Failed);
    let of = |at: usize, name: &str| json["thresholds"][at][name].clone();
    for at in [0, 1] {
        assert_eq!((of(at, "passed"), of(at, "over_s")), (true.into(), 2.into()), "{json}");
        assert!(of(at, "worst_from_s").as_u64().is_some_and(|from| from <= 2), "{json}");
    }
    assert_eq!(of(2, "shown"), "there was no window of 1h");
}

#[test]
fn a_threshold_on_a_moving_window_ends_the_load() {
    let plan = "target: URL\nthresholds: [{threshold: count < 5 over 2s, abort_on_fail: true}]\nscenarios: {a: {load: {users: 1, for: 1h}, steps: [{get: /}]}}\n";
    let json = ended(&target(), plan, &options(), End::Failed);
    assert_eq!(json["aborted"]["threshold"], "count < 5 over 2s", "{json}");
}

/// Its last arrival comes before its end: the rate is that of the time that the plan gives it.
#[test]
fn an_open_load_takes_its_time() {
    let json = load("{rate: 10/s, for: 1s}", "get: /", &options());
    all_good(&json, 10);
    assert!(elapsed(&json) >= 1.0, "{}", elapsed(&json));
}

/// What the plan asks for and what there is, of each scenario by second.
#[test]
fn the_series_has_planned_and_actual_load() {
    let plan = "
target: URL
scenarios:
  closed: {load: {users: 4, ramp: 1s, for: 3s}, steps: [get: /delay/300]}
  open: {load: {rate: 20/s, for: 3s}, steps: [get: /]}
";
    let json = run(&target(), plan, &workers(2));
    let series = json["series"].as_array().expect("seconds");
    let of = |second: usize, scenario: &str, key: &str| {
        series[second]["scenarios"][scenario][key].as_f64().expect(key)
    };
    for second in [1, 2] {
        let closed = |key| of(second, "closed", key);
        assert_eq!((closed("planned_users"), closed("users")), (4.0, 4.0), "{series:?}");
        // Each of them has a request in flight, but for the moment between two.
        assert_eq!(closed("in_flight"), 4.0, "{series:?}");
        assert_eq!(of(second, "open", "planned_arrivals"), 20.0);
    }
    assert_eq!(of(0, "closed", "planned_users"), 4.0, "where the ramp ends");
    let sum =
        |scenario, key| (0..series.len()).map(|second| of(second, scenario, key)).sum::<f64>();
    let due = counter(&json, "arrivals_due") - counter(&json, "arrivals_dropped");
    assert_eq!(
        (sum("open", "iterations_started"), sum("open", "planned_arrivals")),
        (due as f64, 60.0)
    );
    let rows = json["iterations"].as_array().expect("rows");
    for row in rows {
        let scenario = row["scenario"].as_str().expect("a scenario");
        assert_eq!(Some(sum(scenario, "iterations_done")), row["count"].as_f64(), "{row}");
        let track = json["series_rows"]
            .as_array()
            .expect("rows")
            .iter()
            .find(|own| own["kind"] == "iteration" && own["scenario"] == scenario);
        let counts = track.expect("a track")["count"].as_array().expect("counts");
        assert_eq!(Some(counts.iter().filter_map(Value::as_u64).sum()), row["count"].as_u64());
    }
    assert_eq!(series.last().expect("a second")["in_flight_at_end"].as_u64(), Some(0));
}

#[test]
fn scenarios_come_after_others_over_all_workers() {
    let plan = "
target: URL
scenarios:
  before: {load: {users: 3, iterations: 2}, steps: [{get: /, check: status == 200}]}
  main: {load: {users: 4, iterations: 1}, after: [before], fresh_connections: true, steps: [{if: elapsed < 0.3, then: [{think: 300ms}]}, {get: /}]}
  behind: {load: {users: 1, for: 2s}, after: [main, before], steps: [{if: elapsed < 0.3, then: [{get: /, name: too early}]}, {get: /}, {stop: user}]}
";
    let json = run(&target(), plan, &workers(2));
    all_good(&json, 6 + 4 + 1);
    assert!(json["requests"]["too early"].is_null(), "{}", json["requests"]);
    assert!(elapsed(&json) >= 0.3);
}

/// When they begin and end that come after others, or end with their iterations, is seen.
#[test]
fn what_is_planned_of_scenarios_after_others_begins_with_them() {
    let plan = "
target: URL
scenarios:
  first: {load: {users: 3, iterations: 1}, steps: [{think: 1100ms}, {get: /}]}
  then: {load: {users: 2, for: 2s}, after: [first], steps: [{get: /delay/50}]}
";
    let json = run(&target(), plan, &workers(2));
    let series = json["series"].as_array().expect("seconds");
    let seen = |name: &str, key: &str| -> Vec<u64> {
        let of = series.iter().map(|row| row["scenarios"][name][key].as_f64().expect(key) as u64);
        of.collect()
    };
    for name in ["first", "then"] {
        assert_eq!(seen(name, "planned_users"), seen(name, "users"), "{name}: {json}");
    }
    assert!(seen("then", "users")[0] == 0 && seen("first", "users")[2] == 0, "{series:?}");
    let then = &json["meta"]["scenarios"][1]["planned"];
    assert_eq!((&then["after"][0], &then["until_done"]), (&"first".into(), &false.into()));
    assert_eq!(then["points"].to_string(), "[[0.0,0.0],[0.0,2.0],[2.0,2.0],[2.0,0.0]]");
}

#[test]
fn a_load_without_end_ends_when_it_is_told_to() {
    let plan = "target: URL\nscenarios: {a: {load: {users: 2, endless: true}, steps: \
        [{passes: {first: 20, of: scenario, steps: [{get: /}]}}, {if: iteration > 20, then: [{stop: run}]}]}}\n";
    // A run that its plan stops has not passed.
    let json = ended(&target(), plan, &workers(2), End::Failed);
    all_good(&json, 20);
}
