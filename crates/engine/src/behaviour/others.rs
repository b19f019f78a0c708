//! Waits for other users: for a turn in a critical section, or until so many have met. The user keeps its task; what wakes it
//! is its pass, from whichever worker the others are on.

use std::rc::Rc;
use std::task::Waker;

use squall_metrics::UserState;

use super::next::Waiting;
use crate::net::in_flight::Guard;
use crate::sample::Moment;
use crate::turns::Visit;
use crate::user::{Core, Strand};
use crate::worker::Worker;

/// Waits from `now` on. Returns when it is over: because the others were there, or left; or because the user, or its
/// iteration, ends.
pub(super) async fn wait(
    worker: &Rc<Worker>,
    core: &Core,
    strand: &mut Strand,
    in_flight: &Guard<'_>,
    waiting: Waiting,
    now: Moment,
) -> Moment {
    if !strand.is_branch {
        worker.note(core, UserState::Waiting, now.ready);
    }
    let due = match &waiting {
        Waiting::Visit(visit, Some(timeout)) => {
            let time = worker.roster.borrow().without_pauses(now.ready);
            Some((visit, time.saturating_add(*timeout)))
        }
        _ => None,
    };
    let mut timer = None;
    let ready = |waker: &Waker| {
        let now = worker.clock.now();
        if worker.is_stopping() || worker.roster.borrow().is_surplus(core.seat) {
            core.stopped.set(true);
        }
        if core.is_ending() {
            return Some(None);
        }
        if let Some((visit, due)) = due {
            give_up_if_due(worker, in_flight, visit, due, &mut timer);
        }
        waiting.pass().poll(waker, now).map(Some)
    };
    let since = in_flight.wait(ready).await;
    let seen = worker.clock.now();
    let at = since.unwrap_or(seen).clamp(now.ready, seen.max(now.ready));
    if !strand.is_branch {
        worker.note(core, UserState::Ready, at);
    }
    strand.thought = strand.thought.saturating_add(at - now.ready);
    (strand.due, strand.waited) = (at, true);
    if let (Some(_), Waiting::Turn(turn)) = (since, waiting) {
        strand.enter_section(turn);
    }
    Moment::at(seen.max(now.ready))
}

/// Ends a wait for others that was due, in time without pauses; otherwise sees to it that it is looked at then.
fn give_up_if_due(
    worker: &Worker,
    in_flight: &Guard<'_>,
    visit: &Visit,
    due: u64,
    timer: &mut Option<u64>,
) {
    let now = worker.clock.now();
    let (is_paused, time) = {
        let roster = worker.roster.borrow();
        (roster.is_paused(), roster.without_pauses(now))
    };
    let at = due.saturating_add(now - time);
    if is_paused {
        return; // it is looked at again when the pause is over
    }
    if time >= due {
        visit.give_up(at);
    } else if timer.replace(at) != Some(at) {
        worker.wake_at(in_flight, at);
    }
}
