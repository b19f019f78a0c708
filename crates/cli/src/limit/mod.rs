//! `squall limit`: runs a plan at one level of load after another, and says where it breaks. Which
//! level comes next, and what follows from them, is `squall-limit`'s.

mod level;
mod measure;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use squall_engine::{CompileOptions, Event, Section, Stopper};
use squall_limit::{By, End, Limit, Next, Outcome, Recovery, Search, Step};
use squall_measure::{Surroundings, Threshold};
use squall_plan::diagnostic::Sources;
use squall_plan::model::Plan;
use squall_wire::Shared;

use crate::args::{self, Mode, Raised};
use crate::builtin;
use crate::exit::{Exit, Failure, Outcome as Ended};
use crate::machine::Looker;
use crate::once::Once;
use crate::{out, plans, signals};
use measure::{Calm, Windows};

/// Section of a step that is not measured: connections are made, and what came before dies away.
const BEGINNING: f64 = 0.2;
/// Even steps of a stress test.
const STRESS_STEPS: usize = 10;
/// How long recovery is watched, in steps.
const WATCHED: u32 = 2;

/// Finds the limit.
pub fn command(args: &args::Limit) -> Ended {
    let loaded = plans::load(&args.plan, &args.variables)?;
    let keep = rules(&args.require, &loaded.plan)?;
    let by = match args.by {
        Some(Raised::Rate) => By::Rate,
        Some(Raised::Users) => By::Users,
        None => level::own(&loaded.plan),
    };
    let from = match &args.from {
        Some(text) => number(text, by, "--from")?,
        None if by == By::Rate => 10.0,
        None => 1.0,
    };
    let to = args.to.as_deref().map(|text| number(text, by, "--to")).transpose()?;
    let search = Search { by, from, to, most: args.steps as usize };
    if args.step < Duration::from_secs(2) {
        return Err(Failure::bad_input("--step: at least 2s, as whole seconds are measured"));
    }
    if args.mode != Mode::Search && to.is_none() {
        return Err(Failure::bad_input("--mode stress, spike and soak need --to: how high"));
    }
    let destination = builtin::destination(&loaded.plan, &args.variables)?;
    let options = plans::options(&args.variables, destination.url.clone(), Vec::new());
    let programs = plans::compile_all(&loaded.plan, &loaded.sources, &options)?;
    let shared = plans::network(&loaded.plan, &loaded.sources, &programs, args.means.io())?;
    let stopper = Stopper::default();
    let interrupted =
        signals::watch(stopper.clone(), Duration::ZERO).map_err(Failure::incomplete)?;
    let mut runner = Runner {
        args,
        plan: &loaded.plan,
        sources: &loaded.sources,
        options,
        shared,
        by,
        keep,
        interrupted,
    };
    let shared = runner.shared.clone();
    let once = Once { plan: &loaded.plan, sources: &loaded.sources, shared: &shared };
    runner.options.setup = once.run(&runner.options, Section::Setup, &stopper)?;
    let limit = match (args.mode, to) {
        (Mode::Soak, Some(to)) => runner.soak(to),
        (Mode::Spike, Some(to)) => runner.through("spike", &[from, to]),
        (Mode::Stress, Some(to)) => runner.through("stress", &even(from, to, search.most)),
        _ => runner.search(search),
    };
    runner.options.setup.clear();
    let torn_down = once.run(&runner.options, Section::Teardown, &Stopper::default());
    let limit = limit?;
    torn_down?;
    runner.conclude(&limit)
}

/// What must be kept.
fn rules(keep: &[String], plan: &Plan) -> Result<Vec<Threshold>, Failure> {
    let texts: Vec<&str> = match keep.is_empty() {
        true => plan.thresholds.iter().map(|text| text.value.as_str()).collect(),
        false => keep.iter().map(String::as_str).collect(),
    };
    if texts.is_empty() {
        return Err(Failure::bad_input(
            "there are no requirements: give --require 'p99 < 200ms' --require 'error_rate < 1%', or `thresholds:` in the plan",
        ));
    }
    let parse = |text: &&str| {
        Threshold::parse(text).map_err(|error| {
            let help = error.help.unwrap_or_default();
            Failure::bad_input(format!("--require '{text}': {}; {help}", error.message))
        })
    };
    texts.iter().map(parse).collect()
}

/// A level as it was typed.
fn number(text: &str, by: By, flag: &str) -> Result<f64, Failure> {
    let bad = || {
        let form =
            if by == By::Rate { "a rate, such as 50/s" } else { "a number of users, such as 50" };
        Failure::bad_input(format!("{flag} {text}: write {form}"))
    };
    let number = match by {
        By::Rate => args::rate(text).map_err(|_| bad())?,
        By::Users => text.parse::<u32>().map(f64::from).map_err(|_| bad())?,
    };
    if number > 0.0 { Ok(number) } else { Err(bad()) }
}

/// Runs a plan at levels.
struct Runner<'a> {
    args: &'a args::Limit,
    plan: &'a Plan,
    sources: &'a Sources,
    options: CompileOptions,
    shared: Arc<Shared>,
    by: By,
    keep: Vec<Threshold>,
    interrupted: Arc<AtomicBool>,
}

impl Runner<'_> {
    /// Raises the load until something breaks, and narrows the edge down.
    fn search(&self, search: Search) -> Result<Limit, Failure> {
        let (mut steps, mut recoveries) = (Vec::new(), Vec::new());
        let end = loop {
            match search.next(&steps) {
                Next::Try(level) => {
                    let step = self.step(level, steps.len(), search.most)?;
                    let broken = step.outcome() != Outcome::Held;
                    steps.push(step);
                    if broken && !self.is_interrupted() {
                        recoveries.extend(self.watch(&steps, level)?);
                    }
                }
                Next::Done(end) => break end,
            }
            if self.is_interrupted() {
                break End::Interrupted;
            }
        };
        let limit = Limit::new(self.plan.name.clone(), self.by, "search", steps, end);
        Ok(Limit { recoveries, ..limit })
    }

    /// Goes through levels that are known beforehand, watches the target recover, and after a spike
    /// takes the first level again.
    fn through(&self, mode: &'static str, levels: &[f64]) -> Result<Limit, Failure> {
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
        let end = if self.is_interrupted() { End::Interrupted } else { End::OutOfSteps };
        Ok(Limit { recoveries, ..Limit::new(self.plan.name.clone(), self.by, mode, steps, end) })
    }

    /// One level for all steps, in one run.
    fn soak(&self, level: f64) -> Result<Limit, Failure> {
        let length = whole(self.args.step);
        let first = beginning(self.args.step);
        let mut windows = Windows::new(first, length, self.args.steps);
        let total = Duration::from_secs(u64::from(first + length * self.args.steps));
        let surroundings = self.run(level, total, |slice| {
            windows.take(slice);
            true
        })?;
        let steps = windows.steps(self.by, level, &self.keep, &surroundings);
        let end = if self.is_interrupted() { End::Interrupted } else { End::OutOfSteps };
        Ok(Limit::new(self.plan.name.clone(), self.by, "soak", steps, end))
    }

    /// One step.
    fn step(&self, level: f64, number: usize, of: usize) -> Result<Step, Failure> {
        let first = beginning(self.args.step);
        let mut windows = Windows::new(first, whole(self.args.step) - first, 1);
        let surroundings = self.run(level, self.args.step, |slice| {
            windows.take(slice);
            true
        })?;
        let mut steps = windows.steps(self.by, level, &self.keep, &surroundings);
        // There is one window.
        let Some(step) = steps.pop() else {
            return Err(Failure::incomplete("no step was measured"));
        };
        if !self.args.quiet {
            let rules: Vec<String> =
                step.kept.iter().map(|kept| format!("{} ({})", kept.text, kept.shown)).collect();
            eprintln!(
                " step {} of at most {of}: {:.1} {}, {}: {}",
                number + 1,
                level,
                if self.by == By::Rate { "a second" } else { "users" },
                rules.join(", "),
                step.outcome().label()
            );
        }
        Ok(step)
    }

    /// Watches the target at a level that held, until it is as it was then.
    fn watch(&self, steps: &[Step], from: f64) -> Result<Option<Recovery>, Failure> {
        let held =
            steps.iter().filter(|step| step.outcome() == Outcome::Held && step.mean_us > 0.0);
        let Some(normal) = held.min_by(|a, b| a.level.total_cmp(&b.level)) else { return Ok(None) };
        let mut calm = Calm::new(normal);
        let mut seconds = None;
        let length = self.args.step * WATCHED;
        self.run(normal.level, length, |slice| {
            seconds = seconds.or(calm.take(slice));
            seconds.is_none()
        })?;
        let at = normal.level;
        Ok(Some(Recovery { from, at, seconds, watched_s: length.as_secs_f64() }))
    }

    /// Runs the plan at a level; `take` says whether to go on.
    fn run(
        &self,
        level: f64,
        length: Duration,
        mut take: impl FnMut(&squall_measure::Slice) -> bool,
    ) -> Result<Surroundings, Failure> {
        let plan = level::at(self.plan, self.by, level, length);
        let program = plans::compile(&plan, self.sources, Section::Load, &self.options)?;
        let hosts = program.origins().len();
        let builtin = builtin::is_asked_for(&plan, &self.args.variables);
        let crew = self.args.means.crew(&plan, hosts, builtin);
        let (stopper, began) = (Stopper::default(), Instant::now());
        let mut surroundings = Surroundings::default();
        let mut looker = Looker::new(self.plan.connections.source_addresses.len());
        surroundings.add(0.0, looker.look());
        let ended =
            squall_engine::run(program, self.shared.clone(), &crew, &stopper, None, |event| {
                let Event::Slice(slice) = event else { return };
                surroundings.add(began.elapsed().as_secs_f64(), looker.look());
                let on = take(slice);
                // What is under way at the end of a step says nothing more.
                if !on || self.is_interrupted() || began.elapsed() >= length {
                    stopper.stop(Duration::ZERO);
                }
            })
            .map_err(Failure::incomplete)?;
        match ended.failures.is_empty() {
            true => Ok(surroundings),
            false => Err(Failure::incomplete(ended.failures.join("; "))),
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Writes the result where it is wanted.
    fn conclude(&self, limit: &Limit) -> Ended {
        let (text, json) = (squall_report::limit_text(limit), squall_report::limit_json(limit));
        let mut json = serde_json::to_string_pretty(&json).map_err(Failure::incomplete)?;
        json.push('\n');
        let folder = self.folder(&text, &json)?;
        match self.args.json.as_deref() {
            Some("-") => out::print(&json),
            Some(path) => std::fs::write(path, &json)
                .map_err(|error| Failure::incomplete(format!("{path}: {error}")))?,
            None => {}
        }
        if self.args.json.as_deref() != Some("-") {
            out::print(&text);
            out::print(&format!(" folder      {}\n", folder.display()));
        }
        Ok(match limit.end {
            End::Interrupted => Exit::Interrupted,
            End::Generator => Exit::Incomplete,
            End::NeverHeld => Exit::Failed,
            _ if limit.mode != "search" => {
                let held = limit.steps.iter().all(|step| step.outcome() == Outcome::Held);
                if held { Exit::Ok } else { Exit::Failed }
            }
            _ => Exit::Ok,
        })
    }

    fn folder(&self, text: &str, json: &str) -> Result<PathBuf, Failure> {
        let failed = |error: std::io::Error| {
            Failure::incomplete(format!("{}: {error}", self.args.out.display()))
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
    let count = most.clamp(2, STRESS_STEPS);
    (0..count).map(|at| from + (to - from) * at as f64 / (count - 1) as f64).collect()
}

/// Whole seconds of a step.
fn whole(step: Duration) -> u32 {
    u32::try_from(step.as_secs()).unwrap_or(u32::MAX)
}

/// Seconds of a step that are not measured.
fn beginning(step: Duration) -> u32 {
    (step.as_secs_f64() * BEGINNING).ceil() as u32
}
