//! How fast one user's bytes come and go, where the plan gives a `bandwidth`.

use std::cell::Cell;

use squall_plan::model::Bandwidth;

/// Bytes of so many nanoseconds are let through at a time: shorter steps cost more wake-ups, longer
/// ones are no even stream. Late wake-ups are made up for within the same time.
const STEP_NS: u64 = 20_000_000;
/// Fewest and most bytes that are let through at a time.
const STEP_BYTES: (u64, u64) = (64, 64 << 10);
/// Bytes of so many nanoseconds may lie unread in the kernel: what a network with a round trip of
/// 100 ms holds.
const WINDOW_NS: u64 = 100_000_000;
/// Fewest and most bytes of that.
const WINDOW_BYTES: (u64, u64) = (16 << 10, 4 << 20);

/// The limits of one user, over all its connections.
pub(crate) struct Bandwidths {
    pub down: Option<Bucket>,
    pub up: Option<Bucket>,
}

impl Bandwidths {
    pub(crate) fn new(bandwidth: Bandwidth) -> Self {
        Bandwidths { down: bandwidth.down.map(Bucket::new), up: bandwidth.up.map(Bucket::new) }
    }

    /// Most bytes that may lie unread in the kernel; `None`: as many as it likes.
    pub(crate) fn window(&self) -> Option<u32> {
        let bytes = self.down.as_ref()?.bytes(WINDOW_NS).clamp(WINDOW_BYTES.0, WINDOW_BYTES.1);
        u32::try_from(bytes).ok()
    }
}

/// Bytes a second in one direction: a leaky bucket as a virtual schedule (the generic cell rate
/// algorithm, ITU-T I.371, appendix I).
pub(crate) struct Bucket {
    /// Bytes a second, above 0.
    rate: u64,
    /// When all bytes that were let through have taken their time, on the run's clock.
    free: Cell<u64>,
}

impl Bucket {
    fn new(rate: u64) -> Self {
        Bucket { rate, free: Cell::new(0) }
    }

    /// Bytes in so many nanoseconds.
    fn bytes(&self, ns: u64) -> u64 {
        let bytes = u128::from(self.rate) * u128::from(ns) / 1_000_000_000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// How many bytes may pass now, or from when some may.
    pub(crate) fn budget(&self, now: u64) -> Result<usize, u64> {
        if now < self.free.get() {
            return Err(self.free.get());
        }
        Ok(self.bytes(STEP_NS).clamp(STEP_BYTES.0, STEP_BYTES.1) as usize)
    }

    /// Notes that bytes have passed.
    pub(crate) fn pass(&self, now: u64, bytes: usize) {
        let from = self.free.get().max(now.saturating_sub(STEP_NS));
        let takes = u128::from(bytes as u64) * 1_000_000_000 / u128::from(self.rate);
        self.free.set(from.saturating_add(u64::try_from(takes).unwrap_or(u64::MAX)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const S: u64 = 1_000_000_000;

    /// Bytes that pass in so long, if whoever sends them is woken so much too late each time.
    fn pass(rate: u64, length: u64, late: u64) -> u64 {
        let (bucket, mut now, mut bytes) = (Bucket::new(rate), 5 * S, 0);
        let end = now + length;
        while now < end {
            match bucket.budget(now) {
                Ok(most) => {
                    bucket.pass(now, most);
                    bytes += most as u64;
                }
                Err(at) => now = at + late,
            }
        }
        bytes
    }

    #[test]
    fn a_wake_up_that_is_late_is_made_up_for() {
        for late in [0, 50_000, 15_000_000] {
            let bytes = pass(250_000, 20 * S, late);
            assert!((5_000_000..5_025_000).contains(&bytes), "{late}: {bytes}");
        }
    }

    #[test]
    fn who_was_silent_may_not_send_all_at_once() {
        let bucket = Bucket::new(100_000);
        let mut sent = 0;
        while let Ok(most) = bucket.budget(100 * S) {
            bucket.pass(100 * S, most);
            sent += most;
        }
        assert_eq!(sent, 4_000, "what fits into two steps");
    }

    #[test]
    fn the_window_follows_the_bandwidth() {
        let window = |down| Bandwidths::new(Bandwidth { down, up: Some(1) }).window();
        assert_eq!(window(None), None);
        assert_eq!(window(Some(250_000)), Some(25_000));
        assert_eq!(window(Some(1)), Some(16 << 10));
        assert_eq!(window(Some(u64::MAX)), Some(4 << 20));
    }

    proptest! {
        #[test]
        fn no_bandwidth_is_exceeded(rate in 1u64..100_000_000, late in 0u64..100_000_000) {
            let most = rate as f64 * 10.04 + 2.0 * STEP_BYTES.1 as f64;
            prop_assert!((pass(rate, 10 * S, late) as f64) <= most);
        }
    }
}
