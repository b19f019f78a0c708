//! What has to be known of a run for its summary, as plain values. Imports nothing of the summary.

use std::fmt;

use serde_json::Value;

/// A finished run.
#[derive(Debug)]
pub struct RunFacts<'r> {
    /// How long it took, in seconds.
    pub seconds: f64,
    /// All that it recorded, in any order.
    pub metrics: Vec<MetricFacts<'r>>,
    /// The same by scenario; none: nothing is known by scenario.
    pub scenarios: Vec<ScenarioFacts<'r>>,
    pub thresholds: Vec<ThresholdFacts>,
    /// The checks of all scenarios, in the order in which they are shown. One that is given twice is counted together.
    pub checks: Vec<CheckFacts>,
    /// Groups that users went through, each with those around it, the outermost first. Those of checks are known anyway.
    pub groups: Vec<Vec<String>>,
    /// What the script's `setup` returned; null: nothing.
    pub setup_data: Value,
    /// Whether the standard output is a terminal, and the standard error.
    pub is_terminal: [bool; 2],
}

/// What a scenario recorded.
#[derive(Debug)]
pub struct ScenarioFacts<'r> {
    pub name: String,
    pub metrics: Vec<MetricFacts<'r>>,
    pub checks: Vec<CheckFacts>,
    /// Groups that users went through, each with those around it.
    pub groups: Vec<Vec<String>>,
}

/// What a metric recorded, or those values of it that have some tags.
#[derive(Debug)]
pub struct MetricFacts<'r> {
    /// Its name, with tags as in `http_req_duration{name:items}`.
    pub name: String,
    pub contains: Contains,
    pub values: Values<'r>,
}

/// What the values of a metric are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contains {
    /// Plain numbers.
    Default,
    /// Times, in ms.
    Time,
    /// Bytes.
    Data,
}

/// What a metric has come to.
#[derive(Debug)]
pub enum Values<'r> {
    /// The sum of all.
    Counter(f64),
    Gauge {
        last: f64,
        min: f64,
        max: f64,
    },
    /// How many values were true, and how many there were.
    Rate {
        trues: u64,
        count: u64,
    },
    Trend(&'r dyn Distribution),
}

/// The values of a trend. Of none, everything is 0.
pub trait Distribution: fmt::Debug {
    fn count(&self) -> u64;
    fn mean(&self) -> f64;
    fn min(&self) -> f64;
    fn max(&self) -> f64;
    /// The value that `p` percent of them do not exceed.
    fn percentile(&self, p: f64) -> f64;
}

/// A threshold, and what it came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThresholdFacts {
    /// The metric, with tags as in `http_req_duration{name:items}`.
    pub metric: String,
    /// As the script has it: `p(95)<200`.
    pub expression: String,
    pub is_met: bool,
}

/// What a check came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckFacts {
    /// The groups around it, the outermost first.
    pub group: Vec<String>,
    pub name: String,
    pub passes: u64,
    pub fails: u64,
}

impl Contains {
    /// All, with their names in k6's summary.
    const NAMES: [(Contains, &'static str); 3] =
        [(Contains::Default, "default"), (Contains::Time, "time"), (Contains::Data, "data")];

    /// Its name in k6's summary.
    pub fn label(self) -> &'static str {
        let mut all = Contains::NAMES.iter();
        all.find(|(own, _)| *own == self).map_or("default", |(_, label)| label)
    }

    /// What a name of k6's summary means; plain numbers, if it is unknown.
    pub(super) fn of_label(label: &str) -> Contains {
        let mut all = Contains::NAMES.iter();
        all.find(|(_, own)| *own == label).map_or(Contains::Default, |(own, _)| *own)
    }
}
