//! What describes a node alone, as metrics over time that bear its name: one bad node must not hide in the sum.

use std::sync::Arc;

use squall_metrics::{Histogram, MetricKey, MetricKind, MetricStats, RowKey};

use super::message::Record;

/// A metric and what it recorded.
pub type Fact = (Arc<MetricKey>, MetricStats);

/// Nanoseconds of a second.
const SECOND_NS: u64 = 1_000_000_000;

/// The facts of a node in a second, with tags `node` and `zone`, and its part of those of its zone. Latencies and delays
/// are trends in milliseconds, from histograms that merge exactly; shares of CPU time are gauges from 0 to 1.
///
/// - `node_requests`, `node_errors`: requests, resources and programs that ended.
/// - `node_latency`: latency of their complete responses.
/// - `node_send_delay`, `node_receive_delay`: the node's own delays, in two digits.
/// - `node_cpu`, `node_host_cpu`: the share of its machine's CPU time that squall used, and that was used at all.
/// - `node_users`: virtual users that were active.
/// - `zone_requests`, `zone_errors`, `zone_latency`: of all nodes of a zone, if they have one.
pub fn facts(node: &str, zone: &str, second: u32, record: &Record) -> Vec<Fact> {
    let (mut latency, mut requests, mut errors) = (Histogram::new(), 0u64, 0u64);
    let is_request = |(_, key): &(usize, &RowKey)| key.place.kind.is_request();
    for (row, _) in record.rows().filter(is_request) {
        record.rows.merge_latency(row, &mut latency);
        let (own, failed) = record.rows.counts(row);
        requests = requests.saturating_add(own);
        errors = errors.saturating_add(failed);
    }
    let tag = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let of_zone = (!zone.is_empty()).then(|| vec![tag("zone", zone)]);
    let of_node = [vec![tag("node", node)], of_zone.clone().unwrap_or_default()].concat();
    let mut sheet = Sheet { at: u64::from(second) * SECOND_NS, facts: Vec::new() };
    sheet.counter("node_requests", &of_node, requests);
    sheet.counter("node_errors", &of_node, errors);
    sheet.trend("node_latency", &of_node, latency.clone());
    let own = &record.rest.self_metrics;
    sheet.trend("node_send_delay", &of_node, Histogram::from(&own.send_delay));
    sheet.trend("node_receive_delay", &of_node, Histogram::from(&own.receive_delay));
    for (name, of_host) in [("node_cpu", "squall_cpu"), ("node_host_cpu", "host_cpu")] {
        if let Some(share) = record.of_host(of_host) {
            sheet.record(MetricKind::Gauge, name, &of_node, share);
        }
    }
    let users = record.rest.counters.users_active;
    sheet.record(MetricKind::Gauge, "node_users", &of_node, users as f64);
    if let Some(of_zone) = of_zone {
        sheet.counter("zone_requests", &of_zone, requests);
        sheet.counter("zone_errors", &of_zone, errors);
        sheet.trend("zone_latency", &of_zone, latency);
    }
    sheet.facts
}

struct Sheet {
    at: u64,
    facts: Vec<Fact>,
}

impl Sheet {
    fn counter(&mut self, name: &str, tags: &[(String, String)], value: u64) {
        self.record(MetricKind::Counter, name, tags, value as f64);
    }

    fn record(&mut self, kind: MetricKind, name: &str, tags: &[(String, String)], value: f64) {
        let mut stats = MetricStats::default();
        // What a node says may be no number, which no metric takes.
        if stats.record(kind, value, self.at).is_ok() {
            self.push(kind, name, tags, stats);
        }
    }

    /// A histogram in µs counts the thousandths of milliseconds.
    fn trend(&mut self, name: &str, tags: &[(String, String)], times: Histogram) {
        if !times.is_empty() {
            self.push(MetricKind::Trend, name, tags, MetricStats::of_trend(times));
        }
    }

    fn push(
        &mut self,
        kind: MetricKind,
        name: &str,
        tags: &[(String, String)],
        stats: MetricStats,
    ) {
        let key = MetricKey::new(kind, "", name, tags.to_vec());
        self.facts.push((Arc::new(key), stats));
    }
}
