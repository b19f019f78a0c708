//! The limit of a threshold: its unit, and how a value is held against it.

use squall_base::units;
use squall_metrics::THOUSANDTHS;

use crate::censored::Bounded;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Number,
    /// A number that need not be whole or positive.
    Plain,
    Share,
    PerSecond,
    Time,
    Bytes,
    BytesPerSecond,
}

impl Unit {
    /// Reads a limit; an error says what was expected.
    pub(super) fn parse(self, text: &str) -> Result<f64, String> {
        let number = || text.parse::<f64>().ok().filter(|number| number.is_finite());
        let value = match self {
            Unit::Number | Unit::Plain => number(),
            Unit::Share => units::parse_share(text).ok(),
            Unit::PerSecond => number().or_else(|| units::parse_rate(text).ok()),
            Unit::Time => {
                let time = units::parse_duration(text).ok();
                time.filter(|_| text != "0").map(|time| time.as_secs_f64() * 1e6)
            }
            Unit::Bytes => size(text),
            Unit::BytesPerSecond => {
                let bandwidth = units::parse_bandwidth(text).ok();
                bandwidth.map(|bytes| bytes as f64).or_else(|| size(text))
            }
        };
        value.ok_or_else(|| match text {
            "" => format!("expected a {}, found the end", self.expected()),
            _ => format!("expected a {}, found `{text}`", self.expected()),
        })
    }

    /// What to do about a limit that is not one, beyond what was expected.
    pub(super) fn hint(self, text: &str) -> Option<String> {
        let is_number = text.parse::<f64>().is_ok();
        (self == Unit::Time && is_number)
            .then(|| format!("a time needs a unit: write {text}ms, or {text}s"))
    }

    fn expected(self) -> &'static str {
        match self {
            Unit::Number | Unit::Plain => "number",
            Unit::Share => "share, such as 0.1% or 0.001",
            Unit::PerSecond => "rate, such as 100/s or 30/min",
            Unit::Time => "time, such as 300ms or 1.5s",
            Unit::Bytes => "size, such as 64KiB or 1GiB",
            Unit::BytesPerSecond => "bandwidth, such as 10MB/s or 80Mbit/s",
        }
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Unit::Number | Unit::Plain => "number",
            Unit::Share => "share",
            Unit::PerSecond => "per_second",
            Unit::Time => "us",
            Unit::Bytes => "bytes",
            Unit::BytesPerSecond => "bytes_per_second",
        }
    }

    /// A value, or between what it lies.
    pub(super) fn show_bounded(self, own: Bounded) -> String {
        let (value, at_most) = (self.show(own.value), own.at_most);
        match at_most.is_finite().then(|| self.show(at_most)) {
            None => format!("at least {value}"),
            Some(at_most) if at_most == value => value,
            Some(at_most) => format!("{value} to {at_most}"),
        }
    }

    pub(super) fn show(self, value: f64) -> String {
        match self {
            Unit::Number => units::count(value as u64),
            // At most three digits behind the point, and none that say nothing.
            Unit::Plain => ((value * THOUSANDTHS).round() / THOUSANDTHS).to_string(),
            Unit::Share => units::percent(value),
            Unit::PerSecond => units::rate(value),
            Unit::Time => units::time(value),
            Unit::Bytes => units::bytes(value as u64),
            Unit::BytesPerSecond => format!("{}/s", units::bytes(value as u64)),
        }
    }
}

fn size(text: &str) -> Option<f64> {
    units::parse_size(text).ok().map(|bytes| bytes as f64)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Below,
    AtMost,
    Above,
    AtLeast,
    Equal,
    NotEqual,
}

impl Op {
    /// The operator with which a text begins, and what follows it.
    pub(super) fn strip(text: &str) -> Option<(Op, &str)> {
        let all = [Op::AtMost, Op::AtLeast, Op::Equal, Op::NotEqual, Op::Below, Op::Above];
        all.into_iter().find_map(|op| Some((op, text.strip_prefix(op.sign())?)))
    }

    pub(super) fn sign(self) -> &'static str {
        match self {
            Op::Below => "<",
            Op::AtMost => "<=",
            Op::Above => ">",
            Op::AtLeast => ">=",
            Op::Equal => "==",
            Op::NotEqual => "!=",
        }
    }

    pub(super) fn holds(self, value: f64, limit: f64) -> bool {
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
