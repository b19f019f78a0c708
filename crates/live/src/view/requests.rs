//! The requests by name, each with a small curve. Pure.

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use squall_base::units::{count, percent, rate, time};

use super::chart::blocks;
use super::paint::{Paint, below, fit, width};
use crate::browse::{Browse, Sort};
use crate::state::{LiveState, RowState};

/// Columns of a number, with the gap before it.
const NUMBER: u16 = 9;
/// Seconds over which a rate is taken.
const RATE_SECONDS: usize = 5;

/// Where the columns are, by the width of the screen.
struct Columns {
    name: u16,
    scenario: u16,
    curve: u16,
    has_max: bool,
}

impl Columns {
    fn of(width: u16) -> Columns {
        let has_max = width >= 110;
        let scenario = if width >= 130 { 16 } else { 0 };
        let numbers = NUMBER * if has_max { 7 } else { 6 };
        let rest = width.saturating_sub(numbers + scenario + 2);
        let curve = (rest / 3).clamp(6, 60).min(rest);
        Columns { name: rest - curve, scenario, curve, has_max }
    }
}

/// Draws the table; how far it can be scrolled.
pub fn draw(paint: &mut Paint<'_>, area: Rect, state: &LiveState, browse: &Browse) -> usize {
    let columns = Columns::of(area.width);
    head(paint, area, &columns, browse);
    let rows = ordered(state, browse);
    let left_out = state.rows.left_out();
    let body = below(area, 1);
    let room = usize::from(body.height).saturating_sub(usize::from(left_out > 0));
    let furthest = rows.len().saturating_sub(room);
    let from = browse.scroll.min(furthest);
    for (row, own) in (0..).zip(rows.iter().skip(from).take(room)) {
        line(paint, body, row, own, &columns);
    }
    if left_out > 0 {
        let more = format!(" {} more names count in the result", count(left_out as u64));
        paint.text(body, 0, body.height.saturating_sub(1), &more, paint.theme.dim());
    }
    if rows.is_empty() {
        let why =
            if browse.filter.is_empty() { " none has ended yet" } else { " no name has that" };
        paint.text(body, 0, 0, why, paint.theme.dim());
    }
    furthest
}

/// The rows that pass the filter, in their order.
fn ordered<'a>(state: &'a LiveState, browse: &Browse) -> Vec<&'a RowState> {
    let all = state.rows.all().iter();
    let mut rows: Vec<&RowState> =
        all.filter(|row| browse.passes(&row.label) || browse.passes(&row.scenario)).collect();
    let down = |key: fn(&RowState) -> u64| move |a: &&RowState, b: &&RowState| key(b).cmp(&key(a));
    match browse.sort {
        Sort::Plan => {}
        Sort::Name => rows.sort_by(|a, b| a.label.cmp(&b.label)),
        Sort::Count => rows.sort_by(down(|row| row.count)),
        Sort::Errors => rows.sort_by(down(|row| row.errors)),
        Sort::P95 => rows.sort_by(down(|row| row.latency_us[1])),
        Sort::P99 => rows.sort_by(down(|row| row.latency_us[2])),
    }
    if browse.reversed {
        rows.reverse();
    }
    // Requests before what holds them, whatever the order.
    rows.sort_by_key(|row| !row.kind.is_request());
    rows
}

fn head(paint: &mut Paint<'_>, area: Rect, columns: &Columns, browse: &Browse) {
    let style = paint.theme.heading();
    let arrow = if browse.reversed { "▲" } else { "▼" };
    let mark = |sort: Sort, text: &str| match sort == browse.sort {
        true => format!("{arrow}{text}"),
        false => text.to_owned(),
    };
    let name = if browse.sort == Sort::Plan && browse.reversed {
        "▲name".to_owned()
    } else {
        mark(Sort::Name, "name")
    };
    paint.text(area, 1, 0, &name, style);
    let mut end = 1 + columns.name;
    if columns.scenario > 0 {
        paint.text(area, end, 0, "scenario", style);
        end += columns.scenario;
    }
    let mut names = vec![
        mark(Sort::Count, "count"),
        "rate".to_owned(),
        mark(Sort::Errors, "errors"),
        "p50".to_owned(),
        mark(Sort::P95, "p95"),
        mark(Sort::P99, "p99"),
    ];
    names.extend(columns.has_max.then(|| "max".to_owned()));
    for name in names {
        end += NUMBER;
        paint.right(area, end, 0, &name, style);
    }
    let title = if columns.curve > 16 { "p95 by second" } else { "p95" };
    paint.text(area, end + 1, 0, title, style);
}

fn line(paint: &mut Paint<'_>, area: Rect, row: u16, own: &RowState, columns: &Columns) {
    let (plain, theme) = (Style::new(), paint.theme);
    paint.text(area, 1, row, &fit(&own.label, columns.name.saturating_sub(1)), plain);
    let mut end = 1 + columns.name;
    if columns.scenario > 0 {
        paint.text(area, end, row, &fit(&own.scenario, columns.scenario - 1), theme.dim());
        end += columns.scenario;
    }
    let lately = own.curve.iter().rev().take(RATE_SECONDS);
    let seconds = lately.len().max(1) as f64;
    let per_second = lately.map(|second| second.count).sum::<u64>() as f64 / seconds;
    let share = own.errors as f64 / own.count.max(1) as f64;
    let errors = if own.errors == 0 { "-".to_owned() } else { percent(share) };
    let bad = if own.errors == 0 { plain } else { theme.error() };
    let [p50, p95, p99, max] = own.latency_us.map(|us| time(us as f64));
    let mut numbers = vec![
        (count(own.count), plain),
        (rate(per_second), plain),
        (errors, bad),
        (p50, plain),
        (p95, plain),
        (p99, plain),
    ];
    numbers.extend(columns.has_max.then_some((max, plain)));
    for (number, style) in numbers {
        end += NUMBER;
        paint.right(area, end, row, &number, style);
    }
    curve(paint, area, end + 1, row, own, columns.curve);
}

/// The last seconds, those with errors in another colour.
fn curve(paint: &mut Paint<'_>, area: Rect, x: u16, row: u16, own: &RowState, columns: u16) {
    let from = own.curve.len().saturating_sub(usize::from(columns));
    let seconds = own.curve.iter().skip(from);
    let text = blocks(seconds.clone().map(|second| second.p95_us as f64));
    let mut at = x;
    for (c, second) in text.chars().zip(seconds) {
        let style = if second.errors > 0 { paint.theme.error() } else { paint.theme.curve(2) };
        // A second without any response but with errors is no gap.
        let c = if c == ' ' && second.errors > 0 { '×' } else { c };
        at = paint.text(area, at, row, c.encode_utf8(&mut [0; 4]), style);
    }
    debug_assert!(at <= x + width(&text));
}
