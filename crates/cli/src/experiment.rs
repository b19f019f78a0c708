//! `squall experiment`: runs the variants of an experiment, and prints which differences are real.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser as _;
use squall_experimenter::{
    End, ExperimentText, Journal, LocalLaboratory, Permissions, PlanFacts, Prepared, Stop,
};
use squall_front::Values;
use squall_plan::secrets::sounds_secret;
use squall_plan::yaml::Loaded;
use squall_report::{ExperimentResult, replace_file};
use squall_runner::Options;
use squall_supervisor::Supervisor;

use crate::args::{self, Arguments};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::{out, plan_monitors, plans, signals};

/// The version that an experiment goes on with.
const VERSION: &str = env!("SQUALL_VERSION");
/// Settings of the kernel that were changed, in the folder of an experiment.
const SETTINGS: &str = "settings.json";

pub fn command(args: &args::Experiment) -> CommandResult {
    let values = plans::values(&args.values)?;
    run_options(&args.run)?;
    let bad = CommandError::bad_input;
    if let Some(folder) = &args.resume {
        let prepare = |text, seed| prepare(args, &values, text, args.seed.or(Some(seed)));
        let resumed = squall_experimenter::resume(folder, args.file.as_deref(), VERSION, prepare);
        let (own, journal) = resumed.map_err(told)?;
        return carry_out(args, &own, folder, journal);
    }
    // clap has seen to it that there is one.
    let text = ExperimentText::read(args.file.as_deref().unwrap_or(Path::new(""))).map_err(bad)?;
    let own = prepare(args, &values, text, args.seed).map_err(told)?;
    if args.check {
        own.warnings.iter().for_each(|warning| out::message(warning));
        out::print(&squall_experimenter::outlook(&own, 0, true));
        return Ok(Exit::Ok);
    }
    let begun = squall_experimenter::begin(&own, &args.out, VERSION);
    let (folder, journal) = begun.map_err(CommandError::incomplete)?;
    carry_out(args, &own, &folder, journal)
}

/// Prints the JSON Schema of experiments' files.
pub fn schema() -> CommandResult {
    out::print(&format!("{:#}\n", squall_plan::yaml::experiment_schema()));
    Ok(Exit::Ok)
}

/// Prints the JSON Schema of `experiment.json`.
pub fn result_schema() -> CommandResult {
    out::print(&format!("{:#}\n", squall_report::experiment_schema()));
    Ok(Exit::Ok)
}

/// An error that may show lines of the file, with a line end of its own.
fn told(text: String) -> CommandError {
    match text.strip_suffix('\n') {
        Some(shown) => CommandError { exit: Exit::BadInput, text: shown.to_owned() },
        None => CommandError::bad_input(text),
    }
}

/// Looks at the options that each run is given.
fn run_options(words: &[String]) -> Result<(), CommandError> {
    let line = ["squall", "run", "plan.yaml"].into_iter().chain(words.iter().map(String::as_str));
    match Arguments::try_parse_from(line) {
        Ok(_) => Ok(()),
        Err(error) => Err(CommandError::bad_input(format!("after `--`: {error}"))),
    }
}

/// Prepares an experiment. What a plan uses is known when it has been compiled.
fn prepare(
    args: &args::Experiment,
    values: &Values,
    text: ExperimentText,
    seed: Option<u64>,
) -> Result<Prepared, String> {
    let permissions = Permissions { exec: args.allow_exec, sysctl: args.allow_sysctl };
    let options = Options { allow_exec: args.allow_exec, ..Options::default() };
    let check = |loaded: &Loaded, names: &[String]| {
        let monitors = plan_monitors::of_plan(loaded, &[], args.allow_exec);
        let monitors = monitors.map_err(|error| error.text)?;
        let checked =
            squall_runner::check(loaded, &options, &monitors).map_err(|error| error.text)?;
        let is_used = |name: &String| checked.programs.iter().any(|own| own.uses(name));
        let used: BTreeSet<String> = names.iter().filter(|name| is_used(name)).cloned().collect();
        Ok(PlanFacts { used })
    };
    squall_experimenter::prepare(text, values, &permissions, seed, &check)
}

/// Makes the runs that are left, and says what all of them show.
fn carry_out(
    args: &args::Experiment,
    own: &Prepared,
    folder: &Path,
    mut journal: Journal,
) -> CommandResult {
    let failed = |error: &dyn std::fmt::Display| CommandError::incomplete(error);
    let interrupted = signals::interrupts().map_err(|error| failed(&error))?;
    own.warnings.iter().for_each(|warning| out::message(warning));
    if !args.quiet {
        out::message(&squall_experimenter::outlook(own, journal.state.runs.len(), false));
    }
    let squall = std::env::current_exe().map_err(|error| failed(&error))?;
    let settings = std::path::absolute(folder.join(SETTINGS)).map_err(|error| failed(&error))?;
    let supervisor = Supervisor::start(&squall, Some(&settings)).map_err(|error| failed(&error))?;
    let stop: Arc<AtomicBool> = interrupted;
    let is_interrupted = || stop.load(Ordering::Relaxed);
    let allowed = args.allow_exec.then(|| "--allow-exec".to_owned());
    let options = allowed.into_iter().chain(args.run.iter().cloned()).collect();
    let laboratory =
        LocalLaboratory::new(own, folder, supervisor, squall, options, &is_interrupted);
    let mut laboratory = laboratory.map_err(|error| failed(&error))?;
    if let Err(why) = laboratory.try_settings() {
        laboratory.close();
        return Err(CommandError::bad_input(why));
    }
    let mut tell = |notice: squall_experimenter::Notice<'_>| {
        if !args.quiet {
            out::message(&squall_experimenter::notice(own, &notice));
        }
    };
    let end = squall_experimenter::conduct(own, &mut journal, &mut laboratory, &mut tell);
    let mut warnings = laboratory.close();
    let end = end.map_err(|error| failed(&error))?;
    warnings.extend(squall_experimenter::unmeasured(own, &journal.state.runs));
    let command = std::env::args().map(|word| masked(&word)).collect();
    let finished = end == End::Finished;
    let result =
        squall_experimenter::result(own, &journal.state, folder, command, finished, warnings);
    let result = result.map_err(|error| failed(&error))?;
    conclude(args, &result, folder, &end)
}

/// Writes the result's files, prints it and returns the exit code.
fn conclude(
    args: &args::Experiment,
    result: &ExperimentResult,
    folder: &Path,
    end: &End,
) -> CommandResult {
    let json = serde_json::to_string_pretty(result).map_err(CommandError::incomplete)? + "\n";
    let files = [
        ("experiment.json", json.clone()),
        ("experiment.csv", squall_report::experiment_csv(result)),
        ("experiment-runs.csv", squall_report::experiment_runs_csv(result)),
        ("experiment.md", squall_report::experiment_markdown(result)),
        ("experiment.html", squall_report::experiment_html(result)),
    ];
    for (name, text) in files {
        write(&folder.join(name), &text)?;
    }
    match args.json.as_deref() {
        Some("-") => out::print(&json),
        Some(path) => write(&PathBuf::from(path), &json)?,
        None => {}
    }
    let has_values = result.variants.iter().any(|own| own.repeats > 0);
    if args.json.as_deref() != Some("-") {
        if has_values {
            out::print(&squall_report::experiment_text(result, &out::show()));
        }
        out::print(&format!(" experiment's folder  {}\n", folder.display()));
    }
    result.about.warnings.iter().for_each(|warning| out::message(&format!("squall: {warning}\n")));
    let on = format!("go on with it: squall experiment --resume {}", folder.display());
    let is_whole =
        result.about.warnings.is_empty() && result.variants.iter().all(|own| own.repeats > 0);
    match end {
        End::Finished if !is_whole => Ok(Exit::Incomplete),
        End::Finished => Ok(Exit::Ok),
        End::Stopped(Stop::Interrupted) => {
            out::message(&format!("squall: the experiment was interrupted; {on}\n"));
            Ok(Exit::Interrupted)
        }
        End::Stopped(Stop::Failed(why)) => {
            out::message(&format!("squall: {why}\n{on}\n"));
            Ok(Exit::Incomplete)
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    replace_file(path, |mut file: fs::File| file.write_all(text.as_bytes()))
        .map_err(|error| CommandError::incomplete(format!("{}: {error}", path.display())))
}

/// A word of the command line without the secret that its name speaks of, or that a URL holds.
fn masked(word: &str) -> String {
    match word.split_once('=') {
        Some((name, _)) if sounds_secret(name.trim_start_matches('-')) => format!("{name}=***"),
        _ => match (word.find("://"), word.rfind('@')) {
            (Some(begin), Some(end)) if begin < end => {
                format!("{}***{}", &word[..begin + 3], &word[end..])
            }
            _ => word.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_a_command_line_are_masked() {
        assert_eq!(masked("token=abc"), "token=***");
        assert_eq!(masked("nats://me:secret@host:1"), "nats://***@host:1");
        assert_eq!(masked("lang=en"), "lang=en");
    }

    #[test]
    fn options_of_runs_are_looked_at_before_the_first() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(run_options(&words("--workers 2 --nodes local:2")).is_ok());
        let error = run_options(&words("--worker 2")).unwrap_err();
        assert!(error.text.contains("--worker"), "{}", error.text);
    }
}
