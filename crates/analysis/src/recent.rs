//! The last seconds of a run that goes on, for those who watch it.

use std::collections::BTreeMap;

use crate::series::{OpenRow, SeriesRow};
use squall_metrics::Slice;

/// Seconds that are held.
const SECONDS: usize = 8;
/// A second is complete, or nearly, when this many later ones exist.
const SECONDS_UNTIL_COMPLETE: u32 = 3;

/// The last seconds of a run, at most eight.
#[derive(Debug, Clone, Default)]
pub struct Recent(BTreeMap<u32, OpenRow>);

impl Recent {
    /// Adds what a worker recorded in a second, which must not have been added before; monitors do not count.
    pub fn add(&mut self, slice: &Slice) {
        if !slice.source.is_worker() {
            return;
        }
        let is_new = !self.0.contains_key(&slice.second);
        if let Some(done) = slice.second.checked_sub(SECONDS_UNTIL_COMPLETE).filter(|_| is_new) {
            // A worker that hands over its slice later still finds its row.
            self.0.get_mut(&done).map(OpenRow::compact);
        }
        self.0.entry(slice.second).or_default().add(slice, None);
        if self.0.len() > SECONDS {
            self.0.pop_first();
        }
    }

    /// The seconds, in order. The very last ones may still lack workers.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = SeriesRow> {
        self.0.iter().map(|(second, row)| row.row(*second, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_seconds_the_last_are_held() {
        let mut recent = Recent::default();
        for (second, worker) in (0..100).flat_map(|second| [(second, 0), (second, 1)]) {
            let mut slice = Slice::new(worker, second);
            slice.counters.users_active = u64::from(second);
            recent.add(&slice);
            assert!(recent.rows().count() <= SECONDS);
        }
        let users: Vec<(u32, u64)> = recent.rows().map(|row| (row.second, row.users)).collect();
        assert_eq!((users.len(), users[0], users[7]), (8, (92, 184), (99, 198)));
    }
}
