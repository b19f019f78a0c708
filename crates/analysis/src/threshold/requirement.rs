//! A threshold: which number of a run it is about, and what that has to be.

use std::fmt;

use squall_base::units::count;
use squall_metrics::{Gauge, MetricKey, MetricKind, MetricStats, RequestStats, Selector, Slice};

use super::limit::{Op, Unit};
use super::metric::{Metric, Statistic, latencies};
use super::part::Part;
use super::result::ThresholdResult;
use super::subject::Subject;
use crate::censored::Bounded;
use crate::totals::Totals;

/// A limit for one number of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// As it was written.
    pub text: String,
    pub(super) metric: Metric,
    /// The metric as it was written.
    pub(super) word: String,
    pub(super) subject: Subject,
    pub(super) op: Op,
    /// In the unit of the metric: µs, per second, or a plain number.
    pub(super) limit: f64,
    /// What the limit is a number of.
    pub(super) unit: Unit,
    /// The length of the moving window that it judges, in seconds; `None`: it judges the whole run.
    pub(super) window: Option<u32>,
}

impl Threshold {
    /// Evaluates it on a run that took `elapsed_s` seconds, as a whole.
    pub fn evaluate(&self, totals: &Totals, elapsed_s: f64) -> ThresholdResult {
        let value = self.value(totals, elapsed_s);
        let shown = match value {
            Some(value) => self.shown_in(totals).show_bounded(value),
            None => self.without_value(totals),
        };
        ThresholdResult {
            passed: value.is_some_and(|value| self.holds(value)),
            ..self.result(value, self.shown_in(totals), shown)
        }
    }

    /// A result with this value, of which is not known whether it passes.
    pub(super) fn result(
        &self,
        value: Option<Bounded>,
        unit: Unit,
        shown: String,
    ) -> ThresholdResult {
        ThresholdResult {
            text: self.text.clone(),
            name: self.subject.selector.name.clone(),
            subject: self.subject.text.clone(),
            metric: self.word.clone(),
            op: self.op.sign().to_owned(),
            limit: self.limit,
            unit: unit.label().to_owned(),
            value: value.map(|value| value.value),
            at_least: value.is_some_and(|value| value.is_lower_bound()),
            shown,
            passed: false,
            over_s: self.window,
            worst_from_s: None,
        }
    }

    /// Why there is no value.
    pub(super) fn without_value(&self, totals: &Totals) -> String {
        let Some(row) = self.row(totals) else { return self.nothing_counted() };
        let to = match self.subject.is_all() {
            true => String::new(),
            false => format!(" to `{}`", self.subject.text),
        };
        match (row.count, row.not_sent) {
            (0, 0) => self.nothing_counted(),
            (0, 1) => format!("the only request{to} could not be sent"),
            (0, not_sent) => format!("none of {} requests{to} could be sent", count(not_sent)),
            _ if self.subject.phase.is_some() => {
                format!("no response under `{}` had this phase", self.subject.text)
            }
            (1, _) if row.errors == 1 => format!("no response: the only request{to} failed"),
            (all, _) if row.errors >= all => {
                format!("no responses: all {} requests{to} failed", count(all))
            }
            _ => self.nothing_counted(),
        }
    }

    /// That nothing was counted of what it is about.
    pub(super) fn nothing_counted(&self) -> String {
        if let Some((metric, monitor)) = self.monitored() {
            return format!("`{monitor}` sampled no `{metric}`");
        }
        match (self.subject.is_all(), self.metric) {
            (true, Metric::Latency { .. }) => "no complete response was counted".to_owned(),
            (true, _) => "nothing was counted".to_owned(),
            (false, _) => format!("nothing was counted under `{}`", self.subject.text),
        }
    }

    /// Whether a value is within the limit, wherever it lies between its bounds; a mean, which every request without a
    /// response can raise, is taken as it is.
    pub(super) fn holds(&self, value: Bounded) -> bool {
        let is_mean = matches!(self.metric, Metric::Latency { statistic: Statistic::Mean, .. });
        let Bounded { value, at_most } = if is_mean { Bounded::exact(value.value) } else { value };
        let is_outside = self.limit < value || self.limit > at_most;
        self.op.holds(value, self.limit)
            && self.op.holds(at_most, self.limit)
            && (self.op != Op::NotEqual || is_outside)
    }

    /// How much of the limit a value uses: 1 is the limit itself, more violates it. `None`: the threshold
    /// is not an upper or lower limit, or the limit is 0.
    pub fn used(&self, value: f64) -> Option<f64> {
        let used = match self.op {
            Op::Below | Op::AtMost => value / self.limit,
            Op::Above | Op::AtLeast => self.limit / value,
            Op::Equal | Op::NotEqual => return None,
        };
        used.is_finite().then_some(used)
    }

    /// The threshold as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it asks of latencies, and whether of corrected ones; `None`: it is about something else.
    pub fn of_latency(&self) -> Option<(Statistic, bool)> {
        match self.metric {
            Metric::Latency { corrected, statistic } => Some((statistic, corrected)),
            _ => None,
        }
    }

    /// Whether it is about requests per second.
    pub fn is_of_rate(&self) -> bool {
        self.metric == Metric::Rate
    }

    /// Whether it is about an Apdex.
    pub fn is_of_apdex(&self) -> bool {
        matches!(self.metric, Metric::Apdex { .. })
    }

    /// The length of the moving window that it judges, in seconds; `None`: it judges the whole run.
    pub fn window(&self) -> Option<u32> {
        self.window
    }

    /// The percentile that it asks for, and how many values that is based on; `None`: it asks for none.
    pub fn percentile_of(&self, totals: &Totals) -> Option<(f64, u64)> {
        let Metric::Latency { corrected, statistic: Statistic::Percentile(percentile) } =
            self.metric
        else {
            return None;
        };
        let count = match (self.row(totals), self.subject.phase) {
            (Some(row), Some(phase)) => row.phases[phase].count(),
            (Some(row), None) => latencies(&row, corrected).count(),
            (None, _) => self.metric_of(totals).map_or(0, |(_, stats)| stats.trend.count()),
        };
        Some((percentile, count))
    }

    /// How many of the values of [`Threshold::percentile_of`] are of requests that got no response.
    pub fn given_up(&self, totals: &Totals) -> u64 {
        match (self.metric, self.row(totals), self.subject.phase) {
            (Metric::Latency { corrected, .. }, Some(row), None) => {
                latencies(&row, corrected).waited.count()
            }
            _ => 0,
        }
    }

    /// Whether only a metric that the plan records itself can have this limit: one without a unit, where
    /// requests have times, or the last value.
    pub fn is_of_metric(&self) -> bool {
        let is_gauge = matches!(self.metric, Metric::Last | Metric::Sampled(_));
        self.unit != self.metric.unit() || is_gauge
    }

    /// The metric of the target that it is about, and the name of the monitor that samples it; `None`: it is about something
    /// else.
    pub fn monitored(&self) -> Option<(&str, &str)> {
        self.subject.sampled().filter(|_| matches!(self.metric, Metric::Sampled(_)))
    }

    /// Whether it is about a count that has to reach its limit, which it does only with time.
    pub fn takes_time(&self) -> bool {
        let is_count = matches!(
            self.metric,
            Metric::Count
                | Metric::Errors
                | Metric::CutOff
                | Metric::NotSent
                | Metric::Counter(_)
                | Metric::Kind(_)
        );
        is_count
            && self.window.is_none()
            && matches!(self.op, Op::Above | Op::AtLeast | Op::Equal)
            && !self.holds(Bounded::exact(0.0))
    }

    /// The phase of requests that it is about; `None`: their whole latency, or something else.
    pub fn phase(&self) -> Option<&'static str> {
        self.subject.phase.map(|at| squall_metrics::PHASES[at])
    }

    /// Which rows it is about.
    pub fn selector(&self) -> &Selector {
        &self.subject.selector
    }

    /// The rows that it is about, together.
    pub(super) fn row(&self, totals: &Totals) -> Option<RequestStats> {
        if self.is_of_metric() {
            return None;
        }
        totals.select(&self.subject.selector)
    }

    /// What the plan recorded itself under its name, of all tags that it does not name together, or under a
    /// name with tags as [`MetricKey::label`] writes them. Of several kinds with the same name, the first
    /// that was used.
    pub(super) fn metric_of(&self, totals: &Totals) -> Option<(MetricKind, MetricStats)> {
        let is_meant = |key: &MetricKey| self.means(key);
        let kind = totals.metrics().find(|(key, _)| is_meant(key))?.0.kind;
        let mut all = MetricStats::default();
        let same = totals.metrics().filter(|(key, _)| key.kind == kind && is_meant(key));
        same.for_each(|(_, stats)| all.merge(stats));
        Some((kind, all))
    }

    /// Whether it is about this metric.
    fn means(&self, key: &MetricKey) -> bool {
        let selector = &self.subject.selector;
        let is_sampled = matches!(self.metric, Metric::Sampled(_));
        selector.name.as_ref().is_some_and(|name| key.name == *name || key.label() == *name)
            && selector.scenario.as_ref().is_none_or(|own| *own == key.scenario)
            && selector.tags.iter().all(|tag| key.tags.contains(tag))
            && (selector.kind.is_none() && selector.group.is_none())
            && (key.is_of_monitor() || !is_sampled)
    }

    /// What a slice recorded of what it is about; `totals` know its names.
    pub(super) fn part_in(&self, slice: &Slice, totals: &Totals) -> Part {
        match self.metric {
            Metric::Sampled(_) => {
                let own = totals.metrics_in(slice).filter(|(key, _)| self.means(key));
                let gauge = own.filter_map(|(_, stats)| stats.gauge()).reduce(Gauge::merge);
                Part { gauge, ..Part::default() }
            }
            _ => {
                let row = totals.select_in(slice, self.selector());
                Part { row, ..Part::default() }
            }
        }
    }

    /// The value of what was recorded in `elapsed_s` seconds of what it is about.
    pub(super) fn value_of_part(&self, part: &Part, elapsed_s: f64) -> Option<Bounded> {
        match self.metric {
            Metric::Sampled(level) => {
                let gauge = part.gauge.as_ref()?;
                level.of(gauge, self.unit).map(Bounded::exact)
            }
            _ => self.value_of_row(&part.row, elapsed_s),
        }
    }

    /// The unit in which its value is shown: a rate of the plan's own is a share, whatever its limit is.
    pub(super) fn shown_in(&self, totals: &Totals) -> Unit {
        if self.row(totals).is_some() {
            return self.unit;
        }
        match self.metric_of(totals) {
            Some((MetricKind::Rate, _)) if self.metric == Metric::Rate => Unit::Share,
            Some((MetricKind::Counter, _)) if self.metric == Metric::Count => Unit::Plain,
            _ => self.unit,
        }
    }

    pub(super) fn value(&self, totals: &Totals, elapsed_s: f64) -> Option<Bounded> {
        let counted = match self.metric {
            Metric::Counter(name) => Some(totals.counters().get(name)),
            Metric::UsersNow => Some(totals.users_at(elapsed_s)),
            _ => None,
        };
        if let Some(value) = counted {
            return value.map(|value| Bounded::exact(value as f64));
        }
        // Without any request there is still a count of them.
        let none = || self.subject.is_all().then(RequestStats::default);
        match self.row(totals).or_else(none) {
            Some(row) => self.value_of_row(&row, elapsed_s),
            None => {
                let (kind, stats) = self.metric_of(totals)?;
                self.metric.of_own(kind, &stats, self.unit, elapsed_s).map(Bounded::exact)
            }
        }
    }

    /// The value of what was recorded in `elapsed_s` seconds of the rows that it is about.
    fn value_of_row(&self, row: &RequestStats, elapsed_s: f64) -> Option<Bounded> {
        let Some(phase) = self.subject.phase else { return self.metric.of(row, elapsed_s) };
        let Metric::Latency { statistic, .. } = self.metric else { return None };
        statistic.of(&row.phases[phase]).map(Bounded::exact)
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
