//! Random numbers for delays and service times: fast and of good quality, not for secrets.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub(crate) use squall_base::random::mix;
use squall_base::random::{self, STEP};

/// SplitMix64 (Steele, Lea, Flood 2014): 64 bits of state, passes BigCrush. Its state only counts, so that
/// threads can share one: which of them draws does not change what is drawn next.
pub(crate) struct Random(AtomicU64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(AtomicU64::new(seed))
    }

    pub(crate) fn bits(&self) -> u64 {
        mix(self.0.fetch_add(STEP, Relaxed).wrapping_add(STEP))
    }

    /// Uniform in the half-open interval from 0 to 1.
    pub(crate) fn unit(&self) -> f64 {
        random::uniform(self.bits())
    }

    pub(crate) fn exponential(&self, mean: f64) -> f64 {
        random::exponential(mean, self.unit())
    }

    /// Normal with this mean and standard deviation.
    pub(crate) fn normal(&self, mean: f64, sd: f64) -> f64 {
        random::normal(mean, sd, self.unit(), self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What threads share draws what one that is not shared draws.
    #[test]
    fn it_draws_as_one_that_is_not_shared() {
        let (shared, mut own) = (Random::new(7), random::Random::new(7));
        assert_eq!(shared.bits(), own.next_u64());
        assert_eq!(shared.exponential(5.0), own.exponential(5.0));
        assert_eq!(shared.normal(10.0, 2.0), own.normal(10.0, 2.0));
    }
}
