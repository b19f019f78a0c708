//! A distribution of times as a few numbers.

use crate::histogram::Histogram;

/// A distribution of times, in µs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Times {
    pub mean: f64,
    pub p50: f64,
    pub p90: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

impl Times {
    /// Those of a histogram; `None`: it is empty.
    pub fn of(histogram: &Histogram) -> Option<Times> {
        (!histogram.is_empty()).then(|| {
            let percentiles = histogram.percentiles([50.0, 90.0, 95.0, 99.0]);
            let [p50, p90, p95, p99] = percentiles.map(|own| own as f64);
            Times { mean: histogram.mean(), p50, p90, p95, p99, max: histogram.max() as f64 }
        })
    }
}
