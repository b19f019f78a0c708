//! What of all that is numbered (users, arrivals, iterations, rows of data) a worker has, and what it takes from with the
//! other workers of its process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use squall_load::Share;

use crate::profile::{ClosedShape, LoadProfile, Shape};

/// A worker's part of the share that its process has.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    process: Share,
    index: u32,
    workers: u32,
    users: Share,
}

impl Part {
    /// The part of worker `index` of `workers` that divide the share of a process.
    pub(crate) fn new(process: Share, index: u32, workers: u32) -> Part {
        let users = process.worker_of(index, workers);
        Part { process, index, workers, users }
    }

    /// The share that all workers of the process divide.
    pub(crate) fn process(&self) -> &Share {
        &self.process
    }

    /// The numbers of the users that this worker has.
    pub(crate) fn users(&self) -> &Share {
        &self.users
    }

    /// The arrivals that this worker takes of a load that has at most `users` users: where a process has fewer of them than
    /// workers, a worker without one could only drop what arrives.
    pub(super) fn arrivals(&self, users: u64) -> Share {
        let with_users = self.process.count_below(users).clamp(1, u64::from(self.workers.max(1)));
        // It is at most the number of workers.
        self.process.worker_of(self.index, with_users as u32)
    }
}

/// The iterations that all users of each closed workload have together, as far as not begun. The workers of a process take
/// from the same ones, so that none is left to a worker that has no user, or whose users have gone.
#[derive(Debug, Default)]
pub(crate) struct Iterations(Box<[IterationsLeft]>);

impl Iterations {
    /// What a process has of each load, by the share that it has of the users.
    pub(crate) fn new(loads: &[LoadProfile], process: &Share) -> Iterations {
        Iterations(loads.iter().map(|load| IterationsLeft::new(load, process)).collect())
    }

    pub(super) fn of(&self, load: u16) -> IterationsLeft {
        self.0.get(usize::from(load)).cloned().unwrap_or_default()
    }
}

/// Those of one load; `None`: there is no limit.
#[derive(Debug, Clone, Default)]
pub(super) struct IterationsLeft(Option<Arc<AtomicU64>>);

impl IterationsLeft {
    /// Iteration i goes to where user i is, counted round: where nobody is no iteration is left.
    fn new(load: &LoadProfile, process: &Share) -> IterationsLeft {
        let Shape::Closed(ClosedShape { users, total_iterations: Some(total), .. }) = &load.shape
        else {
            return IterationsLeft(None);
        };
        let users = users.most().max(1);
        let (rounds, rest) = (total / users, total % users);
        let own = rounds * process.count_below(users) + process.count_below(rest);
        IterationsLeft(Some(Arc::new(AtomicU64::new(own))))
    }

    /// Takes an iteration. Returns whether there was one.
    pub(super) fn take(&self) -> bool {
        let Some(left) = &self.0 else { return true };
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Whether there is none left.
    pub(super) fn is_empty(&self) -> bool {
        self.0.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) == 0)
    }
}
