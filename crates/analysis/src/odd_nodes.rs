//! Which nodes of a fleet are other than the rest.
//!
//! A node is odd by a measure if its value is farther from the median of the nodes of its zone than five times their usual
//! distance from it (the median absolute deviation, scaled as for a normal distribution), than half of the median, and than
//! what makes no difference to anybody. Zones are at different distances from the target; where a zone has fewer than three
//! nodes, or none is named, the others are all nodes.

use std::collections::BTreeMap;

use squall_base::units::{percent, time};

/// What is known of a node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeFacts {
    pub name: String,
    /// Empty: unknown.
    pub zone: String,
    pub requests: u64,
    /// Requests that were errors.
    pub errors: u64,
    /// The 95th percentile of its latencies, in µs.
    pub p95_us: f64,
    /// How much later than due requests were sent at the 99th percentile, in µs.
    pub send_delay_p99_us: f64,
    /// The share of its CPUs that squall used.
    pub cpu: f64,
    /// The share of its CPUs that anything used; 0: unknown.
    pub host_busy: f64,
    /// Most local ports in use toward a destination.
    pub ports_used: u64,
    /// 0: unknown.
    pub ports_limit: u64,
    /// By how much its time may be wrong, in µs; `None`: it is the controller's.
    pub clock_error_us: Option<f64>,
}

/// A node that is other than the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct OddNode {
    /// Its place among the nodes.
    pub node: usize,
    /// By what: `latency`, `send_delay`, `cpu` or `errors`.
    pub by: &'static str,
    /// Its own value, in words.
    pub value: String,
    /// The median of those that it is compared with, in words.
    pub median: String,
    /// How many times farther from the median it is than would be usual.
    pub distance: f64,
}

impl OddNode {
    /// In words: `p95 412 ms, the others 31.0 ms`.
    pub fn text(&self) -> String {
        let name = match self.by {
            "latency" => "p95",
            "send_delay" => "send delay p99",
            "cpu" => "CPU",
            by => by,
        };
        format!("{name} {}, the others {}", self.value, self.median)
    }
}

/// Fewer nodes have no rest that one of them could be other than.
const MIN_NODES: usize = 3;
/// How many times its usual distance from the median a value must be away.
const MIN_DISTANCE: f64 = 5.0;
/// What a median absolute deviation is multiplied with to be a standard deviation, if values are normally distributed.
const NORMAL: f64 = 1.4826;
/// The share of the median that a value must be away from it.
const MIN_SHARE: f64 = 0.5;

/// Something by which nodes are compared.
struct Measure {
    by: &'static str,
    of: fn(&NodeFacts) -> f64,
    /// A smaller distance makes no difference to anybody.
    least: f64,
    /// Whether a value below the others' is odd, too: a node that answers itself is fast.
    both_ways: bool,
    words: fn(f64) -> String,
}

const MEASURES: [Measure; 4] = [
    Measure { by: "latency", of: |own| own.p95_us, least: 1_000.0, both_ways: true, words: time },
    Measure {
        by: "send_delay",
        of: |own| own.send_delay_p99_us,
        least: 1_000.0,
        both_ways: false,
        words: time,
    },
    Measure { by: "cpu", of: |own| own.cpu, least: 0.2, both_ways: true, words: percent },
    Measure {
        by: "errors",
        of: |own| own.errors as f64 / own.requests.max(1) as f64,
        least: 0.01,
        both_ways: false,
        words: percent,
    },
];

/// The nodes that are other than the rest, and by what; the farthest first. Nodes without requests are left out.
pub fn odd_nodes(nodes: &[NodeFacts]) -> Vec<OddNode> {
    let mut zones: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let all: Vec<usize> = (0..nodes.len()).filter(|at| nodes[*at].requests > 0).collect();
    for at in &all {
        zones.entry(&nodes[*at].zone).or_default().push(*at);
    }
    let mut found = Vec::new();
    for own in zones.values() {
        let others = if own.len() >= MIN_NODES { own } else { &all };
        for measure in &MEASURES {
            found.extend(measure.odd(nodes, own, others));
        }
    }
    found.sort_by(|a, b| b.distance.total_cmp(&a.distance).then(a.node.cmp(&b.node)));
    found
}

impl Measure {
    /// Those of `own` that are other than `others`.
    fn odd(&self, nodes: &[NodeFacts], own: &[usize], others: &[usize]) -> Vec<OddNode> {
        if others.len() < MIN_NODES {
            return Vec::new();
        }
        let value = |at: &usize| (self.of)(&nodes[*at]);
        let middle = median(others.iter().map(value).collect());
        let usual = NORMAL * median(others.iter().map(|at| (value(at) - middle).abs()).collect());
        // In units of what is odd.
        let odd = (MIN_DISTANCE * usual).max(MIN_SHARE * middle).max(self.least);
        let odd_ones = own.iter().filter_map(|at| {
            let away = value(at) - middle;
            let distance = if self.both_ways { away.abs() } else { away } / odd;
            (distance > 1.0).then(|| OddNode {
                node: *at,
                by: self.by,
                value: (self.words)(value(at)),
                median: (self.words)(middle),
                distance,
            })
        });
        odd_ones.collect()
    }
}

/// The median of values that are there: the mean of the two in the middle of an even number.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() % 2 {
        0 => (values[half - 1] + values[half]) / 2.0,
        _ => values[half],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(zone: &str, p95_ms: &[f64]) -> Vec<NodeFacts> {
        let each = p95_ms.iter().enumerate().map(|(at, p95)| NodeFacts {
            name: format!("{zone}-{at}"),
            zone: zone.to_owned(),
            requests: 1_000,
            p95_us: p95 * 1e3,
            ..NodeFacts::default()
        });
        each.collect()
    }

    fn found(nodes: &[NodeFacts]) -> Vec<(String, &'static str)> {
        odd_nodes(nodes).into_iter().map(|odd| (nodes[odd.node].name.clone(), odd.by)).collect()
    }

    #[test]
    fn one_bad_node_does_not_hide() {
        let own = nodes("eu", &[30.0, 31.0, 29.5, 412.0, 30.2]);
        assert_eq!(found(&own), [("eu-3".to_owned(), "latency")]);
        assert_eq!(odd_nodes(&own)[0].text(), "p95 412 ms, the others 30.2 ms");
        // One that is far too fast is odd as well.
        assert_eq!(found(&nodes("eu", &[30.0, 31.0, 0.2, 30.5])), [("eu-2".to_owned(), "latency")]);
    }

    #[test]
    fn what_is_usual_is_not_odd() {
        assert_eq!(found(&nodes("eu", &[30.0, 36.0, 28.0, 41.0, 33.0])), []);
        // Twice as long, and nobody would feel it.
        assert_eq!(found(&nodes("eu", &[0.3, 0.3, 0.3, 0.9])), []);
        // Widely scattered: none of them is more so than the rest.
        assert_eq!(found(&nodes("eu", &[10.0, 60.0, 140.0, 25.0, 90.0])), []);
        // Two have no rest.
        assert_eq!(found(&nodes("eu", &[10.0, 500.0])), []);
        assert_eq!(found(&[]), []);
    }

    #[test]
    fn a_far_zone_is_not_odd_but_a_node_within_it_is() {
        let mut own = nodes("eu", &[30.0, 31.0, 30.5, 29.0]);
        own.extend(nodes("us", &[130.0, 131.0, 129.0]));
        assert_eq!(found(&own), []);
        own.extend(nodes("ap", &[]));
        own[5].p95_us = 400e3;
        assert_eq!(found(&own), [("us-1".to_owned(), "latency")]);
    }

    #[test]
    fn nodes_are_odd_by_each_measure_for_itself() {
        let mut own = nodes("", &[30.0; 6]);
        own[1].send_delay_p99_us = 20e3;
        own[2].cpu = 0.9;
        own[4].errors = 100;
        // None of its requests ended: it says nothing of the target.
        own[5] = NodeFacts { requests: 0, p95_us: 0.0, cpu: 1.0, ..own[5].clone() };
        let mut all = found(&own);
        all.sort();
        let named = [("-1", "send_delay"), ("-2", "cpu"), ("-4", "errors")];
        assert_eq!(all, named.map(|(name, by)| (name.to_owned(), by)));
    }
}
