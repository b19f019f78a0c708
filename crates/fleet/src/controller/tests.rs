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
    FinishedRun, Handle, Options, Row, RunParts, Second as Whole, Sink, Start, Wanted as SinkWants,
    load_str, run_with,
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
