//! What a threshold comes to.

/// What stands between the value of the worst window and its first second.
pub(super) const FROM: &str = ", from second ";

/// The result of a threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdResult {
    /// The threshold as it was written.
    pub text: String,
    /// The name that it is about; `None`: it names none.
    pub name: Option<String>,
    /// What it is about, as it was written between the parentheses; empty: all requests.
    pub subject: String,
    /// The metric: `p99`, `error_rate`.
    pub metric: String,
    /// How the value is compared: `<`, `<=`, `>`, `>=`, `==`, `!=`.
    pub op: String,
    /// The limit, in `unit`.
    pub limit: f64,
    /// `us`, `per_second`, `share` (of 1), or `number`.
    pub unit: String,
    pub passed: bool,
    /// The measured value, in `unit`; `None`: nothing was counted.
    pub value: Option<f64>,
    /// Whether the value is only known to be at least that.
    pub at_least: bool,
    /// The measured value as a person reads it, or why there is none.
    pub shown: String,
    /// The length of its moving window, in seconds; `None`: it is about the whole run.
    pub over_s: Option<u32>,
    /// The second with which the worst window begins, whose value it is; `None`: there is none.
    pub worst_from_s: Option<u32>,
}

impl ThresholdResult {
    /// Whether it fails so far, in a run that goes on. Before its first window is over, a moving window has no value and is not
    /// judged; if it still has none when the run is over, it has failed.
    pub fn fails_so_far(&self) -> bool {
        !self.passed && (self.value.is_some() || self.over_s.is_none())
    }

    /// The measured value as a person reads it, without where its worst window lies; or why there is none.
    pub fn shown_alone(&self) -> &str {
        self.shown.split_once(FROM).map_or(&*self.shown, |(value, _)| value)
    }
}
