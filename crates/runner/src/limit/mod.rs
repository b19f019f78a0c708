//! The search for the limit: runs a plan at one load level after another to find the sustained maximum. Which level
//! comes next, and what follows from the results, is decided by `squall-limit`.

mod level;
mod load;
#[cfg(test)]
mod simulated;
mod steps;
#[cfg(test)]
mod tests;
mod types;
mod window;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use squall_analysis::Threshold;
use squall_engine::{Section, Subjects};
use squall_limit::{LevelKind, SearchEnd};
use squall_plan::model::Plan;
use squall_plan::secrets::Secrets;
use squall_plan::span::Span;
use squall_plan::yaml::Loaded;
use squall_report::level_text;

use crate::capacity;
use crate::describe;
use crate::error::Error;
use crate::handle::Handle;
use crate::known_metrics::KnownMetrics;
use crate::mask;
use crate::options::Options;
use crate::plans;
use crate::prepared::Prepared;
use crate::proc::cores;
use crate::sections::{self, PhaseEnd, PhaseReport};
use crate::sink::Sinks;
pub use level::kind as level_kind;
use load::RealLoad;
use steps::Steps;
use types::in_result;
pub use types::{LimitNotice, LimitOptions, LimitOutcome, LimitParts};

/// Why thresholds of the plan are left out.
const NO_HOST: &str = "a search records no metrics of the host";

/// Finds the sustained maximum of a plan with the workers of this process, as [`limit_with`] does.
///
/// # Errors
/// See [`limit_with`].
pub fn limit(
    loaded: &Loaded,
    options: &Options,
    asked: &LimitOptions,
    handle: &Handle,
    tell: &mut dyn FnMut(LimitNotice<'_>),
) -> Result<LimitOutcome, Error> {
    limit_with(loaded, options, asked, LimitParts::default(), handle, tell)
}

/// Finds the sustained maximum of a plan with these parts; `handle` stops it, `tell` is told what happens meanwhile.
///
/// # Errors
/// Nothing was sent: the plan or an option is wrong, the folder cannot be made, or it was stopped before.
pub fn limit_with(
    loaded: &Loaded,
    options: &Options,
    asked: &LimitOptions,
    parts: LimitParts<'_>,
    handle: &Handle,
    tell: &mut dyn FnMut(LimitNotice<'_>),
) -> Result<LimitOutcome, Error> {
    let (plan, LimitParts { source, monitors }) = (&loaded.plan, parts);
    let known = KnownMetrics::new(Vec::new(), &monitors());
    let by = asked.by.unwrap_or_else(|| level::kind(plan));
    let from = first_level(asked, by)?;
    let mut options = options.clone();
    plans::add_tags(&mut options.metric_tags, asked.requirements.iter().map(String::as_str));
    let mut prepared = Prepared::new(loaded, &options, &known)?;
    let (requirements, of_host) = known_requirements(asked, plan, &prepared, &known)?;
    let requirements = masked(requirements, &prepared.load.secrets);
    prepared.warnings.iter().for_each(|warning| tell(LimitNotice::Warning(warning)));
    for text in of_host {
        let text = mask::threshold(text, &prepared.load.secrets);
        tell(LimitNotice::Warning(&format!("the threshold `{text}` is left out: {NO_HOST}")));
    }
    handle.set_out()?;
    let as_run = describe::as_run(plan, options.target.as_deref());
    let folder = asked.folder.as_deref().map(|base| new_folder(base, &as_run)).transpose()?;
    let workers = capacity::usual_workers(cores(), options.workers);
    let mut meta = describe::meta(&prepared, &as_run, workers);
    if !source.is_local() {
        // Which those are may change from level to level.
        meta.nodes.clear();
    }
    let sinks = Arc::new(Sinks::none());
    let mut phases = Vec::new();
    if let Some(setup) = sections::run(&prepared, Section::Setup, handle, &sinks) {
        prepared.compile.setup = setup.variables;
        phases.push(setup.report);
    }
    let end = end_by_setup(&phases);
    let mut steps = Steps {
        load: &RealLoad { prepared: &prepared, source, handle, monitors },
        plan,
        asked,
        meta,
        by,
        from,
        requirements,
        handle,
        folder,
        phases: in_result(&phases),
        losses: Vec::new(),
        tell,
    };
    let mut outcome = steps.run(end);
    if sections::has_teardown(plan, &phases) {
        let ran = sections::run(&prepared, Section::Teardown, handle, &sinks);
        phases.extend(ran.map(|ran| ran.report));
    }
    outcome.failures.extend(phases.iter().filter_map(PhaseReport::failure));
    steps.phases = in_result(&phases);
    outcome.failures.extend(steps.save(&outcome.limit, &outcome.failures).err());
    Ok(LimitOutcome { phases, ..outcome })
}

/// The first level, if the options make sense.
fn first_level(asked: &LimitOptions, by: LevelKind) -> Result<f64, Error> {
    if asked.step < Duration::from_secs(2) {
        return Err(Error::input(
            "--step: expected at least 2s, because only whole seconds are measured",
        ));
    }
    let Some(to) = asked.to else { return Ok(asked.from.unwrap_or(level::first(by))) };
    match asked.from {
        Some(from) if from > to => Err(Error::input(format!(
            "invalid --from `{}`: expected at most the level of --to, `{}`",
            level_text(by, from),
            level_text(by, to)
        ))),
        from => Ok(from.unwrap_or(level::first(by).min(to))),
    }
}

/// How a search ends that its setup does not let begin.
fn end_by_setup(phases: &[PhaseReport]) -> Option<SearchEnd> {
    match &phases.first()?.end {
        PhaseEnd::Done => None,
        PhaseEnd::Failed(_) | PhaseEnd::TimedOut(_) => Some(SearchEnd::SetupFailed),
        PhaseEnd::Interrupted | PhaseEnd::Aborted(_) | PhaseEnd::NotRun => {
            Some(SearchEnd::Interrupted)
        }
    }
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

/// The requirements, see [`requirements`], about what there is to be judged.
fn known_requirements<'p>(
    asked: &'p LimitOptions,
    plan: &'p Plan,
    prepared: &Prepared<'_>,
    known: &KnownMetrics,
) -> Result<(Vec<Threshold>, Vec<&'p str>), Error> {
    let sections = [Section::Setup, Section::Load, Section::Teardown];
    let subjects = sections.map(|section| Ok(prepared.program(section)?.subjects()));
    let subjects: Vec<Subjects> = subjects.into_iter().collect::<Result<_, Error>>()?;
    let mut metrics = plans::recorded(plan, Some(&subjects));
    metrics.extend(known.names());
    let found = requirements(&asked.requirements, plan, &metrics)?;
    misjudged(&asked.requirements, &found.0, &subjects)?;
    Ok(found)
}

/// The requirements: those of `--require`, or else the plan's thresholds; and which of the latter are left out, as no
/// level could meet them: those about metrics of the host.
fn requirements<'p>(
    required: &'p [String],
    plan: &'p Plan,
    metrics: &HashSet<&str>,
) -> Result<(Vec<Threshold>, Vec<&'p str>), Error> {
    let texts: Vec<&str> = match required.is_empty() {
        true => plan.thresholds.iter().map(|own| own.text.value.as_str()).collect(),
        false => required.iter().map(String::as_str).collect(),
    };
    let is_of_host = |text: &&str| {
        let parsed = Threshold::parse(text);
        required.is_empty() && parsed.is_ok_and(|own| plans::is_of_host(&own, metrics))
    };
    let (of_host, texts): (Vec<&str>, Vec<&str>) = texts.into_iter().partition(is_of_host);
    if texts.is_empty() {
        let why = if of_host.is_empty() { String::new() } else { format!(" ({NO_HOST})") };
        return Err(Error::input(format!(
            "no requirements{why}: add --require 'p99 < 200ms' --require 'error_rate < 1%', or `thresholds:` to the plan",
        )));
    }
    let parse = |text: &&str| {
        let threshold = Threshold::parse(text)
            .map_err(|error| wrong(text, &error.message, &error.help.unwrap_or_default()))?;
        if threshold.window().is_some() {
            let help = "leave `over` out, and say with --step how long a level is measured";
            return Err(wrong(text, "a search judges each of its levels as a whole", help));
        }
        match plans::refused(&threshold, metrics) {
            None => Ok(threshold),
            Some((message, help)) => Err(wrong(text, &message, help)),
        }
    };
    Ok((texts.iter().map(parse).collect::<Result<_, _>>()?, of_host))
}

/// Requirements with the names that rows have where they are shown.
fn masked(requirements: Vec<Threshold>, secrets: &Secrets) -> Vec<Threshold> {
    let masked =
        |own: Threshold| Threshold::parse(&mask::threshold(own.text(), secrets)).unwrap_or(own);
    requirements.into_iter().map(masked).collect()
}

/// Refuses requirements about what the plan does not have, which no level could meet. Those of the plan itself were
/// looked at when it was compiled.
fn misjudged(
    required: &[String],
    requirements: &[Threshold],
    subjects: &[Subjects],
) -> Result<(), Error> {
    let subjects: Vec<&Subjects> = subjects.iter().collect();
    for (text, own) in required.iter().zip(requirements) {
        let judged = plans::judged_at(own, Span::default());
        if let Some(found) = squall_engine::misjudged(&subjects, &[judged]).first() {
            return Err(wrong(text, &found.message, found.help.as_deref().unwrap_or_default()));
        }
    }
    Ok(())
}

fn wrong(requirement: &str, message: &str, help: &str) -> Error {
    Error::input(format!("--require '{requirement}': {message}; {help}"))
}
