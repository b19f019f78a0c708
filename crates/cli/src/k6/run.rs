//! `squall k6 run`: runs a script as k6 would have been asked to, with k6's exit codes.

use std::path::Path;

use serde_json::Value;
use squall_analysis::Validity;
use squall_front::{GivenToScript, K6Failure, K6Test, PlanText};
use squall_k6::options::Known;
use squall_k6::output::{OutputTarget, names};
use squall_k6::plan::{self, SETUP_DATA};
use squall_k6::secrets;
use squall_k6::summary::{SummaryData, SummaryMode, SummaryOptions};
use squall_plan::files;
use squall_plan::yaml::Loaded;
use squall_report::FeedReport;
use squall_runner::{
    ErrorKind, FinishedRun, Handle, Options, Phase, PhaseEnd, PhaseReport, Progress, ProgressStyle,
    RunParts, Sink,
};

use super::log::{Log, RunLog};
use super::output::{self, Measuring};
use super::summary::{Script, summary};
use super::write::{Asked, write};
use crate::args::{K6Given, K6Run, LogLevel};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::{out, signals};

pub fn command(args: &K6Run) -> CommandResult {
    let log = Log::open(&args.log).map_err(|why| failed(Exit::InvalidOption, &why))?;
    let mut test = test(&args.script, &args.given, args.options.0.clone())?;
    test.loaded.plan.scripts.isolation = args.isolation.into();
    args.accepted.warnings().iter().for_each(|text| log.say(LogLevel::Warning, text));
    let handle = Handle::default();
    signals::watch(&handle).map_err(CommandError::incomplete)?;
    let parts = RunParts { sinks: sinks(args, &test, &log)?, ..RunParts::default() };
    let options = Options { command: std::env::args().collect(), ..Options::default() };
    let outcome =
        squall_runner::run_with(&test.loaded, &options, parts, &handle).map_err(refused)?;
    Ok(conclude(args, &test, &log, &outcome))
}

/// A script with all that is given to it, as a plan.
pub fn test(
    script: &Path,
    given: &K6Given,
    flags: Vec<(&'static Known, Vec<String>)>,
) -> Result<K6Test, CommandError> {
    let text = PlanText::read(script).map_err(|why| failed(Exit::BadCommand, &why))?;
    K6Test::of(&text, &to_script(given, flags)?).map_err(|failure| match failure {
        K6Failure::Script(why) => failed(Exit::ScriptFailed, &why),
        K6Failure::Options(why) => failed(Exit::InvalidOption, &why),
        K6Failure::Plan(errors) => {
            refused(squall_runner::Error::from(squall_front::ImportError::Plan(errors)))
        }
    })
}

/// Sinks with their names.
type Sinks = Vec<(String, Box<dyn Sink>)>;

/// Where the run goes while it is in progress.
fn sinks(args: &K6Run, test: &K6Test, log: &Log) -> Result<Sinks, CommandError> {
    let style = if args.log.quiet { ProgressStyle::Quiet } else { ProgressStyle::Lines };
    let progress: Box<dyn Sink> = Box::new(Progress::new(out::Messages, style));
    let measuring = Measuring {
        thresholds: thresholds(test),
        metrics: test.metrics.clone(),
        tags: test.options.system_tags.clone(),
    };
    let outputs = outputs(args)?;
    let warnings = outputs.iter().flat_map(OutputTarget::warnings);
    warnings.for_each(|own| log.say(LogLevel::Warning, own));
    let outputs = outputs.into_iter().map(|target| output::sink(target, &measuring));
    let log: Box<dyn Sink> = Box::new(RunLog::new(log.clone(), test.options.http_debug));
    let told = [("progress".to_owned(), progress), ("log".to_owned(), log)];
    Ok(told.into_iter().chain(outputs).collect())
}

/// The outputs of the command line; without those of `K6_OUT`, as in k6.
fn outputs(args: &K6Run) -> Result<Vec<OutputTarget>, CommandError> {
    let variables: Vec<(String, String)> = squall_front::environment().collect();
    let named = variables.iter().find(|(name, _)| name == "K6_OUT");
    let named = named.iter().flat_map(|(_, text)| names(text));
    // k6 takes this for one more output, which is refused.
    let is_on = |(name, value): &(String, String)| name == "K6_WEB_DASHBOARD" && value == "true";
    let dashboard = variables.iter().any(is_on).then_some("web-dashboard");
    let asked: Vec<&str> = match args.out.is_empty() {
        true => named.collect(),
        false => args.out.iter().map(String::as_str).collect(),
    };
    let target = |text: &str| OutputTarget::parse(text, &variables);
    let all: Result<Vec<OutputTarget>, String> =
        asked.into_iter().chain(dashboard).map(target).collect();
    all.map_err(|why| failed(Exit::BadCommand, &why))
}

/// The thresholds: each metric with its tags, and the expression.
fn thresholds(test: &K6Test) -> Vec<(String, String)> {
    let all = test.options.thresholds.iter();
    all.map(|own| (own.subject.clone(), own.text.clone())).collect()
}

/// What is given to the script.
fn to_script(
    given: &K6Given,
    flags: Vec<(&'static Known, Vec<String>)>,
) -> Result<GivenToScript, CommandError> {
    Ok(GivenToScript {
        env: given.env.clone(),
        flags,
        config: given.config.as_deref().map(config).transpose()?,
        environment: squall_front::environment().collect(),
        has_system_env: given.include_system_env_vars,
        secrets: secrets::sources(&given.secret_source)
            .map_err(|why| failed(Exit::InvalidOption, &why))?,
    })
}

/// A file of options: its name and what is in it.
fn config(path: &Path) -> Result<(String, serde_json::Value), CommandError> {
    let name = path.display().to_string();
    let text =
        files::text(path).map_err(|why| failed(Exit::InvalidOption, &format!("{name}: {why}")))?;
    let value = serde_json::from_str(&text);
    let value = value
        .map_err(|error| failed(Exit::InvalidOption, &format!("{name}: expected JSON: {error}")))?;
    Ok((name, value))
}

fn failed(exit: Exit, why: &str) -> CommandError {
    CommandError { exit, text: format!("squall: {why}") }
}

/// A run that did not begin.
fn refused(error: squall_runner::Error) -> CommandError {
    let exit = match error.kind {
        ErrorKind::Plan | ErrorKind::Input => Exit::InvalidOption,
        ErrorKind::Incomplete => Exit::Incomplete,
        ErrorKind::Interrupted => Exit::TestInterrupted,
    };
    CommandError { exit, ..CommandError::from(error) }
}

/// Prints the result of a run, and returns the exit code.
fn conclude(args: &K6Run, test: &K6Test, log: &Log, outcome: &FinishedRun) -> Exit {
    let tell = |trouble: String| log.say(LogLevel::Error, &trouble);
    let data = sum_up(args, test, outcome);
    let is_newer = args.summary.new_machine_readable_summary;
    let asked = Asked {
        mode: args.summary.summary_mode,
        export: args.summary.summary_export.clone(),
        newer: is_newer.then(|| args.script.display().to_string()),
        secrets: test.secrets.clone(),
    };
    let returned = match asked.mode {
        SummaryMode::Disabled => None,
        _ => handled(test, log, &asked.data(&data)).unwrap_or_else(|why| {
            tell(why);
            None
        }),
    };
    write(&data, &asked, returned.as_ref()).into_iter().chain(troubles(outcome)).for_each(tell);
    let crossed: Vec<&str> = data.crossed().collect();
    if !crossed.is_empty() {
        let names = crossed.join(", ");
        log.say(LogLevel::Error, &format!("thresholds on metrics '{names}' have been crossed"));
    }
    // k6 does not ask whether its own numbers can be trusted.
    let doubts = outcome.run.reasons.iter().filter(|own| own.weight > Validity::Valid);
    doubts.for_each(|own| {
        let (weight, seen, advice) = (own.weight.label(), &own.observed, &own.advice);
        log.say(LogLevel::Warning, &format!("these numbers are {weight}: {seen}; {advice}"));
    });
    exit(outcome, !crossed.is_empty())
}

/// What went wrong in a run, each thing once: a setup that fails leaves the result incomplete.
fn troubles(outcome: &FinishedRun) -> Vec<String> {
    let of_phases = outcome.phases.iter().filter_map(PhaseReport::trouble);
    let of_feeds = outcome.run.feeds.iter().filter_map(FeedReport::loss);
    let mut all: Vec<String> = of_phases.collect();
    for other in outcome.run.incomplete.iter().cloned().chain(of_feeds) {
        if !all.contains(&other) {
            all.push(other);
        }
    }
    all
}

/// What the script's `handleSummary` makes of the data of a summary, as a user of its own who may send requests; these are not
/// counted. `None`: it has none, or that returns nothing.
fn handled(test: &K6Test, log: &Log, data: &Value) -> Result<Option<Value>, String> {
    if !test.script.handles_summary().map_err(|why| why.to_string())? {
        return Ok(None);
    }
    let plan = plan::of_summary(&test.loaded.plan, &test.script.file, data);
    let loaded = Loaded { plan, sources: test.loaded.sources.clone(), warnings: Vec::new() };
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("log".to_owned(), Box::new(RunLog::new(log.clone(), test.options.http_debug)))];
    let parts = RunParts { sinks, ..RunParts::default() };
    let options = Options { workers: Some(1), ..Options::default() };
    let done = squall_runner::run_with(&loaded, &options, parts, &Handle::default());
    let done = done.map_err(|error| format!("handleSummary: {}", error.text))?;
    if let Some(why) = done.phase(Phase::Setup).and_then(PhaseReport::failure) {
        return Err(why.replacen(Phase::Setup.label(), plan::HANDLE_SUMMARY, 1));
    }
    let found = done.found.iter().find(|(name, _)| name == plan::SUMMARY);
    Ok(found.map(|(_, value)| value.to_json()).filter(|own| !own.is_null()))
}

fn sum_up(args: &K6Run, test: &K6Test, outcome: &FinishedRun) -> SummaryData {
    let found = outcome.found.iter().find(|(name, _)| name == SETUP_DATA);
    let setup_data = found.map(|(_, value)| value.to_json()).unwrap_or_default();
    let script = Script { thresholds: &thresholds(test), metrics: &test.metrics };
    let shown = SummaryOptions {
        no_color: args.log.no_color || out::refuses_colors(),
        ..test.options.summary.clone()
    };
    summary(&outcome.as_one(), script, setup_data, shown)
}

/// What k6 would exit with.
fn exit(outcome: &FinishedRun, is_crossed: bool) -> Exit {
    let reasons = squall_report::document(&outcome.run).outcome.reasons;
    let has = |kind: &str| reasons.iter().any(|own| own.kind == kind);
    let is_late = |phase: Phase| {
        outcome.phase(phase).is_some_and(|own| matches!(own.end, PhaseEnd::TimedOut(_)))
    };
    let is_marked = |own: &PhaseReport| own.totals.counters().marked_failed > 0;
    let setup = outcome.phase(Phase::Setup).filter(|own| own.failure().is_some());
    // To be marked as failed is not to fail.
    let setup_failed =
        setup.is_some_and(|own| !is_marked(own) || own.totals.counters().exceptions > 0);
    match () {
        () if outcome.is_interrupted() => Exit::TestInterrupted,
        () if is_late(Phase::Setup) => Exit::SetupTimedOut,
        () if setup_failed => Exit::ScriptFailed,
        () if has("stopped_by_plan") => Exit::TestAborted,
        () if is_late(Phase::Teardown) => Exit::TeardownTimedOut,
        () if has("marked_failed") || outcome.phases.iter().any(is_marked) => Exit::TestFailed,
        () if is_crossed => Exit::ThresholdCrossed,
        () if has("incomplete") => Exit::Incomplete,
        () => Exit::Ok,
    }
}
