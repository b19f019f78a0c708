//! What the page shows besides the result: what was evaluated with it, and what is in the run's folder.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};
use squall_analysis::apdex_index;
use squall_metrics::{RequestStats, RowKey, RowKind};
use squall_plan::files;

use crate::curves::{Curves, Line};
use crate::distribution::Distribution;
use crate::lines::each_line;
use crate::profile::ProfileView;
use crate::run::Run;

/// Most examples of errors on the page.
const MAX_EXAMPLES: usize = 200;
/// Most characters of an example.
const MAX_EXAMPLE: usize = 600;
/// Up to which latency Apdex has a user satisfied, in µs; up to four times as much is tolerated.
pub const APDEX_US: u64 = 500_000;
/// Most bytes of the plan on the page.
const MAX_PLAN: usize = 128 << 10;

/// What is known of a run besides its result. Without a folder it is empty, and the page says so.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Details {
    /// The run over time.
    pub curves: Option<Curves>,
    pub latency: Option<Distribution>,
    pub corrected: Option<Distribution>,
    /// [`apdex_index`] of all requests, with T = [`APDEX_US`].
    pub apdex: Option<f64>,
    /// What belongs to the rows of the result, in its order: requests, groups, iterations.
    pub rows: Vec<RowDetails>,
    /// The checks of the result over time, likewise.
    pub checks: Vec<Option<Line>>,
    /// Examples of errors, with secrets masked.
    pub examples: Vec<Example>,
    /// The plan as it ran, with secrets masked.
    pub plan: String,
    /// Where the target spent its CPU time, if that was profiled.
    pub profile: Option<ProfileView>,
    /// What could not be read.
    pub missing: Vec<String>,
}

/// A row besides its numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RowDetails {
    /// Over time; null: there were too many rows.
    pub line: Option<Line>,
    pub latency: Option<Distribution>,
    pub corrected: Option<Distribution>,
    /// Its [`apdex_index`], with T = [`APDEX_US`].
    pub apdex: Option<f64>,
}

/// An example of an error, or a line that the plan logs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Example {
    pub second: u32,
    pub text: String,
    /// The scenario of the request.
    pub scenario: String,
    pub name: String,
    /// The kind of the error; empty: the line is one that the plan logs.
    pub error: String,
    /// The beginning of the response's body, as far as it was kept.
    pub excerpt: String,
}

impl Details {
    /// Of a run that was evaluated, and of its folder, if it has one. What cannot be read there is in `missing`.
    pub fn of(run: &Run, folder: Option<&Path>) -> Details {
        let open = |name: &str| folder.map(|own| files::open(&own.join(name))).transpose();
        let plan = open("plan.yaml").and_then(|file| file.map_or(Ok(String::new()), beginning));
        let log = open("log.jsonl").and_then(|file| file.map_or(Ok(Vec::new()), examples));
        let plan_error = plan.as_ref().err().map(|error| format!("plan.yaml: {error}"));
        let log_error = log.as_ref().err().map(|error| format!("log.jsonl: {error}"));
        let line = |key: &RowKey| run.curves.as_ref()?.rows.get(key).cloned();
        let rows = keys(run).map(|(key, stats)| RowDetails {
            line: line(key),
            latency: Distribution::of(&stats.latency),
            corrected: Distribution::of(&stats.corrected_latency),
            apdex: apdex_index(stats, APDEX_US),
        });
        let all = run.totals.all();
        Details {
            curves: run.curves.as_ref().map(|own| own.whole.clone()),
            latency: Distribution::of(&all.latency),
            corrected: Distribution::of(&all.corrected_latency),
            apdex: apdex_index(&all, APDEX_US),
            rows: rows.collect(),
            checks: run.totals.checks().map(|(key, _)| line(key)).collect(),
            plan: plan.unwrap_or_default(),
            examples: log.unwrap_or_default(),
            profile: run.profile.as_ref().map(|own| own.view()),
            missing: plan_error.into_iter().chain(log_error).collect(),
        }
    }
}

/// The rows in the order of the result: requests, groups, iterations.
fn keys(run: &Run) -> impl Iterator<Item = (&RowKey, &RequestStats)> {
    let requests = run.totals.rows().filter(|(key, _)| key.place.kind.is_request());
    let groups = run.totals.of_kind(RowKind::Group);
    requests.chain(groups).chain(run.totals.of_kind(RowKind::Iteration))
}

/// The beginning of a plan, of which no more is read.
fn beginning(file: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    // So much more that a character that is cut lies behind what is shown.
    file.take(MAX_PLAN as u64 + 4).read_to_end(&mut bytes)?;
    Ok(shorten(&String::from_utf8_lossy(&bytes), MAX_PLAN))
}

/// The first lines of a run's log, of which no more is read.
fn examples(log: File) -> io::Result<Vec<Example>> {
    let mut examples = Vec::new();
    each_line(log, |line| {
        let example = serde_json::from_slice::<Example>(line).ok();
        let short = |own: Example| Example { text: shorten(&own.text, MAX_EXAMPLE), ..own };
        examples.extend(example.map(short));
        match examples.len() < MAX_EXAMPLES {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    Ok(examples)
}

/// At most so many bytes of a text, with a mark where it is cut.
fn shorten(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}\u{2026}", &text[..end])
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use super::*;

    #[test]
    fn what_is_long_is_cut_between_characters() {
        assert_eq!(
            (shorten("abc", 3), shorten("aäc", 2)),
            ("abc".to_owned(), "a\u{2026}".to_owned())
        );
    }

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).and_then(|()| file.rewind()).expect("writable");
        file
    }

    #[test]
    fn lines_that_are_none_are_left_out() {
        let log = "{\"second\":1,\"text\":\"x\",\"error\":\"status\"}\nnonsense\n{\"text\":\"y\"}\n{\"text\":\"";
        // A generator that was killed may leave a part of a character.
        for cut in [&b""[..], &"ä".as_bytes()[..1]] {
            let examples = examples(file(&[log.as_bytes(), cut].concat())).expect("readable");
            let texts: Vec<String> = examples.into_iter().map(|own| own.text).collect();
            assert_eq!(texts, ["x", "y"]);
        }
    }

    #[test]
    fn a_long_plan_is_cut_between_characters() {
        for text in ["aä", "ä"].map(|text| text.repeat(MAX_PLAN)) {
            let own = beginning(file(text.as_bytes())).expect("readable");
            assert_eq!(own, shorten(&text, MAX_PLAN));
        }
        assert_eq!(beginning(file(b"name: x\n")).expect("readable"), "name: x\n");
    }
}
