//! What a fleet lacked: cells that were not driven, and nodes that were late, full, or other than the rest. A sum of all
//! nodes hides a bad one, so each is looked at by itself.

use super::facts::{Facts, Validity};
use super::lateness::late_limit;
use super::reason::Reason;
use super::weight::Shift;
use crate::odd_nodes::{NodeFacts, odd_nodes};
use squall_base::units::{count, percent, time};

/// With a larger share of its load not driven, a run does not say how the target does under the load that was asked for.
const MAX_MISSING: f64 = 0.1;
/// Most gaps, and most nodes, that a reason names.
const MAX_NAMED: usize = 3;

pub(super) fn coverage(facts: &Facts<'_>) -> Option<Reason> {
    let fleet = facts.fleet?;
    let missing = fleet.cells.saturating_sub(fleet.driven);
    if missing == 0 {
        return None;
    }
    let share = missing as f64 / fleet.cells as f64;
    let observed = format!(
        "{} of {} cells of the load were not driven ({}, limit {}): {}",
        count(missing),
        count(fleet.cells),
        percent(share),
        percent(MAX_MISSING),
        named(&fleet.gaps)
    );
    let advice = "the target had less load than the plan asks for in these seconds: leave them out, or run again; a fleet with room to spare takes over the shards of a lost node (`--on-loss redistribute`)";
    let effect = Some(Shift::of_rate(share).effect(facts));
    let weight = if share > MAX_MISSING { Validity::Invalid } else { Validity::Questionable };
    let reason = Reason::of_unknown_effect("coverage", observed, advice.to_owned());
    Some(Reason { effect, weight, ..reason })
}

pub(super) fn node_send_delay(facts: &Facts<'_>) -> Option<Reason> {
    let limit = late_limit(facts);
    let words = |node: &NodeFacts| {
        let delay = time(node.send_delay_p99_us);
        format!("node {}: requests were sent {delay} behind schedule at p99", node.name)
    };
    let is_late = |node: &NodeFacts| node.send_delay_p99_us > limit;
    let limit = format!(" (limit {})", time(limit));
    let advice = "give the node less of the load (its weight), or a faster machine; compare its latency with the others'";
    of_nodes(facts, "node_send_delay", is_late, words, &limit, advice)
}

/// A machine whose CPUs were busy for this share of the run had none left for more load.
const MAX_BUSY: f64 = 0.95;

pub(super) fn node_cpu(facts: &Facts<'_>) -> Option<Reason> {
    let words = |node: &NodeFacts| {
        format!("node {}: its CPUs were {} busy", node.name, percent(node.host_busy))
    };
    let limit = format!(" (limit {})", percent(MAX_BUSY));
    let advice =
        "give the node less of the load (its weight), stop what else runs there, or add nodes";
    of_nodes(facts, "node_cpu", |node| node.host_busy >= MAX_BUSY, words, &limit, advice)
}

/// The share of the local ports that may be in use.
const MAX_PORTS: f64 = 0.8;

pub(super) fn node_ports(facts: &Facts<'_>) -> Option<Reason> {
    let is_short = |node: &NodeFacts| {
        node.ports_limit > 0 && node.ports_used as f64 >= MAX_PORTS * node.ports_limit as f64
    };
    let words = |node: &NodeFacts| {
        let (used, limit) = (count(node.ports_used), count(node.ports_limit));
        format!("node {}: {used} of {limit} local ports toward a destination in use", node.name)
    };
    let limit = format!(" (limit {})", percent(MAX_PORTS));
    let advice = "reuse connections (`connections: {reuse: per_user}`), or add nodes";
    let reason = of_nodes(facts, "node_ports", is_short, words, &limit, advice)?;
    // Requests that found no port are errors, which are judged by themselves.
    Some(reason.into_note())
}

/// By how much the time of a node may be wrong, in µs: what it did may then count under a neighbouring second.
const MAX_CLOCK_ERROR_US: f64 = 50_000.0;

pub(super) fn node_clock(facts: &Facts<'_>) -> Option<Reason> {
    let error = |node: &NodeFacts| node.clock_error_us.unwrap_or(0.0);
    let words = |node: &NodeFacts| {
        format!("node {}: its clock is known to within {} only", node.name, time(error(node)))
    };
    let limit = format!(" (limit {})", time(MAX_CLOCK_ERROR_US));
    let advice = "its seconds begin that much before or after the others': let a time service set its clock, or place the controller nearer; latencies are not affected";
    let is_unsure = |node: &NodeFacts| error(node) > MAX_CLOCK_ERROR_US;
    let reason = of_nodes(facts, "node_clock", is_unsure, words, &limit, advice)?;
    Some(reason.into_note())
}

pub(super) fn odd_node(facts: &Facts<'_>) -> Option<Reason> {
    let nodes = &facts.fleet?.nodes;
    let found = odd_nodes(nodes);
    let words: Vec<String> =
        found.iter().map(|odd| format!("node {}: {}", nodes[odd.node].name, odd.text())).collect();
    let advice = "look at that node's machine and its way to the target before judging the target";
    let mut names: Vec<String> = found.iter().map(|odd| nodes[odd.node].name.clone()).collect();
    // One may be odd in several ways.
    names.sort();
    names.dedup();
    let note = || Reason::note("odd_node", named(&words), advice.to_owned());
    (!words.is_empty()).then(|| Reason { nodes: names, ..note() })
}

/// The share of all requests that nodes may have made that were late or full: what these measured hardly moves the whole.
const MAX_OF_REQUESTS: f64 = 0.01;

/// That some nodes were as they should not be. Nobody knows what they would have measured otherwise, so that it weighs as
/// much as they have requests.
fn of_nodes(
    facts: &Facts<'_>,
    rule: &'static str,
    is_meant: impl Fn(&NodeFacts) -> bool,
    words: impl Fn(&NodeFacts) -> String,
    limit: &str,
    advice: &str,
) -> Option<Reason> {
    let nodes = &facts.fleet?.nodes;
    let meant: Vec<&NodeFacts> = nodes.iter().filter(|node| is_meant(node)).collect();
    let requests = |nodes: &mut dyn Iterator<Item = &NodeFacts>| -> u64 {
        nodes.fold(0, |sum, node| sum.saturating_add(node.requests))
    };
    let all = requests(&mut nodes.iter()).max(1);
    let share = requests(&mut meant.iter().copied()) as f64 / all as f64;
    let told: Vec<String> = meant.iter().map(|node| words(node)).collect();
    if told.is_empty() {
        return None;
    }
    let observed = format!("{}{limit}", named(&told));
    let names = meant.iter().map(|node| node.name.clone()).collect();
    let reason = Reason::of_unknown_effect(rule, observed, advice.to_owned());
    let reason = if share > MAX_OF_REQUESTS { reason } else { reason.into_note() };
    Some(Reason { nodes: names, ..reason })
}

/// The first of several, and how many more there are.
fn named(all: &[String]) -> String {
    let more = all.len().saturating_sub(MAX_NAMED);
    let named = all[..all.len() - more].join("; ");
    if more > 0 { format!("{named}; and {} more", count(more as u64)) } else { named }
}

#[cfg(test)]
mod tests {
    use super::super::assess;
    use super::super::facts::FleetFacts;
    use super::super::lateness::starved_share;
    use super::*;
    use crate::series::Series;
    use crate::totals::Totals;
    use squall_metrics::{HostMetrics, RequestStats, Slice};

    /// The rules that a fleet breaks, each with its weight and what was observed.
    fn told(fleet: &FleetFacts) -> Vec<(&'static str, Validity, String)> {
        assessed(fleet).into_iter().map(|own| (own.rule, own.weight, own.observed)).collect()
    }

    fn assessed(fleet: &FleetFacts) -> Vec<Reason> {
        let (totals, host) = (Totals::new(), HostMetrics::default());
        assess(&Facts {
            totals: &totals,
            series: &Series::of_rows(Vec::new()),
            all: &RequestStats::default(),
            elapsed_s: 10.0,
            host: &host,
            fleet: Some(fleet),
            steady: None,
            thresholds: &[],
            results: &[],
            shows_corrected: true,
        })
    }

    /// So many nodes that are alike and well.
    fn fleet(nodes: usize) -> FleetFacts {
        let node = |at: usize| NodeFacts {
            name: format!("eu-{at}"),
            zone: "eu".to_owned(),
            requests: 1_000,
            p95_us: 30_000.0,
            send_delay_p99_us: 90.0,
            cpu: 0.4,
            host_busy: 0.5,
            ports_used: 100,
            ports_limit: 28_232,
            clock_error_us: Some(300.0),
            ..NodeFacts::default()
        };
        FleetFacts {
            cells: 1_000,
            driven: 1_000,
            gaps: Vec::new(),
            workers: nodes as u64 * 4,
            nodes: (0..nodes).map(node).collect(),
        }
    }

    #[test]
    fn a_fleet_that_is_well_is_no_reason() {
        for nodes in [0, 1, 4, 1_000] {
            assert_eq!(told(&fleet(nodes)), []);
        }
    }

    #[test]
    fn what_was_not_driven_weighs_by_its_share_and_is_named() {
        let of = |driven: u64| {
            let gaps = ["a (lost)", "b (lost)", "c (lost)", "d (lost)"].map(str::to_owned);
            told(&FleetFacts { driven, gaps: gaps.to_vec(), ..fleet(4) }).remove(0)
        };
        let (rule, weight, observed) = of(999);
        assert_eq!((rule, weight), ("coverage", Validity::Questionable));
        let named = "1 of 1,000 cells of the load were not driven (0.1%, limit 10%): a (lost); b (lost); c (lost); and 1 more";
        assert_eq!(observed, named);
        assert_eq!((of(900).1, of(899).1), (Validity::Questionable, Validity::Invalid));
        assert_eq!(of(0).1, Validity::Invalid);
    }

    /// A node with few of the requests is named, but does not make the numbers of all questionable.
    #[test]
    fn nodes_that_were_late_or_full_are_named() {
        let weights = [(4, Validity::Questionable), (1_000, Validity::Valid)];
        for (nodes, weight) in weights {
            let mut own = fleet(nodes);
            own.nodes[3].send_delay_p99_us = 1_100.0;
            let late =
                "node eu-3: requests were sent 1.10 ms behind schedule at p99 (limit 1.00 ms)";
            let odd = "node eu-3: send delay p99 1.10 ms, the others 90 µs";
            let wanted = [
                ("node_send_delay", weight, late.to_owned()),
                ("odd_node", Validity::Valid, odd.to_owned()),
            ];
            assert_eq!(told(&own), wanted);
            let mut own = fleet(nodes);
            own.nodes[1].host_busy = 0.97;
            let full = "node eu-1: its CPUs were 97% busy (limit 95%)".to_owned();
            assert_eq!(told(&own), [("node_cpu", weight, full)]);
        }
    }

    #[test]
    fn a_reason_has_the_nodes_that_it_is_about() {
        let mut own = fleet(9);
        for at in [1, 2, 5, 7] {
            own.nodes[at].host_busy = 1.0;
        }
        own.nodes[4].p95_us = 900_000.0;
        own.nodes[4].errors = 500;
        own.driven -= 1;
        let nodes = |rule: &str| {
            let found = assessed(&own).into_iter().find(|reason| reason.rule == rule);
            found.expect("a reason").nodes
        };
        assert_eq!(nodes("node_cpu"), ["eu-1", "eu-2", "eu-5", "eu-7"], "more than it names");
        assert_eq!(nodes("odd_node"), ["eu-4"], "in two ways");
        assert_eq!(nodes("coverage"), [""; 0], "it is about the run");
    }

    /// What a fleet recorded comes as that of one worker.
    #[test]
    fn workers_of_all_nodes_share_what_they_waited_for_a_cpu() {
        let mut slice = Slice::new(0, 0);
        slice.self_metrics.starved_ns = 400_000_000;
        let mut totals = Totals::new();
        assert!(totals.add(&slice));
        let mut series = totals.series();
        series.add(&slice);
        let (series, host) = (series.finish(), HostMetrics::default());
        let starved = |fleet: Option<&FleetFacts>| {
            let all = RequestStats::default();
            starved_share(&Facts {
                totals: &totals,
                series: &series,
                all: &all,
                elapsed_s: 1.0,
                host: &host,
                fleet,
                steady: None,
                thresholds: &[],
                results: &[],
                shows_corrected: true,
            })
        };
        assert_eq!([starved(None), starved(Some(&fleet(10)))], [0.4, 0.01]);
        assert_eq!(starved(Some(&FleetFacts { workers: 0, ..fleet(10) })), 0.0, "unknown");
    }

    #[test]
    fn ports_and_clocks_are_notes() {
        let mut own = fleet(4);
        own.nodes[0].ports_used = 28_000;
        own.nodes[2].clock_error_us = Some(80_000.0);
        let ports =
            "node eu-0: 28,000 of 28,232 local ports toward a destination in use (limit 80%)";
        let clock = "node eu-2: its clock is known to within 80.0 ms only (limit 50.0 ms)";
        let wanted = [
            ("node_ports", Validity::Valid, ports.to_owned()),
            ("node_clock", Validity::Valid, clock.to_owned()),
        ];
        assert_eq!(told(&own), wanted);
    }
}
