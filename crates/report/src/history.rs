//! The runs of a folder: a list of them, which of them is meant by a name, and a measure of all of them over time.

mod beginning;
mod experiment;

pub use experiment::{HistoryExperiment, history_experiment};

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use squall_analysis::FailureKind;
use squall_base::units::{counted, percent, rate, time};

use crate::compare::run_name;
use crate::document::{NONE, OutcomeDocument, Row, SCHEMA};
use crate::load::{LoadError, MAX_RESULT};
use crate::meta::Meta;
use crate::schema::document;
use crate::text::{Show, begin, pad, text_width};

document! {
    /// The runs of a folder, the oldest first.
    HistoryDocument {
        /// The runs.
        runs: Vec<HistoryRun>,
        /// Folders whose run cannot be read, and why.
        unread: Vec<String>,
    }

    /// A run, as far as a list of runs needs it.
    HistoryRun {
        /// Version of the schema of its `run.json`.
        schema: u64,
        /// Its folder.
        folder: String,
        /// What was tested, and with what.
        meta: Meta,
        /// Length, in seconds.
        elapsed_s: f64,
        /// Whether it ended in an orderly way.
        finished: bool,
        /// Whether it passed.
        outcome: OutcomeDocument,
        /// How far its numbers can be trusted.
        validity: String,
        /// All requests together.
        totals: Row,
        /// Requests; this and the following are empty where they were not asked for.
        requests: Vec<Row>,
        /// Groups.
        groups: Vec<Row>,
        /// Iterations.
        iterations: Vec<Row>,
    }
}

/// Which runs are meant: all that agree with everything that is given.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// The name of the plan.
    pub plan: Option<String>,
    /// Names of labels with their values.
    pub labels: Vec<(String, String)>,
    /// The beginning of the commit.
    pub commit: Option<String>,
    /// What it came to, one of [`OUTCOMES`]; empty: anything.
    pub outcomes: Vec<String>,
    /// How far its numbers can be trusted, one of [`VALIDITIES`]; empty: anything.
    pub validities: Vec<String>,
}

/// What a run came to in a list of runs: it passed, it failed, or it or its result is incomplete.
pub const OUTCOMES: [&str; 3] = ["passed", "failed", "incomplete"];
/// How far the numbers of a run can be trusted; `none`: no load ran.
pub const VALIDITIES: [&str; 4] = ["valid", "questionable", "invalid", NONE];

impl HistoryRun {
    /// One of [`OUTCOMES`].
    pub fn outcome_label(&self) -> &'static str {
        let [passed, failed, incomplete] = OUTCOMES;
        let kind = FailureKind::Incomplete.label();
        let is_incomplete = self.outcome.reasons.iter().any(|reason| reason.kind == kind);
        match (self.outcome.passed, is_incomplete || !self.finished) {
            (_, true) => incomplete,
            (true, false) => passed,
            (false, false) => failed,
        }
    }
}

/// How much of each run is read: their results may be long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of [`HistoryRun`] but its rows.
    Totals,
    Rows,
}

impl Extent {
    /// The last key of a result that is needed. What is needed stands at its beginning.
    fn last_key(self) -> &'static str {
        match self {
            Extent::Totals => "totals",
            Extent::Rows => "iterations",
        }
    }
}

impl Filter {
    fn holds(&self, run: &HistoryRun) -> bool {
        let labels = &run.meta.labels;
        let commit = labels.get("commit").map_or("", String::as_str);
        self.plan.as_ref().is_none_or(|plan| *plan == run.meta.plan)
            && self.labels.iter().all(|(name, value)| labels.get(name) == Some(value))
            && self.commit.as_ref().is_none_or(|begin| commit.starts_with(begin.as_str()))
            && is_one_of(&self.outcomes, run.outcome_label())
            && is_one_of(&self.validities, &run.validity)
    }
}

/// Whether a word is among those that are meant; all are if none is named.
fn is_one_of(meant: &[String], word: &str) -> bool {
    meant.is_empty() || meant.iter().any(|own| own == word)
}

/// The runs of a folder that are meant, each as far as is wanted.
///
/// # Errors
/// The folder cannot be read.
pub fn history(base: &Path, filter: &Filter, extent: Extent) -> Result<HistoryDocument, LoadError> {
    let wrong = |error: std::io::Error| LoadError(format!("{}: {error}", base.display()));
    let mut document = HistoryDocument::default();
    for entry in fs::read_dir(base).map_err(wrong)? {
        let folder = entry.map_err(wrong)?.path();
        match read(&folder, extent) {
            None => {}
            Some(Ok(run)) => document.runs.extend(Some(run).filter(|run| filter.holds(run))),
            Some(Err(reason)) => document.unread.push(format!("{}: {reason}", folder.display())),
        }
    }
    let started = |run: &HistoryRun| run.meta.started_unix;
    let order = |a: &HistoryRun, b: &HistoryRun| {
        started(a).total_cmp(&started(b)).then_with(|| a.folder.cmp(&b.folder))
    };
    document.runs.sort_by(order);
    document.unread.sort();
    Ok(document)
}

/// The run of a folder; `None`: it has none.
fn read(folder: &Path, extent: Extent) -> Option<Result<HistoryRun, String>> {
    let path = folder.join("run.json");
    if !path.is_file() {
        return None;
    }
    let file = squall_plan::files::open(&path).map_err(|error| error.to_string());
    Some(file.and_then(|file| history_run(folder, file, extent)))
}

/// The run of a folder, of its `run.json`, of which no more is read than is wanted.
///
/// # Errors
/// It is no result of a run that this version can read, in a sentence.
pub fn history_run(
    folder: &Path,
    run_json: impl Read,
    extent: Extent,
) -> Result<HistoryRun, String> {
    let run: HistoryRun = beginning::read_until(extent.last_key(), run_json.take(MAX_RESULT))?;
    match run.schema {
        SCHEMA => Ok(HistoryRun { folder: folder.display().to_string(), ..run }),
        _ => Err("another version of squall wrote it".to_owned()),
    }
}

/// Whether a path may be that of a run: of a folder that has one, or of a file, as results and baselines are.
fn may_be_run(path: &Path) -> bool {
    path.join("run.json").is_file() || path.exists() && !path.is_dir()
}

/// The run that a text means: its path, or among the runs of a folder the last with such a label (`NAME=VALUE`, or the
/// value of any), or whose commit begins so.
///
/// # Errors
/// There is none.
pub fn find_run(base: &Path, text: &str) -> Result<PathBuf, LoadError> {
    // There is one at least.
    find_runs(base, text, 1).map(|mut runs| runs.swap_remove(0))
}

/// The same of the last so many runs with such a label, the oldest first; a path means one. There is one at least.
///
/// # Errors
/// There is none.
pub fn find_runs(base: &Path, text: &str, most: usize) -> Result<Vec<PathBuf>, LoadError> {
    let paths = [PathBuf::from(text), base.join(text)];
    if let Some(path) = paths.iter().find(|path| may_be_run(path)) {
        return Ok(vec![path.clone()]);
    }
    let none = |and: &str| {
        let own = if paths[0].is_dir() { "this is not the folder of a run" } else { "no such run" };
        LoadError(format!("{text}: {own}, and {and}"))
    };
    if !base.is_dir() {
        let base = base.display();
        return Err(none(&format!("no folder {base} whose labels could be looked through")));
    }
    let is_meant = |run: &HistoryRun| {
        let labels = &run.meta.labels;
        let named = text
            .split_once('=')
            .is_some_and(|(name, value)| labels.get(name).is_some_and(|own| own == value));
        let is_commit = text.len() >= LEAST_COMMIT
            && labels.get("commit").is_some_and(|commit| commit.starts_with(text));
        named || is_commit || labels.values().any(|own| own == text)
    };
    let found = last(base, most.max(1), is_meant)?;
    match found.is_empty() {
        true => Err(none(&format!("no run in {} has such a label", base.display()))),
        false => Ok(found),
    }
}

/// The last so many runs of a folder besides some others, the oldest first.
///
/// # Errors
/// The folder cannot be read, or has no such run.
pub fn last_runs(base: &Path, most: usize, besides: &[PathBuf]) -> Result<Vec<PathBuf>, LoadError> {
    let besides: Vec<PathBuf> = besides.iter().filter_map(|path| folder_of(path)).collect();
    let is_other = |run: &HistoryRun| {
        folder_of(Path::new(&run.folder)).is_none_or(|folder| !besides.contains(&folder))
    };
    let found = last(base, most, is_other)?;
    let none = if besides.is_empty() { "there is no run" } else { "there is no other run" };
    match found.is_empty() {
        true => Err(LoadError(format!("{}: {none}", base.display()))),
        false => Ok(found),
    }
}

/// The folder of a run that a path means, whichever way it is written: itself, or the one with this `run.json`. Of a
/// baseline it is the file. `None`: there is none.
fn folder_of(run: &Path) -> Option<PathBuf> {
    let path = run.canonicalize().ok()?;
    match path.is_file() && path.ends_with("run.json") {
        true => path.parent().map(Path::to_path_buf),
        false => Some(path),
    }
}

fn last(
    base: &Path,
    most: usize,
    is_meant: impl Fn(&HistoryRun) -> bool,
) -> Result<Vec<PathBuf>, LoadError> {
    let mut runs = history(base, &Filter::default(), Extent::Totals)?.runs;
    runs.retain(is_meant);
    let first = runs.len().saturating_sub(most);
    Ok(runs.drain(first..).map(|run| PathBuf::from(run.folder)).collect())
}

/// The fewest characters of a commit that mean it.
const LEAST_COMMIT: usize = 7;

/// Columns of a run's numbers and outcome.
const NUMBERS: usize = 9 + 9 + 9 + 9 + 9 + 11;
/// The fewest columns behind these that labels are written in; otherwise they have a line of their own.
const LABELS: usize = 12;

/// The runs as a table.
pub fn history_text(document: &HistoryDocument, show: &Show) -> String {
    let width = show.width();
    let names: Vec<String> =
        document.runs.iter().map(|run| run_name(Path::new(&run.folder))).collect();
    let longest = names.iter().map(|name| text_width(name)).max().unwrap_or(3).max(3);
    let name = longest.min((width - 1).saturating_sub(NUMBERS).max(10));
    let mut out = format!(
        "\n {:name$} {:>8} {:>8} {:>8} {:>8} {:>8} {:>10}  doubt, labels\n",
        "run", "length", "rate", "errors", "p50", "p99", "outcome"
    );
    for (run, own) in document.runs.iter().zip(names) {
        let outcome = outcome_word(run.outcome_label());
        // The beginning of a name says when it was, and tells it from others of its plan.
        let mut line = format!(" {}", pad(&begin(&own, name), name));
        for number in numbers(run) {
            let _ = write!(line, " {number:>8}");
        }
        let _ = write!(line, " {outcome:>10}");
        let said = [doubt(&run.validity).to_owned(), nodes(&run.meta), labels(&run.meta.labels)];
        let said: Vec<String> = said.into_iter().filter(|text| !text.is_empty()).collect();
        let (labels, used) = (said.join(" "), text_width(&line) + 2);
        match width.saturating_sub(used) {
            _ if labels.is_empty() => {}
            room if room >= LABELS || room >= text_width(&labels) => {
                let _ = write!(line, "  {}", begin(&labels, room));
            }
            _ => {
                let _ = write!(line, "\n    {}", begin(&labels, width - 4));
            }
        }
        out.push_str(&line);
        out.push('\n');
    }
    let runs = document.runs.len();
    let _ = writeln!(out, " {}", counted(runs as u64, "run"));
    for reason in &document.unread {
        let _ = writeln!(out, " not read: {reason}");
    }
    out
}

/// Length, rate, errors, p50 and p99 of a run; of one that was broken off its result says nothing.
fn numbers(run: &HistoryRun) -> [String; 5] {
    let totals = &run.totals;
    match run.finished {
        true => [
            time(run.elapsed_s * 1e6),
            rate(totals.rate),
            percent(totals.error_rate),
            time(totals.latency_us.p50),
            time(totals.latency_us.p99),
        ],
        false => ["-"; 5].map(str::to_owned),
    }
}

/// How many nodes a fleet had; empty: there was none.
fn nodes(meta: &Meta) -> String {
    match meta.nodes.len() as u64 {
        0 | 1 => String::new(),
        nodes => counted(nodes, "node"),
    }
}

/// Labels on a line: the commit first, by its beginning, as in trends.
fn labels(labels: &BTreeMap<String, String>) -> String {
    let commit = labels.get("commit").map(|commit| commit.chars().take(10).collect::<String>());
    let others = labels.iter().filter(|(name, _)| *name != "commit");
    let others = others.map(|(name, value)| format!("{name}={value}"));
    commit.into_iter().chain(others).collect::<Vec<_>>().join(" ")
}

/// What a run came to, in a column: what failed stands out.
pub(crate) fn outcome_word(outcome: &str) -> &str {
    if outcome == "failed" { "FAILED" } else { outcome }
}

/// How far the numbers of a run can be trusted, where that is in doubt.
pub(crate) fn doubt(validity: &str) -> &str {
    if matches!(validity, "valid" | NONE) { "" } else { validity }
}

#[cfg(test)]
pub(crate) mod tests;
