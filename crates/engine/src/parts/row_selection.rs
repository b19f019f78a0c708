//! Which row of a data file a user gets. Workers of a process count together; processes divide the rows, so that none has to
//! ask another.

use std::sync::atomic::{AtomicU64, Ordering};

use squall_plan::model::{AtEnd, Pick, Share as SharedBy};

/// How rows are taken from a data file, and how many there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowSelection<'a> {
    pub pick: Pick,
    /// Who goes through the file together.
    pub shared_by: SharedBy,
    pub at_end: AtEnd,
    pub rows: u64,
    /// The rows of this process, of what all processes take from.
    pub process: &'a squall_load::Share,
}

impl RowSelection<'_> {
    /// The number of the row that a user gets, or `None` when there are no more. `by_user` and `by_all` count the rows taken
    /// so far by the user itself and by all who share in this process.
    pub(crate) fn next(
        &self,
        user: u64,
        by_user: &mut u64,
        by_all: &AtomicU64,
        chance: u64,
    ) -> Option<u64> {
        let rows = self.rows;
        let sequence = match (self.pick, self.shared_by) {
            // The upper half of the product is even over the rows, but for one part in 2^64 / rows.
            (Pick::Random, _) => {
                return Some(((u128::from(chance) * u128::from(rows)) >> 64) as u64);
            }
            (Pick::OncePerUser, _) => user,
            (Pick::Next, SharedBy::User) => {
                *by_user += 1;
                *by_user - 1
            }
            (Pick::Next, SharedBy::All | SharedBy::Scenario) => {
                self.process.nth(by_all.fetch_add(1, Ordering::Relaxed))?
            }
        };
        match self.at_end {
            AtEnd::Stop | AtEnd::Eof if sequence >= rows => None,
            _ => Some(sequence % rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use squall_load::Share;

    #[test]
    fn processes_take_each_row_once() {
        let mut all = Vec::new();
        for process in 0..3 {
            let selection = RowSelection {
                pick: Pick::Next,
                shared_by: SharedBy::All,
                at_end: AtEnd::Stop,
                rows: 7,
                process: &Share::all().worker_of(process, 3),
            };
            let (mut by_user, by_all) = (0, AtomicU64::new(0));
            while let Some(row) = selection.next(0, &mut by_user, &by_all, 0) {
                all.push(row);
            }
        }
        all.sort_unstable();
        assert_eq!(all, (0..7).collect::<Vec<_>>());
    }

    #[test]
    fn few_rows_are_enough_for_many_processes() {
        let none = AtomicU64::new(0);
        let selection = RowSelection {
            pick: Pick::Next,
            shared_by: SharedBy::All,
            at_end: AtEnd::Cycle,
            rows: 2,
            process: &Share::all().worker_of(5, 8),
        };
        assert_eq!(selection.next(0, &mut 0, &none, 0), Some(1));
        let per_user = RowSelection { pick: Pick::OncePerUser, ..selection };
        assert_eq!(per_user.next(9, &mut 0, &none, 0), Some(1));
        let random = RowSelection { pick: Pick::Random, rows: 10, ..selection };
        assert_eq!(random.next(0, &mut 0, &none, u64::MAX), Some(9));
    }
}
