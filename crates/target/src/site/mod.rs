//! What all workers share: the site's memory. Everything in it is bounded, whatever clients do.

pub(crate) mod bounded;
pub(crate) mod cart;
pub(crate) mod leak;
pub(crate) mod queues;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use ring::rand::{SecureRandom, SystemRandom};

use crate::counters::Counters;
use crate::random::{Random, mix};
use crate::session::Signer;
use bounded::{ByteShare, Recent, Shared};
use cart::Cart;
use leak::Leak;
use queues::Queues;

/// Carts remembered at least; the oldest ones are forgotten beyond twice as many.
const CARTS: usize = 32 * 1024;

/// Digest nonces whose use is remembered, likewise.
const NONCES: usize = 32 * 1024;

/// What tells the site's random numbers from others of the same seed: "target" in ASCII.
const OWN: u64 = 0x7461_7267_6574;

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
        ByteShare::of(&self.bodies)
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

#[cfg(test)]
mod tests {
    use super::*;

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
