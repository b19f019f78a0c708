//! `squall limit`: runs a plan at one load level after another to find the sustained maximum. Which level
//! comes next, and what follows from the results, is decided by `squall-limit`.

mod level;
mod windows;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use squall_engine::{CompileOptions, Control, Event, Section};
use squall_limit::{LevelKind, Limit, LoadStep, Next, Recovery, Search, SearchEnd, StepOutcome};
use squall_measure::units::{count, rate};
use squall_measure::{HostMetrics, Threshold};
use squall_plan::diagnostic::Sources;
use squall_plan::model::Plan;
use squall_wire::Shared;

use crate::args::{self, Mode, Raised};
use crate::builtin;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::host_sampler::HostSampler;
use crate::setup_teardown::SetupTeardown;
use crate::{out, plans, signals};
use windows::{RecoveryDetector, Windows};

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
    let destination = builtin::destination(&loaded.plan, &args.variables)?;
    let options = plans::options(&args.variables, destination.url.clone(), Vec::new());
    let programs = plans::compile_all(&loaded.plan, &loaded.sources, &options)?;
    let shared = plans::network(&loaded.plan, &loaded.sources, &programs, args.means.io())?;
    let control = Control::default();
    let interrupted =
        signals::watch(control.clone(), Duration::ZERO).map_err(CommandError::incomplete)?;
    let mut runner = Runner {
        args,
        plan: &loaded.plan,
        sources: &loaded.sources,
        options,
        shared,
        by,
        requirements,
        interrupted,
    };
    let shared = runner.shared.clone();
    let setup_teardown =
        SetupTeardown { plan: &loaded.plan, sources: &loaded.sources, shared: &shared };
    runner.options.setup = setup_teardown.run(&runner.options, Section::Setup, &control)?;
    let limit = match (args.mode, to) {
        (Mode::Soak, Some(to)) => runner.soak(to),
        (Mode::Spike, Some(to)) => runner.through("spike", &[from, to]),
        (Mode::Stress, Some(to)) => runner.through("stress", &even(from, to, search.max_steps)),
        _ => runner.search(search),
    };
    runner.options.setup.clear();
    let torn_down = setup_teardown.run(&runner.options, Section::Teardown, &Control::default());
    let limit = limit?;
    torn_down?;
    runner.conclude(&limit)
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
    interrupted: Arc<AtomicBool>,
}

impl Runner<'_> {
    /// Raises the load until a requirement is violated, then narrows down the sustained maximum.
    fn search(&self, search: Search) -> Result<Limit, CommandError> {
        let (mut steps, mut recoveries) = (Vec::new(), Vec::new());
        let end = loop {
            match search.next(&steps) {
                Next::Try(level) => {
                    let step = self.step(level, steps.len(), search.max_steps)?;
                    let violated = step.outcome() != StepOutcome::Met;
                    steps.push(step);
                    if violated && !self.is_interrupted() {
                        recoveries.extend(self.watch(&steps, level)?);
                    }
                }
                Next::Done(end) => break end,
            }
            if self.is_interrupted() {
                break SearchEnd::Interrupted;
            }
        };
        let limit = Limit::new(self.plan.name.clone(), self.by, "search", steps, end);
        Ok(Limit { recoveries, ..limit })
    }

    /// Runs through given levels, watches the target recover, and after a spike repeats the first level.
    fn through(&self, mode: &'static str, levels: &[f64]) -> Result<Limit, CommandError> {
        let (mut steps, mut recoveries) = (Vec::new(), Vec::new());
        let again = levels.first().filter(|_| mode == "spike");
        let count = levels.len() + usize::from(again.is_some());
        for level in levels {
            steps.push(self.step(*level, steps.len(), count)?);
            if self.is_interrupted() {
                break;
            }
        }
        if let Some(highest) = levels.last().filter(|_| !self.is_interrupted()) {
            recoveries.extend(self.watch(&steps, *highest)?);
            if let Some(level) = again {
                steps.push(self.step(*level, steps.len(), count)?);
            }
        }
        let end =
            if self.is_interrupted() { SearchEnd::Interrupted } else { SearchEnd::OutOfSteps };
        Ok(Limit { recoveries, ..Limit::new(self.plan.name.clone(), self.by, mode, steps, end) })
    }

    /// Runs all steps at one level, in one run.
    fn soak(&self, level: f64) -> Result<Limit, CommandError> {
        let length = whole(self.args.step);
        let first = unmeasured(self.args.step);
        let mut windows =
            Windows::new(first, length, self.args.steps).map_err(CommandError::incomplete)?;
        let total = Duration::from_secs(u64::from(first + length * self.args.steps));
        let host = self.run(level, total, |slice| {
            windows.add(slice);
            true
        })?;
        let steps = windows
            .steps(self.by, level, &self.requirements, &host)
            .map_err(CommandError::incomplete)?;
        let end =
            if self.is_interrupted() { SearchEnd::Interrupted } else { SearchEnd::OutOfSteps };
        Ok(Limit::new(self.plan.name.clone(), self.by, "soak", steps, end))
    }

    /// Runs one step.
    fn step(&self, level: f64, number: usize, of: usize) -> Result<LoadStep, CommandError> {
        let first = unmeasured(self.args.step);
        let mut windows = Windows::new(first, whole(self.args.step) - first, 1)
            .map_err(CommandError::incomplete)?;
        let host = self.run(level, self.args.step, |slice| {
            windows.add(slice);
            true
        })?;
        let mut steps = windows
            .steps(self.by, level, &self.requirements, &host)
            .map_err(CommandError::incomplete)?;
        // There is exactly one window.
        let Some(step) = steps.pop() else {
            return Err(CommandError::incomplete("no step was measured"));
        };
        if !self.args.quiet {
            let results: Vec<String> = step
                .requirements
                .iter()
                .map(|result| format!("{} ({})", result.text, result.shown))
                .collect();
            eprintln!(
                " step {} of at most {of}: {}, {}: {}",
                number + 1,
                match self.by {
                    LevelKind::Rate => rate(level),
                    LevelKind::Users => format!("{} users", count(level as u64)),
                },
                results.join(", "),
                step.outcome().label()
            );
        }
        Ok(step)
    }

    /// Watches the target at a level that met the requirements, until its latency is back to normal.
    fn watch(&self, steps: &[LoadStep], from: f64) -> Result<Option<Recovery>, CommandError> {
        let met =
            steps.iter().filter(|step| step.outcome() == StepOutcome::Met && step.mean_us > 0.0);
        let Some(normal) = met.min_by(|a, b| a.level.total_cmp(&b.level)) else { return Ok(None) };
        let mut detector = RecoveryDetector::new(normal);
        let mut seconds = None;
        let length = self.args.step * MAX_RECOVERY_STEPS;
        self.run(normal.level, length, |slice| {
            seconds = seconds.or(detector.add(slice));
            seconds.is_none()
        })?;
        let at = normal.level;
        Ok(Some(Recovery { from, at, seconds, watched_s: length.as_secs_f64() }))
    }

    /// Runs the plan at a level; `take` says whether to continue.
    fn run(
        &self,
        level: f64,
        length: Duration,
        mut take: impl FnMut(&squall_measure::Slice) -> bool,
    ) -> Result<HostMetrics, CommandError> {
        let plan = level::at(self.plan, self.by, level, length);
        let program = plans::compile(&plan, self.sources, Section::Load, &self.options)?;
        let hosts = program.origins().len();
        let builtin = builtin::is_asked_for(&plan, &self.args.variables);
        let crew = self.args.means.crew(&plan, hosts, builtin);
        let (control, began) = (Control::default(), Instant::now());
        let mut host = HostMetrics::default();
        let mut sampler = HostSampler::new(self.plan.connections.source_addresses.len());
        host.add(0.0, sampler.sample());
        let ended =
            squall_engine::run(program, self.shared.clone(), &crew, &control, None, |event| {
                let Event::Slice(slice) = event else { return };
                host.add(began.elapsed().as_secs_f64(), sampler.sample());
                let on = take(slice);
                // Requests in flight at the end of a step no longer matter.
                if !on || self.is_interrupted() || began.elapsed() >= length {
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
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Writes the result to its folder, and where the flags ask for it.
    fn conclude(&self, limit: &Limit) -> CommandResult {
        let (text, json) = (squall_report::limit_text(limit), squall_report::limit_json(limit));
        let mut json = serde_json::to_string_pretty(&json).map_err(CommandError::incomplete)?;
        json.push('\n');
        let folder = self.folder(&text, &json)?;
        match self.args.json.as_deref() {
            Some("-") => out::print(&json),
            Some(path) => std::fs::write(path, &json)
                .map_err(|error| CommandError::incomplete(format!("{path}: {error}")))?,
            None => {}
        }
        if self.args.json.as_deref() != Some("-") {
            out::print(&text);
            out::print(&format!(" folder         {}\n", folder.display()));
        }
        Ok(match limit.end {
            SearchEnd::Interrupted => Exit::Interrupted,
            SearchEnd::Generator => Exit::Incomplete,
            SearchEnd::NeverMet => Exit::Failed,
            _ if limit.mode != "search" => {
                let met = limit.steps.iter().all(|step| step.outcome() == StepOutcome::Met);
                if met { Exit::Ok } else { Exit::Failed }
            }
            _ => Exit::Ok,
        })
    }

    fn folder(&self, text: &str, json: &str) -> Result<PathBuf, CommandError> {
        let failed = |error: std::io::Error| {
            CommandError::incomplete(format!("{}: {error}", self.args.out.display()))
        };
        let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let name = format!("{}-limit", self.plan.name);
        let folder = squall_report::new_folder(&self.args.out, started, &name).map_err(failed)?;
        let plan = squall_plan::yaml::print(self.plan, true);
        let files = [("plan.yaml", plan.as_str()), ("limit.txt", text), ("limit.json", json)];
        for (name, content) in files {
            std::fs::write(folder.join(name), content).map_err(failed)?;
        }
        Ok(folder)
    }
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
