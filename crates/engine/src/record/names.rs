//! The names of a run. All workers count under the same numbers, so that they agree on what is too many:
//! names that are known before the run have theirs from the start, one that is made while the run goes on
//! gets its number from a registry that the workers share. A worker asks there when it meets a name for
//! the first time, and knows it from then on. When all numbers are given it needs to ask no more.

use std::sync::{Arc, Mutex, PoisonError};

use squall_metrics::{NameId, Names, Place, PlaceId, RowKey};

use crate::program::Program;

/// The names of a run, shared by its workers.
pub(crate) struct NameRegistry(Mutex<Names>);

impl NameRegistry {
    pub(crate) fn new(program: &Program) -> Self {
        NameRegistry(Mutex::new(program.names.clone().with_most(program.max_names)))
    }
}

/// The names that a worker knows: the first ones of the registry's.
pub(super) struct KnownNames {
    registry: Arc<NameRegistry>,
    names: Names,
}

impl KnownNames {
    pub(super) fn new(registry: Arc<NameRegistry>) -> Self {
        // The list is whole even if the thread that had the lock panicked.
        let names = registry.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        KnownNames { registry, names }
    }

    /// The number of a name, that of `other` if there are too many.
    pub(super) fn number(&mut self, place: PlaceId, text: &str) -> NameId {
        let known = self.names.find(place, text);
        let other = || self.names.is_full().then(|| self.names.find_other(place)).flatten();
        known.or_else(other).unwrap_or_else(|| {
            let mut all = self.registry.0.lock().unwrap_or_else(PoisonError::into_inner);
            let number = all.intern(place, text);
            self.names.follow(&all);
            number
        })
    }

    /// The number of a place. There are as many as there are groups in the names, and some kinds for each.
    pub(super) fn place(&mut self, place: &Place) -> PlaceId {
        self.names.find_place(place).unwrap_or_else(|| {
            let mut all = self.registry.0.lock().unwrap_or_else(PoisonError::into_inner);
            let number = all.place(place);
            self.names.follow(&all);
            number
        })
    }

    /// What identifies a row.
    pub(super) fn key(&self, number: NameId) -> Option<RowKey> {
        self.names.key(number)
    }

    /// The text of a name.
    pub(super) fn name(&self, number: NameId) -> Option<&str> {
        self.names.get(number).map(|(_, name)| name)
    }

    /// The rows from a number on.
    pub(super) fn from(&self, first: usize) -> impl Iterator<Item = (NameId, RowKey)> {
        let row = |number| {
            let number = NameId(number as u32);
            Some((number, self.names.key(number)?))
        };
        (first..self.names.len()).filter_map(row)
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }
}

#[cfg(test)]
mod tests {
    use squall_metrics::{OTHER, RowKind};

    use super::*;

    #[test]
    fn workers_agree_on_what_is_other() {
        let mut names = Names::new(4);
        let [request, group] =
            [RowKind::Request, RowKind::Group].map(|kind| names.place(&Place::new(kind, "s")));
        names.intern(request, "known");
        let registry = Arc::new(NameRegistry(Mutex::new(names)));
        let mut workers = [KnownNames::new(registry.clone()), KnownNames::new(registry)];
        let mut numbers = std::collections::BTreeMap::new();
        // Each meets the names in an order of its own.
        for round in 0..3 {
            for at in 0..10 {
                for (index, worker) in workers.iter_mut().enumerate() {
                    let name = if index == 0 { at } else { 9 - at };
                    let number = worker.number(request, &format!("name {name}"));
                    let agreed = *numbers.entry(name).or_insert(number);
                    assert_eq!(agreed, number, "name {name}, worker {index}, round {round}");
                }
            }
        }
        let own: std::collections::BTreeSet<NameId> = numbers.values().copied().collect();
        assert_eq!(own.len(), 4, "three of ten beside the known one, and other");
        for worker in &mut workers {
            assert_eq!(worker.number(request, "known"), NameId(0));
            assert_eq!(worker.len(), 5);
            let other = RowKey::new(RowKind::Request, "", OTHER);
            assert_eq!(worker.from(4).next(), Some((NameId(4), other)));
            let number = worker.number(group, "new");
            let other = RowKey::new(RowKind::Group, "", OTHER);
            assert_eq!(worker.from(number.0 as usize).next(), Some((number, other)));
        }
    }
}
