//! Whether the nodes of a fleet can carry a plan: what it needs, divided as a run would divide it, against what each node said
//! that it has. Pure.

use std::fmt::Write as _;

use squall_base::units::{count, counted, percent, rate};
use squall_fleet::protocol::messages::Card;
use squall_runner::{Available, Demand, Need};

use crate::args::Nodes;

/// First port of a range of so many: which they are makes no difference here.
const FIRST_PORT: u64 = 1_025;

/// A node and its part of the load.
struct Part<'c> {
    card: &'c Card,
    share: f64,
}

/// What is said of a fleet and a plan.
#[derive(Debug)]
pub struct Outlook {
    /// In words.
    pub text: String,
    /// Whether the nodes have enough.
    pub is_enough: bool,
}

/// Holds a plan's demand against nodes. `wanted`: those that a run would ask for; `None`: all that are there.
pub fn of(plan: &str, demand: &Demand, cards: &[Card], wanted: Option<&Nodes>) -> Outlook {
    let mut text = String::new();
    let (chosen, mut lacks) = chosen(cards, wanted);
    let parts = parts(&chosen);
    let nodes = counted(parts.len() as u64, "node");
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{plan} on {nodes} of {} that are there", cards.len());
    let cores: u64 = parts.iter().map(|part| u64::from(part.card.cores)).sum();
    let able: f64 =
        parts.iter().map(|part| f64::from(part.card.cores) * part.card.calibration).sum();
    let _ = writeln!(text, "  together   {}, up to {}", counted(cores, "core"), rate(able));
    if let Some(requests) = demand.requests {
        let _ = writeln!(text, "  requests   {} at its peak", rate(requests));
    }
    let _ = writeln!(text, "  users      {}", count(demand.users));
    for part in &parts {
        let needs: Vec<Need> = needs(part, demand);
        if needs.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{}, with {} of the load", part.card.node, percent(part.share));
        needs.iter().for_each(|need| {
            let _ = writeln!(text, "{need}");
        });
        lacks.push(part.card.node.clone());
    }
    let verdict = match (parts.is_empty(), lacks.as_slice()) {
        (true, []) => "No node is there: start some with `squall node --nats URL`.".to_owned(),
        (false, []) => "These nodes can carry this plan.".to_owned(),
        (_, lacks) => format!("NOT ENOUGH: {}", lacks.join(", ")),
    };
    let _ = writeln!(text, "{verdict}");
    Outlook { text, is_enough: !parts.is_empty() && lacks.is_empty() }
}

/// The nodes that a run would have, and what is missing, in words.
fn chosen<'c>(cards: &'c [Card], wanted: Option<&Nodes>) -> (Vec<&'c Card>, Vec<String>) {
    let Some(Nodes::Zones(zones)) = wanted else { return (cards.iter().collect(), Vec::new()) };
    let (mut chosen, mut lacks) = (Vec::new(), Vec::new());
    for (zone, number) in zones {
        let of_zone = cards.iter().filter(|card| zone.is_empty() || card.zone == *zone);
        let found: Vec<&Card> = of_zone.take(*number as usize).collect();
        let missing = u64::from(*number) - found.len() as u64;
        if missing > 0 {
            let whereto = if zone.is_empty() { String::new() } else { format!(" in zone {zone}") };
            lacks.push(format!("{} missing{whereto}", counted(missing, "node")));
        }
        chosen.extend(found);
    }
    (chosen, lacks)
}

/// Each node's part: a zone has one by its number of nodes, a node in it one by its weight.
fn parts<'c>(chosen: &[&'c Card]) -> Vec<Part<'c>> {
    let part = |card: &&'c Card| {
        let zone = chosen.iter().filter(|other| other.zone == card.zone);
        let (nodes, weights) =
            zone.fold((0.0, 0.0), |(nodes, weights), other| (nodes + 1.0, weights + other.weight));
        Part { card, share: nodes / chosen.len() as f64 * card.weight / weights }
    };
    chosen.iter().map(part).collect()
}

/// What a node has not enough of.
fn needs(part: &Part<'_>, demand: &Demand) -> Vec<Need> {
    let card = part.card;
    let own = demand.of_share(part.share);
    let has = Available {
        files: card.open_files,
        files_hard: card.open_files,
        tables: true,
        ports: (FIRST_PORT, FIRST_PORT + card.ports.saturating_sub(1)),
        time_wait: 0,
        memory: card.memory_bytes,
        cpus: u64::from(card.cores),
        us_per_request: (card.calibration > 0.0).then(|| 1e6 / card.calibration),
    };
    let mut needs = own.needs(&has, None);
    needs.retain(|need| !need.help.is_empty());
    if let Some(most) = card.allows.max_users.filter(|most| own.users > *most) {
        needs.push(Need {
            what: "users",
            text: format!("{} users, {} allowed", count(own.users), count(most)),
            help: vec![format!(
                "start the node with `--max-users {}`, or use more nodes",
                own.users
            )],
        });
    }
    if card.allows.hosts.is_empty() {
        needs.push(Need {
            what: "hosts",
            text: "it may send requests to no host".to_owned(),
            help: vec!["start the node with `--allow-hosts HOST`".to_owned()],
        });
    }
    needs
}

#[cfg(test)]
mod tests {
    use squall_fleet::protocol::messages::Allows;

    use super::*;

    fn card(node: &str, zone: &str) -> Card {
        Card {
            node: node.to_owned(),
            boot: 1,
            version: "1".to_owned(),
            host: node.to_owned(),
            os: String::new(),
            cpu: String::new(),
            cores: 4,
            memory_bytes: 8 << 30,
            open_files: 100_000,
            ports: 28_000,
            zone: zone.to_owned(),
            weight: 1.0,
            calibration: 50_000.0,
            key: String::new(),
            allows: Allows { hosts: vec!["*".to_owned()], ..Allows::default() },
        }
    }

    fn demand(users: u64, requests: f64) -> Demand {
        Demand {
            users,
            connections: users,
            closed_workload_users: users,
            closed_workload_connections: users,
            requests: Some(requests),
            new_connections: Some(0.0),
            sources: Some(1),
            ..Demand::default()
        }
    }

    #[test]
    fn a_load_that_is_too_much_for_one_fits_four() {
        let cards: Vec<Card> = ["a", "b", "c", "d"].map(|name| card(name, "")).into();
        let heavy = demand(40_000, 400_000.0);
        let one = of("shop", &heavy, &cards[..1], None);
        assert!(!one.is_enough && one.text.contains("NOT ENOUGH: a"), "{}", one.text);
        let four = of("shop", &heavy, &cards, None);
        assert!(four.is_enough, "{}", four.text);
        assert!(four.text.contains("shop on 4 nodes of 4 that are there"), "{}", four.text);
        assert!(four.text.contains("16 cores, up to 800,000/s"), "{}", four.text);
        assert!(four.text.contains("can carry this plan"), "{}", four.text);
    }

    #[test]
    fn zones_and_weights_divide_it() {
        let mut cards: Vec<Card> =
            [("a", "eu"), ("b", "eu"), ("c", "us")].map(|(n, z)| card(n, z)).into();
        cards[1].weight = 3.0;
        let chosen: Vec<&Card> = cards.iter().collect();
        let shares: Vec<f64> = parts(&chosen).iter().map(|part| part.share).collect();
        for (share, expected) in shares.iter().zip([1.0 / 6.0, 0.5, 1.0 / 3.0]) {
            assert!((share - expected).abs() < 1e-9, "{shares:?}");
        }
        // b alone is asked for more than it has: half of 450,000 requests are 4.5 cores.
        let seen = of("shop", &demand(300, 450_000.0), &cards, None);
        assert!(seen.text.contains("b, with 50"), "{}", seen.text);
        assert!(seen.text.ends_with("NOT ENOUGH: b\n"), "{}", seen.text);
    }

    #[test]
    fn what_is_missing_is_said() {
        let cards = [card("a", "eu")];
        let wanted = Nodes::Zones(vec![("eu".to_owned(), 2), ("us".to_owned(), 1)]);
        let seen = of("shop", &demand(10, 10.0), &cards, Some(&wanted));
        assert!(!seen.is_enough);
        assert!(
            seen.text.contains("1 node missing in zone eu, 1 node missing in zone us"),
            "{}",
            seen.text
        );
        let none = of("shop", &demand(10, 10.0), &[], None);
        assert!(!none.is_enough && none.text.contains("No node is there"), "{}", none.text);
        let mut small = card("a", "");
        small.allows = Allows { max_users: Some(5), ..Allows::default() };
        let seen = of("shop", &demand(10, 10.0), &[small], None);
        for part in ["10 users, 5 allowed", "`--max-users 10`", "--allow-hosts"] {
            assert!(seen.text.contains(part), "{part}: {}", seen.text);
        }
    }
}
