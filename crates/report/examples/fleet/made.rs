//! A made-up run of a fleet of two zones: its fourth node is slow from the middle on, and its second is lost at the end.

use squall_analysis::Totals;
use squall_metrics::{
    MetricId, MetricKey, MetricKind, MetricStats, NameId, RequestStats, RowKey, RowKind, Sample,
    Slice, Source,
};
use squall_report::{
    Coverage, Fleet, FleetEvent, GeneratorDocument, Machine, Meta, Missing, NodeReport, NodeTimes,
    PhaseTimes, Run, ZoneReport,
};

/// Requests of a node in a second.
const REQUESTS: u64 = 20;
/// Nodes of which metrics are recorded: a run has at most 1,000 metrics.
const NODES_OVER_TIME: usize = 300;
const SHARDS_OF_A_NODE: u64 = 16;
/// So many seconds before the end the second node is lost.
const LOST_BEFORE: u32 = 3;

/// A run of so many nodes and seconds, not evaluated yet, whose slices are kept.
pub fn run(nodes: usize, seconds: u32, mut keep: impl FnMut(&Slice)) -> Run {
    let mut totals = Totals::new();
    let mut all: Vec<RequestStats> = vec![RequestStats::default(); nodes];
    for second in 0..seconds {
        for slice in slices(nodes, second, seconds, &mut all) {
            totals.add(&slice);
            keep(&slice);
        }
    }
    Run {
        meta: meta(nodes),
        elapsed_s: f64::from(seconds),
        finished: true,
        totals: totals.into(),
        nodes: node_reports(&all, seconds),
        fleet: Some(fleet(&all, seconds)),
        ..Run::default()
    }
}

fn name(node: usize) -> String {
    format!("{}-{node}", zone(node))
}

fn zone(node: usize) -> &'static str {
    if node.is_multiple_of(2) { "eu" } else { "us" }
}

fn is_lost(node: usize, second: u32, seconds: u32) -> bool {
    node == 1 && second + LOST_BEFORE >= seconds
}

/// In µs.
fn latency(node: usize, second: u32, seconds: u32, n: u64) -> u64 {
    let base = if zone(node) == "eu" { 20_000 } else { 80_000 };
    let own = base + (node as u64 * 7_919 + u64::from(second) * 104_729) % 4_000 + n * 500;
    if node == 3 && second >= seconds / 2 { own * 6 } else { own }
}

/// What one merged source, and the nodes as monitors, recorded in a second.
fn slices(nodes: usize, second: u32, seconds: u32, all: &mut [RequestStats]) -> Vec<Slice> {
    let mut merged = Slice::new(0, second);
    let mut told = Slice::new(Source::Monitor(1), second);
    let name_id = NameId(0);
    if second == 0 {
        merged.announce(name_id, RowKey::new(RowKind::Request, "buyer", "GET /"));
    }
    let mut zones = [("eu", MetricStats::default()), ("us", MetricStats::default())];
    for node in (0..nodes).filter(|node| !is_lost(*node, second, seconds)) {
        let mut own = MetricStats::default();
        for n in 0..REQUESTS {
            let us = latency(node, second, seconds, n);
            merged.record(name_id, &Sample::ok(us));
            all[node].latency.record(us);
            own.record(MetricKind::Trend, us as f64 / 1e3, 0).expect("a value");
        }
        all[node].count += REQUESTS;
        let zone_stats = zones.iter_mut().find(|(name, _)| *name == zone(node)).expect("a zone");
        zone_stats.1.merge(&own);
        if node >= NODES_OVER_TIME {
            continue;
        }
        let cpu = if node == 3 { 0.85 } else { 0.3 } + f64::from(second % 5) * 0.01;
        for (at, (metric, kind)) in [
            ("node_latency", MetricKind::Trend),
            ("node_send_delay", MetricKind::Trend),
            ("node_cpu", MetricKind::Gauge),
        ]
        .into_iter()
        .enumerate()
        {
            let tags = [("node", name(node)), ("zone", zone(node).to_owned())];
            let id = MetricId((node * 3 + at) as u32);
            let tags = tags.map(|(tag, value)| (tag.to_owned(), value)).to_vec();
            if second == 0 {
                told.announce_metric(id, &MetricKey::new(kind, "", metric, tags));
            }
            match at {
                0 => told.merge_metric(id, &own),
                1 => told.record_metric(id, kind, 0.08, 0).expect("a value"),
                _ => told.record_metric(id, kind, cpu, 0).expect("a value"),
            }
        }
    }
    for (at, (zone, stats)) in zones.into_iter().enumerate() {
        let id = MetricId((nodes.min(NODES_OVER_TIME) * 3 + at) as u32);
        if second == 0 {
            let tags = vec![("zone".to_owned(), zone.to_owned())];
            told.announce_metric(id, &MetricKey::new(MetricKind::Trend, "", "zone_latency", tags));
        }
        told.merge_metric(id, &stats);
    }
    vec![merged, told]
}

pub fn meta(nodes: usize) -> Meta {
    let machine = |node: usize| Machine {
        node: name(node),
        zone: zone(node).to_owned(),
        host: format!("host-{node}"),
        os: "Linux version 6.1".to_owned(),
        cpu: "a processor".to_owned(),
        memory_bytes: 8 << 30,
        cpus: 4,
        workers: 4,
        io: "io_uring".to_owned(),
        squall: "0.1.0".to_owned(),
        weight: 1.0,
        clock_offset_us: Some(node as f64 * 150.0 - 300.0),
        clock_error_us: Some(if node == 2 { 80_000.0 } else { 250.0 }),
    };
    Meta {
        squall: "0.1.0".to_owned(),
        plan: "shop".to_owned(),
        target: Some("http://shop.example".to_owned()),
        started_unix: 1_795_213_023.0,
        nodes: (0..nodes).map(machine).collect(),
        warmup: "none".to_owned(),
        ..Meta::default()
    }
}

/// What each node did, of what it measured.
fn node_reports(all: &[RequestStats], seconds: u32) -> Vec<NodeReport> {
    let delay = |p99: f64| PhaseTimes { count: 200, p99, ..PhaseTimes::default() };
    let generator = GeneratorDocument {
        peak_rss_bytes: 40 << 20,
        starved_s: 0.02,
        preempted: 12,
        send_delay_us: delay(80.0),
        receive_delay_us: delay(12.0),
        ..GeneratorDocument::default()
    };
    let metrics = [("ports_used", 120), ("ports_limit", 28_232)];
    let node = |(node, own): (usize, &RequestStats)| {
        let lost_s = (node == 1).then_some(u64::from(seconds - LOST_BEFORE));
        NodeReport {
            node: name(node),
            zone: zone(node).to_owned(),
            end: if lost_s.is_some() { "lost" } else { "done" }.to_owned(),
            ended_s: lost_s.map(|second| second as f64),
            shards: SHARDS_OF_A_NODE,
            seconds: lost_s.unwrap_or(u64::from(seconds)),
            requests: own.count,
            errors: 0,
            latency_us: NodeTimes::of(&own.latency),
            cpu_cores: if node == 3 { 3.4 } else { 1.2 },
            host_busy: if node == 3 { 0.9 } else { 0.4 },
            generator: generator.clone(),
            host_metrics: metrics.map(|(name, value)| (name.to_owned(), value)).into(),
        }
    };
    all.iter().enumerate().map(node).collect()
}

fn fleet(all: &[RequestStats], seconds: u32) -> Fleet {
    let shards = all.len() as u64 * SHARDS_OF_A_NODE;
    let [from_s, to_s] = [LOST_BEFORE, 1].map(|before| u64::from(seconds - before));
    let lost = (0..shards).filter(|shard| shard % all.len() as u64 == 1);
    let missing: Vec<Missing> = lost
        .map(|shard| Missing {
            shard,
            from_s,
            to_s,
            node: "us-1".to_owned(),
            why: "node us-1 was lost".to_owned(),
        })
        .collect();
    let cells = shards * u64::from(seconds);
    Fleet {
        shards,
        on_loss: "redistribute".to_owned(),
        lease_s: 15.0,
        cells: Coverage {
            cells,
            driven: cells - missing.len() as u64 * u64::from(LOST_BEFORE),
            missing,
        },
        zones: ["eu", "us"].map(|own| zone_report(own, all)).to_vec(),
        events: vec![FleetEvent {
            at_s: from_s as f64,
            node: "us-1".to_owned(),
            text: "node us-1 was lost".to_owned(),
        }],
    }
}

fn zone_report(name: &str, all: &[RequestStats]) -> ZoneReport {
    let mut sum = RequestStats::default();
    let own = all.iter().enumerate().filter(|(node, _)| zone(*node) == name);
    own.clone().for_each(|(_, own)| {
        sum.count += own.count;
        sum.latency.merge(&own.latency);
    });
    ZoneReport {
        zone: name.to_owned(),
        nodes: own.count() as u64,
        requests: sum.count,
        errors: 0,
        latency_us: NodeTimes::of(&sum.latency),
    }
}
