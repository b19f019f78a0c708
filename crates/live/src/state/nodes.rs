//! The nodes of a fleet, by the metrics that say what each did in a second, and the zones. Pure.

use std::collections::HashMap;
use std::sync::Arc;

use squall_analysis::{FleetFacts, NodeFacts, OddNode, odd_nodes};
use squall_base::escape_control;
use squall_metrics::{MetricKey, MetricKind, MetricStats, THOUSANDTHS};

/// Most nodes that are followed.
const MAX_NODES: usize = 10_000;
/// A node of which nothing came for so many seconds, while others went on, is silent.
const SILENT_S: u32 = 3;
/// What the names of metrics of nodes, and of zones, begin with.
const OF_NODE: &str = "node_";
const OF_ZONE: &str = "zone_";

/// A node, or a zone, as it was in its last second.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeState {
    /// Without control characters; empty of a zone.
    pub node: String,
    /// Likewise; empty: it does not say.
    pub zone: String,
    /// The last second of which something came.
    pub second: u32,
    pub users: f64,
    /// Requests that ended in that second.
    pub requests: f64,
    pub errors: f64,
    /// In µs.
    pub p95_us: f64,
    /// Of its send delay, in µs, at the 99th percentile.
    pub send_delay_us: f64,
    /// The share of its CPUs that squall used.
    pub cpu: f64,
}

/// All nodes, in the order in which they came.
#[derive(Debug, Default)]
pub struct NodeStates {
    nodes: Vec<NodeState>,
    places: HashMap<Arc<MetricKey>, usize>,
    by_name: HashMap<String, usize>,
    zones: Vec<NodeState>,
    latest: u32,
}

/// Whether a metric says what a node or a zone of a fleet did.
pub fn is_of_node(key: &MetricKey) -> bool {
    let is_named = key.name.starts_with(OF_NODE) || key.name.starts_with(OF_ZONE);
    is_named && key.is_of_monitor() && !key.tags.is_empty()
}

impl NodeStates {
    /// Notes what was recorded in a second.
    pub fn add(&mut self, second: u32, recorded: &[(Arc<MetricKey>, MetricStats)]) {
        for (key, stats) in recorded.iter().filter(|(key, _)| is_of_node(key)) {
            match key.name.strip_prefix(OF_NODE) {
                Some(what) => self.of_node(second, what, key, stats),
                None => self.of_zone(second, key, stats),
            }
        }
    }

    fn of_node(&mut self, second: u32, what: &str, key: &Arc<MetricKey>, stats: &MetricStats) {
        let place = match self.places.get(key) {
            Some(place) => *place,
            None => {
                let Some(place) = self.place(key) else { return };
                self.places.insert(key.clone(), place);
                place
            }
        };
        self.latest = self.latest.max(second);
        self.nodes[place].note(second, what, key.kind, stats);
    }

    /// The place of the node that a metric is of; `None`: it names none, or there are too many.
    fn place(&mut self, key: &MetricKey) -> Option<usize> {
        let node = tag(key, "node")?;
        if let Some(place) = self.by_name.get(&node) {
            return Some(*place);
        }
        if self.nodes.len() >= MAX_NODES {
            return None;
        }
        let zone = tag(key, "zone").unwrap_or_default();
        self.by_name.insert(node.clone(), self.nodes.len());
        self.nodes.push(NodeState { node, zone, ..NodeState::default() });
        Some(self.nodes.len() - 1)
    }

    fn of_zone(&mut self, second: u32, key: &MetricKey, stats: &MetricStats) {
        let Some(zone) = tag(key, "zone") else { return };
        let what = key.name.trim_start_matches(OF_ZONE);
        let place = self.zones.iter().position(|own| own.zone == zone);
        let place = place.unwrap_or_else(|| {
            self.zones.push(NodeState { zone, ..NodeState::default() });
            self.zones.len() - 1
        });
        self.zones[place].note(second, what, key.kind, stats);
    }

    pub fn all(&self) -> &[NodeState] {
        &self.nodes
    }

    /// The zones, with no more than their latency.
    pub fn zones(&self) -> &[NodeState] {
        &self.zones
    }

    /// Those that are other than the rest, by their places.
    pub fn odd(&self) -> Vec<OddNode> {
        odd_nodes(&self.node_facts())
    }

    /// What validity is judged by so far: what was not driven is known at the end. `None`: there is no fleet.
    pub(super) fn facts(&self) -> Option<FleetFacts> {
        let nodes = self.node_facts();
        (!nodes.is_empty()).then(|| FleetFacts { nodes, ..FleetFacts::default() })
    }

    fn node_facts(&self) -> Vec<NodeFacts> {
        self.nodes.iter().map(NodeState::facts).collect()
    }

    /// Whether nothing came of a node while others went on.
    pub fn is_silent(&self, node: &NodeState) -> bool {
        node.second + SILENT_S < self.latest
    }
}

/// A tag of a metric, without control characters.
fn tag(key: &MetricKey, name: &str) -> Option<String> {
    let (_, value) = key.tags.iter().find(|(own, _)| own == name)?;
    Some(escape_control(value).into_owned())
}

impl NodeState {
    /// Takes what a metric says of a second; of one that came late, nothing.
    fn note(&mut self, second: u32, what: &str, kind: MetricKind, stats: &MetricStats) {
        if second < self.second {
            return;
        }
        self.second = second;
        let value = stats.value(kind);
        let at = |p: f64| match kind {
            MetricKind::Trend => stats.trend.percentile(p) as f64 / THOUSANDTHS,
            MetricKind::Counter | MetricKind::Gauge | MetricKind::Rate => value,
        };
        // Times of metrics are in ms.
        match what {
            "users" => self.users = value,
            "requests" => self.requests = value,
            "errors" => self.errors = value,
            "latency" => self.p95_us = at(95.0) * 1e3,
            "send_delay" => self.send_delay_us = at(99.0) * 1e3,
            "cpu" => self.cpu = value,
            _ => {}
        }
    }

    fn facts(&self) -> NodeFacts {
        NodeFacts {
            name: self.node.clone(),
            zone: self.zone.clone(),
            requests: self.requests as u64,
            errors: self.errors as u64,
            p95_us: self.p95_us,
            send_delay_p99_us: self.send_delay_us,
            cpu: self.cpu,
            ..NodeFacts::default()
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What nodes did in a second: a name, its zone, and its latency in ms each.
    pub fn recorded(nodes: &[(&str, &str, f64)]) -> Vec<(Arc<MetricKey>, MetricStats)> {
        let each = nodes.iter().flat_map(|(node, zone, latency)| {
            let tags = vec![
                ("node".to_owned(), (*node).to_owned()),
                ("zone".to_owned(), (*zone).to_owned()),
            ];
            let of = move |name: &str, kind: MetricKind, value: f64| {
                let mut stats = MetricStats::default();
                stats.record(kind, value, 0).expect("a value");
                (Arc::new(MetricKey::new(kind, "", name, tags.clone())), stats)
            };
            [
                of("node_requests", MetricKind::Counter, 100.0),
                of("node_errors", MetricKind::Counter, 0.0),
                of("node_latency", MetricKind::Trend, *latency),
                of("node_send_delay", MetricKind::Gauge, 0.08),
                of("node_cpu", MetricKind::Gauge, 0.25),
                of("node_users", MetricKind::Gauge, 50.0),
            ]
        });
        each.collect()
    }

    #[test]
    fn the_last_second_of_each_node_is_known_and_the_odd_one_is_found() {
        let mut states = NodeStates::default();
        states.add(7, &recorded(&[("a", "eu", 30.0), ("b", "eu", 31.0), ("c", "eu", 32.0)]));
        states.add(8, &recorded(&[("a", "eu", 30.0), ("b", "eu", 450.0), ("c", "eu", 32.0)]));
        states.add(6, &recorded(&[("b", "eu", 1.0)]));
        let own = &states.all()[1];
        assert_eq!((own.node.as_str(), own.zone.as_str(), own.second), ("b", "eu", 8));
        assert_eq!((own.requests, own.users, own.cpu), (100.0, 50.0, 0.25));
        assert!((own.p95_us - 450e3).abs() < 1e3, "{own:?}");
        assert!((own.send_delay_us - 80.0).abs() < 1.0, "{own:?}");
        assert_eq!(states.odd().iter().map(|odd| odd.node).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_node_of_which_nothing_comes_is_silent() {
        let mut states = NodeStates::default();
        states.add(0, &recorded(&[("a", "", 1.0), ("b", "", 1.0)]));
        (1..=4).for_each(|second| states.add(second, &recorded(&[("a", "", 1.0)])));
        let silent: Vec<bool> = states.all().iter().map(|own| states.is_silent(own)).collect();
        assert_eq!(silent, [false, true]);
    }

    #[test]
    fn what_the_plan_records_is_of_no_node() {
        let tags = vec![("node".to_owned(), "a".to_owned())];
        let key = MetricKey::new(MetricKind::Gauge, "buyer", "node_cpu", tags);
        let mut states = NodeStates::default();
        states.add(0, &[(Arc::new(key), MetricStats::default())]);
        assert!(states.all().is_empty());
    }
}
