//! The values of a gauge that a threshold may ask for.

use squall_metrics::Gauge;

use super::limit::Unit;

/// Which value of a gauge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Mean,
    Min,
    Max,
    Last,
}

impl Level {
    /// Its value; times in µs.
    pub(super) fn of(self, gauge: &Gauge, unit: Unit) -> Option<f64> {
        let value = match self {
            Level::Mean => gauge.mean()?,
            Level::Min => gauge.min,
            Level::Max => gauge.max,
            Level::Last => gauge.last,
        };
        // Monitors sample times in seconds.
        Some(if unit == Unit::Time { value * 1e6 } else { value })
    }
}
