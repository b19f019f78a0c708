//! The tables of the text: requests, groups, iterations and checks, in columns that fit the terminal.

use squall_base::units::{count, percent, rate, time};
use squall_metrics::with_tags;

use super::Show;
use super::columns::Columns;
use crate::document::{BoundedTimes, CheckRow, Row, RunDocument, Times};
use crate::group_path::path;
use crate::run::RunPhase;

/// Most rows of a table; the rest is in `run.json`.
const MAX_ROWS: usize = 60;
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

/// A table of rows with counts and times.
struct Table {
    times: Vec<Column>,
    columns: Columns,
}

/// The usual widths of a count, a rate and a share of errors; and of a time.
const COUNTS: [usize; 3] = [9, 8, 7];
const TIME: usize = 8;

impl Table {
    fn new(width: usize) -> Table {
        let mut times = vec![column!(p50), column!(p90), column!(p95), column!(p99)];
        if width >= WIDE {
            times.insert(0, column!(mean));
            times.push(column!(max));
        }
        let usual = COUNTS.into_iter().chain(times.iter().map(|_| TIME)).collect();
        Table { times, columns: Columns::new(width, usual) }
    }

    fn head(&mut self, what: &str) {
        let titles = ["count", "rate", "errors"].into_iter();
        let titles = titles.chain(self.times.iter().map(|column| column.title));
        let titles = titles.map(str::to_owned).collect();
        self.columns.cells(what, titles);
    }

    fn row(&mut self, label: &str, row: &Row) {
        let numbers = [count(row.count), rate(row.rate), percent(row.error_rate)];
        let bounded = row.latency_with_timeouts_us.as_ref();
        self.line(label, numbers, &row.latency_us, bounded);
        if bounded.is_some() && row.latency_us.count > 0 {
            self.line("  complete", Default::default(), &row.latency_us, None);
        }
        if let Some(corrected) = &row.corrected_latency_us {
            let bounded = row.corrected_latency_with_timeouts_us.as_ref();
            self.line("  corrected", Default::default(), corrected, bounded);
        }
        if row.cut_off > 0 {
            self.columns.cells("  cut off", vec![count(row.cut_off)]);
        }
        if row.not_sent > 0 {
            self.columns.cells("  not sent", vec![count(row.not_sent)]);
        }
    }

    fn line(
        &mut self,
        label: &str,
        numbers: [String; 3],
        own: &Times,
        bounded: Option<&BoundedTimes>,
    ) {
        let times = self.times.iter().map(|column| column.shown(own, bounded));
        self.columns.cells(label, numbers.into_iter().chain(times).collect());
    }
}

impl Column {
    /// The time that the column shows of a row.
    fn shown(&self, own: &Times, bounded: Option<&BoundedTimes>) -> String {
        match bounded {
            Some(bounded) => match (self.bounded)(bounded) {
                Some(value) if bounded.at_least.iter().any(|own| own == self.title) => {
                    format!("≥{}", time(value))
                }
                Some(value) => time(value),
                None => "-".to_owned(),
            },
            None if own.count == 0 => "-".to_owned(),
            None => time((self.of)(own)),
        }
    }
}

/// Requests by scenario, their totals, groups and iterations.
pub(super) fn requests(out: &mut String, run: &RunDocument, show: &Show) {
    let mut table = Table::new(show.width());
    table.head("request");
    by_scenario(&mut table, &run.requests, run);
    if !run.names.is_empty() {
        table.columns.across("in all scenarios and groups");
        rows(&mut table, &run.names.iter().collect::<Vec<_>>(), "  ");
    }
    if run.requests.len() != 1 {
        table.row("all", &run.totals);
    }
    for (what, list) in [("group", &run.groups), ("iterations", &run.iterations)] {
        if !list.is_empty() {
            table.columns.across("");
            table.head(what);
            by_scenario(&mut table, list, run);
        }
    }
    table.columns.write(out);
    out.push('\n');
}

/// The requests of the setup or the teardown.
pub(super) fn phase(out: &mut String, phase: &RunPhase, show: &Show) {
    if phase.rows.is_empty() {
        return;
    }
    let mut table = Table::new(show.width());
    table.head(&phase.phase);
    rows(&mut table, &phase.rows.iter().collect::<Vec<_>>(), "");
    table.columns.write(out);
}

/// What a list is split by, each once, in the order in which they come.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for own in all {
        if !once.contains(&own) {
            once.push(own);
        }
    }
    once
}

/// Rows, under the name of their scenario where there are several.
fn by_scenario(table: &mut Table, list: &[Row], run: &RunDocument) {
    let scenarios = distinct(list.iter().map(|row| row.scenario.as_deref()));
    let named = scenarios.len() > 1 || run.meta.scenarios.len() > 1;
    for scenario in scenarios {
        let of: Vec<&Row> = list.iter().filter(|row| row.scenario.as_deref() == scenario).collect();
        if let ([row], Some(name), "iteration") = (of.as_slice(), scenario, of[0].kind.as_str()) {
            table.row(name, row);
            continue;
        }
        if named {
            table.columns.across(scenario.unwrap_or("all scenarios"));
        }
        rows(table, &of, if named { "  " } else { "" });
    }
}

fn rows(table: &mut Table, list: &[&Row], indent: &str) {
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
        table.row(&format!("{indent}{name}{kind}"), row);
    }
    more(&mut table.columns, list.len(), indent);
}

/// That there are more rows than are shown.
fn more(columns: &mut Columns, number: usize, indent: &str) {
    let more = number.saturating_sub(MAX_ROWS);
    if more > 0 {
        columns.across(format!("{indent}and {} more, in run.json", count(more as u64)));
    }
}

/// The usual width of a count of checks.
const CHECKS: usize = 10;

/// How often each check passed, failed and warned, under the name of its scenario where there are several.
pub(super) fn checks(out: &mut String, run: &RunDocument, show: &Show) {
    if run.checks.is_empty() {
        return;
    }
    let mut columns = Columns::new(show.width(), vec![CHECKS; 3]);
    columns.cells("check", ["passed", "failed", "warned"].map(str::to_owned).to_vec());
    let scenarios = distinct(run.checks.iter().map(|row| row.scenario.as_str()));
    let named = scenarios.len() > 1 || run.meta.scenarios.len() > 1;
    for scenario in scenarios {
        let mut of: Vec<&CheckRow> =
            run.checks.iter().filter(|row| row.scenario == scenario).collect();
        // Those that failed first.
        of.sort_by_key(|row| (row.failed == 0, row.warned == 0));
        if named {
            columns.across(scenario);
        }
        let indent = if named { "  " } else { "" };
        for row in of.iter().take(MAX_ROWS) {
            let is_same =
                |other: &&&CheckRow| (&other.group, &other.name) == (&row.group, &row.name);
            let name = path(&row.group, &row.name);
            let name = match of.iter().filter(is_same).nth(1) {
                Some(_) => with_tags(&name, &row.tags),
                None => name,
            };
            let counts = [row.passed, row.failed, row.warned].map(count).to_vec();
            columns.cells(format!("{indent}{name}"), counts);
        }
        more(&mut columns, of.len(), indent);
    }
    columns.write(out);
    out.push('\n');
}
