//! Makes slices of what nodes have recorded: one a second as soon as it is whole, and further ones of what came late.

use std::collections::{BTreeMap, BTreeSet};

use squall_metrics::{RowKey, Slice, Source};

use crate::record::{Fact, Merger, Record};

/// The number of the first slice of facts of nodes, far beyond those of monitors of this process.
const FACTS: u32 = 1 << 20;

/// The seconds of a load.
#[derive(Debug)]
pub(crate) struct Seconds {
    merger: Merger,
    /// Seconds of which something has come that was not handed over.
    open: BTreeSet<u32>,
    /// The first second that is not whole.
    next: u32,
    /// How many slices of seconds that were whole have followed.
    late: BTreeMap<u32, u32>,
}

impl Seconds {
    /// Of a load with these rows, of which so many are counted separately.
    pub(crate) fn new(rows: impl IntoIterator<Item = RowKey>, most_names: usize) -> Seconds {
        let merger = Merger::with_rows(rows, most_names);
        Seconds { merger, open: BTreeSet::new(), next: 0, late: BTreeMap::new() }
    }

    /// Adds what a node has recorded in a second, and says what describes the node in it.
    pub(crate) fn add(
        &mut self,
        node: &str,
        zone: &str,
        second: u32,
        record: &Record,
    ) -> Vec<Fact> {
        self.open.insert(second);
        self.merger.add(node, zone, second, record)
    }

    /// The slices of all seconds until this one, which are whole, and of what came late before. One in which nobody did
    /// anything is empty.
    pub(crate) fn whole(&mut self, until: u32) -> Vec<Slice> {
        let mut slices = self.late();
        for second in self.next..=until {
            self.open.remove(&second);
            let source = Source::Worker(0);
            // Facts come first: they belong to a second that is not told of yet.
            slices.extend(self.merger.take_facts(second, Source::Monitor(FACTS)));
            let own = self.merger.take(second, source);
            slices.push(own.unwrap_or_else(|| Slice::new(source, second)));
        }
        self.next = self.next.max(until.saturating_add(1));
        slices
    }

    /// The slices of what came of seconds that were whole already.
    pub(crate) fn late(&mut self) -> Vec<Slice> {
        let mut slices = Vec::new();
        while let Some(second) = self.open.first().copied().filter(|own| *own < self.next) {
            self.open.remove(&second);
            let number = self.late.entry(second).or_insert(0);
            *number += 1;
            let number = *number;
            slices.extend(self.merger.take_facts(second, Source::Monitor(FACTS + number)));
            slices.extend(self.merger.take(second, Source::Worker(number)));
        }
        slices
    }

    /// All that is left of a load of so many seconds.
    pub(crate) fn rest(&mut self, seconds: u32) -> Vec<Slice> {
        let begun = self.open.last().map_or(0, |last| last + 1);
        match seconds.max(begun).checked_sub(1).filter(|last| *last >= self.next) {
            Some(last) => self.whole(last),
            None => self.late(),
        }
    }
}
