//! The search for the limit with real load: that steps are run, kept on disk and stopped, and what becomes of setup and
//! teardown. What a search finds is tested in virtual time, beside its code.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use squall_limit::{SearchEnd, StepOutcome};
use squall_metrics::{MetricKey, MetricKind};
use squall_report::{Around, Meta, limit_json};
use squall_runner::{
    ErrorKind, Handle, LimitNotice, LimitOptions, LimitOutcome, LimitParts, Monitor, MonitorSample,
    PhaseEnd, limit as search, limit_with, load_str,
};

use crate::common::peer::{Peer, response};
use crate::common::{as_read, target, workers};

const LOAD: &str = "a: {load: {users: 1, for: 1s}, steps: [{get: /load}, {think: 10ms}]}";
/// Holds however busy the machine is.
const ALWAYS_MET: &str = "errors < 1000000";

fn asked(requirement: &str) -> LimitOptions {
    LimitOptions {
        requirements: vec![requirement.to_owned()],
        by: None,
        from: None,
        to: None,
        step: Duration::from_secs(2),
        max_steps: 15,
        folder: None,
    }
}

/// Searches a plan of these lines and of the load.
fn limit(url: &str, lines: &str, asked: &LimitOptions, handle: &Handle) -> LimitOutcome {
    let plan = format!("target: {url}\n{lines}\nscenarios: {{{LOAD}}}\n");
    let plan = load_str("plan", &plan).unwrap_or_else(|error| panic!("{error}"));
    let outcome = search(&plan, &workers(1), asked, handle, &mut |_| ());
    outcome.unwrap_or_else(|error| panic!("{error}"))
}

/// Samples how often it was made before, as a monitor of a server.
struct Made(u32);

impl Monitor for Made {
    fn names(&self) -> Vec<String> {
        vec!["made".to_owned()]
    }

    fn sample(&mut self, _: Duration) -> io::Result<MonitorSample> {
        let tags = vec![("monitor".to_owned(), "server".to_owned())];
        let key = MetricKey::new(MetricKind::Gauge, "", "made", tags);
        Ok(vec![(key, f64::from(self.0))])
    }
}

/// Fails each time.
struct Broken;

impl Monitor for Broken {
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn sample(&mut self, _: Duration) -> io::Result<MonitorSample> {
        Err(io::Error::other("no connection"))
    }
}

#[test]
fn each_step_has_monitors_of_its_own() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let asked = LimitOptions {
        to: Some(2.0),
        max_steps: 2,
        step: Duration::from_secs(4),
        folder: Some(folder.path().to_owned()),
        ..asked(ALWAYS_MET)
    };
    let made = Cell::new(0);
    let make = || {
        let number = made.replace(made.get() + 1);
        let (own, broken) = (Box::new(Made(number)), Box::new(Broken));
        vec![
            ("server".to_owned(), own as Box<dyn Monitor>),
            ("db".to_owned(), broken as Box<dyn Monitor>),
        ]
    };
    let parts = LimitParts { monitors: &make, ..LimitParts::default() };
    let plan = format!("target: {}\nscenarios: {{{LOAD}}}\n", server.url());
    let plan = load_str("plan", &plan).expect("a plan");
    let mut warnings = Vec::new();
    let mut tell = |notice: LimitNotice<'_>| {
        if let LimitNotice::Warning(text) = notice {
            warnings.push(text.to_owned());
        }
    };
    let options = workers(1);
    let outcome = limit_with(&plan, &options, &asked, parts, &Handle::default(), &mut tell);
    let outcome = outcome.expect("a search");
    let steps = &outcome.limit.steps;
    let means: Vec<f64> = steps.iter().map(|step| step.monitored[0].mean).collect();
    // The first are only asked for their names.
    assert_eq!(means, [1.0, 2.0]);
    assert!(steps.iter().all(|step| step.monitored.len() == 1), "{steps:?}");
    assert!(
        matches!(&warnings[..], [one] if one.contains("monitor db") && one.contains("no connection")),
        "{warnings:?}"
    );
    let (folder, json, _) = kept(&outcome);
    assert_eq!(json["steps"][1]["monitored"][0]["monitor"], "server");
    let page = std::fs::read_to_string(folder.join("limit.html")).expect("a page");
    assert!(page.contains("made of server"), "{page}");
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

/// What is in the folder of a search: its result, and the same as text.
fn kept(outcome: &LimitOutcome) -> (PathBuf, Value, String) {
    let kept = outcome.folder.clone().expect("a folder");
    let text = std::fs::read_to_string(kept.join("limit.txt")).expect("a text");
    let json = read(&kept.join("limit.json"));
    (kept, json, text)
}

#[test]
fn a_search_runs_its_steps_and_keeps_them() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let asked = LimitOptions {
        to: Some(2.0),
        max_steps: 2,
        folder: Some(folder.path().to_owned()),
        ..asked(ALWAYS_MET)
    };
    let outcome = limit(&server.url(), "", &asked, &Handle::default());
    assert_eq!(outcome.failures, [] as [&str; 0]);
    let limit = &outcome.limit;
    let steps: Vec<_> = limit.steps.iter().map(|step| (step.level, step.outcome())).collect();
    assert_eq!(steps, [(1.0, StepOutcome::Met), (2.0, StepOutcome::Met)]);
    assert_eq!((limit.end, limit.at_least), (SearchEnd::NeverViolated, Some(2.0)));
    assert_eq!(server.stats().accepted, 1 + 2, "each user of each step has its connection");
    let (folder, json, text) = kept(&outcome);
    assert!(text.contains("result         ") && text.contains("└──"), "{text}");
    let meta: Meta = serde_json::from_value(json["meta"].clone()).expect("what was tested");
    assert_eq!(json, as_read(&limit_json(limit, &meta, Around::default())));
    let plan = std::fs::read_to_string(folder.join("plan.yaml")).expect("a plan");
    let target = meta.target.as_ref().expect("a target");
    assert!(plan.contains(target) && text.contains(&format!("at {target}, seed {}", meta.seed)));
    assert!(meta.scenarios.len() == 1 && meta.digests.contains_key("plan"), "{meta:?}");
}

/// What is wrong with a level is known when it is that level's turn.
#[test]
fn a_level_at_which_the_plan_cannot_run_ends_the_search() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let asked = LimitOptions {
        from: Some(4e9),
        folder: Some(folder.path().to_owned()),
        ..asked(ALWAYS_MET)
    };
    let outcome = limit(&server.url(), "", &asked, &Handle::default());
    assert!(outcome.failures[0].contains("is not a number of users"), "{:?}", outcome.failures);
    assert_eq!((outcome.limit.end, outcome.limit.steps.len()), (SearchEnd::Interrupted, 0));
    let (_, json, _) = kept(&outcome);
    assert_eq!(json["failures"][0], *outcome.failures[0], "{json}");
}

/// A setup that failed is no interruption, and what became of it and of the teardown is on disk.
#[test]
fn a_setup_or_a_teardown_that_fails_is_in_the_result() {
    let server = target();
    let searched = |setup: u16, teardown: u16| {
        let folder = tempfile::tempdir().expect("a folder");
        let around = format!(
            "setup: [{{get: /status/{setup}, name: login}}]\nteardown: [{{get: /status/{teardown}, name: logout}}]"
        );
        let asked = LimitOptions {
            to: Some(1.0),
            max_steps: 1,
            folder: Some(folder.path().to_owned()),
            ..asked(ALWAYS_MET)
        };
        let outcome = limit(&server.url(), &around, &asked, &Handle::default());
        let (_, json, text) = kept(&outcome);
        (json, text, outcome)
    };
    let (json, text, outcome) = searched(500, 204);
    assert_eq!((outcome.limit.end, outcome.limit.steps.len()), (SearchEnd::SetupFailed, 0));
    assert_eq!(server.stats().requests, 2, "no load");
    assert_eq!(json["end"], "setup failed");
    assert_eq!(json["run_phases"][0]["end"], "failed");
    assert_eq!(json["run_phases"][1]["end"], "done", "the teardown");
    assert_eq!(json["failures"][0], *outcome.failures[0]);
    assert!(text.contains("result         the setup failed: no step was run"), "{text}");
    let (json, text, outcome) = searched(204, 500);
    assert_eq!((outcome.limit.end, outcome.limit.steps.len()), (SearchEnd::NeverViolated, 1));
    assert_eq!(json["end"], "never violated");
    assert_eq!(json["run_phases"][1]["end"], "failed");
    assert_eq!(json["failures"][0], *outcome.failures[0]);
    assert!(text.contains("failed         teardown failed: "), "{text}");
}

#[test]
fn thresholds_about_the_host_are_left_out_with_a_warning() {
    let server = target();
    let url = server.url();
    let plan = format!(
        "target: {url}\nthresholds: ['max(host_cpu) < 0', '{ALWAYS_MET}']\nscenarios: {{{LOAD}}}\n"
    );
    let plan = load_str("plan", &plan).unwrap_or_else(|error| panic!("{error}"));
    let asked =
        LimitOptions { requirements: Vec::new(), to: Some(1.0), max_steps: 1, ..asked(ALWAYS_MET) };
    let mut warnings = Vec::new();
    let mut tell = |notice: LimitNotice<'_>| {
        if let LimitNotice::Warning(text) = notice {
            warnings.push(text.to_owned());
        }
    };
    let outcome = search(&plan, &workers(1), &asked, &Handle::default(), &mut tell);
    let limit = outcome.unwrap_or_else(|error| panic!("{error}")).limit;
    assert_eq!(limit.steps[0].outcome(), StepOutcome::Met);
    let expected =
        "the threshold `max(host_cpu) < 0` is left out: a search records no metrics of the host";
    assert!(warnings.iter().any(|own| own == expected), "{warnings:?}");
}

/// Nothing is sent for what no level could meet, or for levels that are the wrong way around.
#[test]
fn what_makes_no_sense_is_refused_before_the_first_step() {
    let plan = format!("target: http://127.0.0.1:1\nscenarios: {{{LOAD}}}\n");
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

/// A search is stopped from another thread, in its setup or in a step: by the target, when it has a request of it, to
/// which it does not respond. What the setup has made is cleaned up.
#[test]
fn a_search_is_stopped() {
    let stopped = |at: &'static str| {
        let handle = Handle::default();
        let stopper = handle.clone();
        let server = Peer::start("127.0.0.1", move |mut client| {
            while let Some(head) = client.request() {
                match head.contains(at) {
                    true => stopper.stop(),
                    false => client.send(response("200 OK", "")),
                }
            }
        });
        let around = "graceful_stop: 100ms\nsetup: [{get: /setup}]\nteardown: [{get: /}]";
        let outcome = limit(&server.url(), around, &asked("p99 < 1s"), &handle);
        assert_eq!(outcome.phases[1].end, PhaseEnd::Done, "the teardown");
        assert_eq!(outcome.failures, [] as [&str; 0]);
        assert_eq!((outcome.limit.end, outcome.limit.steps.len()), (SearchEnd::Interrupted, 0));
        outcome.phases[0].end.clone()
    };
    assert_eq!(stopped("/setup"), PhaseEnd::Interrupted);
    assert_eq!(stopped("/load"), PhaseEnd::Done);
}
