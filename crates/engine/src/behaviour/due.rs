//! Waits of a user that keeps its task: until when, and what ends them before.

use crate::net::in_flight::Guard;
use crate::user::Core;
use crate::worker::Worker;

/// A time that is waited for. Pauses of the run put it off.
pub(super) struct Due {
    /// When, in time without pauses.
    at: u64,
    /// What the timer is set to.
    timer: Option<u64>,
}

impl Due {
    /// So many nanoseconds after `now`.
    pub(super) fn after(worker: &Worker, now: u64, wait: u64) -> Due {
        let time = worker.roster.borrow().without_pauses(now);
        Due { at: time.saturating_add(wait), timer: None }
    }

    /// When it was due, if it is; otherwise sees to it that it is asked again then. After a pause all that wait are.
    pub(super) fn poll(&mut self, worker: &Worker, in_flight: &Guard<'_>) -> Option<u64> {
        let now = worker.clock.now();
        let (is_paused, time) = {
            let roster = worker.roster.borrow();
            (roster.is_paused(), roster.without_pauses(now))
        };
        if is_paused {
            return None;
        }
        let at = self.at.saturating_add(now - time);
        if time >= self.at {
            return Some(at);
        }
        if self.timer.replace(at) != Some(at) {
            worker.wake_at(in_flight, at);
        }
        None
    }
}

/// Waits from `now` for so many nanoseconds. Returns when that was over; `None`: its user has to end before.
pub(super) async fn wait(
    worker: &Worker,
    core: &Core,
    in_flight: &Guard<'_>,
    (now, wait): (u64, u64),
) -> Option<u64> {
    let mut due = Due::after(worker, now, wait);
    // `Some(None)`: it ends before.
    let ready = |_: &_| match worker.has_to_end(core) {
        true => Some(None),
        false => due.poll(worker, in_flight).map(Some),
    };
    in_flight.wait(ready).await
}

impl Worker {
    /// When the next request of a script may be sent, `now` or later, if the plan has a limit for them. The process has its
    /// part of that.
    pub(super) fn place_of_script(&self, now: u64) -> Option<u64> {
        let (line, rate) = self.program.script_rate?;
        let period = (1e9 / (rate * self.together.part(None))) as u64;
        self.together.place(line, now, period, u64::MAX)
    }

    /// Whether no strand of a user may begin, or wait for, anything more: the run stops, the user is one too many, or
    /// its iteration is over.
    pub(super) fn has_to_end(&self, core: &Core) -> bool {
        if self.is_stopping() || self.roster.borrow().is_surplus(core.seat) {
            core.stopped.set(true);
        }
        core.is_ending()
    }
}
