//! The search for the limit: runs a plan at one load level after another to find the sustained maximum. Which level
//! comes next, and what follows from the results, is decided by `squall-limit`.

mod level;
mod windows;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use squall_analysis::Threshold;
use squall_engine::{CompileOptions, Control, Event, Exchange, Section, Trace, Which};
use squall_limit::{
    LevelKind, Limit, LoadStep, Next, Recovery, RecoveryDetector, Search, SearchEnd, StepOutcome,
};
use squall_metrics::{HostMetrics, Slice};
use squall_plan::diagnostic::Sources;
use squall_plan::model::Plan;
use squall_wire::Shared;

use crate::error::Error;
use crate::handle::{Handle, Phase};
use crate::host_sampler::HostSampler;
use crate::options::Options;
use crate::setup_teardown::SetupTeardown;
use crate::{builtin, capacity, plans};
pub use level::kind as level_kind;
use windows::Windows;

/// Share of a step that is not measured, while connections are opened and the previous step dies away.
const UNMEASURED_SHARE: f64 = 0.2;
/// Most even steps of a stress test.
const MAX_STRESS_STEPS: usize = 10;
/// How long recovery is watched at most, in lengths of a step.
const MAX_RECOVERY_STEPS: u32 = 2;

/// What is done about a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Find the sustained maximum.
    #[default]
    Search,
    /// From the first level to the highest in even steps, whatever is violated.
    Stress,
    /// The first level, then the highest, then the first again.
    Spike,
    /// The highest level, for all steps.
    Soak,
}

impl Mode {
    /// Its name in results.
    pub fn label(self) -> &'static str {
        match self {
            Mode::Search => "search",
            Mode::Stress => "stress",
            Mode::Spike => "spike",
            Mode::Soak => "soak",
        }
    }
}

/// How the limit is searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitOptions {
    /// Thresholds that must hold; none: the plan's.
    pub requirements: Vec<String>,
    /// What is raised; `None`: what the plan's loads use.
    pub by: Option<LevelKind>,
    /// The first level; `None`: 10/s or 1 user.
    pub from: Option<f64>,
    /// The highest level; modes other than a search need it.
    pub to: Option<f64>,
    /// Length of a step, at least 2 s; its first fifth is not measured.
    pub step: Duration,
    /// Most steps.
    pub max_steps: u32,
    /// What is done.
    pub mode: Mode,
}

/// What a search tells while it goes on.
#[derive(Debug)]
pub enum LimitNotice<'a> {
    /// Something about the plan that may not mean what was meant, as lines.
    Warning(&'a str),
    /// A step is over.
    Step {
        /// The step.
        step: &'a LoadStep,
        /// What its level counts.
        by: LevelKind,
        /// Its number, from 1.
        number: usize,
        /// How many there are at most.
        most: usize,
    },
}

/// A search that is over, or broke off.
#[derive(Debug)]
pub struct LimitOutcome {
    /// What follows from the steps that were done.
    pub limit: Limit,
    /// Why it broke off, other than by being stopped.
    pub broken: Option<Error>,
    /// What could not be written, a sentence each.
    pub failures: Vec<String>,
    /// The folder, if the options have one.
    pub folder: Option<PathBuf>,
    /// Why the teardown was not run to its end.
    pub teardown: Option<Error>,
}

/// Finds the sustained maximum of a plan, or runs the other modes; `handle` stops it, `tell` is told what
/// happens meanwhile.
///
/// # Errors
/// There is no result: the plan or an option is wrong, the setup failed, or it was stopped before its first
/// step.
pub fn limit(
    plan: &Plan,
    sources: &Sources,
    options: &Options,
    asked: &LimitOptions,
    handle: &Handle,
    tell: &mut dyn FnMut(LimitNotice<'_>),
) -> Result<LimitOutcome, Error> {
    let requirements = requirements(&asked.requirements, plan)?;
    let by = asked.by.unwrap_or_else(|| level::kind(plan));
    let from = asked.from.unwrap_or(if by == LevelKind::Rate { 10.0 } else { 1.0 });
    if asked.step < Duration::from_secs(2) {
        return Err(Error::input(
            "--step: expected at least 2s, because only whole seconds are measured",
        ));
    }
    if asked.mode != Mode::Search && asked.to.is_none() {
        return Err(Error::input("--mode stress, spike and soak need --to, the highest level"));
    }
    let seed = plans::seed(plan, options.seed);
    let destination = builtin::destination(plan, options, seed)?;
    let compile = options.compile(destination.url.clone(), seed);
    let programs = plans::compile_all(plan, sources, &compile)?;
    programs.warnings.iter().for_each(|warning| tell(LimitNotice::Warning(warning)));
    let shared = plans::network(plan, sources, &programs.all, options.io)?;
    let folder = options.folder.as_deref().map(|base| new_folder(base, plan)).transpose()?;
    let mut runner = Runner {
        plan,
        sources,
        options,
        asked,
        compile,
        shared: shared.clone(),
        by,
        from,
        requirements,
        handle,
        folder,
        tell,
    };
    let setup_teardown = SetupTeardown { plan, sources, shared: &shared, log: None };
    let ready = setup_teardown.setup(&mut runner.compile, handle);
    let outcome = ready.map(|_| runner.all_steps());
    let (_, torn_down) = setup_teardown.teardown(&runner.compile, handle);
    outcome.map(|outcome| LimitOutcome { teardown: torn_down.err(), ..outcome })
}

/// Creates the folder of a search, with its plan.
fn new_folder(base: &Path, plan: &Plan) -> Result<PathBuf, Error> {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let name = format!("{}-limit", plan.name);
    let made = squall_report::new_folder(base, started, &name).and_then(|folder| {
        std::fs::write(folder.join("plan.yaml"), squall_plan::yaml::print(plan, true))?;
        Ok(folder)
    });
    made.map_err(|error| Error::incomplete(format!("{}: {error}", base.display())))
}

/// The requirements: those of `--require`, or else the plan's thresholds.
fn requirements(required: &[String], plan: &Plan) -> Result<Vec<Threshold>, Error> {
    let texts: Vec<&str> = match required.is_empty() {
        true => plan.thresholds.iter().map(|text| text.value.as_str()).collect(),
        false => required.iter().map(String::as_str).collect(),
    };
    if texts.is_empty() {
        return Err(Error::input(
            "no requirements: add --require 'p99 < 200ms' --require 'error_rate < 1%', or `thresholds:` to the plan",
        ));
    }
    let parse = |text: &&str| {
        let bad = |message: &str, help: &str| {
            Error::input(format!("--require '{text}': {message}; {help}"))
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

/// Runs a plan at different load levels.
struct Runner<'a> {
    plan: &'a Plan,
    sources: &'a Sources,
    options: &'a Options,
    asked: &'a LimitOptions,
    compile: CompileOptions,
    shared: Arc<Shared>,
    by: LevelKind,
    from: f64,
    requirements: Vec<Threshold>,
    handle: &'a Handle,
    /// Where the steps that are done are written after each of them: a search that is killed loses only the
    /// step that it was at.
    folder: Option<PathBuf>,
    tell: &'a mut dyn FnMut(LimitNotice<'_>),
}

/// What is done of a search.
#[derive(Debug, Clone, Default)]
struct Done {
    steps: Vec<LoadStep>,
    recoveries: Vec<Recovery>,
}

/// How a search ends, unless an error of the generator ends it.
type Ending = Result<SearchEnd, Error>;

impl Runner<'_> {
    /// Runs all steps, and says what follows from them.
    fn all_steps(&mut self) -> LimitOutcome {
        let (by, from, to) = (self.by, self.from, self.asked.to);
        let search = Search { by, from, to, max_steps: self.asked.max_steps as usize };
        let mut done = Done::default();
        let end = match (self.asked.mode, to) {
            (Mode::Soak, Some(to)) => self.soak(to, &mut done),
            (Mode::Spike, Some(to)) => self.through(&[from, to], &mut done),
            (Mode::Stress, Some(to)) => self.through(&even(from, to, search.max_steps), &mut done),
            _ => self.search(search, &mut done),
        };
        self.conclude(done, end)
    }

    /// Raises the load until a requirement is violated, then narrows down the sustained maximum.
    fn search(&mut self, search: Search, done: &mut Done) -> Ending {
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
    fn through(&mut self, levels: &[f64], done: &mut Done) -> Ending {
        let again = levels.first().filter(|_| self.asked.mode == Mode::Spike);
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
        let length = whole(self.asked.step);
        let first = unmeasured(self.asked.step);
        let mut windows =
            Windows::many(first, length, self.asked.max_steps).map_err(Error::incomplete)?;
        let total = Duration::from_secs(u64::from(first + length * self.asked.max_steps));
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
            .map_err(Error::incomplete)?;
        Ok(SearchEnd::OutOfSteps)
    }

    /// Runs one step; `None`: it was interrupted, and counts for nothing.
    fn step(
        &mut self,
        level: f64,
        of: usize,
        done: &mut Done,
    ) -> Result<Option<StepOutcome>, Error> {
        let first = unmeasured(self.asked.step);
        let mut windows =
            Windows::one(first, whole(self.asked.step) - first).map_err(Error::incomplete)?;
        let host = self.run(level, self.asked.step, None, |slice, _| {
            windows.add(slice);
            true
        })?;
        if self.is_interrupted() {
            return Ok(None);
        }
        let mut steps = windows
            .steps(level, self.arrivals(level), &self.requirements, &host)
            .map_err(Error::incomplete)?;
        // There is exactly one window.
        let Some(step) = steps.pop() else {
            return Err(Error::incomplete("no step was measured"));
        };
        let outcome = step.outcome();
        let number = done.steps.len() + 1;
        (self.tell)(LimitNotice::Step { step: &step, by: self.by, number, most: of });
        done.steps.push(step);
        self.save_done(done);
        Ok(Some(outcome))
    }

    /// The rate of arrivals at a level, if all the load is arrivals.
    fn arrivals(&self, level: f64) -> Option<f64> {
        level::is_open(self.plan, self.by).then_some(level)
    }

    /// Watches the target at the lowest level that met the requirements, until its latency is back to normal.
    /// `false`: it was not in time.
    fn watch(&self, from: f64, done: &mut Done) -> Result<bool, Error> {
        let met = done.steps.iter().filter(|step| step.met() && step.mean_us > 0.0);
        let Some(normal) = met.min_by(|a, b| a.level.total_cmp(&b.level)) else { return Ok(true) };
        let at = normal.level;
        let detector = Arc::new(Mutex::new(RecoveryDetector::new(normal)));
        let length = self.asked.step * MAX_RECOVERY_STEPS;
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
    ) -> Result<HostMetrics, Error> {
        let mut host = HostMetrics::default();
        let plan = level::at(self.plan, self.by, level, length);
        let program = plans::compile(&plan, self.sources, Section::Load, &self.compile)?;
        let hosts = program.origins().len();
        let builtin = builtin::is_asked_for(&plan, self.options);
        let workers = capacity::workers(&plan, hosts, builtin, self.options.workers)?;
        let Some(control) = self.handle.begin(Phase::Load, Duration::ZERO) else {
            return Ok(host);
        };
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
            .map_err(Error::incomplete)?;
        match ended.failures.is_empty() {
            true => Ok(host),
            false => Err(Error::incomplete(ended.failures.join("; "))),
        }
    }

    fn is_interrupted(&self) -> bool {
        self.handle.is_stopped()
    }

    /// What follows from what is done.
    fn limit(&self, done: Done, end: SearchEnd) -> Limit {
        let mode = self.asked.mode.label();
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
        let Some(folder) = &self.folder else { return Ok(()) };
        for (name, content) in [("limit.txt", text), ("limit.json", json)] {
            let (path, next) = (folder.join(name), folder.join(format!("{name}.new")));
            std::fs::write(&next, content)
                .and_then(|()| std::fs::rename(&next, &path))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }

    /// Writes the result.
    fn conclude(&self, done: Done, ending: Ending) -> LimitOutcome {
        let (end, broken) = match ending {
            Ok(end) => (end, None),
            Err(failure) => (SearchEnd::Interrupted, Some(failure)),
        };
        let limit = self.limit(done, end);
        let saved = self.save(&squall_report::limit_text(&limit), &json_text(&limit));
        let failures = Vec::from_iter(saved.err());
        LimitOutcome { limit, broken, failures, folder: self.folder.clone(), teardown: None }
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
