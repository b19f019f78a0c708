//! The rows of a data file that users take together, as far as they are this process's.
//!
//! Rows are numbered, and dealt to processes by shard like users. Nobody tells another process which rows it has taken. So
//! that no row is used twice where each may be used once, a process goes on only with the rows of shards that it has had
//! from the beginning of the load: those of a shard that came later are left over, as who had it before may have used
//! them. When it gives shards away it begins a new round of those that it keeps.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use squall_load::Share;
use squall_plan::model::{AmongNodes, AtEnd, Pick};

use crate::program::Feed;

/// How processes divide the rows of a feed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum RowsKind {
    /// Each row is used once, by one of them.
    #[default]
    Once,
    /// Each process has the rows of its share, and begins anew behind the last.
    Again,
    /// Each process goes through all rows.
    All,
}

impl RowsKind {
    pub(crate) fn of(feed: &Feed) -> RowsKind {
        match (feed.nodes, feed.pick, feed.at_end) {
            (AmongNodes::Copy, ..) => RowsKind::All,
            (_, Pick::Next, AtEnd::Stop | AtEnd::Eof) => RowsKind::Once,
            _ => RowsKind::Again,
        }
    }
}

/// Rows that users take together.
#[derive(Debug)]
pub(crate) struct SharedRows {
    kind: RowsKind,
    /// The rows that may be taken.
    own: RwLock<Share>,
    /// How many of them were taken.
    taken: AtomicU64,
    /// Whether it was told that rows are left over.
    is_told: AtomicBool,
}

impl SharedRows {
    /// Those of a process that has a share. `is_first`: nobody has had it before.
    pub(crate) fn new(kind: RowsKind, process: &Share, is_first: bool) -> SharedRows {
        let own = match kind {
            RowsKind::All => Share::all(),
            RowsKind::Once if !is_first => process.none(),
            RowsKind::Once | RowsKind::Again => process.clone(),
        };
        SharedRows {
            kind,
            own: RwLock::new(own),
            taken: AtomicU64::new(0),
            is_told: AtomicBool::new(false),
        }
    }

    /// The rows that may be taken, and how many of them were: for one look, during which they stay the same.
    pub(crate) fn look(&self) -> (RwLockReadGuard<'_, Share>, &AtomicU64) {
        // A thread that panicked has left a whole share behind.
        (self.own.read().unwrap_or_else(PoisonError::into_inner), &self.taken)
    }

    /// The process has another share. Returns `true` the first time that rows of it are left over, as another may have used
    /// them.
    pub(crate) fn reshare(&self, process: &Share) -> bool {
        let mut own = self.own.write().unwrap_or_else(PoisonError::into_inner);
        match self.kind {
            RowsKind::All => return false,
            RowsKind::Again => {
                *own = process.clone();
                return false;
            }
            RowsKind::Once => {}
        }
        let kept = own.within(process);
        let (before, after) = (own.shards().len() as u64, kept.shards().len() as u64);
        if before != after {
            let rounds = self.taken.load(Ordering::Relaxed).div_ceil(before);
            self.taken.store(rounds.saturating_mul(after), Ordering::Relaxed);
            *own = kept;
        }
        let are_left = process.shards().iter().any(|shard| !own.owns(*shard));
        are_left && !self.is_told.swap(true, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn share(shards: &BTreeSet<u64>) -> Share {
        Share::new(&shards.iter().copied().collect::<Vec<_>>(), 8).expect("shards that exist")
    }

    fn take(rows: &SharedRows) -> Option<u64> {
        let (own, taken) = rows.look();
        own.nth(taken.fetch_add(1, Ordering::Relaxed))
    }

    proptest! {
        /// Whatever moves between three processes, one of which begins late: no row is used twice.
        #[test]
        fn each_row_is_used_at_most_once(steps in prop::collection::vec((0usize..3, 0u64..8, 0usize..20), 1..60)) {
            let mut shards = [(0..4).collect(), (4..8).collect(), BTreeSet::new()];
            let rows = [0, 1, 2].map(|n| SharedRows::new(RowsKind::Once, &share(&shards[n]), n < 2));
            let mut used = BTreeSet::new();
            for (to, shard, takes) in steps {
                for own in &rows {
                    for row in (0..takes).filter_map(|_| take(own)) {
                        prop_assert!(used.insert(row), "row {}", row);
                    }
                }
                shards.iter_mut().for_each(|own| _ = own.remove(&shard));
                shards[to].insert(shard);
                for (own, shards) in rows.iter().zip(&shards) {
                    own.reshare(&share(shards));
                }
            }
        }
    }

    #[test]
    fn that_rows_are_left_over_is_told_once() {
        let shards = |all: &[u64]| share(&all.iter().copied().collect());
        let rows = SharedRows::new(RowsKind::Once, &shards(&[1, 3]), true);
        assert!(!rows.reshare(&shards(&[3])), "what was given away is another's to tell of");
        assert!(rows.reshare(&shards(&[3, 5])));
        assert!(!rows.reshare(&shards(&[3, 6])));
    }

    #[test]
    fn each_process_goes_through_all_rows_of_a_copy() {
        let shards = |all: &[u64]| share(&all.iter().copied().collect());
        let rows = SharedRows::new(RowsKind::All, &shards(&[3]), false);
        assert_eq!([take(&rows), take(&rows)], [Some(0), Some(1)]);
        rows.reshare(&shards(&[]));
        assert_eq!(take(&rows), Some(2));
    }

    #[test]
    fn rows_that_may_be_used_again_follow_the_share() {
        let shards = |all: &[u64]| share(&all.iter().copied().collect());
        let rows = SharedRows::new(RowsKind::Again, &shards(&[]), false);
        assert_eq!(take(&rows), None);
        rows.reshare(&shards(&[3]));
        assert!(take(&rows).is_some_and(|row| row % 8 == 3));
    }
}
