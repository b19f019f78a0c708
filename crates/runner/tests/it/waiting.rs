//! Users that wait for each other, on two workers: critical sections and rendezvous, and how such waits end where
//! something goes wrong. That a user waits no longer than it has to is tested in virtual time, where the engine decides
//! it (`turns.rs`): here, waits have lower bounds, and what a machine in arrears adds to them counts as squall's own time.

use std::sync::Barrier;

use serde_json::Value;
use squall_runner::Options;

use crate::common::peer::{Peer, response};
use crate::common::{End, all_good, checked, counter, options, refused, result, target, workers};

/// A folder with a plan of these lines, for a target of its own.
fn folder(url: &str, plan: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!("target: {url}\n{plan}\n");
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    folder
}

fn run_with(plan: &str, options: &Options, end: End) -> Value {
    let server = target();
    result(folder(&server.url(), plan).path(), options, end)
}

/// Runs it on two workers.
fn run(plan: &str, end: End) -> Value {
    run_with(plan, &workers(2), end)
}

/// One scenario with this load and these steps.
fn load(load: &str, steps: &str) -> Value {
    run(&format!("scenarios: {{a: {{load: {load}, steps: [{steps}]}}}}"), End::Passed)
}

/// Time of all users in a state.
fn time(json: &Value, state: &str) -> f64 {
    json["time_accounting"][state].as_f64().expect("a time")
}

/// Checks that users waited for others, and for this long, if what they came late, or went on late, counts too.
fn waited(json: &Value, least: f64) {
    let waiting = time(json, "waiting");
    assert!(waiting > 0.0, "{}", json["time_accounting"]);
    let late = time(json, "generator");
    assert!(waiting + late >= least - 1e-6, "{waiting} and {late}: {}", json["time_accounting"]);
}

fn elapsed(json: &Value) -> f64 {
    json["elapsed_s"].as_f64().expect("a length")
}

#[test]
fn one_user_at_a_time_is_in_a_critical_section() {
    let inside = "critical_section: one, steps: [{set: {n: '${n + 1}'}}, {get: /delay/3, check: n == 1}, {set: {n: '${n - 1}'}}]";
    let json = run(
        &format!(
            "vars: {{n: {{value: 0, shared: true}}}}\nscenarios:\n  a: {{load: {{users: 4, iterations: 5}}, steps: [{{{inside}}}]}}\n  \
             b: {{load: {{users: 2, iterations: 5}}, steps: [{{get: /}}, {{{inside}}}]}}"
        ),
        End::Passed,
    );
    assert_eq!(counter(&json, "checks_passed"), 30, "{json}");
    all_good(&json, 40);
    // Two sections are two: each is held until all are.
    let all = Barrier::new(4);
    let server = Peer::start("127.0.0.1", move |mut client| {
        while client.request().is_some() {
            all.wait();
            client.send(response("200 OK", ""));
        }
    });
    let own = "scenarios: {a: {load: {users: 4, iterations: 1}, steps: [{critical_section: 'own ${user}', steps: [{get: /, timeout: 20s}]}]}}";
    let json = result(folder(&server.url(), own).path(), &workers(2), End::Passed);
    all_good(&json, 4);
    assert_eq!(time(&json, "waiting"), 0.0, "{}", json["time_accounting"]);
}

#[test]
fn waits_are_accounted_for_and_are_no_latency() {
    let json = load(
        "{users: 4, iterations: 1}",
        "{group: all, think_time: excluded, steps: [{critical_section: one, steps: [{think: 50ms}, {get: /}]}]}",
    );
    // Nobody, and then for one, for two and for three others, which think for so long.
    waited(&json, 0.05 + 0.1 + 0.15);
    assert!((time(&json, "think") - 4.0 * 0.05).abs() < 1e-6, "{}", json["time_accounting"]);
    assert!(elapsed(&json) >= 0.2, "one after the other");
    // What is not left out of a group is its request, and squall's own time.
    let sum = |row: &Value| {
        let of = |key: &str| row[key].as_f64().expect("a number");
        of("mean") * of("count") / 1e6
    };
    let groups = sum(&json["groups"]["all"]["latency_us"]);
    let own = time(&json, "requests") + time(&json, "generator");
    assert!(groups <= own + 1e-4, "the waits are left out: {groups} of {own}");
    let requests = sum(&json["requests"]["GET /"]["latency_us"]);
    assert!(requests <= time(&json, "requests") + 1e-4, "{}", json["time_accounting"]);
    // They come at 0, 100 and 200 ms.
    let json = load("{users: 3, ramp: 300ms, iterations: 1}", "{rendezvous: {users: 3}}, {get: /}");
    waited(&json, 0.2 + 0.1);
    all_good(&json, 3);
}

#[test]
fn a_user_that_goes_leaves_its_section() {
    let plan = |more: &str, steps: &str| {
        format!(
            "scenarios: {{a: {{load: {{users: 4, iterations: 3}}, {more} steps: [{steps}]}}}}\nthresholds: [error_rate <= 100%]"
        )
    };
    let fails = "{critical_section: one, steps: [{get: /status/500}, {get: /never}]}";
    for (on_error, count) in [("next_iteration", 12), ("stop_user", 4), ("stop_run", 0)] {
        // As no request is good, and one of them stops the run.
        let json = run(&plan(&format!("on_error: {on_error},"), fails), End::Failed);
        let requests = json["requests"].as_object().expect("rows");
        let made = json["totals"]["count"].as_u64().expect("a number");
        // The other worker is told a moment later: whoever is in line there may come in once more.
        let is_good = if count == 0 { (1..=4).contains(&made) } else { made == count };
        assert!(is_good, "{on_error}: {requests:?}");
    }
    for (steps, count) in [
        ("{critical_section: one, steps: [{get: /}, {stop: iteration}, {get: /never}]}", 12),
        ("{critical_section: one, steps: [{get: /}, {stop: user}]}", 4),
        (
            "{repeat: 2, steps: [{critical_section: one, steps: [{group: g, steps: [{get: /}, {stop: pass}]}]}]}, {get: /}",
            36,
        ),
        (
            "{repeat: 2, steps: [{critical_section: one, steps: [{critical_section: two, steps: [{get: /}, {stop: loop}]}]}]}, {get: /}",
            24,
        ),
        (
            "{critical_section: one, steps: [{critical_section: one, steps: [{get: /}]}, {get: /}]}",
            24,
        ),
        (
            "{critical_section: one, steps: [{parallel: [{critical_section: one, steps: [{get: /}]}, {get: /}]}]}",
            24,
        ),
        (
            "{parallel: [{critical_section: one, steps: [{get: /}, {stop: iteration}]}, {critical_section: one, steps: [{think: 1h}]}]}",
            12,
        ),
    ] {
        let json = run(&plan("", steps), End::Passed);
        all_good(&json, count);
    }
}

#[test]
fn users_that_wait_end_with_their_load() {
    let ends = |load: &str, steps: &str| {
        // Those who are late may come after the end.
        let json = self::load(load, steps);
        assert!(elapsed(&json) >= 1.0, "{steps}: {}", elapsed(&json));
        let first = json["requests"]["GET /"]["count"].as_u64().unwrap_or(0);
        assert_eq!(first, counter(&json, "iterations_started"), "{steps}: {json}");
        assert!(json["requests"]["GET /never"].is_null(), "{steps}: {json}");
        assert_eq!(counter(&json, "iterations_done"), 0, "{steps}: {json}");
    };
    // At the same time, as they mostly wait.
    std::thread::scope(|scope| {
        for steps in [
            "{get: /}, {critical_section: one, steps: [{think: 1h}]}",
            "{get: /}, {critical_section: one, steps: [{get: /delay/1500}, {get: /never}]}",
            "{get: /}, {rendezvous: {users: 50}}",
            "{get: /}, {parallel: [{rendezvous: {users: 50, timeout: 1h}}, {critical_section: one, steps: [{think: 1h}]}]}",
        ] {
            for load in ["{users: 5, for: 1s}", "{rate: 10/s, for: 1s}"] {
                scope.spawn(move || ends(load, steps));
            }
        }
    });
    // Loads that end by number alone are stopped by another user, or by their own.
    let json = run(
        "scenarios:\n  a: {load: {users: 3, iterations: 1}, steps: [{rendezvous: {users: 9}}, {get: /never}]}\n  \
         b: {load: {users: 1, iterations: 1}, steps: [{think: 200ms}, {get: /}, {stop: run}]}",
        End::Failed,
    );
    all_good(&json, 1);
    waited(&json, 3.0 * 0.2);
}

#[test]
fn users_go_on_together() {
    // All four arrive before anyone goes on, each time.
    let json = run(
        "vars: {n: {value: 0, shared: true}}\nscenarios: {a: {load: {users: 4, iterations: 3}, steps: [
        {think: 0ms..20ms}, {rendezvous: {users: 4, name: start}}, {critical_section: c, steps: [{set: {n: '${n + 1}'}}]},
        {rendezvous: {users: 4}}, {get: /, check: n % 4 == 0}, {rendezvous: {users: 4, name: start}}]}}",
        End::Passed,
    );
    assert_eq!(counter(&json, "checks_passed"), 12, "{json}");
    // Users of two scenarios.
    let json = run(
        "scenarios:\n  a: {load: {users: 1, iterations: 2}, steps: [{rendezvous: {users: 2, name: both}}, {get: /}]}\n  \
         b: {load: {users: 1, iterations: 2}, steps: [{think: 100ms}, {rendezvous: {users: 2, name: both}}, {get: /}]}",
        End::Passed,
    );
    all_good(&json, 4);
    // Each time the one waits for the other that thinks, but for what its own request takes longer.
    waited(&json, 2.0 * 0.1 - time(&json, "requests"));
}

#[test]
fn users_that_are_too_few_go_on_when_the_first_has_waited_long_enough() {
    let steps = "{rendezvous: {users: 5, timeout: 200ms}}, {get: /}";
    // The second comes after 100 ms, and waits for the rest of the first one's time.
    let json = load("{users: 2, ramp: 200ms, iterations: 1}", steps);
    all_good(&json, 2);
    waited(&json, 0.2 + 0.1);
    assert!(elapsed(&json) >= 0.2, "{}", elapsed(&json));
}

#[test]
fn what_cannot_be_meant_is_said() {
    let server = target();
    let plan = |more: &str| {
        format!(
            "scenarios:\n  a:\n    load: {{users: 2, iterations: 1}}\n    steps:\n      - rendezvous: {{users: 3, name: x}}\n{more}"
        )
    };
    let folder = |more: &str| folder(&server.url(), &plan(more));
    let error = refused(folder("      - rendezvous: {users: 2, name: x}").path(), &options());
    assert!(error.contains("steps with one name have the same `users` and `timeout`"), "{error}");
    let error = refused(folder("      - rendezvous: {users: 0}").path(), &options());
    assert!(error.contains("users"), "{error}");
    let warnings = checked(folder("").path());
    let expected = "3 users never meet here: the loads have at most 2";
    assert!(warnings.iter().any(|text| text.contains(expected)), "{warnings:?}");
}

#[test]
fn an_exact_number_of_passes_is_spread_over_a_time() {
    let pace = "{pace: {rate: 20, by: scenario_in_line, exact_over: 500ms, batch: 5}}, {get: /}";
    // Ten in each half second: the last of twenty in the second one, or just after it.
    let json = load("{users: 5, total_iterations: 20}", pace);
    all_good(&json, 20);
    assert!(elapsed(&json) >= 0.5, "{}", elapsed(&json));
    let server = target();
    for pace in ["rate: 5, exact_over: 1s", "rate: 5, batch: 2", "rate: 5, by: run, exact_over: 1s"]
    {
        let plan = format!(
            "scenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{{pace: {{{pace}}}}}]}}}}"
        );
        let error = refused(folder(&server.url(), &plan).path(), &options());
        assert!(error.contains("an exact number of passes is one of users in line"), "{error}");
    }
}
