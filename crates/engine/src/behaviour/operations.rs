//! What each operation of a program does to the user that comes to it.

use std::time::Duration;

use squall_metrics::{MetricKey, MetricKind, UserState};
use squall_plan::expr::{EvalError, Slot};
use squall_plan::model::{StopScope, Think};
use squall_plan::value::Value;

use super::stretch::Stretch;
use super::{Next, Task};
use crate::program::{self, MetricOp, Op, Pc, Place, Register, Scenario};
use crate::sample;
use crate::scope::UserScope;
use crate::session;
use crate::user::OpenGroup;

impl<'p> Stretch<'_, 'p> {
    pub(super) fn op(&mut self, scenario: &'p Scenario, op: &'p Op, now: u64) -> Option<Next<'p>> {
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
                if sample::is_fresh(self.worker, self.core, request) {
                    self.worker.recorder.count(|counters| counters.cache_hits += 1);
                    return None;
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
            Op::NextRow(feed) => {
                let (rows, roster) = (&self.worker.rows, self.worker.roster.borrow());
                let taken = rows.take_one(self.program, roster.share(), self.core, *feed);
                drop(roster);
                if let Err(no_row) = taken {
                    self.worker.note_no_row(no_row);
                    return Some(self.leave());
                }
            }
            Op::ClearCookies => drop(self.core.jar.take()),
            Op::ClearCache => drop(self.core.cache.take()),
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
    fn element(&mut self, list: Slot, index: Register, item: Slot, end: Pc) {
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

    fn set(&mut self, slot: Slot, value: Option<Value>) {
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
    fn or_log<T>(&self, result: Result<T, EvalError>, otherwise: T) -> T {
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
