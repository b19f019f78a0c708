//! What the page shows besides the result: what was evaluated with it, and what is in the run's folder.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use squall_metrics::{RequestStats, RowKey, RowKind};

use super::curves::{Curves, Line};
use super::distribution::Distribution;
use crate::run::Run;

/// Most examples of errors on the page.
const MAX_EXAMPLES: usize = 200;
/// Most characters of an example.
const MAX_EXAMPLE: usize = 600;
/// Most bytes of the plan on the page.
const MAX_PLAN: usize = 128 << 10;

/// What is known of a run besides its result. Without a folder it is empty, and the page says so.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Details {
    /// The run over time.
    pub curves: Option<Curves>,
    /// All latencies.
    pub latency: Option<Distribution>,
    /// All corrected latencies.
    pub corrected: Option<Distribution>,
    /// What belongs to the rows of the result, in its order: requests, groups, iterations.
    pub rows: Vec<RowDetails>,
    /// The checks of the result over time, likewise.
    pub checks: Vec<Option<Line>>,
    /// Examples of errors, with secrets masked.
    pub examples: Vec<Example>,
    /// The plan as it ran, with secrets masked.
    pub plan: String,
    /// What could not be read.
    pub missing: Vec<String>,
}

/// A row besides its numbers.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RowDetails {
    /// Over time; null: there were too many rows.
    pub line: Option<Line>,
    /// Its latencies.
    pub latency: Option<Distribution>,
    /// Its corrected latencies.
    pub corrected: Option<Distribution>,
}

/// An example of an error, or a line that the plan logs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Example {
    /// The second.
    pub second: u32,
    /// The line.
    pub text: String,
    /// The scenario of the request.
    pub scenario: String,
    /// Its name.
    pub name: String,
    /// The kind of the error; empty: the line is one that the plan logs.
    pub error: String,
    /// The beginning of the response's body, as far as it was kept.
    pub excerpt: String,
}

impl Details {
    /// Of a run that was evaluated, and of its folder, if it has one. What cannot be read there is in `missing`.
    pub fn of(run: &Run, folder: Option<&Path>) -> Details {
        let mut missing = Vec::new();
        let mut text = |name: &str| {
            let text = folder.map_or(Ok(String::new()), |own| fs::read_to_string(own.join(name)));
            text.unwrap_or_else(|error| {
                missing.push(format!("{name}: {error}"));
                String::new()
            })
        };
        let (plan, log) = (text("plan.yaml"), text("log.jsonl"));
        let line = |key: &RowKey| run.curves.as_ref()?.rows.get(key).cloned();
        let rows = keys(run).map(|(key, stats)| RowDetails {
            line: line(key),
            latency: Distribution::of(&stats.latency),
            corrected: Distribution::of(&stats.corrected_latency),
        });
        let all = run.totals.all();
        Details {
            curves: run.curves.as_ref().map(|own| own.whole.clone()),
            latency: Distribution::of(&all.latency),
            corrected: Distribution::of(&all.corrected_latency),
            rows: rows.collect(),
            checks: run.totals.checks().map(|(key, _)| line(key)).collect(),
            plan: shorten(&plan, MAX_PLAN),
            examples: examples(&log),
            missing,
        }
    }
}

/// The rows in the order of the result: requests, groups, iterations.
fn keys(run: &Run) -> impl Iterator<Item = (&RowKey, &RequestStats)> {
    let requests = run.totals.rows().filter(|(key, _)| key.place.kind.is_request());
    let groups = run.totals.of_kind(RowKind::Group);
    requests.chain(groups).chain(run.totals.of_kind(RowKind::Iteration))
}

/// The first lines of a run's log.
fn examples(log: &str) -> Vec<Example> {
    let examples = log.lines().filter_map(|line| serde_json::from_str::<Example>(line).ok());
    let short = |own: Example| Example { text: shorten(&own.text, MAX_EXAMPLE), ..own };
    examples.take(MAX_EXAMPLES).map(short).collect()
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
    use super::*;

    #[test]
    fn what_is_long_is_cut_between_characters() {
        assert_eq!(
            (shorten("abc", 3), shorten("aäc", 2)),
            ("abc".to_owned(), "a\u{2026}".to_owned())
        );
    }

    #[test]
    fn lines_that_are_none_are_left_out() {
        let log = "{\"second\":1,\"text\":\"x\",\"error\":\"status\"}\nnonsense\n{\"text\":\"y\"}\n{\"sec";
        let texts: Vec<String> = examples(log).into_iter().map(|own| own.text).collect();
        assert_eq!(texts, ["x", "y"]);
    }
}
