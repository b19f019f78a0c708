//! How long a user waits because its plan says so: think times and rates.

use squall_metrics::UserState;
use squall_plan::model::{PacedBy, Think};

use super::Next;
use super::stretch::Stretch;
use crate::program::{PaceClock, PaceOp};
use crate::user::Core;

impl<'p> Stretch<'_, 'p> {
    /// Thinks for as long as it is drawn.
    pub(super) fn think(&mut self, think: &Think, now: u64) -> Next<'p> {
        let wait = drawn(self.core, think);
        self.wait(now, wait)
    }

    /// Waits for the user's place in a rate. `None`: it need not wait.
    pub(super) fn pace(&mut self, pace: &PaceOp, now: u64) -> Option<Next<'p>> {
        let wait = self.place(pace, now);
        (wait > 0).then(|| self.wait(now, wait))
    }

    /// How long the user has to wait for a rate, in nanoseconds; its place is taken.
    fn place(&mut self, pace: &PaceOp, now: u64) -> u64 {
        let rate = self.amount(&pace.rate);
        if rate.is_nan() || rate <= 0.0 {
            return 0;
        }
        let together = &self.worker.together;
        let users = match pace.by {
            PacedBy::Scenario => together.active(Some(self.core.scenario())),
            PacedBy::Run => together.active(None),
            PacedBy::User | PacedBy::ScenarioInLine | PacedBy::RunInLine => 1,
        };
        let period = (users as f64 / rate * 1e9) as u64;
        let due = match pace.clock {
            PaceClock::Line(line) => together.place(line, now, period),
            PaceClock::User(register) => {
                let last = self.register(register);
                *last = if *last == 0 { now } else { now.max(last.saturating_add(period)) };
                *last
            }
        };
        due - now
    }

    /// A wait that the plan asks for, in nanoseconds.
    fn wait(&mut self, now: u64, wait: u64) -> Next<'p> {
        self.strand.due = now.saturating_add(wait);
        self.strand.thought = self.strand.thought.saturating_add(wait);
        Next::Wait(UserState::Think, self.strand.due)
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
