//! One stretch of a compiled program: operation by operation, up to where it has to wait.

use crate::behaviour::next::{Answer, Behaviour, Env, Next, Task};
use crate::program::Program;
use crate::user::{Core, Cursor, Strand};
use crate::worker::Worker;

/// A program that is being run, from where its cursor stands.
pub(super) struct Interpreter<'e, 'p> {
    pub worker: &'p Worker,
    pub program: &'p Program,
    pub core: &'p Core,
    pub strand: &'e mut Strand,
    pub cursor: &'e mut Cursor,
    budget: &'e mut u32,
}

impl Behaviour for Cursor {
    fn resume<'p>(&mut self, env: Env<'_, 'p>, answer: Answer<Cursor>) -> Next<'p, Cursor> {
        let Env { worker, core, strand, budget, now } = env;
        let program = &*worker.program;
        match answer {
            Answer::Begin => self.begin(&program.scenarios[core.scenario()]),
            Answer::Joined(branches) => branches.iter().for_each(|branch| self.join(branch)),
            Answer::Ready => {}
        }
        Interpreter { worker, program, core, strand, cursor: self, budget }.run(now)
    }
}

impl<'p> Interpreter<'_, 'p> {
    fn run(&mut self, now: u64) -> Next<'p, Cursor> {
        let program = self.program;
        let ops = &program.scenarios[self.core.scenario()].ops;
        while self.cursor.pc < self.cursor.end && !self.strand.is_over {
            let Some(op) = ops.get(self.cursor.pc as usize) else { break };
            if *self.budget == 0 {
                return Next::Go(Task::Yield);
            }
            *self.budget -= 1;
            self.cursor.pc += 1;
            if let Some(next) = self.op(op, now) {
                return next;
            }
        }
        Next::Over
    }
}
