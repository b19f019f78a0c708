//! How far the users are here of loads with a number of iterations, and what of it goes with which record. Pure.

use std::collections::BTreeMap;

use squall_engine::Progress;

/// Most seconds of which it is known how far users were while their records are not made.
const MAX_AHEAD: usize = 60;

/// How far the users are.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    /// All that is known, of others too.
    pub all: Progress,
    /// What belongs to records that are not made yet, by their seconds: some workers are ahead of others.
    ahead: BTreeMap<u32, Progress>,
    /// What else was not told yet.
    untold: Progress,
}

impl Reached {
    /// Users are so far at the end of a second.
    pub(crate) fn add(&mut self, second: u32, progress: &Progress) {
        self.all.merge(progress);
        self.ahead.entry(second).or_default().merge(progress);
        if self.ahead.len() > MAX_AHEAD
            && let Some((_, first)) = self.ahead.pop_first()
        {
            // It may go with a later record, as with one of its own.
            self.ahead.values_mut().next().into_iter().for_each(|own| own.merge(&first));
        }
    }

    /// Takes what goes with the record of a second. Nothing of a later second does: if that is lost with the node, others do
    /// what belongs to it again.
    pub(crate) fn take_untold(&mut self, second: u32) -> Progress {
        while let Some(first) = self.ahead.first_entry().filter(|own| *own.key() <= second) {
            self.untold.merge(&first.remove());
        }
        self.untold.take_next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn users(all: &[(u64, u64)]) -> Progress {
        Progress {
            users: all.iter().map(|(user, begun)| ((0, *user), *begun)).collect(),
            ..Progress::default()
        }
    }

    /// A second that is lost with its node is done again by others: they must not be told that it was done.
    #[test]
    fn how_far_a_worker_is_ahead_goes_with_the_record_of_its_own_second() {
        let mut reached = Reached::default();
        reached.add(4, &users(&[(0, 7)]));
        reached.add(5, &users(&[(0, 9)]));
        reached.add(4, &users(&[(1, 3)]));
        assert_eq!(reached.all, users(&[(0, 9), (1, 3)]));
        assert_eq!(reached.take_untold(4), users(&[(0, 7), (1, 3)]));
        assert!(reached.take_untold(4).is_empty());
        assert_eq!(reached.take_untold(5), users(&[(0, 9)]));
    }

    #[test]
    fn what_waits_for_records_that_are_not_made_is_bounded() {
        let mut reached = Reached::default();
        let last = 10 + MAX_AHEAD as u64;
        (10..=last).for_each(|second| reached.add(second as u32, &users(&[(second, 1)])));
        assert!(reached.take_untold(10).is_empty());
        assert_eq!(reached.take_untold(11), users(&[(10, 1), (11, 1)]));
        assert_eq!(reached.take_untold(u32::MAX).users.len(), MAX_AHEAD - 1);
    }
}
