//! How fast counters grow. Pure.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

/// Least time over which a rate says anything.
const LEAST: Duration = Duration::from_millis(100);

/// The last value of one counter.
#[derive(Debug, Default)]
pub(crate) struct Rate(Option<(Duration, f64)>);

impl Rate {
    /// How much it has grown per second since the last value; `None` of the first one, and of one that was reset.
    pub(crate) fn of(&mut self, value: f64, now: Duration) -> Option<f64> {
        let (before, last) = self.0.replace((now, value))?;
        let time = now.saturating_sub(before);
        (time >= LEAST && value >= last).then(|| (value - last) / time.as_secs_f64())
    }
}

/// Counters by a key. Those that were not there the last time are forgotten.
#[derive(Debug)]
pub(crate) struct Rates<K>(HashMap<K, (Rate, Duration)>);

impl<K> Default for Rates<K> {
    fn default() -> Rates<K> {
        Rates(HashMap::new())
    }
}

impl<K: Hash + Eq> Rates<K> {
    /// The same of the counter of a key.
    pub(crate) fn of(&mut self, key: K, value: f64, now: Duration) -> Option<f64> {
        let (rate, seen) = self.0.entry(key).or_default();
        *seen = now;
        rate.of(value, now)
    }

    /// Forgets those that had no value at this time.
    pub(crate) fn forget_all_but(&mut self, now: Duration) {
        self.0.retain(|_, (_, seen)| *seen == now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_rate_is_of_two_values_of_the_same_counter() {
        let mut rate = Rate::default();
        assert_eq!(rate.of(5.0, at(1)), None);
        assert_eq!(rate.of(9.0, at(3)), Some(2.0));
        // It was reset, as by a restart.
        assert_eq!(rate.of(1.0, at(4)), None);
        assert_eq!(rate.of(2.0, at(5)), Some(1.0));
        assert_eq!(rate.of(9.0, at(5)), None);
    }

    #[test]
    fn what_has_gone_is_forgotten() {
        let mut rates = Rates::default();
        assert_eq!(rates.of("a", 1.0, at(1)), None);
        assert_eq!(rates.of("b", 1.0, at(1)), None);
        assert_eq!(rates.of("b", 4.0, at(2)), Some(3.0));
        rates.forget_all_but(at(2));
        assert_eq!(rates.of("a", 3.0, at(3)), None);
        assert_eq!(rates.of("b", 5.0, at(3)), Some(1.0));
    }
}
