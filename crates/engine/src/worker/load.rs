//! A worker's share of the loads: when users start and stop, which arrivals are due, when it ends.

use std::rc::Rc;

use squall_load::{Arrivals, Segment};
use squall_measure::UserState as State;

use super::{Timer, Worker};
use crate::parts::data::{Taking, row_number};
use crate::program::Feed;
use crate::schedule::{LoadUnit, Shape};
use crate::user::User;

/// State of a worker's share of one load.
pub(crate) struct UnitState {
    segment: Segment,
    begun: bool,
    ended: bool,
    /// Users that exist: waiting, doing something, or free.
    users: u64,
    /// Users that do something or wait within an iteration (open loads: that are not free).
    busy: u64,
    /// Closed: how many users there should be now.
    wanted: u64,
    /// Closed: how many of the users have ever been started.
    known: u64,
    /// Whether a timer for the next change of `wanted`, or the next arrival, is in the wheel.
    more: bool,
    /// This worker's part of the shared number of iterations, as far as not begun.
    iterations_left: u64,
    /// Open: what is due and when.
    arrivals: Option<Arrivals>,
    /// Open: users without an arrival, by member of the load, last used first.
    #[allow(clippy::vec_box)] // users go from list to task and back by their pointer
    free: Vec<Vec<Box<User>>>,
}

impl UnitState {
    fn new(unit: &LoadUnit, index: usize, worker: &Worker) -> Self {
        let segment = Segment::worker(worker.index, worker.of);
        let total = match &unit.shape {
            Shape::Closed { total_iterations, .. } | Shape::Open { total_iterations, .. } => {
                *total_iterations
            }
        };
        // Each load has its own stream of chance.
        let seed = worker.program.seed.wrapping_add(index as u64);
        UnitState {
            begun: false,
            ended: false,
            users: 0,
            busy: 0,
            wanted: 0,
            known: 0,
            more: true,
            iterations_left: total.map_or(u64::MAX, |total| segment.count_below(total)),
            arrivals: unit.arrivals(&segment, seed),
            free: unit.members.iter().map(|_| Vec::new()).collect(),
            segment,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.begun && self.busy == 0 && (self.ended || !self.more)
    }

    /// Users that exist, the free ones of open loads not counted.
    pub(super) fn active(&self) -> u64 {
        self.busy
    }
}

/// What a user does when an iteration is over.
pub(super) enum AfterIteration {
    /// The next one, at once.
    Now,
    /// The next one, then.
    At(u64),
    /// Nothing more: it is free for another arrival.
    Free,
    /// Nothing more: it is gone.
    Gone,
}

impl Worker {
    /// Puts the beginnings and ends of all loads into the wheel.
    pub(super) fn begin(self: &Rc<Self>, start: u64) {
        let units = &self.program.units;
        let states = units.iter().enumerate().map(|(i, unit)| UnitState::new(unit, i, self));
        *self.units.borrow_mut() = states.collect();
        for (unit, state) in units.iter().zip(&*self.units.borrow()) {
            if let Shape::Closed { users, .. } = &unit.shape {
                self.recorder.expect_users(state.segment.count_below(users.most()));
            }
        }
        self.insert(self.recorder.second_ends(), Timer::Second);
        for (index, unit) in units.iter().enumerate() {
            let first = match &unit.shape {
                Shape::Closed { .. } => Timer::Users(index as u16),
                Shape::Open { .. } => Timer::Arrival(index as u16),
            };
            self.insert(start + unit.start, first);
            if let Some(end) = unit.end() {
                self.insert(start + end, Timer::End(index as u16));
            }
        }
    }

    /// When a load started, on the worker's clock.
    fn started(&self, unit: usize) -> u64 {
        self.recorder.start() + self.program.units[unit].start
    }

    /// Starts or stops users of a closed load as its shape has it at `due`.
    pub(super) fn adjust_users(self: &Rc<Self>, unit: usize, due: u64) {
        let load = &self.program.units[unit];
        let Shape::Closed { users, .. } = &load.shape else { return };
        let started = self.started(unit);
        let time = due - started;
        let mut states = self.units.borrow_mut();
        let state = &mut states[unit];
        state.begun = true;
        if state.ended {
            state.more = false;
            return;
        }
        let before = state.wanted;
        state.wanted = state.segment.count_below(users.users_at(time));
        let wanted = state.wanted;
        let next = users.next_change(time, &state.segment);
        state.more = next.is_some();
        let known = state.known;
        state.known = known.max(wanted);
        let numbers: Vec<u64> = (before..wanted).map(|k| state.segment.nth(k)).collect();
        state.users += numbers.len() as u64;
        state.busy += numbers.len() as u64;
        drop(states);
        self.note_users();
        if let Some(next) = next {
            self.insert(started + next, Timer::Users(unit as u16));
        }
        for (k, number) in (before..).zip(numbers) {
            let mut user = Box::new(User::new(number, unit, load.scenario_of(number)));
            // A stage may bring back users that an earlier one has let go.
            user.state = Some(if k < known { State::Finished } else { State::NotStarted });
            self.note(&mut user, State::Ready, due);
            user.due = due;
            user.paced = due;
            self.start(user);
        }
        if wanted < before {
            self.drop_surplus(unit, due);
        }
    }

    /// Users above the wanted number that wait are gone at once; the others see it themselves.
    fn drop_surplus(&self, unit: usize, now: u64) {
        for user in self.unpark(unit) {
            if self.is_surplus(&user) {
                self.user_gone(user, now);
            } else {
                let due = user.due;
                self.park(user, due);
            }
        }
    }

    /// Whether a load that shrinks, or has ended, has no place for this user any more.
    pub(super) fn is_surplus(&self, user: &User) -> bool {
        let units = self.units.borrow();
        let state = &units[user.unit as usize];
        state.ended
            || (state.arrivals.is_none() && state.segment.count_below(user.number) >= state.wanted)
    }

    /// Starts an iteration for each arrival that is due.
    pub(super) fn arrive(self: &Rc<Self>, unit: usize, now: u64) {
        let started = self.started(unit);
        loop {
            let mut states = self.units.borrow_mut();
            let state = &mut states[unit];
            state.begun = true;
            let arrival = state.arrivals.as_mut().and_then(|arrivals| arrivals.peek());
            let Some(arrival) = arrival.filter(|_| !state.ended && state.iterations_left > 0)
            else {
                state.more = false;
                drop(states);
                return self.idle.notify_one();
            };
            let due = started + arrival.due;
            if due > now {
                drop(states);
                return self.insert(due, Timer::Arrival(unit as u16));
            }
            if let Some(arrivals) = &mut state.arrivals {
                arrivals.next();
            }
            state.iterations_left -= 1;
            let user = self.user_for(unit, state, arrival.index);
            drop(states);
            self.recorder.count(|counters| counters.arrivals_due += 1);
            match user {
                Some(mut user) => {
                    self.note_users();
                    user.due = due;
                    user.paced = due;
                    user.waited = true;
                    self.start(user);
                }
                None => self.recorder.count(|counters| counters.arrivals_dropped += 1),
            }
        }
    }

    /// A free user for an arrival, or a new one while there are fewer than the load allows.
    fn user_for(&self, unit: usize, state: &mut UnitState, arrival: u64) -> Option<Box<User>> {
        let load = &self.program.units[unit];
        let Shape::Open { max_users, .. } = &load.shape else { return None };
        let scenario = load.scenario_of(arrival);
        let member = load.members.iter().position(|member| member.scenario == scenario)?;
        let user = match state.free[member].pop() {
            Some(user) => user,
            None if state.users < state.segment.count_below(*max_users) => {
                let number = state.segment.nth(state.users);
                state.users += 1;
                Box::new(User::new(number, unit, scenario))
            }
            // All users exist: one that is free of another scenario makes room for a new one.
            None => {
                let other = state.free.iter_mut().find_map(Vec::pop)?;
                Box::new(User::new(other.number, unit, scenario))
            }
        };
        state.busy += 1;
        Some(user)
    }

    /// Whether the user may begin an iteration; counts it.
    pub(super) fn may_begin(&self, user: &User) -> bool {
        if self.is_surplus(user) {
            return false;
        }
        let unit = user.unit as usize;
        let Shape::Closed { iterations, together, .. } = &self.program.units[unit].shape else {
            return true; // the arrival has been counted
        };
        if iterations.is_some_and(|most| user.iteration >= most) {
            if *together {
                self.recorder.tell_unit_ended(unit as u16);
                self.end_unit(unit);
            }
            return false;
        }
        let mut units = self.units.borrow_mut();
        let state = &mut units[unit];
        if state.iterations_left == 0 {
            return false;
        }
        if state.iterations_left != u64::MAX {
            state.iterations_left -= 1;
        }
        true
    }

    /// Takes the rows of data that an iteration has; `false` when a source has no more.
    pub(super) fn take_rows(&self, user: &mut User) -> bool {
        let feeds = &self.program.scenarios[user.scenario as usize].feeds;
        if feeds.is_empty() {
            return true;
        }
        user.rows.resize(self.program.feeds.len(), None);
        user.taken.resize(self.program.feeds.len(), 0);
        feeds.iter().all(|&feed| self.take_row(user, feed as usize))
    }

    fn take_row(&self, user: &mut User, index: usize) -> bool {
        let feed = &self.program.feeds[index];
        let Some(number) = self.row_for(user, feed, index) else {
            self.recorder.count(|counters| counters.data_exhausted += 1);
            return false;
        };
        match self.readers.borrow_mut()[index].row(number) {
            Ok(row) => {
                user.rows[index] = Some(row);
                true
            }
            Err(error) => {
                self.recorder.log(format!("data `{}`: {error}", feed.name));
                false
            }
        }
    }

    fn row_for(&self, user: &mut User, feed: &Feed, index: usize) -> Option<u64> {
        let scenario = match feed.share {
            squall_plan::model::Share::Scenario => user.scenario as usize + 1,
            _ => 0,
        };
        let mut shared = self.taken.borrow_mut();
        let shared = &mut shared[index * (self.program.scenarios.len() + 1) + scenario];
        let taking = Taking {
            pick: feed.pick,
            share: feed.share,
            at_end: feed.at_end,
            rows: feed.source.rows(),
            worker: u64::from(self.index),
            of: u64::from(self.of),
        };
        let chance = user.chance();
        row_number(taking, user.number, &mut user.taken[index], shared, chance)
    }

    /// Decides what comes after an iteration.
    pub(super) fn after_iteration(&self, user: &mut User, now: u64) -> AfterIteration {
        match &self.program.units[user.unit as usize].shape {
            Shape::Open { .. } => AfterIteration::Free,
            Shape::Closed { .. } if self.is_surplus(user) => AfterIteration::Gone,
            Shape::Closed { pace: None, .. } => {
                user.due = now;
                AfterIteration::Now
            }
            Shape::Closed { pace: Some(pace), .. } => {
                user.paced += pace;
                user.due = user.paced;
                if user.paced > now { AfterIteration::At(user.paced) } else { AfterIteration::Now }
            }
        }
    }

    /// A user without an arrival waits for the next one.
    pub(super) fn user_free(&self, user: Box<User>) {
        let unit = user.unit as usize;
        let members = &self.program.units[unit].members;
        let member = members.iter().position(|member| member.scenario == user.scenario as usize);
        let mut units = self.units.borrow_mut();
        units[unit].busy -= 1;
        if let Some(member) = member {
            units[unit].free[member].push(user);
        }
        drop(units);
        self.note_users();
    }

    /// A user is no more.
    pub(super) fn user_gone(&self, mut user: Box<User>, now: u64) {
        self.note(&mut user, State::Finished, now);
        let mut units = self.units.borrow_mut();
        let state = &mut units[user.unit as usize];
        state.users -= 1;
        state.busy -= 1;
        drop(units);
        self.note_users();
    }

    /// A load ends: no user of it begins anything more.
    pub(super) fn end_unit(&self, unit: usize) {
        let all = {
            let mut units = self.units.borrow_mut();
            if units[unit].ended {
                return;
            }
            units[unit].begun = true;
            units[unit].ended = true;
            units.iter().all(|state| state.ended)
        };
        let now = self.clock.now();
        for user in self.unpark(unit) {
            self.user_gone(user, now);
        }
        if all && !self.ending.get() {
            let grace = crate::schedule::nanos(self.program.grace);
            self.insert(now.saturating_add(grace), Timer::Abort);
        }
        self.idle.notify_one();
    }
}
