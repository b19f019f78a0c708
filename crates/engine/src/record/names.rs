//! The names of a run. All workers count under the same numbers, so that they agree on what is too many:
//! names that are known before the run have theirs from the start, one that is made while the run goes on
//! gets its number from a registry that the workers share. A worker asks there when it meets a name for
//! the first time, and knows it from then on. When all numbers are given it needs to ask no more.

use std::sync::{Arc, Mutex, PoisonError};

use squall_metrics::{NameId, NameKind, Names, OTHER};

use crate::program::Program;

/// The names of a run, shared by its workers.
pub(crate) struct NameRegistry(Mutex<Names>);

impl NameRegistry {
    pub(crate) fn new(program: &Program) -> Self {
        let mut names = Names::new(program.max_names);
        for (kind, text) in &program.names {
            names.intern(*kind, text);
        }
        NameRegistry(Mutex::new(names))
    }
}

/// The names that a worker knows: the first ones of the registry's.
pub(super) struct KnownNames {
    registry: Arc<NameRegistry>,
    names: Names,
}

impl KnownNames {
    pub(super) fn new(registry: Arc<NameRegistry>) -> Self {
        // A list of names is as good as before whatever its holder did not survive.
        let names = registry.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        KnownNames { registry, names }
    }

    /// The number of a name, that of `other` if there are too many.
    pub(super) fn number(&mut self, kind: NameKind, text: &str) -> NameId {
        let known = self.names.find(kind, text);
        let other = || self.names.is_full().then(|| self.names.find(kind, OTHER)).flatten();
        known.or_else(other).unwrap_or_else(|| {
            let mut all = self.registry.0.lock().unwrap_or_else(PoisonError::into_inner);
            let number = all.intern(kind, text);
            self.names.follow(&all);
            number
        })
    }

    /// Kind and text of a name.
    pub(super) fn get(&self, number: NameId) -> Option<(NameKind, &str)> {
        self.names.get(number)
    }

    /// The names from a number on.
    pub(super) fn from(&self, first: usize) -> impl Iterator<Item = (NameId, NameKind, &str)> {
        let name = |number| {
            let number = NameId(number as u32);
            self.names.get(number).map(|(kind, text)| (number, kind, text))
        };
        (first..self.names.len()).filter_map(name)
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_agree_on_what_is_other() {
        let registry = Arc::new(NameRegistry(Mutex::new(Names::new(4))));
        registry.0.lock().expect("not poisoned").intern(NameKind::Request, "known");
        let mut workers = [KnownNames::new(registry.clone()), KnownNames::new(registry)];
        let mut numbers = std::collections::BTreeMap::new();
        // Each meets the names in an order of its own.
        for round in 0..3 {
            for at in 0..10 {
                for (index, worker) in workers.iter_mut().enumerate() {
                    let name = if index == 0 { at } else { 9 - at };
                    let number = worker.number(NameKind::Request, &format!("name {name}"));
                    let agreed = *numbers.entry(name).or_insert(number);
                    assert_eq!(agreed, number, "name {name}, worker {index}, round {round}");
                }
            }
        }
        let own: std::collections::BTreeSet<NameId> = numbers.values().copied().collect();
        assert_eq!(own.len(), 4, "three of ten beside the known one, and other");
        for worker in &mut workers {
            assert_eq!(worker.number(NameKind::Request, "known"), NameId(0));
            assert_eq!(worker.len(), 5);
            assert_eq!(worker.from(4).next(), Some((NameId(4), NameKind::Request, OTHER)));
            let other = worker.number(NameKind::Group, "new");
            assert_eq!(worker.get(other), Some((NameKind::Group, OTHER)));
        }
    }
}
