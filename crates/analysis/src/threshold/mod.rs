//! Thresholds, by which a run passes or fails: `p99(login) < 300ms`, `error_rate < 0.1%`, `rate(checkout) > 100/s`,
//! `apdex(items, 500ms) > 0.9`, `p95 < 1s over 10s`, `cpu(server) < 80%`.

mod apdex;
mod foreign;
mod level;
mod limit;
mod metric;
mod monitored;
pub(crate) mod parse;
mod part;
mod requirement;
mod result;
mod run_measure;
pub(crate) mod subject;
#[cfg(test)]
mod tests;
mod window;

pub use apdex::apdex_index;
pub(crate) use metric::MAX_UNNAMED;
pub use metric::Statistic;
pub use requirement::Threshold;
pub use result::ThresholdResult;
pub use run_measure::RunMeasure;
pub use window::{MovingWindow, Windows};
