//! Waits for other users: for a turn in a critical section, or until so many have met. The user keeps its task; what wakes it
//! is its pass, from whichever worker the others are on.

use std::rc::Rc;
use std::task::Waker;

use squall_metrics::UserState;

use super::due::Due;
use super::next::Waiting;
use crate::net::in_flight::Guard;
use crate::sample::Moment;
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
    let mut given_up = match &waiting {
        Waiting::Visit(visit, Some(timeout)) => {
            Some((visit, Due::after(worker, now.ready, *timeout)))
        }
        _ => None,
    };
    let ready = |waker: &Waker| {
        if worker.has_to_end(core) {
            return Some(None);
        }
        if let Some((visit, due)) = &mut given_up
            && let Some(at) = due.poll(worker, in_flight)
        {
            visit.give_up(at);
        }
        waiting.pass().poll(waker, worker.clock.now()).map(Some)
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
