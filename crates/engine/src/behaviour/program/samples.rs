//! Operations that take a sample.

use super::interpreter::{Interpreter, Run};
use crate::behaviour::next::{Next, Task};
use crate::program::{ExecOp, RequestOp, TcpOp};
use crate::sample;
use crate::user::Cursor;

/// A request, unless there is nothing to send: the run stands still, the user is one too many, or its cache has what the
/// response would be.
impl Run for RequestOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, now: u64) -> Option<Next<'p, Cursor>> {
        if let Some(next) = user.may_send(now) {
            return Some(next);
        }
        if sample::is_fresh(user.worker, user.core, self) {
            user.worker.recorder.count(|counters| counters.cache_hits += 1);
            return None;
        }
        Some(Next::Go(Task::Request(self)))
    }
}

impl Run for TcpOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, now: u64) -> Option<Next<'p, Cursor>> {
        Some(user.may_send(now).unwrap_or(Next::Go(Task::Sample(self.into()))))
    }
}

impl Run for ExecOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, now: u64) -> Option<Next<'p, Cursor>> {
        if user.worker.is_void(now) {
            return Some(user.later(now));
        }
        Some(Next::Go(Task::Sample(self.into())))
    }
}

impl<'p> Interpreter<'_, 'p> {
    /// The same operation again, when the run goes on.
    fn later(&mut self, now: u64) -> Next<'p, Cursor> {
        self.cursor.pc -= 1;
        Next::Wait(now)
    }

    /// What a user does that may send nothing now: the run stands still, or the user is one too many. `None`: it may.
    pub(super) fn may_send(&mut self, now: u64) -> Option<Next<'p, Cursor>> {
        if self.worker.is_void(now) || self.worker.roster.borrow().is_paused() {
            return Some(self.later(now));
        }
        // An arrival was due before its load ended: its first request is sent.
        let arrived = std::mem::take(&mut self.strand.arrived);
        if !arrived && self.worker.roster.borrow().is_surplus(self.core.seat) {
            return Some(Next::Gone);
        }
        None
    }
}
