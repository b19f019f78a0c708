//! How long the users that a closed workload takes away may go on with the iteration that they have begun.

use std::collections::VecDeque;

use squall_load::Share;

use crate::profile::Nanos;

/// Counts the users that may go on. A user leaves when the number of users falls below its own, and may go on for a while
/// from then: so those may go on that were wanted at any time within that while, which are as many as its maximum.
#[derive(Debug, Default)]
pub(super) struct RampDown {
    /// How long users may go on; `None`: as long as they need.
    graceful: Option<Nanos>,
    /// How many users are wanted.
    wanted: u64,
    /// The falls of the last while: until when, on the run's clock, as many users may go on as there were before. Times
    /// rise, and numbers fall but stay above `wanted`.
    falls: VecDeque<(Nanos, u64)>,
    /// What a timer is set to.
    timer: Option<Nanos>,
}

impl RampDown {
    pub(super) fn new(graceful: Option<Nanos>) -> RampDown {
        RampDown { graceful, ..RampDown::default() }
    }

    /// From now on users may go on for so long.
    pub(super) fn set_graceful(&mut self, graceful: Option<Nanos>) {
        self.graceful = graceful;
    }

    /// Another number of users is wanted from `at` on.
    pub(super) fn change(&mut self, wanted: u64, at: Nanos) {
        let before = std::mem::replace(&mut self.wanted, wanted);
        let Some(graceful) = self.graceful else { return };
        while self.falls.back().is_some_and(|(_, users)| *users <= wanted) {
            self.falls.pop_back();
        }
        if wanted < before {
            self.falls.push_back((at.saturating_add(graceful), before));
        }
    }

    /// Whether the user on a seat may go on, by its place in this share.
    pub(super) fn may_go_on(&self, k: u64) -> bool {
        self.graceful.is_none() || k < self.most()
    }

    /// How many users may go on.
    fn most(&self) -> u64 {
        self.falls.front().map_or(self.wanted, |(_, users)| *users)
    }

    /// The places of the users that may not go on any more from `at` on.
    pub(super) fn cut(&mut self, at: Nanos) -> std::ops::Range<u64> {
        let before = self.most();
        while self.falls.front().is_some_and(|(until, _)| *until <= at) {
            self.falls.pop_front();
        }
        self.most()..before
    }

    /// When to look for such users next, unless a timer is set to that.
    pub(super) fn next_timer(&mut self) -> Option<Nanos> {
        let due = self.falls.front().map(|(until, _)| *until);
        if due == self.timer {
            return None;
        }
        self.timer = due;
        due
    }

    /// Its timer does nothing any more.
    pub(super) fn disarm(&mut self) {
        self.timer = None;
    }

    /// All is later by a pause.
    pub(super) fn shift(&mut self, length: Nanos) {
        for (until, _) in &mut self.falls {
            *until = until.saturating_add(length);
        }
    }

    /// The same as another share counts the users.
    pub(super) fn renumber(&mut self, before: &Share, after: &Share) {
        let renumber = |users: &mut u64| {
            *users = before.nth(*users).map_or(0, |number| after.count_below(number));
        };
        renumber(&mut self.wanted);
        self.falls.iter_mut().for_each(|(_, users)| renumber(users));
    }
}
