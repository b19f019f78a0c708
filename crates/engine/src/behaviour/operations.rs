//! What each operation of a program does to the user that comes to it.

use std::time::Duration;

use squall_base::random::Random;
use squall_metrics::{MetricKey, MetricKind, UserState};
use squall_plan::expr::{EvalError, Slot};
use squall_plan::model::{PacedBy, StopScope, Think};
use squall_plan::value::Value;

use super::stretch::Stretch;
use super::{Next, Task};
use crate::program::{
    self, MetricOp, Op, PaceClock, PaceOp, PassCount, PassPart, PassesOp, Pc, Place, Register,
    Scenario,
};
use crate::sample;
use crate::scope::UserScope;
use crate::session;
use crate::together;
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
                return Some(self.wait(now, wait));
            }
            Op::ThinkOfUser(template) => {
                let think = program::think(template, &self.scope());
                let wait = self.think(&self.or_log(think, Think::Fixed(Duration::ZERO)));
                return Some(self.wait(now, wait));
            }
            Op::Pace(pace) => {
                let wait = self.pace(pace, now);
                if wait > 0 {
                    return Some(self.wait(now, wait));
                }
            }
            Op::Enter { name, without_thinks } => {
                let thought_before = without_thinks.then_some(self.strand.thought);
                self.strand.groups.push(OpenGroup {
                    name: *name,
                    since: now,
                    failed: false,
                    thought_before,
                    tally_before: self.strand.tally,
                });
            }
            Op::Leave => {
                if let Some(group) = self.strand.pop_group() {
                    self.end_group(&group, now);
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
            Op::Passes(passes) => {
                if !self.is_in_pass(passes) {
                    self.strand.pc = passes.otherwise;
                }
            }
            Op::Shuffle { order, turn } => {
                *self.register(*order) = self.core.chance();
                *self.register(*turn) = 0;
            }
            Op::Shuffled { order, turn, targets, end } => {
                let order = *self.register(*order);
                let turn = self.register(*turn);
                let place = *turn as usize;
                *turn += 1;
                self.strand.pc = shuffled(targets, order, place).unwrap_or(*end);
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
                self.worker.stop_run(self.program.graceful_stop);
                return Some(self.leave());
            }
            Op::Stop(StopScope::RunNow) => {
                self.worker.stop_run(Duration::ZERO);
                return Some(self.leave());
            }
            // Compilation made jumps of them.
            Op::Stop(StopScope::Pass | StopScope::Loop) => {}
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

    /// A wait that the plan asks for, in nanoseconds.
    fn wait(&mut self, now: u64, wait: u64) -> Next<'p> {
        self.strand.due = now.saturating_add(wait);
        self.strand.thought = self.strand.thought.saturating_add(wait);
        Next::Wait(UserState::Think, self.strand.due)
    }

    /// How long the user has to wait for a rate, in nanoseconds; its place is taken.
    fn pace(&mut self, pace: &PaceOp, now: u64) -> u64 {
        let rate = pace.rate.eval(&self.scope());
        let rate = match self.or_log(rate, Value::Int(0)) {
            Value::Int(rate) => rate as f64,
            Value::Float(rate) => rate,
            _ => 0.0,
        };
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

    /// Whether steps are done in the pass that begins; it is counted.
    fn is_in_pass(&mut self, passes: &PassesOp) -> bool {
        let pass = match passes.count {
            PassCount::Together(count) => self.worker.together.pass(count),
            PassCount::User(register) => {
                let passes = self.register(register);
                *passes += 1;
                *passes - 1
            }
        };
        let (PassPart::First(part) | PassPart::Percent(part)) = &passes.part;
        let part = part.eval(&self.scope());
        let part = match self.or_log(part, Value::Int(0)) {
            Value::Int(part) => part as f64,
            Value::Float(part) => part,
            _ => 0.0,
        };
        match passes.part {
            PassPart::First(_) => (pass as f64) < part,
            PassPart::Percent(_) => together::is_in_percent(pass, part),
        }
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

/// The target at a place of an order of all, which follows from its number (Fisher and Yates). `None`: there is no
/// such place.
fn shuffled(targets: &[Pc], order: u64, place: usize) -> Option<Pc> {
    let mut random = Random::new(order);
    let mut places: Vec<Pc> = targets.to_vec();
    for index in 0..=place {
        let left = places.len().checked_sub(index).filter(|left| *left > 0)?;
        places.swap(index, index + (random.next_u64() % left as u64) as usize);
    }
    places.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_has_all_once() {
        let mut firsts = std::collections::BTreeSet::new();
        for order in 0..100 {
            let mut all: Vec<Pc> =
                (0..4).filter_map(|place| shuffled(&[7, 8, 9, 10], order, place)).collect();
            firsts.insert(all[0]);
            all.sort_unstable();
            assert_eq!(all, [7, 8, 9, 10]);
            assert_eq!(shuffled(&[7, 8, 9, 10], order, 4), None);
        }
        assert_eq!(firsts.len(), 4, "any may be the first");
        assert_eq!(shuffled(&[], 1, 0), None);
    }
}
