//! Where users wait for each other: critical sections, and places where so many meet.

use super::interpreter::{Interpreter, Run};
use crate::behaviour::next::{Next, Task, Waiting};
use crate::program::{EnterSectionOp, LeaveSectionOp, RendezvousOp};
use crate::user::Cursor;

impl Run for EnterSectionOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, now: u64) -> Option<Next<'p, Cursor>> {
        let mut text = Vec::new();
        let rendered = self.0.render(&user.scope(), &mut text);
        user.or_log(rendered, "the name of a critical section", ());
        let name = String::from_utf8_lossy(&text).into_owned();
        let turn = user.worker.together.sections.enter(name, user.core.seat, now);
        if turn.pass().is_granted() {
            user.strand.enter_section(turn);
            return None;
        }
        Some(Next::Go(Task::Wait(Waiting::Turn(turn))))
    }
}

impl Run for LeaveSectionOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, now: u64) -> Option<Next<'p, Cursor>> {
        user.strand.leave_section().into_iter().for_each(|turn| turn.leave(now));
        None
    }
}

impl Run for RendezvousOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, now: u64) -> Option<Next<'p, Cursor>> {
        let visit = user.worker.together.places.come(self.place, self.users, now);
        if visit.pass().is_granted() {
            return None;
        }
        Some(Next::Go(Task::Wait(Waiting::Visit(visit, self.timeout))))
    }
}
