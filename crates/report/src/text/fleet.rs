//! A fleet as text: how much of the load was driven, its nodes with the odd ones marked, and its zones side by side.

use std::cmp::Reverse;

use squall_analysis::{OddNode, odd_nodes};
use squall_base::units::{count, counted, percent, time};

use super::columns::Columns;
use super::paragraph::paragraph;
use super::show::{Show, more};
use crate::document::RunDocument;
use crate::fleet::Fleet;
use crate::node_report::{NodeReport, NodeTimes};

/// Most gaps of the coverage that are named, and most where everything is shown.
const MAX_GAPS: [usize; 2] = [3, 20];
/// Most nodes, unless all are shown: the odd ones, those that did not stay, and then the slowest.
const MAX_NODES: usize = 8;
/// Most events.
const MAX_EVENTS: usize = 20;
/// Widths of a count, a share of errors, a time, a delay and a number of cores.
const COUNT: usize = 9;
const ERRORS: usize = 7;
const TIME: usize = 8;
const DELAY: usize = 10;
const CORES: usize = 6;

/// `4 nodes, 64 shards, coverage 186 of 200 cells; not driven: shard 2, ...`.
pub(super) fn line(out: &mut String, run: &RunDocument, show: &Show) {
    let Some(fleet) = &run.fleet else { return };
    let gaps = MAX_GAPS[usize::from(is_full(show))];
    let text = format!(
        "{}, {}, coverage {}",
        counted(run.nodes.len() as u64, "node"),
        counted(fleet.shards, "shard"),
        fleet.cells.text(gaps)
    );
    paragraph(out, " fleet       ", &text, show.width());
}

/// What happened to nodes.
pub(super) fn events(out: &mut String, run: &RunDocument, show: &Show) {
    let Some(fleet) = &run.fleet else { return };
    for event in fleet.events.iter().take(MAX_EVENTS) {
        let text = format!("second {:.0}: {}", event.at_s, event.text);
        paragraph(out, " fleet       ", &text, show.width());
    }
    more(out, fleet.events.len().saturating_sub(MAX_EVENTS), "events of the fleet");
}

/// The zones side by side, where there are several, and the nodes.
pub(super) fn tables(out: &mut String, run: &RunDocument, show: &Show) {
    let Some(fleet) = &run.fleet else { return };
    zones(out, fleet, show);
    nodes(out, run, fleet, show);
}

fn is_full(show: &Show) -> bool {
    show.full || show.explain
}

fn zones(out: &mut String, fleet: &Fleet, show: &Show) {
    if fleet.zones.len() < 2 {
        return;
    }
    let mut columns = Columns::new(show.width(), vec![CORES, COUNT, ERRORS, TIME, TIME, TIME]);
    let titles = ["nodes", "requests", "errors", "p50", "p95", "p99"];
    columns.cells("zone", titles.map(str::to_owned).to_vec());
    for zone in &fleet.zones {
        let [requests, errors] = counts(zone.requests, zone.errors);
        let mut cells = vec![count(zone.nodes), requests, errors];
        cells.extend(times(&zone.latency_us, zone.requests));
        columns.cells(&zone.zone, cells);
    }
    columns.write(out);
    out.push('\n');
}

fn nodes(out: &mut String, run: &RunDocument, fleet: &Fleet, show: &Show) {
    let nodes = &run.nodes;
    if nodes.is_empty() {
        return;
    }
    let odd = odd_nodes(&fleet.facts(nodes, &run.meta.nodes).nodes);
    let usual = vec![COUNT, ERRORS, TIME, TIME, TIME, DELAY, CORES];
    let mut columns = Columns::new(show.width(), usual);
    let titles = ["requests", "errors", "p50", "p95", "p99", "send delay", "cores"];
    columns.cells("node", titles.map(str::to_owned).to_vec());
    let shown = match is_full(show) {
        true => (0..nodes.len()).collect(),
        false => most_conspicuous(nodes, &odd),
    };
    for at in &shown {
        node(&mut columns, &nodes[*at], odd.iter().filter(|own| own.node == *at));
    }
    columns.write(out);
    more(out, nodes.len() - shown.len(), "nodes (--full)");
    out.push('\n');
}

/// A line of its numbers, and one of what is to be said of it.
fn node<'o>(columns: &mut Columns, node: &NodeReport, odd: impl Iterator<Item = &'o OddNode>) {
    let mut told: Vec<String> = odd.map(OddNode::text).collect();
    let mark = if told.is_empty() { "" } else { "! " };
    if node.end != "done" && !node.end.is_empty() {
        told.insert(0, node.end_text());
    }
    let zone = match node.zone.is_empty() || node.node.starts_with(&node.zone) {
        true => String::new(),
        false => format!(" ({})", node.zone),
    };
    let mut cells = counts(node.requests, node.errors).to_vec();
    cells.extend(times(&node.latency_us, node.requests));
    cells.push(time(node.generator.send_delay_us.p99));
    cells.push(format!("{:.2}", node.cpu_cores));
    columns.cells(format!("{mark}{}{zone}", node.node), cells);
    if !told.is_empty() {
        columns.across(format!("    {}", told.join("; ")));
    }
}

/// The places of the nodes that a tester should look at first.
fn most_conspicuous(nodes: &[NodeReport], odd: &[OddNode]) -> Vec<usize> {
    let rank = |at: &usize| odd.iter().position(|own| own.node == *at).unwrap_or(usize::MAX);
    let mut places: Vec<usize> = (0..nodes.len()).collect();
    places.sort_by_key(|at| {
        let node = &nodes[*at];
        (rank(at), node.end == "done", Reverse(node.latency_us.p95 as u64))
    });
    places.truncate(MAX_NODES);
    places
}

fn counts(requests: u64, errors: u64) -> [String; 2] {
    [count(requests), percent(errors as f64 / requests.max(1) as f64)]
}

fn times(own: &NodeTimes, requests: u64) -> [String; 3] {
    [own.p50, own.p95, own.p99].map(|us| if requests == 0 { "-".to_owned() } else { time(us) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::{Coverage, FleetEvent, Missing, ZoneReport};
    use crate::generator::{GeneratorDocument, PhaseTimes};

    const BRIEF: Show = Show { columns: 100, color: false, full: false, explain: false };
    const FULL: Show = Show { full: true, ..BRIEF };

    /// A generator that sent requests so late, in µs.
    fn delayed(p99: f64) -> GeneratorDocument {
        let send_delay_us = PhaseTimes { p99, ..PhaseTimes::default() };
        GeneratorDocument { send_delay_us, ..GeneratorDocument::default() }
    }

    fn node(name: &str, zone: &str, p95_ms: f64) -> NodeReport {
        NodeReport {
            node: name.to_owned(),
            zone: zone.to_owned(),
            end: "done".to_owned(),
            requests: 1_000,
            errors: 10,
            latency_us: NodeTimes { p50: p95_ms * 500.0, p95: p95_ms * 1e3, p99: p95_ms * 2e3 },
            generator: delayed(80.0),
            cpu_cores: 0.5,
            ..NodeReport::default()
        }
    }

    fn run(nodes: Vec<NodeReport>, missing: Vec<Missing>) -> RunDocument {
        let cells = Coverage { cells: 200, driven: 186, missing };
        let fleet = Fleet { shards: 64, cells, ..Fleet::default() };
        RunDocument { fleet: Some(fleet), nodes, ..RunDocument::default() }
    }

    fn written(run: &RunDocument, show: &Show) -> String {
        let mut out = String::new();
        line(&mut out, run, show);
        events(&mut out, run, show);
        tables(&mut out, run, show);
        out
    }

    #[test]
    fn a_run_of_one_process_says_nothing_of_fleets() {
        assert_eq!(written(&RunDocument::default(), &FULL), "");
    }

    #[test]
    fn coverage_nodes_and_zones_are_shown_and_the_odd_node_is_marked() {
        let names = [("eu-1", 30.0), ("eu-2", 31.0), ("eu-3", 412.0), ("us", 29.0)];
        let mut nodes: Vec<NodeReport> =
            names.iter().map(|(name, p95)| node(name, &name[..2], *p95)).collect();
        nodes[2].end = "lost".to_owned();
        nodes[2].ended_s = Some(12.4);
        let why = "node eu-3 was lost".to_owned();
        let lost = Missing { shard: 2, from_s: 6, to_s: 12, node: "eu-3".to_owned(), why };
        let mut run = run(nodes, vec![lost]);
        let zone = |name: &str, nodes: u64| ZoneReport {
            zone: name.to_owned(),
            nodes,
            requests: 3_000,
            ..ZoneReport::default()
        };
        if let Some(fleet) = &mut run.fleet {
            fleet.zones = vec![zone("eu", 3), zone("us", 1)];
            let text = "node eu-3 was lost".to_owned();
            fleet.events = vec![FleetEvent { at_s: 12.4, node: "eu-3".to_owned(), text }];
        }
        let shown = written(&run, &FULL);
        for wanted in [
            "fleet       4 nodes, 64 shards, coverage 186 of 200 cells; not driven: shard 2,",
            "second 12: node eu-3 was lost",
            "zone ",
            "! eu-3 ",
            "lost at 12 s; p95 412 ms, the others 31.0 ms",
        ] {
            assert!(shown.contains(wanted), "{wanted}: {shown}");
        }
        assert!(shown.contains("\n us "), "its name says its zone: {shown}");
        assert_eq!(shown.matches('!').count(), 1, "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    }

    #[test]
    fn of_a_thousand_nodes_the_most_conspicuous_are_shown() {
        let mut nodes: Vec<NodeReport> =
            (0..1_000).map(|at| node(&format!("n{at}"), "", 30.0 + f64::from(at % 7))).collect();
        nodes[700].generator = delayed(50_000.0);
        nodes[300].end = "left".to_owned();
        let run = run(nodes, Vec::new());
        let brief = written(&run, &BRIEF);
        assert!(brief.contains("! n700") && brief.contains("left"), "{brief}");
        assert!(brief.contains("and 992 more nodes (--full), in run.json"), "{brief}");
        assert!(brief.lines().count() < 20, "{brief}");
        assert!(written(&run, &FULL).lines().count() > 1_000);
    }
}
