//! A measure over many runs, and where it stepped.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use squall_analysis::{Measure, MeasureOf, TrendStep, steps};
use squall_base::units::{counted, percent, rate, time};

use crate::compare::key;
use crate::document::Row;
use crate::folder::stamp;
use crate::history::{HistoryDocument, HistoryRun, doubt, outcome_word};
use crate::schema::document;
use crate::text::{Show, pad, paragraph, shorten, text_width};

document! {
    /// A measure over many runs.
    TrendDocument {
        /// The measure as it was written.
        measure: String,
        /// `us`, `per_second` or `share` (of 1).
        unit: String,
        /// The runs that have it, the oldest first.
        runs: Vec<TrendRun>,
        /// How many runs do not have it.
        without: u64,
        /// What keeps the runs from being compared with each other, in words: other plans or processors, and runs that
        /// are not valid.
        cautions: Vec<String>,
    }

    /// A run of a trend.
    TrendRun {
        /// Its folder.
        folder: String,
        /// Start, in seconds since 1970 (UTC).
        started_unix: f64,
        /// What the tester says of it.
        labels: BTreeMap<String, String>,
        /// Whether it passed: `passed`, `failed` or `incomplete`.
        outcome: String,
        /// How far its numbers can be trusted.
        validity: String,
        /// The measure.
        value: f64,
        /// By how much the measure stepped from the runs before to this one and those after, as a share; null: it
        /// did not.
        step: Option<f64>,
    }
}

/// Most plans or processors that a trend names.
const MAX_NAMED: usize = 4;

/// A measure over many runs, and where it stepped.
pub fn trend(history: &HistoryDocument, of: &MeasureOf) -> TrendDocument {
    let valued = history.runs.iter().filter_map(|run| Some((run, value(run, of)?)));
    let (runs, values): (Vec<&HistoryRun>, Vec<f64>) = valued.unzip();
    // A share of errors of 0 has no ratio to another: it is looked at with 1 in 10,000 more.
    let shifted: Vec<f64> = match of.measure {
        Measure::ErrorRate => values.iter().map(|value| value + 1e-4).collect(),
        _ => values.clone(),
    };
    let found = steps(&shifted);
    let step = |at: usize| found.iter().find(|step: &&TrendStep| step.at == at).map(|step| step.by);
    let unit = match of.measure {
        Measure::ErrorRate => "share",
        Measure::Rate => "per_second",
        _ => "us",
    };
    let each = runs.iter().zip(&values).enumerate().map(|(at, (run, value))| TrendRun {
        folder: run.folder.clone(),
        started_unix: run.meta.started_unix,
        labels: run.meta.labels.clone(),
        outcome: run.outcome_label().to_owned(),
        validity: run.validity.clone(),
        value: *value,
        step: step(at),
    });
    TrendDocument {
        measure: of.text.clone(),
        unit: unit.to_owned(),
        runs: each.collect(),
        without: (history.runs.len() - runs.len()) as u64,
        cautions: cautions(&runs),
    }
}

/// What keeps runs from being compared with each other, in words.
fn cautions(runs: &[&HistoryRun]) -> Vec<String> {
    let among = |of: fn(&HistoryRun) -> String| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        runs.iter().for_each(|run| *counts.entry(of(run)).or_default() += 1);
        counts
    };
    let plans = among(|run| run.meta.plan.clone());
    let processors = among(|run| run.meta.machines(|own| own.cpu.clone()));
    let nodes = among(|run| run.meta.nodes.len().max(1).to_string());
    let mut doubted = among(|run| run.validity.clone());
    doubted.retain(|validity, _| !matches!(validity.as_str(), "" | "valid"));
    let differing = [
        ("plan differs", plans),
        ("processor differs", processors),
        ("number of nodes differs", nodes),
    ];
    let mut all: Vec<_> = differing.into_iter().filter(|(_, counts)| counts.len() > 1).collect();
    all.extend(Some(("not all are valid", doubted)).filter(|(_, counts)| !counts.is_empty()));
    all.into_iter().map(|(what, counts)| format!("{what}: {}", in_runs(counts))).collect()
}

/// How many runs have which value, the most frequent first: `shop in 12 runs, pay in 1 run`.
fn in_runs(counts: BTreeMap<String, u64>) -> String {
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    let more = counts.len().saturating_sub(MAX_NAMED);
    let named = counts.iter().take(MAX_NAMED).map(|(value, number)| {
        let value = if value.is_empty() { "none" } else { value.as_str() };
        format!("{value} in {}", counted(*number, "run"))
    });
    let mut parts: Vec<String> = named.collect();
    parts.extend((more > 0).then(|| format!("and {more} more")));
    parts.join(", ")
}

/// A measure of a run; `None`: it has no such row, or several.
fn value(run: &HistoryRun, of: &MeasureOf) -> Option<f64> {
    let rows: Vec<&Row> = run.requests.iter().chain(&run.groups).chain(&run.iterations).collect();
    let keys: Vec<_> = std::iter::once(None).chain(rows.iter().map(|row| key(row))).collect();
    let row = match of.rows(&keys).as_slice() {
        [0] => &run.totals,
        [at] => rows[at - 1],
        _ => return None,
    };
    let times = &row.latency_us;
    let of_times = |value: f64| (times.count > 0).then_some(value);
    match of.measure {
        Measure::Rate => Some(row.rate).filter(|_| row.count > 0),
        Measure::ErrorRate => Some(row.error_rate).filter(|_| row.count > 0),
        Measure::Mean => of_times(times.mean),
        Measure::Percentile(50.0) => of_times(times.p50),
        Measure::Percentile(75.0) => of_times(times.p75),
        Measure::Percentile(90.0) => of_times(times.p90),
        Measure::Percentile(95.0) => of_times(times.p95),
        Measure::Percentile(99.0) => of_times(times.p99),
        Measure::Percentile(99.9) => of_times(times.p999),
        Measure::Percentile(_) => None,
    }
}

/// The trend as a person reads it: a bar for each run, and a line where it stepped.
pub fn trend_text(trend: &TrendDocument, show: &Show) -> String {
    let shown = |value: f64| match trend.unit.as_str() {
        "us" => time(value),
        "per_second" => rate(value),
        _ => percent(value),
    };
    let width = show.width();
    let number = trend.runs.len();
    let mut out = format!("\n {} over {}\n", trend.measure, counted(number as u64, "run"));
    let most = trend.runs.iter().map(|run| run.value).fold(0.0, f64::max);
    let names: Vec<String> = trend.runs.iter().map(named).collect();
    let name = names.iter().map(|name| text_width(name)).max().unwrap_or(0).min(width / 2);
    let states: Vec<String> =
        trend.runs.iter().map(|run| state(&run.outcome, &run.validity)).collect();
    let state = states.iter().map(|state| text_width(state)).max().unwrap_or(0);
    let room = width.saturating_sub(name + state + 16).max(8);
    for ((run, own), said) in trend.runs.iter().zip(&names).zip(&states) {
        if let Some(step) = run.step {
            let _ = writeln!(out, " {} step of {:+.1}% here", "─".repeat(8), step * 100.0);
        }
        let bar = if most > 0.0 { (run.value / most * room as f64).round() as usize } else { 0 };
        let line = format!(
            " {}  {} {:>9} {}",
            pad(&shorten(own, name), name),
            pad(said, state),
            shown(run.value),
            "▬".repeat(bar)
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let stepped = trend.runs.iter().zip(&names).filter_map(|(run, own)| Some((run.step?, own)));
    let found: Vec<String> =
        stepped.map(|(step, own)| format!("{:+.1}% at {own}", step * 100.0)).collect();
    let result = match (trend.runs.len(), found.is_empty()) {
        (0, _) => "no run has this measure".to_owned(),
        (1..8, true) => "at least 8 runs are needed to detect a step".to_owned(),
        (_, true) => "no step found".to_owned(),
        _ => format!("stepped by {}", found.join(", by ")),
    };
    let _ = writeln!(out, "\n result   {result}");
    for text in &trend.cautions {
        paragraph(&mut out, " careful  ", text, width);
    }
    if trend.without > 0 {
        let (verb, number) =
            if trend.without == 1 { (" does", 1) } else { ("s do", trend.without) };
        let _ = writeln!(out, " note     {number} run{verb} not have this measure");
    }
    out
}

/// Both: `FAILED, invalid`.
fn state(outcome: &str, validity: &str) -> String {
    match doubt(validity) {
        "" => outcome_word(outcome).to_owned(),
        doubt => format!("{}, {doubt}", outcome_word(outcome)),
    }
}

/// A run of a trend: when it was, and its commit or its other labels.
fn named(run: &TrendRun) -> String {
    let started = stamp(run.started_unix as u64);
    let (day, clock) = started.split_once('T').unwrap_or((&started, ""));
    let clock: String = clock.replace('-', ":").chars().take(5).collect();
    let label = match run.labels.get("commit") {
        Some(commit) => commit.chars().take(10).collect(),
        None => run.labels.values().cloned().collect::<Vec<_>>().join(" "),
    };
    format!("{day} {clock} {label}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::Machine;
    use crate::history::tests::run;

    #[test]
    fn a_step_is_shown_with_its_commit() {
        let value = |number: u64| if number < 12 { 1_000.0 } else { 1_100.0 } + (number % 3) as f64;
        let runs = (0..20).map(|number| run(number, value(number))).collect();
        let history = HistoryDocument { runs, unread: Vec::new() };
        for text in ["p95", "p95(login)"] {
            let of = MeasureOf::parse(text).expect("a measure");
            let found = trend(&history, &of);
            let stepped: Vec<usize> =
                (0..found.runs.len()).filter(|at| found.runs[*at].step.is_some()).collect();
            assert_eq!((found.runs.len(), found.without, stepped), (20, 0, vec![12]), "{text}");
            let show = Show { columns: 80, ..Default::default() };
            let shown = trend_text(&found, &show);
            assert!(shown.contains("stepped by +10.0% at 1970-01-01 00:12 0000012abc"), "{shown}");
            assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        }
        let of = MeasureOf::parse("p95(logout)").expect("a measure");
        assert_eq!(trend(&history, &of).without, 20);
    }

    fn machine(cpu: &str) -> Machine {
        Machine { cpu: cpu.to_owned(), ..Machine::default() }
    }

    #[test]
    fn a_trend_says_what_keeps_its_runs_from_being_compared() {
        let of = MeasureOf::parse("p95").expect("a measure");
        let runs = (0..9).map(|number| run(number, 1_000.0)).collect();
        let mut history = HistoryDocument { runs, unread: Vec::new() };
        for own in &mut history.runs {
            own.meta.plan = "shop".to_owned();
            own.meta.nodes = vec![machine("Xeon")];
            own.validity = "valid".to_owned();
        }
        assert_eq!(trend(&history, &of).cautions, [""; 0], "they are alike");
        history.runs[4].meta.plan = "pay".to_owned();
        for own in &mut history.runs[6..] {
            own.meta.nodes = vec![machine("EPYC"); 2];
            own.validity = "questionable".to_owned();
        }
        history.runs[8].validity = "invalid".to_owned();
        let found = trend(&history, &of);
        let wanted = [
            "plan differs: shop in 8 runs, pay in 1 run",
            "processor differs: Xeon in 6 runs, EPYC in 3 runs",
            "number of nodes differs: 1 in 6 runs, 2 in 3 runs",
            "not all are valid: questionable in 2 runs, invalid in 1 run",
        ];
        assert_eq!(found.cautions, wanted);
        let shown = trend_text(&found, &Show { columns: 80, ..Default::default() });
        assert!(wanted.iter().all(|own| shown.contains(&format!(" careful  {own}\n"))), "{shown}");
    }
}
