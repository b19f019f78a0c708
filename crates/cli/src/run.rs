//! `squall run`: runs a plan, shows its progress, and prints its result.

use std::fs::File;
use std::io::{IsTerminal, Write};

use squall_analysis::Validity;
use squall_plan::diagnostic::Sources;
use squall_plan::model::Plan;
use squall_report::{Live, Run};
use squall_runner::{Handle, Notice, Options, Outcome};

use crate::args::{self, Output};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::{out, plans, signals};

/// Folder in which run folders are created.
const DEFAULT_FOLDER: &str = "squall-runs";
/// Seconds between progress lines without a terminal.
const PLAIN_PROGRESS_S: f64 = 5.0;

/// Runs a plan.
pub fn command(args: &args::Run) -> CommandResult {
    let mut loaded = plans::load(&args.plan, &args.variables)?;
    squall_runner::resize(&mut loaded.plan, args.users, args.duration);
    let folder = args.output.out.clone().unwrap_or_else(|| DEFAULT_FOLDER.into());
    let options = Options { folder: Some(folder), ..args.variables.options() };
    run(&loaded.plan, &loaded.sources, options, &args.output)
}

/// Runs a plan, and prints its result.
pub fn run(plan: &Plan, sources: &Sources, options: Options, output: &Output) -> CommandResult {
    let options = output.options(options);
    let handle = Handle::default();
    signals::watch(&handle).map_err(CommandError::incomplete)?;
    let mut progress = Progress::new(output.quiet);
    let mut unwritten = None;
    let mut tell = |notice: Notice<'_>| match notice {
        Notice::Warning(text) => out::message(text),
        Notice::Second(live) => progress.show(&live),
        Notice::Evaluated(run) => {
            progress.clear();
            // The standard output gets one result, when there is nothing to add any more.
            let target = output.json.as_deref().filter(|target| *target != "-");
            unwritten = target.and_then(|target| write_json(run, target).err());
        }
    };
    let outcome = squall_runner::run(plan, sources, &options, &handle, &mut tell);
    let mut outcome = outcome?;
    outcome.failures.extend(unwritten);
    conclude(output, outcome)
}

/// The progress line, which a terminal shows again and again.
struct Progress {
    quiet: bool,
    terminal: bool,
    is_shown: bool,
}

impl Progress {
    fn new(quiet: bool) -> Progress {
        Progress { quiet, terminal: std::io::stderr().is_terminal(), is_shown: false }
    }

    fn show(&mut self, live: &Live<'_>) {
        if self.quiet || (!self.terminal && live.elapsed_s % PLAIN_PROGRESS_S > 0.0) {
            return;
        }
        let line = squall_report::live_line(live);
        let mut out = std::io::stderr().lock();
        // A run continues even if its progress cannot be shown.
        let _ = if self.terminal { write!(out, "\r\x1b[K{line}") } else { writeln!(out, "{line}") };
        let _ = out.flush();
        self.is_shown = true;
    }

    fn clear(&self) {
        if self.terminal && self.is_shown {
            out::message("\r\x1b[K");
        }
    }
}

/// Prints the result and returns the exit code.
fn conclude(output: &Output, mut outcome: Outcome) -> CommandResult {
    let is_final = |target: &&str| *target == "-" || outcome.run.teardown.is_some();
    if let Some(target) = output.json.as_deref().filter(is_final) {
        let unwritten = write_json(&outcome.run, target).err();
        let unwritten = unwritten.filter(|own| !outcome.failures.contains(own));
        outcome.failures.extend(unwritten);
    }
    let Outcome { run, failures, folder, teardown } = outcome;
    if output.json.as_deref() != Some("-") {
        out::print(&squall_report::text(&run, out::has_colors()));
        if let Some(folder) = &folder {
            out::print(&format!(" run folder  {}\n", folder.display()));
        }
    }
    if !failures.is_empty() {
        teardown.iter().for_each(|failure| out::message(&format!("squall: {failure}\n")));
        return Err(CommandError::incomplete(failures.join("; ")));
    }
    if let Some(failure) = teardown {
        return Err(failure.into());
    }
    if run.interrupted {
        return Ok(Exit::Interrupted);
    }
    if output.strict && run.validity() == Validity::Invalid {
        return Ok(Exit::Incomplete);
    }
    Ok(if run.passed() { Exit::Ok } else { Exit::Failed })
}

/// Writes the result as JSON to a file, or to the standard output for `-`.
///
/// # Errors
/// The file cannot be written, in a sentence with its name.
pub fn write_json(run: &Run, target: &str) -> Result<(), String> {
    let written = match target {
        "-" => {
            let mut text = Vec::new();
            squall_report::write_json(run, &mut text).map(|()| out::print_bytes(&text))
        }
        path => File::create(path).and_then(|file| squall_report::write_json(run, file)),
    };
    written.map_err(|error| format!("{target}: {error}"))
}
