//! Thresholds, by which a run passes or fails: `p99(login) < 300ms`, `error_rate < 0.1%`, `rate(checkout) > 100/s`.

mod foreign;
pub(crate) mod subject;

use std::fmt;

use crate::censored::{Bounded, Durations};
use crate::totals::Totals;
use squall_base::units;
use squall_metrics::{
    Counters, ErrorKind, Histogram, MetricKey, MetricKind, MetricStats, RequestStats, Selector,
    THOUSANDTHS,
};
use subject::Subject;

/// A limit for one number of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// As it was written.
    pub text: String,
    metric: Metric,
    /// The metric as it was written.
    word: String,
    subject: Subject,
    op: Op,
    /// In the unit of the metric: µs, per second, or a plain number.
    limit: f64,
    /// What the limit is a number of.
    unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Metric {
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
    Kind(ErrorKind),
}

/// What a threshold asks of latencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    /// The mean.
    Mean,
    /// The smallest one.
    Min,
    /// The largest one.
    Max,
    /// A percentile, above 0 and at most 100.
    Percentile(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Number,
    /// A number that need not be whole or positive.
    Plain,
    Share,
    PerSecond,
    Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Below,
    AtMost,
    Above,
    AtLeast,
    Equal,
    NotEqual,
}

/// Why a text is not a threshold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// What is wrong.
    pub message: String,
    /// Byte offset in the text.
    pub offset: usize,
    /// What to do.
    pub help: Option<String>,
}

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
    /// Whether it passed.
    pub passed: bool,
    /// The measured value, in `unit`; `None`: nothing was counted.
    pub value: Option<f64>,
    /// Whether the value is only known to be at least that.
    pub at_least: bool,
    /// The measured value as a person reads it, or why there is none.
    pub shown: String,
}

const FORMS: &str = "write it as p99(login) < 300ms, error_rate < 1%, rate(\"GET /\") > 100/s, count >= 10, \
                     p95(login, scenario: buyer) < 1s (also kind, group, phase, and tags: p95(team: a) < 1s); \
                     the metrics are count, errors, error_rate, rate, mean, min, max, p50 to p99.999, \
                     corrected_mean, corrected_max, corrected_p99, errors_<kind>, and the run's counters; \
                     of what the plan records with `metric` also last(stock) > 5, p95(render) < 10, rate(cached) > 90%";

impl Threshold {
    /// Parses a threshold.
    ///
    /// # Errors
    /// The text is not a threshold; the error says where, and what was expected.
    pub fn parse(text: &str) -> Result<Threshold, SyntaxError> {
        let fail = |offset: usize, message: String| SyntaxError {
            message,
            offset,
            help: Some(FORMS.to_owned()),
        };
        let body = text.trim();
        let end = body
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.')
            .unwrap_or(body.len());
        let (word, rest) = body.split_at(end);
        let metric = Metric::parse(word).ok_or_else(|| {
            let near = foreign::meant(word, rest).map(|ours| format!("did you mean `{ours}`?"));
            let error = fail(0, format!("unknown metric `{word}`"));
            SyntaxError { help: near.or(error.help), ..error }
        })?;
        let (subject, rest) =
            Subject::parse(rest.trim_start()).map_err(|message| fail(end, message))?;
        if !subject.is_all() && matches!(metric, Metric::Counter(_)) {
            return Err(fail(end, format!("`{word}` counts for the whole run: it takes no name")));
        }
        if subject.phase.is_some() && !matches!(metric, Metric::Latency { corrected: false, .. }) {
            return Err(fail(end, format!("`{word}` has no phases: only latencies do")));
        }
        let rest = rest.trim_start();
        let at = text.len() - rest.len();
        let ops = [
            ("<=", Op::AtMost),
            (">=", Op::AtLeast),
            ("==", Op::Equal),
            ("!=", Op::NotEqual),
            ("<", Op::Below),
            (">", Op::Above),
        ];
        let op = ops.iter().find_map(|(sign, op)| Some((*op, rest.strip_prefix(sign)?)));
        let (op, limit) =
            op.ok_or_else(|| fail(at, "expected one of <, <=, >, >=, == and !=".to_owned()))?;
        if subject.selector.name.is_none() && metric == Metric::Last {
            return Err(fail(end, "`last` needs the name of a gauge".to_owned()));
        }
        // What a plan records itself may be in any unit.
        let own = subject.selector.name.iter().flat_map(|_| metric.units_of_own()).copied();
        let limit = limit.trim();
        let read = std::iter::once(metric.unit())
            .chain(own)
            .find_map(|unit| Some((unit, unit.parse(limit).ok()?)));
        let (unit, limit) = match read {
            Some(read) => read,
            None => {
                (metric.unit(), metric.unit().parse(limit).map_err(|message| fail(at, message))?)
            }
        };
        Ok(Threshold {
            text: body.to_owned(),
            metric,
            word: word.to_owned(),
            subject,
            op,
            limit,
            unit,
        })
    }

    /// Evaluates it on a run that took `elapsed_s` seconds.
    pub fn evaluate(&self, totals: &Totals, elapsed_s: f64) -> ThresholdResult {
        let value = self.value(totals, elapsed_s);
        let passed = value.is_some_and(|value| self.holds(value));
        let shown = match value {
            Some(Bounded { value, at_least: true }) => {
                format!("at least {}", self.shown_in(totals).show(value))
            }
            Some(Bounded { value, at_least: false }) => self.shown_in(totals).show(value),
            None if self.subject.is_all() => "no complete response was counted".to_owned(),
            None => format!("nothing was counted under `{}`", self.subject.text),
        };
        ThresholdResult {
            text: self.text.clone(),
            name: self.subject.selector.name.clone(),
            subject: self.subject.text.clone(),
            metric: self.word.clone(),
            op: self.op.sign().to_owned(),
            limit: self.limit,
            unit: self.shown_in(totals).label().to_owned(),
            value: value.map(|value| value.value),
            at_least: value.is_some_and(|value| value.at_least),
            shown,
            passed,
        }
    }

    /// Whether a value is within the limit. What is only known to be at least something is not known to be
    /// below anything; a mean, which every request without a response can raise, is taken as it is.
    fn holds(&self, value: Bounded) -> bool {
        let is_mean = matches!(self.metric, Metric::Latency { statistic: Statistic::Mean, .. });
        let known = !value.at_least || is_mean || matches!(self.op, Op::Above | Op::AtLeast);
        known && self.op.holds(value.value, self.limit)
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

    /// Whether only a metric that the plan records itself can have this limit: one without a unit, where
    /// requests have times, or the last value.
    pub fn is_of_metric(&self) -> bool {
        self.unit != self.metric.unit() || self.metric == Metric::Last
    }

    /// Whether it is about a count that has to reach its limit, which it does only with time.
    pub fn takes_time(&self) -> bool {
        let is_count = matches!(
            self.metric,
            Metric::Count | Metric::Errors | Metric::Counter(_) | Metric::Kind(_)
        );
        is_count
            && matches!(self.op, Op::Above | Op::AtLeast | Op::Equal)
            && !self.holds(exact(0.0))
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
    fn row(&self, totals: &Totals) -> Option<RequestStats> {
        if self.is_of_metric() {
            return None;
        }
        totals.select(&self.subject.selector)
    }

    /// What the plan recorded itself under its name, of all tags that it does not name together, or under a
    /// name with tags as [`MetricKey::label`] writes them. Of several kinds with the same name, the first
    /// that was used.
    fn metric_of(&self, totals: &Totals) -> Option<(MetricKind, MetricStats)> {
        let selector = &self.subject.selector;
        let name = selector.name.as_ref()?;
        let is_meant = |key: &MetricKey| {
            (key.name == *name || key.label() == *name)
                && selector.scenario.as_ref().is_none_or(|own| *own == key.scenario)
                && selector.tags.iter().all(|tag| key.tags.contains(tag))
        };
        if selector.kind.is_some() || selector.group.is_some() {
            return None;
        }
        let kind = totals.metrics().find(|(key, _)| is_meant(key))?.0.kind;
        let mut all = MetricStats::default();
        let same = totals.metrics().filter(|(key, _)| key.kind == kind && is_meant(key));
        same.for_each(|(_, stats)| all.merge(stats));
        Some((kind, all))
    }

    /// The unit in which its value is shown: a rate of the plan's own is a share, whatever its limit is.
    fn shown_in(&self, totals: &Totals) -> Unit {
        if self.row(totals).is_some() {
            return self.unit;
        }
        match self.metric_of(totals) {
            Some((MetricKind::Rate, _)) if self.metric == Metric::Rate => Unit::Share,
            Some((MetricKind::Counter, _)) if self.metric == Metric::Count => Unit::Plain,
            _ => self.unit,
        }
    }

    fn value(&self, totals: &Totals, elapsed_s: f64) -> Option<Bounded> {
        if let Metric::Counter(name) = self.metric {
            return totals.counters().get(name).map(|value| exact(value as f64));
        }
        // Without any request there is still a count of them.
        let none = || self.subject.is_all().then(RequestStats::default);
        match (self.row(totals).or_else(none), self.subject.phase) {
            (Some(row), Some(phase)) => {
                let Metric::Latency { statistic, .. } = self.metric else { return None };
                statistic.of(&row.phases[phase]).map(exact)
            }
            (Some(row), None) => self.metric.of(&row, elapsed_s),
            (None, _) => {
                let (kind, stats) = self.metric_of(totals)?;
                self.metric.of_own(kind, &stats, self.unit, elapsed_s).map(exact)
            }
        }
    }
}

impl Metric {
    fn parse(word: &str) -> Option<Metric> {
        Some(match word {
            "count" => Metric::Count,
            "errors" => Metric::Errors,
            "error_rate" => Metric::ErrorRate,
            "rate" => Metric::Rate,
            "last" => Metric::Last,
            _ => {
                if let Some(kind) = word.strip_prefix("errors_") {
                    return ErrorKind::from_label(kind).map(Metric::Kind);
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

    fn unit(self) -> Unit {
        match self {
            Metric::Count | Metric::Errors | Metric::Counter(_) | Metric::Kind(_) => Unit::Number,
            Metric::ErrorRate => Unit::Share,
            Metric::Rate => Unit::PerSecond,
            Metric::Last => Unit::Plain,
            Metric::Latency { .. } => Unit::Time,
        }
    }

    /// Units in which metrics that the plan records itself may be given as well.
    fn units_of_own(self) -> &'static [Unit] {
        match self {
            Metric::Count | Metric::Latency { corrected: false, .. } => &[Unit::Plain],
            Metric::Rate => &[Unit::Share],
            _ => &[],
        }
    }

    /// The value of a metric that the plan records itself; `None`: its kind has none. Trends with a limit that
    /// is a time are taken to be in ms.
    fn of_own(
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
            (Metric::Latency { corrected: false, statistic }, MetricKind::Trend) => {
                // Thousandths of ms are µs.
                let factor = if unit == Unit::Time { 1.0 } else { THOUSANDTHS };
                statistic.of(&stats.trend)? / factor
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

    fn of(self, row: &RequestStats, elapsed_s: f64) -> Option<Bounded> {
        Some(exact(match self {
            Metric::Count => row.count as f64,
            Metric::Errors => row.errors as f64,
            Metric::ErrorRate if row.count == 0 => 0.0,
            Metric::ErrorRate => row.errors as f64 / row.count as f64,
            Metric::Rate if elapsed_s <= 0.0 => 0.0,
            Metric::Rate => row.count as f64 / elapsed_s,
            Metric::Kind(kind) => row
                .error_kinds
                .iter()
                .find(|(own, _)| *own == kind)
                .map_or(0.0, |(_, count)| *count as f64),
            Metric::Latency { corrected, statistic } => {
                return statistic.of_durations(latencies(row, corrected));
            }
            // `Threshold::value` reads counters from the totals, and requests have no last value.
            Metric::Counter(_) | Metric::Last => return None,
        }))
    }
}

/// A value that is known.
fn exact(value: f64) -> Bounded {
    Bounded { value, at_least: false }
}

fn latencies(row: &RequestStats, corrected: bool) -> Durations<'_> {
    if corrected { Durations::corrected(row) } else { Durations::of(row) }
}

impl Statistic {
    /// `None`: there is no value.
    fn of<const BITS: u32>(self, histogram: &Histogram<BITS>) -> Option<f64> {
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

    fn parse(word: &str) -> Option<Statistic> {
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

impl Unit {
    /// Reads a limit; an error says what was expected.
    fn parse(self, text: &str) -> Result<f64, String> {
        let number = || text.parse::<f64>().ok().filter(|number| number.is_finite());
        let value = match self {
            Unit::Number | Unit::Plain => number(),
            Unit::Share => units::parse_share(text).ok(),
            Unit::PerSecond => number().or_else(|| units::parse_rate(text).ok()),
            Unit::Time => {
                let time = units::parse_duration(text).ok();
                time.filter(|_| text != "0").map(|time| time.as_secs_f64() * 1e6)
            }
        };
        value.ok_or_else(|| format!("expected a {}, found `{text}`", self.expected()))
    }

    fn expected(self) -> &'static str {
        match self {
            Unit::Number | Unit::Plain => "number",
            Unit::Share => "share, such as 0.1% or 0.001",
            Unit::PerSecond => "rate, such as 100/s or 30/min",
            Unit::Time => "time, such as 300ms or 1.5s",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Unit::Number | Unit::Plain => "number",
            Unit::Share => "share",
            Unit::PerSecond => "per_second",
            Unit::Time => "us",
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Unit::Number => units::count(value as u64),
            // At most three digits behind the point, and none that say nothing.
            Unit::Plain => ((value * THOUSANDTHS).round() / THOUSANDTHS).to_string(),
            Unit::Share => units::percent(value),
            Unit::PerSecond => units::rate(value),
            Unit::Time => units::time(value),
        }
    }
}

impl Op {
    fn sign(self) -> &'static str {
        match self {
            Op::Below => "<",
            Op::AtMost => "<=",
            Op::Above => ">",
            Op::AtLeast => ">=",
            Op::Equal => "==",
            Op::NotEqual => "!=",
        }
    }

    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Op::Below => value < limit,
            Op::AtMost => value <= limit,
            Op::Above => value > limit,
            Op::AtLeast => value >= limit,
            Op::Equal => value == limit,
            Op::NotEqual => value != limit,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
