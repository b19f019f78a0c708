//! Which shards a node has had in each second, so that what it recorded can say so. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::protocol::messages::Shards;

/// Seconds that are remembered: none comes later than that.
const REMEMBERED: u32 = 600;

/// The shards of a node by time.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// From these seconds on.
    from: BTreeMap<u32, Part>,
    /// Seconds that were driven in part.
    broken: BTreeSet<u32>,
}

/// Shards that a node drives, and whether it was given more than it carries.
#[derive(Debug)]
struct Part {
    shards: Shards,
    is_short: bool,
}

/// What a node has driven in a second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Driven {
    /// The shards.
    pub shards: Shards,
    /// Whether they were driven from its beginning to its end. Without shards: whether the node was given some, and carries
    /// none of them.
    pub is_whole: bool,
}

impl Parts {
    /// From a second on the node drives these shards, of those that it was given all or not. What was to come later is no
    /// more.
    pub(crate) fn set(&mut self, from: u32, shards: Shards, is_short: bool) {
        drop(self.from.split_off(&from));
        self.from.insert(from, Part { shards, is_short });
    }

    /// The load stopped within a second: later ones have no shards, unless it goes on.
    pub(crate) fn stop(&mut self, within: u32) {
        self.broken.insert(within);
        self.set(within.saturating_add(1), Shards::from([]), false);
    }

    /// A second was not driven from its beginning to its end.
    pub(crate) fn cut(&mut self, second: u32) {
        self.broken.insert(second);
    }

    /// What was driven in a second.
    pub(crate) fn of(&self, second: u32) -> Driven {
        let part = self.from.range(..=second).next_back().map(|(_, part)| part);
        let shards = part.map_or_else(|| Shards::from([]), |part| part.shards.clone());
        let has_some = !shards.is_empty() || part.is_some_and(|part| part.is_short);
        Driven { shards, is_whole: has_some && !self.broken.contains(&second) }
    }

    /// The parts that begin after a second.
    pub(crate) fn after(&self, second: u32) -> impl Iterator<Item = (u32, &Shards)> {
        let from = second.saturating_add(1);
        self.from.range(from..).map(|(from, part)| (*from, &part.shards))
    }

    /// Since when it has the last of what it has.
    pub(crate) fn last(&self) -> u32 {
        self.from.last_key_value().map_or(0, |(from, _)| *from)
    }

    /// Forgets what is long past.
    pub(crate) fn forget(&mut self, now: u32) {
        let Some(past) = now.checked_sub(REMEMBERED) else { return };
        self.broken = self.broken.split_off(&past);
        if let Some((&last, _)) = self.from.range(..=past).next_back() {
            self.from = self.from.split_off(&last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_those_of_the_second() {
        let mut parts = Parts::default();
        let of = |parts: &Parts, second| -> (Vec<u32>, bool) {
            let driven = parts.of(second);
            (driven.shards.to_vec(), driven.is_whole)
        };
        assert_eq!(of(&parts, 5), (vec![], false));
        parts.set(0, [0, 1].into(), false);
        parts.set(4, [0].into(), true);
        assert_eq!(of(&parts, 3), (vec![0, 1], true));
        assert_eq!(of(&parts, 4), (vec![0], true));
        // The fence comes before a handover that was planned: that one is no more.
        parts.set(9, [0, 7].into(), false);
        parts.stop(6);
        assert_eq!(of(&parts, 6), (vec![0], false));
        assert_eq!(of(&parts, 7), (vec![], false));
        assert_eq!(of(&parts, 9), (vec![], false));
        parts.set(11, [0, 3].into(), false);
        assert_eq!(of(&parts, 10), (vec![], false));
        assert_eq!(of(&parts, 11), (vec![0, 3], true));
        parts.forget(REMEMBERED + 8);
        assert_eq!(of(&parts, 11), (vec![0, 3], true));
        assert_eq!(of(&parts, 8), (vec![], false));
        assert!(parts.from.len() <= 2, "{parts:?}");
    }

    /// One that carries none of what it has is there all the same, until it has nothing.
    #[test]
    fn a_node_that_carries_nothing_is_told_from_one_that_has_nothing() {
        let mut parts = Parts::default();
        let none = |is_whole| Driven { shards: Shards::from([]), is_whole };
        parts.set(2, Shards::from([]), true);
        parts.set(5, Shards::from([]), false);
        assert_eq!(
            [1, 2, 4, 5].map(|second| parts.of(second)),
            [false, true, true, false].map(none)
        );
        parts.cut(3);
        assert_eq!(parts.of(3), none(false));
    }
}
