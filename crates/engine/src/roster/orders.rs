//! What others order while it goes on: an end, pauses, and changes of loads and shares.

use super::load::Load;
use super::seat::Seated;
use super::{Change, Roster, Timer};
use crate::profile::Nanos;

/// A change takes effect at most so much later than it was to, however many arrivals are in arrears by then.
const MOST_IN_ARREARS: Nanos = 500_000_000;

/// A second: shares change at whole ones.
const SECOND: Nanos = 1_000_000_000;

impl<U: Seated> Roster<U> {
    /// The run ends at `now`: no load begins anything more. Returns how many arrivals were due and
    /// have not begun.
    pub(crate) fn stop(&mut self, now: Nanos) -> u64 {
        self.stopped = true;
        let cut_off = self.loads.iter_mut().map(|load| load.skip_before(now)).sum();
        for load in 0..self.loads.len() as u16 {
            self.cut_load(load, now);
            self.end_load(load, now);
        }
        cut_off
    }

    /// At `due`, what is in flight has had its time: [`super::Action::Cancel`] comes out.
    pub(crate) fn cancel_at(&mut self, due: Nanos) {
        self.wheel.insert(due, Timer::Cancel);
    }

    /// Loads stand still from `now` on: nobody arrives, begins, goes on or is dismissed. What is in
    /// flight goes on, and so do timers.
    pub(crate) fn pause(&mut self, now: Nanos) {
        if self.paused.is_none() {
            self.paused = Some(now);
            self.loads.iter_mut().for_each(Load::disarm);
            // What stands still gets its timers when the pause ends.
            self.wheel.retain(|timer| !timer.stands_still());
        }
    }

    /// Loads go on where they stood: what was due is due later, by the length of the pause.
    pub(crate) fn resume(&mut self, now: Nanos) {
        let Some(since) = self.paused.take() else { return };
        let length = now.saturating_sub(since);
        self.paused_ns = self.paused_ns.saturating_add(length);
        for (place, waiting) in &mut self.waiting {
            waiting.due = waiting.due.saturating_add(length);
            let timer = Timer::User { place: place as u32, generation: waiting.generation };
            self.wheel.insert(waiting.due, timer);
        }
        for load in 0..self.loads.len() as u16 {
            self.load_mut(load).shift(length);
            self.arm(load);
        }
    }

    /// Loads go on from `due` on. If that is long past, what was due since is left out until the next whole second.
    fn go_on(&mut self, due: Nanos, now: Nanos) {
        self.resume(due);
        // Users that are about to do something look again.
        self.shrunk = true;
        let Some(late) = in_arrears(due, now) else { return };
        for load in 0..self.loads.len() as u16 {
            self.cut_off += self.load_mut(load).skip_before(due + late);
            self.arm(load);
        }
    }

    /// Makes a change at `at`, on the run's clock. That must not be past: what was due since then would
    /// be done twice, or by nobody.
    pub(crate) fn change_at(&mut self, at: Nanos, change: Change) {
        let place = self.changes.partition_point(|(later, _)| *later > at);
        self.changes.insert(place, (at, change));
        self.wheel.insert(at, Timer::Change);
    }

    /// Makes the changes of loads that should have been made long before `now`, and were not because arrivals that
    /// were due before them are in arrears. Returns how many arrivals of these loads were left out for that.
    pub(crate) fn change_overdue(&mut self, now: Nanos) -> u64 {
        let mut cut_off = 0;
        while let Some((at, change)) = self.changes.last()
            && at.saturating_add(MOST_IN_ARREARS) <= now
        {
            match change {
                Change::Shape { load, .. } => {
                    cut_off += self.loads[usize::from(*load)].skip_before(*at)
                }
                Change::Pause => {}
                Change::GoOn | Change::Share { .. } => break,
            }
            self.change(now);
        }
        cut_off
    }

    /// Who begins at `now` what began long ago does not make up for it: it begins at the next whole second, and what was
    /// due before is left out. Returns how many arrivals these were.
    pub(crate) fn begin_late(&mut self, start: Nanos, now: Nanos) -> u64 {
        let Some(late) = in_arrears(start, now) else { return 0 };
        let cut_off = self.loads.iter_mut().map(|load| load.skip_before(start + late)).sum();
        (0..self.loads.len()).for_each(|load| self.arm(load as u16));
        cut_off
    }

    /// Arrivals for which it was too late when their share came, since this was asked last.
    pub(crate) fn take_cut_off(&mut self) -> u64 {
        std::mem::take(&mut self.cut_off)
    }

    /// Makes the next change, at `now`.
    pub(super) fn change(&mut self, now: Nanos) {
        let Some((due, change)) = self.changes.pop() else { return };
        // What changes in a pause changes the load where it stands still.
        let at = self.paused.map_or(due, |since| since.min(due));
        match change {
            Change::Pause => self.pause(due),
            Change::GoOn => self.go_on(due, now),
            Change::Shape { load, shape } => {
                let seed = self.seed_of(load);
                self.loads[usize::from(load)].reshape(shape, &self.part, at, seed);
                self.shrunk = true;
                self.arm(load);
            }
            Change::Share { number, share, progress } => {
                for own in &self.loads {
                    let begun = own.reshare_iterations(number, &share, &progress);
                    let of = own.number();
                    self.elsewhere.extend(begun.iter().map(|(shard, n)| (of, *shard, *n)));
                }
                self.reshared = true;
                let part = self.part.of_share(share);
                let before = std::mem::replace(&mut self.part, part);
                self.shrunk = true;
                let late = in_arrears(at, now).filter(|_| self.paused.is_none());
                let times = (at, late.map_or(at, |late| at + late));
                for load in 0..self.loads.len() as u16 {
                    let seed = self.seed_of(load);
                    let own = &mut self.loads[usize::from(load)];
                    self.cut_off += own.reshare(before.users(), &self.part, times, seed, &progress);
                    self.arm(load);
                    self.unsettled.push(load);
                }
            }
        }
    }
}

/// How long after `due` the next whole second is that begins at `now` or later, if `now` is so much later that what was due
/// since is left out. `due` is at a whole second.
fn in_arrears(due: Nanos, now: Nanos) -> Option<Nanos> {
    let late = now.saturating_sub(due);
    (late > MOST_IN_ARREARS).then(|| late.next_multiple_of(SECOND))
}
