//! Parts of groups that are one sample, until the group is over. A full queue drops the ends of groups too: so there is an
//! end to how many parts may wait. Pure.

use std::collections::BTreeMap;

use super::seen::Seen;
use crate::phase::Phase;

/// Most parts that wait, with those in them: 26 for each of 10,000 users, a few hundred megabytes.
pub(super) const MOST: usize = 1 << 18;

/// Parts that wait for the end of their groups.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// By phase and the number of the group; groups are numbered as they begin.
    groups: BTreeMap<(Phase, u64), Vec<Seen>>,
    /// How many there are, with those in them.
    size: usize,
}

impl Open {
    /// Adds a part of a group.
    pub(super) fn add(&mut self, group: (Phase, u64), part: Seen) {
        self.size += part.size();
        self.groups.entry(group).or_default().push(part);
    }

    /// Takes the parts of a group.
    pub(super) fn take(&mut self, group: (Phase, u64)) -> Vec<Seen> {
        let parts = self.groups.remove(&group).unwrap_or_default();
        self.size -= parts.iter().map(Seen::size).sum::<usize>();
        parts
    }

    /// Takes the parts of the group that began first, if more wait than may: its end is what was most likely dropped.
    pub(super) fn take_surplus(&mut self) -> Option<Vec<Seen>> {
        let (first, _) = self.groups.first_key_value().filter(|_| self.size > MOST)?;
        Some(self.take(*first))
    }

    /// All that wait, by their groups.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Seen> {
        self.groups.values().flatten()
    }
}
