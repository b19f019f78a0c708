//! What each operation of a program does to the user that comes to it.

use std::time::Duration;

use squall_metrics::{MetricKey, MetricKind};
use squall_plan::expr::{BoundExpr, EvalError, Slot};
use squall_plan::model::{StopScope, Think};
use squall_plan::template::BoundTemplate;
use squall_plan::value::Value;

use super::interpreter::Interpreter;
use crate::behaviour::next::{Next, Task};
use crate::parts::names;
use crate::program::{self, GroupName, MetricOp, Op, ParallelOp, Register, RequestOp, Section};
use crate::sample;
use crate::scope::UserScope;
use crate::session;
use crate::user::{Cursor, OpenGroup};

impl<'p> Interpreter<'_, 'p> {
    /// Does an operation at the time `now`, in nanoseconds. `None`: the program goes on with the next one.
    pub(super) fn op(&mut self, op: &'p Op, now: u64) -> Option<Next<'p, Cursor>> {
        match op {
            Op::Request(request) => return self.request(request, now),
            Op::Exec(exec) => return Some(Next::Go(Task::Exec(exec))),
            Op::Tcp(tcp) => {
                return Some(self.may_send(now).unwrap_or(Next::Go(Task::Tcp(tcp))));
            }
            Op::Look(look) => self.look(look, now),
            Op::Write(write) => self.write(write),
            Op::Parallel(parallel) => return Some(self.branches(parallel)),
            Op::Think(think) => return Some(self.think(think, now)),
            Op::ThinkOfUser(template) => {
                let think = program::think(template, &self.scope());
                let think = self.or_log(think, "think", Think::Fixed(Duration::ZERO));
                return Some(self.think(&think, now));
            }
            Op::Pace(pace) => return self.pace(pace, now),
            Op::Rendezvous(meeting) => return self.meet(meeting, now),
            Op::EnterSection(name) => return self.enter_section(name, now),
            Op::LeaveSection => {
                self.strand.leave_section().into_iter().for_each(|turn| turn.leave(now));
            }
            Op::Enter { name, without_thinks, is_one_sample } => {
                self.enter(name, *without_thinks, *is_one_sample, now);
            }
            Op::Leave { early } => self.leave_group(*early, now),
            Op::Set { slot, value } => {
                let value = value.value(&self.scope());
                // Without a value rather than with an old one, which nobody would notice.
                let value = self.or_log(value.map(Some), self.program.variable_name(*slot), None);
                self.set(*slot, value);
            }
            Op::Repeat { times, counter, limit } => self.repeat(times, *counter, *limit),
            Op::Pass { counter, limit, variable, end } => {
                self.pass(*counter, *limit, *variable, *end);
            }
            Op::Each { of, list, index } => self.each(of, *list, *index),
            Op::Element { list, index, item, end } => self.element(*list, *index, *item, *end),
            Op::Unless { condition, to } => self.unless(condition, *to),
            Op::Jump(to) => self.cursor.pc = *to,
            Op::Choose { cumulative, targets } => self.choose(cumulative, targets),
            Op::RoundRobin { turn, targets } => self.round_robin(*turn, targets),
            Op::OncePerUser { otherwise } => {
                if self.core.iteration.get() > 0 {
                    self.cursor.pc = *otherwise;
                }
            }
            Op::Passes(passes) => {
                if !self.is_in_pass(passes) {
                    self.cursor.pc = passes.otherwise;
                }
            }
            Op::Shuffle { order, turn } => {
                *self.register(*order) = self.core.chance();
                *self.register(*turn) = 0;
            }
            Op::Shuffled { order, turn, targets, end } => {
                self.next_shuffled(*order, *turn, targets, *end);
            }
            Op::NextRow(feed) => return self.next_row(*feed),
            Op::ClearCookies(jar) => self.core.clear_cookies(*jar),
            Op::ClearCache(cache) => self.core.clear_cache(*cache),
            Op::SetCookie(cookie) => {
                let set = session::set_cookie(self.program, self.core, cookie);
                self.or_log(set, "set_cookie", ());
            }
            Op::Log(text) => self.log(text),
            Op::Metric(metric) => self.record_metric(metric, now),
            Op::Stop(scope) => return self.stop(*scope),
        }
        None
    }

    /// A request, unless there is nothing to send: the run pauses, the user is one too many, or its cache has what
    /// the response would be.
    fn request(&mut self, request: &'p RequestOp, now: u64) -> Option<Next<'p, Cursor>> {
        if let Some(next) = self.may_send(now) {
            return Some(next);
        }
        if sample::is_fresh(self.worker, self.core, request) {
            self.worker.recorder.count(|counters| counters.cache_hits += 1);
            return None;
        }
        Some(Next::Go(Task::Request(request)))
    }

    /// What a user does that may send nothing now: the run pauses, or the user is one too many. `None`: it may.
    fn may_send(&mut self, now: u64) -> Option<Next<'p, Cursor>> {
        if self.worker.roster.borrow().is_paused() {
            // It is sent when the pause is over.
            self.cursor.pc -= 1;
            return Some(Next::Wait(now));
        }
        // An arrival was due before its load ended: its first request is sent.
        let arrived = std::mem::take(&mut self.strand.arrived);
        if !arrived && self.worker.roster.borrow().is_surplus(self.core.seat) {
            return Some(Next::Gone);
        }
        None
    }

    fn enter(&mut self, name: &GroupName, without_thinks: bool, is_sample: bool, now: u64) {
        let one_sample = is_sample.then(|| self.worker.trace.as_ref()?.next_group()).flatten();
        let name = match name {
            GroupName::Known(name) => *name,
            GroupName::Made(template, place) => {
                let mut text = Vec::new();
                let made = template.render(&self.scope(), &mut text);
                self.or_log(made, "the name of a group", ());
                let text = String::from_utf8_lossy(&text);
                self.worker.recorder.name(*place, &names::limited(&text))
            }
        };
        let thought_before = without_thinks.then_some(self.strand.thought);
        let tally_before = self.strand.tally();
        let since = now;
        let failed = false;
        self.strand.groups.push(OpenGroup {
            name,
            since,
            failed,
            thought_before,
            tally_before,
            is_sample,
            one_sample,
        });
        self.strand.take_looked();
    }

    fn leave_group(&mut self, is_left: bool, now: u64) {
        if let Some(group) = self.strand.pop_group() {
            self.worker.end_group(self.core, self.strand, (&group, is_left), now);
            // It is what was sampled last, and failed if a part of it did.
            if group.is_sample {
                self.core.last_ok.set(!group.failed);
            }
        }
    }

    /// Several flows at the same time; it goes on at their end.
    fn branches(&mut self, parallel: &ParallelOp) -> Next<'p, Cursor> {
        let branches = parallel.branches.iter().map(|branch| self.cursor.branch(branch)).collect();
        self.cursor.pc = parallel.end;
        Next::Go(Task::Join { branches, limit: parallel.limit })
    }

    /// The next row of a data source; a user without one leaves.
    fn next_row(&mut self, feed: u16) -> Option<Next<'p, Cursor>> {
        let (rows, roster) = (&self.worker.rows, self.worker.roster.borrow());
        let taken = rows.take_one(self.program, roster.part().process(), self.core, feed);
        drop(roster);
        let no_row = taken.err()?;
        self.worker.note_no_row(no_row);
        Some(Next::Gone)
    }

    fn log(&mut self, text: &BoundTemplate) {
        let mut line = Vec::new();
        let shown = text.show(&self.scope(), &mut line);
        let is_whole = self.or_log(shown, "log", true);
        let line = String::from_utf8_lossy(&line);
        if is_whole {
            self.worker.recorder.log(&line);
        } else {
            // It says which part of it could not be evaluated.
            self.count_failed_expression();
            self.worker.recorder.log_failure(&line);
        }
    }

    fn stop(&mut self, scope: StopScope) -> Option<Next<'p, Cursor>> {
        match scope {
            StopScope::Iteration => {
                self.strand.end_iteration(self.core);
                return None;
            }
            // Compilation made jumps of them.
            StopScope::Pass | StopScope::Loop => return None,
            StopScope::User => {}
            StopScope::Run => self.worker.stop_run(self.program.graceful_stop),
            StopScope::RunNow => self.worker.stop_run(Duration::ZERO),
        }
        Some(Next::Gone)
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
        let Some(value) = self.or_log(value, &metric.key.name, None) else { return };
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
            recorder.log(&format!("metric {name}: a {kind} cannot take the value `{value}`"));
        }
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
    fn count_failed_expression(&self) {
        self.worker.recorder.count(|counters| counters.expressions_failed += 1);
        if self.program.section == Section::Setup {
            self.worker.stop_run(self.program.graceful_stop);
        }
    }
}
