//! How long a user waits because its plan says so: think times, rates, critical sections, and places where users meet.

use std::time::Duration;

use squall_plan::model::{PacedBy, Think};

use super::interpreter::{Interpreter, Run};
use crate::behaviour::next::{Next, Task, Waiting};
use crate::program::{self, PaceClock, PaceOp, WaitOp};
use crate::user::{Core, Cursor};

/// How far ahead places in a rate that changes are taken, and when one looks again that was further away: 100 ms, in
/// nanoseconds. A rate that one looks at ten times a second is followed closely, and looking costs little.
const LOOK_AGAIN: u64 = 100_000_000;

impl Run for WaitOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, now: u64) -> Option<Next<'p, Cursor>> {
        match self {
            WaitOp::Think(think) => Some(Next::Wait(now.saturating_add(drawn(user.core, think)))),
            WaitOp::ThinkOfUser(template) => {
                let think = program::think(template, &user.scope());
                let think = user.or_log(think, "think", Think::Fixed(Duration::ZERO));
                Some(Next::Wait(now.saturating_add(drawn(user.core, &think))))
            }
            WaitOp::Pace(pace) => {
                let wait = user.place(pace, now).unwrap_or_else(|| {
                    user.cursor.pc -= 1;
                    LOOK_AGAIN
                });
                (wait > 0).then(|| Next::Wait(now.saturating_add(wait)))
            }
            WaitOp::Rendezvous { place, users, timeout } => {
                let visit = user.worker.together.places.come(*place, *users, now);
                let is_over = visit.pass().is_granted();
                (!is_over).then(|| Next::Go(Task::Wait(Waiting::Visit(visit, *timeout))))
            }
            WaitOp::EnterSection(name) => {
                let mut text = Vec::new();
                let rendered = name.render(&user.scope(), &mut text);
                user.or_log(rendered, "the name of a critical section", ());
                let name = String::from_utf8_lossy(&text).into_owned();
                let turn = user.worker.together.sections.enter(name, user.core.seat, now);
                if turn.pass().is_granted() {
                    user.strand.enter_section(turn);
                    return None;
                }
                Some(Next::Go(Task::Wait(Waiting::Turn(turn))))
            }
            WaitOp::LeaveSection => {
                user.strand.leave_section().into_iter().for_each(|turn| turn.leave(now));
                None
            }
        }
    }
}

impl Interpreter<'_, '_> {
    /// How long the user has to wait for a rate, in nanoseconds; its place is taken. `None`: it is too far away to be taken
    /// already, as by then the rate will be another one.
    fn place(&mut self, pace: &PaceOp, now: u64) -> Option<u64> {
        let rate = self.amount(&pace.rate);
        // Passes of which the number is exact are planned ahead, and one that has its moment waits for it.
        let changes = pace.rate.constant().is_none() && pace.exact.is_none();
        if rate.is_nan() || rate <= 0.0 {
            // One that is kept together and changes lets nobody go on before it is above 0.
            return (!changes || matches!(pace.clock, PaceClock::User(_))).then_some(0);
        }
        let together = &self.worker.together;
        if let (PaceClock::Line(line), Some(exact)) = (pace.clock, pace.exact) {
            let period = rate / f64::from(exact.batch) * exact.over as f64 / 1e9;
            let moment = together.moment((line, self.kept_by(pace)), now, period, exact);
            return moment.map(|due| due - now);
        }
        // The process keeps its part of a rate that all users keep together.
        let part = match pace.by {
            PacedBy::User => 1.0,
            _ => together.part(self.kept_by(pace)),
        };
        let rate = rate * part;
        let users = match pace.by {
            PacedBy::Scenario => together.active(Some(self.core.scenario())),
            PacedBy::Run => together.active(None),
            PacedBy::User | PacedBy::ScenarioInLine | PacedBy::RunInLine => 1,
        };
        let period = (users as f64 / rate * 1e9) as u64;
        let due = match pace.clock {
            PaceClock::Line(line) => {
                let most = if changes { LOOK_AGAIN } else { u64::MAX };
                together.place(line, now, period, most)?
            }
            PaceClock::User(register) => {
                let last = self.register(register);
                *last = if *last == 0 { now } else { now.max(last.saturating_add(period)) };
                *last
            }
        };
        Some(due - now)
    }
}

impl Interpreter<'_, '_> {
    /// The scenario whose users keep a rate; `None`: all do.
    fn kept_by(&self, pace: &PaceOp) -> Option<usize> {
        match pace.by {
            PacedBy::Scenario | PacedBy::ScenarioInLine => Some(self.core.scenario()),
            PacedBy::User | PacedBy::Run | PacedBy::RunInLine => None,
        }
    }
}

/// A think time in nanoseconds.
fn drawn(core: &Core, think: &Think) -> u64 {
    let seconds = core.draw(|random| match think {
        Think::Fixed(time) => time.as_secs_f64(),
        Think::Uniform(from, to) => {
            from.as_secs_f64() + random.uniform() * (to.as_secs_f64() - from.as_secs_f64())
        }
        Think::Normal { mean, sd } => random.normal(mean.as_secs_f64(), sd.as_secs_f64()),
        Think::Exponential { mean } => random.exponential(mean.as_secs_f64()),
    });
    (seconds.max(0.0) * 1e9) as u64
}
