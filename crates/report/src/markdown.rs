//! The result as Markdown, short enough for a comment of a pull request. Names are in code spans, and all other
//! text is escaped: nothing that a server sent becomes markup.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use squall_base::units::{count, counted, percent, rate, time};
use squall_metrics::with_tags;

use crate::document::{Row, RunDocument};
use crate::group_path::path;
use crate::junit::is_refused;
use crate::markup::{code, plain};

/// Most rows of requests and groups, and of checks.
const MAX_ROWS: usize = 25;
/// Most gaps of the coverage of a fleet.
const MAX_GAPS: usize = 3;

/// The result for a pull request.
pub fn markdown(run: &RunDocument) -> String {
    let mut out = String::new();
    let (mark, word) = match (run.outcome.passed, run.interrupted) {
        (true, false) => ("✅", "passed"),
        (false, false) => ("❌", "failed"),
        (true, true) => ("⚠️", "interrupted; up to then it passed"),
        (false, true) if run.outcome.lacks_teardown_alone() => {
            ("❌", "interrupted; up to then it passed, but its teardown was lost")
        }
        (false, true) => ("❌", "interrupted; up to then it failed"),
    };
    let all = &run.totals;
    // What the numbers say is worth nothing then.
    let (mark, word) = match (run.validity.as_str(), is_refused(run)) {
        ("invalid", true) => ("❌", format!("has invalid numbers; by them: {word}")),
        ("invalid", false) if mark == "✅" => {
            ("⚠️", format!("has invalid numbers; by them: {word}"))
        }
        ("invalid", false) => (mark, format!("has invalid numbers; by them: {word}")),
        _ => (mark, word.to_owned()),
    };
    let _ = writeln!(out, "## {mark} {} {word}\n", code(&run.meta.plan));
    for reason in &run.outcome.reasons {
        let _ = writeln!(out, "- {}", plain(&reason.text));
    }
    for caveat in &run.outcome.caveats {
        let _ = writeln!(out, "- {}", plain(caveat));
    }
    if !(run.outcome.reasons.is_empty() && run.outcome.caveats.is_empty()) {
        out.push('\n');
    }
    let target = run.meta.target.as_ref().map_or(String::new(), |own| format!(" at {}", code(own)));
    let _ = writeln!(
        out,
        "{} requests ({}) in {}{target}, {} errors ({}), p50 {}, p95 {}, p99 {}; the numbers are **{}**.\n",
        count(all.count),
        rate(all.rate),
        time(run.elapsed_s * 1e6),
        count(all.errors),
        percent(all.error_rate),
        latency(all, "p50"),
        latency(all, "p95"),
        latency(all, "p99"),
        plain(&run.validity),
    );
    if let Some(fleet) = &run.fleet {
        let nodes = counted(run.nodes.len() as u64, "node");
        let coverage = plain(&fleet.cells.text(MAX_GAPS));
        let _ = writeln!(out, "{nodes}, coverage {coverage}.\n");
    }
    thresholds(&mut out, run);
    rows(&mut out, run);
    checks(&mut out, run);
    validity(&mut out, run);
    let _ = writeln!(out, "<sub>squall {}</sub>", plain(&run.meta.squall));
    out
}

fn thresholds(out: &mut String, run: &RunDocument) {
    if run.thresholds.is_empty() {
        return;
    }
    out.push_str("| threshold | measured | |\n| --- | ---: | --- |\n");
    for own in &run.thresholds {
        let mark = if own.passed { "✅ passed" } else { "❌ failed" };
        let _ = writeln!(out, "| {} | {} | {mark} |", code(&own.text), plain(&own.shown));
    }
    out.push('\n');
}

fn rows(out: &mut String, run: &RunDocument) {
    let mut all: Vec<&Row> = run.requests.iter().chain(&run.groups).collect();
    // What failed or was not sent first, then what was asked most.
    all.sort_by_key(|row| std::cmp::Reverse((row.errors + row.not_sent > 0, row.count)));
    if all.is_empty() {
        return;
    }
    out.push_str("| name | count | rate | errors | p50 | p95 | p99 |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for row in all.iter().take(MAX_ROWS) {
        let kind = if row.kind == "request" { String::new() } else { format!(" ({})", row.kind) };
        let _ = writeln!(
            out,
            "| {}{kind} | {} | {} | {} | {} | {} | {} |",
            code(&label(run, row.scenario.as_deref(), &row.group, &row.name, &row.tags)),
            count(row.count),
            rate(row.rate),
            percent(row.error_rate),
            latency(row, "p50"),
            latency(row, "p95"),
            latency(row, "p99"),
        );
    }
    more(out, all.len(), "rows");
}

fn checks(out: &mut String, run: &RunDocument) {
    let failed: Vec<_> = run.checks.iter().filter(|own| own.failed + own.warned > 0).collect();
    if failed.is_empty() {
        return;
    }
    out.push_str("| check | passed | failed | warned |\n| --- | ---: | ---: | ---: |\n");
    for own in failed.iter().take(MAX_ROWS) {
        let numbers = [own.passed, own.failed, own.warned].map(count).join(" | ");
        let name = label(run, Some(&own.scenario), &own.group, &own.name, &own.tags);
        let _ = writeln!(out, "| {} | {numbers} |", code(&name));
    }
    more(out, failed.len(), "checks");
}

/// A name with what tells it from the same name elsewhere: the scenario, where there are several, groups and tags.
fn label(
    run: &RunDocument,
    scenario: Option<&str>,
    group: &[String],
    name: &str,
    tags: &BTreeMap<String, String>,
) -> String {
    let scenario = scenario.filter(|_| run.meta.scenarios.len() > 1);
    let scenario = scenario.map_or(String::new(), |scenario| format!("{scenario}: "));
    format!("{scenario}{}", with_tags(&path(group, name), tags))
}

fn more(out: &mut String, all: usize, what: &str) {
    if all > MAX_ROWS {
        let _ = writeln!(out, "\nand {} more {what}", all - MAX_ROWS);
    }
    out.push('\n');
}

fn validity(out: &mut String, run: &RunDocument) {
    for own in run.validity_reasons.iter().filter(|own| own.validity != "valid") {
        let _ = writeln!(
            out,
            "- ⚠️ **{}**, {}: {}; effect on the numbers: {}; hint: {}",
            plain(&own.validity),
            plain(&own.rule),
            plain(&own.observed),
            plain(&own.effect_text),
            plain(&own.advice)
        );
    }
    if run.validity_reasons.iter().any(|own| own.validity != "valid") {
        out.push('\n');
    }
}

/// A percentile in which what was given up counts; `≥` before a lower bound.
fn latency(row: &Row, name: &str) -> String {
    let of = |p50: Option<f64>, p95: Option<f64>, p99: Option<f64>| match name {
        "p50" => p50,
        "p95" => p95,
        _ => p99,
    };
    match &row.latency_with_timeouts_us {
        Some(own) => {
            let at_least = own.at_least.iter().any(|other| other == name);
            let value = of(own.p50, own.p95, own.p99).map_or("–".to_owned(), time);
            format!("{}{value}", if at_least { "≥ " } else { "" })
        }
        None if row.latency_us.count == 0 => "–".to_owned(),
        None => {
            let own = &row.latency_us;
            of(Some(own.p50), Some(own.p95), Some(own.p99)).map_or("–".to_owned(), time)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_numbers_are_in_the_headline() {
        let mut run = RunDocument { validity: "valid".to_owned(), ..RunDocument::default() };
        (run.meta.plan, run.outcome.passed) = ("smoke".to_owned(), true);
        let headline =
            |run: &RunDocument| markdown(run).lines().next().unwrap_or_default().to_owned();
        assert_eq!(headline(&run), "## ✅ `smoke` passed");
        run.validity = "invalid".to_owned();
        assert_eq!(headline(&run), "## ⚠️ `smoke` has invalid numbers; by them: passed");
        run.meta.strict = true;
        assert_eq!(headline(&run), "## ❌ `smoke` has invalid numbers; by them: passed");
        (run.meta.strict, run.outcome.passed) = (false, false);
        assert_eq!(headline(&run), "## ❌ `smoke` has invalid numbers; by them: failed");
    }
}
