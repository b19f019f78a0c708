//! What was recorded of a metric, as k6 takes statistics of it.

use std::ops::{Deref, DerefMut};

use squall_k6::summary::Distribution;
use squall_metrics::{MetricStats, THOUSANDTHS};

/// What was recorded of a metric.
#[derive(Debug, Clone, Default)]
pub struct Stats(MetricStats);

impl Deref for Stats {
    type Target = MetricStats;

    fn deref(&self) -> &MetricStats {
        &self.0
    }
}

impl DerefMut for Stats {
    fn deref_mut(&mut self) -> &mut MetricStats {
        &mut self.0
    }
}

/// The values of a trend.
impl Distribution for Stats {
    fn count(&self) -> u64 {
        self.trend.count()
    }

    fn mean(&self) -> f64 {
        self.trend.mean() / THOUSANDTHS
    }

    fn min(&self) -> f64 {
        self.trend.min() as f64 / THOUSANDTHS
    }

    fn max(&self) -> f64 {
        self.trend.max() as f64 / THOUSANDTHS
    }

    fn percentile(&self, p: f64) -> f64 {
        self.trend.percentile(p) as f64 / THOUSANDTHS
    }
}
