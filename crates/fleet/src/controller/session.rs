//! One load of a fleet: what the protocol says becomes what a run is told of its load.

use std::io;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use squall_engine::{DEFAULT_GRACEFUL_STOP, Ended, Event, Followed, LogLine, Ordered};
use squall_metrics::Slice;
use squall_plan::yaml::print_load;
use squall_runner::LoadOrder;

use crate::controller::events::Events;
use crate::controller::link::{Gone, Link, Told};
use crate::controller::nodes::Nodes;
use crate::controller::options::{EndedNode, EndedNodes};
use crate::controller::seconds::Seconds;
use crate::protocol::io::{FleetTime, RunCommand, RunEvent};
use crate::protocol::messages::{Card, Cells, Change, Second};
use crate::record::{Decoder, Record};
use crate::seal::RunKey;

/// How often orders are looked for while nothing is said.
const POLL: Duration = Duration::from_millis(20);
/// How much longer than it may take a fleet has to end after a stop: the protocol gives nodes up earlier.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is known of a load that is over.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// How it ended.
    pub ended: Ended,
    /// What its nodes did.
    pub nodes: Nodes,
    /// Which cells were driven.
    pub cells: Cells,
}

/// A load that goes on.
pub(crate) struct Session<'a, 'o> {
    order: &'a LoadOrder<'o>,
    link: &'a mut dyn Link,
    on: &'a mut dyn FnMut(Event<'_>),
    followed: Followed,
    decoder: Decoder,
    lease: Duration,
    /// Nodes of this machine that have ended, and of how many of them was told.
    ended_nodes: (&'a EndedNodes, usize),
    seconds: Seconds,
    nodes: Nodes,
    /// When the load starts, once that is known.
    starts: Option<Instant>,
    /// Whether that was told.
    has_started: bool,
    /// How long after the start the last record came.
    last_came: Duration,
    asked: bool,
    /// By when it must have ended.
    ends_by: Option<Instant>,
    failures: Vec<String>,
}

impl<'a, 'o> Session<'a, 'o> {
    /// Over a link that was told to begin; records are of the run that has this key. With the lease of the nodes, and with those
    /// that have ended.
    pub(crate) fn new(
        order: &'a LoadOrder<'o>,
        key: RunKey,
        (lease, ended_nodes): (Duration, &'a EndedNodes),
        link: &'a mut dyn Link,
        on: &'a mut dyn FnMut(Event<'_>),
    ) -> Session<'a, 'o> {
        let program = &order.program;
        Session {
            link,
            on,
            followed: order.control.follow(),
            decoder: Decoder::of_run(key),
            lease,
            ended_nodes: (ended_nodes, 0),
            seconds: Seconds::new(program.known_rows(), program.most_rows()),
            nodes: Nodes::new(Events::open(order.folder)),
            starts: None,
            has_started: false,
            last_came: Duration::ZERO,
            asked: false,
            ends_by: None,
            failures: Vec::new(),
            order,
        }
    }

    /// Goes on until the load is done.
    ///
    /// # Errors
    /// It could not begin: nothing was sent.
    pub(crate) fn run(mut self) -> io::Result<Outcome> {
        loop {
            if let Some(outcome) = self.obey() {
                return Ok(outcome);
            }
            self.tell_start();
            self.look_for_ended_nodes()?;
            match self.link.next(POLL) {
                Ok(None) => {}
                Ok(Some(Told::Log(line))) => self.notice("", &line),
                Ok(Some(Told::Event(RunEvent::Refused(why)))) => return Err(io::Error::other(why)),
                Ok(Some(Told::Event(RunEvent::Ended { cells, failures }))) => {
                    self.failures.extend(failures);
                    return Ok(self.ended(cells));
                }
                Ok(Some(Told::Event(event))) => self.event(event),
                Err(Gone) if self.starts.is_none() => {
                    return Err(io::Error::other(
                        "the controller ended before the load could begin",
                    ));
                }
                Err(Gone) => {
                    self.failures.push("the controller ended before the load had".to_owned());
                    return Ok(self.ended(Cells::default()));
                }
            }
        }
    }

    /// Passes orders on. `Some`: the load is over by them.
    fn obey(&mut self) -> Option<Outcome> {
        for ordered in self.followed.news() {
            let (change, within) = match ordered {
                Ordered::Pause => (Change::Pause { from: 0 }, None),
                Ordered::GoOn => (Change::GoOn { from: 0 }, None),
                Ordered::Shape { number, load, after } => {
                    let shape = print_load(&load);
                    (Change::Shape { load: number, shape, after: nanos(after) }, None)
                }
                Ordered::Stop(graceful) => {
                    (Change::Stop { graceful: nanos(graceful) }, Some(graceful))
                }
                Ordered::Abort => (Change::Abort, Some(Duration::ZERO)),
            };
            if let Some(within) = within {
                if self.starts.is_none() {
                    // Nobody has begun: there is nothing to end in order.
                    return Some(self.outcome(Cells::default(), Duration::ZERO));
                }
                let by = Instant::now() + within + self.lease + PATIENCE;
                self.ends_by = Some(self.ends_by.map_or(by, |known| known.min(by)));
            }
            self.link.command(RunCommand::Change(change));
        }
        let is_over = self.ends_by.is_some_and(|by| Instant::now() >= by);
        is_over.then(|| {
            let why = "the nodes did not end in time after they were told to";
            self.failures.push(why.to_owned());
            self.ended(Cells::default())
        })
    }

    /// Tells of nodes of this machine that have ended.
    ///
    /// # Errors
    /// One has before the load could begin: who would wait for it waits in vain.
    fn look_for_ended_nodes(&mut self) -> io::Result<()> {
        let (ended, told) = ((self.ended_nodes.0)(), self.ended_nodes.1);
        self.ended_nodes.1 = ended.len();
        if self.starts.is_none() {
            let all: Vec<String> = ended.iter().map(in_words).collect();
            return match all.is_empty() {
                true => Ok(()),
                false => Err(io::Error::other(all.join("; "))),
            };
        }
        for own in ended.iter().skip(told) {
            let text = in_words(own);
            self.nodes.told(&own.node, unix_nanos(), &text);
            self.notice(&own.node, &text);
        }
        Ok(())
    }

    /// Tells of the start when its time has come.
    fn tell_start(&mut self) {
        if !self.has_started && self.starts.is_some_and(|at| Instant::now() >= at) {
            self.has_started = true;
            (self.on)(Event::Started);
        }
    }

    fn event(&mut self, event: RunEvent) {
        match event {
            RunEvent::Waiting(line) => self.notice("", &line),
            RunEvent::Starts { at, nodes, .. } => self.starts(at, nodes),
            RunEvent::Clock { card, offset, error } => self.nodes.clock(*card, offset, error),
            RunEvent::Carries { users } => self.order.handle.limit_users(users),
            RunEvent::Record { node, second } => self.record(&node, &second),
            RunEvent::Whole { second } => {
                let slices = self.seconds.whole(second);
                self.hand_over(&slices);
                self.link.command(RunCommand::Written { until: second });
            }
            RunEvent::Told { node, at, text } => {
                self.nodes.told(&node, at, &text);
                let named = if node.is_empty() { text } else { format!("node {node} {text}") };
                self.notice(&node, &named);
            }
            RunEvent::StopAsked => {
                self.asked = true;
                let graceful = self.order.plan.graceful_stop.unwrap_or(DEFAULT_GRACEFUL_STOP);
                self.order.control.stop(graceful);
            }
            RunEvent::Interrupted => self.order.handle.stop(),
            // Taken before.
            RunEvent::Refused(_) | RunEvent::Ended { .. } => {}
        }
    }

    fn starts(&mut self, at: FleetTime, cards: Vec<Card>) {
        let starts = instant(at);
        let names: Vec<&str> = cards.iter().take(8).map(|card| card.node.as_str()).collect();
        let more = cards.len().saturating_sub(names.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let line = format!("the load starts on {}{more}", names.join(", "));
        self.notice("", &line);
        self.nodes.start(at, cards);
        self.order.control.begin(starts);
        self.starts = Some(starts);
        self.tell_start();
    }

    fn record(&mut self, node: &str, second: &Second) {
        let (zone, number) = self.nodes.place(node);
        let record = match self.decoder.decode(&second.record) {
            Ok(record) => record.of_node(number),
            Err(error) => {
                let why =
                    format!("second {} of node {node} cannot be read: {error}", second.second);
                return self.failures.push(why);
            }
        };
        self.begin();
        let since = self.starts.map_or(Duration::ZERO, |at| at.elapsed());
        self.last_came = self.last_came.max(since);
        let facts = self.seconds.add(node, &zone, second.second, &record);
        self.nodes.add(node, second, &record, &facts);
        self.aside(node, &record);
    }

    /// What went along with a record.
    fn aside(&mut self, node: &str, record: &Record) {
        let named =
            |line: &LogLine| LogLine { text: format!("{node}: {}", line.text), ..line.clone() };
        let mut lines: Vec<LogLine> = record.aside.log.iter().map(named).collect();
        let left_out = record.aside.left_out;
        if left_out.log > 0 {
            let text = format!("{node}: {} lines of the log were left out", left_out.log);
            let (worker, second) = (0, lines.last().map_or(0, |line| line.second));
            lines.push(LogLine { worker, second, text, is_failure: false, example: None });
        }
        if !lines.is_empty() {
            (self.on)(Event::Log(&lines));
        }
        let Some(trace) = &self.order.trace else { return };
        trace.lose(left_out.exchanges.saturating_add(left_out.groups));
        record.aside.exchanges.iter().for_each(|own| trace.tell(own.clone()));
        record.aside.groups.iter().for_each(|own| trace.tell_group((**own).clone()));
    }

    /// The start is told before anything recorded, though the clocks of two processes may differ by more than a second.
    fn begin(&mut self) {
        if !self.has_started {
            self.has_started = true;
            (self.on)(Event::Started);
        }
    }

    fn hand_over(&mut self, slices: &[Slice]) {
        self.begin();
        slices.iter().for_each(|slice| (self.on)(Event::Slice(slice)));
    }

    fn notice(&mut self, node: &str, text: &str) {
        (self.on)(Event::Notice { node, text });
    }

    fn ended(&mut self, cells: Cells) -> Outcome {
        let slices = self.seconds.rest(cells.seconds);
        if !slices.is_empty() {
            self.hand_over(&slices);
        }
        let elapsed = match self.has_started {
            true => self.elapsed(cells.seconds),
            false => Duration::ZERO,
        };
        self.outcome(cells, elapsed)
    }

    /// How long the load took, of which so many seconds were recorded, the last one not as a whole: as long as the plan says
    /// if that ends in it, otherwise until its record came, or its end.
    fn elapsed(&self, seconds: u32) -> Duration {
        let Some(whole) = seconds.checked_sub(1) else { return self.last_came };
        let (least, most) =
            (Duration::from_secs(whole.into()), Duration::from_secs(seconds.into()));
        let planned = self.order.program.length_s().map(Duration::from_secs_f64);
        let in_time = planned.filter(|own| (least..=most).contains(own) && self.ends_by.is_none());
        in_time.unwrap_or(self.last_came.clamp(least, most))
    }

    fn outcome(&mut self, cells: Cells, elapsed: Duration) -> Outcome {
        let (asked, failures) = (self.asked, std::mem::take(&mut self.failures));
        let ended = Ended { elapsed, asked, failures, variables: Vec::new() };
        Outcome { ended, nodes: std::mem::take(&mut self.nodes), cells }
    }
}

/// That a node has ended.
fn in_words(ended: &EndedNode) -> String {
    let EndedNode { node, how } = ended;
    format!("node {node} has ended: {how}")
}

/// What time it is by the system's clock, in nanoseconds since 1970.
fn unix_nanos() -> FleetTime {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    FleetTime::try_from(now.as_nanos()).unwrap_or(FleetTime::MAX)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A fleet time, which is that of this system's clock, by the steady clock. One that is long past is now.
fn instant(at: FleetTime) -> Instant {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let at = Duration::from_nanos(u64::try_from(at).unwrap_or(0));
    let steady = Instant::now();
    match at.checked_sub(now) {
        Some(ahead) => steady.checked_add(ahead).unwrap_or(steady),
        None => steady.checked_sub(now.saturating_sub(at)).unwrap_or(steady),
    }
}
