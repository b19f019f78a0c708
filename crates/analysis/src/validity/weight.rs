//! What an observation weighs: by how much it may have moved what the plan asks of the run, and what the report
//! shows. What moves neither is no more than a note.

use super::facts::{Facts, Validity};
use crate::threshold::{Statistic, Threshold};
use squall_base::units::{percent, time};
use squall_metrics::Histogram;

/// A number that is shown may be off by this share of it before it is questionable (repeated runs differ by as much),
/// and by ten times as much before it is invalid.
const MAX_SHARE: f64 = 0.05;
/// A time may also be off by this many µs, and by ten times as many: nobody waits for 1 ms.
const MAX_SHIFT_US: f64 = 1_000.0;
const INVALID_FACTOR: f64 = 10.0;
/// The share of requests that may count as errors although the target never saw them.
const MAX_ERRORS: f64 = 0.01;
/// A value may have moved by this share of its distance from the limit of its threshold, ...
const MAX_OF_MARGIN: f64 = 0.05;
/// ... or by this share of the limit: a value closer to it than that is a coin toss anyway.
const MIN_OF_LIMIT: f64 = 0.01;
/// A shorter run, in s, has no throughput to speak of: what it shows is how long its requests took.
const MIN_RATE_S: f64 = 1.0;

/// The statistics of latencies that a report shows.
const SHOWN: [Statistic; 5] = [
    Statistic::Mean,
    Statistic::Percentile(50.0),
    Statistic::Percentile(90.0),
    Statistic::Percentile(95.0),
    Statistic::Percentile(99.0),
];
/// Those that say whether the latencies that an Apdex counts have moved.
const OF_APDEX: [Statistic; 3] =
    [Statistic::Percentile(50.0), Statistic::Percentile(90.0), Statistic::Percentile(95.0)];

/// By how many µs a statistic of durations may have moved.
pub(super) type Moved<'a> = Box<dyn Fn(&Histogram, Statistic) -> f64 + 'a>;

/// By how much an observation may have moved the numbers of a run, at most.
#[derive(Default)]
pub(super) struct Shift<'a> {
    /// The throughput, as a share of it.
    pub rate: f64,
    pub errors: f64,
    /// Latencies; `None`: not at all.
    pub latency: Option<Moved<'a>>,
    /// Latencies from the schedule.
    pub corrected: Option<Moved<'a>>,
    /// Whether what is said of latencies assumes the worst of the target, which nobody knows: that makes no numbers invalid.
    pub is_assumed: bool,
}

/// By how much the numbers of a run may be off at most, as shares of them; 0: not at all.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Effect {
    pub rate: f64,
    /// Of the mean, of the corrected latency where the load has a schedule.
    pub mean: f64,
    /// Of the 99th percentile, likewise.
    pub p99: f64,
    /// The same of the mean in µs.
    pub mean_us: f64,
    /// The same of the 99th percentile.
    pub p99_us: f64,
}

impl Effect {
    pub const NONE: Effect = Effect { rate: 0.0, mean: 0.0, p99: 0.0, mean_us: 0.0, p99_us: 0.0 };

    /// The effect in words.
    pub fn text(&self) -> String {
        let times = [("mean", self.mean, self.mean_us), ("p99", self.p99, self.p99_us)];
        let rate = std::iter::once(("rate", self.rate, 0.0));
        let parts = rate.chain(times).filter(|(_, share, _)| *share >= 0.000_5);
        let parts = parts.map(|(name, share, us)| match us > 0.0 {
            true => format!("{name} by up to {} ({})", percent(share), time(us)),
            false => format!("{name} by up to {}", percent(share)),
        });
        let text = parts.collect::<Vec<_>>().join(", ");
        if text.is_empty() { "none".to_owned() } else { text }
    }
}

impl<'a> Shift<'a> {
    /// Of the throughput alone.
    pub fn of_rate(share: f64) -> Shift<'a> {
        Shift { rate: share.clamp(0.0, 1.0), ..Shift::default() }
    }

    /// The same, and at least so much of the throughput.
    pub fn and_rate(self, share: f64) -> Shift<'a> {
        Shift { rate: self.rate.max(share.clamp(0.0, 1.0)), ..self }
    }

    /// By how many µs a statistic of these durations may have moved: by no more than it is.
    fn by(moved: &Option<Moved<'a>>, durations: &Histogram, statistic: Statistic) -> f64 {
        let (Some(moved), Some(value)) = (moved, statistic.of(durations)) else { return 0.0 };
        moved(durations, statistic).clamp(0.0, value)
    }

    /// The effect on what the report shows of the run as a whole.
    pub fn effect(&self, facts: &Facts<'_>) -> Effect {
        let (latency, corrected) = (&facts.all.latency, &facts.all.corrected_latency);
        let largest = |statistic: Statistic| {
            let of = |moved: &Option<Moved<'a>>, durations: &Histogram| {
                let us = Shift::by(moved, durations, statistic);
                (us / statistic.of(durations).unwrap_or(0.0).max(1.0), us)
            };
            let (own, other) = (of(&self.latency, latency), of(&self.corrected, corrected));
            if own.0 > other.0 { own } else { other }
        };
        let ((mean, mean_us), (p99, p99_us)) =
            (largest(Statistic::Mean), largest(Statistic::Percentile(99.0)));
        Effect { rate: self.rate, mean, p99, mean_us, p99_us }
    }

    /// How far the numbers of the run can be trusted with it.
    pub fn weight(&self, facts: &Facts<'_>) -> Validity {
        let asked = facts.thresholds.iter().map(|threshold| self.weight_of(facts, threshold));
        asked.fold(self.weight_of_shown(facts), Validity::max)
    }

    /// What it weighs by the numbers of the report.
    fn weight_of_shown(&self, facts: &Facts<'_>) -> Validity {
        let rate = match facts.elapsed_s >= MIN_RATE_S {
            true => weight_of_share(self.rate),
            false => Validity::Valid,
        };
        let latency = weight_of_times(&self.latency, &facts.all.latency).min(self.most());
        // What is late by squall's own fault is in the corrected latency alone; the latency stands.
        let corrected = match facts.shows_corrected {
            true => weight_of_times(&self.corrected, &facts.all.corrected_latency),
            false => Validity::Valid,
        };
        let errors = weight_of(self.errors, MAX_ERRORS);
        rate.max(errors).max(latency).max(corrected.min(Validity::Questionable))
    }

    /// What it weighs at most by latencies.
    fn most(&self) -> Validity {
        if self.is_assumed { Validity::Questionable } else { Validity::Invalid }
    }

    /// What it weighs by a threshold: invalid, if it may have decided the result.
    fn weight_of(&self, facts: &Facts<'_>, threshold: &Threshold) -> Validity {
        let Some(result) = facts.result_of(threshold) else { return Validity::Valid };
        let (Some(value), None) = (result.value, threshold.phase()) else { return Validity::Valid };
        if threshold.is_of_apdex() {
            return self.weight_of_apdex(facts, threshold);
        }
        let mut most = Validity::Invalid;
        let (by, is_noticeable) = match threshold.of_latency() {
            Some((statistic, corrected)) => {
                let row = facts.totals.select(threshold.selector()).unwrap_or_default();
                let by = match corrected {
                    true => Shift::by(&self.corrected, &row.corrected_latency, statistic),
                    false => {
                        most = self.most();
                        Shift::by(&self.latency, &row.latency, statistic)
                    }
                };
                (by, by > (MAX_SHARE * value).max(MAX_SHIFT_US))
            }
            None if threshold.is_of_rate() => (self.rate * value, self.rate > MAX_SHARE),
            None if result.metric == "error_rate" => (self.errors, self.errors > MAX_ERRORS),
            None => return Validity::Valid,
        };
        let margin = (result.limit - value).abs();
        if by <= MAX_OF_MARGIN * margin || by <= MIN_OF_LIMIT * result.limit.abs() {
            return Validity::Valid;
        }
        let weight =
            if by >= margin && is_noticeable { Validity::Invalid } else { Validity::Questionable };
        weight.min(most)
    }

    /// What it weighs by an Apdex, which counts how many latencies are on which side of two times: nobody can tell by how
    /// much that moves, but hardly at all where no latency moves noticeably.
    fn weight_of_apdex(&self, facts: &Facts<'_>, threshold: &Threshold) -> Validity {
        let row = facts.totals.select(threshold.selector()).unwrap_or_default();
        weight_among(&OF_APDEX, &self.latency, &row.latency).min(Validity::Questionable)
    }
}

/// What a share of anything weighs of which 5% may be off.
pub(super) fn weight_of_share(share: f64) -> Validity {
    weight_of(share, MAX_SHARE)
}

/// What a shift weighs that may be so large.
fn weight_of(shift: f64, most: f64) -> Validity {
    match shift {
        shift if shift > INVALID_FACTOR * most => Validity::Invalid,
        shift if shift > most => Validity::Questionable,
        _ => Validity::Valid,
    }
}

/// What it weighs by the statistics that are shown of some durations.
fn weight_of_times(moved: &Option<Moved<'_>>, durations: &Histogram) -> Validity {
    weight_among(&SHOWN, moved, durations)
}

/// What it weighs by these statistics of some durations.
fn weight_among(
    statistics: &[Statistic],
    moved: &Option<Moved<'_>>,
    durations: &Histogram,
) -> Validity {
    let weights = statistics.iter().map(|statistic| {
        let value = statistic.of(durations).unwrap_or(0.0);
        weight_of(Shift::by(moved, durations, *statistic), (MAX_SHARE * value).max(MAX_SHIFT_US))
    });
    weights.max().unwrap_or(Validity::Valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_told_in_shares_and_in_time() {
        assert_eq!(Effect::NONE.text(), "none");
        let effect = Effect { rate: 0.019, p99: 0.95, p99_us: 1_200.0, ..Effect::NONE };
        assert_eq!(effect.text(), "rate by up to 1.9%, p99 by up to 95% (1.20 ms)");
        assert_eq!(Shift::of_rate(3.0).and_rate(0.5).rate, 1.0);
    }
}
