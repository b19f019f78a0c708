//! k6's summary as data: what `handleSummary` gets, and what the text and the exported file are made of. Pure.

use serde_json::Value;
use squall_script::MetricKind;

use super::facts::{Contains, MetricFacts, RunFacts, ScenarioFacts, ThresholdFacts, Values};
use super::group::{Check, Group};
use super::number::TimeUnit;
use super::selector::Selector;
use super::statistic::{SHOWN, Statistic, of_expression};

/// A run as k6 sums it up.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SummaryData {
    /// By name; those with tags, as `http_req_duration{name:items}`, stand behind the one that they are a part of.
    pub metrics: Vec<Metric>,
    pub root_group: Group,
    pub options: SummaryOptions,
    pub state: State,
    /// What the script's `setup` returned; null: nothing.
    pub setup_data: Value,
    /// The same by scenario, for the full text; k6's JSON does not have it.
    pub scenarios: Vec<ScenarioData>,
}

/// What a scenario came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScenarioData {
    pub name: String,
    pub metrics: Vec<Metric>,
    pub root_group: Group,
}

/// How the summary is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryOptions {
    /// The numbers of trends (`summaryTrendStats`), see [`Statistic::parse`]; those that are unknown are left out.
    pub trend_stats: Vec<String>,
    /// The unit of all times (`summaryTimeUnit`); `None`: the one that fits each best.
    pub time_unit: Option<TimeUnit>,
    /// Whether the text has to be without colours.
    pub no_color: bool,
}

impl Default for SummaryOptions {
    fn default() -> SummaryOptions {
        let trend_stats = SHOWN.map(str::to_owned).to_vec();
        SummaryOptions { trend_stats, time_unit: None, no_color: false }
    }
}

/// What the run was like.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct State {
    pub is_stdout_terminal: bool,
    pub is_stderr_terminal: bool,
    /// In ms.
    pub duration_ms: f64,
}

/// A metric, or those of its values that have some tags.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Its name, with tags as in `http_req_duration{name:items}`.
    pub name: String,
    pub kind: MetricKind,
    pub contains: Contains,
    /// Its numbers by their names in k6's summary: `count` and `rate` of a counter, `value`, `min` and `max` of a gauge, `rate`,
    /// `passes` and `fails` of a rate, and the statistics of a trend.
    pub values: Vec<(String, f64)>,
    pub thresholds: Vec<ThresholdState>,
}

/// A threshold of a metric, and what it came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThresholdState {
    /// `p(95)<200`.
    pub expression: String,
    pub is_met: bool,
}

impl Metric {
    /// One of its numbers; `None`: it has none of that name.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(own, _)| own == name).map(|(_, value)| *value)
    }
}

impl SummaryData {
    /// Sums a run up.
    pub fn of(facts: &RunFacts<'_>, options: SummaryOptions) -> SummaryData {
        let [is_stdout_terminal, is_stderr_terminal] = facts.is_terminal;
        let made = |own: &[MetricFacts<'_>], thresholds: &[ThresholdFacts]| {
            metrics(own, (facts.seconds, &options), thresholds)
        };
        let scenario = |own: &ScenarioFacts<'_>| ScenarioData {
            name: own.name.clone(),
            metrics: made(&own.metrics, &[]),
            root_group: Group::tree(&own.groups, &own.checks),
        };
        SummaryData {
            metrics: made(&facts.metrics, &facts.thresholds),
            root_group: Group::tree(&facts.groups, &facts.checks),
            state: State {
                is_stdout_terminal,
                is_stderr_terminal,
                duration_ms: facts.seconds * 1e3,
            },
            setup_data: facts.setup_data.clone(),
            scenarios: facts.scenarios.iter().map(scenario).collect(),
            options,
        }
    }

    /// A metric by its name, with its tags if it has any.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// The metrics with thresholds that are not met, each once, by name.
    pub fn crossed(&self) -> impl Iterator<Item = &str> {
        let is_crossed = |metric: &&Metric| metric.thresholds.iter().any(|own| !own.is_met);
        self.metrics.iter().filter(is_crossed).map(|metric| &*metric.name)
    }

    /// All checks, with those of groups, in their order.
    pub(super) fn checks(&self) -> Vec<Check> {
        self.root_group.all_checks()
    }
}

/// Metrics by name, each with its thresholds.
fn metrics(
    facts: &[MetricFacts<'_>],
    (seconds, options): (f64, &SummaryOptions),
    thresholds: &[ThresholdFacts],
) -> Vec<Metric> {
    let metric = |own: &MetricFacts<'_>| {
        let thresholds: Vec<ThresholdState> = thresholds
            .iter()
            .filter(|threshold| threshold.metric == own.name)
            .map(|ThresholdFacts { expression, is_met, .. }| ThresholdState {
                expression: expression.clone(),
                is_met: *is_met,
            })
            .collect();
        let (kind, values) = numbers(&own.values, seconds, &names(options, &thresholds));
        Metric { name: own.name.clone(), kind, contains: own.contains, values, thresholds }
    };
    let mut metrics: Vec<Metric> = facts.iter().map(metric).collect();
    // Those with tags stand right behind the one that they are a part of.
    let place = |own: &Metric| {
        let Selector { name, braces, .. } = Selector::of(&own.name);
        (name.to_owned(), braces.to_owned())
    };
    metrics.sort_by_cached_key(place);
    metrics
}

/// The names of the numbers that are asked of a trend: those that are shown, and those that its thresholds are about.
fn names<'n>(options: &'n SummaryOptions, thresholds: &'n [ThresholdState]) -> Vec<&'n str> {
    let mut names: Vec<&str> = Vec::new();
    let of_thresholds = thresholds.iter().map(|own| of_expression(&own.expression));
    for name in options.trend_stats.iter().map(String::as_str).chain(of_thresholds) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The numbers of a metric by their names.
fn numbers(values: &Values<'_>, seconds: f64, names: &[&str]) -> (MetricKind, Vec<(String, f64)>) {
    let named = |all: &[(&str, f64)]| {
        all.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    };
    match values {
        Values::Counter(sum) => {
            let rate = if seconds > 0.0 { sum / seconds } else { 0.0 };
            (MetricKind::Counter, named(&[("count", *sum), ("rate", rate)]))
        }
        Values::Gauge { last, min, max } => {
            (MetricKind::Gauge, named(&[("value", *last), ("min", *min), ("max", *max)]))
        }
        Values::Rate { trues, count } => {
            let (passes, fails) = (*trues as f64, count.saturating_sub(*trues) as f64);
            let rate = passes / (passes + fails).max(1.0);
            (MetricKind::Rate, named(&[("rate", rate), ("passes", passes), ("fails", fails)]))
        }
        Values::Trend(trend) => {
            let number = |name: &&str| {
                let statistic = Statistic::parse(name).ok()?;
                Some(((*name).to_owned(), statistic.of(*trend)))
            };
            (MetricKind::Trend, names.iter().filter_map(number).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn metrics_have_the_numbers_of_their_kinds() {
        let data = sample::data();
        let values = |name: &str| {
            let metric = data.metric(name).expect(name);
            metric.values.iter().map(|(name, value)| (&**name, *value)).collect::<Vec<_>>()
        };
        assert_eq!(values("http_reqs"), [("count", 28.0), ("rate", 14.0)]);
        assert_eq!(values("http_req_failed"), [("rate", 0.25), ("passes", 7.0), ("fails", 21.0)]);
        assert_eq!(values("vus"), [("value", 1.0), ("min", 1.0), ("max", 5.0)]);
        assert_eq!(values("http_req_waiting").len(), 6);
        // What only a threshold asks for is there, too, once.
        let last = |name| values(name).last().copied();
        assert_eq!(last("http_req_duration"), Some(("p(99)", 99.0)));
        assert_eq!(values("http_req_duration").len(), 7);
    }

    #[test]
    fn thresholds_that_are_not_met_are_named() {
        let crossed: Vec<String> = sample::data().crossed().map(str::to_owned).collect();
        assert_eq!(crossed, ["checks", "http_req_duration{name:items}"]);
    }

    #[test]
    fn a_run_of_nothing_has_no_shares_that_are_no_numbers() {
        let facts = RunFacts { seconds: 0.0, ..sample::facts() };
        let data = SummaryData::of(&facts, SummaryOptions::default());
        let all = data.metrics.iter().flat_map(|metric| &metric.values);
        assert!(all.clone().count() > 20 && all.clone().all(|(_, value)| value.is_finite()));
        assert_eq!(numbers(&Values::Rate { trues: 0, count: 0 }, 1.0, &[]).1[0].1, 0.0);
    }
}
