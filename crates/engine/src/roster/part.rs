//! What of all that is numbered (users, arrivals, iterations, rows of data) a worker has, and what it takes from with the
//! other workers of its process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use squall_load::{Share, deal_again};

use crate::profile::{ClosedShape, LoadProfile, Shape};

/// A worker's part of the share that its process has.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    process: Share,
    index: u32,
    /// The numbers of the users that each worker has: all workers find the same, by what the process has had.
    dealt: Arc<[Share]>,
}

impl Part {
    /// The part of worker `index` of `workers` that divide the share of a process.
    pub(crate) fn new(process: Share, index: u32, workers: u32) -> Part {
        let dealt = (0..workers.max(1)).map(|worker| process.worker_of(worker, workers)).collect();
        Part { process, index, dealt }
    }

    /// The part of the same worker when the process has another share: users that the process keeps stay where they are.
    pub(super) fn of_share(&self, process: Share) -> Part {
        match deal_again(&process, &self.dealt) {
            Some(dealt) => Part { process, index: self.index, dealt: dealt.into() },
            None => Part::new(process, self.index, self.dealt.len() as u32),
        }
    }

    /// The share that all workers of the process divide.
    pub(crate) fn process(&self) -> &Share {
        &self.process
    }

    /// The numbers of the users that this worker has.
    pub(crate) fn users(&self) -> &Share {
        // There is a worker.
        &self.dealt[(self.index as usize).min(self.dealt.len() - 1)]
    }

    /// The arrivals that this worker takes of a load that has at most `users` users: where these are fewer than shards or
    /// workers, who is without one could only drop what arrives.
    pub(super) fn arrivals(&self, users: u64) -> Share {
        let has_users = |worker: &u32| self.dealt[*worker as usize].count_below(users) > 0;
        let with_users: Vec<u32> = (0..self.dealt.len() as u32).filter(has_users).collect();
        if users >= self.process.of() && with_users.len() == self.dealt.len() {
            return self.users().clone();
        }
        let arrivals = self.process.among_first(users);
        let rank = with_users.iter().position(|worker| *worker == self.index);
        match rank {
            Some(rank) => arrivals.worker_of(rank as u32, with_users.len() as u32),
            // A load without users drops what arrives, once.
            None if users == 0 && self.index == 0 => arrivals,
            None => arrivals.worker_of(1, 1),
        }
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
