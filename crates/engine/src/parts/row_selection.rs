//! Which row of a data file a user gets: from what is known on the spot, so that nobody has to ask.

use squall_plan::model::{AtEnd, Pick, Share as SharedBy};

/// How rows are taken from a data file, and how many there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowSelection<'a> {
    pub pick: Pick,
    /// Who goes through the file together.
    pub shared_by: SharedBy,
    pub at_end: AtEnd,
    pub rows: u64,
    /// This worker's share of what all workers take from.
    pub share: &'a squall_load::Share,
}

impl RowSelection<'_> {
    /// The number of the row that a user gets, or `None` when there are no more. `by_user` and
    /// `by_worker` count the rows taken so far by the user itself and by this worker for all who
    /// share.
    pub(crate) fn next(
        &self,
        user: u64,
        by_user: &mut u64,
        by_worker: &mut u64,
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
            // Rows that this worker owns: nothing is taken twice, whatever others do.
            (Pick::Next, SharedBy::All | SharedBy::Scenario) => {
                *by_worker += 1;
                self.share.nth(*by_worker - 1)?
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
    fn workers_take_each_row_once() {
        let mut all = Vec::new();
        for worker in 0..3 {
            let selection = RowSelection {
                pick: Pick::Next,
                shared_by: SharedBy::All,
                at_end: AtEnd::Stop,
                rows: 7,
                share: &Share::all().worker_of(worker, 3),
            };
            let (mut by_user, mut by_worker) = (0, 0);
            while let Some(row) = selection.next(0, &mut by_user, &mut by_worker, 0) {
                all.push(row);
            }
        }
        all.sort_unstable();
        assert_eq!(all, (0..7).collect::<Vec<_>>());
    }

    #[test]
    fn few_rows_are_enough_for_many_workers() {
        let selection = RowSelection {
            pick: Pick::Next,
            shared_by: SharedBy::All,
            at_end: AtEnd::Cycle,
            rows: 2,
            share: &Share::all().worker_of(5, 8),
        };
        assert_eq!(selection.next(0, &mut 0, &mut 0, 0), Some(1));
        let per_user = RowSelection { pick: Pick::OncePerUser, ..selection };
        assert_eq!(per_user.next(9, &mut 0, &mut 0, 0), Some(1));
        let random = RowSelection { pick: Pick::Random, rows: 10, ..selection };
        assert_eq!(random.next(0, &mut 0, &mut 0, u64::MAX), Some(9));
    }
}
