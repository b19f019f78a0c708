//! What of all that is numbered (users, arrivals, iterations, rows of data) a worker has.

use std::sync::Arc;

use squall_load::{Share, deal_again};

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
        let has_users = |part: &Share| part.count_below(users) > 0;
        if users >= self.process.of()
            && self.dealt.iter().all(|part| part.shards().is_empty() || has_users(part))
        {
            return self.users().clone();
        }
        let with_users: Vec<u32> =
            (0..).zip(&*self.dealt).filter(|(_, part)| has_users(part)).map(|(n, _)| n).collect();
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
