//! One load of the roster: its seats, and what comes next of it.

use std::collections::BTreeMap;

use squall_load::Share;

use super::closed::Closed;
use super::iterations::Iterations;
use super::open::{Open, Taker};
use super::part::Part;
use super::ramp_down::RampDown;
use super::seat::{Begin, Counted, Seat, Seated};
use super::seats::{Begun, Seats, Slot, index};
use crate::profile::{LoadProfile, Nanos, Shape};
use crate::progress::Progress;

/// A worker's share of one load.
pub(super) struct Load<U> {
    number: u16,
    profile: LoadProfile,
    /// When its time 0 is, on the run's clock; later by each pause.
    began: Nanos,
    /// That of its timers: those of another one do nothing.
    generation: u16,
    /// Whether it waits for others to be done.
    held: bool,
    ended: bool,
    /// Whether users that are one too many finish their iteration, ...
    finishes: bool,
    /// ... and which of those that it takes away before its end may do so still.
    ramp_down: RampDown,
    /// Users that do something or wait within an iteration.
    active: u64,
    seats: Seats,
    /// Iterations begun, where they are counted.
    begun: Begun,
    /// Closed: seats below this one have been looked at for a user that is to begin, ...
    settled: u64,
    /// ... and those below this one are to have a user.
    wanted: u64,
    /// When that changed last, on the run's clock.
    changed: Nanos,
    /// Places of users that wait although their seats are gone.
    orphans: Vec<u32>,
    /// Seats that were given away and whose users have yet to end what they have begun.
    leaving: BTreeMap<u64, Slot>,
    workload: Workload<U>,
}

enum Workload<U> {
    Closed(Closed),
    Open(Open<U>),
}

/// A step toward the users that there should be.
pub(super) enum UserChange {
    /// A user begins: its seat, when it was due, whether the seat was taken before.
    Admit(Seat, Nanos, bool),
    /// The user that waits at a place has to go.
    Dismiss(u32, Nanos),
}

/// What an arrival found.
pub(super) enum Arrived<U> {
    /// The number of the arrival, a seat, and the user that had it last.
    Seat(u64, Seat, Option<U>),
    /// No free user of this scenario.
    Nobody(usize),
}

impl<U: Seated> Load<U> {
    pub(super) fn new(
        number: u16,
        profile: &LoadProfile,
        part: &Part,
        iterations: &Iterations,
        (start, seed): (Nanos, u64),
    ) -> Self {
        let workload = match &profile.shape {
            Shape::Closed(shape) => {
                Workload::Closed(Closed::new(shape, part.users(), iterations.of(number)))
            }
            Shape::Open(shape) => {
                Workload::Open(Open::new(shape, profile.members.len(), part, seed))
            }
        };
        Load {
            number,
            profile: profile.clone(),
            began: start.saturating_add(profile.start),
            generation: 0,
            held: !profile.after.is_empty(),
            ended: false,
            finishes: profile.whole_iterations,
            ramp_down: RampDown::new(profile.graceful_ramp_down()),
            active: 0,
            seats: Seats::default(),
            begun: Begun::default(),
            settled: 0,
            wanted: 0,
            changed: start,
            orphans: Vec::new(),
            leaving: BTreeMap::new(),
            workload,
        }
    }

    pub(super) fn number(&self) -> u16 {
        self.number
    }

    pub(super) fn shape(&self) -> &Shape {
        &self.profile.shape
    }

    pub(super) fn generation(&self) -> u16 {
        self.generation
    }

    /// Makes its timers do nothing.
    pub(super) fn disarm(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.ramp_down.disarm();
    }

    pub(super) fn active(&self) -> u64 {
        self.active
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Whether nothing more will come of it. An open workload lasts for the time that the plan gives it, which goes on
    /// after its last arrival: its rate is that of the arrivals in that time.
    pub(super) fn is_done(&self) -> bool {
        let lasts = matches!(&self.workload, Workload::Open(open) if open.ends_with_time());
        self.active == 0 && (self.ended || (!self.held && !lasts && self.due().is_none()))
    }

    /// Whether nothing more will come of it, whatever share of it this worker gets.
    pub(super) fn is_over(&self) -> bool {
        self.active == 0 && self.ended
    }

    /// Whether its time ends it, and not what its users have done.
    pub(super) fn ends_with_time(&self) -> bool {
        self.profile.shape.end().is_some()
    }

    /// When it ends, on the run's clock. `None`: it has, or ends when its iterations are done.
    pub(super) fn ends(&self) -> Option<Nanos> {
        let end = self.profile.shape.end().filter(|_| !self.ended && !self.held)?;
        Some(self.began.saturating_add(end))
    }

    /// When the number of its users changes next, or the next arrival is due, on the run's clock.
    pub(super) fn due(&self) -> Option<Nanos> {
        let due = match &self.workload {
            _ if self.ended || self.held => None,
            Workload::Closed(closed) => closed.due(),
            Workload::Open(open) => open.due(),
        };
        due.map(|due| self.began.saturating_add(due))
    }

    /// The number of its users changes at `due`, on the run's clock; [`Load::step`] does the rest.
    /// Returns whether it falls.
    pub(super) fn change_users(&mut self, due: Nanos) -> bool {
        let Workload::Closed(closed) = &mut self.workload else { return false };
        let before = self.wanted;
        self.wanted = closed.change(due.saturating_sub(self.began));
        self.changed = due;
        self.ramp_down.change(self.wanted, due);
        self.wanted < before
    }

    /// One step toward the users that there should be. `None`: they are there.
    pub(super) fn step(&mut self, share: &Share) -> Option<UserChange> {
        if let Some(place) = self.orphans.pop() {
            self.active -= 1;
            return Some(UserChange::Dismiss(place, self.changed));
        }
        while self.settled < self.wanted {
            let k = self.settled;
            self.settled += 1;
            let slot = self.seats.get(k);
            // Who is still there, from before the number fell and rose again, just goes on.
            let Some(number) = share.nth(k).filter(|_| slot.is_open()) else { continue };
            self.active += 1;
            self.seats.set(k, Slot::BUSY);
            return Some(UserChange::Admit(self.seat(number), self.changed, slot == Slot::LEFT));
        }
        while self.settled > self.wanted {
            self.settled -= 1;
            let k = self.settled;
            let slot = self.seats.get(k);
            if slot == Slot::BUSY || (self.finishes && slot.place().is_some()) {
                continue; // it finds out by itself
            }
            self.seats.set(k, Slot::LEFT);
            if let Some(place) = slot.place() {
                self.active -= 1;
                return Some(UserChange::Dismiss(place, self.changed));
            }
        }
        None
    }

    fn seat(&self, number: u64) -> Seat {
        let scenario = self.profile.scenario_of(number) as u16;
        Seat { number, load: self.number, scenario }
    }

    /// Takes the arrival that is due. `None`: there is none.
    pub(super) fn arrive(&mut self, share: &Share) -> Option<Arrived<U>> {
        let Workload::Open(open) = &mut self.workload else { return None };
        let arrival = open.take()?;
        let scenario = self.profile.scenario_of(arrival);
        let taker = open.taker(self.profile.member_of(scenario));
        let (number, user) = match taker {
            Some(Taker::Free(user)) => (user.seat().number, Some(user)),
            Some(Taker::New(k)) => (share.nth(k)?, None),
            None => return Some(Arrived::Nobody(scenario)),
        };
        self.active += 1;
        let seat = Seat { number, load: self.number, scenario: scenario as u16 };
        self.set(seat, Slot::BUSY, share);
        Some(Arrived::Seat(arrival, seat, user))
    }

    /// Who takes a seat from now on.
    fn set(&mut self, seat: Seat, slot: Slot, share: &Share) {
        match index(seat, share) {
            Some(k) => self.seats.set(k, slot),
            None if slot.is_taken() => drop(self.leaving.insert(seat.number, slot)),
            None => drop(self.leaving.remove(&seat.number)),
        }
    }

    /// A user waits at a place. Returns whether it has to be dismissed, because its seat is gone.
    pub(super) fn wait(&mut self, seat: Seat, place: u32, now: Nanos, share: &Share) -> bool {
        let surplus = self.is_surplus(seat, share);
        if surplus {
            self.orphans.push(place);
            self.changed = self.changed.max(now);
        }
        self.set(seat, if surplus { Slot::LEFT } else { Slot::waiting(place) }, share);
        surplus
    }

    /// A user that waited goes on.
    pub(super) fn go_on(&mut self, seat: Seat, share: &Share) {
        self.set(seat, Slot::BUSY, share);
    }

    /// A user waits for the next arrival.
    pub(super) fn free(&mut self, user: U, share: &Share) {
        self.active -= 1;
        let seat = user.seat();
        if let Workload::Open(open) = &mut self.workload
            && share.owns(seat.number)
        {
            open.free(self.profile.member_of(usize::from(seat.scenario)), user);
        }
    }

    /// A user is no more.
    pub(super) fn leave(&mut self, seat: Seat, share: &Share) {
        self.active -= 1;
        let surplus = self.has_no_place(seat, share);
        self.set(seat, if surplus { Slot::LEFT } else { Slot::DONE }, share);
        if let (Workload::Open(open), Some(k)) = (&mut self.workload, index(seat, share)) {
            open.vacate(k);
        }
    }

    /// Whether a user has no place any more, and ends what it does. One whose seat was given away does not, where what it
    /// has begun is done by nobody else: it leaves when that is done.
    pub(super) fn is_surplus(&self, seat: Seat, share: &Share) -> bool {
        let may_finish = self.finishes
            && match index(seat, share) {
                Some(k) => self.ramp_down.may_go_on(k),
                None => self.is_counted(),
            };
        !may_finish && self.has_no_place(seat, share)
    }

    /// Whether a user has no place any more.
    fn has_no_place(&self, seat: Seat, share: &Share) -> bool {
        self.ended
            || match index(seat, share) {
                Some(k) => matches!(self.workload, Workload::Closed(_)) && k >= self.wanted,
                None => !self.is_counted(),
            }
    }

    /// Whether what its users begin is done once: arrivals, and iterations that are counted.
    fn is_counted(&self) -> bool {
        matches!(self.profile.shape, Shape::Open(_)) || self.counts_iterations()
    }

    /// Whether it has a number of iterations.
    fn counts_iterations(&self) -> bool {
        match &self.profile.shape {
            Shape::Open(_) => false,
            Shape::Closed(shape) => shape.iterations.or(shape.total_iterations).is_some(),
        }
    }

    /// Whether a user has nothing more to begin: it is one too many, or another's.
    pub(super) fn has_to_leave(&self, seat: Seat, share: &Share) -> bool {
        !share.owns(seat.number) || self.has_no_place(seat, share)
    }

    /// Whether a user may begin its `iteration`-th iteration, from 0; counts it if so. An arrival has
    /// been counted: it may, even if its load has ended meanwhile.
    pub(super) fn begin(&mut self, seat: Seat, iteration: u64, share: &Share) -> Begin {
        let surplus = self.has_to_leave(seat, share);
        match &mut self.workload {
            Workload::Open(_) => Begin::Yes,
            Workload::Closed(_) if surplus => Begin::No,
            Workload::Closed(closed) => {
                let begin = closed.begin(seat.number, iteration);
                if begin == Begin::Yes
                    && self.counts_iterations()
                    && let Some(k) = index(seat, share)
                {
                    self.begun.raise(k, iteration + 1);
                }
                begin
            }
        }
    }

    /// Which iteration a user begins next, that has begun `own`: its seat may have come from elsewhere.
    pub(super) fn next_iteration(&self, seat: Seat, own: u64, share: &Share) -> u64 {
        match index(seat, share).filter(|_| self.counts_iterations()) {
            Some(k) => self.begun.get(k),
            None => own,
        }
    }

    /// What was counted of the iteration that has begun last, which was that of a user.
    pub(super) fn counted(&self, seat: Seat, share: &Share) -> Option<Counted> {
        let Workload::Closed(closed) = &self.workload else { return None };
        let k = index(seat, share).filter(|_| self.counts_iterations())?;
        Some(Counted { begun: self.begun.get(k), shard: closed.taken() })
    }

    /// It ends at a time, on the run's clock. Returns whether it has users to dismiss.
    pub(super) fn end(&mut self, at: Nanos) -> bool {
        if std::mem::replace(&mut self.ended, true) {
            return false;
        }
        self.disarm();
        self.wanted = 0;
        if !self.finishes {
            self.dismiss_all(at);
        }
        true
    }

    /// How long its users may take to finish their iteration after its end, if not as long as all others.
    pub(super) fn graceful(&self) -> Option<Nanos> {
        self.profile.graceful.filter(|_| self.finishes)
    }

    /// Users that are one too many, and finish their iteration, are to end now: at a time, on the run's clock. Returns whether
    /// it has users to dismiss.
    pub(super) fn cut(&mut self, at: Nanos) -> bool {
        let is_cut = std::mem::take(&mut self.finishes) && self.ended;
        if is_cut {
            self.dismiss_all(at);
        }
        is_cut
    }

    /// When users that were taken away are to end next, on the run's clock, unless a timer is set to that.
    pub(super) fn next_ramp_down(&mut self) -> Option<Nanos> {
        self.ramp_down.next_timer()
    }

    /// Users that were taken away so long before `at`, on the run's clock, that they may not finish their iteration any more
    /// are to end. Returns whether there are any.
    pub(super) fn cut_ramped_down(&mut self, at: Nanos) -> bool {
        let cut = self.ramp_down.cut(at);
        self.changed = self.changed.max(at);
        for k in cut.clone() {
            if let Some(place) = self.seats.get(k).place() {
                self.seats.set(k, Slot::LEFT);
                self.orphans.push(place);
            }
        }
        !cut.is_empty()
    }

    /// Those that wait are to be dismissed, all of them.
    fn dismiss_all(&mut self, at: Nanos) {
        (self.settled, self.changed) = (self.seats.len(), at);
        let orphans = std::mem::take(&mut self.leaving).into_values().filter_map(Slot::place);
        self.orphans.extend(orphans);
    }

    /// Leaves out the arrivals that are due before `now`, on the run's clock; how many they were.
    pub(super) fn skip_before(&mut self, now: Nanos) -> u64 {
        match &mut self.workload {
            Workload::Open(open) if !self.ended && !self.held => {
                open.skip_before(now.saturating_sub(self.began))
            }
            _ => 0,
        }
    }

    /// Those that it waits for are done. Returns whether it starts now.
    pub(super) fn release(&mut self, at: Nanos) -> bool {
        if std::mem::take(&mut self.held) {
            self.began = at.saturating_add(self.profile.start);
            return true;
        }
        false
    }

    /// It is later by a pause.
    pub(super) fn shift(&mut self, length: Nanos) {
        self.began = self.began.saturating_add(length);
        self.ramp_down.shift(length);
    }

    /// It has another shape, whose time 0 is `at` on the run's clock. A closed workload stays closed,
    /// an open one open.
    pub(super) fn reshape(&mut self, shape: Shape, part: &Part, at: Nanos, seed: u64) {
        if std::mem::discriminant(&shape) != std::mem::discriminant(&self.profile.shape) {
            return;
        }
        self.profile.shape = shape;
        self.ramp_down.set_graceful(self.profile.graceful_ramp_down());
        self.began = at;
        match (&mut self.workload, &self.profile.shape) {
            (Workload::Closed(closed), Shape::Closed(shape)) => closed.reshare(shape, part.users()),
            (Workload::Open(open), Shape::Open(shape)) => {
                let changed = Open::new(shape, self.profile.members.len(), part, seed);
                let before = std::mem::replace(open, changed);
                open.take_over_users(before);
            }
            // It was found to be of the same kind.
            _ => {}
        }
    }

    /// From `at` on, on the run's clock, it is another share of its load. What was due by `late` has begun, or it is too
    /// late for it; returns how many arrivals these were.
    pub(super) fn reshare(
        &mut self,
        before: &Share,
        part: &Part,
        (at, late): (Nanos, Nanos),
        seed: u64,
        progress: &Progress,
    ) -> u64 {
        let share = part.users();
        if let Workload::Open(open) = &mut self.workload {
            // Free users have nothing that an arrival could not begin with anew.
            for user in open.take_free() {
                let free = index(user.seat(), before);
                free.into_iter().for_each(|k| self.seats.set(k, Slot::LEFT));
            }
        }
        for (number, slot) in self.seats.renumber(before, share) {
            match slot.place() {
                Some(place) if !self.is_counted() => self.orphans.push(place),
                _ if self.is_counted() => drop(self.leaving.insert(number, slot)),
                _ => {} // it finds out by itself
            }
        }
        self.begun.renumber(before, share);
        self.ramp_down.renumber(before, share);
        let own = (self.number, 0)..=(self.number, u64::MAX);
        for ((_, number), begun) in progress.users.range(own) {
            if share.owns(*number) && self.counts_iterations() {
                self.begun.raise(share.count_below(*number), *begun);
            }
        }
        // Who has not left yet has its seat again.
        let back = self.leaving.extract_if(.., |number, _| share.owns(*number));
        for (number, slot) in back {
            self.seats.set(share.count_below(number), slot);
        }
        let time = at.saturating_sub(self.began);
        match (&mut self.workload, &self.profile.shape) {
            (Workload::Closed(closed), Shape::Closed(shape)) => {
                closed.reshare(shape, share);
                if at >= self.began && !self.held {
                    self.wanted = closed.change(time);
                    self.ramp_down.change(self.wanted, at);
                }
                (self.settled, self.changed) = (0, at);
            }
            (Workload::Open(open), Shape::Open(shape)) => {
                let now = Open::new(shape, self.profile.members.len(), part, seed);
                let before = std::mem::replace(open, now);
                open.skip_before(time);
                open.follow(before);
                open.give_out(&self.seats);
            }
            // A load stays of its kind.
            _ => {}
        }
        self.skip_before(late)
    }

    /// The iterations that all users have together are those of another share, see `IterationsLeft::reshare`.
    pub(super) fn reshare_iterations(
        &self,
        change: usize,
        process: &Share,
        progress: &Progress,
    ) -> Vec<(u64, u64)> {
        match &self.workload {
            Workload::Closed(closed) => {
                closed.left().reshare((self.number, change), process, progress)
            }
            Workload::Open(_) => Vec::new(),
        }
    }
}
