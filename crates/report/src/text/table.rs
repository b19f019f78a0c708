//! The tables of the text: requests, groups, iterations and checks, in columns that fit the terminal.

use std::fmt::Write as _;

use squall_base::units::{count, percent, rate, time};
use squall_metrics::with_tags;

use super::{Show, shorten};
use crate::document::{BoundedTimes, CheckRow, Row, RunDocument, Times};
use crate::run::RunPhase;

/// Most rows of a table; the rest is in `run.json`.
const MAX_ROWS: usize = 60;
/// Widest names.
const MAX_NAME: usize = 70;
/// Columns from which on there is room for the mean and the largest value.
const WIDE: usize = 110;

/// A column of times.
#[derive(Clone, Copy)]
struct Column {
    title: &'static str,
    of: fn(&Times) -> f64,
    bounded: fn(&BoundedTimes) -> Option<f64>,
}

macro_rules! column {
    ($name:ident) => {
        Column { title: stringify!($name), of: |own| own.$name, bounded: |own| own.$name }
    };
}

/// The columns that a terminal of some width has.
struct Layout {
    name: usize,
    columns: Vec<Column>,
}

/// Columns of a count, a rate and a share of errors, each with a space before it.
const COUNTS: usize = 10 + 9 + 8;
/// Columns of a time, with a space before it.
const TIME: usize = 9;

impl Layout {
    fn new(width: usize) -> Layout {
        let mut columns = vec![column!(p50), column!(p90), column!(p95), column!(p99)];
        if width >= WIDE {
            columns.insert(0, column!(mean));
            columns.push(column!(max));
        }
        let name = (width - 1).saturating_sub(COUNTS + TIME * columns.len()).min(MAX_NAME);
        Layout { name, columns }
    }

    fn head(&self, out: &mut String, what: &str) {
        let (name, what) = (self.name, shorten(what, self.name));
        let _ = write!(out, " {what:name$} {:>9} {:>8} {:>7}", "count", "rate", "errors");
        for column in &self.columns {
            let _ = write!(out, " {:>8}", column.title);
        }
        out.push('\n');
    }

    fn row(&self, out: &mut String, label: &str, row: &Row) {
        let (name, label) = (self.name, shorten(label, self.name));
        let (number, rate, errors) = (count(row.count), rate(row.rate), percent(row.error_rate));
        let _ = write!(out, " {label:name$} {number:>9} {rate:>8} {errors:>7}");
        self.times(out, &row.latency_us, row.latency_with_timeouts_us.as_ref());
        if row.latency_with_timeouts_us.is_some() && row.latency_us.count > 0 {
            self.more(out, "  complete", &row.latency_us, None);
        }
        if let Some(corrected) = &row.corrected_latency_us {
            let bounded = row.corrected_latency_with_timeouts_us.as_ref();
            self.more(out, "  corrected", corrected, bounded);
        }
        if row.cut_off > 0 {
            let label = shorten("  cut off", name);
            let _ = writeln!(out, " {label:name$} {:>9}", count(row.cut_off));
        }
    }

    /// A further line of times.
    fn more(&self, out: &mut String, label: &str, own: &Times, bounded: Option<&BoundedTimes>) {
        let (name, label) = (self.name, shorten(label, self.name));
        let _ = write!(out, " {label:name$} {:>9} {:>8} {:>7}", "", "", "");
        self.times(out, own, bounded);
    }

    fn times(&self, out: &mut String, own: &Times, bounded: Option<&BoundedTimes>) {
        for column in &self.columns {
            let shown = match bounded {
                Some(bounded) => match (column.bounded)(bounded) {
                    Some(value) if bounded.at_least.iter().any(|own| own == column.title) => {
                        format!("≥{}", time(value))
                    }
                    Some(value) => time(value),
                    None => "-".to_owned(),
                },
                None if own.count == 0 => "-".to_owned(),
                None => time((column.of)(own)),
            };
            let _ = write!(out, " {shown:>8}");
        }
        out.push('\n');
    }
}

/// A name with the groups around it.
pub(crate) fn path(group: &[String], name: &str) -> String {
    group.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(" / ")
}

/// Requests by scenario, their totals, groups and iterations.
pub(super) fn requests(out: &mut String, run: &RunDocument, show: &Show) {
    let layout = Layout::new(show.width());
    layout.head(out, "request");
    by_scenario(out, &layout, &run.requests, run);
    if !run.names.is_empty() {
        out.push_str(" in all scenarios and groups\n");
        rows(out, &layout, run.names.iter().collect::<Vec<_>>().as_slice(), "  ");
    }
    if run.requests.len() != 1 {
        layout.row(out, "all", &run.totals);
    }
    for (what, list) in [("group", &run.groups), ("iterations", &run.iterations)] {
        if !list.is_empty() {
            out.push('\n');
            layout.head(out, what);
            by_scenario(out, &layout, list, run);
        }
    }
    out.push('\n');
}

/// The requests of the setup or the teardown.
pub(super) fn phase(out: &mut String, phase: &RunPhase, show: &Show) {
    if phase.rows.is_empty() {
        return;
    }
    let layout = Layout::new(show.width());
    layout.head(out, &phase.phase);
    rows(out, &layout, &phase.rows.iter().collect::<Vec<_>>(), "");
}

/// Rows, under the name of their scenario where there are several.
fn by_scenario(out: &mut String, layout: &Layout, list: &[Row], run: &RunDocument) {
    let mut scenarios: Vec<Option<&str>> = Vec::new();
    for row in list {
        let own = row.scenario.as_deref();
        if !scenarios.contains(&own) {
            scenarios.push(own);
        }
    }
    let named = scenarios.len() > 1 || run.meta.scenarios.len() > 1;
    for scenario in scenarios {
        let of: Vec<&Row> = list.iter().filter(|row| row.scenario.as_deref() == scenario).collect();
        if let ([row], Some(name), "iteration") = (of.as_slice(), scenario, of[0].kind.as_str()) {
            layout.row(out, name, row);
            continue;
        }
        if named {
            let name = scenario.unwrap_or("all scenarios");
            let _ = writeln!(out, " {}", shorten(name, layout.name));
        }
        rows(out, layout, &of, if named { "  " } else { "" });
    }
}

fn rows(out: &mut String, layout: &Layout, list: &[&Row], indent: &str) {
    for row in list.iter().take(MAX_ROWS) {
        let kind = match row.kind.as_str() {
            "program" => " (program)",
            _ => "",
        };
        let is_same = |other: &&&Row| {
            (&other.kind, &other.group, &other.name) == (&row.kind, &row.group, &row.name)
        };
        // Tags that tell no rows apart would only take the room of names.
        let name = match list.iter().filter(is_same).nth(1) {
            Some(_) => with_tags(&path(&row.group, &row.name), &row.tags),
            None => path(&row.group, &row.name),
        };
        layout.row(out, &format!("{indent}{name}{kind}"), row);
    }
    let more = list.len().saturating_sub(MAX_ROWS);
    if more > 0 {
        let _ = writeln!(out, " {indent}and {} more, in run.json", count(more as u64));
    }
}

/// Checks by name: how often each passed, failed and warned.
pub(super) fn checks(out: &mut String, run: &RunDocument, show: &Show) {
    if run.checks.is_empty() {
        return;
    }
    let name = (show.width() - 1).saturating_sub(3 * 11).min(MAX_NAME);
    let _ = writeln!(out, " {:name$} {:>10} {:>10} {:>10}", "check", "passed", "failed", "warned");
    let mut sums: Vec<(&str, CheckRow)> = Vec::new();
    for row in &run.checks {
        match sums.iter_mut().find(|(own, _)| *own == row.name) {
            Some((_, sum)) => {
                sum.passed += row.passed;
                sum.failed += row.failed;
                sum.warned += row.warned;
            }
            None => sums.push((&row.name, row.clone())),
        }
    }
    // Those that failed first.
    sums.sort_by_key(|(_, row)| (row.failed == 0, row.warned == 0));
    for (text, row) in sums.iter().take(MAX_ROWS) {
        let _ = writeln!(
            out,
            " {:name$} {:>10} {:>10} {:>10}",
            shorten(text, name),
            count(row.passed),
            count(row.failed),
            count(row.warned)
        );
    }
    let more = sums.len().saturating_sub(MAX_ROWS);
    if more > 0 {
        let _ = writeln!(out, " and {} more, in run.json", count(more as u64));
    }
    out.push('\n');
}
