//! What a comparison of two runs comes to: plain data.

use squall_metrics::RowKey;

use super::estimate::Estimate;
use super::measure::Measure;

/// The chance that a comparison of two equal runs finds any change.
pub(super) const FALSE_ALARM: f64 = 0.05;
/// Changes below are no matter: a value whose interval lies within is the same. As a share, or in points of errors.
pub(super) const SAME: (f64, f64) = (0.05, 0.005);

/// What is said of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceResult {
    /// It is more than chance, with all others that were looked at.
    Changed,
    /// Whatever there is of a change is below 5%, or half a percentage point of errors.
    Same,
    /// There may be a change or not: the runs are too short, or vary too much.
    Unclear,
    Unknown,
}

impl DifferenceResult {
    pub fn word(self) -> &'static str {
        match self {
            DifferenceResult::Changed => "changed",
            DifferenceResult::Same => "same",
            DifferenceResult::Unclear => "unclear",
            DifferenceResult::Unknown => "unknown",
        }
    }
}

/// How a measure differs between two runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    pub measure: Measure,
    /// What it was in the first run; `None`: it has no such value.
    pub before: Option<Estimate>,
    /// What it was in the second.
    pub after: Option<Estimate>,
    /// By how much it changed: as a share of what it was, or in points ([`Measure::scale`]).
    pub change: Option<f64>,
    /// The lower end of the 95% confidence interval of that.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The probability of so large a change, or a larger one, between two equal runs; `None`: it is not known.
    pub p: Option<f64>,
    /// What is said of it.
    pub result: DifferenceResult,
    /// Its standard error: of the logarithm of the ratio, or in points; `None`: it is not known.
    pub error: Option<f64>,
    /// The part of that which is between runs: longer ones do not make it smaller, more do.
    pub between_runs: f64,
    /// Why nothing is known of how far it may be chance.
    pub why: Option<&'static str>,
    /// Of one that is unclear, how much more would probably tell.
    pub needed: Option<Needed>,
}

/// How a row differs between two runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RowComparison {
    /// What identifies it; `None`: all requests together.
    pub key: Option<RowKey>,
    /// Each of [`super::MEASURES`].
    pub differences: Vec<Difference>,
    /// How each percentile of [`super::GRID`] moved, with bands that hold all together with 95% confidence: the shift
    /// function (Doksum, "Empirical probability plots and statistical inference for nonlinear models in the
    /// two-sample case", Annals of Statistics 2, 1974). Empty: the distribution is not known.
    pub shift: Vec<Difference>,
    /// Its mean latency by block, in µs, in the first run and in the second; empty: not known.
    pub curves: [Vec<f64>; 2],
}

/// Two runs side by side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Comparison {
    /// The rows that both have.
    pub rows: Vec<RowComparison>,
    /// Rows of the first alone.
    pub only_before: Vec<RowKey>,
    /// Rows of the second alone.
    pub only_after: Vec<RowKey>,
    /// How many differences were tested.
    pub tests: usize,
}

impl RowComparison {
    /// Its differences that are more than chance.
    pub fn changed(&self) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(|own| own.result == DifferenceResult::Changed)
    }

    /// The difference of a measure.
    pub fn of(&self, measure: Measure) -> Option<&Difference> {
        self.differences.iter().find(|own| own.measure == measure)
    }
}

impl Difference {
    /// Whether its interval excludes that there is none.
    pub fn excludes_none(&self) -> bool {
        self.low.is_some_and(|low| low > 0.0) || self.high.is_some_and(|high| high < 0.0)
    }
}

/// What would probably tell: one of the two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Needed {
    /// Each run of so many seconds; `None`: longer runs would not tell, as runs vary too much between each other.
    pub seconds: Option<f64>,
    /// So many runs a side, as long as these.
    pub runs: u64,
}
