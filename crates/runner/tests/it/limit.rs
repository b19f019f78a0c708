//! The search for the limit, against queues whose limits are known, and against plans that break it off.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use squall_limit::{LevelKind, Limit, SearchEnd, StepOutcome};
use squall_report::{Around, Meta, limit_json, limit_text};
use squall_runner::{
    ErrorKind, Handle, LimitOptions, LimitOutcome, Mode, PhaseEnd, limit as search, load_str,
};

use crate::common::{as_read, target, workers};

/// Four servers that take 20 ms each: n users wait 5 n ms in the mean, from four on.
const STEPS: &str = "{get: \"/queue?servers=4&mean=20&dist=fixed\"}";

fn asked(requirement: &str) -> LimitOptions {
    LimitOptions {
        requirements: vec![requirement.to_owned()],
        by: None,
        from: None,
        to: None,
        step: Duration::from_secs(2),
        max_steps: 15,
        mode: Mode::Search,
        folder: None,
    }
}

/// Searches a plan of these scenarios, against a target of its own.
fn limit(scenarios: &str, asked: &LimitOptions) -> LimitOutcome {
    let server = target();
    let plan = format!("target: {}\nscenarios: {{{scenarios}}}\n", server.url());
    let plan = load_str("plan", &plan).unwrap_or_else(|error| panic!("{error}"));
    let outcome = search(&plan, &workers(1), asked, &Handle::default(), &mut |_| ());
    outcome.unwrap_or_else(|error| panic!("{error}"))
}

/// A search whose generator was not disturbed: the first of three, or the last. Whoever else uses the machine can
/// starve it, and then it blames nobody.
fn undisturbed(scenarios: &str, asked: &LimitOptions) -> Limit {
    for attempt in 1.. {
        let LimitOutcome { limit, failures, .. } = limit(scenarios, asked);
        assert_eq!(failures, [] as [&str; 0]);
        let disturbed = limit.steps.iter().any(|step| step.outcome() == StepOutcome::Generator);
        if !disturbed || attempt == 3 {
            return limit;
        }
    }
    unreachable!("three attempts were made")
}

fn one_load(load: &str) -> String {
    format!("a: {{load: {{{load}, for: 1s}}, steps: [{STEPS}]}}")
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

#[test]
fn the_highest_number_of_users_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let asked = LimitOptions {
        max_steps: 8,
        folder: Some(folder.path().to_owned()),
        ..asked("mean < 37ms")
    };
    let limit = undisturbed(&one_load("users: 1"), &asked);
    assert_eq!(limit.by, LevelKind::Users);
    assert!(matches!(limit.end, SearchEnd::Found | SearchEnd::OutOfSteps), "{limit:?}");
    let level = limit.sustained_max.expect("a maximum").level;
    // How near an answer comes is tested on simulated queues; here, what else the machine does counts too.
    assert!((4.0..9.0).contains(&level), "7 users wait 35 ms: {:?}", limit.sustained_max);
    let first = limit.violated_first().expect("words");
    assert!(first.starts_with("mean < 37ms ("), "{first}");
    let highest = limit.scaling.and_then(|law| law.highest()).expect("a law");
    assert!((120.0..300.0).contains(&highest), "4 servers do 200 a second: {highest}");
    assert!(limit.recoveries[0].seconds.is_some(), "it recovers: {:?}", limit.recoveries);
    let mut folders: Vec<_> = std::fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("one").path())
        .collect();
    folders.sort();
    let kept = folders.last().expect("one");
    let text = std::fs::read_to_string(kept.join("limit.txt")).expect("a text");
    assert!(text.contains("result         ") && text.contains("└──"), "{text}");
    let result = read(&kept.join("limit.json"));
    let meta: Meta = serde_json::from_value(result["meta"].clone()).expect("what was tested");
    assert_eq!(result, as_read(&limit_json(&limit, &meta, Around::default())));
    let plan = std::fs::read_to_string(kept.join("plan.yaml")).expect("a plan");
    let target = meta.target.as_ref().expect("a target");
    assert!(plan.contains(target) && text.contains(&format!("at {target}, seed {}", meta.seed)));
    assert!(meta.scenarios.len() == 1 && meta.digests.contains_key("plan"), "{meta:?}");
}

/// The target leaks from the first time that more than 20 users are there at once.
#[test]
fn a_target_that_does_not_recover_is_not_found() {
    let leak = "a: {load: {users: 1, for: 1s}, steps: [{get: \"/leak?most=20&each=5\"}]}";
    let limit = limit(leak, &asked("mean < 60ms")).limit;
    // Whoever else uses the machine can starve the generator: then it blames nobody.
    assert!(matches!(limit.end, SearchEnd::NotRecovered | SearchEnd::Generator), "{limit:?}");
    assert!(limit.sustained_max.is_none(), "{limit:?}");
}

#[test]
fn a_spike_violates_and_recovers() {
    let asked =
        LimitOptions { mode: Mode::Spike, from: Some(2.0), to: Some(40.0), ..asked("mean < 60ms") };
    let limit = undisturbed(&one_load("users: 1"), &asked);
    let outcomes: Vec<StepOutcome> = limit.steps.iter().map(|step| step.outcome()).collect();
    assert_eq!(outcomes, [StepOutcome::Met, StepOutcome::Violated, StepOutcome::Met], "{limit:?}");
}

#[test]
fn a_soak_is_one_run_in_windows() {
    let asked = LimitOptions {
        mode: Mode::Soak,
        by: Some(LevelKind::Rate),
        to: Some(40.0),
        max_steps: 2,
        ..asked("p99 < 60ms")
    };
    let limit = undisturbed(&one_load("users: 1"), &asked);
    assert_eq!(limit.steps.len(), 2);
    assert!(limit.steps.iter().all(|step| (30.0..50.0).contains(&step.requests)), "{limit:?}");
}

/// Users and arrivals are multiplied by the same factor: 2 users each 20 ms, and 20 arrivals a second.
#[test]
fn a_plan_with_users_and_arrivals_is_multiplied_as_a_whole() {
    let both = "a: {load: {users: 2, pacing: 100ms, for: 1s}, steps: [{get: /, name: closed}]}, \
        b: {load: {rate: 20/s, for: 1s, max_users: 10}, steps: [{get: /, name: open}]}";
    let asked = LimitOptions {
        mode: Mode::Stress,
        from: Some(1.0),
        to: Some(3.0),
        max_steps: 2,
        ..asked("error_rate < 1%")
    };
    let limit = undisturbed(both, &asked);
    assert_eq!(limit.by, LevelKind::Factor);
    let rates: Vec<f64> = limit.steps.iter().map(|step| step.requests).collect();
    assert!((28.0..48.0).contains(&rates[0]), "20/s of users, and 20/s that arrive: {rates:?}");
    assert!((90.0..140.0).contains(&rates[1]), "three times as much: {rates:?}");
    let text = limit_text(&limit, &Meta::default(), Around::default());
    assert!(text.contains("by factor") && text.contains("3.00x"), "{text}");
}

/// A level at which the plan cannot run: what was measured before it is in the result, and on disk.
#[test]
fn a_search_that_breaks_off_keeps_its_steps() {
    let folder = tempfile::tempdir().expect("a folder");
    let asked = LimitOptions {
        mode: Mode::Spike,
        from: Some(1.0),
        to: Some(4e9),
        folder: Some(folder.path().to_owned()),
        ..asked("mean < 1s")
    };
    let outcome = limit(&one_load("users: 1"), &asked);
    assert!(outcome.failures[0].contains("is not a number of users"), "{:?}", outcome.failures);
    assert_eq!((outcome.limit.end, outcome.limit.steps.len()), (SearchEnd::Interrupted, 1));
    let text = limit_text(&outcome.limit, &outcome.meta, Around::default());
    assert!(text.contains("so far the requirements were met at 1"), "{text}");
    let kept = read(&outcome.folder.expect("a folder").join("limit.json"));
    assert_eq!(kept["steps"].as_array().map(Vec::len), Some(1), "{kept}");
    assert_eq!(kept["failures"][0], *outcome.failures[0], "{kept}");
}

/// A setup that failed is no interruption, and what became of it and of the teardown is on disk.
#[test]
fn a_setup_or_a_teardown_that_fails_is_in_the_result() {
    let server = target();
    let searched = |setup: u16, teardown: u16| {
        let folder = tempfile::tempdir().expect("a folder");
        let text = format!(
            "target: {}\nsetup: [{{get: /status/{setup}, name: login}}]\nteardown: [{{get: /status/{teardown}, name: logout}}]\nscenarios: {{{}}}\n",
            server.url(),
            one_load("users: 1")
        );
        let plan = load_str("plan", &text).expect("a plan");
        let asked = LimitOptions {
            mode: Mode::Soak,
            to: Some(1.0),
            max_steps: 1,
            folder: Some(folder.path().to_owned()),
            ..asked("mean < 10s")
        };
        let outcome = search(&plan, &workers(1), &asked, &Handle::default(), &mut |_| ());
        let outcome = outcome.expect("an outcome");
        let kept = outcome.folder.as_ref().expect("a folder");
        let text = std::fs::read_to_string(kept.join("limit.txt")).expect("a text");
        (read(&kept.join("limit.json")), text, outcome)
    };
    let (json, text, outcome) = searched(500, 204);
    assert_eq!((outcome.limit.end, outcome.limit.steps.len()), (SearchEnd::SetupFailed, 0));
    assert_eq!(json["end"], "setup failed");
    assert_eq!(json["run_phases"][0]["end"], "failed");
    assert_eq!(json["run_phases"][1]["end"], "done", "the teardown");
    assert_eq!(json["failures"][0], *outcome.failures[0]);
    assert!(text.contains("result         the setup failed: no step was run"), "{text}");
    let (json, text, outcome) = searched(204, 500);
    assert_eq!((outcome.limit.end, outcome.limit.steps.len()), (SearchEnd::OutOfSteps, 1));
    assert_eq!(json["end"], "out of steps");
    assert_eq!(json["run_phases"][1]["end"], "failed");
    assert_eq!(json["failures"][0], *outcome.failures[0]);
    assert!(text.contains("failed         teardown failed: "), "{text}");
}

/// Both count in the level, though one comes after the other in a run.
#[test]
fn scenarios_that_come_after_others_are_part_of_each_level() {
    let both = "a: {load: {users: 2, for: 1s}, steps: [{get: /, name: first}, {think: 50ms}]}, \
        b: {after: [a], load: {users: 2, for: 1s}, steps: [{get: /, name: second}, {think: 50ms}]}";
    let asked = LimitOptions {
        mode: Mode::Soak,
        to: Some(4.0),
        max_steps: 1,
        ..asked("count(second) > 0")
    };
    let limit = undisturbed(both, &asked);
    assert!(limit.steps[0].met(), "{limit:?}");
}

/// Nothing is sent for what no level could meet, or for levels that are the wrong way around.
#[test]
fn what_makes_no_sense_is_refused_before_the_first_step() {
    let plan = format!("target: http://127.0.0.1:1\nscenarios: {{{}}}\n", one_load("users: 1"));
    let plan = load_str("plan", &plan).expect("a plan");
    let refused = |asked: &LimitOptions| {
        let outcome = search(&plan, &workers(1), asked, &Handle::default(), &mut |_| ());
        outcome.expect_err("nothing was searched")
    };
    let error = refused(&asked("p99(nosuch) < 1s"));
    assert_eq!(error.kind, ErrorKind::Input);
    assert!(error.text.contains("--require 'p99(nosuch) < 1s': no request"), "{error}");
    let error = refused(&LimitOptions { from: Some(10.0), to: Some(5.0), ..asked("p99 < 1s") });
    assert_eq!(
        (error.kind, &*error.text),
        (ErrorKind::Input, "invalid --from `10`: expected at most the level of --to, `5`")
    );
}

/// A search is stopped from another thread, in its setup or in a step; what its setup has made is cleaned up.
#[test]
fn a_search_is_stopped() {
    let server = target();
    let plan = |setup: &str| {
        let text = format!(
            "target: {}\ngraceful_stop: 100ms\nsetup: [{{get: {setup}}}]\nteardown: [{{get: /}}]\nscenarios: {{{}}}\n",
            server.url(),
            one_load("users: 1")
        );
        load_str("plan", &text).expect("a plan")
    };
    let stopped = |setup: &str| {
        let (handle, plan) = (Handle::default(), plan(setup));
        let stopper = handle.clone();
        let wait = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(700));
            stopper.stop();
        });
        let outcome = search(&plan, &workers(1), &asked("p99 < 1s"), &handle, &mut |_| ());
        wait.join().expect("no panic");
        outcome.expect("an outcome")
    };
    let in_setup = stopped("/delay/3600000");
    assert_eq!(in_setup.phases[0].end, PhaseEnd::Interrupted);
    assert_eq!((in_setup.limit.end, in_setup.limit.steps.len()), (SearchEnd::Interrupted, 0));
    let in_step = stopped("/status/204");
    assert_eq!((in_step.limit.end, in_step.limit.steps.len()), (SearchEnd::Interrupted, 0));
    for outcome in [in_setup, in_step] {
        assert_eq!(outcome.phases[1].end, PhaseEnd::Done, "the teardown");
        assert_eq!(outcome.failures, [] as [&str; 0]);
    }
}
