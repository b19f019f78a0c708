//! What a threshold asks of a run, and what that comes to.

use squall_metrics::{
    Counters, ErrorKind, Histogram, MetricKind, MetricStats, RequestStats, THOUSANDTHS,
};

use super::apdex;
use super::level::Level;
use super::limit::Unit;
use super::subject::Subject;
use crate::censored::{Bounded, Durations};

/// The share of arrivals dropped, requests not sent or requests sent again above which an outcome names them, and from
/// which on the latter count as errors in thresholds.
pub(crate) const MAX_UNNAMED: f64 = 0.01;

/// The counter that is a gauge: virtual users that are active.
const USERS: &str = "users_active";

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Metric {
    Count,
    Errors,
    ErrorRate,
    Rate,
    /// The last value of a gauge.
    Last,
    Latency {
        corrected: bool,
        statistic: Statistic,
    },
    Counter(&'static str),
    /// The number of active users when it is looked at.
    UsersNow,
    Kind(ErrorKind),
    CutOff,
    NotSent,
    /// See [`apdex`].
    Apdex {
        target_us: u64,
    },
    /// Of a gauge that a monitor of the target samples.
    Sampled(Level),
}

/// What a threshold asks of latencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    Mean,
    Min,
    Max,
    /// A percentile, above 0 and at most 100.
    Percentile(f64),
}

impl Metric {
    pub(super) fn parse(word: &str) -> Option<Metric> {
        Some(match word {
            "count" => Metric::Count,
            "errors" => Metric::Errors,
            "error_rate" => Metric::ErrorRate,
            "rate" => Metric::Rate,
            "last" => Metric::Last,
            "cut_off" => Metric::CutOff,
            "not_sent" => Metric::NotSent,
            _ => {
                if let Some(kind) = word.strip_prefix("errors_") {
                    // What squall cut off is no error.
                    let kind = ErrorKind::from_label(kind);
                    return kind.filter(|own| *own != ErrorKind::Interrupted).map(Metric::Kind);
                }
                if let Some((name, _)) = Counters::default().named().find(|(name, _)| *name == word)
                {
                    return Some(Metric::Counter(name));
                }
                let (corrected, word) = match word.strip_prefix("corrected_") {
                    Some(rest) => (true, rest),
                    None => (false, word),
                };
                Metric::Latency { corrected, statistic: Statistic::parse(word)? }
            }
        })
    }

    pub(super) fn unit(self) -> Unit {
        match self {
            Metric::Count
            | Metric::Errors
            | Metric::CutOff
            | Metric::NotSent
            | Metric::Counter(_)
            | Metric::UsersNow
            | Metric::Kind(_) => Unit::Number,
            Metric::ErrorRate => Unit::Share,
            Metric::Rate => Unit::PerSecond,
            // What is sampled has the unit of its name.
            Metric::Last | Metric::Apdex { .. } | Metric::Sampled(_) => Unit::Plain,
            Metric::Latency { .. } => Unit::Time,
        }
    }

    /// What it is of a subject. The run has one gauge of its own, whose name is no row's and no metric's.
    pub(super) fn of_subject(self, subject: &mut Subject) -> Metric {
        match self {
            Metric::Last if subject.text == USERS => {
                subject.selector.name = None;
                Metric::UsersNow
            }
            _ => self,
        }
    }

    /// Whether it is counted by row and second, so that there is a value of it for each part of a run.
    pub(super) fn is_of_rows(self) -> bool {
        !matches!(self, Metric::Counter(_) | Metric::UsersNow | Metric::Last | Metric::Sampled(_))
    }

    /// Units in which metrics that the plan records itself may be given as well.
    pub(super) fn units_of_own(self) -> &'static [Unit] {
        match self {
            Metric::Count | Metric::Latency { corrected: false, .. } => &[Unit::Plain],
            Metric::Rate => &[Unit::Share],
            _ => &[],
        }
    }

    /// The value of a metric that the plan records itself; `None`: its kind has none. Trends with a limit that
    /// is a time are taken to be in ms.
    pub(super) fn of_own(
        self,
        kind: MetricKind,
        stats: &MetricStats,
        unit: Unit,
        elapsed_s: f64,
    ) -> Option<f64> {
        Some(match (self, kind) {
            (Metric::Count, MetricKind::Counter) => stats.sum(),
            (Metric::Count, _) => stats.count as f64,
            (Metric::Rate, MetricKind::Rate) => stats.share(),
            (Metric::Rate, _) if elapsed_s <= 0.0 => 0.0,
            (Metric::Rate, MetricKind::Counter) => stats.sum() / elapsed_s,
            (Metric::Rate, _) => stats.count as f64 / elapsed_s,
            (Metric::Last, MetricKind::Gauge) => stats.gauge()?.last,
            (Metric::Sampled(level), MetricKind::Gauge) => level.of(&stats.gauge()?, unit)?,
            (Metric::Latency { corrected: false, statistic }, MetricKind::Trend) => {
                // Thousandths of ms are µs.
                let factor = if unit == Unit::Time { 1.0 } else { THOUSANDTHS };
                statistic.of(&stats.trend)? / factor
            }
            (Metric::Latency { statistic: Statistic::Mean, .. }, MetricKind::Gauge) => {
                stats.gauge()?.mean()?
            }
            (Metric::Latency { statistic: Statistic::Min, .. }, MetricKind::Gauge) => {
                stats.gauge()?.min
            }
            (Metric::Latency { statistic: Statistic::Max, .. }, MetricKind::Gauge) => {
                stats.gauge()?.max
            }
            _ => return None,
        })
    }

    pub(super) fn of(self, row: &RequestStats, elapsed_s: f64) -> Option<Bounded> {
        Some(Bounded::exact(match self {
            Metric::Count => row.count as f64,
            Metric::Errors => row.errors as f64,
            // Of nothing there is no share.
            Metric::ErrorRate if row.count == 0 => return None,
            Metric::ErrorRate => failures(row) as f64 / row.count as f64,
            Metric::Rate if elapsed_s <= 0.0 => 0.0,
            Metric::Rate => row.count as f64 / elapsed_s,
            Metric::CutOff => row.cut_off as f64,
            Metric::NotSent => row.not_sent as f64,
            Metric::Apdex { target_us } => apdex::apdex_index(row, target_us)?,
            Metric::Kind(kind) => row
                .error_kinds
                .iter()
                .find(|(own, _)| *own == kind)
                .map_or(0.0, |(_, count)| *count as f64),
            Metric::Latency { corrected, statistic } => {
                return statistic.of_durations(latencies(row, corrected));
            }
            // `Threshold::value` reads counters from the totals, and requests have no last value and are not sampled.
            Metric::Counter(_) | Metric::UsersNow | Metric::Last | Metric::Sampled(_) => {
                return None;
            }
        }))
    }
}

/// Requests that count as errors in an error rate: errors, and those that were sent again because the target had closed
/// their connection, if they are too many for connections that were closed while they were idle.
fn failures(row: &RequestStats) -> u64 {
    let is_many = row.retries as f64 > MAX_UNNAMED * row.count as f64;
    let retries = if is_many { row.retries } else { 0 };
    row.errors.saturating_add(retries).min(row.count)
}

impl Statistic {
    /// `None`: there is no value.
    pub(crate) fn of<const BITS: u32>(self, histogram: &Histogram<BITS>) -> Option<f64> {
        (!histogram.is_empty()).then(|| match self {
            Statistic::Mean => histogram.mean(),
            Statistic::Min => histogram.min() as f64,
            Statistic::Max => histogram.max() as f64,
            Statistic::Percentile(p) => histogram.percentile(p) as f64,
        })
    }

    fn of_durations(self, durations: Durations<'_>) -> Option<Bounded> {
        match self {
            Statistic::Mean => durations.mean(),
            Statistic::Min => durations.min(),
            Statistic::Max => durations.max(),
            Statistic::Percentile(p) => durations.percentile(p),
        }
    }

    pub(super) fn parse(word: &str) -> Option<Statistic> {
        Some(match word {
            "mean" => Statistic::Mean,
            "min" => Statistic::Min,
            "max" => Statistic::Max,
            _ => {
                let p: f64 = word.strip_prefix('p')?.parse().ok()?;
                // `p999` is a common spelling of p99.9.
                let p = if word == "p999" { 99.9 } else { p };
                (p > 0.0 && p <= 100.0).then_some(Statistic::Percentile(p))?
            }
        })
    }
}

pub(super) fn latencies(row: &RequestStats, corrected: bool) -> Durations<'_> {
    if corrected { Durations::corrected(row) } else { Durations::of(row) }
}
