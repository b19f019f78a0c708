//! Error bars: how far a mean or a percentile may be from what a run without end would have shown.
//!
//! Latencies of a run depend on each other (a queue that is long stays long for a while), so that the
//! formulas for independent values promise too much. Seconds are therefore gathered into batches that
//! are long enough to be nearly independent, and the spread of the batches is what counts.

use crate::histogram::Histogram;
use crate::totals::SecondRow;

/// Most batches (Schmeiser, "Batch size effects in the analysis of simulation output", Operations
/// Research 30, 1982: more than 30 gain next to nothing, and their dependence harms).
const MOST_BATCHES: usize = 30;
/// Fewest batches from which a spread is taken.
const FEWEST_BATCHES: usize = 5;
/// Fewest values above a percentile in each batch: with less a batch knows nothing of it.
const ABOVE: f64 = 5.0;
/// Quantile of the normal distribution for 95 % confidence.
const Z: f64 = 1.959_964;

/// An interval that holds the true value with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its lower end, in µs.
    pub low: f64,
    /// Its upper end, in µs.
    pub high: f64,
    /// How it was found.
    pub method: Method,
}

/// How an interval was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// From the spread of batches' means around the mean of all.
    BatchMeans,
    /// From the spread of batches' percentiles around the percentile of all (sectioning; Asmussen
    /// and Glynn, "Stochastic Simulation", 2007, III.5; Nakayama, "Confidence intervals for quantiles
    /// using sectioning when applying variance-reduction techniques", ACM TOMACS 24, 2014).
    Sectioning,
    /// From the ranks that bound a percentile of independent values (David and Nagaraja, "Order
    /// Statistics", 3rd edition, 7.1): where there are too few values for batches.
    OrderStatistics,
}

impl Method {
    /// Name in results.
    pub fn label(self) -> &'static str {
        match self {
            Method::BatchMeans => "batch means",
            Method::Sectioning => "sectioning",
            Method::OrderStatistics => "order statistics",
        }
    }
}

/// Latencies of the steady part of a run, in batches of whole seconds.
#[derive(Debug, Clone)]
pub struct Batches {
    batches: Vec<Histogram>,
    all: Histogram,
    seconds: f64,
    requests: u64,
    errors: u64,
}

impl Batches {
    /// Gathers rows of the series, in order; what is left over after the last whole batch is counted
    /// in the last one.
    pub fn of<'a>(rows: impl Iterator<Item = &'a SecondRow>) -> Batches {
        let rows: Vec<&SecondRow> = rows.collect();
        let size = rows.len().div_ceil(MOST_BATCHES).max(1);
        let count = (rows.len() / size).max(1);
        let mut batches = vec![Histogram::new(); count];
        let mut all = Histogram::new();
        for (at, row) in rows.iter().enumerate() {
            batches[(at / size).min(count - 1)].merge(&row.latency);
            all.merge(&row.latency);
        }
        batches.retain(|batch| !batch.is_empty());
        let seconds = rows.iter().map(|row| f64::from(row.seconds)).sum();
        Batches {
            batches,
            all,
            seconds,
            requests: rows.iter().map(|row| row.requests).sum(),
            errors: rows.iter().map(|row| row.errors).sum(),
        }
    }

    /// All latencies together.
    pub fn all(&self) -> &Histogram {
        &self.all
    }

    /// Requests that are over.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Those of them that were errors.
    pub fn errors(&self) -> u64 {
        self.errors
    }

    /// Requests a second.
    pub fn rate(&self) -> f64 {
        self.requests as f64 / self.seconds.max(1.0)
    }

    /// The interval of the mean; `None`: too few batches.
    pub fn mean(&self) -> Option<Interval> {
        let mean = self.all.mean();
        let half = self.half(mean, Histogram::mean)?;
        Some(Interval {
            low: (mean - half).max(0.0),
            high: mean + half,
            method: Method::BatchMeans,
        })
    }

    /// The interval of a percentile; `None`: too few values.
    pub fn percentile(&self, p: f64) -> Option<Interval> {
        let above = (100.0 - p).min(p) / 100.0;
        let enough = self.batches.iter().all(|batch| batch.count() as f64 * above >= ABOVE);
        let value = self.all.percentile(p) as f64;
        if enough && let Some(half) = self.half(value, |batch| batch.percentile(p) as f64) {
            let low = (value - half).max(0.0);
            return Some(Interval { low, high: value + half, method: Method::Sectioning });
        }
        by_rank(&self.all, p)
    }

    /// How many seconds longer a run had to be to know a value to ± 5 %, if its interval shrinks with
    /// the root of the time, as intervals do; 0: it is known so well.
    pub fn longer_s(&self, value: f64, interval: &Interval) -> f64 {
        let half = (interval.high - interval.low) / 2.0;
        let wanted = 0.05 * value;
        if wanted <= 0.0 || half <= wanted {
            return 0.0;
        }
        self.seconds * ((half / wanted).powi(2) - 1.0)
    }

    /// Half the width of an interval around a value, from the same value of each batch.
    fn half(&self, value: f64, of: impl Fn(&Histogram) -> f64) -> Option<f64> {
        let count = self.batches.len();
        if count < FEWEST_BATCHES {
            return None;
        }
        let squares: f64 = self.batches.iter().map(|batch| (of(batch) - value).powi(2)).sum();
        let deviation = (squares / (count - 1) as f64).sqrt();
        Some(student(count - 1) * deviation / (count as f64).sqrt())
    }
}

/// The interval of a percentile between two values whose ranks bound it: the number of values below
/// the percentile is binomial, here by its normal approximation.
fn by_rank(all: &Histogram, p: f64) -> Option<Interval> {
    let (n, share) = (all.count() as f64, p / 100.0);
    if all.count() < crate::samples_needed(p) {
        return None;
    }
    let spread = Z * (n * share * (1.0 - share)).sqrt();
    let low = (n * share - spread).floor().max(1.0);
    let high = (n * share + spread).ceil() + 1.0;
    let at = |rank: f64| all.percentile((rank / n * 100.0).min(100.0)) as f64;
    Some(Interval { low: at(low), high: at(high), method: Method::OrderStatistics })
}

/// The 97.5 % quantile of Student's t with so many degrees of freedom (Abramowitz and Stegun,
/// "Handbook of Mathematical Functions", 26.7.5: right to three digits from 4 degrees on).
fn student(freedom: usize) -> f64 {
    let (z, v) = (Z, freedom.max(1) as f64);
    z + (z.powi(3) + z) / (4.0 * v)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * v * v)
        + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * v.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_student() {
        for (freedom, expected) in
            [(4, 2.776), (9, 2.262), (19, 2.093), (29, 2.045), (1_000, 1.962)]
        {
            assert!((student(freedom) - expected).abs() < 0.01, "{freedom} {}", student(freedom));
        }
    }

    /// Exponential latencies, independent: mean 1,000 µs, p99 4,605 µs.
    fn run(seed: u64, seconds: u32, rate: u64) -> Batches {
        // SplitMix64; seeds are far apart in its one long cycle.
        let mut state = (seed + 1).wrapping_mul(0xD134_2543_DE82_EF95);
        let mut chance = || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        };
        let rows: Vec<SecondRow> = (0..seconds)
            .map(|second| {
                let mut row = SecondRow { second, seconds: 1, ..SecondRow::default() };
                (0..rate).for_each(|_| row.latency.record((-1e3 * (1.0 - chance()).ln()) as u64));
                row
            })
            .collect();
        Batches::of(rows.iter())
    }

    /// The promise of 95 %: of 200 runs, about 190 must hold the true value (190 ± 3 standard errors).
    #[test]
    fn intervals_hold_what_they_promise() {
        let covered = |of: &dyn Fn(&Batches) -> Option<Interval>, truth: f64, seconds, rate| {
            let holds = |seed: &u64| {
                let interval = of(&run(*seed, seconds, rate)).expect("enough values");
                interval.low <= truth && truth <= interval.high
            };
            (0..200).filter(holds).count()
        };
        let mean = covered(&|run| run.mean(), 999.5, 40, 100);
        assert!((181..=199).contains(&mean), "mean {mean}");
        let p50 = covered(&|run| run.percentile(50.0), 693.0, 40, 100);
        assert!((181..=199).contains(&p50), "p50 {p50}");
        let p99 = covered(&|run| run.percentile(99.0), 4_605.0, 40, 1_000);
        assert!((181..=199).contains(&p99), "p99 by sectioning {p99}");
        let ranks = covered(&|run| run.percentile(99.0), 4_605.0, 40, 50);
        assert!((181..=200).contains(&ranks), "p99 by ranks {ranks}");
    }

    #[test]
    fn few_values_have_no_interval() {
        let short = run(1, 3, 10);
        assert_eq!((short.mean(), short.percentile(99.0)), (None, None));
        let median = short.percentile(50.0).expect("thirty values");
        assert_eq!(median.method, Method::OrderStatistics);
        let long = run(1, 40, 100);
        let p99 = long.percentile(99.0).expect("4,000 values");
        assert_eq!(p99.method, Method::OrderStatistics, "one value a second lies above");
        let more = long.longer_s(long.all().percentile(99.0) as f64, &p99);
        assert!(more > 1.0 && more < 1_000.0, "{more}");
        assert_eq!(long.longer_s(1e9, &p99), 0.0);
    }
}
