//! Runs a compiled program, operation by operation, up to where it has to wait.

use squall_plan::expr::{BoundExpr, EvalError, Slot};
use squall_plan::value::Value;

use crate::behaviour::next::{Answer, Behaviour, Env, Next, Task};
use crate::program::{Program, Register, Section, on_op};
use crate::scope::UserScope;
use crate::user::{Core, Cursor, Strand};
use crate::worker::Worker;

/// What each kind of operation does to the user that comes to it.
pub(super) trait Run {
    /// Does it at the time `now`, in nanoseconds. `None`: the program goes on with the next operation.
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, now: u64) -> Option<Next<'p, Cursor>>;
}

/// A program that is being run, from where its cursor stands.
pub(super) struct Interpreter<'e, 'p> {
    pub worker: &'p Worker,
    pub program: &'p Program,
    pub core: &'p Core,
    pub strand: &'e mut Strand,
    pub cursor: &'e mut Cursor,
    pub budget: &'e mut u32,
}

impl Behaviour for Cursor {
    fn resume<'p>(&mut self, env: Env<'_, 'p>, answer: Answer) -> Next<'p, Cursor> {
        let Env { worker, core, strand, budget, now } = env;
        let program = &*worker.program;
        match answer {
            Answer::Begin => self.begin(&program.scenarios[core.scenario()]),
            Answer::Ready => {}
            Answer::Responses(list) => {
                if let Some(call) = &mut self.call {
                    call.answer = squall_script::Answer::Responses(list);
                }
            }
        }
        Interpreter { worker, program, core, strand, cursor: self, budget }.stretch(now)
    }

    fn join(&mut self, _: usize, branch: Cursor) {
        self.take_over(&branch);
    }
}

impl<'p> Interpreter<'_, 'p> {
    fn stretch(&mut self, now: u64) -> Next<'p, Cursor> {
        let program = self.program;
        let ops = &program.scenarios[self.core.scenario()].ops;
        while self.cursor.pc < self.cursor.end && !self.strand.is_over {
            let Some(op) = ops.get(self.cursor.pc as usize) else { break };
            if *self.budget == 0 {
                return Next::Go(Task::Yield);
            }
            *self.budget -= 1;
            self.cursor.pc += 1;
            if let Some(next) = on_op!(op, own => own.run(self, now)) {
                return next;
            }
        }
        Next::Over
    }

    pub(super) fn set(&mut self, slot: Slot, value: Option<Value>) {
        if let Some(value) = &value {
            self.worker.learn(self.program.variable_name(slot), value);
        }
        self.core.set(self.program, slot, value);
    }

    pub(super) fn scope(&self) -> UserScope<'_, '_> {
        UserScope::new(self.program, self.core)
    }

    pub(super) fn register(&mut self, index: Register) -> &mut u64 {
        self.cursor.register(index)
    }

    /// A number that the plan has an expression for. What is none, or fails, is 0.
    pub(super) fn amount(&self, number: &BoundExpr) -> f64 {
        let value = number.eval(&self.scope());
        match self.or_log(value, number.source(), Value::Int(0)) {
            Value::Int(number) => number as f64,
            Value::Float(number) => number,
            _ => 0.0,
        }
    }

    /// A value, or what stands for it after the error was written to the run's log, with what it was for.
    pub(super) fn or_log<T>(&self, result: Result<T, EvalError>, what: &str, otherwise: T) -> T {
        result.unwrap_or_else(|error| {
            self.fail_expression(&format!("{what}: {error}"));
            otherwise
        })
    }

    /// An expression could not be evaluated: it counts, and the run's log says why.
    pub(super) fn fail_expression(&self, why: &str) {
        self.count_failed_expression();
        self.log_failure(why);
    }

    /// The run's log says what failed, and in which scenario.
    pub(super) fn log_failure(&self, why: &str) {
        let name = &self.program.scenarios[self.core.scenario()].name;
        self.worker.recorder.log_failure(&format!("scenario {name}: {why}"));
    }

    /// Setup ends with an expression that could not be evaluated, as with its other errors.
    pub(super) fn count_failed_expression(&self) {
        self.worker.recorder.count(|counters| counters.expressions_failed += 1);
        if self.program.section == Section::Setup {
            self.worker.stop_run(self.program.graceful_stop);
        }
    }
}
