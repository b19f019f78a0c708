//! Loads of a fleet whose protocol is a script: what a run makes of what is said, and what is said of what a run is told.

mod control;
mod results;
mod resume;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use squall_engine::LogLine;
use squall_metrics::{ErrorKind, RequestStats, RowKey, RowKind, Sample};
use squall_runner::{
<<<<<<< HEAD
    FinishedRun, Folder, Handle, LimitOptions, LimitParts, Options, PhaseEnd, RequestLog, Row,
    RunParts, Second as Whole, Sink, Start, Wanted as SinkWants, limit_with, load_str, run_with,
=======
    FinishedRun, Handle, Options, Row, RunParts, Second as Whole, Sink, Start, Wanted as SinkWants,
    load_str, run_with,
>>>>>>> 90e82cc62041e1adf556b3b89f340ac57e1bcfbc
};

use super::link::{Gone, Link, Told};
use super::source::Opening;
use super::*;
use crate::protocol::io::{RunCommand, RunEvent};
use crate::protocol::messages::{Card, Cells, Missing, Second};
use crate::record::{Aside, encode};
use crate::transport::Connect;

/// What the other side does next.
enum Line {
    Say(RunEvent),
    /// Waits until a command was given that has this in its debug form.
    Await(&'static str),
    /// Somebody does something.
    Do(Box<dyn FnOnce() + Send>),
}

type Commands = Arc<Mutex<Vec<String>>>;

/// Another side that follows a script, and has ended after it.
struct Script {
    lines: VecDeque<Line>,
    commands: Commands,
    waited: u32,
}

impl Link for Script {
    fn command(&self, command: RunCommand) {
        self.commands.lock().expect("no panic").push(format!("{command:?}"));
    }

    fn next(&mut self, _: Duration) -> Result<Option<Told>, Gone> {
        match self.lines.pop_front() {
            None => Err(Gone),
            Some(Line::Say(event)) => Ok(Some(Told::Event(event))),
            Some(Line::Do(act)) => {
                act();
                Ok(None)
            }
            Some(Line::Await(text)) => {
                self.waited += 1;
                assert!(self.waited < 10_000, "{text}: {:?}", self.commands);
                if !self.commands.lock().expect("no panic").iter().any(|own| own.contains(text)) {
                    std::thread::sleep(Duration::from_millis(1));
                    self.lines.push_front(Line::Await(text));
                }
                Ok(None)
            }
        }
    }

    fn end(self: Box<Self>, _: Duration) -> bool {
        true
    }
}

fn options() -> FleetOptions {
    FleetOptions::new(Connect::to("127.0.0.1:1", "controller"), vec![(String::new(), 2)])
}

/// A source whose loads follow these scripts, one after the other, and what they are told.
fn scripted(scripts: Vec<Vec<Line>>) -> (FleetSource, Commands) {
    scripted_beside(Arc::new(Vec::new), scripts)
}

/// The same, beside nodes of this machine of which these have ended.
fn scripted_beside(ended: EndedNodes, scripts: Vec<Vec<Line>>) -> (FleetSource, Commands) {
    let commands = Commands::default();
    let (scripts, told) = (Mutex::new(VecDeque::from(scripts)), commands.clone());
    let open = move |_: Opening| {
        let lines = scripts.lock().expect("no panic").pop_front().expect("a script for each load");
        let link: Box<dyn Link> =
            Box::new(Script { lines: lines.into(), commands: told.clone(), waited: 0 });
        Ok(link)
    };
    (FleetSource::over(FleetOptions { ended, ..options() }, Box::new(open)), commands)
}

fn card(node: &str, zone: &str) -> Card {
    let (node, zone) = (node.to_owned(), zone.to_owned());
    Card { node, zone, cores: 4, host: "h".to_owned(), ..Card::default() }
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(now.as_nanos()).expect("before 2262")
}

fn starts(ago: Duration) -> Line {
    let nodes = vec![card("eu-1", "eu"), card("us-1", "us")];
    let ago = i64::try_from(ago.as_nanos()).expect("few");
    Line::Say(RunEvent::Starts { at: now() - ago, shards: 8, nodes })
}

/// What a node did in a second: so many requests of so many µs each, of which so many were errors.
fn record(node: &str, second: u32, (count, us, errors): (u64, u64, u64), late: u32) -> Line {
    let mut stats = RequestStats::default();
    for at in 0..count {
        let error = (at < errors).then_some(ErrorKind::Status);
        stats.record(&Sample { error, ..Sample::ok(us) });
    }
    let key = Arc::new(RowKey::new(RowKind::Request, "a", "GET /"));
    let mut whole = Whole { second, rows: vec![Row { key, stats }], ..Whole::default() };
    whole.self_metrics.preempted = count;
    whole.self_metrics.send_delay.record(us);
    let mut aside = Aside::default();
    if errors > 0 {
        let text = format!("status of {node}");
        aside.log(&LogLine { worker: 0, second, text, is_failure: true, example: None });
    }
    let shards = if node == "eu-1" { [0, 1, 2, 3] } else { [4, 5, 6, 7] };
    let record = encode(&whole, &aside);
    let second = Second { second, shards: shards.into(), is_whole: true, late, record };
    Line::Say(RunEvent::Record { node: node.to_owned(), second })
}

fn whole(second: u32) -> Line {
    Line::Say(RunEvent::Whole { second })
}

/// The clock of a node was measured: so much is it behind, in nanoseconds, as far as is known.
fn clock(node: &str, offset: i64, error: u64) -> Line {
    let card = Box::new(card(node, &node[..2]));
    Line::Say(RunEvent::Clock { card, offset, error })
}

fn ended(seconds: u32, missing: Vec<Missing>) -> Line {
    let not: u64 =
        missing.iter().map(|own| u64::from(own.to - own.from + 1) * own.shards.len() as u64).sum();
    let cells = Cells { shards: 8, seconds, driven: u64::from(seconds) * 8 - not, missing };
    Line::Say(RunEvent::Ended { cells, failures: Vec::new() })
}

fn told(node: &str, text: &str) -> Line {
    let (node, text) = (node.to_owned(), text.to_owned());
    Line::Say(RunEvent::Told { node, at: now(), text })
}

/// The seconds that a sink was told of: the second and its requests.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<(u32, u64)>>>);

impl Sink for Seen {
    fn start(&mut self, _: &Start) -> std::io::Result<SinkWants> {
        Ok(SinkWants::default())
    }
    fn second(&mut self, second: &Whole) -> std::io::Result<()> {
        let requests = second.rows.iter().map(|row| row.stats.count).sum();
        self.0.lock().expect("no panic").push((second.second, requests));
        Ok(())
    }
    fn event(&mut self, _: &squall_runner::Event) -> std::io::Result<()> {
        Ok(())
    }
    fn finish(&mut self, _: &squall_report::Run) -> std::io::Result<()> {
        Ok(())
    }
}

const PLAN: &str = "target: http://127.0.0.1:1\nseed: 7\nthresholds: [THRESHOLDS]\nscenarios: {a: {load: {users: 8, for: 3s}, steps: [{get: /}]}}\n";

fn ran(
    source: FleetSource,
    thresholds: &str,
    sinks: Vec<(String, Box<dyn Sink>)>,
    handle: &Handle,
) -> FinishedRun {
    let plan = load_str("shop plan", &PLAN.replace("THRESHOLDS", thresholds)).expect("a plan");
    let parts = RunParts { source: Box::new(source), sinks, ..RunParts::default() };
    run_with(&plan, &Options::default(), parts, handle).expect("a run")
}

fn commands(told: &Commands) -> Vec<String> {
    told.lock().expect("no panic").clone()
}
<<<<<<< HEAD

#[test]
fn seconds_of_nodes_are_merged_and_what_is_late_follows() {
    let gap = Missing {
        shards: [4, 5, 6, 7].into(),
        from: 2,
        to: 2,
        node: "us-1".to_owned(),
        why: "was lost".to_owned(),
    };
    let (source, commanded) = scripted(vec![vec![
        Line::Say(RunEvent::Waiting("2 of 2 nodes are ready".to_owned())),
        clock("us-1", -3_200_000, 21_000),
        starts(Duration::from_secs(3)),
        record("eu-1", 0, (10, 1_000, 0), 0),
        record("us-1", 0, (10, 9_000, 0), 0),
        whole(0),
        record("eu-1", 1, (10, 1_000, 0), 0),
        whole(1),
        record("us-1", 1, (10, 9_000, 3), 0),
        record("eu-1", 2, (10, 1_000, 0), 0),
        told("us-1", "was lost: nothing was stored of it for its lease of 15 s"),
        whole(2),
        record("us-1", 1, (1, 9_000, 0), 1),
        ended(3, vec![gap]),
    ]]);
    let seen = Seen::default();
    let sinks: Vec<(String, Box<dyn Sink>)> = vec![("seen".to_owned(), Box::new(seen.clone()))];
    let thresholds = "'p99 < 10ms', 'p95(node_latency, node: us-1) < 5', 'count == 51'";
    let outcome = ran(source, thresholds, sinks, &Handle::default());
    let seconds = seen.0.lock().expect("no panic").clone();
    assert_eq!(seconds, [(0, 20), (1, 10), (1, 10), (2, 10), (1, 1)]);
    let run = &outcome.run;
    assert_eq!(run.incomplete, [] as [&str; 0]);
    assert_eq!((run.totals.all().count, run.totals.all().errors), (51, 3));
    assert_eq!(run.elapsed_s, 3.0, "as the plan says, whose end is in the last second");
    let results: Vec<bool> = run.threshold_results.iter().map(|own| own.passed).collect();
    assert_eq!(results, [true, false, true], "{:?}", run.threshold_results);
    let machines: Vec<&str> = run.meta.nodes.iter().map(|own| own.node.as_str()).collect();
    assert_eq!(machines, ["eu-1", "us-1"]);
    let clocks = run.meta.nodes.iter().map(|own| (own.clock_offset_us, own.clock_error_us));
    assert_eq!(Vec::from_iter(clocks), [(None, None), (Some(3_200.0), Some(21.0))]);
    let fleet = run.fleet.as_ref().expect("a fleet");
    assert_eq!((fleet.shards, fleet.cells.cells, fleet.cells.driven), (8, 24, 20));
    let nodes: Vec<_> = run
        .nodes
        .iter()
        .map(|own| (own.node.as_str(), own.end_text(), own.requests, own.errors, own.shards))
        .collect();
    let expected = [("eu-1", "done".to_owned(), 30, 0, 4), ("us-1", "done".to_owned(), 21, 3, 4)];
    assert_eq!(nodes, expected);
    assert!(run.nodes[1].latency_us.p50 > 8_000.0 && run.nodes[0].latency_us.p50 < 1_100.0);
    // Each has its own generator, and the run has them together.
    let of_nodes = run.nodes.iter().map(|own| &own.generator);
    let delays = of_nodes.map(|own| (own.preempted, own.send_delay_us.max > 8_000.0));
    assert_eq!(Vec::from_iter(delays), [(30, false), (21, true)]);
    let together = document(run).generator;
    assert_eq!((together.preempted, together.send_delay_us.max > 8_000.0), (51, true));
    assert_eq!(fleet.zones.iter().map(|own| own.requests).collect::<Vec<_>>(), [30, 21]);
    assert_eq!(fleet.events.len(), 1);
    let marks: Vec<&str> = run.marks.iter().map(|own| own.text.as_str()).collect();
    assert_eq!(marks, ["node us-1 was lost: nothing was stored of it for its lease of 15 s"]);
    assert_eq!(run.log, ["us-1: status of us-1"]);
    let commanded = commands(&commanded);
    let is_written = |until: u32| commanded.contains(&format!("Written {{ until: {until} }}"));
    assert!(commanded[0].starts_with("Begin") && is_written(0) && is_written(2), "{commanded:?}");
    assert_eq!(commanded.last().map(String::as_str), Some("Release"));
}

/// Nodes send a bounded number of copies with a second.
#[test]
fn copies_that_nodes_left_out_are_counted_in_the_result() {
    let mut aside = Aside::default();
    aside.exchanges_left_out(5);
    let second = Second {
        second: 0,
        shards: [0].into(),
        is_whole: true,
        late: 0,
        record: encode(&Whole::default(), &aside),
    };
    let left_out = Line::Say(RunEvent::Record { node: "eu-1".to_owned(), second });
    let lines = vec![
        starts(Duration::from_secs(1)),
        left_out,
        record("eu-1", 0, (10, 1_000, 0), 0),
        whole(0),
        ended(1, Vec::new()),
    ];
    let (source, _) = scripted(vec![lines]);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.jsonl");
    let log: Box<dyn Sink> = Box::new(RequestLog::new(&path, ExchangeFilter::All, 0));
    let run = ran(source, "", vec![("log".to_owned(), log)], &Handle::default()).run;
    assert_eq!(run.generator.requests_not_logged, Some(5));
    let said = "5 requests were left out of the request log or the samples";
    assert!(run.warnings.iter().any(|own| own.starts_with(said)), "{:?}", run.warnings);
}

#[test]
fn a_node_that_joins_is_known_with_its_zone() {
    let (source, _) = scripted(vec![vec![
        starts(Duration::from_secs(1)),
        clock("eu-9", 7_000, 5_000),
        record("eu-1", 0, (10, 1_000, 0), 0),
        record("eu-9", 0, (10, 1_000, 0), 0),
        whole(0),
        ended(1, Vec::new()),
    ]]);
    let run = ran(source, "", Vec::new(), &Handle::default()).run;
    let fleet = run.fleet.as_ref().expect("a fleet");
    assert_eq!(fleet.zones.iter().map(|own| own.requests).collect::<Vec<_>>(), [20, 0]);
    let joined = run.meta.nodes.iter().find(|own| own.node == "eu-9").expect("a machine");
    assert_eq!((joined.zone.as_str(), joined.clock_offset_us), ("eu", Some(-7.0)));
}

#[test]
fn what_a_run_is_told_reaches_the_nodes() {
    let handle = Handle::default();
    let control = |act: fn(&Handle)| {
        let handle = handle.clone();
        Line::Do(Box::new(move || act(&handle)))
    };
    let (source, commanded) = scripted(vec![vec![
        starts(Duration::from_secs(1)),
        control(|handle| handle.pause().expect("a load")),
        Line::Await("Change(Pause "),
        control(|handle| handle.resume().expect("a load")),
        Line::Await("Change(GoOn "),
        Line::Say(RunEvent::Carries { users: Some(5) }),
        control(|handle| {
            let why = handle.set_users("a", 60).expect_err("more than the nodes carry");
            assert!(why.contains("at most 5 virtual users") && why.contains("have 60"), "{why}");
        }),
        control(|handle| handle.set_users("a", 3).expect("a load that ends by time")),
        Line::Await("Change(Shape { load: 0, "),
        record("eu-1", 0, (10, 1_000, 10), 0),
        whole(0),
        Line::Await("Change(Stop { graceful: 30000000000 })"),
        ended(1, Vec::new()),
    ]]);
    let thresholds = "{threshold: 'error_rate < 40%', abort_on_fail: true}";
    let outcome = ran(source, thresholds, Vec::new(), &handle);
    assert!(matches!(outcome.phases[0].end, PhaseEnd::Aborted(_)), "{:?}", outcome.phases);
    let shaped = commands(&commanded).into_iter().find(|own| own.contains("Shape"));
    assert!(shaped.is_some_and(|own| own.contains("\\\"users\\\":3")), "{commanded:?}");
}

#[test]
fn nodes_may_ask_for_the_end() {
    let (source, _) = scripted(vec![vec![
        starts(Duration::from_secs(1)),
        record("eu-1", 0, (1, 1_000, 0), 0),
        Line::Say(RunEvent::StopAsked),
        Line::Await("Change(Stop"),
        ended(1, Vec::new()),
    ]]);
    let outcome = ran(source, "", Vec::new(), &Handle::default());
    assert!(outcome.run.stopped_by_plan);
    assert_eq!(outcome.phases[0].end, PhaseEnd::Done);
}

#[test]
fn somebody_elsewhere_interrupts_a_run() {
    let (source, _) = scripted(vec![vec![
        starts(Duration::from_secs(1)),
        record("eu-1", 0, (1, 1_000, 0), 0),
        Line::Say(RunEvent::Interrupted),
        Line::Await("Change(Stop"),
        ended(1, Vec::new()),
    ]]);
    let outcome = ran(source, "", Vec::new(), &Handle::default());
    assert!(outcome.is_interrupted() && !outcome.run.stopped_by_plan);
    assert_eq!(outcome.phases[0].end, PhaseEnd::Interrupted);
}

#[test]
fn a_fleet_that_cannot_begin_has_no_numbers_and_is_released() {
    let why = "node us-1 is missing after 5 minutes";
    let (source, commanded) = scripted(vec![vec![Line::Say(RunEvent::Refused(why.to_owned()))]]);
    let outcome = ran(source, "", Vec::new(), &Handle::default());
    assert_eq!(outcome.run.incomplete, [format!("load failed: {why}")]);
    assert!(!outcome.has_load && outcome.run.fleet.is_none());
    assert_eq!(commands(&commanded).last().map(String::as_str), Some("Release"));
}

#[test]
fn who_stops_a_run_while_it_waits_for_nodes_waits_no_more() {
    let handle = Handle::default();
    let stopper = handle.clone();
    let stop = Line::Do(Box::new(move || stopper.stop()));
    let (source, commanded) = scripted(vec![vec![stop, Line::Await("Change(Stop")]]);
    let outcome = ran(source, "", Vec::new(), &handle);
    assert_eq!(outcome.phases[0].end, PhaseEnd::Interrupted);
    assert_eq!(commands(&commanded).last().map(String::as_str), Some("Release"));
}

/// What was recorded until then is kept.
#[test]
fn a_controller_that_ends_too_early_makes_the_result_incomplete() {
    let (source, _) =
        scripted(vec![vec![starts(Duration::from_secs(1)), record("eu-1", 0, (10, 1_000, 0), 0)]]);
    let outcome = ran(source, "", Vec::new(), &Handle::default());
    let why = "load failed: the controller ended before the load had";
    assert_eq!(
        (outcome.run.incomplete.clone(), outcome.run.totals.all().count),
        (vec![why.to_owned()], 10)
    );
}

#[test]
fn what_is_no_record_is_said() {
    let second = Second {
        second: 0,
        shards: [0].into(),
        is_whole: true,
        late: 0,
        record: (&b"nonsense"[..]).into(),
    };
    let bad = Line::Say(RunEvent::Record { node: "eu-1".to_owned(), second });
    let lines = vec![starts(Duration::from_secs(1)), bad, whole(0), ended(1, Vec::new())];
    let (source, _) = scripted(vec![lines]);
    let outcome = ran(source, "", Vec::new(), &Handle::default());
    let said = &outcome.run.incomplete[0];
    assert!(said.starts_with("load failed: second 0 of node eu-1 cannot be read: "), "{said}");
}

/// The key is there as long as somebody may have to go on with the run.
#[test]
fn a_run_can_be_gone_on_with_until_it_is_released() {
    let base = tempfile::tempdir().expect("a folder");
    let folder = base.path().to_owned();
    let kept: Arc<Mutex<Vec<Kept>>> = Arc::default();
    let found = kept.clone();
    let look = Line::Do(Box::new(move || {
        let mut runs = std::fs::read_dir(&folder).expect("a folder").flatten();
        let run = runs.next().expect("the run's").path();
        found.lock().expect("no panic").push(Kept::read(&run).expect("kept"));
    }));
    let (source, _) = scripted(vec![vec![
        look,
        starts(Duration::from_secs(1)),
        record("eu-1", 0, (10, 1_000, 0), 0),
        ended(1, Vec::new()),
    ]]);
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("folder".to_owned(), Box::new(Folder::new(base.path())))];
    let outcome = ran(source, "", sinks, &Handle::default());
    let folder = outcome.folder.expect("a folder");
    assert!(Kept::read(&folder).is_err(), "it was released");
    assert!(FleetSource::resume(options(), &folder).is_err());
    let kept = kept.lock().expect("no panic").pop().expect("one");
    assert!(kept.run.starts_with("shop-plan-"), "{}", kept.run);
    let held = kept.write(&folder).expect("written");
    let why = FleetSource::resume(options(), &folder).err().expect("another process leads it");
    assert!(why.contains("end that one first"), "{why}");
    drop(held);
    resumed(&folder, &kept);
}

fn resumed(folder: &Path, kept: &Kept) {
    let (_, plan, run) = FleetSource::resume(options(), folder).expect("a run");
    assert_eq!((run.seed, plan.plan.scenarios.len()), (Some(7), 1));
    let (mut source, commanded) = scripted(vec![vec![
        starts(Duration::from_secs(60)),
        record("eu-1", 0, (10, 1_000, 0), 0),
        ended(1, Vec::new()),
    ]]);
    source.resumes(kept.clone());
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("folder".to_owned(), Box::new(Folder::again(folder)))];
    let parts = RunParts { source: Box::new(source), sinks, ..RunParts::default() };
    let outcome = run_with(&plan, &run, parts, &Handle::default()).expect("a run");
    assert_eq!((outcome.run.totals.all().count, outcome.folder.as_deref()), (10, Some(folder)));
    assert_eq!(squall_report::load(folder).expect("a run").totals.count, 10);
    assert_eq!(outcome.run.meta.started_unix, kept.started_unix);
    assert_eq!(commands(&commanded)[0], format!("Resume {{ run: {:?} }}", kept.run));
}

fn ended_node(node: &str, how: &str) -> EndedNode {
    EndedNode { node: node.to_owned(), how: how.to_owned() }
}

/// A node of this machine that ends while others are waited for is not waited for: there is no script of what comes then.
#[test]
fn a_load_does_not_begin_without_a_node_that_has_ended() {
    let waits = Line::Say(RunEvent::Waiting("1 of 2 nodes are ready".to_owned()));
    let ended =
        || vec![ended_node("local-2", "the disk is full"), ended_node("local-1", "signal: 9")];
    let script = vec![waits, Line::Await("never")];
    let (source, commanded) = scripted_beside(Arc::new(ended), vec![script]);
    let outcome = ran(source, "", Vec::new(), &Handle::default());
    let why =
        "load failed: node local-2 has ended: the disk is full; node local-1 has ended: signal: 9";
    assert_eq!(outcome.run.incomplete, [why]);
    assert!(!outcome.has_load);
    assert_eq!(commands(&commanded).last().map(String::as_str), Some("Release"));
}

/// Its load goes on elsewhere, as that of any node that is lost.
#[test]
fn a_node_that_ends_while_the_load_runs_is_told_of_once() {
    let nodes: Arc<Mutex<Vec<EndedNode>>> = Arc::default();
    let (dies, all) = (nodes.clone(), nodes.clone());
    let dies = Box::new(move || dies.lock().expect("no panic").push(ended_node("us-1", "killed")));
    let ended_nodes: EndedNodes = Arc::new(move || all.lock().expect("no panic").clone());
    let (source, _) = scripted_beside(
        ended_nodes,
        vec![vec![
            starts(Duration::from_secs(1)),
            record("eu-1", 0, (10, 1_000, 0), 0),
            Line::Do(dies),
            whole(0),
            ended(1, Vec::new()),
        ]],
    );
    let run = ran(source, "", Vec::new(), &Handle::default()).run;
    assert_eq!(run.incomplete, [] as [&str; 0]);
    let events = &run.fleet.as_ref().expect("a fleet").events;
    let events: Vec<_> = events.iter().map(|own| (own.node.as_str(), own.text.as_str())).collect();
    assert_eq!(events, [("us-1", "node us-1 has ended: killed")]);
}

/// What nodes fetch is there as long as one may join, and a controller that was lost leaves nothing for ever.
#[test]
fn what_nodes_fetch_is_kept_longer_than_the_load_takes() {
    for (load, kept_h) in [
        ("users: 1, for: 1m", 24 + 1),
        ("users: 1, for: 50h", 24 + 50 + 1),
        ("users: 1, iterations: 5", 7 * 24),
        ("users: 1, for: 8783h", 366 * 24),
    ] {
        let hour = Duration::from_secs(3600);
        let kept = Arc::new(Mutex::new(Duration::ZERO));
        let found = kept.clone();
        let open = move |opening: Opening| {
            *found.lock().expect("no panic") = opening.keep;
            Err(std::io::Error::other("that was all"))
        };
        let source = FleetSource::over(FleetOptions { wait: hour, ..options() }, Box::new(open));
        let text = PLAN.replace("users: 8, for: 3s", load).replace("THRESHOLDS", "");
        let plan = load_str("plan", &text).expect("a plan");
        let parts = RunParts { source: Box::new(source), ..RunParts::default() };
        let ran = run_with(&plan, &Options::default(), parts, &Handle::default()).expect("a run");
        assert_eq!(ran.run.incomplete, ["load failed: that was all"]);
        let kept = *kept.lock().expect("no panic");
        assert_eq!(kept.as_secs() / 3600, kept_h, "{load}: {kept:?}");
    }
}

/// Each level is a run of its own, whose nodes are let go before the next one.
#[test]
fn a_search_runs_its_levels_on_the_nodes() {
    let level = || {
        let seconds = (0..2).flat_map(|second| {
            [
                record("eu-1", second, (10, 1_000, 0), 0),
                record("us-1", second, (10, 1_000, 0), 0),
                whole(second),
            ]
        });
        let mut lines = vec![starts(Duration::from_secs(2))];
        lines.extend(seconds);
        lines.push(ended(2, Vec::new()));
        lines
    };
    let (source, commanded) = scripted(vec![level(), level()]);
    let plan = load_str("plan", &PLAN.replace("THRESHOLDS", "")).expect("a plan");
    let asked = LimitOptions {
        requirements: vec!["p99 < 1s".to_owned()],
        by: None,
        from: Some(1_000_000.0),
        to: Some(2_000_000.0),
        step: Duration::from_secs(2),
        max_steps: 2,
        folder: None,
    };
    let (handle, run) = (Handle::default(), Options::default());
    let parts = LimitParts { source: &source, ..LimitParts::default() };
    let outcome = limit_with(&plan, &run, &asked, parts, &handle, &mut |_| ()).expect("a search");
    assert_eq!(outcome.failures, [] as [&str; 0]);
    assert_eq!((outcome.limit.steps.len(), outcome.limit.at_least), (2, Some(2_000_000.0)));
    assert!(outcome.meta.nodes.is_empty());
    let told = commands(&commanded);
    let kinds: Vec<&str> = told.iter().filter_map(|own| own.split(' ').next()).collect();
    assert_eq!(
        kinds,
        ["Begin", "Written", "Written", "Release", "Begin", "Written", "Written", "Release"]
    );
}

#[test]
fn names_of_runs_are_names() {
    for plan in ["shop", "", "--", "Ünter uns/2", &"x".repeat(300)] {
        let name = super::source::run_name(plan).expect("random numbers");
        assert!(crate::protocol::keys::is_name(&name), "{name}");
        assert_ne!(name, super::source::run_name(plan).expect("random numbers"));
    }
}

#[test]
fn a_kept_run_has_what_nodes_were_given() {
    let key = RunKey::new().expect("random numbers");
    let job = serde_json::json!({
        "plan": "target: builtin", "files": {}, "target": "http://127.0.0.1:9", "seed": 3,
        "allow_exec": true, "io": "epoll", "workers": 2, "setup": [["token", "t-1"]], "exchanges": null,
    });
    let job = serde_json::from_value(job).expect("a job");
    let kept = Kept::new("r", &key, 1.0, (1, OnLoss::Abort), job);
    let (mut source, _) = scripted(Vec::new());
    source.resumes(kept);
    let found = squall_runner::LoadSource::found(&source).expect("the setup's");
    assert_eq!(found, [("token".to_owned(), squall_plan::value::Value::text("t-1"))]);
}

#[test]
fn a_node_that_has_hardly_a_port_left_is_noted() {
    let of = |second: u32, ports_used: u64| {
        let sample = HostSample {
            ports_used,
            ports_limit: 28_232,
            segments_sent: 1_000 + 7 * u64::from(second),
            ..HostSample::default()
        };
        let host =
            vec![(f64::from(second), HostSample::default()), (f64::from(second) + 0.5, sample)];
        let record = encode(&Whole { second, host, ..Whole::default() }, &Aside::default());
        let shards = [0, 1, 2, 3].into();
        let second = Second { second, shards, is_whole: true, late: 0, record };
        Line::Say(RunEvent::Record { node: "eu-1".to_owned(), second })
    };
    let (source, _) = scripted(vec![vec![
        starts(Duration::from_secs(2)),
        of(0, 28_000),
        record("us-1", 0, (10, 1_000, 0), 0),
        of(1, 9_000),
        record("us-1", 1, (10, 1_000, 0), 0),
        whole(1),
        ended(2, Vec::new()),
    ]]);
    let run = ran(source, "", Vec::new(), &Handle::default()).run;
    let host = document(&run).nodes[0].host_metrics.clone();
    assert_eq!((host["ports_used"], host["ports_limit"]), (28_000, 28_232));
    assert_eq!(host["segments_sent"], 7, "from the first second to the last");
    let reason = run.reasons.iter().find(|own| own.rule == "node_ports").expect("it is noted");
    assert!(reason.observed.contains("node eu-1: 28,000 of 28,232"), "{}", reason.observed);
}
=======
>>>>>>> 90e82cc62041e1adf556b3b89f340ac57e1bcfbc
