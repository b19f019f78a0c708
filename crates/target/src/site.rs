//! What all workers share: the site's memory. Everything in it is bounded, whatever clients do.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ring::rand::{SecureRandom, SystemRandom};

use crate::counters::Counters;
use crate::random::{Random, mix};
use crate::routes::leak::Leak;
use crate::routes::queue::Queues;
use crate::routes::shop::Cart;
use crate::session::Signer;

/// Carts remembered at least; the oldest ones are forgotten beyond twice as many.
const CARTS: usize = 32 * 1024;

/// Digest nonces whose use is remembered, likewise.
const NONCES: usize = 32 * 1024;

/// What tells the site's random numbers from others of the same seed: "target" in ASCII.
const OWN: u64 = 0x7461_7267_6574;

/// The state of the site.
pub(crate) struct Site {
    /// One set of counters a worker.
    pub(crate) counters: Box<[Counters]>,
    pub(crate) signer: Signer,
    /// What all workers draw from.
    pub(crate) random: Random,
    pub(crate) started: Instant,
    pub(crate) carts: Shared<Recent<u64, Cart>>,
    /// The highest count that a digest nonce was used with.
    pub(crate) nonces: Shared<Recent<u64, u32>>,
    pub(crate) queues: Queues,
    pub(crate) leak: Leak,
    /// Bytes of bodies that are held in memory, over all connections.
    bodies: AtomicU64,
    /// Microseconds after the start up to which nothing is answered; 0 when nothing is stalled.
    stalled_until: AtomicU64,
}

impl Site {
    /// `seed`: where random numbers start, if they should be the same again. What signs is secret all the same.
    pub(crate) fn new(workers: usize, seed: Option<u64>) -> Result<Self, ring::error::Unspecified> {
        let mut secret = [0; 40];
        SystemRandom::new().fill(&mut secret)?;
        let (key, chance) = secret.split_at(32);
        let chance = chance.iter().fold(0, |chance, &byte| chance << 8 | u64::from(byte));
        // A load that is drawn from the same seed has nothing to do with it.
        let seed = mix(seed.unwrap_or(chance) ^ OWN);
        Ok(Site {
            counters: (0..workers).map(|_| Counters::default()).collect(),
            signer: Signer::new(key),
            random: Random::new(seed),
            started: Instant::now(),
            carts: Shared::new(Recent::new(CARTS)),
            nonces: Shared::new(Recent::new(NONCES)),
            queues: Queues::new(seed),
            leak: Leak::default(),
            bodies: AtomicU64::new(0),
            stalled_until: AtomicU64::new(0),
        })
    }

    /// What a connection holds of bodies; nothing yet.
    pub(crate) fn hold_bodies(&self) -> ByteShare<'_> {
        ByteShare { all: &self.bodies, own: 0 }
    }

    /// Lets nothing be answered for `time` from now on.
    pub(crate) fn begin_stall(&self, time: Duration) {
        let until = (self.started.elapsed() + time).as_micros();
        self.stalled_until.fetch_max(u64::try_from(until).unwrap_or(u64::MAX), Relaxed);
    }

    /// Until when nothing is answered, if so. Costs one load while nothing is stalled.
    pub(crate) fn stall(&self) -> Option<Instant> {
        let until = self.stalled_until.load(Relaxed);
        if until == 0 {
            return None;
        }
        let until = self.started + Duration::from_micros(until);
        if until > Instant::now() {
            return Some(until);
        }
        self.stalled_until.store(0, Relaxed);
        None
    }
}

/// A share of a bounded number of bytes, given back when it is dropped.
pub(crate) struct ByteShare<'s> {
    all: &'s AtomicU64,
    own: u64,
}

impl ByteShare<'_> {
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

    #[test]
    fn a_stall_begins_and_ends() {
        let site = Site::new(1, None).unwrap();
        assert!(site.stall().is_none());
        site.begin_stall(Duration::from_secs(60));
        let until = site.stall().unwrap();
        site.begin_stall(Duration::from_secs(1));
        assert_eq!(site.stall(), Some(until), "a shorter stall does not end a longer one");
        site.stalled_until.store(1, Relaxed);
        assert!(site.stall().is_none());
    }
}
