//! Requests that are due at the same moment. No generator sends all of them in it: they go out one after the
//! other, and how late they are by that is not this one's doing. Pure.

use std::cell::Cell;

/// The burst that is being sent.
#[derive(Debug, Default)]
pub(crate) struct Bursts {
    /// When its requests were due, on the run's clock.
    due: Cell<u64>,
    /// When the first of them was begun.
    first: Cell<u64>,
}

impl Bursts {
    /// A request that was due at a moment was begun at another. Returns when the first of those was begun that
    /// were due at the same moment.
    pub(crate) fn begin(&self, due: u64, at: u64) -> u64 {
        let first = if self.due.replace(due) == due { self.first.get().min(at) } else { at };
        self.first.set(first);
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_at_the_same_moment_was_begun_with_the_first() {
        let bursts = Bursts::default();
        // 50 late for all, and 10 for each.
        assert_eq!([150, 160, 170].map(|at| bursts.begin(100, at)), [150; 3]);
        // One each 10: each is late by itself.
        let even = [(200, 230), (210, 260), (220, 290)];
        assert_eq!(even.map(|(due, at)| bursts.begin(due, at)), [230, 260, 290]);
        // What was begun first may become known later.
        assert_eq!((bursts.begin(300, 320), bursts.begin(300, 310)), (320, 310));
    }
}
