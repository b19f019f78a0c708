//! The tables of the text: requests, groups, iterations and checks, in columns that fit the terminal.

use std::cmp::Reverse;

use squall_base::units::{count, percent, rate, time};
use squall_metrics::with_tags;

use super::columns::Columns;
use super::show::Show;
use crate::document::RunPhase;
use crate::document::{BoundedTimes, CheckRow, Row, RunDocument, Times};
use crate::group_path::path;

/// Most rows of a table; the rest is in `run.json`.
const MAX_ROWS: usize = 60;
/// Columns from which on there is room for the mean and the largest value.
const WIDE: usize = 110;
/// Most requests of the short table: those with most errors, and then those with most requests.
const MAX_BUSIEST: usize = 8;
/// Columns from which on the short table has columns of the usual width; below, each is as narrow as it can be.
const ROOMY: usize = 99;

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

    /// With a line a request, whatever the width.
    fn short(width: usize) -> Table {
        let times = vec![column!(mean), column!(p50), column!(p95), column!(p99), column!(max)];
        let all = COUNTS.into_iter().chain(times.iter().map(|_| TIME));
        let usual = all.map(|usual| if width >= ROOMY { usual } else { 0 }).collect();
        Table { times, columns: Columns::new(width, usual) }
    }

    fn head(&mut self, what: &str) {
        let titles = ["count", "rate", "errors"].into_iter();
        let titles = titles.chain(self.times.iter().map(|column| column.title));
        let titles = titles.map(str::to_owned).collect();
        self.columns.cells(what, titles);
    }

    fn row(&mut self, label: &str, row: &Row) {
        self.numbers(label, row);
        let bounded = row.latency_with_timeouts_us.as_ref();
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

    /// The line of a row itself.
    fn numbers(&mut self, label: &str, row: &Row) {
        let numbers = [count(row.count), rate(row.rate), percent(row.error_rate)];
        self.line(label, numbers, &row.latency_us, row.latency_with_timeouts_us.as_ref());
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
        rows(&mut table, &run.names.iter().collect::<Vec<_>>(), "  ", &[]);
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

/// The requests with most errors, and then those that are most frequent, a line each.
pub(super) fn busiest(out: &mut String, run: &RunDocument, show: &Show) {
    let mut all: Vec<&Row> = run.requests.iter().collect();
    // What pages load comes last: there may be more of it than of anything else.
    all.sort_by_key(|row| (Reverse(row.errors), row.kind == "resource", Reverse(row.count)));
    let mut table = Table::short(show.width());
    table.head("request");
    for row in all.iter().take(MAX_BUSIEST) {
        table.numbers(&told_apart(row, run), row);
    }
    let more = all.len().saturating_sub(MAX_BUSIEST);
    if more > 0 {
        table.columns.across(format!("and {} more (--full)", count(more as u64)));
    }
    if all.len() != 1 {
        table.numbers("all", &run.totals);
    }
    table.columns.write(out);
    out.push('\n');
}

/// The name of a row, with as much of its place as tells it apart from all others.
fn told_apart(row: &Row, run: &RunDocument) -> String {
    let scenario = row.scenario.as_deref().unwrap_or_default();
    let forms: [fn(&Row, &str) -> String; 3] = [
        |row, _| row.name.clone(),
        |row, _| path(&row.group, &row.name),
        |row, scenario| format!("{scenario} / {}", path(&row.group, &row.name)),
    ];
    let is_only = |form: &fn(&Row, &str) -> String| {
        let own = form(row, scenario);
        let same = |other: &&Row| form(other, other.scenario.as_deref().unwrap_or_default()) == own;
        run.requests.iter().filter(same).nth(1).is_none()
    };
    let name = forms.iter().find(|form| is_only(form)).map(|form| form(row, scenario));
    name.unwrap_or_else(|| with_tags(&forms[2](row, scenario), &row.tags))
}

/// The requests of the setup or the teardown.
pub(super) fn phase(out: &mut String, phase: &RunPhase, show: &Show) {
    if phase.rows.is_empty() {
        return;
    }
    let mut table = Table::new(show.width());
    table.head(&phase.phase);
    rows(&mut table, &phase.rows.iter().collect::<Vec<_>>(), "", &[]);
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
        rows(table, &of, if named { "  " } else { "" }, &run.requests);
    }
}

/// Rows; a group says that it is one if one of the `requests` has its name.
fn rows(table: &mut Table, list: &[&Row], indent: &str, requests: &[Row]) {
    for row in list.iter().take(MAX_ROWS) {
        let is_named_so = |other: &Row| (&other.group, &other.name) == (&row.group, &row.name);
        let kind = match row.kind.as_str() {
            "program" => " (program)",
            "group" if requests.iter().any(is_named_so) => " (group)",
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
            let name = judged(&row.group, &row.name);
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

/// A check with the request that it judged, which its place ends with.
fn judged(place: &[String], check: &str) -> String {
    match place.split_last() {
        Some((request, groups)) => format!("{}: {check}", path(groups, request)),
        None => check.to_owned(),
    }
}
