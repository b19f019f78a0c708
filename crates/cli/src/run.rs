//! `squall run`: runs a plan, shows its progress, and prints its result.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use squall_engine::ExchangeFilter;
use squall_feeds::Feed;
use squall_live::{Follow, LiveView};
use squall_plan::yaml::Loaded;
use squall_report::{Finished, Run, RunDocument, Show};
use squall_runner::{
    FinishedRun, Folder, Handle, Json, Options, Phase, PhaseReport, Progress, ProgressStyle,
    RequestLog, RunParts, Samples, Sink,
};

use crate::args::{self, Fleet, Output};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::files::{self, RequestRows, ResultFile, RowForm};
use crate::generator::{self, Generator, LoadFrom};
use crate::{labels, out, plan_feeds, plan_monitors, plan_samples, plans, signals, ui};

/// Folder in which run folders are created.
const DEFAULT_FOLDER: &str = "squall-runs";

pub fn command(args: &args::Run) -> CommandResult {
    let folder = args.output.folder().unwrap_or_else(|| DEFAULT_FOLDER.into());
    if let Some(left) =
        Some(&folder).filter(|_| args.fleet.resume).and_then(|own| generator::left_in(own))
    {
        return resume(&left, &args.output, &args.fleet);
    }
    let loaded = plans::load(&args.plan, &args.variables)?;
    let labels = labels::of(&args.output.label, args.plan.parent());
    let options = Options { loads: args.loads(), labels, ..args.variables.options() };
    run(&loaded, options, (&args.output, LoadFrom::Of(&args.fleet)), Some(folder))
}

/// Goes on with a run whose controller has died, in its folder.
pub fn resume(left: &Path, output: &Output, fleet: &Fleet) -> CommandResult {
    if output.runtime.has_workers() {
        let text = "--workers: a run that goes on has those that it had";
        return Err(CommandError::bad_input(text));
    }
    let (source, loaded, mut options) = generator::resumed(fleet, left)?;
    options.labels = labels::of(&output.label, None);
    let load = LoadFrom::Resumed { source, fleet, folder: left.to_owned() };
    run(&loaded, options, (output, load), left.parent().map(Path::to_owned))
}

/// Runs a plan, and prints its result. The run's folder is made within `folder`, if there is one; one that goes on has its own.
pub fn run(
    loaded: &Loaded,
    options: Options,
    (output, load): (&Output, LoadFrom<'_>),
    folder: Option<PathBuf>,
) -> CommandResult {
    let has_feeds = output.feeds().next().is_some() || !loaded.plan.feeds.is_empty();
    if !output.tag.is_empty() && !has_feeds {
        let text = "--tag goes with a feed, such as --out jsonl=FILE";
        return Err(CommandError::bad_input(text.to_owned()));
    }
    if let Some(flag) = output.without_lines() {
        let text = format!("{flag} goes with --out samples=FILE.jsonl");
        return Err(CommandError::bad_input(text));
    }
    let command = std::env::args().map(|word| {
        let word = generator::masked(load.fleet(), &word);
        let word = output.feeds().fold(word, |word, feed| feed.masked_in(&word));
        output.monitors.typed.iter().fold(word, |word, own| own.masked_in(&word))
    });
    let command = command.collect();
    let options = Options { command, strict: output.strict, ..options };
    let mut options = load.with_runtime(&output.runtime, options);
    let monitors = plan_monitors::of_plan(loaded, &output.monitors.typed, options.allow_exec)?;
    let handle = Handle::default();
    signals::watch(&handle).map_err(CommandError::incomplete)?;
    let (files, paths) = (output.files(), output.paths());
    files::refuse_shared(&paths).map_err(CommandError::bad_input)?;
    files::prepare(&files, folder.is_some()).map_err(CommandError::bad_input)?;
    let goes_on = load.goes_on_in().map(Path::to_owned);
    let mut follow = Follow::default();
    let generated = load.generator(loaded, &mut options)?;
    let page = output
        .ui
        .as_ref()
        .map(|address| ui::serve_run(address, &mut follow, &handle, folder.as_deref()));
    let page = page.transpose()?;
    let mut sinks = sinks(output, &handle, follow);
    let asked: Vec<PathBuf> = paths.into_iter().map(|(_, path)| path).collect();
    sinks.extend(plan_samples::of_plan(&loaded.plan, &asked));
    sinks.extend(plan_feeds::of_plan(&loaded.plan, &output.tag, output.feeds()));
    if let Some(base) = folder {
        // The last: where another cannot begin, no folder is left that looks like that of a run which was killed.
        let shown = goes_on.as_ref().unwrap_or(&base).display().to_string();
        sinks.push((shown, Box::new(goes_on.map_or_else(|| Folder::new(base), Folder::again))));
    }
    let Generator { source, local } = generated;
    let parts = RunParts { source, monitors, sinks };
    let outcome = squall_runner::run_with(loaded, &options, parts, &handle);
    drop(local);
    // Whatever came of it is said on the terminal as it was.
    squall_live::restore();
    let mut outcome = outcome?;
    let concluded = conclude(output, &mut outcome, &files);
    if let Some(page) = page {
        ui::finish(&page, &outcome);
    }
    concluded
}

/// Where the run goes while it is in progress. In a terminal that can show it there is a live view.
fn sinks(output: &Output, handle: &Handle, follow: Follow) -> Vec<(String, Box<dyn Sink>)> {
    let shared = follow.shared();
    let is_shown = !output.quiet && squall_live::is_able();
    let progress: Box<dyn Sink> = match output.quiet {
        true => Box::new(Progress::new(out::Messages, ProgressStyle::Quiet)),
        false if is_shown => {
            let theme = squall_live::Theme { has_colors: !out::refuses_colors() };
            Box::new(LiveView::new(out::Messages, handle, shared, theme))
        }
        false => Box::new(Progress::new(out::Messages, ProgressStyle::Lines)),
    };
    let mut sinks = vec![("progress".to_owned(), progress)];
    // What views show is known to all of them.
    if is_shown || output.ui.is_some() {
        sinks.insert(0, ("live".to_owned(), Box::new(follow)));
    }
    for target in output.feeds() {
        sinks.push((target.shown(), Box::new(Feed::new(target, &output.tag))));
    }
    if let Some(path) = output.json.as_ref().filter(|path| *path != "-") {
        sinks.push((path.clone(), Box::new(Json::new(path))));
    }
    for RequestRows { path, form } in output.samples() {
        let sink: Box<dyn Sink> = match form {
            RowForm::Rows(format) => Box::new(Samples::new(path, *format)),
            RowForm::Lines => {
                let bytes = output.log_bodies.unwrap_or(0);
                let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                let which = output.log_which.unwrap_or(ExchangeFilter::All);
                Box::new(RequestLog::new(path, which, bytes))
            }
        };
        sinks.push((path.display().to_string(), sink));
    }
    sinks
}

/// Writes the result's files, prints it and returns the exit code.
fn conclude(output: &Output, outcome: &mut FinishedRun, files: &[ResultFile]) -> CommandResult {
    let mut document = squall_report::document(&outcome.run);
    let folder = outcome.folder.as_deref();
    let written =
        files::write(files, Finished { document: &document, run: Some(&outcome.run), folder });
    if let Err(lost) = written {
        let lose = |run: &mut Arc<Run>, lost: String| {
            Arc::make_mut(run).incomplete.push(lost);
            squall_report::document(run)
        };
        // The result says so too, wherever it is read.
        document = lose(&mut outcome.run, lost);
        let finished = Finished { document: &document, run: Some(&outcome.run), folder };
        let json = output.json.as_deref().filter(|path| *path != "-").map(Path::new);
        if let Err(lost) = files::amend(folder, json, finished) {
            document = lose(&mut outcome.run, lost);
        }
    }
    if output.json.as_deref() == Some("-") {
        write_json(&document, "-").map_err(CommandError::incomplete)?;
    } else {
        let show = Show { full: output.full, explain: output.explain, ..out::show() };
        out::print(&squall_report::text(&document, &show));
        if let Some(folder) = &outcome.folder {
            out::print(&format!(" run folder  {}\n", folder.display()));
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
