//! A load whose seconds come from elsewhere, as a script in virtual time: seconds, thresholds, folder and result are made
//! of them as of those of own workers.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use squall_engine::{Ended, Event, Program, RunOptions};
use squall_metrics::Slice;
use squall_plan::value::Value;
use squall_report::document;
use squall_runner::{
    FinishedRun, Folder, Handle, LoadOrder, LoadSource, Options, PhaseEnd, RunParts, Sink,
    load_str, run_with,
};

use crate::common::scripted::{Scripted, Seconds, Told, slice};

/// Runs a plan with these thresholds, to whose target nothing is sent. What sinks are told of its seconds, too.
fn ran(source: impl LoadSource + 'static, thresholds: &str) -> (FinishedRun, Told) {
    let (plan, told) = (planned(thresholds), Told::default());
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("seconds".to_owned(), Box::new(Seconds(told.clone())))];
    let parts = RunParts { source: Box::new(source), sinks, ..RunParts::default() };
    let outcome = run_with(&plan, &Options::default(), parts, &Handle::default());
    (outcome.expect("a run"), told)
}

fn planned(thresholds: &str) -> squall_plan::yaml::Loaded {
    let plan = format!(
        "target: http://127.0.0.1:1\nthresholds: {thresholds}\nscenarios: {{a: {{load: {{users: 1, for: 4s}}, steps: [{{get: /}}]}}}}\n"
    );
    load_str("plan", &plan).expect("a plan")
}

/// Two nodes with two workers each. The second one is a second late, says some things twice, and one of its workers comes
/// when its second was whole without it.
fn two_nodes() -> Vec<Slice> {
    let handed_over = [
        (0, 0),
        (1, 0),
        (2, 0),
        (0, 1),
        (1, 1),
        (3, 0),
        (2, 0),
        (2, 1),
        (0, 2),
        (1, 2),
        (2, 2),
        (0, 3),
        (3, 1),
        (3, 1),
        (3, 2),
        (1, 3),
        (2, 3),
        (3, 3),
    ];
    handed_over.into_iter().map(|(worker, second)| slice(worker, second, 0)).collect()
}

#[test]
fn seconds_of_several_nodes_are_one_run() {
    let thresholds = "[p99 < 15ms, rate > 39/s, 'rate < 41/s', count == 160]";
    let (outcome, told) = ran(Scripted::of(4, two_nodes(), 4), thresholds);
    let seconds: Vec<(u32, u64, usize)> =
        told.lock().expect("no panic").iter().map(|own| (own.0, own.1, own.2)).collect();
    // The second one was whole without a worker, which makes it come again with what that one did.
    assert_eq!(seconds, [(0, 40, 4), (1, 30, 3), (1, 10, 1), (2, 40, 4), (3, 40, 4)]);
    let run = &outcome.run;
    assert_eq!(run.incomplete, [] as [&str; 0]);
    assert!(run.passed(), "{:?}", run.threshold_results);
    assert_eq!((run.totals.all().count, run.totals.workers(), run.elapsed_s), (160, 4, 4.0));
    assert_eq!(run.meta.workers(), 4);
    let by_second: Vec<u64> = run.series.rows().iter().map(|row| row.requests).collect();
    assert_eq!(by_second, [40; 4]);
    assert_eq!(outcome.phases[0].end, PhaseEnd::Done);
}

/// What is on disk is what was handed over, and says the same.
#[test]
fn a_folder_has_what_came_from_elsewhere() {
    let base = tempfile::tempdir().expect("a folder");
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("folder".to_owned(), Box::new(Folder::new(base.path())))];
    let source = Box::new(Scripted::of(4, two_nodes(), 4));
    let parts = RunParts { source, sinks, ..RunParts::default() };
    let plan = planned("[p99 < 15ms]");
    let outcome = run_with(&plan, &Options::default(), parts, &Handle::default()).expect("a run");
    let again = squall_report::load(&outcome.folder.expect("a folder")).expect("a run");
    assert_eq!((again.totals.count, again.requests.len()), (160, 1));
    assert_eq!(again.outcome, document(&outcome.run).outcome);
}

#[test]
fn a_threshold_ends_a_load_that_is_elsewhere() {
    let bad = |second| if second == 1 { 10 } else { 0 };
    let slices = (0..50).map(|second| slice(0, second, bad(second))).collect();
    let thresholds = "[{threshold: 'error_rate < 40%', abort_on_fail: true}]";
    let (outcome, told) = ran(Scripted::of(1, slices, 2), thresholds);
    let seconds: Vec<(u32, u64)> =
        told.lock().expect("no panic").iter().map(|own| (own.0, own.1)).collect();
    assert_eq!(seconds, [(0, 10), (1, 10)], "and nothing after it");
    assert!(matches!(outcome.phases[0].end, PhaseEnd::Aborted(_)), "{:?}", outcome.phases);
    assert!(!outcome.run.passed());
    assert_eq!(outcome.run.aborted.as_ref().map(|abort| abort.at_s), Some(2.0));
}

/// A node that is lost during the load makes its result incomplete; what was handed over by then is in it.
#[test]
fn what_fails_elsewhere_is_said() {
    let slices = (0..2).map(|second| slice(0, second, 0)).collect();
    let lost = vec!["node b: connection lost".to_owned()];
    let (outcome, _) = ran(Scripted { failures: lost, ..Scripted::of(1, slices, 2) }, "[]");
    assert_eq!(outcome.run.incomplete, ["load failed: node b: connection lost"]);
    assert_eq!(outcome.run.totals.all().count, 20);
}

/// There is nobody to generate the load.
struct Unreachable;

impl LoadSource for Unreachable {
    fn run(&self, _: LoadOrder<'_>, _: &mut dyn FnMut(Event<'_>)) -> io::Result<Ended> {
        Err(io::Error::other("no node answers"))
    }
}

#[test]
fn a_load_that_cannot_begin_has_no_numbers() {
    let (outcome, told) = ran(Unreachable, "[]");
    assert_eq!(outcome.run.incomplete, ["load failed: no node answers"]);
    assert!(!outcome.has_load && told.lock().expect("no panic").iter().all(|own| own.2 == 0));
}

/// The handle's stop reaches the source, whatever it is.
#[test]
fn a_load_that_is_elsewhere_is_stopped() {
    let handle = Handle::default();
    let stopper = handle.clone();
    let next = move |at: usize| {
        if at == 3 {
            stopper.stop();
        }
        Some(slice(0, u32::try_from(at).expect("few"), 0))
    };
    let (workers, elapsed) = (1, Duration::from_secs(3));
    let source = Scripted { workers, next: Box::new(next), elapsed, failures: Vec::new() };
    let parts = RunParts { source: Box::new(source), ..RunParts::default() };
    let outcome = run_with(&planned("[]"), &Options::default(), parts, &handle).expect("a run");
    assert_eq!(outcome.phases[0].end, PhaseEnd::Interrupted);
    assert_eq!((outcome.is_interrupted(), outcome.run.totals.all().count), (true, 30));
}

/// Users that are on other machines: what they are told, and when they are let go.
struct Elsewhere {
    slices: Vec<Slice>,
    /// What was asked of it, in order.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Elsewhere {
    fn note(&self, what: impl Into<String>) {
        self.asked.lock().expect("no panic").push(what.into());
    }
}

impl LoadSource for Elsewhere {
    fn workers(&self, _: &Program, _: &RunOptions) -> u32 {
        1
    }

    fn is_local(&self) -> bool {
        false
    }

    fn metrics(&self) -> Vec<String> {
        vec!["node_cpu".to_owned()]
    }

    fn found(&self) -> Option<Vec<(String, Value)>> {
        Some(vec![("token".to_owned(), Value::text("t-7"))])
    }

    fn run(&self, order: LoadOrder<'_>, on: &mut dyn FnMut(Event<'_>)) -> io::Result<Ended> {
        let seed = order.compile.seed;
        self.note(format!("run {}, seed {seed}, {:?}", order.plan.name, order.compile.setup));
        on(Event::Notice { node: "", text: "2 of 2 nodes are ready" });
        on(Event::Started);
        self.slices.iter().for_each(|slice| on(Event::Slice(slice)));
        on(Event::Notice { node: "eu-3", text: "node eu-3 was lost" });
        let elapsed = Duration::from_secs(2);
        Ok(Ended { elapsed, asked: false, failures: Vec::new(), variables: Vec::new() })
    }

    fn complete(&self, run: &mut squall_report::Run) {
        self.note(format!("complete {}", run.totals.all().count));
    }

    fn release(&self) -> Vec<String> {
        self.note("release");
        vec!["the server could not be told".to_owned()]
    }
}

/// 900 million users fit into no machine: that is no reason to refuse a load that others generate. The setup of
/// a run that goes on is not run again.
#[test]
fn this_machine_says_nothing_of_a_load_that_is_elsewhere() {
    let plan = "target: http://127.0.0.1:1\nseed: 7\nthresholds: ['last(node_cpu) < 2']\nsetup: [{get: /token}]\nscenarios: {a: {load: {users: 900000000, for: 4s}, steps: [{get: /}]}}\n";
    let plan = load_str("plan", plan).expect("a plan");
    let asked = Arc::new(Mutex::new(Vec::new()));
    let slices = (0..2).map(|second| slice(0, second, 0)).collect();
    let source = Box::new(Elsewhere { slices, asked: asked.clone() });
    let parts = RunParts { source, ..RunParts::default() };
    let outcome = run_with(&plan, &Options::default(), parts, &Handle::default()).expect("a run");
    let expected = r#"run plan, seed 7, [("token", Text("t-7"))]"#;
    let asked = asked.lock().expect("no panic");
    assert_eq!(*asked, [expected, "complete 20", "release"]);
    let run = &outcome.run;
    assert_eq!(run.incomplete, ["the server could not be told"]);
    assert_eq!(run.host, squall_metrics::HostMetrics::default());
    assert_eq!(run.generator.cpu_user_s, 0.0);
    let marks: Vec<_> =
        run.marks.iter().map(|own| (own.kind.as_str(), own.text.as_str())).collect();
    assert_eq!(marks, [("node", "node eu-3 was lost")]);
}
