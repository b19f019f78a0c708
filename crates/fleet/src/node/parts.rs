//! Which shards a node has had in each second, so that what it recorded can say so. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::protocol::messages::Shards;

/// Seconds that are remembered: none comes later than that.
const REMEMBERED: u32 = 600;

/// The shards of a node by time.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// From these seconds on.
    from: BTreeMap<u32, Shards>,
    /// Seconds that were driven in part.
    broken: BTreeSet<u32>,
}

impl Parts {
    /// From a second on the node has these shards. What was to come later is no more.
    pub(crate) fn set(&mut self, from: u32, shards: Shards) {
        drop(self.from.split_off(&from));
        self.from.insert(from, shards);
    }

    /// The load stopped within a second: later ones have no shards, unless it goes on.
    pub(crate) fn stop(&mut self, within: u32) {
        self.broken.insert(within);
        self.set(within.saturating_add(1), Shards::from([]));
    }

    /// A second was not driven from its beginning to its end.
    pub(crate) fn cut(&mut self, second: u32) {
        self.broken.insert(second);
    }

    /// The shards of a second, and whether they were driven from its beginning to its end.
    pub(crate) fn of(&self, second: u32) -> (Shards, bool) {
        let shards = self.from.range(..=second).next_back();
        let shards = shards.map_or_else(|| Shards::from([]), |(_, shards)| shards.clone());
        (shards, !self.broken.contains(&second))
    }

    /// The parts that begin after a second.
    pub(crate) fn after(&self, second: u32) -> impl Iterator<Item = (u32, &Shards)> {
        let from = second.saturating_add(1);
        self.from.range(from..).map(|(from, shards)| (*from, shards))
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
            let (shards, is_whole) = parts.of(second);
            (shards.to_vec(), is_whole)
        };
        assert_eq!(of(&parts, 5), (vec![], true));
        parts.set(0, [0, 1].into());
        parts.set(4, [0].into());
        assert_eq!(of(&parts, 3), (vec![0, 1], true));
        assert_eq!(of(&parts, 4), (vec![0], true));
        // The fence comes before a handover that was planned: that one is no more.
        parts.set(9, [0, 7].into());
        parts.stop(6);
        assert_eq!(of(&parts, 6), (vec![0], false));
        assert_eq!(of(&parts, 7), (vec![], true));
        assert_eq!(of(&parts, 9), (vec![], true));
        parts.set(11, [0, 3].into());
        assert_eq!(of(&parts, 10), (vec![], true));
        assert_eq!(of(&parts, 11), (vec![0, 3], true));
        parts.forget(REMEMBERED + 8);
        assert_eq!(of(&parts, 11), (vec![0, 3], true));
        assert_eq!(of(&parts, 8), (vec![], true));
        assert!(parts.from.len() <= 2, "{parts:?}");
    }
}
