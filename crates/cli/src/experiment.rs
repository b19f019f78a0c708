//! `squall experiment`: runs the variants of an experiment, and prints which differences are real.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser as _;
use squall_experimenter::{
    End, ExperimentText, Journal, LocalLaboratory, Notice, Permissions, PlanFacts, Prepared, State,
    Stop,
};
use squall_front::Values;
use squall_plan::secrets::sounds_secret;
use squall_plan::yaml::Loaded;
use squall_report::{ExperimentResult, ExperimentState, replace_file};
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
        all_programs(&own)?;
        return carry_out(args, &own, folder, journal);
    }
    // clap has seen to it that there is one.
    let text = ExperimentText::read(args.file.as_deref().unwrap_or(Path::new(""))).map_err(bad)?;
    let own = prepare(args, &values, text, args.seed).map_err(told)?;
    if args.check {
        own.warnings.iter().for_each(|warning| out::message(warning));
        out::print(&squall_experimenter::check(&own));
        return Ok(Exit::Ok);
    }
    all_programs(&own)?;
    let begun = squall_experimenter::begin(&own, &args.out, VERSION);
    let (folder, journal) = begun.map_err(CommandError::incomplete)?;
    carry_out(args, &own, &folder, journal)
}

/// That all programs of an experiment are there, before any is started.
fn all_programs(own: &Prepared) -> Result<(), CommandError> {
    squall_experimenter::missing_programs(own).map_or(Ok(()), |missing| {
        Err(CommandError::bad_input(format!("{}: {missing}", own.file.name)))
    })
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

/// Prepares an experiment. What a plan uses is known when it has been compiled. What starts nothing needs no permission.
fn prepare(
    args: &args::Experiment,
    values: &Values,
    text: ExperimentText,
    seed: Option<u64>,
) -> Result<Prepared, String> {
    let allow_exec = args.allow_exec || args.check;
    let permissions = Permissions { exec: allow_exec, sysctl: args.allow_sysctl || args.check };
    let options = Options { allow_exec, ..Options::default() };
    let check = |loaded: &Loaded, names: &[String]| {
        let monitors = plan_monitors::of_plan(loaded, &[], allow_exec);
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
        out::message(&squall_experimenter::outlook(own, journal.state.runs.len()));
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
    let mut tell = |notice: Notice<'_>| tell(args, own, folder, &notice);
    let end = squall_experimenter::conduct(own, &mut journal, &mut laboratory, &mut tell);
    let mut warnings = laboratory.close();
    let end = end.map_err(|error| failed(&error))?;
    warnings.extend(squall_experimenter::unmeasured(own, &journal.state.runs));
    let at = match end {
        End::Finished => ExperimentState::Finished,
        End::Stopped(_) => ExperimentState::Interrupted,
    };
    let result = result(own, &journal.state, folder, at, warnings)?;
    conclude(args, &result, folder, &end)
}

/// What the runs so far show.
fn result(
    own: &Prepared,
    state: &State,
    folder: &Path,
    at: ExperimentState,
    warnings: Vec<String>,
) -> Result<ExperimentResult, CommandError> {
    let command = std::env::args().map(|word| masked(&word)).collect();
    let result = squall_experimenter::result(own, state, folder, command, at, warnings);
    result.map_err(CommandError::incomplete)
}

/// Says what has just happened. Before each block, what the runs so far show is written.
fn tell(args: &args::Experiment, own: &Prepared, folder: &Path, notice: &Notice<'_>) {
    if let Notice::Block { state, left_time } = notice {
        let at = ExperimentState::UnderWay { left_s: left_time.map(|own| own.as_secs_f64()) };
        let so_far = result(own, state, folder, at, Vec::new());
        // What cannot be written now is tried again at the end, where it is an error.
        if let Err(error) = so_far.and_then(|own| write_all(&own, folder)) {
            out::message(&format!("squall: {}\n", error.text));
        }
    } else if !args.quiet {
        out::message(&squall_experimenter::notice(own, notice));
    }
}

/// Writes the result's files, prints it, and returns the exit code.
fn conclude(
    args: &args::Experiment,
    result: &ExperimentResult,
    folder: &Path,
    end: &End,
) -> CommandResult {
    let json = write_all(result, folder)?;
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

/// Writes all files of a result, each whole or not at all; the JSON.
fn write_all(result: &ExperimentResult, folder: &Path) -> Result<String, CommandError> {
    let json = serde_json::to_string_pretty(result).map_err(CommandError::incomplete)? + "\n";
    for (name, text) in [
        ("experiment.json", json.clone()),
        ("experiment.csv", squall_report::experiment_csv(result)),
        ("experiment-runs.csv", squall_report::experiment_runs_csv(result)),
        ("experiment.md", squall_report::experiment_markdown(result)),
        ("experiment.html", squall_report::experiment_html(result)),
    ] {
        write(&folder.join(name), &text)?;
    }
    Ok(json)
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
