//! A value of a metric, as k6 tells others of it. Pure.

use std::borrow::Cow;

use squall_script::MetricKind;

use crate::summary::{BuiltIn, Contains};

/// A value of a metric at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Point<'p> {
    pub metric: PointMetric<'p>,
    /// When, in µs since 1970 (UTC).
    pub unix_us: u64,
    pub value: f64,
    /// Tags with their values, each once, in any order.
    pub tags: &'p [(&'p str, Cow<'p, str>)],
    /// What is said beside that and is not to be grouped by, such as the number of a trace.
    pub metadata: &'p [(&'p str, Cow<'p, str>)],
}

/// The metric of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointMetric<'p> {
    pub name: &'p str,
    pub kind: MetricKind,
    pub contains: Contains,
}

impl PointMetric<'static> {
    /// One that k6 has itself; `None`: it has none of that name.
    pub fn built_in(name: &str) -> Option<PointMetric<'static>> {
        let BuiltIn { name, kind, contains, .. } = *BuiltIn::of(name)?;
        Some(PointMetric { name, kind, contains })
    }
}

/// A time in µs since 1970 as RFC 3339 writes it, in UTC.
pub(super) fn rfc_3339(unix_us: u64) -> String {
    let (seconds, us) = (unix_us / 1_000_000, unix_us % 1_000_000);
    let days = i64::try_from(seconds / 86_400).unwrap_or(0);
    let (year, month, day) = squall_base::calendar::date(days);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{us:06}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_utc() {
        assert_eq!(rfc_3339(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(rfc_3339(951_827_696_000_001), "2000-02-29T12:34:56.000001Z");
    }
}
