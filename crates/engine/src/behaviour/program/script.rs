//! A call of a function of a script: it runs from wait to wait. Each user has its own stack for it, and its own instance
//! of the script's modules.

use std::rc::Rc;

use squall_extract::{Documents, Found, Limits, MatchChoice};
use squall_metrics::{CheckResult, ErrorKind};
use squall_plan::expr::EvalError;
use squall_plan::value::Value;
use squall_script::{Answer, Ask, Event, Held, Level, Numbers, Stage, Step, Thrown, Wait};

use super::interpreter::{Interpreter, Run};
use crate::behaviour::facts;
use crate::behaviour::next::{Asked, Next, Task};
use crate::found::item_value;
use crate::parts::script_metrics::Builtin;
use crate::program::{JsonOp, ReturnOp, ScriptOp, Section};
use crate::sample::Location;
use crate::scripts::{CallSite, Doer};
use crate::user::{Core, Cursor, Instance, OpenGroup, ScriptCall};

/// What it costs to let a script go on, in steps of a plan: it computes for some microseconds, in which no response is read.
const RESUME_COST: u32 = 500;

impl Run for ScriptOp {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, now: u64) -> Option<Next<'p, Cursor>> {
        let instance = match user.instance(self) {
            Ok(instance) => instance,
            Err(why) => {
                user.fail_script(&why);
                return None;
            }
        };
        let call = match user.cursor.call.take() {
            Some(call) => call,
            None => user.begin_call(self, &instance)?,
        };
        let site = user.worker.scripts.call_site(self);
        let next = user.go_on(Calling { op: self, stage: &instance.stage, site: &site }, call, now);
        // An error of it may have ended its user, or the run.
        let ends = user.core.stopped.get() || user.worker.is_stopping();
        next.or(ends.then_some(Next::Gone))
    }
}

/// A call that is being run.
#[derive(Clone, Copy)]
struct Calling<'c, 'p> {
    op: &'p ScriptOp,
    stage: &'c Stage,
    site: &'c CallSite,
}

impl<'p> Interpreter<'_, 'p> {
    /// Runs a call to where it has to wait. `None`: it is over.
    fn go_on(
        &mut self,
        calling: Calling<'_, 'p>,
        mut call: Box<ScriptCall>,
        now: u64,
    ) -> Option<Next<'p, Cursor>> {
        let Calling { op, stage, .. } = calling;
        loop {
            if let Some(requests) = call.requests.take() {
                // Those of a batch have their places one by one.
                let is_one = requests.list.len() == 1;
                if is_one && !std::mem::replace(&mut call.has_place, true) {
                    let due = self.worker.place_of_script(now).filter(|due| *due > now);
                    if let Some(due) = due {
                        call.requests = Some(requests);
                        return Some(self.wait(call, Next::Wait(due)));
                    }
                }
                if let Some(next) = self.may_send(now) {
                    call.requests = Some(requests);
                    self.cursor.call = Some(call);
                    return Some(next);
                }
                call.has_place = false;
                let spot = call.spot();
                let asked = Asked { op, spot, requests };
                return Some(self.wait(call, Next::Go(Task::Requests(asked))));
            }
            if *self.budget == 0 {
                return Some(self.wait(call, Next::Go(Task::Yield)));
            }
            *self.budget = self.budget.saturating_sub(RESUME_COST);
            let answer = std::mem::replace(&mut call.answer, Answer::Ready);
            let step = stage.resume(&mut call.fiber, self.numbers(), answer);
            // What the script itself computes takes time.
            let now = self.worker.clock.now().max(now);
            if self.hear(calling, &mut call, now) {
                return Some(Next::Gone);
            }
            match step {
                Step::Wait(Wait::Sleep(time)) if time.is_zero() => {}
                Step::Wait(Wait::Sleep(time)) => {
                    let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
                    let until = now.saturating_add(time);
                    return Some(self.wait(call, Next::Wait(until)));
                }
                Step::Wait(Wait::Requests(requests)) => call.requests = Some(requests),
                Step::Wait(Wait::Ask(ask)) => call.answer = self.answer(&ask),
                Step::Done(result) => {
                    while !call.spots.is_empty() {
                        self.leave(calling, &mut call, now);
                    }
                    match result {
                        Ok(value) => self.take_returned(calling, &value),
                        Err(thrown) => self.fail_script(&shown(&thrown)),
                    }
                    return None;
                }
            }
        }
    }

    /// The same operation again, when what it waits for has come.
    fn wait(&mut self, call: Box<ScriptCall>, next: Next<'p, Cursor>) -> Next<'p, Cursor> {
        self.cursor.call = Some(call);
        self.cursor.pc -= 1;
        next
    }

    /// The user's own instance of the script.
    fn instance(&self, op: &ScriptOp) -> Result<Rc<Instance>, String> {
        self.core.script(op.kind, || {
            let stage = self.worker.scripts.stage(self.program, op.script)?;
            let user = stage.user(self.numbers(), &op.env).map_err(|thrown| shown(&thrown))?;
            stage.open();
            Ok(Instance { user, stage })
        })
    }

    /// A call that has not begun; `None` after it failed.
    fn begin_call(&mut self, op: &ScriptOp, instance: &Instance) -> Option<Box<ScriptCall>> {
        match self.new_call(op, instance) {
            Ok(call) => Some(Box::new(call)),
            Err(why) => {
                self.fail_script(&why);
                None
            }
        }
    }

    fn new_call(&self, op: &ScriptOp, instance: &Instance) -> Result<ScriptCall, String> {
        let Instance { user, stage } = instance;
        let thrown = |thrown: Thrown| shown(&thrown);
        let function = stage.exported(user, &op.function).map_err(thrown)?;
        let missing = || format!("the script exports no function `{}`", op.function);
        let function = function.ok_or_else(missing)?;
        let argument = |own: &JsonOp| {
            let mut json = Vec::new();
            own.write(&self.scope(), &mut json).map_err(|error| error.to_string())?;
            stage.value_of(&String::from_utf8_lossy(&json)).map_err(thrown)
        };
        let arguments = op.args.iter().map(argument).collect::<Result<Vec<Held>, String>>()?;
        let fiber = stage.call(&function, arguments);
        let fiber = fiber.map_err(|error| format!("no stack for a call: {error}"))?;
        Ok(ScriptCall::new(fiber))
    }

    fn numbers(&self) -> Numbers {
        self.core.numbers()
    }

    /// An exception that nothing in a script caught: an error of its user, like that of a sample.
    fn fail_script(&mut self, why: &str) {
        let row = self.program.scenarios[self.core.scenario()].iteration;
        let recorder = &self.worker.recorder;
        recorder.count(|counters| counters.exceptions += 1);
        recorder.tell(why);
        recorder.detail(row, ErrorKind::Script, 0, || (why.to_owned(), String::new()));
        if self.program.section == Section::Setup {
            self.worker.stop_run(self.program.graceful_stop);
        }
        self.worker.judge(self.core, self.strand, true);
    }

    /// Hears what a script has told. Whether it has ended the run.
    fn hear(&mut self, calling: Calling<'_, 'p>, call: &mut ScriptCall, now: u64) -> bool {
        let Calling { op, stage, site } = calling;
        let recorder = &self.worker.recorder;
        let mut is_aborted = false;
        for event in stage.told() {
            match event {
                Event::Check { name, ok, tags } => {
                    let row = site.rows.check(recorder, call.spot(), &name);
                    let result = if ok { CheckResult::Passed } else { CheckResult::Failed };
                    recorder.check(row, result);
                    site.count_check(recorder, doer(self.core, op, call), (&name, &tags), ok, now);
                }
                Event::Enter(name) => self.enter(calling, call, &name, now),
                Event::Leave => self.leave(calling, call, now),
                Event::Metric { number, value, tags } => {
                    let counted = (number, value, &tags);
                    if site.count_own(recorder, doer(self.core, op, call), counted, now).is_err() {
                        recorder.count(|counters| counters.warnings += 1);
                        let (kind, name) = site.counted.own_metric(number);
                        let kind = kind.label();
                        recorder.log(&format!(
                            "metric {name}: a {kind} cannot take the value `{value}`"
                        ));
                    }
                }
                Event::Log { level, text } => match level {
                    Level::Info => recorder.log(&text),
                    Level::Debug => recorder.log(&format!("debug: {text}")),
                    Level::Warn => recorder.log(&format!("warning: {text}")),
                    Level::Error => recorder.log(&format!("error: {text}")),
                },
                Event::Fail(why) => {
                    recorder.log_failure(&format!("the script marked the run as failed: {why}"));
                    recorder.count(|counters| counters.marked_failed += 1);
                }
                Event::Abort(why) => {
                    recorder.log_failure(&format!("the script has ended the run: {why}"));
                    self.worker.stop_run(self.program.graceful_stop);
                    is_aborted = true;
                }
            }
        }
        is_aborted
    }

    fn enter(&mut self, calling: Calling<'_, 'p>, call: &mut ScriptCall, name: &Rc<str>, now: u64) {
        let rows = &calling.site.rows;
        let (row, spot) = rows.group(&self.worker.recorder, call.spot(), name);
        self.strand.groups.push(OpenGroup {
            name: row,
            since: now,
            failed: false,
            thought_before: None,
            tally_before: self.strand.tally(),
            is_sample: false,
            one_sample: None,
        });
        call.spots.push(spot);
    }

    fn leave(&mut self, calling: Calling<'_, 'p>, call: &mut ScriptCall, now: u64) {
        let Calling { op, site, .. } = calling;
        let doer = doer(self.core, op, call);
        if call.spots.pop().is_none() {
            return;
        }
        if let Some(group) = self.strand.pop_group() {
            let ms = now.saturating_sub(group.since) as f64 / 1e6;
            let recorder = &self.worker.recorder;
            site.count_span(recorder, doer, (Builtin::GroupDuration, ms), now);
            self.worker.end_group(self.core, self.strand, (&group, false), now);
        }
    }

    /// What only the user's worker knows or has.
    fn answer(&self, ask: &Ask) -> Answer {
        let jar = |own: u16| match own {
            0 => 0,
            own => self.program.named_jars.saturating_add(own),
        };
        let place = |url: &str| Location::of(url).ok();
        match ask {
            Ask::Facts => Answer::Facts(Box::new(facts::of(self.worker, self.core))),
            Ask::Cookies { jar: own, url } => {
                let place = place(url);
                let pairs = place.map(|place| self.core.jar(jar(*own)).pairs(place.site()));
                Answer::Cookies(pairs.unwrap_or_default())
            }
            Ask::SetCookie { jar: own, url, line } => {
                if let Some(place) = place(url) {
                    self.core.jar(jar(*own)).set(line.as_bytes(), place.site());
                }
                Answer::Ready
            }
            Ask::ForgetJar { jar: own } => {
                self.core.clear_cookies(Some(jar(*own)));
                Answer::Ready
            }
            Ask::ClearCookies { jar: own, url, name } => {
                if let Some(place) = place(url) {
                    self.core.jar(jar(*own)).forget(place.site(), name.as_deref());
                }
                Answer::Ready
            }
        }
    }

    /// Gives variables what a function has returned.
    fn take_returned(&mut self, calling: Calling<'_, 'p>, value: &Held) {
        let Calling { op, stage, .. } = calling;
        if op.returns.is_empty() {
            return;
        }
        let json = match stage.json_of(value) {
            Ok(json) => json.unwrap_or_else(|| "null".to_owned()),
            Err(thrown) => return self.fail_script(&shown(&thrown)),
        };
        for own in &op.returns {
            let found = returned(own, &json).map(Some);
            let found = self.or_log(found, &own.variable, None);
            self.set(own.slot, found);
        }
    }
}

fn doer<'d>(core: &'d Core, op: &'d ScriptOp, call: &ScriptCall) -> Doer<'d> {
    Doer { op, spot: call.spot(), user: core }
}

/// What a variable gets of what was returned.
fn returned(own: &ReturnOp, json: &str) -> Result<Value, EvalError> {
    let Some(extractor) = &own.extractor else {
        let whole =
            serde_json::from_str(json).map_err(|error| EvalError::new(error.to_string()))?;
        return Ok(Value::from_json(&whole));
    };
    let documents = Documents::new(json.as_bytes(), Limits::default());
    let missing = || EvalError::new(format!("the function returned nothing at {}", own.path));
    match extractor.find_in(&documents, MatchChoice::First, 0) {
        Ok(Found::One(item)) => Ok(item_value(&item)),
        Ok(Found::Many(items)) => items.first().map(item_value).ok_or_else(missing),
        Ok(Found::None) => Err(missing()),
        Err(error) => Err(EvalError::new(error.to_string())),
    }
}

/// An exception in one line.
fn shown(thrown: &Thrown) -> String {
    let lines = thrown.stack.lines().map(str::trim).filter(|line| !line.is_empty());
    let stack = lines.collect::<Vec<_>>().join(", ");
    match stack.is_empty() {
        true => thrown.message.clone(),
        false => format!("{} ({stack})", thrown.message),
    }
}
