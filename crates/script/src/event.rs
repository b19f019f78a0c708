//! What a script tells while it runs: each is told where it happens, and nobody waits for it.

use std::rc::Rc;

/// Tags that a script gives, in its order.
pub type Tags = Vec<(String, String)>;

/// Something that a script tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A check, and whether it held.
    Check { name: Rc<str>, ok: bool, tags: Tags },
    /// A group begins.
    Enter(Rc<str>),
    /// The innermost group ends.
    Leave,
    /// A value of a metric of its own, by its number among [`crate::Stage::metrics`].
    Metric { number: usize, value: f64, tags: Tags },
    /// A line of its log.
    Log { level: Level, text: String },
    /// The whole test is to end, which a user has asked for, with a reason.
    Abort(String),
    /// The test is to count as failed, and goes on, with a reason.
    Fail(String),
}

/// How important a line of the log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

/// What a metric of a script does with its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    Counter,
    Gauge,
    Rate,
    Trend,
}

/// A metric that a script makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptMetric {
    pub kind: MetricKind,
    pub name: String,
    /// Whether its values are times, in ms.
    pub is_time: bool,
}
