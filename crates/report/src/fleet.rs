//! What a run says of the machines that it ran on: one of a run of one process, one a node of a fleet; and of a fleet,
//! what became of its zones and cells.

use std::collections::BTreeMap;

use squall_analysis::{FleetFacts, NodeFacts};
use squall_base::units::count;

use crate::node_report::{NodeReport, NodeTimes};
use crate::schema::document;

/// Most shards that a sentence names.
const MAX_SHARDS: usize = 4;
/// Most machines of which a line names what they are.
const MAX_MACHINES: usize = 3;

document! {
    /// A machine that generated load.
    Machine {
        /// The node; empty in a run of one process.
        node: String,
        /// Where the node is, such as `eu`; empty: it does not say.
        zone: String,
        /// Name of the machine.
        host: String,
        /// Operating system and kernel.
        os: String,
        /// The processor.
        cpu: String,
        /// Memory of the machine, in bytes.
        memory_bytes: u64,
        /// CPUs that squall may use.
        cpus: u64,
        /// Worker threads.
        workers: u64,
        /// I/O backend: `io_uring` or `epoll`; of a node of a fleet what was asked for, which may be `auto`.
        io: String,
        /// Version of squall that the node runs; empty: the run's.
        squall: String,
        /// The node's part of its zone's load, beside the weights of the others; 0 in a run of one process.
        weight: f64,
        /// By how much its clock is ahead of the controller's, in µs; null: it is the controller's.
        clock_offset_us: Option<f64>,
        /// By how much that may be wrong, in µs; null: it is the controller's.
        clock_error_us: Option<f64>,
    }

    /// What became of a run that many machines made together.
    Fleet {
        /// Into how many shards the load was cut.
        shards: u64,
        /// What became of the shards of a lost node: `redistribute`, `continue` or `abort`.
        on_loss: String,
        /// How long a node could be without the server, in seconds.
        lease_s: f64,
        /// Which of the cells (a shard in a second) were driven.
        cells: Coverage,
        /// The zones, of nodes that say where they are.
        zones: Vec<ZoneReport>,
        /// What happened to nodes, in order.
        events: Vec<FleetEvent>,
    }

    /// Which cells were driven. A cell is a shard of the load in a second.
    Coverage {
        /// Cells of the run.
        cells: u64,
        /// Those that were driven, from beginning to end.
        driven: u64,
        /// The others, in ranges of seconds.
        missing: Vec<Missing>,
    }

    /// Cells of a shard that were not driven.
    Missing {
        /// The shard.
        shard: u64,
        /// The first second.
        from_s: u64,
        /// The last second.
        to_s: u64,
        /// The node that had it; empty: none had.
        node: String,
        /// Why, in words.
        why: String,
    }

    /// What the nodes of a zone did together.
    ZoneReport {
        /// Its name.
        zone: String,
        /// How many nodes it had.
        nodes: u64,
        /// Requests and programs that ended.
        requests: u64,
        /// Those of them that were errors.
        errors: u64,
        /// Latency of complete responses, of all its nodes' histograms together.
        latency_us: NodeTimes,
    }

    /// Something that happened to a node.
    FleetEvent {
        /// In seconds after the start of the load.
        at_s: f64,
        /// The node.
        node: String,
        /// In words.
        text: String,
    }
}

impl Coverage {
    /// The share of the cells that were driven; 1 where there were none.
    pub fn share(&self) -> f64 {
        if self.cells == 0 { 1.0 } else { self.driven as f64 / self.cells as f64 }
    }

    /// What was not driven, each in words: `shard 2, seconds 6 to 12 (node eu-3 was lost)`. Shards that one node did not
    /// drive in the same seconds stand together; the gaps with most cells come first.
    pub fn gaps(&self) -> Vec<String> {
        let mut together: BTreeMap<(u64, u64, &str, &str), Vec<u64>> = BTreeMap::new();
        for own in &self.missing {
            let key = (own.from_s, own.to_s, own.node.as_str(), own.why.as_str());
            together.entry(key).or_default().push(own.shard);
        }
        let mut gaps: Vec<_> = together.into_iter().collect();
        let cells = |(from, to, ..): &(u64, u64, &str, &str), shards: &Vec<u64>| {
            (to.saturating_sub(*from) + 1).saturating_mul(shards.len() as u64)
        };
        gaps.sort_by_key(|(key, shards)| std::cmp::Reverse(cells(key, shards)));
        gaps.into_iter().map(|(key, shards)| gap(key, shards)).collect()
    }

    /// `186 of 200 cells; not driven: ...`, with at most so many gaps.
    pub fn text(&self, most: usize) -> String {
        let mut text = format!("{} of {} cells", count(self.driven), count(self.cells));
        let gaps = self.gaps();
        if gaps.is_empty() {
            return text;
        }
        text.push_str("; not driven: ");
        text.push_str(&gaps[..most.min(gaps.len())].join("; "));
        let more = gaps.len().saturating_sub(most);
        if more > 0 {
            text.push_str(&format!("; and {} more", count(more as u64)));
        }
        text
    }
}

/// What was not driven for one reason.
fn gap((from, to, node, why): (u64, u64, &str, &str), mut shards: Vec<u64>) -> String {
    shards.sort_unstable();
    let named: Vec<String> = shards.iter().take(MAX_SHARDS).map(u64::to_string).collect();
    let of = match shards.len() {
        1 => format!("shard {}", named[0]),
        all if all <= MAX_SHARDS => format!("shards {}", named.join(", ")),
        all => format!("{} shards ({}, ...)", count(all as u64), named.join(", ")),
    };
    let when = match from == to {
        true => format!("second {from}"),
        false => format!("seconds {from} to {to}"),
    };
    match (node, why) {
        ("", "") => format!("{of}, {when}"),
        (node, "") => format!("{of}, {when} (node {node})"),
        (node, why) if why.contains(node) => format!("{of}, {when} ({why})"),
        (node, why) => format!("{of}, {when} (node {node}: {why})"),
    }
}

impl Fleet {
    /// What validity is judged by, with what the nodes did and what is known of their machines.
    pub(crate) fn facts(&self, nodes: &[NodeReport], machines: &[Machine]) -> FleetFacts {
        let by_name: BTreeMap<&str, &Machine> =
            machines.iter().map(|own| (own.node.as_str(), own)).collect();
        FleetFacts {
            cells: self.cells.cells,
            driven: self.cells.driven,
            gaps: self.cells.gaps(),
            workers: machines.iter().map(|own| own.workers).sum(),
            nodes: nodes
                .iter()
                .map(|node| node_facts(node, by_name.get(node.node.as_str()).copied()))
                .collect(),
        }
    }
}

fn node_facts(node: &NodeReport, machine: Option<&Machine>) -> NodeFacts {
    let cpus = machine.map_or(0, |own| own.cpus);
    NodeFacts {
        name: node.node.clone(),
        zone: node.zone.clone(),
        requests: node.requests,
        errors: node.errors,
        p95_us: node.latency_us.p95,
        send_delay_p99_us: node.generator.send_delay_us.p99,
        cpu: if cpus == 0 { 0.0 } else { node.cpu_cores / cpus as f64 },
        host_busy: node.host_busy,
        ports_used: node.of_host("ports_used"),
        ports_limit: node.of_host("ports_limit"),
        clock_error_us: machine.and_then(|own| own.clock_error_us),
    }
}

/// What machines are, in a line: each value once, in order, and how many more there are.
pub(crate) fn each(machines: &[Machine], of: impl Fn(&Machine) -> String) -> String {
    let mut values: Vec<String> = Vec::new();
    for value in machines.iter().map(of) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let more = values.len().saturating_sub(MAX_MACHINES);
    values.truncate(MAX_MACHINES);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", values.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(shard: u64, seconds: (u64, u64), node: &str, why: &str) -> Missing {
        let (from_s, to_s) = seconds;
        Missing { shard, from_s, to_s, node: node.to_owned(), why: why.to_owned() }
    }

    #[test]
    fn gaps_say_what_was_not_driven_and_why() {
        let one = Coverage {
            cells: 200,
            driven: 193,
            missing: vec![missing(2, (6, 12), "eu-3", "node eu-3 was lost")],
        };
        let text = "193 of 200 cells; not driven: shard 2, seconds 6 to 12 (node eu-3 was lost)";
        assert_eq!(one.text(3), text);
        let words =
            [("", ""), ("a", ""), ("a", "full"), ("", "nobody was left")].map(|(node, why)| {
                let missing = vec![missing(0, (3, 3), node, why)];
                Coverage { missing, ..Coverage::default() }.gaps().remove(0)
            });
        assert_eq!(
            words,
            [
                "shard 0, second 3",
                "shard 0, second 3 (node a)",
                "shard 0, second 3 (node a: full)",
                "shard 0, second 3 (nobody was left)"
            ]
        );
    }

    #[test]
    fn gaps_of_many_shards_stand_together_and_the_largest_come_first() {
        let lost = (0..16).map(|at| missing(at * 4 + 1, (6, 7), "b", "b was lost"));
        let other = [missing(63, (0, 4), "c", "c left"), missing(59, (0, 4), "c", "c left")];
        let coverage = Coverage { cells: 640, driven: 598, missing: lost.chain(other).collect() };
        assert_eq!(
            coverage.gaps(),
            [
                "16 shards (1, 5, 9, 13, ...), seconds 6 to 7 (b was lost)",
                "shards 59, 63, seconds 0 to 4 (c left)"
            ]
        );
        assert!(coverage.text(1).ends_with("(b was lost); and 1 more"), "{}", coverage.text(1));
        assert_eq!(Coverage::default().share(), 1.0);
        let whole = Coverage { cells: 8, driven: 8, missing: Vec::new() };
        assert_eq!(whole.text(3), "8 of 8 cells");
    }

    #[test]
    fn machines_are_named_once() {
        let of = |cpu: &str| Machine { cpu: cpu.to_owned(), ..Machine::default() };
        let all = ["a", "b", "a", "c", "d", "e"].map(of);
        assert_eq!(each(&all, |own| own.cpu.clone()), "a, b, c and 2 more");
        assert_eq!(each(&all[..1], |own| own.cpu.clone()), "a");
    }
}
