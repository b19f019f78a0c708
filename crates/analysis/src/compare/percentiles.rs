//! How a percentile differs between two sides, from how many latencies of each block lie above it.
//!
//! Two sides have the same percentile if the same share of both lies above a value that is the percentile of both
//! together: the median test (Mood, "On the asymptotic efficiency of certain nonparametric two-sample tests", Annals of
//! Mathematical Statistics 25, 1954; Gastwirth, "The first-median test", JASA 63, 1968) at another quantile, with the
//! variance of shares in clusters (Rao and Scott, "A simple method for the analysis of clustered binary data", Biometrics
//! 48, 1992), the clusters being blocks of seconds whose neighbours are correlated ([`super::spread`]). Whether the second
//! side is slower by a factor is the same question of its latencies divided by that factor; so the interval of the change
//! is all factors that the test does not reject (Hodges and Lehmann, "Estimates of location based on rank tests", Annals
//! of Mathematical Statistics 34, 1963).
//!
//! Why this rather than an interval of each run, or a bootstrap over blocks: the upper end of the p95 of *one* short run
//! is beyond its largest value, so there is none; of two, those of the one that were slow are seen by the other as well.
//! A bootstrap over the few blocks of a short run draws from these alone, and is too sure where they are correlated
//! (Lahiri, "Resampling Methods for Dependent Data", 2003, 3).

use squall_metrics::{COARSE, Histogram};

use super::sketch::RowSketch;
use super::spread::{CORRELATED, Pairs, Ratio, Spread, spread};
use crate::long_run::{Z, t_quantile};

/// The largest factor that is looked at, as a logarithm; beyond it there is no end of the interval.
const MOST: f64 = 4.6;
/// By how much the search for an end begins.
const FIRST: f64 = 0.02;
/// How often it halves what it has found.
const HALVES: usize = 12;

/// Latencies, so that those above a value are counted quickly; those in a bucket lie evenly in it.
struct Tail {
    /// Lowest value and width of each bucket, and how many lie in it or above.
    buckets: Vec<(f64, f64, f64)>,
}

impl Tail {
    fn new<const BITS: u32>(latency: &Histogram<BITS>) -> Tail {
        let mut buckets: Vec<(f64, f64, f64)> = latency
            .buckets()
            .map(|(low, width, count)| (low as f64, width as f64, count as f64))
            .collect();
        let mut above = 0.0;
        for (_, _, count) in buckets.iter_mut().rev() {
            above += *count;
            *count = above;
        }
        Tail { buckets }
    }

    fn count(&self) -> f64 {
        self.buckets.first().map_or(0.0, |(.., count)| *count)
    }

    fn above(&self, value: f64) -> f64 {
        let at = self.buckets.partition_point(|(low, width, _)| low + width <= value);
        let Some((low, width, count)) = self.buckets.get(at) else { return 0.0 };
        let next = self.buckets.get(at + 1).map_or(0.0, |(.., count)| *count);
        next + (count - next) * ((low + width - value) / width).min(1.0)
    }

    /// The lowest and the highest value.
    fn ends(&self) -> Option<(f64, f64)> {
        let (first, last) = (self.buckets.first()?, self.buckets.last()?);
        Some((first.0, last.0 + last.1))
    }
}

/// The latencies of a row of a side.
pub(super) struct Tails {
    all: Tail,
    /// By run and block.
    runs: Vec<Vec<Tail>>,
}

impl Tails {
    pub fn new(row: &RowSketch) -> Tails {
        let runs =
            row.runs.iter().map(|run| run.iter().map(|block| Tail::new(&block.latency)).collect());
        let mut all = Histogram::<COARSE>::new();
        row.blocks().for_each(|block| all.merge(&block.latency));
        Tails { all: Tail::new(&all), runs: runs.collect() }
    }

    /// How many of how many lie above a value, by run and block.
    fn above(&self, value: f64) -> Vec<Pairs> {
        let run = |run: &Vec<Tail>| run.iter().map(|own| (own.above(value), own.count())).collect();
        self.runs.iter().map(run).collect()
    }
}

/// A percentile of two sides.
pub(super) struct Percentiles<'t> {
    pub before: &'t Tails,
    pub after: &'t Tails,
    /// The share of latencies above it.
    pub share: f64,
}

/// How far two sides are from having the same percentile.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    /// So many standard errors; above 0 the second side has the higher one.
    pub z: f64,
    /// The degrees of freedom of these.
    pub freedom: f64,
}

impl Percentiles<'_> {
    /// How far the sides are from each other if the second were faster by a factor, given as its logarithm. `None`: a
    /// side has no latencies, or too few blocks.
    pub fn evidence(&self, by: f64) -> Option<Evidence> {
        let factor = by.exp();
        let value = self.common(factor)?;
        let before = Ratio::new(&self.before.above(value))?;
        let after = Ratio::new(&self.after.above(value * factor))?;
        // Were they the same, this would be the share of both; a run without a slow moment varies no less.
        let floor = |count: f64| count * self.share * (1.0 - self.share);
        let Spread { error, freedom, correlation } = spread([&before, &after], [1.0, 1.0], floor);
        // Shares above a value that wanders are skewed, and seem less correlated than they are.
        let wider = if correlation > CORRELATED { t_quantile(freedom) / Z } else { 1.0 };
        Some(Evidence { z: (after.value - before.value) / (error * wider), freedom })
    }

    /// The percentile of both sides together, of the second divided by a factor.
    fn common(&self, factor: f64) -> Option<f64> {
        let (before, after) = (&self.before.all, &self.after.all);
        let ends = (before.ends()?, after.ends()?);
        let wanted = self.share * (before.count() + after.count());
        let (mut low, mut high) =
            (ends.0.0.min(ends.1.0 / factor), ends.0.1.max(ends.1.1 / factor));
        while high - low > 1e-4 * high {
            let middle = (low + high) / 2.0;
            let above = before.above(middle) + after.above(middle * factor);
            if above > wanted { low = middle } else { high = middle }
        }
        Some((low + high) / 2.0)
    }

    /// How far the end of the interval of the change lies from the change `by` (its logarithm), above it or below, at 95%
    /// confidence, and the quantile of t that belongs to it. `None`: any such change may be.
    pub fn end(&self, by: f64, is_above: bool) -> Option<(f64, f64)> {
        let sign = if is_above { 1.0 } else { -1.0 };
        let rejects = |far: f64| {
            let found = self.evidence(by + sign * far)?;
            let quantile = t_quantile(found.freedom);
            (-sign * found.z >= quantile).then_some(quantile)
        };
        let (mut low, mut high) = (0.0, FIRST);
        let mut quantile = loop {
            match rejects(high) {
                Some(quantile) => break quantile,
                None if high >= MOST => return None,
                None => (low, high) = (high, (2.0 * high).min(MOST)),
            }
        };
        for _ in 0..HALVES {
            let middle = (low + high) / 2.0;
            match rejects(middle) {
                Some(found) => (high, quantile) = (middle, found),
                None => low = middle,
            }
        }
        Some((high, quantile))
    }

    /// The standard error of the change `by` toward another, both logarithms: how far they are, in what the test takes
    /// for one standard error. `None`: nothing tells them apart.
    pub fn error_toward(&self, by: f64, other: f64) -> Option<(f64, f64)> {
        let found = self.evidence(other)?;
        let z = if by >= other { found.z } else { -found.z };
        (z > 0.0).then(|| ((by - other).abs() / z, found.freedom))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_above_a_value_is_counted_in_parts_of_buckets() {
        let mut latency = Histogram::<COARSE>::new();
        // Buckets of 8 µs.
        latency.record_n(1_024, 10);
        latency.record_n(1_032, 20);
        let tail = Tail::new(&latency);
        let above =
            [0.0, 1_024.0, 1_028.0, 1_032.0, 1_036.0, 1_040.0, 1e9].map(|at| tail.above(at));
        assert_eq!(above, [30.0, 30.0, 25.0, 20.0, 10.0, 0.0, 0.0]);
        assert_eq!(Tail::new(&Histogram::<COARSE>::new()).above(5.0), 0.0);
    }
}
