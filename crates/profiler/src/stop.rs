//! Tells who takes a profile that the load is over.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Whether the load is over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<(Mutex<bool>, Condvar)>);

impl Stop {
    /// It is over.
    pub fn stop(&self) {
        let (is_over, changed) = &*self.0;
        *is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
    }

    /// Whether it is.
    pub fn is_stopped(&self) -> bool {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is, or a time has passed.
    pub fn wait(&self, within: Duration) {
        let (is_over, changed) = &*self.0;
        let until = Instant::now() + within;
        let mut is_stopped = is_over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_stopped {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = changed.wait_timeout(is_stopped, left);
            is_stopped = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
