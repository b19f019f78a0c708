//! What each node of a run is, and did.

use std::collections::BTreeMap;

use squall_metrics::{Histogram, HostSample, SelfMetrics};
use squall_report::{
    Fleet, Generator, GeneratorDocument, Machine, NodeReport, NodeTimes, ZoneReport,
};

use crate::controller::coverage::coverage;
use crate::controller::events::Events;
use crate::protocol::io::FleetTime;
use crate::protocol::messages::{Card, Cells, OnLoss, Second};
use crate::record::{Fact, Record};

/// Nanoseconds of a second.
const SECOND: f64 = 1e9;
/// Nanoseconds of a microsecond.
const MICRO: f64 = 1e3;

/// The nodes of a run.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    nodes: BTreeMap<String, Node>,
    events: Events,
    start: FleetTime,
    /// Those whose clocks were measured, whether they have come or not.
    clocks: BTreeMap<String, (Card, Clock)>,
}

/// What is known of a clock.
#[derive(Debug, Clone, Copy)]
struct Clock {
    /// By how much it is ahead of the controller's, and how wrong that may be, in µs.
    ahead_us: f64,
    error_us: f64,
}

/// A node, with what it has recorded so far.
#[derive(Debug, Default)]
struct Node {
    card: Card,
    /// Its place among those that have come, from 0.
    number: u32,
    shards: u64,
    /// Seconds in which it drove something.
    seconds: u64,
    /// The last of them, or in which it said that it carries none of its shards.
    last: Option<u32>,
    requests: f64,
    errors: f64,
    latency: Histogram,
    self_metrics: SelfMetrics,
    /// Shares of its machine's CPU time, added up, and how many.
    cpu: (f64, u32),
    host_busy: (f64, u32),
    host: HostUse,
}

/// What was sampled of a host: the first and the last sample with their seconds, as records come late, and the highest of
/// each gauge.
#[derive(Debug, Default)]
struct HostUse {
    first: Option<(u32, HostSample)>,
    last: (u32, HostSample),
    peak: HostSample,
}

impl HostUse {
    fn add(&mut self, second: u32, sample: HostSample) {
        self.first = self.first.filter(|(first, _)| *first <= second).or(Some((second, sample)));
        if second >= self.last.0 {
            self.last = (second, sample);
        }
        self.peak = self.peak.peak_with(&sample);
    }

    /// The highest of each gauge, and what was counted from the first sample to the last.
    fn metrics(&self) -> BTreeMap<String, u64> {
        let Some((_, first)) = self.first else { return BTreeMap::new() };
        let during = self.last.1.since(&first);
        let metrics = self.peak.gauges().chain(during.counters());
        metrics.map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

impl Nodes {
    /// Those of a run to whose nodes this has happened so far.
    pub(crate) fn new(events: Events) -> Nodes {
        Nodes { events, ..Nodes::default() }
    }

    /// The load starts then, on these.
    pub(crate) fn start(&mut self, at: FleetTime, cards: Vec<Card>) {
        self.start = at;
        for card in cards {
            let name = card.node.clone();
            self.node(&name).card = card;
        }
    }

    /// A clock was measured: by so many nanoseconds is it behind the controller's, and so many that may be wrong.
    pub(crate) fn clock(&mut self, card: Card, behind: i64, error: u64) {
        let clock = Clock { ahead_us: -(behind as f64) / MICRO, error_us: error as f64 / MICRO };
        self.clocks.insert(card.node.clone(), (card, clock));
    }

    fn node(&mut self, name: &str) -> &mut Node {
        if !self.nodes.contains_key(name) {
            let number = self.nodes.len() as u32;
            // One that has joined is known by its clock.
            let known = self.clocks.get(name).map(|(card, _)| card.clone());
            let card = known.unwrap_or_else(|| Card { node: name.to_owned(), ..Card::default() });
            self.nodes.insert(name.to_owned(), Node { card, number, ..Node::default() });
        }
        // It was inserted if it was not there.
        self.nodes.entry(name.to_owned()).or_default()
    }

    /// The zone of a node, and its number.
    pub(crate) fn place(&mut self, name: &str) -> (String, u32) {
        let node = self.node(name);
        (node.card.zone.clone(), node.number)
    }

    /// Something has happened to a node.
    pub(crate) fn told(&mut self, node: &str, at: FleetTime, text: &str) {
        self.events.add(node, at, text);
    }

    /// Adds what a node has recorded in a second, and what describes it in it.
    pub(crate) fn add(&mut self, name: &str, second: &Second, record: &Record, facts: &[Fact]) {
        let node = self.node(name);
        if second.second == 0 && second.late == 0 {
            node.shards = second.shards.len() as u64;
        }
        let drove = !second.shards.is_empty();
        if second.late == 0 && (drove || second.is_whole) {
            node.seconds += u64::from(drove);
            node.last = node.last.max(Some(second.second));
        }
        if let Some(sample) = record.host {
            node.host.add(second.second, sample);
        }
        node.self_metrics.merge(&record.rest.self_metrics);
        for (key, stats) in facts {
            let sum = |to: &mut (f64, u32)| {
                if let Some(gauge) = stats.gauge() {
                    *to = (to.0 + gauge.last, to.1 + 1);
                }
            };
            match key.name.as_str() {
                "node_requests" => node.requests += stats.sum(),
                "node_errors" => node.errors += stats.sum(),
                "node_latency" => node.latency.merge(&stats.trend),
                "node_cpu" => sum(&mut node.cpu),
                "node_host_cpu" => sum(&mut node.host_busy),
                _ => {}
            }
        }
    }

    /// The machines of the nodes, whose connections are made in this way.
    pub(crate) fn machines(&self, io: &str, workers: Option<u32>) -> Vec<Machine> {
        let clock = |node: &Node| self.clocks.get(&node.card.node).map(|(_, clock)| *clock);
        let machine = |node: &Node| Machine {
            node: node.card.node.clone(),
            zone: node.card.zone.clone(),
            host: node.card.host.clone(),
            os: node.card.os.clone(),
            cpu: node.card.cpu.clone(),
            memory_bytes: node.card.memory_bytes,
            cpus: u64::from(node.card.cores),
            workers: u64::from(workers.unwrap_or(node.card.cores)),
            io: io.to_owned(),
            squall: node.card.version.clone(),
            weight: node.card.weight,
            clock_offset_us: clock(node).map(|own| own.ahead_us),
            clock_error_us: clock(node).map(|own| own.error_us),
        };
        self.nodes.values().map(machine).collect()
    }

    /// What each of them did in a run with these cells.
    pub(crate) fn reports(&self, cells: &Cells) -> Vec<NodeReport> {
        self.nodes.values().map(|node| node.report(cells)).collect()
    }

    /// What became of their shares in a run with these cells.
    pub(crate) fn fleet(&self, cells: &Cells, (lease_ns, on_loss): (u64, OnLoss)) -> Fleet {
        let on_loss = match on_loss {
            OnLoss::Redistribute => "redistribute",
            OnLoss::Continue => "continue",
            OnLoss::Abort => "abort",
        };
        Fleet {
            shards: u64::from(cells.shards),
            on_loss: on_loss.to_owned(),
            lease_s: lease_ns as f64 / SECOND,
            cells: coverage(cells),
            zones: self.zones(),
            events: self.events.since(self.start),
        }
    }

    fn zones(&self) -> Vec<ZoneReport> {
        let mut zones: BTreeMap<&str, (ZoneReport, Histogram)> = BTreeMap::new();
        for node in self.nodes.values().filter(|node| !node.card.zone.is_empty()) {
            let (zone, latency) = zones.entry(&node.card.zone).or_default();
            zone.zone.clone_from(&node.card.zone);
            zone.nodes += 1;
            zone.requests += node.requests as u64;
            zone.errors += node.errors as u64;
            latency.merge(&node.latency);
        }
        let finished = |(zone, latency): (ZoneReport, Histogram)| ZoneReport {
            latency_us: NodeTimes::of(&latency),
            ..zone
        };
        zones.into_values().map(finished).collect()
    }
}

impl Node {
    fn report(&self, cells: &Cells) -> NodeReport {
        let average =
            |(sum, count): (f64, u32)| if count == 0 { 0.0 } else { sum / f64::from(count) };
        let (end, ended_s) = self.end(cells);
        let peak_rss_bytes = self.host.peak.rss_bytes;
        let used = Generator { peak_rss_bytes, ..Generator::default() };
        NodeReport {
            node: self.card.node.clone(),
            zone: self.card.zone.clone(),
            end: end.to_owned(),
            ended_s,
            shards: self.shards,
            seconds: self.seconds,
            requests: self.requests as u64,
            errors: self.errors as u64,
            latency_us: NodeTimes::of(&self.latency),
            cpu_cores: average(self.cpu) * f64::from(self.card.cores),
            host_busy: average(self.host_busy),
            generator: GeneratorDocument::of(&self.self_metrics, used),
            host_metrics: self.host.metrics(),
        }
    }

    /// What became of it: one that drove nothing in the end while others did was lost, if it was to drive something, and has
    /// left otherwise.
    fn end(&self, cells: &Cells) -> (&'static str, Option<f64>) {
        let ended = self.last.map_or(0, |last| last + 1);
        // The last second is rarely a whole one, and shards that are done early have nobody in it.
        if ended + 2 > cells.seconds {
            return ("done", None);
        }
        let is_missed =
            cells.missing.iter().any(|own| own.node == self.card.node && own.to >= ended);
        (if is_missed { "lost" } else { "left" }, Some(f64::from(ended)))
    }
}
