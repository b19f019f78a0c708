//! What a script has measured, for one who watches a run.

use std::borrow::Cow;
use std::sync::Arc;

use squall_metrics::MetricKind;
use squall_plan::secrets::Secrets;

/// Values that a script has measured at one moment, all with the same tags.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// When, in µs after the start of the run.
    pub at_us: u64,
    /// Metrics by name and kind, each with its value; times in ms.
    pub values: Vec<(Cow<'static, str>, MetricKind, f64)>,
    /// Tags with their values, each name once.
    pub tags: Vec<(Cow<'static, str>, String)>,
    /// What the script has said beside them, each name once.
    pub metadata: Vec<(String, String)>,
    /// The user, from 1, and its iteration, from 0.
    pub user: u64,
    pub iteration: u64,
    /// What no output may show of it, as far as it is known by then: who shows it has to mask those.
    pub secrets: Arc<Secrets>,
}

impl Measured {
    /// About how many bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        let tags: usize = self.tags.iter().map(|(name, value)| name.len() + value.len()).sum();
        let beside: usize =
            self.metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
        let lists =
            size_of_val(&*self.values) + size_of_val(&*self.tags) + size_of_val(&*self.metadata);
        size_of::<Measured>() + tags + beside + lists
    }
}
