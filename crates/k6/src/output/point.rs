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
