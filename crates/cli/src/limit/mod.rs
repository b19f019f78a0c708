//! `squall limit`: runs a plan at one load level after another to find the sustained maximum. Which level
//! comes next, and what follows from the results, is decided by `squall-limit`.

mod level;
mod windows;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use squall_analysis::Threshold;
use squall_base::units::{count, rate};
use squall_engine::{CompileOptions, Control, Event, Exchange, Section, Trace, Which};
use squall_limit::{
    LevelKind, Limit, LoadStep, Next, Recovery, RecoveryDetector, Search, SearchEnd, StepOutcome,
};
use squall_metrics::{HostMetrics, Slice};
use squall_plan::diagnostic::Sources;
use squall_plan::model::Plan;
use squall_wire::Shared;

use crate::args::{self, Mode, Raised};
use crate::builtin;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::host_sampler::HostSampler;
use crate::setup_teardown::{self, SetupTeardown};
use crate::signals::Interrupts;
use crate::{out, plans};
use windows::Windows;

/// Share of a step that is not measured, while connections are opened and the previous step dies away.
const UNMEASURED_SHARE: f64 = 0.2;
/// Most even steps of a stress test.
const MAX_STRESS_STEPS: usize = 10;
/// How long recovery is watched at most, in lengths of a step.
const MAX_RECOVERY_STEPS: u32 = 2;

/// Finds the sustained maximum, or runs the other modes.
pub fn command(args: &args::Limit) -> CommandResult {
    let loaded = plans::load(&args.plan, &args.variables)?;
    let requirements = requirements(&args.require, &loaded.plan)?;
    let by = match args.by {
        Some(Raised::Rate) => LevelKind::Rate,
        Some(Raised::Users) => LevelKind::Users,
        None => level::kind(&loaded.plan),
    };
    let from = match &args.from {
        Some(text) => number(text, by, "--from")?,
        None if by == LevelKind::Rate => 10.0,
        None => 1.0,
    };
    let to = args.to.as_deref().map(|text| number(text, by, "--to")).transpose()?;
    let search = Search { by, from, to, max_steps: args.steps as usize };
    if args.step < Duration::from_secs(2) {
        return Err(CommandError::bad_input(
            "--step: expected at least 2s, because only whole seconds are measured",
        ));
    }
    if args.mode != Mode::Search && to.is_none() {
        return Err(CommandError::bad_input(
            "--mode stress, spike and soak need --to, the highest level",
        ));
    }
    let seed = plans::seed(&loaded.plan);
    let destination = builtin::destination(&loaded.plan, &args.variables, seed)?;
    let options = plans::options(&args.variables, destination.url.clone(), Vec::new(), seed);
    let programs = plans::compile_all(&loaded.plan, &loaded.sources, &options)?;
    let shared = plans::network(&loaded.plan, &loaded.sources, &programs, args.runtime.io())?;
    let folder = new_folder(args, &loaded.plan)?;
    let interrupts = Interrupts::watch(Duration::ZERO).map_err(CommandError::incomplete)?;
    let mut runner = Runner {
        args,
        plan: &loaded.plan,
        sources: &loaded.sources,
        options,
        shared: shared.clone(),
        by,
        requirements,
        interrupts,
        folder,
    };
    let setup_teardown =
        SetupTeardown { plan: &loaded.plan, sources: &loaded.sources, shared: &shared };
    runner.options.setup = setup_teardown.setup(&runner.options, &runner.interrupts)?;
    let mut done = Done::default();
    let end = match (args.mode, to) {
        (Mode::Soak, Some(to)) => runner.soak(to, &mut done),
        (Mode::Spike, Some(to)) => runner.through(&[from, to], &mut done),
        (Mode::Stress, Some(to)) => runner.through(&even(from, to, search.max_steps), &mut done),
        _ => runner.search(search, &mut done),
    };
    let outcome = runner.conclude(done, end);
    let torn_down = setup_teardown.teardown(&runner.options, &runner.interrupts);
    setup_teardown::settle(outcome, torn_down)
}

/// Creates the folder of a search, with its plan.
fn new_folder(args: &args::Limit, plan: &Plan) -> Result<PathBuf, CommandError> {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let name = format!("{}-limit", plan.name);
    let made = squall_report::new_folder(&args.out, started, &name).and_then(|folder| {
        std::fs::write(folder.join("plan.yaml"), squall_plan::yaml::print(plan, true))?;
        Ok(folder)
    });
    made.map_err(|error| CommandError::incomplete(format!("{}: {error}", args.out.display())))
}

/// The requirements: those of `--require`, or else the plan's thresholds.
fn requirements(required: &[String], plan: &Plan) -> Result<Vec<Threshold>, CommandError> {
    let texts: Vec<&str> = match required.is_empty() {
        true => plan.thresholds.iter().map(|text| text.value.as_str()).collect(),
        false => required.iter().map(String::as_str).collect(),
    };
    if texts.is_empty() {
        return Err(CommandError::bad_input(
            "no requirements: add --require 'p99 < 200ms' --require 'error_rate < 1%', or `thresholds:` to the plan",
        ));
    }
    let parse = |text: &&str| {
        let bad = |message: &str, help: &str| {
            CommandError::bad_input(format!("--require '{text}': {message}; {help}"))
        };
        let threshold = Threshold::parse(text)
            .map_err(|error| bad(&error.message, &error.help.unwrap_or_default()))?;
        match plans::refused(&threshold, plan) {
            None => Ok(threshold),
            Some((message, help)) => Err(bad(&message, help)),
        }
    };
    texts.iter().map(parse).collect()
}

/// A level as it was typed.
fn number(text: &str, by: LevelKind, flag: &str) -> Result<f64, CommandError> {
    let bad = || {
        let form = if by == LevelKind::Rate {
            "a rate, such as 50/s"
        } else {
            "a number of users, such as 50"
        };
        CommandError::bad_input(format!("{flag} {text}: expected {form}"))
    };
    let number = match by {
        LevelKind::Rate => args::rate(text).map_err(|_| bad())?,
        LevelKind::Users => text.parse::<u32>().map(f64::from).map_err(|_| bad())?,
    };
    if number > 0.0 { Ok(number) } else { Err(bad()) }
}

/// Runs a plan at different load levels.
struct Runner<'a> {
    args: &'a args::Limit,
    plan: &'a Plan,
    sources: &'a Sources,
    options: CompileOptions,
    shared: Arc<Shared>,
    by: LevelKind,
    requirements: Vec<Threshold>,
    interrupts: Interrupts,
    /// Where the steps that are done are written after each of them: a search that is killed loses only the
    /// step that it was at.
    folder: PathBuf,
}

/// What is done of a search.
#[derive(Debug, Clone, Default)]
struct Done {
    steps: Vec<LoadStep>,
    recoveries: Vec<Recovery>,
}

/// How a search ends, unless an error of the generator ends it.
type Ending = Result<SearchEnd, CommandError>;

impl Runner<'_> {
    /// Raises the load until a requirement is violated, then narrows down the sustained maximum.
    fn search(&self, search: Search, done: &mut Done) -> Ending {
        let mut recovered = true;
        loop {
            let level = match search.next(&done.steps, recovered) {
                Next::Try(level) => level,
                Next::Done(end) => return Ok(end),
            };
            let Some(outcome) = self.step(level, search.max_steps, done)? else {
                return Ok(SearchEnd::Interrupted);
            };
            recovered = matches!(outcome, StepOutcome::Met | StepOutcome::Borderline)
                || self.watch(level, done)?;
            if self.is_interrupted() {
                return Ok(SearchEnd::Interrupted);
            }
        }
    }

    /// Runs through given levels, watches the target recover, and after a spike repeats the first level.
    fn through(&self, levels: &[f64], done: &mut Done) -> Ending {
        let again = levels.first().filter(|_| self.args.mode == Mode::Spike);
        let count = levels.len() + usize::from(again.is_some());
        for level in levels {
            if self.step(*level, count, done)?.is_none() {
                return Ok(SearchEnd::Interrupted);
            }
        }
        if let Some(highest) = levels.last() {
            self.watch(*highest, done)?;
        }
        if let Some(level) = again
            && self.step(*level, count, done)?.is_none()
        {
            return Ok(SearchEnd::Interrupted);
        }
        Ok(if self.is_interrupted() { SearchEnd::Interrupted } else { SearchEnd::OutOfSteps })
    }

    /// Runs all steps at one level, in one run.
    fn soak(&self, level: f64, done: &mut Done) -> Ending {
        let length = whole(self.args.step);
        let first = unmeasured(self.args.step);
        let mut windows =
            Windows::many(first, length, self.args.steps).map_err(CommandError::incomplete)?;
        let total = Duration::from_secs(u64::from(first + length * self.args.steps));
        let host = self.run(level, total, None, |slice, host| {
            windows.add(slice);
            let complete = windows.complete(slice.second);
            if complete > done.steps.len() {
                // What cannot be read now may be at the end, which says so if it cannot.
                if let Ok(mut steps) =
                    windows.steps(level, self.arrivals(level), &self.requirements, host)
                {
                    steps.truncate(complete);
                    done.steps = steps;
                    self.save_done(done);
                }
            }
            true
        })?;
        if self.is_interrupted() {
            return Ok(SearchEnd::Interrupted);
        }
        done.steps = windows
            .steps(level, self.arrivals(level), &self.requirements, &host)
            .map_err(CommandError::incomplete)?;
        Ok(SearchEnd::OutOfSteps)
    }

    /// Runs one step; `None`: it was interrupted, and counts for nothing.
    fn step(
        &self,
        level: f64,
        of: usize,
        done: &mut Done,
    ) -> Result<Option<StepOutcome>, CommandError> {
        let first = unmeasured(self.args.step);
        let mut windows =
            Windows::one(first, whole(self.args.step) - first).map_err(CommandError::incomplete)?;
        let host = self.run(level, self.args.step, None, |slice, _| {
            windows.add(slice);
            true
        })?;
        if self.is_interrupted() {
            return Ok(None);
        }
        let mut steps = windows
            .steps(level, self.arrivals(level), &self.requirements, &host)
            .map_err(CommandError::incomplete)?;
        // There is exactly one window.
        let Some(step) = steps.pop() else {
            return Err(CommandError::incomplete("no step was measured"));
        };
        let outcome = step.outcome();
        if !self.args.quiet {
            out::message(&self.line(&step, done.steps.len() + 1, of));
        }
        done.steps.push(step);
        self.save_done(done);
        Ok(Some(outcome))
    }

    /// What is shown of a step when it is done.
    fn line(&self, step: &LoadStep, number: usize, of: usize) -> String {
        let results: Vec<String> = step
            .requirements
            .iter()
            .map(|result| format!("{} ({})", result.text, result.shown))
            .collect();
        let level = match self.by {
            LevelKind::Rate => rate(step.level),
            LevelKind::Users => format!("{} users", count(step.level as u64)),
        };
        let outcome = step.outcome().label();
        format!(" step {number} of at most {of}: {level}, {}: {outcome}\n", results.join(", "))
    }

    /// The rate of arrivals at a level, if all the load is arrivals.
    fn arrivals(&self, level: f64) -> Option<f64> {
        level::is_open(self.plan, self.by).then_some(level)
    }

    /// Watches the target at the lowest level that met the requirements, until its latency is back to normal.
    /// `false`: it was not in time.
    fn watch(&self, from: f64, done: &mut Done) -> Result<bool, CommandError> {
        let met = done.steps.iter().filter(|step| step.met() && step.mean_us > 0.0);
        let Some(normal) = met.min_by(|a, b| a.level.total_cmp(&b.level)) else { return Ok(true) };
        let at = normal.level;
        let detector = Arc::new(Mutex::new(RecoveryDetector::new(normal)));
        let length = self.args.step * MAX_RECOVERY_STEPS;
        self.run(at, length, Some(detector.clone()), |_, _| true)?;
        let seconds = detector.lock().unwrap_or_else(PoisonError::into_inner).recovered();
        if !self.is_interrupted() {
            done.recoveries.push(Recovery { from, at, seconds, watched_s: length.as_secs_f64() });
            self.save_done(done);
        }
        Ok(seconds.is_some())
    }

    /// Runs the plan at a level until `take` says that it is enough, or the target has recovered.
    fn run(
        &self,
        level: f64,
        length: Duration,
        recovery: Option<Arc<Mutex<RecoveryDetector>>>,
        mut take: impl FnMut(&Slice, &HostMetrics) -> bool,
    ) -> Result<HostMetrics, CommandError> {
        let mut host = HostMetrics::default();
        let plan = level::at(self.plan, self.by, level, length);
        let program = plans::compile(&plan, self.sources, Section::Load, &self.options)?;
        let hosts = program.origins().len();
        let builtin = builtin::is_asked_for(&plan, &self.args.variables);
        let workers = self.args.runtime.workers(&plan, hosts, builtin)?;
        let Some(control) = self.interrupts.begin(0) else { return Ok(host) };
        let began = Instant::now();
        let mut sampler =
            HostSampler::new(self.shared.source_addresses(), &self.shared.destinations());
        host.add(0.0, sampler.sample());
        let trace = recovery.map(|detector| until_recovered(detector, control.clone()));
        let ended =
            squall_engine::run(program, self.shared.clone(), &workers, &control, trace, |event| {
                let Event::Slice(slice) = event else { return };
                host.add(began.elapsed().as_secs_f64(), sampler.sample());
                let on = take(slice, &host);
                // Requests in flight at the end of a step no longer matter.
                if !on || began.elapsed() >= length {
                    control.stop(Duration::ZERO);
                }
            })
            .map_err(CommandError::incomplete)?;
        match ended.failures.is_empty() {
            true => Ok(host),
            false => Err(CommandError::incomplete(ended.failures.join("; "))),
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupts.received() > 0
    }

    /// What follows from what is done.
    fn limit(&self, done: Done, end: SearchEnd) -> Limit {
        let mode = self.args.mode.label();
        let limit = Limit::new(self.plan.name.clone(), self.by, mode, done.steps, end);
        Limit { recoveries: done.recoveries, ..limit }
    }

    /// Writes what is done so far. If that fails, so will the result, which says so.
    fn save_done(&self, done: &Done) {
        let limit = self.limit(done.clone(), SearchEnd::Interrupted);
        let _ = self.save(&squall_report::limit_text(&limit), &json_text(&limit));
    }

    /// Writes a result into the folder; whoever reads it meanwhile sees this one or the one before.
    fn save(&self, text: &str, json: &str) -> Result<(), String> {
        for (name, content) in [("limit.txt", text), ("limit.json", json)] {
            let (path, next) = (self.folder.join(name), self.folder.join(format!("{name}.new")));
            std::fs::write(&next, content)
                .and_then(|()| std::fs::rename(&next, &path))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }

    /// Writes and prints the result.
    fn conclude(&self, done: Done, ending: Ending) -> CommandResult {
        let (end, failure) = match ending {
            Ok(end) => (end, None),
            Err(failure) => (SearchEnd::Interrupted, Some(failure)),
        };
        let limit = self.limit(done, end);
        let (text, json) = (squall_report::limit_text(&limit), json_text(&limit));
        let mut unwritten = Vec::from_iter(self.save(&text, &json).err());
        match self.args.json.as_deref() {
            Some("-") => out::print(&json),
            Some(path) => {
                let written = std::fs::write(path, &json);
                unwritten.extend(written.err().map(|error| format!("{path}: {error}")));
            }
            None => {}
        }
        if self.args.json.as_deref() != Some("-") {
            out::print(&text);
            out::print(&format!(" folder         {}\n", self.folder.display()));
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        if !unwritten.is_empty() {
            return Err(CommandError::incomplete(unwritten.join("; ")));
        }
        Ok(match limit.end {
            SearchEnd::Interrupted => Exit::Interrupted,
            SearchEnd::Generator => Exit::Incomplete,
            SearchEnd::NeverMet | SearchEnd::NotRecovered => Exit::Failed,
            _ if self.args.mode != Mode::Search => {
                let met = limit.steps.iter().all(LoadStep::met);
                if met { Exit::Ok } else { Exit::Failed }
            }
            _ => Exit::Ok,
        })
    }
}

/// Watches each response, and ends the run as soon as the target has recovered.
fn until_recovered(detector: Arc<Mutex<RecoveryDetector>>, control: Control) -> Trace {
    Trace::new(Which::All, 0, move |exchange: Exchange| {
        let latency_us = exchange.latency_ns as f64 / 1e3;
        let ended_s = (exchange.at_us as f64 + latency_us) / 1e6;
        let mut detector = detector.lock().unwrap_or_else(PoisonError::into_inner);
        if detector.add(ended_s, latency_us, exchange.error.is_some()) {
            control.stop(Duration::ZERO);
        }
    })
}

/// The result as JSON.
fn json_text(limit: &Limit) -> String {
    format!("{:#}\n", squall_report::limit_json(limit))
}

/// The levels of a stress test.
fn even(from: f64, to: f64, most: usize) -> Vec<f64> {
    let count = most.clamp(2, MAX_STRESS_STEPS);
    (0..count).map(|at| from + (to - from) * at as f64 / (count - 1) as f64).collect()
}

/// Whole seconds of a step.
fn whole(step: Duration) -> u32 {
    u32::try_from(step.as_secs()).unwrap_or(u32::MAX)
}

/// Seconds at the start of a step that are not measured.
fn unmeasured(step: Duration) -> u32 {
    (step.as_secs_f64() * UNMEASURED_SHARE).ceil() as u32
}
