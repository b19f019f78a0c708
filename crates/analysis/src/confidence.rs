//! Confidence intervals: how far a mean, a percentile or a rate may be from what an endless run would
//! have shown; or a lower bound, or the reason why there is none.
//!
//! The latencies of a run are correlated (a queue that is long stays long for a while), so formulas for
//! independent values promise too much. Everything here follows from how much seconds differ, and from
//! how much of that they have in common with their neighbours ([`long_run`]). That intervals hold what they
//! promise is tested on series with known answers (`tests/intervals.rs`, `examples/series`).

use crate::long_run::{LongRun, Z, long_run};
use squall_metrics::Histogram;

/// Fewest batches (seconds, in a short run) that say anything about how much they differ.
const MIN_BATCHES: usize = 5;
/// Fewest batches that say enough about their correlation for an upper bound of a high percentile.
const MIN_BATCHES_ABOVE: usize = 20;
/// Fewest independent values above a percentile for an upper bound. With fewer a bound would show itself
/// only in runs that happened to see no bad moment, and those know least: of simulated queues that have
/// some 2 of them, one run in a thousand shows one.
const MIN_ABOVE: f64 = 4.0;
/// So many of them are left out where there are few: that they are enough is itself seen in the run.
const LEFT_OUT: f64 = 1.0;
/// An interval of a mean that is wider than by this factor up and down (its logarithm) says nothing.
const MAX_RELATIVE: f64 = 2.0;
/// The most that negative correlation (bursts at even distances) may narrow the interval of a percentile:
/// its variance is this much of that of independent values.
const MIN_DESIGN_EFFECT: f64 = 0.4;
/// The half width for which the advice to run longer is given.
const WANTED: f64 = 0.05;
/// The margin of that advice: how wide an interval will be is itself uncertain.
const ADVICE_MARGIN: f64 = 1.3;

/// What is known about a true value with 95% confidence, in the unit of the value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Interval {
    /// It lies between two values.
    Between {
        low: f64,
        high: f64,
    },
    /// It is at least this; nothing bounds it above.
    AtLeast {
        low: f64,
        /// Why there is no upper end.
        why: Unknown,
        /// How many more seconds the run needs for an upper end, about.
        longer_s: f64,
    },
    None {
        why: Unknown,
    },
}

/// Why an interval has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// There is no value.
    Empty,
    /// Fewer than [`MIN_BATCHES`] seconds.
    Seconds,
    /// Fewer than [`MIN_BATCHES_ABOVE`] seconds.
    SecondsAbove,
    /// Too few responses above a percentile, even if they were independent.
    Responses,
    /// Too few responses above a percentile for how much they come together.
    Together,
    /// What happens in one second is felt for too much of the run.
    Memory,
}

impl Unknown {
    pub fn text(self) -> &'static str {
        match self {
            Unknown::Empty => "there was no response",
            Unknown::Seconds => "fewer than 5 steady seconds",
            Unknown::SecondsAbove => "fewer than 20 steady seconds",
            Unknown::Responses => "too few slow responses",
            Unknown::Together => "slow responses came in too few clusters to estimate this",
            Unknown::Memory => "neighbouring seconds are too strongly correlated",
        }
    }
}

impl Interval {
    /// How many seconds longer than `seconds` a run must be, about, to know this value to ±5%, or to bound
    /// it above if nothing does; 0: it is known that well already. Intervals shrink with the square root of
    /// the time; the next run may vary more than this one, for which there is a margin. `None`: unknown.
    pub fn longer_s(&self, value: f64, seconds: u64) -> Option<f64> {
        match *self {
            Interval::Between { low, high } => {
                let missing = (high - low) / 2.0 / (WANTED * value.abs());
                let longer = seconds as f64 * (missing * missing * ADVICE_MARGIN - 1.0);
                Some(if missing > 1.0 { longer } else { 0.0 })
            }
            Interval::AtLeast { longer_s, .. } => Some(longer_s),
            Interval::None { .. } => None,
        }
    }

    pub fn low(&self) -> Option<f64> {
        match *self {
            Interval::Between { low, .. } | Interval::AtLeast { low, .. } => Some(low),
            Interval::None { .. } => None,
        }
    }

    pub fn high(&self) -> Option<f64> {
        match *self {
            Interval::Between { high, .. } => Some(high),
            Interval::AtLeast { .. } | Interval::None { .. } => None,
        }
    }

    /// Why an end is missing.
    pub fn why(&self) -> Option<Unknown> {
        match *self {
            Interval::Between { .. } => None,
            Interval::AtLeast { why, .. } | Interval::None { why } => Some(why),
        }
    }
}

/// The interval of a ratio of two sums over the batches: (numerator, denominator) of each. A batch has so
/// much more of the one than its share of the other (the linearised ratio estimator; Cochran, "Sampling
/// Techniques", 3rd edition, 6.3). The interval is one of the logarithm: a ratio of positive sums, such as a
/// mean of latencies, varies by factors, and runs that are too low vary too little.
pub(crate) fn ratio_interval(batches: &[(f64, f64)]) -> Interval {
    let (of, by) = batches.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    if by <= 0.0 {
        return Interval::None { why: Unknown::Empty };
    }
    if batches.len() < MIN_BATCHES {
        return Interval::None { why: Unknown::Seconds };
    }
    if of <= 0.0 {
        return Interval::Between { low: 0.0, high: 0.0 };
    }
    let relative = deviations(batches).half() / of;
    if relative > MAX_RELATIVE {
        return Interval::None { why: Unknown::Memory };
    }
    let ratio = of / by;
    Interval::Between { low: ratio * (-relative).exp(), high: ratio * relative.exp() }
}

/// How much the numerators of all batches together vary about their share of the denominators.
pub(crate) fn deviations(batches: &[(f64, f64)]) -> LongRun {
    let (of, by) = batches.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let ratio = of / by;
    let more: Vec<f64> = batches.iter().map(|(of, by)| of - ratio * by).collect();
    long_run(&more, 1.0)
}

/// The interval of a rate, from requests and seconds of each batch.
pub(crate) fn rate_interval(load: &[(u64, u64)]) -> Interval {
    let load: Vec<(f64, f64)> =
        load.iter().map(|(requests, seconds)| (*requests as f64, *seconds as f64)).collect();
    ratio_interval(&load)
}

/// Latencies of the steady part of a run, all together and in batches of whole seconds.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    all: Histogram,
    batches: Vec<Histogram>,
    seconds: u64,
}

impl Latencies {
    /// None yet, of so many batches and seconds.
    pub(crate) fn new(batches: usize, seconds: u64) -> Latencies {
        Latencies { all: Histogram::new(), batches: vec![Histogram::new(); batches], seconds }
    }

    /// Adds latencies of a batch.
    pub(crate) fn add(&mut self, batch: usize, latencies: &Histogram) {
        self.batches[batch].merge(latencies);
        self.all.merge(latencies);
    }

    /// All of them together.
    pub fn all(&self) -> &Histogram {
        &self.all
    }

    /// The interval of the mean, in µs.
    pub fn mean(&self) -> Interval {
        let of = |batch: &Histogram| (batch.sum(), batch.count() as f64);
        let batches: Vec<(f64, f64)> = self.batches.iter().map(of).collect();
        ratio_interval(&batches)
    }

    /// The interval of a percentile, in µs: [`percentile_interval`].
    pub fn percentile(&self, p: f64) -> Interval {
        percentile_interval(self, p)
    }
}

impl Values for Latencies {
    fn count(&self) -> f64 {
        self.all.count() as f64
    }

    fn batches(&self) -> usize {
        self.batches.len()
    }

    fn seconds(&self) -> f64 {
        self.seconds as f64
    }

    fn above(&self, share: f64) -> Vec<(f64, f64)> {
        let value = self.all.percentile((1.0 - share) * 100.0);
        let of = |batch: &Histogram| (batch.count_above(value) as f64, batch.count() as f64);
        self.batches.iter().map(of).collect()
    }

    fn exceeded_by(&self, many: f64) -> (f64, f64) {
        let rank = self.all.count().saturating_sub(many as u64).max(1);
        let bucket = self.all.bucket_at_rank(rank);
        bucket.map_or((0.0, 0.0), |(low, width)| (low as f64, (low + width) as f64))
    }
}

/// Values in batches, as far as the interval of a percentile follows from them.
pub(crate) trait Values {
    /// How many there are.
    fn count(&self) -> f64;
    /// In how many batches.
    fn batches(&self) -> usize;
    /// How many seconds these cover.
    fn seconds(&self) -> f64;
    /// How many of how many lie above the value that such a share of all exceeds, by batch.
    fn above(&self, share: f64) -> Vec<(f64, f64)>;
    /// The value that so many values exceed, from below and from above.
    fn exceeded_by(&self, many: f64) -> (f64, f64);
}

/// The interval of a percentile, in the unit of the values.
///
/// Its ends are the values that so many responses exceed as may exceed the true percentile (Woodruff,
/// "Confidence intervals for medians and other position measures", JASA 47, 1952). How many may, follows
/// from a gamma distribution whose shape is the number of *independent* values above the percentile,
/// as samples by clusters are treated (Korn and Graubard, "Confidence intervals for proportions with
/// small expected number of positive counts estimated from survey data", Survey Methodology 24,
/// 1998): their number, divided by the design effect ([`design_effect`]). Its quantiles are
/// those of Wilson and Hilferty ("The distribution of chi-square", PNAS 17, 1931).
pub(crate) fn percentile_interval(values: &impl Values, p: f64) -> Interval {
    let (n, share) = (values.count(), 1.0 - p / 100.0);
    if n <= 0.0 {
        return Interval::None { why: Unknown::Empty };
    }
    if values.batches() < MIN_BATCHES {
        return Interval::None { why: Unknown::Seconds };
    }
    let alone = n * share / (1.0 - share);
    let together = Together::new(values, share);
    let independent = alone / together.for_width();
    let (fewest, most) = factors(independent - LEFT_OUT.min(independent / 2.0));
    let low = values.exceeded_by(most * share * n).0;
    let above = alone / together.for_gate();
    let why = if alone < MIN_ABOVE {
        Unknown::Responses
    } else if share < MEDIAN && values.batches() < MIN_BATCHES_ABOVE {
        Unknown::SecondsAbove
    } else if share < MEDIAN && above < MIN_ABOVE || fewest * share * n < 1.0 {
        Unknown::Together
    } else {
        return Interval::Between { low, high: values.exceeded_by(fewest * share * n).1 };
    };
    let seconds = values.seconds();
    let seconds_of_batch = seconds / values.batches() as f64;
    let for_correlation = MIN_BATCHES_ABOVE as f64 * seconds_of_batch;
    let longer_s = (seconds * MIN_ABOVE / above).max(for_correlation) - seconds;
    Interval::AtLeast { low, why, longer_s: longer_s.max(1.0) }
}

/// How much the number of values above a percentile varies, as a multiple of how much it would if they
/// were independent (Kish, "Survey Sampling", 1965, 8.2), and times what the variance may be
/// underestimated by.
fn design_effect(values: &impl Values, share: f64) -> f64 {
    let varies = deviations(&values.above(share));
    let alone = values.count() * share * (1.0 - share);
    varies.variance * varies.widening.powi(2) / alone
}

/// The share of values above the median.
const MEDIAN: f64 = 0.5;

/// How much values above a percentile come together: design effects.
struct Together {
    own: f64,
    /// At p90: ten times as many values tell better; a lucky run shows no bad moment at p99.
    at_p90: f64,
    median: f64,
    /// What the median says of this percentile, better still.
    from_median: f64,
    /// Above which one is certainly more than that of independent values.
    certain: f64,
}

impl Together {
    fn new(latencies: &impl Values, share: f64) -> Together {
        let own = design_effect(latencies, share);
        let certain = 1.0 + 4.0 * (2.0 / latencies.batches() as f64).sqrt();
        if share >= MEDIAN {
            return Together { own, at_p90: own, median: own, from_median: own, certain };
        }
        let at_p90 = if share < 0.1 { design_effect(latencies, 0.1) } else { own };
        let median = design_effect(latencies, MEDIAN);
        // In queues excursions to a higher level come together more, up to 3.5 times as much as those above
        // the median: 2.4 times at p90, 3.3 times at p99 (measured in M/M/1 at 70% and 90%).
        let steeper = 1.0 + 2.75 * (1.0 - (share / MEDIAN).sqrt());
        let from_median = 1.0 + steeper * (median - 1.0);
        Together { own, at_p90, median, from_median, certain }
    }

    /// The design effect that decides how wide an interval is: its own, and the others where they are
    /// certainly more than chance.
    fn for_width(&self) -> f64 {
        let seen = [(self.at_p90, self.at_p90), (self.median, self.from_median)];
        let certain = seen.into_iter().filter(|(seen, _)| *seen > self.certain);
        certain.map(|(_, says)| says).fold(self.own, f64::max).max(MIN_DESIGN_EFFECT)
    }

    /// The one that decides whether there is an upper bound: the largest, and as far as possible not from
    /// the few values that the bound itself is made of, so that lucky runs do not decide.
    fn for_gate(&self) -> f64 {
        self.own.max(self.at_p90).max(self.from_median).max(MIN_DESIGN_EFFECT)
    }
}

/// By which factors the number of values above the true percentile may be below and above what is expected,
/// for so many independent ones.
fn factors(independent: f64) -> (f64, f64) {
    let (a, root) = (independent, independent.sqrt());
    let at = |z: f64| (1.0 - 1.0 / (9.0 * a) + z / (3.0 * root)).max(0.0).powi(3);
    // Wilson and Hilferty's is no quantile of fewer than one any more; the normal one is larger there.
    (at(-Z), at(Z).max(1.0 + Z / root))
}

#[cfg(test)]
mod tests;
