//! What was recorded in some seconds of what a threshold is about.

use squall_metrics::{Gauge, RequestStats};

/// What was recorded of rows, or sampled of the target by a monitor.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    pub row: RequestStats,
    pub gauge: Option<Gauge>,
}

impl Part {
    /// Adds what was recorded elsewhere, or in other seconds.
    pub fn merge(&mut self, other: &Part) {
        self.row.merge(&other.row);
        self.gauge = match (self.gauge, other.gauge) {
            (Some(own), Some(theirs)) => Some(own.merge(theirs)),
            (own, theirs) => own.or(theirs),
        };
    }

    pub fn is_empty(&self) -> bool {
        self.row.is_empty() && self.gauge.is_none()
    }

    /// Gives back the memory that it does not need until more is added.
    pub fn compact(&mut self) {
        self.row.compact();
    }

    /// Leaves nothing.
    pub fn clear(&mut self) {
        self.row.clear();
        self.gauge = None;
    }
}
