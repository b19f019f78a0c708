//! Who runs when: this worker's share of the loads, the virtual users that wait, and every time at
//! which something is due. Pure: no clock, no event loop, no I/O; time comes in as an argument, in
//! nanoseconds of the run's clock.
//!
//! The event loop asks [`Roster::poll`] for what is due, one [`Action`] at a time, for as long as it
//! likes, and sleeps until [`Roster::next`]. A user that does something belongs to whoever took it
//! from an action; it comes back by [`Roster::park`], [`Roster::free`] or [`Roster::leave`].
//!
//! Which users and arrivals are this worker's is decided by its [`Part`] alone; iterations that a workload has in all are taken
//! from [`Iterations`]. Loads that have a number of iterations count what is begun on each seat, so that another process goes
//! on there ([`crate::progress`]).

mod closed;
mod iterations;
mod load;
mod open;
mod orders;
mod part;
mod ramp_down;
mod seat;
mod seats;
#[cfg(test)]
mod tests;
mod wheel;

use std::sync::Arc;

use slab::Slab;
use squall_load::Share;

use crate::profile::{LoadProfile, Nanos, Shape};
use crate::progress::Progress;
pub(crate) use iterations::Iterations;
use load::{Arrived, Load, UserChange};
pub(crate) use part::Part;
pub(crate) use seat::{Begin, Counted, Seat, Seated};
use wheel::Wheel;

/// Something that is due.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action<U> {
    /// A virtual user of a closed workload begins. `again`: its seat was taken before and left.
    Admit { seat: Seat, due: Nanos, again: bool },
    /// An arrival of an open workload, by its number over all workers and nodes: an iteration by a user that was free, or
    /// by a new one. A user of another scenario leaves its seat to a new one.
    Arrive { number: u64, seat: Seat, due: Nanos, user: Option<U> },
    /// An arrival for a scenario found no free user.
    DropArrival { scenario: usize },
    /// A user that waited goes on.
    Resume { user: U, due: Nanos },
    /// A user that waited has lost its seat: it is no more.
    Dismiss { user: U, at: Nanos },
    /// A timer that was set by [`Roster::set_timer`].
    Timer { id: u32, due: Nanos },
    /// What is in flight after the end has had its time.
    Cancel,
}

/// What a user does after an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// The next iteration, now; it was due then.
    Now(Nanos),
    /// The next iteration, at that time.
    At(Nanos),
    /// Nothing until the next arrival: [`Roster::free`].
    Free,
    /// Nothing more: [`Roster::leave`].
    Gone,
}

/// A worker's share of the loads, and who waits.
pub(crate) struct Roster<U> {
    part: Part,
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
    /// How long they stood still before.
    paused_ns: Nanos,
    /// What is to change, and when, the latest first.
    changes: Vec<(Nanos, Change)>,
    stopped: bool,
    /// Whether more shares may come: nothing is done before all loads have ended.
    stays: bool,
    /// Arrivals for which it was too late when their share came, since [`Roster::take_cut_off`].
    cut_off: u64,
    /// Whether it has another share since [`Roster::take_reshared`].
    reshared: bool,
    /// Iterations of all users together that came with a share and were begun elsewhere, since
    /// [`Roster::take_elsewhere`]: by load and shard.
    elsewhere: Vec<(u16, u64, u64)>,
    /// Whether users may have lost their seats since [`Roster::take_shrunk`].
    shrunk: bool,
}

/// A change of what this worker does.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// From then on a load has another shape, whose time 0 is then; it stays closed or open. Users that
    /// are there stay, as far as the new shape has a place for them.
    Shape { load: u16, shape: Shape },
    /// From then on loads stand still.
    Pause,
    /// They go on.
    GoOn,
    /// From then on the process has another share: seats that it gives away are left, arrivals due
    /// then or later are those of the new share. Users go on where `progress` says that they are, and so do
    /// iterations counted over all users. `number` is that of the change, the same on all workers, from 1.
    Share { number: usize, share: Share, progress: Arc<Progress> },
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
    User {
        place: u32,
        generation: u32,
    },
    /// The number of users of a closed workload changes, or the next arrival of an open one is due.
    Load {
        load: u16,
        generation: u16,
    },
    End {
        load: u16,
        generation: u16,
    },
    Change,
    /// Iterations that go on after the end of a load have had their time.
    Cut {
        load: u16,
    },
    /// Iterations of users that a load has taken away have had their time.
    RampDown {
        load: u16,
        generation: u16,
    },
    Other(u32),
    Cancel,
}

impl Timer {
    /// Whether it is late by a pause.
    fn stands_still(self) -> bool {
        match self {
            Timer::User { .. }
            | Timer::Load { .. }
            | Timer::End { .. }
            | Timer::RampDown { .. } => true,
            Timer::Change | Timer::Cut { .. } | Timer::Other(_) | Timer::Cancel => false,
        }
    }
}

impl<U: Seated> Roster<U> {
    /// A part of the loads, of a run that begins at `start`. Everything random follows from `seed`.
    pub(crate) fn new(
        profiles: &[LoadProfile],
        part: Part,
        iterations: &Iterations,
        start: Nanos,
        seed: u64,
    ) -> Self {
        let mut roster = Roster {
            part,
            seed,
            loads: Vec::new(),
            unsettled: Vec::new(),
            waiting: Slab::new(),
            wheel: Wheel::new(),
            generation: 0,
            paused: None,
            paused_ns: 0,
            changes: Vec::new(),
            stopped: false,
            stays: false,
            cut_off: 0,
            reshared: false,
            elsewhere: Vec::new(),
            shrunk: false,
        };
        for (profile, load) in profiles.iter().zip(0..) {
            let seed = roster.seed_of(load);
            roster.loads.push(Load::new(load, profile, &roster.part, iterations, (start, seed)));
            roster.arm(load);
        }
        roster
    }

    /// Each load has a stream of chance of its own.
    fn seed_of(&self, load: u16) -> u64 {
        self.seed.wrapping_add(u64::from(load))
    }

    fn load(&self, seat: Seat) -> &Load<U> {
        &self.loads[usize::from(seat.load)]
    }

    fn load_mut(&mut self, load: u16) -> &mut Load<U> {
        &mut self.loads[usize::from(load)]
    }

    /// Users that do something or wait within an iteration: not those that are free for an arrival.
    pub(crate) fn active(&self) -> u64 {
        self.loads.iter().map(Load::active).sum()
    }

    /// More shares may come while the loads go on: to have done one's own is not to be done.
    pub(crate) fn stay(&mut self) {
        self.stays = true;
    }

    /// Whether nothing more will come of any load.
    pub(crate) fn is_done(&self) -> bool {
        match self.stays {
            true => self.unsettled.is_empty() && self.loads.iter().all(Load::is_over),
            false => self.is_idle(),
        }
    }

    /// Whether nothing more will come of any load, unless this worker gets another share.
    pub(crate) fn is_idle(&self) -> bool {
        self.unsettled.is_empty() && self.loads.iter().all(Load::is_done)
    }

    /// Whether nothing more will come of a load. One that time ends is there until then, whoever has it.
    pub(crate) fn is_load_done(&self, load: u16) -> bool {
        let own = &self.loads[usize::from(load)];
        let is_done =
            if self.stays && own.ends_with_time() { own.is_over() } else { own.is_done() };
        !self.unsettled.contains(&load) && is_done
    }

    /// A load that waits for others starts: they are done.
    pub(crate) fn release(&mut self, load: u16, at: Nanos) {
        if self.load_mut(load).release(at) {
            self.arm(load);
        }
    }

    /// Whether all loads have ended.
    pub(crate) fn all_ended(&self) -> bool {
        self.loads.iter().all(Load::has_ended)
    }

    /// When to poll next. `None`: nothing is due until something is put in.
    pub(crate) fn next(&self) -> Option<Nanos> {
        if self.unsettled.is_empty() { self.wheel.next() } else { Some(0) }
    }

    /// The next thing that is due at `now`.
    pub(crate) fn poll(&mut self, now: Nanos) -> Option<Action<U>> {
        loop {
            if let Some(load) = self.unsettled.last().copied() {
                if let Some(action) = self.step(load) {
                    return Some(action);
                }
                self.unsettled.pop();
                continue;
            }
            let (due, timer) = self.wheel.pop(now)?;
            let stood_still = self.paused_ns;
            while self.changes.last().is_some_and(|(at, _)| *at <= due) {
                self.change(now);
            }
            // What a pause has overtaken is due later.
            let is_overtaken = self.paused.is_some() || self.paused_ns != stood_still;
            if is_overtaken && timer.stands_still() {
                continue;
            }
            if let Some(action) = self.fire(due, timer) {
                return Some(action);
            }
        }
    }

    fn fire(&mut self, due: Nanos, timer: Timer) -> Option<Action<U>> {
        match timer {
            Timer::User { place, generation } => self.wake(place, generation),
            Timer::Load { load, generation } => {
                let index = usize::from(load);
                if self.loads[index].generation() != generation {
                    return None;
                }
                let arrived = self.loads[index].arrive(self.part.users());
                if arrived.is_none() {
                    self.shrunk |= self.loads[index].change_users(due);
                    self.unsettled.push(load);
                    self.arm_ramp_down(load);
                }
                self.arm_next(load);
                match arrived? {
                    Arrived::Seat(number, seat, user) => {
                        Some(Action::Arrive { number, seat, due, user })
                    }
                    Arrived::Nobody(scenario) => Some(Action::DropArrival { scenario }),
                }
            }
            Timer::End { load, generation } => {
                if self.loads[usize::from(load)].generation() == generation {
                    self.end_load(load, due);
                }
                None
            }
            Timer::Change => None, // it was made before
            Timer::Cut { load } => {
                self.cut_load(load, due);
                None
            }
            Timer::RampDown { load, generation } => {
                let own = &mut self.loads[usize::from(load)];
                if own.generation() == generation {
                    if own.cut_ramped_down(due) {
                        self.unsettled.push(load);
                        self.shrunk = true;
                    }
                    self.arm_ramp_down(load);
                }
                None
            }
            Timer::Other(id) => Some(Action::Timer { id, due }),
            Timer::Cancel => Some(Action::Cancel),
        }
    }

    /// One step toward the users that a load should have.
    fn step(&mut self, load: u16) -> Option<Action<U>> {
        match self.loads[usize::from(load)].step(self.part.users())? {
            UserChange::Admit(seat, due, again) => Some(Action::Admit { seat, due, again }),
            UserChange::Dismiss(place, at) => {
                let Waiting { user, .. } = self.waiting.remove(place as usize);
                Some(Action::Dismiss { user, at })
            }
        }
    }

    /// Lets a user wait from `now` until `due`; then it comes out as [`Action::Resume`]. If it has no
    /// seat any more it comes out at once, as [`Action::Dismiss`].
    pub(crate) fn park(&mut self, user: U, due: Nanos, now: Nanos) {
        // A pause lasts from its beginning for all who wait: take off what has passed of it.
        let due = due - self.paused.map_or(0, |since| now.saturating_sub(since)).min(due);
        let seat = user.seat();
        let generation = self.next_generation();
        let place = self.waiting.insert(Waiting { user, due, generation }) as u32;
        if self.loads[usize::from(seat.load)].wait(seat, place, now, self.part.users()) {
            self.unsettled.push(seat.load);
        } else if self.paused.is_none() {
            self.wheel.insert(due, Timer::User { place, generation });
        }
    }

    fn next_generation(&mut self) -> u32 {
        self.generation = self.generation.wrapping_add(1);
        self.generation
    }

    fn wake(&mut self, place: u32, generation: u32) -> Option<Action<U>> {
        let waiting = self.waiting.get(place as usize)?;
        if waiting.generation != generation {
            return None;
        }
        let Waiting { user, due, .. } = self.waiting.remove(place as usize);
        let seat = user.seat();
        self.loads[usize::from(seat.load)].go_on(seat, self.part.users());
        Some(Action::Resume { user, due })
    }

    /// A user of an open workload waits for the next arrival.
    pub(crate) fn free(&mut self, user: U) {
        let load = usize::from(user.seat().load);
        self.loads[load].free(user, self.part.users());
    }

    /// A user is no more.
    pub(crate) fn leave(&mut self, seat: Seat) {
        self.loads[usize::from(seat.load)].leave(seat, self.part.users());
    }

    /// Whether a user has no place any more: its load shrinks, has ended, or it is another worker's.
    pub(crate) fn is_surplus(&self, seat: Seat) -> bool {
        self.load(seat).is_surplus(seat, self.part.users())
    }

    fn has_to_leave(&self, seat: Seat) -> bool {
        self.load(seat).has_to_leave(seat, self.part.users())
    }

    /// Whether a user may begin its `iteration`-th iteration, from 0; counts it if so.
    pub(crate) fn begin(&mut self, seat: Seat, iteration: u64) -> Begin {
        if self.stopped {
            return Begin::No;
        }
        self.loads[usize::from(seat.load)].begin(seat, iteration, self.part.users())
    }

    /// Which iteration a user begins next, that has begun `own` here.
    pub(crate) fn next_iteration(&self, seat: Seat, own: u64) -> u64 {
        self.load(seat).next_iteration(seat, own, self.part.users())
    }

    /// What was counted of the iteration that a user has begun just now; `None`: its load has no number of them.
    pub(crate) fn counted(&self, seat: Seat) -> Option<Counted> {
        self.load(seat).counted(seat, self.part.users())
    }

    /// Whether it has another share since this was asked last.
    pub(crate) fn take_reshared(&mut self) -> bool {
        std::mem::take(&mut self.reshared)
    }

    /// Iterations of all users together that were begun elsewhere before they came here, since this was asked last: by
    /// load and shard.
    pub(crate) fn take_elsewhere(&mut self) -> Vec<(u16, u64, u64)> {
        std::mem::take(&mut self.elsewhere)
    }

    /// When a user that begins at `due` has its first iteration, in the time of [`Roster::after`].
    pub(crate) fn first_iteration(&self, due: Nanos) -> Nanos {
        due - self.paused_ns.min(due)
    }

    /// What a user does after an iteration that ended at `now`. `paced` is when that iteration was due,
    /// and becomes when the next one is: in time without pauses, see [`Roster::first_iteration`].
    pub(crate) fn after(&self, seat: Seat, paced: &mut Nanos, now: Nanos) -> After {
        match self.load(seat).shape() {
            Shape::Open(_) => After::Free,
            Shape::Closed(_) if self.stopped || self.has_to_leave(seat) => After::Gone,
            Shape::Closed(shape) => {
                let due = shape.pacing.map_or(now, |pacing| {
                    *paced = paced.saturating_add(pacing);
                    paced.saturating_add(self.paused_ns)
                });
                if due > now || self.is_paused() { After::At(due) } else { After::Now(due) }
            }
        }
    }

    /// Sets a timer; it comes out as [`Action::Timer`].
    pub(crate) fn set_timer(&mut self, id: u32, due: Nanos) {
        self.wheel.insert(due, Timer::Other(id));
    }

    /// A load ends: no user of it begins anything more. Arrivals that were due before are out already,
    /// as what is due comes out in the order of time.
    pub(crate) fn end_load(&mut self, load: u16, at: Nanos) {
        if self.load_mut(load).end(at) {
            self.unsettled.push(load);
            self.shrunk = true;
            self.arm_ramp_down(load);
            if let Some(graceful) = self.load_mut(load).graceful() {
                self.wheel.insert(at.saturating_add(graceful), Timer::Cut { load });
            }
        }
    }

    /// Users of a load that finish their iteration are to end now.
    fn cut_load(&mut self, load: u16, at: Nanos) {
        if self.load_mut(load).cut(at) {
            self.unsettled.push(load);
            self.shrunk = true;
        }
    }

    /// Whether users may have lost their seats since this was asked last: those that do something find
    /// out by themselves when they look.
    pub(crate) fn take_shrunk(&mut self) -> bool {
        std::mem::take(&mut self.shrunk)
    }

    /// The time of a wait: that of the clock without pauses.
    pub(crate) fn without_pauses(&self, now: Nanos) -> Nanos {
        self.paused.map_or(now, |since| now.min(since)).saturating_sub(self.paused_ns)
    }

    /// Whether loads stand still.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// What this worker has of all that is numbered.
    pub(crate) fn part(&self) -> &Part {
        &self.part
    }

    /// Puts a load's next change or arrival, and its end, into the wheel, in place of those before.
    fn arm(&mut self, load: u16) {
        self.load_mut(load).disarm();
        if self.paused.is_some() {
            return;
        }
        let generation = self.load_mut(load).generation();
        if let Some(end) = self.load_mut(load).ends() {
            self.wheel.insert(end, Timer::End { load, generation });
        }
        self.arm_next(load);
        self.arm_ramp_down(load);
    }

    fn arm_ramp_down(&mut self, load: u16) {
        let generation = self.load_mut(load).generation();
        if let Some(due) = self.load_mut(load).next_ramp_down() {
            self.wheel.insert(due, Timer::RampDown { load, generation });
        }
    }

    fn arm_next(&mut self, load: u16) {
        let generation = self.load_mut(load).generation();
        if let Some(due) = self.load_mut(load).due() {
            self.wheel.insert(due, Timer::Load { load, generation });
        }
    }
}
