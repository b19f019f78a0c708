//! A leak: too many requests at once begin it, and from then on each request makes all later ones slower.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A response is never slower than this by the leak, in microseconds.
const LEAK_LIMIT: u64 = 60_000_000;

#[derive(Default)]
pub(crate) struct Leak {
    in_flight: AtomicU64,
    /// Microseconds by which each response is late.
    leaked: AtomicU64,
}

/// A request in flight; however it ends, it is one less.
pub(crate) struct InFlight<'l>(&'l Leak);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Relaxed);
    }
}

impl Leak {
    /// Lets a request in: how much later its response is, in microseconds.
    pub(crate) fn enter(&self, most: u64, each: u64) -> (InFlight<'_>, u64) {
        let others = self.in_flight.fetch_add(1, Relaxed);
        let leaks = others >= most || self.leaked.load(Relaxed) > 0;
        let before = self.leaked.fetch_add(if leaks { each } else { 0 }, Relaxed);
        (InFlight(self), before.min(LEAK_LIMIT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_with_too_many_at_once_and_never_ends() {
        let leak = Leak::default();
        for _ in 0..100 {
            assert_eq!(leak.enter(2, 5).1, 0, "one at a time leaks nothing");
        }
        let at_once: Vec<_> = (0..3).map(|_| leak.enter(2, 5)).collect();
        assert_eq!(at_once.last().map(|(_, late)| *late), Some(0), "the third begins it");
        drop(at_once);
        assert_eq!(leak.enter(2, 5).1, 5);
        assert_eq!(leak.enter(2, 5).1, 10, "each makes the next one slower");
        leak.enter(2, 2 * LEAK_LIMIT);
        assert_eq!(leak.enter(2, 5).1, LEAK_LIMIT);
        assert_eq!(leak.in_flight.load(Relaxed), 0);
    }
}
