//! One stretch of a user's program: operation by operation and iteration by iteration, up to where it waits.

use squall_base::random::Random;
use squall_metrics::UserState;

use super::next::{Next, Task};
use crate::program::{Pc, Program};
use crate::roster::{After, Begin};
use crate::user::{Core, OpenGroup, Strand};
use crate::worker::Worker;

/// One stretch of a user's program, up to where it has to wait.
pub(super) struct Stretch<'a, 'p> {
    pub(super) worker: &'a Worker,
    pub(super) program: &'p Program,
    pub(super) core: &'a Core,
    pub(super) strand: &'a mut Strand,
    pub(super) budget: &'a mut u32,
}

impl<'p> Stretch<'_, 'p> {
    pub(super) fn run(&mut self, now: u64) -> Next<'p> {
        let program = self.program;
        self.core.elapsed.set(now.saturating_sub(self.worker.recorder.start()));
        let scenario = &program.scenarios[self.core.scenario()];
        loop {
            let ends = self.core.stopped.get() || self.worker.is_stopping();
            if !self.core.in_iteration.get() && (ends || !self.begin(now)) {
                self.worker.count_arrival(self.strand, false);
                return Next::Gone;
            }
            if ends {
                return self.leave();
            }
            while let Some(op) = scenario.ops.get(self.strand.pc as usize) {
                if *self.budget == 0 {
                    return Next::Go(Task::Yield);
                }
                *self.budget -= 1;
                self.strand.pc += 1;
                if let Some(next) = self.op(scenario, op, now) {
                    return next;
                }
            }
            match self.end_iteration(now) {
                Some(next) => return next,
                None if *self.budget == 0 => return Next::Go(Task::Yield),
                None => *self.budget -= 1,
            }
        }
    }

    /// As [`Stretch::run`], for a branch, which ends before the operation `end`. `None`: it has.
    pub(super) fn run_branch(&mut self, end: Pc, now: u64) -> Option<Next<'p>> {
        let program = self.program;
        self.core.elapsed.set(now.saturating_sub(self.worker.recorder.start()));
        let scenario = &program.scenarios[self.core.scenario()];
        if self.core.stopped.get() || self.worker.is_stopping() {
            return Some(self.leave());
        }
        while self.strand.pc < end && !self.core.iteration_over.get() {
            if *self.budget == 0 {
                return Some(Next::Go(Task::Yield));
            }
            *self.budget -= 1;
            let op = scenario.ops.get(self.strand.pc as usize)?;
            self.strand.pc += 1;
            if let Some(next) = self.op(scenario, op, now) {
                return Some(next);
            }
        }
        self.end_groups(now);
        None
    }

    /// All groups and critical sections that it is in are over.
    fn end_groups(&mut self, now: u64) {
        while let Some(turn) = self.strand.leave_section() {
            turn.leave(now);
        }
        while let Some(group) = self.strand.pop_group() {
            self.end_group((&group, true), now);
        }
    }

    /// A group is over, at its end or before.
    pub(super) fn end_group(&mut self, group: (&OpenGroup, bool), now: u64) {
        self.worker.end_group(self.core, self.strand, group, now);
    }

    /// Begins an iteration, if there is one for the user.
    fn begin(&mut self, now: u64) -> bool {
        let (core, worker) = (self.core, self.worker);
        let begin = worker.roster.borrow_mut().begin(core.seat, core.iteration.get());
        match begin {
            Begin::Yes => {}
            Begin::No => return false,
            Begin::LoadIsDone => {
                worker.end_load_everywhere(core.seat.load);
                return false;
            }
        }
        let taken = worker.rows.take(self.program, worker.roster.borrow().part().process(), core);
        if let Err(no_row) = taken {
            worker.note_no_row(no_row);
            return false;
        }
        core.in_iteration.set(true);
        core.began.set(now);
        self.strand.failed = false;
        core.iteration_over.set(false);
        if self.program.scenarios[core.scenario()].fresh_sessions {
            core.begin_session();
        }
        self.strand.pc = 0;
        let (seed, scenario) = (self.program.seed, u64::from(core.seat.scenario));
        core.draw_from(Random::of(seed, scenario, core.seat.number, core.iteration.get()));
        worker.recorder.levels.iteration_started(core.scenario());
        worker.recorder.count(|counters| counters.iterations_started += 1);
        worker.count_arrival(self.strand, true);
        true
    }

    /// The program's end was reached. `None`: the next iteration begins at once.
    fn end_iteration(&mut self, now: u64) -> Option<Next<'p>> {
        let core = self.core;
        self.end_groups(now);
        self.worker.recorder.group(&self.worker.iteration(core, self.strand), now);
        core.in_iteration.set(false);
        self.worker.end_connections(core);
        core.iteration.set(core.iteration.get() + 1);
        self.worker.recorder.count(|counters| counters.iterations_done += 1);
        let mut paced = core.paced.get();
        let after = self.worker.roster.borrow().after(core.seat, &mut paced, now);
        core.paced.set(paced);
        match after {
            After::Now(due) => {
                self.strand.due = due;
                None
            }
            After::At(due) => {
                self.strand.due = due;
                Some(Next::Wait(UserState::Pacing, due))
            }
            After::Free => Some(Next::Free),
            After::Gone => Some(Next::Gone),
        }
    }

    /// The user ends within an iteration: what it was in is cut off.
    pub(super) fn leave(&mut self) -> Next<'p> {
        self.worker.cut_off_spans(self.core, self.strand);
        Next::Gone
    }
}
