//! The iterations that all users of a closed workload have together. The workers of a process take from the same ones, so
//! that none is left to a worker that has no user, or whose users have gone.
//!
//! Iteration i goes to where user i is, counted round, and so to that user's shard: processes have as many as their shards
//! do. Where nobody is no iteration is left. Users take those of their own shard first, then those of the others that the
//! process has; what is left of a shard goes with it to another process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use squall_load::Share;

use crate::profile::{ClosedShape, LoadProfile, Shape};
use crate::progress::Progress;

/// Those of each load.
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
pub(super) struct IterationsLeft(Option<Arc<Pool>>);

#[derive(Debug)]
struct Pool {
    users: u64,
    total: u64,
    /// How many are left in all, ...
    all: AtomicU64,
    /// ... and of each shard that the process has; there are as many shards as the process's share is counted in.
    left: Box<[AtomicU64]>,
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    /// The number of the last change of shares that was made.
    change: usize,
    /// The share that the process has since.
    share: Share,
    /// How many were begun of each shard when it came or went last.
    begun: Box<[u64]>,
}

impl Pool {
    /// How many iterations a shard has.
    fn of_shard(&self, shard: u64) -> u64 {
        let of = self.left.len() as u64;
        let below = |n: u64| n / of + u64::from(shard < n % of);
        self.total / self.users * below(self.users) + below(self.total % self.users)
    }
}

fn take_one(left: &AtomicU64) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

/// Whether a user got an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// There is no limit.
    Free,
    /// It was one of this shard.
    Of(u64),
    Nothing,
}

impl IterationsLeft {
    fn new(load: &LoadProfile, process: &Share) -> IterationsLeft {
        let Shape::Closed(ClosedShape { users, total_iterations: Some(total), .. }) = &load.shape
        else {
            return IterationsLeft(None);
        };
        let of = process.of() as usize;
        let pool = Pool {
            users: users.most().max(1),
            total: *total,
            all: AtomicU64::new(0),
            left: (0..of).map(|_| AtomicU64::new(0)).collect(),
            known: Mutex::new(Known {
                change: 0,
                share: process.clone(),
                begun: vec![0; of].into(),
            }),
        };
        for shard in process.shards() {
            let own = pool.of_shard(*shard);
            pool.left[*shard as usize].store(own, Ordering::Relaxed);
            pool.all.fetch_add(own, Ordering::Relaxed);
        }
        IterationsLeft(Some(Arc::new(pool)))
    }

    /// Takes an iteration for a user.
    pub(super) fn take(&self, user: u64) -> Taken {
        let Some(pool) = &self.0 else { return Taken::Free };
        let own = user % pool.left.len() as u64;
        let mut shards = (own..pool.left.len() as u64).chain(0..own);
        if pool.all.load(Ordering::Relaxed) == 0 {
            return Taken::Nothing;
        }
        match shards.find(|shard| take_one(&pool.left[*shard as usize])) {
            Some(shard) => {
                pool.all.fetch_sub(1, Ordering::Relaxed);
                Taken::Of(shard)
            }
            None => Taken::Nothing,
        }
    }

    /// Whether there is none left.
    pub(super) fn is_empty(&self) -> bool {
        self.0.as_ref().is_some_and(|pool| pool.all.load(Ordering::Relaxed) == 0)
    }

    /// The process has another share from change number `change` on; `progress` knows of what it takes. The first worker
    /// that comes to the change makes it. Returns, by shard, how many were begun elsewhere meanwhile.
    pub(super) fn reshare(
        &self,
        (load, change): (u16, usize),
        share: &Share,
        progress: &Progress,
    ) -> Vec<(u64, u64)> {
        let Some(pool) = &self.0 else { return Vec::new() };
        // Numbers alone are behind it: a thread that panicked has left them whole.
        let mut known = pool.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.change >= change {
            return Vec::new();
        }
        known.change = change;
        let before = std::mem::replace(&mut known.share, share.clone());
        let mut elsewhere = Vec::new();
        for (shard, left) in (0..).zip(&pool.left) {
            if before.owns(shard) == share.owns(shard) {
                continue; // somebody may just be taking from it
            }
            let of_shard = pool.of_shard(shard);
            let begun = &mut known.begun[shard as usize];
            if before.owns(shard) {
                let left = left.swap(0, Ordering::Relaxed);
                pool.all.fetch_sub(left, Ordering::Relaxed);
                *begun = of_shard - left;
                continue;
            }
            let said = progress.totals.get(&(load, shard)).copied().unwrap_or(0).min(of_shard);
            if said > *begun {
                elsewhere.push((shard, said - *begun));
                *begun = said;
            }
            left.store(of_shard - *begun, Ordering::Relaxed);
            pool.all.fetch_add(of_shard - *begun, Ordering::Relaxed);
        }
        elsewhere
    }
}
