//! Who runs when: this worker's share of the loads, the virtual users that wait, and every time at
//! which something is due. Pure: no clock, no event loop, no I/O; time comes in as an argument, in
//! nanoseconds of the run's clock.
//!
//! The event loop asks [`Roster::poll`] for what is due, one [`Action`] at a time, for as long as it
//! likes, and sleeps until [`Roster::next`]. A user that does something belongs to whoever took it
//! from an action; it comes back by [`Roster::park`], [`Roster::free`] or [`Roster::leave`].
//!
//! Which users and arrivals are this worker's is decided by the [`Share`] alone.

mod closed;
mod load;
mod open;
mod seats;
#[cfg(test)]
mod tests;
mod wheel;

use slab::Slab;
use squall_load::Share;

use crate::schedule::{LoadProfile, Nanos, Shape};
use load::{Arrived, Load, Step};
use wheel::Wheel;

/// A virtual user as its load counts it: a number over all workers and nodes, never given twice at
/// the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seat {
    pub number: u64,
    pub load: u16,
    pub scenario: u16,
}

/// What takes a seat.
pub(crate) trait Seated {
    /// The seat that it has.
    fn seat(&self) -> Seat;
}

/// Something that is due.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action<U> {
    /// A virtual user of a closed workload begins. `again`: the seat was taken before and left.
    Admit { seat: Seat, due: Nanos, again: bool },
    /// An arrival of an open workload: an iteration by a user that was free, or by a new one. A user
    /// of another scenario gives its seat to a new one.
    Arrive { seat: Seat, due: Nanos, user: Option<U> },
    /// An arrival found no free user.
    DropArrival,
    /// A user that waited goes on.
    Resume { user: U, due: Nanos },
    /// A user that waited has to go: its load has no place for it any more.
    Dismiss { user: U, at: Nanos },
    /// The timer of an exchange's deadline, see [`Roster::deadline`].
    Deadline { id: u32, due: Nanos },
    /// A timer set by [`Roster::alarm`].
    Alarm(u32),
    /// What is in flight has had its time after the end.
    Cancel,
}

/// Whether a user may begin an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    Yes,
    /// Its load has no place or no iteration for it.
    No,
    /// It has done all its iterations, and its load ends with the first user that has.
    LoadIsDone,
}

/// What a user does after an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// The next iteration, now.
    Now,
    /// The next iteration, at that time.
    At(Nanos),
    /// Nothing until the next arrival: [`Roster::free`].
    Free,
    /// Nothing more: [`Roster::leave`].
    Gone,
}

/// A worker's share of the loads, and who waits.
pub(crate) struct Roster<U> {
    /// When the run's first second began.
    start: Nanos,
    share: Share,
    seed: u64,
    loads: Vec<Load<U>>,
    /// Loads with users to admit or to dismiss.
    unsettled: Vec<u16>,
    waiting: Slab<Waiting<U>>,
    wheel: Wheel<Timer>,
    /// Tells timers of a former occupant of a place from those of the present one.
    generation: u32,
    /// Since when loads stand still.
    paused: Option<Nanos>,
    /// Users that were due while the loads stood still.
    held: Vec<u32>,
    stopped: bool,
}

/// A user that waits until it is due.
struct Waiting<U> {
    user: U,
    due: Nanos,
    generation: u32,
}

/// What waits in the wheel. Generations make timers of the past do nothing.
#[derive(Debug, Clone, Copy)]
enum Timer {
    User { place: u32, generation: u32 },
    /// The number of users of a closed workload changes.
    Users { load: u16, generation: u16 },
    /// The next arrival of an open workload.
    Arrival { load: u16, generation: u16 },
    /// A load ends.
    End { load: u16, generation: u16 },
    Deadline(u32),
    Alarm(u32),
    Cancel,
}

impl<U: Seated> Roster<U> {
    /// The share of the loads, of a run that begins at `start`. Everything random follows from `seed`.
    pub(crate) fn new(profiles: &[LoadProfile], share: Share, start: Nanos, seed: u64) -> Self {
        let mut roster = Roster {
            start,
            share,
            seed,
            loads: Vec::new(),
            unsettled: Vec::new(),
            waiting: Slab::new(),
            wheel: Wheel::new(),
            generation: 0,
            paused: None,
            held: Vec::new(),
            stopped: false,
        };
        for (index, profile) in profiles.iter().enumerate() {
            roster.loads.push(Load::new(profile, &roster.share, start, roster.seed_of(index)));
            roster.arm(index);
        }
        roster
    }

    /// Each load has a stream of chance of its own.
    fn seed_of(&self, load: usize) -> u64 {
        self.seed.wrapping_add(load as u64)
    }

    /// Most users of closed workloads that this share has at any time.
    pub(crate) fn most_closed_users(&self) -> u64 {
        self.loads.iter().map(|load| load.most_closed_users(&self.share)).sum()
    }

    /// Users that do something or wait within an iteration: not those that are free for an arrival.
    pub(crate) fn active(&self) -> u64 {
        self.loads.iter().map(Load::active).sum()
    }

    /// Whether nothing more will come of any load.
    pub(crate) fn is_done(&self) -> bool {
        self.unsettled.is_empty() && self.loads.iter().all(Load::is_done)
    }

    /// When to poll next. `None`: nothing is due until something is put in.
    pub(crate) fn next(&self) -> Option<Nanos> {
        if self.unsettled.is_empty() { self.wheel.next() } else { Some(0) }
    }

    /// The next thing that is due at `now`.
    pub(crate) fn poll(&mut self, now: Nanos) -> Option<Action<U>> {
        loop {
            if let Some(load) = self.unsettled.last().copied() {
                if let Some(action) = self.settle(load) {
                    return Some(action);
                }
                self.unsettled.pop();
                continue;
            }
            let (due, timer) = self.wheel.pop(now)?;
            if let Some(action) = self.fire(due, timer) {
                return Some(action);
            }
        }
    }

    fn fire(&mut self, due: Nanos, timer: Timer) -> Option<Action<U>> {
        match timer {
            Timer::User { place, generation } => self.wake(place, generation),
            Timer::Users { load, generation } => {
                let at = usize::from(load);
                if self.loads[at].is_current(generation) {
                    self.loads[at].change_users(due, &self.share);
                    self.unsettled.push(load);
                    self.arm_next(at);
                }
                None
            }
            Timer::Arrival { load, generation } => {
                let at = usize::from(load);
                if !self.loads[at].is_current(generation) {
                    return None;
                }
                let action = self.loads[at].arrive(load, due, &self.share);
                self.arm_next(at);
                action
            }
            Timer::End { load, generation } => {
                if self.loads[usize::from(load)].is_current(generation) {
                    self.end_load(load, due);
                }
                None
            }
            Timer::Deadline(id) => Some(Action::Deadline { id, due }),
            Timer::Alarm(id) => Some(Action::Alarm(id)),
            Timer::Cancel => Some(Action::Cancel),
        }
    }

    /// One user to admit or to dismiss.
    fn settle(&mut self, load: u16) -> Option<Action<U>> {
        loop {
            match self.loads[usize::from(load)].settle(load, &self.share)? {
                load::Settled::Admit(seat, due, again) => {
                    return Some(Action::Admit { seat, due, again });
                }
                load::Settled::Dismiss(place, at) => {
                    if let Some(waiting) = self.waiting.try_remove(place as usize) {
                        return Some(Action::Dismiss { user: waiting.user, at });
                    }
                }
            }
        }
    }

    /// Lets a user wait until `due`; then it comes out as [`Action::Resume`].
    pub(crate) fn park(&mut self, user: U, due: Nanos) {
        self.generation = self.generation.wrapping_add(1);
        let generation = self.generation;
        let seat = user.seat();
        let place = self.waiting.insert(Waiting { user, due, generation }) as u32;
        let load = &mut self.loads[usize::from(seat.load)];
        if load.take_seat(seat, Slot::Waiting(place), &self.share) {
            self.unsettled.push(seat.load); // its place was given up while it was busy
        }
        self.wheel.insert(due, Timer::User { place, generation });
    }

    fn wake(&mut self, place: u32, generation: u32) -> Option<Action<U>> {
        let index = place as usize;
        if self.waiting.get(index)?.generation != generation {
            return None;
        }
        if self.paused.is_some() {
            self.held.push(place);
            return None;
        }
        let Waiting { user, due, .. } = self.waiting.remove(index);
        let seat = user.seat();
        self.loads[usize::from(seat.load)].take_seat(seat, Slot::Busy, &self.share);
        Some(Action::Resume { user, due })
    }

    /// A user of an open workload waits for the next arrival.
    pub(crate) fn free(&mut self, user: U) {
        let seat = user.seat();
        self.loads[usize::from(seat.load)].free(user);
    }

    /// A user is no more.
    pub(crate) fn leave(&mut self, seat: Seat) {
        let load = &mut self.loads[usize::from(seat.load)];
        if load.leave(seat, &self.share) {
            self.unsettled.push(seat.load); // the load wants a user there again
        }
    }

    /// Whether a user has no place any more: its load shrinks, has ended, or is another worker's now.
    pub(crate) fn is_surplus(&self, seat: Seat) -> bool {
        self.loads[usize::from(seat.load)].is_surplus(seat, &self.share)
    }

    /// Whether a user may begin an iteration, its `iteration`-th from 0; counts it if so.
    pub(crate) fn begin(&mut self, seat: Seat, iteration: u64) -> Begin {
        if self.stopped {
            return Begin::No;
        }
        self.loads[usize::from(seat.load)].begin(seat, iteration, &self.share)
    }

    /// What a user does after an iteration that was due at `paced` and ended at `now`.
    pub(crate) fn finished(&self, seat: Seat, paced: &mut Nanos, now: Nanos) -> After {
        let load = &self.loads[usize::from(seat.load)];
        match &load.shape {
            Shape::Open { .. } => After::Free,
            Shape::Closed { .. } if self.stopped || load.is_surplus(seat, &self.share) => After::Gone,
            Shape::Closed { pacing: None, .. } => After::Now,
            Shape::Closed { pacing: Some(pacing), .. } => {
                *paced = paced.saturating_add(*pacing);
                if *paced > now { After::At(*paced) } else { After::Now }
            }
        }
    }

    /// Sets a timer for the deadline of something in flight; it comes out as [`Action::Deadline`].
    pub(crate) fn deadline(&mut self, id: u32, due: Nanos) {
        self.wheel.insert(due, Timer::Deadline(id));
    }

    /// Sets a timer; it comes out as [`Action::Alarm`].
    pub(crate) fn alarm(&mut self, id: u32, due: Nanos) {
        self.wheel.insert(due, Timer::Alarm(id));
    }

    /// A load ends: no user of it begins anything more. Arrivals that were due before are out already,
    /// as what is due comes out in the order of time.
    pub(crate) fn end_load(&mut self, load: u16, at: Nanos) {
        if self.loads[usize::from(load)].end(at) {
            self.unsettled.push(load);
        }
    }

    /// The run ends at `now`: no load begins anything more; what is in flight may take `graceful_stop`
    /// nanoseconds, and then [`Action::Cancel`] comes out. Returns how many arrivals that were due
    /// have not begun, and never will.
    pub(crate) fn stop(&mut self, now: Nanos, graceful_stop: Nanos) -> u64 {
        if std::mem::replace(&mut self.stopped, true) {
            return 0;
        }
        let cut_off = self.loads.iter_mut().map(|load| load.cut_off(now)).sum();
        for load in 0..self.loads.len() {
            self.end_load(load as u16, now);
        }
        self.cancel_at(now.saturating_add(graceful_stop));
        cut_off
    }

    /// What is in flight at `due` has had its time: [`Action::Cancel`] comes out.
    pub(crate) fn cancel_at(&mut self, due: Nanos) {
        self.wheel.insert(due, Timer::Cancel);
    }

    /// Whether all loads have ended.
    pub(crate) fn all_ended(&self) -> bool {
        self.loads.iter().all(Load::has_ended)
    }

    /// Loads stand still from `now` on: no arrival, no user that begins, goes on or changes. What is in
    /// flight goes on, and so do deadlines.
    pub(crate) fn pause(&mut self, now: Nanos) {
        if self.paused.is_some() || self.stopped {
            return;
        }
        self.paused = Some(now);
        self.loads.iter_mut().for_each(Load::disarm);
    }

    /// Loads go on where they stood: everything that was due later is later by the pause.
    pub(crate) fn resume(&mut self, now: Nanos) {
        let Some(since) = self.paused.take() else { return };
        let length = now.saturating_sub(since);
        self.held.clear();
        for (place, waiting) in &mut self.waiting {
            self.generation = self.generation.wrapping_add(1);
            waiting.generation = self.generation;
            waiting.due = waiting.due.saturating_add(length);
            let timer = Timer::User { place: place as u32, generation: waiting.generation };
            self.wheel.insert(waiting.due, timer);
        }
        for load in 0..self.loads.len() {
            self.loads[load].shift(length);
            self.arm(load);
        }
    }

    /// From `at` on a load has another shape, whose time 0 is `at`. Users that are there stay, as far
    /// as the new shape has a place for them.
    pub(crate) fn reshape(&mut self, load: u16, shape: Shape, at: Nanos) {
        let (index, seed) = (usize::from(load), self.seed_of(usize::from(load)));
        self.loads[index].reshape(shape, &self.share, at, seed);
        self.arm(index);
    }

    /// From `at` on this worker has another share: seats that it gave away are left, arrivals from
    /// `at` on are those of the new share. Iterations counted over all users of a closed workload stay
    /// with whom they were given to.
    pub(crate) fn reshare(&mut self, share: Share, at: Nanos) {
        let before = std::mem::replace(&mut self.share, share);
        for index in 0..self.loads.len() {
            let seed = self.seed_of(index);
            let orphans = self.loads[index].reshare(&before, &self.share, at, seed);
            self.loads[index].orphans(orphans);
            self.arm(index);
            self.unsettled.push(index as u16);
        }
    }

    /// Puts a load's next change or arrival, and its end, into the wheel, in place of those before.
    fn arm(&mut self, index: usize) {
        self.loads[index].disarm();
        if self.paused.is_some() {
            return;
        }
        if let Some(end) = self.loads[index].ends_at() {
            let generation = self.loads[index].generation;
            self.wheel.insert(end, Timer::End { load: index as u16, generation });
        }
        self.arm_next(index);
    }

    fn arm_next(&mut self, index: usize) {
        let load = &self.loads[index];
        let (number, generation) = (index as u16, load.generation);
        let Some(due) = load.next_due() else { return };
        let timer = match load.shape {
            Shape::Closed { .. } => Timer::Users { load: number, generation },
            Shape::Open { .. } => Timer::Arrival { load: number, generation },
        };
        self.wheel.insert(due, timer);
    }
}
