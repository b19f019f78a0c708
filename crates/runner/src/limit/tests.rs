//! Searches of a target in virtual time: every answer is known.

use std::path::Path;

use serde_json::Value;
use squall_limit::{Limit, LoadStep, StepOutcome};
use squall_report::{Around, Meta, limit_json, limit_text};

use super::simulated::Simulated;
use super::*;

const FOUR_SERVERS: usize = 4;

fn asked(from: f64, to: Option<f64>, max_steps: u32) -> LimitOptions {
    LimitOptions {
        requirements: Vec::new(),
        by: None,
        from: Some(from),
        to,
        step: Duration::from_secs(10),
        max_steps,
        folder: None,
    }
}

fn plan(scenarios: &str) -> Plan {
    let text = format!("target: builtin\nscenarios: {{{scenarios}}}\n");
    crate::load_str("plan", &text).expect("a plan").plan
}

/// Scenarios with these loads, called `a`, `b` and so on.
fn loads(loads: &[&str]) -> Plan {
    let one = |(name, load): (char, &&str)| {
        format!("{name}: {{load: {{{load}, for: 1s}}, steps: [{{get: /}}]}}")
    };
    plan(&('a'..).zip(loads).map(one).collect::<Vec<_>>().join(", "))
}

/// What is told of each step: its number, how many there are at most, and its level.
type Told = Vec<(usize, usize, f64)>;

/// Searches the limit of a target; stops it by `handle`.
fn searched(
    target: &Simulated<'_>,
    plan: &Plan,
    asked: &LimitOptions,
    requirement: &str,
    handle: &Handle,
) -> (LimitOutcome, Told) {
    let by = asked.by.unwrap_or_else(|| level::kind(plan));
    let mut told = Told::new();
    let mut tell = |notice: LimitNotice<'_>| {
        let LimitNotice::Step { step, number, most, .. } = notice else { return };
        told.push((number, most, step.level));
    };
    let mut steps = Steps {
        load: target,
        plan,
        asked,
        meta: Meta::default(),
        by,
        from: first_level(asked, by).expect("levels that make sense"),
        requirements: requirements(&[requirement.to_owned()], plan, &HashSet::new())
            .expect("a requirement")
            .0,
        handle,
        folder: asked.folder.clone(),
        phases: Vec::new(),
        losses: Vec::new(),
        tell: &mut tell,
    };
    let outcome = steps.run(None);
    (outcome, told)
}

/// A search that nothing disturbs.
fn limit(target: &Simulated<'_>, plan: &Plan, asked: &LimitOptions, requirement: &str) -> Limit {
    let (outcome, _) = searched(target, plan, asked, requirement, &Handle::default());
    assert_eq!(outcome.failures, [] as [&str; 0]);
    outcome.limit
}

/// A search samples no host. What the plan records under such a name is the plan's.
#[test]
fn thresholds_about_the_host_are_no_requirements() {
    let judged = |thresholds: &str, steps: &str| {
        let load = format!("a: {{load: {{users: 1, for: 1s}}, steps: [{steps}]}}");
        let text = format!("target: builtin\nthresholds: {thresholds}\nscenarios: {{{load}}}\n");
        let plan = crate::load_str("plan", &text).expect("a plan").plan;
        let (requirements, of_host) =
            requirements(&[], &plan, &plans::metrics(&plan)).map_err(|error| error.text)?;
        let texts = requirements.iter().map(|own| own.text().to_owned()).collect::<Vec<_>>();
        Ok((texts, of_host.len()))
    };
    let both = "['max(host_cpu) < 0.8', 'p99 < 1s']";
    assert_eq!(judged(both, "{get: /}"), Ok((vec!["p99 < 1s".to_owned()], 1)));
    let error: String = judged("['max(host_cpu) < 0.8']", "{get: /}").expect_err("none is left");
    assert!(error.starts_with("no requirements (a search records no metrics"), "{error}");
    let own =
        judged("['max(host_cpu) < 0.8']", "{metric: {name: host_cpu, kind: gauge, value: 1}}");
    assert_eq!(own, Ok((vec!["max(host_cpu) < 0.8".to_owned()], 0)));
}

fn outcomes(limit: &Limit) -> Vec<StepOutcome> {
    limit.steps.iter().map(LoadStep::outcome).collect()
}

fn levels(limit: &Limit) -> Vec<f64> {
    limit.steps.iter().map(|step| step.level).collect()
}

fn kept(folder: &Path) -> Value {
    let bytes = std::fs::read(folder.join("limit.json")).expect("a file");
    serde_json::from_slice(&bytes).expect("JSON")
}

/// n users wait 5 n ms in the mean, from four on: 37 ms are reached by 7.4 users.
#[test]
fn the_highest_number_of_users_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = LimitOptions { folder: Some(folder.path().to_owned()), ..asked(1.0, None, 15) };
    let target = Simulated::new(FOUR_SERVERS);
    let users = loads(&["users: 1"]);
    let (outcome, told) = searched(&target, &users, &options, "mean < 37ms", &Handle::default());
    let limit = outcome.limit;
    assert_eq!((limit.by, limit.end), (LevelKind::Users, SearchEnd::Found), "{limit:?}");
    let maximum = limit.sustained_max.expect("a maximum");
    assert!((7.0..8.0).contains(&maximum.level), "{maximum:?}");
    assert!(maximum.low <= 7.4 && 7.4 <= maximum.high, "{maximum:?}");
    let first = limit.violated_first().expect("words");
    assert!(first.starts_with("mean < 37ms ("), "{first}");
    let highest = limit.scaling.and_then(|law| law.highest()).expect("a law");
    assert!((180.0..230.0).contains(&highest), "4 servers do 200 a second: {highest}");
    // All that 16 users had sent is worked off within 80 ms.
    assert_eq!(limit.recoveries[0].at, 1.0);
    assert!(limit.recoveries.iter().all(|own| own.seconds.is_some_and(|after| after < 0.2)));
    let numbers: Told =
        limit.steps.iter().zip(1..).map(|(step, number)| (number, 15, step.level)).collect();
    assert_eq!(told, numbers, "each step is told once, in order");
    let text = std::fs::read_to_string(folder.path().join("limit.txt")).expect("a text");
    assert_eq!(text, limit_text(&limit, &outcome.meta, Around::default()));
    let json = limit_json(&limit, &outcome.meta, Around::default()).to_string();
    assert_eq!(
        kept(folder.path()).to_string(),
        serde_json::from_str::<Value>(&json).expect("JSON").to_string()
    );
}

/// A request that finds a hundred others there takes 2 s: what a step leaves there would be too much for the next one,
/// which a hundred users on their own are not.
#[test]
fn a_cliff_is_found_though_each_step_leaves_requests_in_the_target() {
    let target = Simulated { cliff_at: Some(100), ..Simulated::new(1_000) };
    let options = LimitOptions { step: Duration::from_secs(4), ..asked(10.0, None, 20) };
    let limit = limit(&target, &loads(&["users: 1"]), &options, "mean < 30ms");
    assert_eq!(limit.end, SearchEnd::Found, "{:?}", levels(&limit));
    let violated: Vec<f64> =
        limit.steps.iter().filter(|step| !step.met()).map(|step| step.level).collect();
    assert!(violated.iter().all(|level| *level > 100.0), "{violated:?} of {:?}", levels(&limit));
    let maximum = limit.sustained_max.expect("a maximum");
    assert!((96.0..=100.0).contains(&maximum.level), "{maximum:?}");
    assert!(maximum.low <= 100.0 && 100.0 <= maximum.high, "{maximum:?}");
}

/// The target leaks from the first time that more than 20 users are there at once.
#[test]
fn a_target_that_does_not_recover_is_not_found() {
    let target = Simulated { leaks_at: Some(20), ..Simulated::new(1_000) };
    let limit = limit(&target, &loads(&["users: 1"]), &asked(1.0, None, 15), "mean < 60ms");
    assert_eq!((limit.end, limit.sustained_max), (SearchEnd::NotRecovered, None), "{limit:?}");
    assert_eq!(limit.recoveries[0].seconds, None);
    let watched_s = limit.recoveries[0].watched_s;
    assert!((20.0..=30.0).contains(&watched_s), "two steps, after what was in flight: {watched_s}");
}

/// Users and arrivals are multiplied by the same factor: 2 users each 20 ms, and 20 arrivals a second.
#[test]
fn a_plan_with_users_and_arrivals_is_multiplied_as_a_whole() {
    let both = loads(&["users: 2, pacing: 100ms", "rate: 20/s, max_users: 10"]);
    let options = asked(1.0, Some(3.0), 2);
    let limit = limit(&Simulated::new(FOUR_SERVERS), &both, &options, "error_rate < 1%");
    assert_eq!(limit.by, LevelKind::Factor);
    let rates: Vec<f64> = limit.steps.iter().map(|step| step.requests).collect();
    assert_eq!(rates, [40.0, 120.0], "20/s of users, and 20/s that arrive; three times as much");
    let text = limit_text(&limit, &Meta::default(), Around::default());
    assert!(text.contains("by factor") && text.contains("3.00x"), "{text}");
}

/// Both count in the level, though one comes after the other in a run.
#[test]
fn scenarios_that_come_after_others_are_part_of_each_level() {
    let steps = "load: {users: 2, for: 1s}, steps: [{get: /}]";
    let both = plan(&format!("a: {{{steps}}}, b: {{after: [a], {steps}}}"));
    let options = asked(4.0, Some(4.0), 1);
    let limit = limit(&Simulated::new(FOUR_SERVERS), &both, &options, "count(b) > 0");
    assert_eq!(outcomes(&limit), [StepOutcome::Met], "{limit:?}");
    assert_eq!(limit.steps[0].requests, 200.0, "a hundred each");
}

/// What was measured before a level at which the plan cannot run is in the result, and on disk.
#[test]
fn a_search_that_breaks_off_keeps_its_steps() {
    let folder = tempfile::tempdir().expect("a folder");
    let options =
        LimitOptions { folder: Some(folder.path().to_owned()), ..asked(1.0, Some(40.0), 15) };
    let broken = |run, second| match (run, second) {
        (1, 4) => Err(Error::incomplete("a worker broke off")),
        _ => Ok(true),
    };
    let target = Simulated { before: &broken, ..Simulated::new(FOUR_SERVERS) };
    let users = loads(&["users: 1"]);
    let (outcome, _) = searched(&target, &users, &options, "mean < 1s", &Handle::default());
    assert_eq!(outcome.failures, ["a worker broke off"]);
    assert_eq!((outcome.limit.end, levels(&outcome.limit)), (SearchEnd::Interrupted, vec![1.0]));
    let text = limit_text(&outcome.limit, &outcome.meta, Around::default());
    assert!(text.contains("so far the requirements were met at 1"), "{text}");
    let kept = kept(folder.path());
    assert_eq!(kept["steps"].as_array().map(Vec::len), Some(1), "{kept}");
    assert_eq!(kept["failures"][0], *outcome.failures[0], "{kept}");
}

/// A step that was stopped counts for nothing, nor does a watch; what was complete before stays.
#[test]
fn a_search_that_is_stopped_keeps_its_steps() {
    let (slow, fast) = ("mean < 1s", "mean < 37ms");
    for (asks, run, second, levels_done, recoveries) in [
        (slow, 0, 9, vec![], 0),
        (slow, 2, 0, vec![1.0, 4.0], 0),
        // The third level is too much: a watch follows, and then another level.
        (fast, 3, 0, vec![1.0, 4.0, 16.0], 0),
        (fast, 4, 0, vec![1.0, 4.0, 16.0], 1),
    ] {
        let handle = Handle::default();
        let stop = |this, now| {
            let goes_on = (this, now) != (run, second);
            if !goes_on {
                handle.stop();
            }
            Ok(goes_on)
        };
        let target = Simulated { before: &stop, ..Simulated::new(FOUR_SERVERS) };
        let options = asked(1.0, Some(40.0), 9);
        let (outcome, _) = searched(&target, &loads(&["users: 1"]), &options, asks, &handle);
        let limit = outcome.limit;
        assert_eq!((limit.end, levels(&limit)), (SearchEnd::Interrupted, levels_done), "{asks}");
        assert_eq!(limit.recoveries.len(), recoveries, "{asks} {run}");
        assert_eq!(outcome.failures, [] as [&str; 0]);
    }
}

/// The result says so, and so does a search that could not keep its steps on disk.
#[test]
fn what_cannot_be_written_stops_nothing() {
    let options =
        LimitOptions { folder: Some("/nonexistent/folder".into()), ..asked(1.0, Some(2.0), 15) };
    let limit = limit(&Simulated::new(FOUR_SERVERS), &loads(&["users: 1"]), &options, "mean < 1s");
    assert_eq!(levels(&limit), [1.0, 2.0]);
}

#[test]
fn a_setup_that_does_not_let_a_search_begin_is_its_end() {
    let report = |end| vec![PhaseReport { end, ..PhaseReport::not_run(crate::Phase::Setup) }];
    assert_eq!(end_by_setup(&[]), None);
    assert_eq!(end_by_setup(&report(PhaseEnd::Done)), None);
    let failed = PhaseEnd::Failed("errors: 1 of 1 requests".to_owned());
    assert_eq!(end_by_setup(&report(failed)), Some(SearchEnd::SetupFailed));
    for end in [PhaseEnd::Interrupted, PhaseEnd::Aborted(String::new()), PhaseEnd::NotRun] {
        assert_eq!(end_by_setup(&report(end)), Some(SearchEnd::Interrupted));
    }
}
