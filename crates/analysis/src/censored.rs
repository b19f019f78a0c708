//! Durations of which some are censored: a request that was given up before its response was complete took
//! at least as long as it had waited. So did one that failed without a complete response (a reset, a connection that
//! was closed early) later than the median response came: its response was still to come. One that failed sooner says
//! nothing of how long responses take, and is no duration.
//!
//! Left out, they would make a target that answers every second request fast and the others never look
//! fast. So each counts with the time that it had waited, and what follows from that is a lower bound: the
//! value itself is known only if it is the same, to 1%, however long the censored ones would have taken in the end
//! (worst-case bounds: Manski, "Partial Identification of Probability Distributions", Springer 2003,
//! chapter 1). The estimator of Kaplan and Meier ("Nonparametric estimation from incomplete observations",
//! JASA 53, 1958) says more, but assumes that what was given up would have gone on like the rest, which
//! nobody knows of a request that got no response.

use std::borrow::Cow;

use squall_metrics::{Histogram, RequestStats, rank};

/// How much larger than it is given a number may be that counts as known: a hundredth, about what histograms resolve.
const TOLERANCE: f64 = 1.01;

/// A number, or between what it lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounded {
    /// The number, or what it is at least.
    pub value: f64,
    /// What it is at most; infinite: nothing bounds it.
    pub at_most: f64,
}

impl Bounded {
    /// A number that is known.
    pub fn exact(value: f64) -> Bounded {
        Bounded { value, at_most: value }
    }

    /// Whether its value is no more than a lower bound of it.
    pub fn is_lower_bound(&self) -> bool {
        self.at_most > self.value * TOLERANCE
    }
}

/// Durations of what was completed, and how long what was not had waited.
#[derive(Debug, Clone)]
pub struct Durations<'r> {
    /// Of what was completed, in µs.
    pub complete: &'r Histogram,
    /// Of what was given up, or failed later than the median of what was completed, in µs.
    pub waited: Cow<'r, Histogram>,
}

impl<'r> Durations<'r> {
    /// Latencies of requests, with the time that those waited who got no response.
    pub fn of(row: &'r RequestStats) -> Durations<'r> {
        Durations::with_failed(&row.latency, &row.waited, &row.failed_after)
    }

    pub fn corrected(row: &'r RequestStats) -> Durations<'r> {
        let complete = &row.corrected_latency;
        Durations::with_failed(complete, &row.corrected_waited, &row.corrected_failed_after)
    }

    fn with_failed(
        complete: &'r Histogram,
        waited: &'r Histogram,
        failed_after: &Histogram,
    ) -> Durations<'r> {
        let mut waited = Cow::Borrowed(waited);
        // Where there is no response nobody knows when one would have come.
        if !failed_after.is_empty() && !complete.is_empty() {
            let median = complete.percentile(50.0);
            for (low, _, count) in failed_after.buckets().filter(|(low, ..)| *low > median) {
                waited.to_mut().record_n(low, count);
            }
        }
        Durations { complete, waited }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.complete.count().saturating_add(self.waited.count())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// A percentile, in µs: the value of that rank (see [`Histogram::percentile`]) if each that was given up
    /// counts with the time that it had waited, and at most what it would be were they endless. `None`: there is no value.
    pub fn percentile(&self, p: f64) -> Option<Bounded> {
        if self.is_empty() {
            return None;
        }
        let rank = rank(p, self.count());
        let value = self.at_rank(rank) as f64;
        let if_endless = (rank <= self.complete.count()).then(|| self.complete.at_rank(rank));
        let at_most = if_endless.map_or(f64::INFINITY, |at_most| at_most as f64);
        Some(Bounded { value, at_most: at_most.max(value) })
    }

    /// The value of a rank, in µs.
    fn at_rank(&self, rank: u64) -> u64 {
        let most = self.complete.max();
        let complete =
            self.complete.buckets().map(|(low, width, count)| (low, low + width - 1, count, true));
        let waited = self.waited.buckets().map(|(low, _, count)| (low, low, count, false));
        let (mut complete, mut waited) = (complete.peekable(), waited.peekable());
        let (mut seen, mut last) = (0u64, 0);
        while seen < rank {
            // What was completed in the same bucket comes first.
            let next = match (complete.peek(), waited.peek()) {
                (Some(done), Some(given_up)) if done.0 > given_up.0 => waited.next(),
                (Some(_), _) => complete.next(),
                (None, _) => waited.next(),
            };
            let Some((_, value, count, is_of_complete)) = next else { break };
            seen = seen.saturating_add(count);
            last = if is_of_complete { value.min(most) } else { value };
        }
        last
    }

    /// The mean, in µs, within the smallest and the largest value as [`Histogram::mean`] is. `None`: there is no value.
    pub fn mean(&self) -> Option<Bounded> {
        let (min, max) = (self.min()?.value, self.max()?.value);
        let sum = self.complete.sum() + self.waited.sum();
        Some(self.bounded((sum / self.count() as f64).max(min).min(max)))
    }

    /// The largest one, in µs. `None`: there is no value.
    pub fn max(&self) -> Option<Bounded> {
        let max = self.complete.max().max(self.waited.max());
        (!self.is_empty()).then(|| self.bounded(max as f64))
    }

    /// The smallest one, in µs. `None`: there is no value.
    pub fn min(&self) -> Option<Bounded> {
        let smallest = |of: &Histogram| (!of.is_empty()).then(|| of.min());
        let (complete, waited) = (smallest(self.complete), smallest(&self.waited));
        let value = [complete, waited].into_iter().flatten().min()? as f64;
        let at_most = complete.map_or(f64::INFINITY, |own| own as f64);
        Some(Bounded { value, at_most })
    }

    /// A number that every request that was given up can raise.
    fn bounded(&self, value: f64) -> Bounded {
        let at_most = if self.waited.is_empty() { value } else { f64::INFINITY };
        Bounded { value, at_most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::new();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }

    fn durations<'r>(complete: &'r Histogram, waited: &'r Histogram) -> Durations<'r> {
        Durations { complete, waited: Cow::Borrowed(waited) }
    }

    fn percentile(complete: &Histogram, waited: &Histogram, p: f64) -> (f64, bool) {
        let found = durations(complete, waited).percentile(p).expect("values");
        (found.value, found.is_lower_bound())
    }

    /// Every second request is answered after 1 to 100 µs, the others are given up after 1 ms.
    #[test]
    fn what_never_came_is_not_fast() {
        let (complete, waited) = (of(1..=100), of([1_000; 100]));
        assert_eq!(percentile(&complete, &waited, 25.0), (50.0, false));
        assert_eq!(percentile(&complete, &waited, 50.0), (100.0, false));
        assert_eq!(percentile(&complete, &waited, 50.5), (1_000.0, true));
        assert_eq!(percentile(&complete, &waited, 99.0), (1_000.0, true));
        let found = durations(&complete, &waited);
        let endless = f64::INFINITY;
        assert_eq!(found.max(), Some(Bounded { value: 1_000.0, at_most: endless }));
        assert_eq!(found.mean(), Some(Bounded { value: 525.25, at_most: endless }));
        assert_eq!(found.min(), Some(Bounded::exact(1.0)));
    }

    /// What was given up early could have become anything: from there on values are bounds.
    #[test]
    fn what_was_given_up_early_makes_bounds_of_what_is_above() {
        let (complete, waited) = (of(1..=99), of([50]));
        assert_eq!(percentile(&complete, &waited, 40.0), (40.0, false));
        assert_eq!(percentile(&complete, &waited, 60.0), (59.0, true));
        assert_eq!(percentile(&complete, &waited, 100.0), (99.0, true));
        let found = durations(&complete, &waited);
        assert_eq!(found.percentile(60.0), Some(Bounded { value: 59.0, at_most: 60.0 }));
    }

    /// A few of many that were cut off leave a percentile known, if not to the last digit.
    #[test]
    fn few_that_were_given_up_change_little() {
        let (complete, waited) = (of((0..40_000).map(|i| 40_000 + i / 10)), of([20_000; 12]));
        for p in [50.0, 95.0, 99.0] {
            let found = durations(&complete, &waited).percentile(p);
            let found = found.expect("values");
            assert!(!found.is_lower_bound() && found.at_most < 45_000.0, "p{p} {found:?}");
        }
    }

    #[test]
    fn nothing_has_no_percentile() {
        let empty = Histogram::new();
        let found = durations(&empty, &empty);
        assert_eq!((found.percentile(99.0), found.mean(), found.max()), (None, None, None));
        assert_eq!(found.min(), None);
        assert_eq!(percentile(&empty, &of([7]), 1.0), (7.0, true));
    }

    /// Nine of ten are answered after 1 ms, the tenth waits for 500 ms and is then reset.
    #[test]
    fn what_failed_later_than_the_median_response_came_took_at_least_that_long() {
        let mut row = RequestStats { latency: of([1_000; 90]), ..RequestStats::default() };
        row.failed_after = of([500_000; 10]);
        let found = Durations::of(&row);
        let shown = |p| found.percentile(p).map(|own| (own.value >= 499_000.0, own.at_most));
        assert_eq!(shown(90.0), Some((false, 1_000.0)));
        assert_eq!(shown(95.0), Some((true, f64::INFINITY)));
        let mean = found.mean().expect("values");
        assert!((mean.value - 50_900.0).abs() < 100.0 && mean.is_lower_bound(), "{mean:?}");
        assert_eq!(found.count(), 100);
        // It came to the same without a schedule: corrected latencies are others.
        assert!(Durations::corrected(&row).is_empty());
    }

    #[test]
    fn what_failed_at_once_is_no_duration() {
        let mut row = RequestStats { latency: of([1_000; 10]), ..RequestStats::default() };
        row.failed_after = of([50, 200, 1_000]);
        let found = Durations::of(&row);
        assert_eq!((found.count(), found.max()), (10, Some(Bounded::exact(1_000.0))));
        // Without a response there is nothing that it could have come later than.
        row.latency.clear();
        assert!(Durations::of(&row).is_empty());
    }

    proptest! {
        #[test]
        fn without_censored_ones_it_is_the_histograms(
            values in prop::collection::vec(0u64..10_000_000, 1..200), p in 0f64..=100.0,
        ) {
            let complete = of(values);
            let expected = complete.percentile(p) as f64;
            prop_assert_eq!(percentile(&complete, &Histogram::new(), p), (expected, false));
        }

        /// However long the censored ones would have taken, the percentile is within its bounds.
        #[test]
        fn the_truth_lies_within(
            complete in prop::collection::vec(0u64..2_000, 0..50),
            waited in prop::collection::vec((0u64..2_000, 0u64..50), 1..50),
            p in 0f64..=100.0,
        ) {
            let given_up = of(waited.iter().map(|(waited, _)| *waited));
            let known = of(complete.iter().copied());
            let found = durations(&known, &given_up).percentile(p);
            let found = found.expect("values");
            let truth = of(complete.into_iter().chain(waited.iter().map(|(waited, more)| waited + more)));
            let truth = truth.percentile(p) as f64;
            prop_assert!((found.value..=found.at_most).contains(&truth), "{found:?} {truth}");
        }
    }
}
