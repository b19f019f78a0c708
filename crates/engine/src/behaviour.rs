//! The behaviour of a virtual user: its program, run from where it stands to where it has to wait,
//! again and again. It says what it waits for, and neither the load nor the record knows how it came
//! to that.

mod join;
mod parallel;
mod resources;

use std::rc::Rc;
use std::time::Duration;

use squall_base::random::Random;
use squall_metrics::{MetricKey, MetricKind, UserState};
use squall_plan::model::{OnError, StopScope, Think};
use squall_plan::value::Value;

use crate::program::{
    self, ExecOp, MetricOp, Op, ParallelOp, Pc, Place, Program, Register, RequestOp, ResourcesOp,
    Scenario,
};
use crate::roster::{After, Begin};
use crate::rows::NoRow;
use crate::sample::in_flight::Guard;
use crate::sample::{self, Moment, Sampled};
use crate::scope::UserScope;
use crate::session;
use crate::user::{Core, OpenGroup, Strand, User};
use crate::worker::Worker;

/// Operations, with requests counted as many, that a task may run before it lets others run: a loop
/// that never waits must not keep its worker from seeing the end of the run.
const BUDGET: u32 = 10_000;
const REQUEST_COST: u32 = 100;

/// What a user needs to go on.
enum Next<'p> {
    Go(Task<'p>),
    /// To think, or to keep its pacing, until then.
    Wait(UserState, u64),
    /// An arrival.
    Free,
    /// Nothing: it ends.
    Gone,
}

/// What a strand does, after which it goes on.
enum Task<'p> {
    Request(&'p RequestOp),
    Exec(&'p ExecOp),
    Parallel(&'p ParallelOp),
    /// To let others run.
    Yield,
}

/// Runs a user until it waits, is free, or is gone.
pub(crate) async fn drive(worker: Rc<Worker>, mut user: Box<User>) {
    let program = worker.program.clone();
    let in_flight = worker.in_flight.enter();
    let mut budget = BUDGET;
    let mut now = Moment::at(worker.clock.now());
    loop {
        let User { core, strand } = &mut *user;
        let mut stretch = Stretch {
            worker: &worker,
            program: &program,
            core: &*core,
            strand: &mut *strand,
            budget: &mut budget,
        };
        match stretch.run(now.ready) {
            Next::Go(task) => {
                now = perform(&worker, core, strand, &in_flight, &mut budget, task, now).await;
            }
            Next::Wait(state, due) => {
                drop(in_flight);
                worker.note(core, state, now.ready);
                return worker.park(user, due, now.ready);
            }
            Next::Free => return worker.free(user),
            Next::Gone => return worker.leave(user, now.ready),
        }
    }
}

/// Does what a strand can do from a moment on. Returns when it was done.
async fn perform(
    worker: &Rc<Worker>,
    core: &Core,
    strand: &mut Strand,
    in_flight: &Guard<'_>,
    budget: &mut u32,
    task: Task<'_>,
    now: Moment,
) -> Moment {
    let end = match task {
        Task::Request(op) => {
            *budget = budget.saturating_sub(REQUEST_COST);
            if let Some(resources) = &op.resources {
                return load_page(worker, core, strand, in_flight, op, resources, now).await;
            }
            worker.note_begin(core, strand, now);
            let sampled = sample::sample(worker, core, strand, in_flight, op, now).await;
            worker.note_end(core, strand, &sampled)
        }
        Task::Exec(op) => {
            worker.note_begin(core, strand, now);
            let sampled = sample::sample(worker, core, strand, in_flight, op, now).await;
            worker.note_end(core, strand, &sampled)
        }
        Task::Parallel(op) => parallel::run(worker, core, strand, op, now).await,
        Task::Yield => {
            *budget = BUDGET;
            tokio::task::yield_now().await;
            Moment::at(worker.clock.now())
        }
    };
    worker.advance_if_due(end.seen);
    end
}

/// Requests a page and loads what it names, all of which is a group of the page's name. Returns when it
/// was done.
async fn load_page(
    worker: &Rc<Worker>,
    core: &Core,
    strand: &mut Strand,
    in_flight: &Guard<'_>,
    op: &RequestOp,
    resources: &ResourcesOp,
    now: Moment,
) -> Moment {
    worker.note_begin(core, strand, now);
    // What fails in it fails it; its name is known when the page has one.
    strand.groups.push(OpenGroup { name: 0, since: now.ready, failed: false });
    let mut sampled = sample::sample(worker, core, strand, in_flight, op, now).await;
    let (page, found) = (sampled.name, sampled.found.take());
    let mut end = worker.note_end(core, strand, &sampled);
    worker.advance_if_due(end.seen);
    if let Some(found) = found
        && !core.is_ending()
        && !worker.is_stopping()
    {
        end = resources::load(worker, core, strand, resources, page, &found, end).await;
        worker.advance_if_due(end.seen);
    }
    if let Some(group) = strand.groups.pop() {
        let name = worker.recorder.name(resources.group, &worker.recorder.name_text(page));
        let group = OpenGroup { name, ..group };
        match core.stopped.get() || worker.is_stopping() {
            true => worker.recorder.cut_off_group(&group, end.ready),
            false => worker.recorder.group(&group, end.ready),
        }
    }
    end
}

impl Worker {
    /// A user ends within its groups and its iteration.
    pub(crate) fn cut_off_spans(&self, core: &Core, strand: &mut Strand) {
        let in_iteration = core.in_iteration.get() && !strand.is_branch;
        if strand.groups.is_empty() && !in_iteration {
            return;
        }
        let now = self.clock.now();
        strand.groups.drain(..).for_each(|group| self.recorder.cut_off_group(&group, now));
        if in_iteration {
            self.recorder.cut_off_group(&self.iteration(core, strand), now);
        }
    }

    /// The iteration of a user, which is recorded as groups are.
    fn iteration(&self, core: &Core, strand: &Strand) -> OpenGroup {
        let name = self.program.scenarios[core.scenario()].iteration;
        OpenGroup { name, since: core.began.get(), failed: strand.failed }
    }

    /// A strand begins a sample.
    fn note_begin(&self, core: &Core, strand: &Strand, now: Moment) {
        if !strand.is_branch {
            self.note(core, UserState::Request, now.ready);
        } else if let Some(at) = core.concurrency.begin(now.ready) {
            self.note(core, UserState::Request, at);
        }
    }

    /// A strand's sample is over. Returns when it was.
    fn note_end(&self, core: &Core, strand: &mut Strand, sampled: &Sampled) -> Moment {
        let end = sampled.end.ready;
        if !strand.is_branch {
            self.note(core, UserState::Ready, end);
        } else if let Some(at) = core.concurrency.end(end) {
            self.note(core, UserState::Think, at);
        }
        if sampled.failed {
            self.react(core, strand);
        }
        sampled.end
    }

    /// Draws what follows for a user from a sample that failed.
    fn react(&self, core: &Core, strand: &mut Strand) {
        strand.fail_groups();
        let scenario = &self.program.scenarios[core.scenario()];
        match scenario.on_error {
            OnError::Continue => {}
            // To the end of the program: the iteration is over.
            OnError::NextIteration => scenario.end_iteration(core, strand),
            OnError::StopUser => core.stopped.set(true),
            OnError::StopRun => self.stop_run(),
        }
    }
}

impl Scenario {
    /// Lets a user's iteration end, with all its strands.
    fn end_iteration(&self, core: &Core, strand: &mut Strand) {
        strand.pc = self.ops.len() as Pc;
        core.iteration_over.set(strand.is_branch);
    }
}

/// One stretch of a user's program, up to where it has to wait.
struct Stretch<'a, 'p> {
    worker: &'a Worker,
    program: &'p Program,
    core: &'a Core,
    strand: &'a mut Strand,
    budget: &'a mut u32,
}

impl<'p> Stretch<'_, 'p> {
    fn run(&mut self, now: u64) -> Next<'p> {
        let program = self.program;
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
    fn run_branch(&mut self, end: Pc, now: u64) -> Option<Next<'p>> {
        let program = self.program;
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

    /// All groups that it is in are over.
    fn end_groups(&mut self, now: u64) {
        while let Some(group) = self.strand.groups.pop() {
            self.worker.recorder.group(&group, now);
        }
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
        match worker.rows.take(self.program, worker.roster.borrow().share(), core) {
            Ok(()) => {}
            Err(NoRow::Exhausted) => {
                worker.recorder.count(|counters| counters.data_exhausted += 1);
                return false;
            }
            Err(NoRow::Unreadable(reason)) => {
                worker.recorder.log(reason);
                return false;
            }
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
        core.iteration.set(core.iteration.get() + 1);
        self.worker.recorder.count(|counters| counters.iterations_done += 1);
        self.worker.end_connections(core);
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
    fn leave(&mut self) -> Next<'p> {
        self.worker.cut_off_spans(self.core, self.strand);
        Next::Gone
    }

    fn op(&mut self, scenario: &'p Scenario, op: &'p Op, now: u64) -> Option<Next<'p>> {
        match op {
            Op::Request(_) if self.worker.roster.borrow().is_paused() => {
                // It is sent when the pause is over.
                self.strand.pc -= 1;
                return Some(Next::Wait(UserState::Think, now));
            }
            Op::Request(request) => {
                // An arrival was due before its load ended: its first request is sent.
                let arrived = std::mem::take(&mut self.strand.arrived);
                if !arrived && self.worker.roster.borrow().is_surplus(self.core.seat) {
                    return Some(self.leave());
                }
                return Some(Next::Go(Task::Request(request)));
            }
            Op::Exec(exec) => return Some(Next::Go(Task::Exec(exec))),
            Op::Parallel(parallel) => return Some(Next::Go(Task::Parallel(parallel))),
            Op::Think(think) => {
                let wait = self.think(think);
                self.strand.due = now.saturating_add(wait);
                return Some(Next::Wait(UserState::Think, self.strand.due));
            }
            Op::ThinkOfUser(template) => {
                let think = program::think(template, &self.scope());
                let wait = self.think(&self.or_log(think, Think::Fixed(Duration::ZERO)));
                self.strand.due = now.saturating_add(wait);
                return Some(Next::Wait(UserState::Think, self.strand.due));
            }
            Op::Enter(name) => {
                self.strand.groups.push(OpenGroup { name: *name, since: now, failed: false });
            }
            Op::Leave => {
                if let Some(group) = self.strand.groups.pop() {
                    self.worker.recorder.group(&group, now);
                }
            }
            Op::Set { slot, value } => {
                let value = value.value(&self.scope());
                // Without a value rather than with an old one, which nobody would notice.
                let value = self.or_log(value.map(Some), None);
                self.set(*slot, value);
            }
            Op::Repeat { times, counter, limit } => {
                let times = times.eval(&self.scope());
                let times = match self.or_log(times, Value::Int(0)) {
                    Value::Int(times) => times.max(0) as u64,
                    Value::Float(times) if times > 0.0 => times as u64,
                    _ => 0,
                };
                *self.register(*limit) = times;
                *self.register(*counter) = 0;
            }
            Op::Pass { counter, limit, variable, end } => {
                let limit = *self.register(*limit);
                let counter = self.register(*counter);
                if *counter >= limit {
                    self.strand.pc = *end;
                } else {
                    let pass = *counter;
                    *counter += 1;
                    if let Some(slot) = variable {
                        self.set(*slot, Some(Value::Int(pass as i64)));
                    }
                }
            }
            Op::Each { of, list, index } => {
                let value = of.eval(&self.scope());
                let value = self.or_log(value.map(Some), None);
                self.set(*list, value);
                *self.register(*index) = 0;
            }
            Op::Element { list, index, item, end } => self.element(*list, *index, *item, *end),
            Op::Unless { condition, to } => {
                let holds = condition.test(&self.scope());
                if !self.or_log(holds, false) {
                    self.strand.pc = *to;
                }
            }
            Op::Jump(to) => self.strand.pc = *to,
            Op::Choose { cumulative, targets } => {
                let at = self.core.chance() as f64 / u64::MAX as f64;
                let chosen = cumulative.iter().position(|share| at < *share);
                self.strand.pc = targets[chosen.unwrap_or(targets.len() - 1)];
            }
            Op::RoundRobin { turn, targets } => {
                let turn = self.register(*turn);
                let chosen = *turn as usize % targets.len();
                *turn += 1;
                self.strand.pc = targets[chosen];
            }
            Op::OncePerUser { otherwise } => {
                if self.core.iteration.get() > 0 {
                    self.strand.pc = *otherwise;
                }
            }
            Op::ClearCookies => drop(self.core.jar.take()),
            Op::SetCookie(cookie) => {
                let set = session::set_cookie(self.program, self.core, cookie);
                self.or_log(set, ());
            }
            Op::Log(text) => {
                let mut line = Vec::new();
                let shown = text.show(&self.scope(), &mut line);
                if !self.or_log(shown, true) {
                    self.worker.recorder.count(|counters| counters.expressions_failed += 1);
                }
                self.worker.recorder.log(String::from_utf8_lossy(&line).into_owned());
            }
            Op::Metric(metric) => self.record_metric(metric, now),
            Op::Stop(StopScope::Iteration) => scenario.end_iteration(self.core, self.strand),
            Op::Stop(StopScope::User) => return Some(self.leave()),
            Op::Stop(StopScope::Run) => {
                self.worker.stop_run();
                return Some(self.leave());
            }
        }
        None
    }

    /// Records a value of a metric of the plan's own. One that cannot be evaluated, or that the metric cannot
    /// take, is left out, counted as a warning and logged.
    fn record_metric(&mut self, metric: &MetricOp, now: u64) {
        let value = metric.value.eval(&self.scope());
        let mut rendered = Ok(());
        let tags = metric.tags.iter().map(|(key, text)| {
            let mut value = Vec::new();
            if let Err(error) = text.render(&self.scope(), &mut value) {
                rendered = Err(error);
            }
            (key.to_string(), String::from_utf8_lossy(&value).into_owned())
        });
        let tags: Vec<(String, String)> = tags.collect();
        let MetricKey { kind, scenario, name, .. } = &metric.key;
        let own = (!metric.tags.is_empty()).then(|| MetricKey::new(*kind, scenario, name, tags));
        let value = rendered.and(value).map(Some);
        let Some(value) = self.or_log(value, None) else { return };
        let number = match (&value, metric.key.kind) {
            (Value::Int(number), _) => Some(*number as f64),
            (Value::Float(number), _) => Some(*number),
            (Value::Bool(is), MetricKind::Rate) => Some(f64::from(u8::from(*is))),
            // What was extracted from a text is a text.
            (Value::Text(text), _) => text.trim().parse().ok(),
            _ => None,
        };
        let key = own.as_ref().unwrap_or(&metric.key);
        let recorded =
            number.is_some_and(|number| self.worker.recorder.metric(key, number, now).is_ok());
        if !recorded {
            let recorder = &self.worker.recorder;
            recorder.count(|counters| counters.warnings += 1);
            let (kind, name) = (key.kind.label(), &key.name);
            recorder.log(format!("metric {name}: a {kind} cannot take the value {value:?}"));
        }
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
        let at = *self.register(index) as usize;
        let element = match Place::of(list) {
            Place::Variable(list) => match self.core.variable(program, list) {
                Some(Value::List(items)) => items.get(at).cloned(),
                _ => None,
            },
            _ => None,
        };
        match element {
            Some(element) => {
                *self.register(index) += 1;
                self.set(item, Some(element));
            }
            None => self.strand.pc = end,
        }
    }

    fn set(&mut self, slot: squall_plan::expr::Slot, value: Option<Value>) {
        if let Place::Variable(index) = Place::of(slot) {
            let known = value.as_ref().zip(self.program.variables.get(index));
            known.into_iter().for_each(|(value, name)| self.worker.learn(name, value));
            self.core.set_variable(self.program, index, value);
        }
    }

    fn scope(&self) -> UserScope<'_, '_> {
        UserScope::new(self.program, self.core)
    }

    fn register(&mut self, index: Register) -> &mut u64 {
        self.strand.register(self.program, self.core.scenario(), index)
    }

    /// A value, or what stands for it after the error was written to the run's log.
    fn or_log<T>(&self, result: Result<T, squall_plan::expr::EvalError>, otherwise: T) -> T {
        result.unwrap_or_else(|error| {
            let name = &self.program.scenarios[self.core.scenario()].name;
            self.worker.recorder.count(|counters| counters.expressions_failed += 1);
            self.worker.recorder.log(format!("scenario {name}: {error}"));
            otherwise
        })
    }

    /// A wait in nanoseconds.
    fn think(&self, think: &Think) -> u64 {
        let seconds = self.core.draw(|random| match think {
            Think::Fixed(time) => time.as_secs_f64(),
            Think::Uniform(from, to) => {
                from.as_secs_f64() + random.uniform() * (to.as_secs_f64() - from.as_secs_f64())
            }
            Think::Normal { mean, sd } => random.normal(mean.as_secs_f64(), sd.as_secs_f64()),
            Think::Exponential { mean } => random.exponential(mean.as_secs_f64()),
        });
        (seconds.max(0.0) * 1e9) as u64
    }
}
