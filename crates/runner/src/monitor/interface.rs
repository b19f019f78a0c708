//! What a monitor is.

use std::io;
use std::time::Duration;

use squall_metrics::MetricKey;

/// What a monitor has sampled: metrics, each with its value.
pub type Sampled = Vec<(MetricKey, f64)>;

/// Samples something beside the load.
pub trait Monitor: Send {
    /// The names of the metrics that it samples, which are then known to thresholds.
    fn names(&self) -> Vec<String>;

    /// Takes a sample, `at` after the start of the load. It is called about once a second on a thread of its own, never
    /// before the call before it has returned; what it returns later than a second is lost.
    ///
    /// # Errors
    /// Nothing could be sampled, in a sentence.
    fn sample(&mut self, at: Duration) -> io::Result<Sampled>;

    /// What of its samples so far is missing or may mislead, in a sentence, which the result has among its warnings.
    fn remark(&self) -> Option<String> {
        None
    }
}
