//! The nodes of the fleet, whether they are in the run or not.

use std::collections::BTreeMap;

use crate::protocol::codec;
use crate::protocol::io::Wanted;
use crate::protocol::keys;
use crate::protocol::messages::{Card, Heartbeat};
use crate::protocol::units::{Bytes, Nanos, SECOND};

use super::run::NODES;

/// How long ago a node's heart may have beaten: an idle one beats once a second.
pub const FRESH: Nanos = 3 * SECOND;

/// Nodes, by name.
#[derive(Debug, Default)]
pub struct Candidates {
    nodes: BTreeMap<String, Candidate>,
    hearts: BTreeMap<String, (Heartbeat, Nanos)>,
}

/// A node.
#[derive(Debug)]
pub struct Candidate {
    /// What it says of itself.
    pub card: Card,
    /// The revision of its card: watches may tell of an older one later.
    revision: u64,
    /// Whether it came after the load had begun.
    pub is_late: bool,
}

impl Candidates {
    /// A card is there, or there no more.
    pub fn on_card(
        &mut self,
        key: &str,
        revision: u64,
        value: Option<&Bytes>,
        is_late: bool,
    ) -> Option<Card> {
        let node = key.strip_prefix("node.")?;
        if self.nodes.get(node).is_some_and(|known| known.revision > revision) {
            return None;
        }
        let card = value
            .and_then(|bytes| codec::read_json::<Card>(bytes).ok())
            .filter(|card| card.node == node && keys::is_name(node));
        let Some(card) = card else {
            self.nodes.remove(node);
            return None;
        };
        if self.nodes.len() >= NODES && !self.nodes.contains_key(node) {
            return None;
        }
        // A card that was put again by the same process is not that of one that has just come.
        let was_there = self
            .nodes
            .get(node)
            .filter(|known| known.card.boot == card.boot)
            .map(|known| known.is_late);
        let is_late = was_there.unwrap_or(is_late);
        self.nodes.insert(node.into(), Candidate { card: card.clone(), revision, is_late });
        Some(card)
    }

    /// A heart beats.
    pub fn on_heart(&mut self, node: &str, heart: Heartbeat, now: Nanos) {
        if self.hearts.len() < NODES || self.hearts.contains_key(node) {
            self.hearts.insert(node.into(), (heart, now));
        }
    }

    /// The nodes that are there and in no run, of this version.
    pub fn idle(&self, version: &str, now: Nanos) -> impl Iterator<Item = &Candidate> {
        self.nodes.values().filter(move |candidate| {
            candidate.card.version == version && self.is_idle(&candidate.card, now)
        })
    }

    fn is_idle(&self, card: &Card, now: Nanos) -> bool {
        self.hearts.get(&card.node).is_some_and(|(heart, at)| {
            heart.boot == card.boot && heart.run.is_empty() && now < at + FRESH
        })
    }

    /// Which of the idle nodes that may be in it to call, of a run of this version that has so many of each zone: the least
    /// names of each zone first.
    pub fn choose(
        &self,
        wanted: &Wanted,
        have: &[(String, u32)],
        (version, now): (&str, Nanos),
        may_be: impl Fn(&str) -> bool,
    ) -> (Vec<Card>, Vec<(String, u32)>) {
        let (mut chosen, mut missing) = (Vec::new(), Vec::new());
        for (zone, count) in &wanted.zones {
            let has = have.iter().find(|entry| entry.0 == *zone).map_or(0, |entry| entry.1);
            let mut needs = count.saturating_sub(has);
            for candidate in self.idle(version, now).filter(|own| may_be(&own.card.node)) {
                if needs == 0 {
                    break;
                }
                let of_zone = zone.is_empty() || candidate.card.zone == *zone;
                if of_zone && !chosen.iter().any(|card: &Card| card.node == candidate.card.node) {
                    chosen.push(candidate.card.clone());
                    needs -= 1;
                }
            }
            if needs > 0 {
                missing.push((zone.clone(), needs));
            }
        }
        (chosen, missing)
    }

    /// Why other nodes are not taken, in words. Before `has_listened` for long enough, nothing is said of those whose hearts were
    /// not heard.
    pub fn others(&self, version: &str, now: Nanos, has_listened: bool) -> Vec<String> {
        let mut told = Vec::new();
        for candidate in self.nodes.values().take(NODES) {
            let (card, heart) = (&candidate.card, self.hearts.get(&candidate.card.node));
            let why = match heart {
                _ if card.version != version => {
                    format!(
                        "is squall {}, and this is {version}: install the same version on both",
                        card.version
                    )
                }
                Some((heart, at))
                    if now < at + FRESH && heart.boot == card.boot && !heart.run.is_empty() =>
                {
                    format!("is in run {}", heart.run)
                }
                Some((_, at)) if now < at + FRESH => continue,
                _ if !has_listened => continue,
                _ => "is not heard of".into(),
            };
            told.push(format!("{} {why}", card.node));
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::messages::{Allows, Phase};

    fn card(node: &str) -> Card {
        Card {
            node: node.into(),
            boot: 1,
            version: "1".into(),
            host: String::new(),
            os: String::new(),
            cpu: String::new(),
            cores: 1,
            memory_bytes: 0,
            open_files: 0,
            ports: 0,
            zone: String::new(),
            weight: 1.0,
            calibration: 0.0,
            key: String::new(),
            allows: Allows::default(),
        }
    }

    /// A later version may say more of a node, and an earlier one less.
    #[test]
    fn a_node_of_another_version_is_named_with_it() {
        let mut candidates = Candidates::default();
        for (node, card) in [
            ("old", r#"{"node": "old", "boot": 7, "version": "0.0.1"}"#),
            (
                "new",
                r#"{"node": "new", "version": "9.0.0", "allows": {"moons": 3}, "planets": [8]}"#,
            ),
        ] {
            let value = Bytes::from(card.as_bytes());
            assert!(candidates.on_card(&keys::card(node), 1, Some(&value), false).is_some());
        }
        let told = candidates.others("1", 0, true);
        let install = "and this is 1: install the same version on both";
        assert_eq!(
            told,
            [format!("new is squall 9.0.0, {install}"), format!("old is squall 0.0.1, {install}")]
        );
    }

    /// The heart of a node beats once a second: it may have refused a run since it was idle.
    #[test]
    fn who_has_refused_is_not_chosen_again() {
        let mut candidates = Candidates::default();
        for node in ["a", "b"] {
            let value = codec::json(&card(node));
            candidates.on_card(&keys::card(node), 1, Some(&value), false);
            let heart = Heartbeat { boot: 1, phase: Phase::Idle, ..Heartbeat::default() };
            candidates.on_heart(node, heart, 0);
        }
        let wanted = Wanted { zones: vec![(String::new(), 2)], wait: 0 };
        let chosen = |refused: &[&str]| {
            let (chosen, missing) =
                candidates.choose(&wanted, &[], ("1", SECOND), |node| !refused.contains(&node));
            let names: Vec<String> = chosen.into_iter().map(|card| card.node).collect();
            (names, missing.iter().map(|entry| entry.1).sum::<u32>())
        };
        assert_eq!(chosen(&[]), (vec!["a".to_owned(), "b".to_owned()], 0));
        assert_eq!(chosen(&["a"]), (vec!["b".to_owned()], 1));
        assert_eq!(chosen(&["a", "b"]), (vec![], 2));
    }

    /// A card alone says nothing of whether its node lives.
    #[test]
    fn who_was_not_heard_is_neither_chosen_nor_called_dead_too_soon() {
        let mut candidates = Candidates::default();
        candidates.on_card(&keys::card("a"), 1, Some(&codec::json(&card("a"))), false);
        assert_eq!(candidates.idle("1", 0).count(), 0);
        assert_eq!(candidates.others("1", 0, false), [""; 0]);
        assert_eq!(candidates.others("1", FRESH, true), ["a is not heard of"]);
        // Another process of its name does not speak for it.
        let heart = Heartbeat { boot: 2, phase: Phase::Idle, ..Heartbeat::default() };
        candidates.on_heart("a", heart, FRESH);
        assert_eq!(candidates.idle("1", FRESH).count(), 0);
    }
}
