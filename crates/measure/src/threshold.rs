//! Thresholds, by which a run passes or fails: `p99(login) < 300ms`, `error_rate < 0.1%`, `rate(checkout) > 100/s`.

use std::fmt;

use crate::request_stats::RequestStats;
use crate::totals::Totals;
use crate::{Counters, ErrorKind, units};

/// A limit for one number of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// As it was written.
    pub text: String,
    metric: Metric,
    /// A request, program or group; `None`: all requests.
    pub name: Option<String>,
    op: Op,
    /// In the unit of the metric: µs, per second, or a plain number.
    limit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Metric {
    Count,
    Errors,
    ErrorRate,
    Rate,
    Latency { corrected: bool, statistic: Statistic },
    Counter(&'static str),
    Kind(ErrorKind),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Statistic {
    Mean,
    Min,
    Max,
    Percentile(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Number,
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
    /// Whether it passed.
    pub passed: bool,
    /// The measured value, in µs, per second, or as it is; `None`: nothing was counted.
    pub value: Option<f64>,
    /// The measured value as a person reads it, or why there is none.
    pub shown: String,
}

const FORMS: &str = "write it as p99(login) < 300ms, error_rate < 1%, rate(\"GET /\") > 100/s, count >= 10; \
                     the metrics are count, errors, error_rate, rate, mean, min, max, p50 to p99.999, \
                     corrected_mean, corrected_max, corrected_p99, errors_<kind>, and the run's counters";

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
        let metric =
            Metric::parse(word).ok_or_else(|| fail(0, format!("unknown metric `{word}`")))?;
        let (name, rest) = subject(rest.trim_start()).map_err(|message| fail(end, message))?;
        if name.is_some() && matches!(metric, Metric::Counter(_)) {
            return Err(fail(end, format!("`{word}` counts for the whole run: it takes no name")));
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
        let limit = metric.unit().parse(limit.trim()).map_err(|message| fail(at, message))?;
        Ok(Threshold { text: body.to_owned(), metric, name, op, limit })
    }

    /// Evaluates it on a run that took `elapsed_s` seconds.
    pub fn evaluate(&self, totals: &Totals, elapsed_s: f64) -> ThresholdResult {
        let value = self.value(totals, elapsed_s);
        let passed = value.is_some_and(|value| self.op.holds(value, self.limit));
        let shown = match value {
            Some(value) => self.metric.unit().show(value),
            None => match &self.name {
                Some(name) => format!("nothing was counted under `{name}`"),
                None => "no complete response was counted".to_owned(),
            },
        };
        ThresholdResult { text: self.text.clone(), passed, value, shown }
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

    /// The percentile that it asks for, and how many values that is based on; `None`: it asks for none.
    pub fn percentile_of(&self, totals: &Totals) -> Option<(f64, u64)> {
        let Metric::Latency { corrected, statistic: Statistic::Percentile(percentile) } =
            self.metric
        else {
            return None;
        };
        let count = |row: &RequestStats| {
            if corrected { row.corrected_latency.count() } else { row.latency.count() }
        };
        let count = match &self.name {
            Some(name) => totals.named(name).map_or(0, count),
            None => count(&totals.all()),
        };
        Some((percentile, count))
    }

    fn value(&self, totals: &Totals, elapsed_s: f64) -> Option<f64> {
        if let Metric::Counter(name) = self.metric {
            return totals.counters().get(name).map(|value| value as f64);
        }
        match &self.name {
            Some(name) => self.metric.of(totals.named(name)?, elapsed_s),
            None => self.metric.of(&totals.all(), elapsed_s),
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
            Metric::Latency { .. } => Unit::Time,
        }
    }

    fn of(self, row: &RequestStats, elapsed_s: f64) -> Option<f64> {
        Some(match self {
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
                let histogram = if corrected { &row.corrected_latency } else { &row.latency };
                if histogram.is_empty() {
                    return None;
                }
                match statistic {
                    Statistic::Mean => histogram.mean(),
                    Statistic::Min => histogram.min() as f64,
                    Statistic::Max => histogram.max() as f64,
                    Statistic::Percentile(p) => histogram.percentile(p) as f64,
                }
            }
            // `Threshold::value` reads it from the totals.
            Metric::Counter(_) => return None,
        })
    }
}

impl Statistic {
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
    fn parse(self, text: &str) -> Result<f64, String> {
        let end = text.rfind(|c: char| c.is_ascii_digit() || c == '.').map_or(0, |at| at + 1);
        let (number, unit) = text.split_at(end);
        let bad = || format!("expected a {}, found `{text}`", self.expected());
        let number: f64 = number.trim().parse().map_err(|_| bad())?;
        let factor = match (self, unit.trim()) {
            (Unit::Number, "") => 1.0,
            (Unit::Share, "") => 1.0,
            (Unit::Share, "%") => 0.01,
            (Unit::PerSecond, "/s" | "") => 1.0,
            (Unit::PerSecond, "/min" | "/m") => 1.0 / 60.0,
            (Unit::PerSecond, "/h") => 1.0 / 3_600.0,
            (Unit::Time, "us" | "µs") => 1.0,
            (Unit::Time, "ms") => 1e3,
            (Unit::Time, "s") => 1e6,
            (Unit::Time, "m" | "min") => 6e7,
            (Unit::Time, "h") => 3.6e9,
            _ => return Err(bad()),
        };
        Ok(number * factor)
    }

    fn expected(self) -> &'static str {
        match self {
            Unit::Number => "number",
            Unit::Share => "share, such as 0.1% or 0.001",
            Unit::PerSecond => "rate, such as 100/s or 30/min",
            Unit::Time => "time, such as 300ms or 1.5s",
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Unit::Number => units::count(value as u64),
            Unit::Share => units::percent(value),
            Unit::PerSecond => units::rate(value),
            Unit::Time => units::time(value),
        }
    }
}

impl Op {
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

/// `(name)` or `("name")`, and what follows.
fn subject(text: &str) -> Result<(Option<String>, &str), String> {
    let Some(inner) = text.strip_prefix('(') else { return Ok((None, text)) };
    let inner = inner.trim_start();
    let (name, rest) = match inner.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let inner = &inner[1..];
            let end = inner.find(quote).ok_or("the closing quote is missing")?;
            (&inner[..end], &inner[end + 1..])
        }
        _ => {
            let end = inner.find(')').ok_or("the closing parenthesis is missing")?;
            (inner[..end].trim_end(), &inner[end..])
        }
    };
    let rest = rest.trim_start().strip_prefix(')').ok_or("expected `)` after the name")?;
    if name.is_empty() {
        return Err("the name is empty".to_owned());
    }
    Ok((Some(name.to_owned()), rest))
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NameId, NameKind, Phases, Sample, Slice};

    fn totals() -> Totals {
        let mut slice = Slice::new(0, 0);
        slice.announce(NameId(0), NameKind::Request, "login");
        slice.announce(NameId(1), NameKind::Group, "check out");
        for n in 1..=100u64 {
            slice.record(
                NameId(0),
                &Sample {
                    latency_us: n * 1_000,
                    corrected_latency_us: Some(n * 2_000),
                    complete: true,
                    status: if n == 1 { 500 } else { 200 },
                    error: (n == 1).then_some(ErrorKind::Status),
                    bytes_in: 0,
                    bytes_out: 0,
                    phases: Phases::default(),
                },
            );
        }
        slice.record_group(NameId(1), 5_000_000, false);
        slice.counters.arrivals_dropped = 2;
        let mut totals = Totals::new();
        totals.add(&slice);
        totals
    }

    #[test]
    fn thresholds_pass_or_fail() {
        let totals = totals();
        for (text, passed) in [
            ("p99(login) < 300ms", true),
            ("p99(login) < 50ms", false),
            ("p50(login) <= 50.1ms", true),
            ("error_rate <= 1%", true),
            ("error_rate < 0.01", false),
            ("rate(login) >= 10/s", true),
            ("rate > 601/min", false),
            ("count == 100", true),
            ("errors(login) == 1", true),
            ("errors_status == 1", true),
            ("errors_reset > 0", false),
            ("max(\"check out\") > 4s", true),
            ("corrected_max > 199ms", true),
            ("mean ( login ) < 51ms", true),
            ("arrivals_dropped == 0", false),
            ("count(nobody) == 0", false),
        ] {
            let result = Threshold::parse(text).expect(text).evaluate(&totals, 10.0);
            assert_eq!(result.passed, passed, "{text}: {}", result.shown);
        }
    }

    #[test]
    fn errors_say_what_is_wrong() {
        for (text, word) in [
            ("p101 < 1s", "p101"),
            ("speed < 1s", "speed"),
            ("p99(login < 1s", "parenthesis"),
            ("p99(login) 1s", "expected one of"),
            ("p99(login) < 5%", "time"),
            ("rate < 5ms", "rate"),
            ("arrivals_dropped(login) == 0", "takes no name"),
            ("", "unknown metric"),
            ("p99() < 1s", "empty"),
        ] {
            let error = Threshold::parse(text).expect_err(text);
            assert!(error.message.contains(word), "{text}: {}", error.message);
        }
    }

    #[test]
    fn any_text_is_a_threshold_or_an_error() {
        use proptest::prelude::*;
        proptest!(|(text in ".{0,40}")| { let _ = Threshold::parse(&text); });
    }
}
