//! `squall run`: runs a plan, shows its progress, and prints its result.

use std::fs::File;
use std::io::IsTerminal;
use std::path::PathBuf;

use squall_plan::yaml::Loaded;
use squall_report::RunDocument;
use squall_runner::{
    Folder, Handle, Json, Options, Outcome, Phase, PhaseReport, Progress, ProgressStyle,
    RequestLog, Sink,
};

use crate::args::{self, Output};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::{labels, out, plans, signals};

/// Folder in which run folders are created.
const DEFAULT_FOLDER: &str = "squall-runs";

/// Runs a plan.
pub fn command(args: &args::Run) -> CommandResult {
    let loaded = plans::load(&args.plan, &args.variables)?;
    let labels = labels::of(&args.output.label, args.plan.parent());
    let options = Options { loads: args.loads(), labels, ..args.variables.options() };
    let folder = args.output.out.clone().unwrap_or_else(|| DEFAULT_FOLDER.into());
    run(&loaded, options, &args.output, Some(folder))
}

/// Runs a plan, and prints its result. The run's folder is made within `folder`, if there is one.
pub fn run(
    loaded: &Loaded,
    options: Options,
    output: &Output,
    folder: Option<PathBuf>,
) -> CommandResult {
    let command = std::env::args().collect();
    let options = Options { command, strict: output.strict, ..output.runtime.options(options) };
    let handle = Handle::default();
    signals::watch(&handle).map_err(CommandError::incomplete)?;
    let outcome = squall_runner::run(loaded, &options, sinks(output, folder), &handle)?;
    conclude(output, &outcome)
}

/// Where the run goes while it is in progress.
fn sinks(output: &Output, folder: Option<PathBuf>) -> Vec<(String, Box<dyn Sink>)> {
    let style = match std::io::stderr().is_terminal() {
        _ if output.quiet => ProgressStyle::Quiet,
        true => ProgressStyle::Terminal,
        false => ProgressStyle::Plain,
    };
    let progress = Progress::new(out::Messages, style);
    let mut sinks: Vec<(String, Box<dyn Sink>)> = vec![("progress".to_owned(), Box::new(progress))];
    if let Some(base) = folder {
        sinks.push((base.display().to_string(), Box::new(Folder::new(base))));
    }
    if let Some(path) = output.json.as_ref().filter(|path| *path != "-") {
        sinks.push((path.clone(), Box::new(Json::new(path))));
    }
    if let Some(path) = &output.log_requests {
        let bytes = output.log_bodies.map_or(0, |size| usize::try_from(size).unwrap_or(usize::MAX));
        let log = RequestLog::new(path, output.log_which, bytes);
        sinks.push((path.display().to_string(), Box::new(log)));
    }
    sinks
}

/// Prints the result and returns the exit code.
fn conclude(output: &Output, outcome: &Outcome) -> CommandResult {
    let document = squall_report::document(&outcome.run);
    if output.json.as_deref() == Some("-") {
        write_json(&document, "-").map_err(CommandError::incomplete)?;
    } else {
        // What a setup that failed came to is there, too.
        if let Some(folder) = &outcome.folder {
            out::print(&format!("\n run folder  {}", folder.display()));
        }
        match outcome.has_load {
            true => out::print(&squall_report::text(&document, &out::show(output.explain))),
            false => out::print("\n"),
        }
    }
    // The text says itself that the load was interrupted.
    let interrupted = outcome.phases.iter().filter(|report| report.failure().is_none());
    let told = interrupted.filter(|report| report.phase != Phase::Load || !outcome.has_load);
    let told = told.filter_map(PhaseReport::trouble).chain(outcome.run.incomplete.iter().cloned());
    told.for_each(|trouble| out::message(&format!("squall: {trouble}\n")));
    Ok(Exit::of_run(&document))
}

/// Writes the result as JSON to a file, or to the standard output for `-`.
///
/// # Errors
/// The file cannot be written, in a sentence with its name.
pub fn write_json(run: &RunDocument, target: &str) -> Result<(), String> {
    let written = match target {
        "-" => {
            let mut text = Vec::new();
            squall_report::write_json(run, &mut text).map(|()| out::print_bytes(&text))
        }
        path => File::create(path).and_then(|file| squall_report::write_json(run, file)),
    };
    written.map_err(|error| format!("{target}: {error}"))
}
