//! `squall jmeter`: JMeter's own command line, so that a build that runs JMeter can run squall in its place.

mod log;
mod pages;
mod summary;
mod unheeded;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use squall_base::units::count;
use squall_report::{FeedReport, FileKind, Finished, SampleFormat};
use squall_runner::{FinishedRun, Handle, Options, PhaseReport, RunParts, Samples, Sink, Values};

use self::log::Log;
use self::summary::Summary;
use self::unheeded::{FORM, INTERVAL, PARTS};
use self::words::{Asked, Properties};
use crate::args::{self, Jmeter};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::files::{self, ResultFile};
use crate::generator::{self, Generator};
use crate::{labels, out, plan_feeds, plan_samples, signals};

/// How many seconds JMeter's summariser counts from one line to the next.
const SUMMARY_S: u32 = 30;
/// The file of a report's folder that a browser opens.
const REPORT: &str = "index.html";

/// Runs a plan as JMeter would have been asked to.
pub fn command(line: &Jmeter) -> CommandResult {
    let asked = words::read(&line.words, &args::fleet_options())
        .map_err(|why| CommandError::bad_input(format!("jmeter: {why}")))?;
    let nodes = args::fleet(&asked.fleet)
        .map_err(|why| CommandError { exit: Exit::BadInput, text: why.to_string() })?;
    let shipped = of_home(&asked, "jmeter.properties")?;
    let properties = properties(&asked, &shipped)?;
    let every = interval(&properties)?;
    let format = sample_format(&properties)?;
    // As in JMeter, whatever is not `true` is false.
    let with_parts =
        properties.get(PARTS).is_none_or(|value| value.trim().eq_ignore_ascii_case("true"));
    look_at(&asked.plan, &properties, &shipped);
    prepare(&asked)?;
    let system = system(&asked)?;
    let values = Values {
        files: properties.into_iter().collect(),
        system,
        skips_unsupported: asked.skips_unsupported,
        ..Values::default()
    };
    let loaded = squall_runner::load(&asked.plan, &values)?;
    let mut options = Options {
        command: words::shown(
            std::env::args().map(|word| generator::masked(&nodes, &word)),
            &asked,
        ),
        labels: labels::of(&[], asked.plan.parent()),
        // As in JMeter, what a plan has is trusted.
        allow_exec: true,
        ..Options::default()
    };
    let handle = Handle::default();
    signals::watch(&handle).map_err(CommandError::incomplete)?;
    let mut sinks = sinks(&asked, every, (format, with_parts));
    sinks.extend(plan_samples::of_plan(&loaded.plan, asked.samples.as_slice()));
    sinks.extend(plan_feeds::of_plan(&loaded.plan, &[], std::iter::empty()));
    let Generator { source, local } = generator::generator(&nodes, &loaded, &mut options)?;
    let parts = RunParts { source, sinks, ..RunParts::default() };
    let outcome = squall_runner::run_with(&loaded, &options, parts, &handle);
    drop(local);
    let outcome = outcome?;
    conclude(&asked, &outcome)
}

/// Where the run goes while it is in progress.
fn sinks(
    asked: &Asked,
    every: u32,
    (format, with_parts): (SampleFormat, bool),
) -> Vec<(String, Box<dyn Sink>)> {
    let summary = Summary::new(asked.plan.display().to_string(), every);
    let mut sinks: Vec<(String, Box<dyn Sink>)> = vec![("summary".to_owned(), Box::new(summary))];
    if let Some(path) = &asked.samples {
        let samples = Samples::added_to(path, format, with_parts);
        sinks.push((path.display().to_string(), Box::new(samples)));
    }
    if let Some(path) = &asked.log {
        sinks.push((path.display().to_string(), Box::new(Log::new(path.clone()))));
    }
    sinks
}

/// Writes the report, and says what went wrong with the run itself. As in JMeter, requests that fail are no failure of the
/// command: who wants to know reads the samples.
fn conclude(asked: &Asked, outcome: &FinishedRun) -> CommandResult {
    let document = squall_report::document(&outcome.run);
    if let Some(folder) = &asked.report {
        let path = folder.join(REPORT).display().to_string();
        let file = ResultFile { kind: FileKind::Html, path };
        let finished = Finished { document: &document, run: Some(&outcome.run), folder: None };
        files::write(&[file], finished).map_err(CommandError::incomplete)?;
    }
    let troubles = outcome.phases.iter().filter_map(PhaseReport::trouble);
    let left_out = outcome.run.generator.requests_not_logged.filter(|own| *own > 0);
    let left_out =
        left_out.map(|own| format!("{} samples were left out, as a queue was full", count(own)));
    let lost = outcome.run.feeds.iter().filter_map(FeedReport::loss).chain(left_out);
    troubles.chain(outcome.run.incomplete.iter().cloned()).chain(lost).for_each(|trouble| {
        out::message(&format!("squall: {trouble}\n"));
    });
    Ok(match Exit::of_run(&document) {
        Exit::Failed => Exit::Ok,
        other => other,
    })
}

/// Looks whether files and folders can be written, and makes those that are needed.
fn prepare(asked: &Asked) -> Result<(), CommandError> {
    let is_filled = |path: &Path| std::fs::metadata(path).is_ok_and(|file| file.len() > 0);
    if let Some(path) = asked.samples.as_deref().filter(|path| is_filled(path)) {
        if asked.replaces {
            std::fs::remove_file(path).map_err(|error| unwritable(path, &error))?;
        } else if asked.report.is_some() {
            let text = format!(
                "{}: it has samples already, which -e refuses; -f removes them",
                path.display()
            );
            return Err(CommandError::bad_input(text));
        }
    }
    let Some(folder) = &asked.report else { return Ok(()) };
    let mut inside = std::fs::read_dir(folder).into_iter().flatten();
    if inside.next().is_some() && !asked.replaces {
        let text =
            format!("{}: the folder is not empty; -f writes to it all the same", folder.display());
        return Err(CommandError::bad_input(text));
    }
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::bad_input(format!("{}: {error}", path.display()))
}

/// The properties of a file in the folder of `-d`, if it is there.
fn of_home(asked: &Asked, name: &str) -> Result<BTreeMap<String, String>, CommandError> {
    let path = asked.home.as_ref().map(|home| home.join("bin").join(name));
    match path.filter(|path| path.is_file()) {
        Some(path) => Ok(properties_of(&path)?.into_iter().collect()),
        None => Ok(BTreeMap::new()),
    }
}

/// The properties in a file.
fn properties_of(file: &Path) -> Result<Vec<(String, String)>, CommandError> {
    squall_front::properties(file).map_err(CommandError::bad_input)
}

/// All properties: those that JMeter was shipped with, or of `-p` in their place, of `user.properties`, and what was typed,
/// of which the last counts.
fn properties(
    asked: &Asked,
    shipped: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, CommandError> {
    let mut all = match asked.main_properties {
        Some(_) => BTreeMap::new(),
        None => shipped.clone(),
    };
    let user = user_properties(asked);
    for file in asked.main_properties.iter().chain(user.iter()) {
        all.extend(properties_of(file)?);
    }
    for properties in &asked.properties {
        match properties {
            Properties::File(file) => all.extend(properties_of(file)?),
            Properties::One(name, value) => {
                all.insert(name.clone(), value.clone());
            }
        }
    }
    Ok(all)
}

/// The file `user.properties`: where the command was started, or in the folder of `-d`, as in JMeter; or else beside the
/// file of `-p`, or the plan.
fn user_properties(asked: &Asked) -> Option<PathBuf> {
    let beside = |path: &PathBuf| Some(path.parent()?.join("user.properties"));
    let places = [
        Some(PathBuf::from("user.properties")),
        asked.home.as_ref().map(|home| home.join("bin").join("user.properties")),
        asked.main_properties.as_ref().and_then(beside),
        beside(&asked.plan),
    ];
    places.into_iter().flatten().find(|path| path.is_file())
}

/// System properties: those of files first.
fn system(asked: &Asked) -> Result<BTreeMap<String, String>, CommandError> {
    let mut all = of_home(asked, "system.properties")?;
    for file in &asked.system_files {
        all.extend(properties_of(file)?);
    }
    all.extend(asked.system.clone());
    Ok(all)
}

/// Seconds from one line of the summary to the next.
fn interval(properties: &BTreeMap<String, String>) -> Result<u32, CommandError> {
    let Some(text) = properties.get(INTERVAL) else { return Ok(SUMMARY_S) };
    let wrong = |_| CommandError::bad_input(format!("{INTERVAL}: expected a number of seconds"));
    text.trim().parse().map_err(wrong)
}

/// The form of samples.
fn sample_format(properties: &BTreeMap<String, String>) -> Result<SampleFormat, CommandError> {
    match properties.get(FORM).map(|form| form.trim()) {
        None | Some("csv") => Ok(SampleFormat::Jtl),
        Some("xml") => Ok(SampleFormat::JtlXml),
        Some(_) => Err(CommandError::bad_input(format!("{FORM}: expected csv or xml"))),
    }
}

/// Says which of JMeter's own properties change nothing here.
fn look_at(plan: &Path, properties: &BTreeMap<String, String>, shipped: &BTreeMap<String, String>) {
    // Without a plan nothing runs, which is said where it is read.
    let plan = std::fs::read(plan).unwrap_or_default();
    let names = unheeded::names(properties, shipped, &String::from_utf8_lossy(&plan));
    if !names.is_empty() {
        let names = names.join(", ");
        out::message(&format!(
            "squall: properties of JMeter itself change nothing here: {names}\n"
        ));
    }
}
