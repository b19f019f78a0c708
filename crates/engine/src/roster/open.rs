//! An open workload: which arrival comes next, and who is free for it.

use squall_load::{Arrival, Arrivals, Share};

use super::part::Part;
use super::seats::Seats;
use crate::profile::{Nanos, OpenShape};

/// State of a share of an open workload.
pub(super) struct Open<U> {
    share: Share,
    arrivals: Arrivals,
    /// The latest arrival that was taken, ...
    last: Option<Arrival>,
    /// ... and that of the share that there was before, if this one was told of too late: up to there all of its arrivals
    /// have begun.
    begun: Option<(Share, Arrival)>,
    /// When it ends, in the load's time: no arrival is due then or later.
    end: Nanos,
    /// No arrival has a number from here on, ...
    total: u64,
    /// ... and so many are left below it in this share.
    left: u64,
    /// Most users that this share may have, and how many seats were given out.
    most: u64,
    given: u64,
    /// Seats that were given out and left.
    vacant: Vec<u64>,
    /// Users without an arrival, by member of the load, last used first.
    free: Vec<Vec<U>>,
}

/// Who takes an arrival.
pub(super) enum Taker<U> {
    /// A user that was free.
    Free(U),
    /// A new user, on the k-th seat of the share.
    New(u64),
}

impl<U> Open<U> {
    pub(super) fn new(shape: &OpenShape, members: usize, part: &Part, seed: u64) -> Open<U> {
        let share = part.arrivals(shape.max_users);
        let total = shape.total_iterations.unwrap_or(u64::MAX);
        let mut open = Open {
            arrivals: shape.arrivals(&share, seed),
            last: None,
            begun: None,
            end: shape.end.unwrap_or(Nanos::MAX),
            total,
            left: share.count_below(total),
            share,
            most: part.users().count_below(shape.max_users),
            given: 0,
            vacant: Vec::new(),
            free: (0..members).map(|_| Vec::new()).collect(),
        };
        open.pass();
        open
    }

    /// Passes what is not to be taken. Arrivals of a Poisson process come in order of time, and those above the total may
    /// come between.
    fn pass(&mut self) {
        while self.left > 0
            && let Some(next) = self.arrivals.peek()
        {
            let is_surplus = next.index >= self.total;
            if !is_surplus && !self.has_begun(next) {
                break;
            }
            self.left -= u64::from(!is_surplus);
            self.arrivals.next();
        }
    }

    fn has_begun(&self, next: Arrival) -> bool {
        self.begun.as_ref().is_some_and(|(share, last)| {
            (next.due, next.index) <= (last.due, last.index) && share.owns(next.index)
        })
    }

    /// It follows another share: what that has begun is not begun again.
    pub(super) fn follow(&mut self, before: Open<U>) {
        self.last = before.last;
        self.begun = before.last.map(|last| (before.share, last));
        self.pass();
    }

    fn peek(&self) -> Option<Arrival> {
        self.arrivals.peek().filter(|next| self.left > 0 && next.due < self.end)
    }

    /// When the next arrival is due, in the load's time.
    pub(super) fn due(&self) -> Option<Nanos> {
        self.peek().map(|next| next.due)
    }

    /// Whether it is its time that ends it, and not the number of its arrivals.
    pub(super) fn ends_with_time(&self) -> bool {
        self.left > 0 && self.end < Nanos::MAX
    }

    /// Takes the next arrival; its number.
    pub(super) fn take(&mut self) -> Option<u64> {
        let next = self.peek()?;
        self.arrivals.next();
        self.left -= 1;
        if self.last.is_none_or(|last| (last.due, last.index) < (next.due, next.index)) {
            self.last = Some(next);
        }
        self.pass();
        Some(next.index)
    }

    /// Leaves out the arrivals that are due before `time`; how many they were.
    pub(super) fn skip_before(&mut self, time: Nanos) -> u64 {
        let mut skipped = self.arrivals.skip_even_before(time.min(self.end), self.left);
        self.left -= skipped;
        self.pass();
        while self.due().is_some_and(|due| due < time) && self.take().is_some() {
            skipped += 1;
        }
        skipped
    }

    /// A free user of a member of the load, a new one while there are fewer than the load allows, or
    /// one that is free of another member.
    pub(super) fn taker(&mut self, member: usize) -> Option<Taker<U>> {
        if let Some(user) = self.free[member].pop() {
            return Some(Taker::Free(user));
        }
        if let Some(k) = self.vacant.pop() {
            return Some(Taker::New(k));
        }
        if self.given < self.most {
            self.given += 1;
            return Some(Taker::New(self.given - 1));
        }
        self.free.iter_mut().find_map(Vec::pop).map(Taker::Free)
    }

    pub(super) fn free(&mut self, member: usize, user: U) {
        self.free[member].push(user);
    }

    /// The user of a seat is gone for good.
    pub(super) fn vacate(&mut self, k: u64) {
        self.vacant.push(k);
    }

    /// Takes out the users that are free.
    pub(super) fn take_free(&mut self) -> impl Iterator<Item = U> {
        self.free.iter_mut().flat_map(std::mem::take)
    }

    /// The seats that are taken are given out.
    pub(super) fn give_out(&mut self, seats: &Seats) {
        self.given = seats.len();
        self.vacant =
            (0..self.given.min(self.most)).filter(|k| !seats.get(*k).is_taken()).collect();
    }

    /// The same load with another rate: its users stay.
    pub(super) fn take_over_users(&mut self, before: Open<U>) {
        self.given = before.given;
        self.vacant = before.vacant;
        self.free = before.free;
    }
}
