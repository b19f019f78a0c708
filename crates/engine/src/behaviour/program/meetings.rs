//! Where users wait for each other: critical sections, and places where so many meet.

use squall_plan::template::BoundTemplate;

use super::interpreter::Interpreter;
use crate::behaviour::next::{Next, Task, Waiting};
use crate::program::RendezvousOp;
use crate::user::Cursor;

impl<'p> Interpreter<'_, 'p> {
    /// Comes to a critical section. `None`: it is in it.
    pub(super) fn enter_section(
        &mut self,
        name: &BoundTemplate,
        now: u64,
    ) -> Option<Next<'p, Cursor>> {
        let mut text = Vec::new();
        let rendered = name.render(&self.scope(), &mut text);
        self.or_log(rendered, "the name of a critical section", ());
        let name = String::from_utf8_lossy(&text).into_owned();
        let turn = self.worker.together.sections.enter(name, self.core.seat, now);
        if turn.pass().is_granted() {
            self.strand.enter_section(turn);
            return None;
        }
        Some(Next::Go(Task::Wait(Waiting::Turn(turn))))
    }

    /// Comes to a place where users meet. `None`: all are there.
    pub(super) fn meet(&mut self, meeting: &RendezvousOp, now: u64) -> Option<Next<'p, Cursor>> {
        let visit = self.worker.together.places.come(meeting.place, meeting.users, now);
        if visit.pass().is_granted() {
            return None;
        }
        Some(Next::Go(Task::Wait(Waiting::Visit(visit, meeting.timeout))))
    }
}
