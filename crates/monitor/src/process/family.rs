//! Counters of a family of processes, of which some end and others begin. Pure.
//!
//! The kernel adds what a process has used to its parent when it has ended and was waited for. So the sum over a family goes
//! on when children end, if what a parent gets from its children is not counted again.

use std::collections::HashMap;

/// What one process has counted, with what its children that have ended had.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Counted {
    pub pid: u32,
    /// When it was started: with its number, it is one process.
    pub start: u64,
    pub parent: u32,
    pub value: u64,
}

/// The last values of a family.
#[derive(Debug, Default)]
pub(crate) struct Family {
    last: HashMap<u32, Counted>,
    /// How much it has counted so far.
    sum: u64,
}

impl Family {
    /// How much the family has counted since it was first asked. What a member had counted before it was one is not its, unless
    /// it is a child that a member has started.
    pub(crate) fn sum(&mut self, members: impl Iterator<Item = Counted>) -> u64 {
        let last = std::mem::take(&mut self.last);
        self.last = members.map(|own| (own.pid, own)).collect();
        let before = |own: &Counted| last.get(&own.pid).filter(|last| last.start == own.start);
        let mut grown: HashMap<u32, u64> = HashMap::new();
        for own in self.last.values() {
            let growth = match before(own) {
                Some(last) => own.value.saturating_sub(last.value),
                None if last.contains_key(&own.parent) => own.value,
                None => 0,
            };
            grown.insert(own.pid, growth);
        }
        for gone in last
            .values()
            .filter(|gone| self.last.get(&gone.pid).is_none_or(|own| own.start != gone.start))
        {
            if let Some(growth) = grown.get_mut(&gone.parent) {
                *growth = growth.saturating_sub(gone.value);
            }
        }
        self.sum += grown.values().sum::<u64>();
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(pid: u32, start: u64, parent: u32, value: u64) -> Counted {
        Counted { pid, start, parent, value }
    }

    #[test]
    fn a_child_that_ends_is_not_counted_again() {
        let mut family = Family::default();
        let mut sum = |members: &[Counted]| family.sum(members.iter().copied());
        assert_eq!(sum(&[counted(1, 5, 0, 1_000)]), 0);
        // A child begins, and has counted 30.
        assert_eq!(sum(&[counted(1, 5, 0, 1_010), counted(2, 9, 1, 30)]), 40);
        // It has ended, after 10 more; its parent has its 40, and 5 of its own.
        assert_eq!(sum(&[counted(1, 5, 0, 1_055)]), 55);
    }

    #[test]
    fn another_process_under_the_same_number_is_another_one() {
        let mut family = Family::default();
        let mut sum = |members: &[Counted]| family.sum(members.iter().copied());
        assert_eq!(sum(&[counted(7, 5, 0, 1_000)]), 0);
        assert_eq!(sum(&[counted(7, 6, 0, 2_000)]), 0);
        assert_eq!(sum(&[counted(7, 6, 0, 2_001)]), 1);
        assert_eq!(sum(&[]), 1);
    }
}
