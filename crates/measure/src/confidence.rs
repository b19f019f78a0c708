//! Confidence intervals: how far a mean, a percentile or a rate may be from what an endless run would
//! have shown.
//!
//! The latencies of a run are correlated (a queue that is long stays long for a while), so formulas for
//! independent values promise too much. Seconds are therefore grouped into batches, and the interval
//! follows from how much the batches differ, corrected for the correlation that neighbours still have.

use crate::histogram::Histogram;
use crate::series::{Series, SeriesRow};
use crate::slice::Slice;
use crate::slice_set::SliceSet;
use crate::steady::Steady;

/// Most batches (Schmeiser, "Batch size effects in the analysis of simulation output", Operations
/// Research 30, 1982: more than 30 gain next to nothing, and their dependence harms).
const MAX_BATCHES: usize = 30;
/// Fewest batches from which a spread is taken.
const MIN_BATCHES: usize = 5;
/// Highest correlation of neighbouring batches that is assumed: with more the run is far too short.
const MAX_CORRELATION: f64 = 0.9;
/// Quantile of the normal distribution for 95 % confidence.
const Z: f64 = 1.959_964;

/// An interval that holds the true value with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its lower end, in the unit of the value.
    pub low: f64,
    /// Its upper end, in the unit of the value.
    pub high: f64,
    /// How it was found.
    pub method: Method,
}

/// How an interval was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// From how much batches differ: for a ratio (latencies by requests, requests by seconds) from the
    /// spread of what each batch has more than its share; for a percentile by the ranks that bound it
    /// (Woodruff, "Confidence intervals for medians and other position measures", JASA 47, 1952), where
    /// the share of values below it is such a ratio. With the correction for what neighbouring batches
    /// have in common of Tafazzoli, Steiger and Wilson, "N-Skart: a nonsequential skewness- and
    /// autoregression-adjusted batch-means procedure for simulation analysis", IEEE Transactions on
    /// Automatic Control 56, 2011.
    Batches,
    /// From the ranks that bound a percentile of independent values (David and Nagaraja, "Order
    /// Statistics", 3rd edition, 7.1): where there are too few seconds for batches.
    OrderStatistics,
}

impl Method {
    /// Name in results.
    pub fn label(self) -> &'static str {
        match self {
            Method::Batches => "batches",
            Method::OrderStatistics => "order statistics",
        }
    }
}

/// The steady part of a run, in batches of whole seconds.
#[derive(Debug, Clone, Default)]
pub struct Batches {
    batches: Vec<Batch>,
    all: Batch,
}

/// Some seconds together.
#[derive(Debug, Clone, Default)]
struct Batch {
    latency: Histogram,
    seconds: u64,
    requests: u64,
    errors: u64,
}

impl Batch {
    fn add(&mut self, row: &SeriesRow) {
        self.seconds += u64::from(row.seconds);
        self.requests = self.requests.saturating_add(row.requests);
        self.errors = self.errors.saturating_add(row.errors);
    }
}

/// Computes [`Batches`] from all slices of a run, in any order. Only the batch that was added to last takes
/// more memory than it needs.
#[derive(Debug, Clone)]
pub struct BatchesBuilder<'s> {
    series: &'s Series,
    /// Position of the first of the rows that count, ...
    first: usize,
    /// ... how many there are, ...
    rows: usize,
    /// ... and how many belong to one batch; the rest after the last whole one belongs to the last one.
    size: usize,
    seen: SliceSet,
    /// The batch that was added to last.
    open: usize,
    batches: Batches,
}

impl<'s> BatchesBuilder<'s> {
    /// Groups those rows of the series that begin within the steady part.
    pub fn new(series: &'s Series, steady: Steady) -> BatchesBuilder<'s> {
        let first = series.rows().partition_point(|row| row.second < steady.from);
        let rest = &series.rows()[first..];
        let rows = &rest[..rest.partition_point(|row| row.second < steady.to)];
        let size = rows.len().div_ceil(MAX_BATCHES).max(1);
        let count = (rows.len() / size).max(1);
        let mut batches = Batches { batches: vec![Batch::default(); count], all: Batch::default() };
        for (at, row) in rows.iter().enumerate() {
            batches.batches[(at / size).min(count - 1)].add(row);
            batches.all.add(row);
        }
        let (rows, seen, open) = (rows.len(), SliceSet::default(), 0);
        BatchesBuilder { series, first, rows, size, seen, open, batches }
    }

    /// Adds a slice. One that was added already is left out, and so is one of another part of the run.
    pub fn add(&mut self, slice: &Slice) {
        let position = self.series.position(slice.second);
        let at = position.and_then(|at| at.checked_sub(self.first)).filter(|at| *at < self.rows);
        let Some(at) = at else { return };
        if !self.seen.insert(slice.worker, slice.second) {
            return;
        }
        let of = (at / self.size).min(self.batches.batches.len() - 1);
        if of != self.open {
            self.batches.batches[self.open].latency.compact();
            self.open = of;
        }
        for (_, row) in slice.requests() {
            self.batches.batches[of].latency.merge(&row.latency);
            self.batches.all.latency.merge(&row.latency);
        }
    }

    /// The batches.
    pub fn finish(self) -> Batches {
        self.batches
    }
}

impl Batches {
    /// All latencies together.
    pub fn all(&self) -> &Histogram {
        &self.all.latency
    }

    /// Requests that have ended.
    pub fn requests(&self) -> u64 {
        self.all.requests
    }

    /// Those of them that were errors.
    pub fn errors(&self) -> u64 {
        self.all.errors
    }

    /// Requests per second.
    pub fn rate(&self) -> f64 {
        self.all.requests as f64 / (self.all.seconds as f64).max(1.0)
    }

    /// The interval of the rate; `None`: too few seconds.
    pub fn rate_interval(&self) -> Option<Interval> {
        let half = self.half(|batch| batch.requests as f64, |batch| batch.seconds as f64)?;
        Some(around(self.rate(), half))
    }

    /// The interval of the mean; `None`: too few seconds.
    pub fn mean(&self) -> Option<Interval> {
        let half = self.half(|batch| batch.latency.sum(), |batch| batch.latency.count() as f64)?;
        Some(around(self.all().mean(), half))
    }

    /// The interval of a percentile; `None`: too few values to bound it.
    pub fn percentile(&self, p: f64) -> Option<Interval> {
        let all = self.all();
        if all.count() < crate::samples_needed(p) {
            return None;
        }
        let (share, value) = (p / 100.0, all.percentile(p));
        let above = |batch: &Batch| batch.latency.count_above(value) as f64;
        let (half, method) = match self.half(above, |batch| batch.latency.count() as f64) {
            Some(half) => (half, Method::Batches),
            None => {
                let half = Z * (share * (1.0 - share) / all.count() as f64).sqrt();
                (half, Method::OrderStatistics)
            }
        };
        // Beyond the largest value there is no bound.
        if share + half >= 1.0 {
            return None;
        }
        let at = |share: f64| all.percentile(share * 100.0) as f64;
        Some(Interval { low: at((share - half).max(0.0)), high: at(share + half), method })
    }

    /// How many seconds longer a run must be to know a value to ±5%, as intervals shrink with the square
    /// root of the time; 0: it is known that well already.
    pub fn longer_s(&self, value: f64, interval: &Interval) -> f64 {
        let half = (interval.high - interval.low) / 2.0;
        let wanted = 0.05 * value;
        if wanted <= 0.0 || half <= wanted {
            return 0.0;
        }
        self.all.seconds as f64 * ((half / wanted).powi(2) - 1.0)
    }

    /// Half the width of the interval of a ratio of two sums over the batches. Each batch has so much
    /// more of the one than its share of the other (linearised ratio estimator; Cochran, "Sampling
    /// Techniques", 3rd edition, 6.3); the spread of that is the error of the sum.
    fn half(&self, of: impl Fn(&Batch) -> f64, by: impl Fn(&Batch) -> f64) -> Option<f64> {
        let count = self.batches.len();
        let whole = by(&self.all);
        if count < MIN_BATCHES || whole <= 0.0 {
            return None;
        }
        let ratio = of(&self.all) / whole;
        let more: Vec<f64> =
            self.batches.iter().map(|batch| of(batch) - ratio * by(batch)).collect();
        let squares: f64 = more.iter().map(|more| more * more).sum();
        let deviation = (squares * count as f64 / (count - 1) as f64).sqrt();
        Some(student(count - 1) * deviation * correlation_factor(&more, squares).sqrt() / whole)
    }
}

/// The factor by which the variance of a sum of batches exceeds that of independent ones: (1 + r)/(1 - r)
/// with the correlation r of neighbours, as in an autoregressive process. The estimate of r is 1/n too
/// low in the mean (Kendall, "Note on bias in the estimation of autocorrelation", Biometrika 41, 1954).
fn correlation_factor(more: &[f64], squares: f64) -> f64 {
    if squares <= 0.0 {
        return 1.0;
    }
    let products: f64 = more.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let r = (products / squares + 1.0 / more.len() as f64).clamp(0.0, MAX_CORRELATION);
    (1.0 + r) / (1.0 - r)
}

fn around(value: f64, half: f64) -> Interval {
    Interval { low: (value - half).max(0.0), high: value + half, method: Method::Batches }
}

/// The 97.5 % quantile of Student's t with so many degrees of freedom, at least 1 (Abramowitz and
/// Stegun, "Handbook of Mathematical Functions", 26.7.5: right to three digits from 4 degrees on; below,
/// its table 26.10).
pub fn student(freedom: usize) -> f64 {
    const EXACT: [f64; 4] = [12.706, 12.706, 4.303, 3.182];
    if let Some(exact) = EXACT.get(freedom) {
        return *exact;
    }
    let (z, v) = (Z, freedom as f64);
    z + (z.powi(3) + z) / (4.0 * v)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * v * v)
        + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * v.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NameId, Sample, Totals};

    #[test]
    fn quantiles_of_student() {
        for (freedom, expected) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (9, 2.262),
            (19, 2.093),
            (29, 2.045),
            (1_000, 1.962),
        ] {
            assert!((student(freedom) - expected).abs() < 0.01, "{freedom} {}", student(freedom));
        }
    }

    /// SplitMix64; seeds are far apart in its one long cycle.
    fn chance(seed: u64) -> impl FnMut() -> f64 {
        let mut state = (seed + 1).wrapping_mul(0xD134_2543_DE82_EF95);
        move || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// Latencies in µs, each with its second.
    fn batches(latencies: impl Iterator<Item = (u32, f64)>, seconds: u32) -> Batches {
        let mut slices: Vec<Slice> = (0..seconds).map(|second| Slice::new(0, second)).collect();
        for (second, latency) in latencies {
            slices[second as usize].record(NameId(0), &Sample::ok(latency as u64));
        }
        let mut totals = Totals::new();
        slices.iter().for_each(|slice| assert!(totals.add(slice)));
        let mut series = totals.series();
        slices.iter().for_each(|slice| series.add(slice));
        let series = series.finish();
        let steady = Steady { from: 0, to: seconds, unsteady: None };
        let mut batches = BatchesBuilder::new(&series, steady);
        // The order of slices, and a slice that comes twice, make no difference.
        slices.iter().rev().chain(&slices).for_each(|slice| batches.add(slice));
        batches.finish()
    }

    /// Exponential latencies, independent: mean 1,000 µs, p99 4,605 µs.
    fn run(seed: u64, seconds: u32, rate: u32) -> Batches {
        let mut chance = chance(seed);
        let latency = |at| (at / rate, -1e3 * (1.0 - chance()).ln());
        batches((0..seconds * rate).map(latency), seconds)
    }

    /// The response times of M/M/1 at a load of 50 %, with 250 arrivals a second: exponential with a
    /// mean of 4 ms, and those of neighbours are nearly the same.
    fn queue(seed: u64, seconds: u32) -> Batches {
        let mut chance = chance(seed);
        let mut exponential = |mean: f64| -mean * (1.0 - chance()).ln();
        let (mut now, mut free, mut responses) = (0.0, 0.0, Vec::new());
        loop {
            now += exponential(4_000.0);
            free = f64::max(free, now) + exponential(2_000.0);
            // The first two seconds begin with an empty queue.
            let second = (free / 1e6) as u32;
            if second >= seconds + 2 {
                return batches(responses.into_iter(), seconds);
            }
            if second >= 2 {
                responses.push((second - 2, free - now));
            }
        }
    }

    /// Of 200 runs, in how many the interval holds the true value.
    fn covered(
        run: impl Fn(u64) -> Batches,
        of: impl Fn(&Batches) -> Option<Interval>,
        truth: f64,
    ) -> usize {
        let holds =
            |seed: &u64| of(&run(*seed)).is_some_and(|own| own.low <= truth && truth <= own.high);
        (0..200).filter(holds).count()
    }

    /// The promise of 95 %: about 190 of 200 (± 3 standard errors), and some more where the batches
    /// are independent, because the correction for what they have in common only ever widens.
    #[test]
    fn intervals_hold_what_they_promise() {
        let mean = covered(|seed| run(seed, 40, 100), Batches::mean, 999.5);
        assert!((181..=199).contains(&mean), "mean {mean}");
        let p50 = covered(|seed| run(seed, 40, 100), |run| run.percentile(50.0), 693.0);
        assert!((181..=199).contains(&p50), "p50 {p50}");
        let p99 = covered(|seed| run(seed, 40, 1_000), |run| run.percentile(99.0), 4_605.0);
        assert!((181..=199).contains(&p99), "p99 {p99}");
        let ranks = covered(|seed| run(seed, 4, 1_000), |run| run.percentile(99.0), 4_605.0);
        assert!((181..=199).contains(&ranks), "p99 by ranks {ranks}");
    }

    /// The same for correlated values. For p99 each run has only some dozens of periods with a long queue,
    /// and its intervals contain the true value in slightly fewer than 95% of runs.
    #[test]
    fn intervals_hold_for_a_queue() {
        let queue = |seed| queue(seed, 60);
        let mean = covered(queue, Batches::mean, 4_000.0);
        assert!((181..=199).contains(&mean), "mean {mean}");
        let rate = covered(queue, Batches::rate_interval, 250.0);
        assert!((181..=199).contains(&rate), "rate {rate}");
        let p50 = covered(queue, |run| run.percentile(50.0), 2_773.0);
        assert!((181..=199).contains(&p50), "p50 {p50}");
        let p99 = covered(queue, |run| run.percentile(99.0), 18_421.0);
        assert!((176..=199).contains(&p99), "p99 {p99}");
    }

    #[test]
    fn few_values_have_no_interval() {
        let short = run(1, 3, 10);
        assert_eq!((short.mean(), short.percentile(99.0)), (None, None));
        let median = short.percentile(50.0).expect("thirty values");
        assert_eq!(median.method, Method::OrderStatistics);
        let long = run(1, 40, 100);
        let p99 = long.percentile(99.0).expect("4,000 values");
        assert_eq!(p99.method, Method::Batches);
        let more = long.longer_s(long.all().percentile(99.0) as f64, &p99);
        assert!(more > 1.0 && more < 1_000.0, "{more}");
        assert_eq!(long.longer_s(1e9, &p99), 0.0);
    }
}
