//! `squall k6 run`: runs a script as k6 would have been asked to, with k6's exit codes.

use std::path::Path;

use squall_front::{GivenToScript, K6Failure, K6Test, PlanText};
use squall_plan::files;
use squall_report::RunDocument;
use squall_runner::{
    ErrorKind, FinishedRun, Handle, Options, Phase, PhaseReport, Progress, ProgressStyle, RunParts,
    Sink,
};

use crate::args::K6Run;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::{out, signals};

pub fn command(args: &K6Run) -> CommandResult {
    let text = PlanText::read(&args.script).map_err(|why| failed(Exit::BadCommand, &why))?;
    let test = K6Test::of(&text, &given(args)?).map_err(|failure| match failure {
        K6Failure::Script(why) => failed(Exit::ScriptFailed, &why),
        K6Failure::Options(why) => failed(Exit::InvalidOption, &why),
        K6Failure::Plan(errors) => {
            refused(squall_runner::Error::from(squall_front::ImportError::Plan(errors)))
        }
    })?;
    let handle = Handle::default();
    signals::watch(&handle).map_err(CommandError::incomplete)?;
    let style = if args.quiet { ProgressStyle::Quiet } else { ProgressStyle::Lines };
    let progress: Box<dyn Sink> = Box::new(Progress::new(out::Messages, style));
    let parts = RunParts { sinks: vec![("progress".to_owned(), progress)], ..RunParts::default() };
    let options = Options { command: std::env::args().collect(), ..Options::default() };
    let outcome =
        squall_runner::run_with(&test.loaded, &options, parts, &handle).map_err(refused)?;
    Ok(conclude(&test, &outcome))
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
fn conclude(test: &K6Test, outcome: &FinishedRun) -> Exit {
    let document = squall_report::document(&outcome.run);
    out::print(&squall_report::text(&document, &out::show()));
    let troubles = outcome.phases.iter().filter_map(PhaseReport::trouble);
    troubles.chain(outcome.run.incomplete.iter().cloned()).for_each(|trouble| {
        out::message(&format!("squall: {trouble}\n"));
    });
    let crossed = crossed(test, &document);
    if !crossed.is_empty() {
        let names = crossed.join(", ");
        out::message(&format!("thresholds on metrics '{names}' have been crossed\n"));
    }
    exit(outcome, &document, !crossed.is_empty())
}

/// The metrics whose thresholds were crossed, each once. The plan's thresholds are in the order of the test's.
fn crossed<'t>(test: &'t K6Test, document: &RunDocument) -> Vec<&'t str> {
    let judged = test.options.thresholds.iter().zip(&document.thresholds);
    let mut crossed: Vec<&str> = Vec::new();
    for (own, _) in judged.filter(|(_, row)| !row.passed) {
        if !crossed.contains(&own.subject.as_str()) {
            crossed.push(&own.subject);
        }
    }
    crossed
}

/// What k6 would exit with.
fn exit(outcome: &FinishedRun, document: &RunDocument, is_crossed: bool) -> Exit {
    let has = |kind: &str| document.outcome.reasons.iter().any(|own| own.kind == kind);
    let setup = outcome.phase(Phase::Setup).and_then(PhaseReport::failure);
    match () {
        () if outcome.is_interrupted() => Exit::TestInterrupted,
        () if setup.is_some() => Exit::ScriptFailed,
        () if has("stopped_by_plan") => Exit::TestAborted,
        () if is_crossed || has("aborted") => Exit::ThresholdCrossed,
        () if has("incomplete") => Exit::Incomplete,
        () => Exit::Ok,
    }
}
