//! `squall k6 run`: runs a script as k6 would have been asked to, with k6's exit codes.

use std::path::Path;

use squall_analysis::Validity;
use squall_front::{GivenToScript, K6Failure, K6Test, PlanText};
use squall_k6::output::{OutputTarget, names};
use squall_k6::plan::SETUP_DATA;
use squall_k6::summary::{SummaryData, SummaryMode, SummaryOptions};
use squall_plan::files;
use squall_report::FeedReport;
use squall_runner::{
    ErrorKind, FinishedRun, Handle, Options, Phase, PhaseEnd, PhaseReport, Progress, ProgressStyle,
    RunParts, Sink,
};

use super::log::{Log, say};
use super::output::{self, Measuring};
use super::summary::{Script, summary};
use super::write::{Asked, write};
use crate::args::K6Run;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::{out, signals};

pub fn command(args: &K6Run) -> CommandResult {
    let text = PlanText::read(&args.script).map_err(|why| failed(Exit::BadCommand, &why))?;
    let mut test = K6Test::of(&text, &given(args)?).map_err(|failure| match failure {
        K6Failure::Script(why) => failed(Exit::ScriptFailed, &why),
        K6Failure::Options(why) => failed(Exit::InvalidOption, &why),
        K6Failure::Plan(errors) => {
            refused(squall_runner::Error::from(squall_front::ImportError::Plan(errors)))
        }
    })?;
    test.loaded.plan.scripts.isolation = args.isolation.into();
    let handle = Handle::default();
    signals::watch(&handle).map_err(CommandError::incomplete)?;
    let parts = RunParts { sinks: sinks(args, &test)?, ..RunParts::default() };
    let options = Options { command: std::env::args().collect(), ..Options::default() };
    let outcome =
        squall_runner::run_with(&test.loaded, &options, parts, &handle).map_err(refused)?;
    Ok(conclude(args, &test, &outcome))
}

/// Sinks with their names.
type Sinks = Vec<(String, Box<dyn Sink>)>;

/// Where the run goes while it is in progress.
fn sinks(args: &K6Run, test: &K6Test) -> Result<Sinks, CommandError> {
    let style = if args.quiet { ProgressStyle::Quiet } else { ProgressStyle::Lines };
    let progress: Box<dyn Sink> = Box::new(Progress::new(out::Messages, style));
    let measuring = Measuring {
        thresholds: thresholds(test),
        metrics: test.metrics.clone(),
        tags: test.options.system_tags.clone(),
    };
    let outputs = outputs(args)?;
    outputs.iter().flat_map(OutputTarget::warnings).for_each(|own| say("warning", own));
    let outputs = outputs.into_iter().map(|target| output::sink(target, &measuring));
    let log: Box<dyn Sink> = Box::new(Log::default());
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
fn given(args: &K6Run) -> Result<GivenToScript, CommandError> {
    Ok(GivenToScript {
        env: args.env.clone(),
        flags: args.options.0.clone(),
        config: args.config.as_deref().map(config).transpose()?,
        environment: squall_front::environment().collect(),
        has_system_env: args.include_system_env_vars,
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
fn conclude(args: &K6Run, test: &K6Test, outcome: &FinishedRun) -> Exit {
    let tell = |trouble: String| say("error", &trouble);
    let data = sum_up(args, test, outcome);
    let asked = Asked { mode: args.summary_mode, export: args.summary_export.clone() };
    let returned = match args.summary_mode {
        SummaryMode::Disabled => None,
        _ => test.script.handle_summary(&data.to_json()).unwrap_or_else(|why| {
            tell(why.to_string());
            None
        }),
    };
    let troubles = outcome.phases.iter().filter_map(PhaseReport::trouble);
    let troubles = troubles.chain(outcome.run.incomplete.iter().cloned());
    let troubles = troubles.chain(outcome.run.feeds.iter().filter_map(FeedReport::loss));
    write(&data, &asked, returned.as_ref()).into_iter().chain(troubles).for_each(tell);
    let crossed: Vec<&str> = data.crossed().collect();
    if !crossed.is_empty() {
        let names = crossed.join(", ");
        say("error", &format!("thresholds on metrics '{names}' have been crossed"));
    }
    // k6 does not ask whether its own numbers can be trusted.
    let doubts = outcome.run.reasons.iter().filter(|own| own.weight > Validity::Valid);
    doubts.for_each(|own| {
        let (weight, seen, advice) = (own.weight.label(), &own.observed, &own.advice);
        say("warning", &format!("these numbers are {weight}: {seen}; {advice}"));
    });
    exit(outcome, !crossed.is_empty())
}

fn sum_up(args: &K6Run, test: &K6Test, outcome: &FinishedRun) -> SummaryData {
    let found = outcome.found.iter().find(|(name, _)| name == SETUP_DATA);
    let setup_data = found.map(|(_, value)| value.to_json()).unwrap_or_default();
    let script = Script { thresholds: &thresholds(test), metrics: &test.metrics };
    let shown = SummaryOptions { no_color: args.no_color, ..test.options.summary.clone() };
    summary(&outcome.run, script, setup_data, shown)
}

/// What k6 would exit with.
fn exit(outcome: &FinishedRun, is_crossed: bool) -> Exit {
    let reasons = squall_report::document(&outcome.run).outcome.reasons;
    let has = |kind: &str| reasons.iter().any(|own| own.kind == kind);
    let is_late = |phase: Phase| {
        outcome.phase(phase).is_some_and(|own| matches!(own.end, PhaseEnd::TimedOut(_)))
    };
    let setup = outcome.phase(Phase::Setup).and_then(PhaseReport::failure);
    match () {
        () if outcome.is_interrupted() => Exit::TestInterrupted,
        () if is_late(Phase::Setup) => Exit::SetupTimedOut,
        () if setup.is_some() => Exit::ScriptFailed,
        () if has("stopped_by_plan") => Exit::TestAborted,
        () if is_late(Phase::Teardown) => Exit::TeardownTimedOut,
        () if is_crossed => Exit::ThresholdCrossed,
        () if has("incomplete") => Exit::Incomplete,
        () => Exit::Ok,
    }
}
