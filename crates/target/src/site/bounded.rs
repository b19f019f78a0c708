//! Memory that stays bounded: bytes that are counted, keys of which the oldest are forgotten, behind locks that outlive a panic.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A share of a bounded number of bytes, given back when it is dropped.
pub(crate) struct ByteShare<'s> {
    all: &'s AtomicU64,
    own: u64,
}

impl<'s> ByteShare<'s> {
    /// Nothing yet of the bytes that are counted in `all`.
    pub(super) fn of(all: &'s AtomicU64) -> Self {
        ByteShare { all, own: 0 }
    }

    /// Takes so many bytes more, unless there would be more than `limit` of them in all.
    pub(crate) fn grow(&mut self, bytes: u64, limit: u64) -> bool {
        let room = self.all.fetch_add(bytes, Relaxed) + bytes <= limit;
        if room {
            self.own += bytes;
        } else {
            self.all.fetch_sub(bytes, Relaxed);
        }
        room
    }
}

impl Drop for ByteShare<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(self.own, Relaxed);
    }
}

/// A value behind a lock; a worker that panicked with it in hand does not take the others along.
#[derive(Default)]
pub(crate) struct Shared<T>(Mutex<T>);

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Shared(Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A map that remembers at least the `capacity` keys used last, and never more than twice as many:
/// two generations, of which the older is forgotten when the younger is full.
pub(crate) struct Recent<K, V> {
    capacity: usize,
    young: HashMap<K, V>,
    old: HashMap<K, V>,
}

impl<K: Hash + Eq, V: Default> Recent<K, V> {
    pub(crate) fn new(capacity: usize) -> Self {
        Recent { capacity, young: HashMap::new(), old: HashMap::new() }
    }

    /// The value of `key`; the default if it is unknown or forgotten.
    pub(crate) fn entry(&mut self, key: K) -> &mut V {
        if self.young.len() >= self.capacity && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        let remembered = self.old.remove(&key);
        self.young.entry(key).or_insert_with(|| remembered.unwrap_or_default())
    }

    /// Takes the value of `key` out.
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let (young, old) = (self.young.remove(key), self.old.remove(key));
        young.or(old)
    }

    /// The value of `key`, if it is remembered, without counting as a use.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.young.get(key).or_else(|| self.old.get(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_is_remembered() {
        let mut recent = Recent::new(10);
        for key in 0..1000 {
            *recent.entry(key) = key;
            *recent.entry(7) += 1;
            assert!(recent.young.len() + recent.old.len() <= 20);
        }
        assert_eq!(*recent.entry(7), 1000, "a key in use is never forgotten");
        assert_eq!(recent.get(&999), Some(&999));
        assert_eq!(recent.get(&1), None);
        assert_eq!(recent.remove(&999), Some(999));
        assert_eq!(recent.get(&999), None);
    }
}
