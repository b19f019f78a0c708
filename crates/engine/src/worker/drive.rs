//! Runs a user's program: from where it stands to where it has to wait, again and again.

use std::rc::Rc;

use squall_load::random::Random;
use squall_measure::UserState as State;
use squall_plan::model::{OnError, StopScope, Think};
use squall_plan::value::Value;

use super::load::AfterIteration;
use super::{Worker, exec, perform};
use crate::program::{ExecOp, Op, Place, Program, RequestOp, Scenario};
use crate::scope::UserScope;
use crate::user::User;

/// Operations, with requests counted as many, that a task may run before it lets others run: a loop
/// that never waits must not keep its worker from seeing the end of the run.
const BUDGET: u32 = 10_000;
const REQUEST_COST: u32 = 100;

/// What a user needs to go on.
enum Next<'p> {
    Request(&'p RequestOp),
    Exec(&'p ExecOp),
    /// To think, or to keep its pace, until then.
    Wait(State, u64),
    /// To let others run.
    Yield,
    /// An arrival.
    Free,
    /// Nothing: it ends.
    Gone,
}

/// Runs a user until it waits, is free, or is gone.
pub(super) async fn drive(worker: Rc<Worker>, mut user: Box<User>) {
    let program = worker.program.clone();
    let flight = worker.lease();
    let mut budget = BUDGET;
    let mut now = worker.clock.now();
    loop {
        match (Run { worker: &worker, program: &program, user: &mut user, budget: &mut budget })
            .go(now)
        {
            Next::Request(op) => {
                budget = budget.saturating_sub(REQUEST_COST);
                worker.note(&mut user, State::Request, now);
                let done = perform::request(&worker, &mut user, &flight, op, now).await;
                now = done.end;
                worker.note(&mut user, State::Ready, now);
                worker.judge_user(&mut user, done.failed);
                worker.fire_if_due(now);
            }
            Next::Exec(op) => {
                worker.note(&mut user, State::Request, now);
                let done = exec::exec(&worker, &mut user, &flight, op, now).await;
                now = done.end;
                worker.note(&mut user, State::Ready, now);
                worker.judge_user(&mut user, done.failed);
            }
            Next::Wait(state, due) => {
                drop(flight);
                worker.note(&mut user, state, now);
                worker.park(user, due);
                break;
            }
            Next::Yield => {
                budget = BUDGET;
                tokio::task::yield_now().await;
                now = worker.clock.now();
                worker.fire_if_due(now);
            }
            Next::Free => {
                worker.user_free(user);
                break;
            }
            Next::Gone => {
                worker.leave_variables(&user);
                worker.user_gone(user, now);
                break;
            }
        }
    }
    worker.task_ended();
}

impl Worker {
    /// Draws what follows for a user from a request that failed.
    fn judge_user(&self, user: &mut User, failed: bool) {
        if !failed {
            return;
        }
        for group in &mut user.groups {
            group.2 = true;
        }
        match self.program.scenarios[user.scenario as usize].on_error {
            OnError::Continue => {}
            OnError::NextIteration => user.leave_iteration(&self.program),
            OnError::StopUser => user.stopped = true,
            OnError::StopRun => self.stop_run(),
        }
    }
}

impl Worker {
    /// Leaves the variables of a user where the caller of a run of one user finds them.
    fn leave_variables(&self, user: &User) {
        let names = self.program.variables.iter().enumerate().filter(|(_, name)| !name.is_empty());
        let values =
            names.map(|(index, name)| (name.clone(), user.variable(&self.program, index).clone()));
        if let Some(kept) = &self.variables
            && let Ok(mut kept) = kept.lock()
        {
            *kept = values.collect();
        }
    }
}

impl User {
    /// Goes to the end of the program: the iteration is over.
    fn leave_iteration(&mut self, program: &Program) {
        self.pc = program.scenarios[self.scenario as usize].ops.len() as u32;
    }
}

/// One stretch of a user's program, up to where it has to wait.
struct Run<'a, 'p> {
    worker: &'a Rc<Worker>,
    program: &'p Program,
    user: &'a mut User,
    budget: &'a mut u32,
}

impl<'p> Run<'_, 'p> {
    fn go(&mut self, now: u64) -> Next<'p> {
        let program = self.program;
        loop {
            if self.user.stopped || self.worker.ending.get() {
                return self.leave(now);
            }
            if !self.user.in_iteration && !self.begin() {
                return Next::Gone;
            }
            let scenario = &program.scenarios[self.user.scenario as usize];
            while let Some(op) = scenario.ops.get(self.user.pc as usize) {
                if *self.budget == 0 {
                    return Next::Yield;
                }
                *self.budget -= 1;
                self.user.pc += 1;
                if let Some(next) = self.op(scenario, op, now) {
                    return next;
                }
            }
            match self.end_iteration(now) {
                Some(next) => return next,
                None if *self.budget == 0 => return Next::Yield,
                None => *self.budget -= 1,
            }
        }
    }

    fn begin(&mut self) -> bool {
        if !self.worker.may_begin(self.user) || !self.worker.take_rows(self.user) {
            return false;
        }
        self.user.in_iteration = true;
        self.user.pc = 0;
        let (seed, scenario) = (self.program.seed, u64::from(self.user.scenario));
        self.user.random.set(Random::of(seed, scenario, self.user.number, self.user.iteration));
        self.worker.recorder.count(|counters| counters.iterations_started += 1);
        true
    }

    /// The program's end was reached. `None`: the next iteration begins at once.
    fn end_iteration(&mut self, now: u64) -> Option<Next<'p>> {
        self.leave_groups(now);
        self.user.in_iteration = false;
        self.user.iteration += 1;
        self.worker.recorder.count(|counters| counters.iterations_done += 1);
        self.worker.end_connections(self.user);
        match self.worker.after_iteration(self.user, now) {
            AfterIteration::Now => None,
            AfterIteration::At(due) => Some(Next::Wait(State::Pacing, due)),
            AfterIteration::Free => Some(Next::Free),
            AfterIteration::Gone => Some(Next::Gone),
        }
    }

    /// The user ends within an iteration.
    fn leave(&mut self, now: u64) -> Next<'p> {
        for group in &mut self.user.groups {
            group.2 = true;
        }
        self.leave_groups(now);
        Next::Gone
    }

    fn leave_groups(&mut self, now: u64) {
        while let Some((name, since, failed)) = self.user.groups.pop() {
            self.worker.recorder.group(name, since, now, failed);
        }
    }

    fn op(&mut self, scenario: &'p Scenario, op: &'p Op, now: u64) -> Option<Next<'p>> {
        let program = self.program;
        match op {
            Op::Request(request) => {
                if self.worker.is_surplus(self.user) {
                    return Some(self.leave(now));
                }
                return Some(Next::Request(request));
            }
            Op::Exec(exec) => return Some(Next::Exec(exec)),
            Op::Think(think) => {
                let wait = self.think(think);
                self.user.due = now.saturating_add(wait);
                return Some(Next::Wait(State::Think, self.user.due));
            }
            Op::Enter(name) => self.user.groups.push((*name, now, false)),
            Op::Leave => {
                if let Some((name, since, failed)) = self.user.groups.pop() {
                    self.worker.recorder.group(name, since, now, failed);
                }
            }
            Op::Set { slot, value } => {
                let value = value.value(&self.scope());
                let value = self.or_log(value, Value::Null);
                self.set(*slot, value);
            }
            Op::Repeat { times, counter, limit } => {
                let times = times.eval(&self.scope());
                let times = match self.or_log(times, Value::Int(0)) {
                    Value::Int(times) => times.max(0) as u64,
                    Value::Float(times) if times > 0.0 => times as u64,
                    _ => 0,
                };
                *self.user.register(program, *limit) = times;
                *self.user.register(program, *counter) = 0;
            }
            Op::Pass { counter, limit, variable, end } => {
                let limit = *self.user.register(program, *limit);
                let counter = self.user.register(program, *counter);
                if *counter >= limit {
                    self.user.pc = *end;
                } else {
                    let pass = *counter;
                    *counter += 1;
                    if let Some(slot) = variable {
                        self.set(*slot, Value::Int(pass as i64));
                    }
                }
            }
            Op::Each { of, list, index } => {
                let value = of.eval(&self.scope());
                let value = self.or_log(value, Value::Null);
                self.set(*list, value);
                *self.user.register(program, *index) = 0;
            }
            Op::Element { list, index, item, end } => self.element(*list, *index, *item, *end),
            Op::Unless { condition, to } => {
                let holds = condition.test(&self.scope());
                if !self.or_log(holds, false) {
                    self.user.pc = *to;
                }
            }
            Op::Jump(to) => self.user.pc = *to,
            Op::Choose { cumulative, targets } => {
                let at = self.user.chance() as f64 / u64::MAX as f64;
                let chosen = cumulative.iter().position(|share| at < *share);
                self.user.pc = targets[chosen.unwrap_or(targets.len() - 1)];
            }
            Op::Turn { turn, targets } => {
                let turn = self.user.register(program, *turn);
                let chosen = *turn as usize % targets.len();
                *turn += 1;
                self.user.pc = targets[chosen];
            }
            Op::Once { otherwise } => {
                if self.user.iteration > 0 {
                    self.user.pc = *otherwise;
                }
            }
            Op::Log(text) => {
                let mut line = Vec::new();
                let rendered = text.render(&self.scope(), &mut line);
                self.or_log(rendered, ());
                self.worker.recorder.log(String::from_utf8_lossy(&line).into_owned());
            }
            Op::Stop(StopScope::Iteration) => self.user.pc = scenario.ops.len() as u32,
            Op::Stop(StopScope::User) => return Some(self.leave(now)),
            Op::Stop(StopScope::Run) => {
                self.worker.stop_run();
                return Some(self.leave(now));
            }
        }
        None
    }

    /// The next element of a list into a variable, or to the end of the loop.
    fn element(
        &mut self,
        list: squall_plan::expr::Slot,
        index: u16,
        item: squall_plan::expr::Slot,
        end: u32,
    ) {
        let program = self.program;
        let at = *self.user.register(program, index) as usize;
        let element = match Place::of(list) {
            Place::Variable(list) => match self.user.variable(program, list) {
                Value::List(items) => items.get(at).cloned(),
                _ => None,
            },
            _ => None,
        };
        match element {
            Some(element) => {
                *self.user.register(program, index) += 1;
                self.set(item, element);
            }
            None => self.user.pc = end,
        }
    }

    fn set(&mut self, slot: squall_plan::expr::Slot, value: Value) {
        if let Place::Variable(index) = Place::of(slot) {
            self.user.set_variable(self.program, index, value);
        }
    }

    fn scope(&self) -> UserScope<'_, '_> {
        UserScope { program: self.program, user: self.user, answer: None }
    }

    /// A value, or what stands for it after the error was written to the run's log.
    fn or_log<T>(&self, result: Result<T, squall_plan::expr::EvalError>, otherwise: T) -> T {
        result.unwrap_or_else(|error| {
            let name = &self.program.scenarios[self.user.scenario as usize].name;
            self.worker.recorder.count(|counters| counters.warnings += 1);
            self.worker.recorder.log(format!("scenario {name}: {error}"));
            otherwise
        })
    }

    /// A wait in nanoseconds.
    fn think(&self, think: &Think) -> u64 {
        let mut random = self.user.random.get();
        let seconds = match think {
            Think::Fixed(time) => time.as_secs_f64(),
            Think::Uniform(from, to) => {
                from.as_secs_f64() + random.uniform() * (to.as_secs_f64() - from.as_secs_f64())
            }
            Think::Normal { mean, sd } => random.normal(mean.as_secs_f64(), sd.as_secs_f64()),
            Think::Exponential { mean } => random.exponential(mean.as_secs_f64()),
        };
        self.user.random.set(random);
        (seconds.max(0.0) * 1e9) as u64
    }
}
