//! What became of what a sink sends elsewhere: counts that the sink keeps and the result shows. Losses here are no
//! failure of the run: somebody else's receiver was not there, and what squall measured is complete without it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use squall_report::FeedReport;

/// Counts what a sink has sent and lost. Clones are the same account.
#[derive(Debug, Clone)]
pub struct Delivery(Arc<Mutex<FeedReport>>);

impl Delivery {
    /// Nothing sent yet, to a receiver of this name, in which secrets are masked.
    pub fn new(name: impl Into<String>) -> Delivery {
        let name = name.into();
        Delivery(Arc::new(Mutex::new(FeedReport { name, ..FeedReport::default() })))
    }

    /// So many more points have arrived, as far as the receiver says.
    pub fn sent(&self, points: u64) {
        self.report_mut().points_sent += points;
    }

    /// So many more points are lost.
    pub fn lost(&self, points: u64) {
        self.report_mut().points_lost += points;
    }

    /// Something went wrong, in a sentence without secrets. The first is kept.
    pub fn trouble(&self, error: &str) {
        self.report_mut().error.get_or_insert_with(|| error.to_owned());
    }

    /// The account as it is now.
    pub fn report(&self) -> FeedReport {
        self.report_mut().clone()
    }

    fn report_mut(&self) -> MutexGuard<'_, FeedReport> {
        // Each change is whole, so that a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
