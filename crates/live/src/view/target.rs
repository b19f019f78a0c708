//! The target: what monitors sample of it now, each with a small curve of the last minutes. Pure.

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use super::chart::blocks_up_to;
use super::paint::{Paint, below, fit};
use crate::browse::Browse;
use crate::state::{LiveState, MetricPoint, TargetMetric};

/// Columns of a value, with the gap before it.
const VALUE: u16 = 12;
/// Columns of a screen from which on there is room for the highest value, and for the one at which something is full.
const WIDE: u16 = 64;
const ROOMY: u16 = 50;
/// Columns that a name has at least.
const NAME: u16 = 20;

/// A row of the tab.
enum Row<'a> {
    Monitor(&'a str),
    Metric(TargetMetric<'a>),
}

/// Draws the tab; how far it can be scrolled.
pub fn draw(paint: &mut Paint<'_>, area: Rect, state: &LiveState, browse: &Browse) -> usize {
    let mut rows = Vec::new();
    for own in state.metrics.targets() {
        let passes = |metric: &TargetMetric<'_>| {
            browse.passes(&metric.state.label) || browse.passes(own.monitor)
        };
        let metrics: Vec<TargetMetric<'_>> = own.metrics.into_iter().filter(passes).collect();
        if !metrics.is_empty() {
            rows.push(Row::Monitor(own.monitor));
            rows.extend(metrics.into_iter().map(Row::Metric));
        }
    }
    if rows.is_empty() {
        let none = match state.metrics.has_target() {
            true => "no name has that",
            false => "nothing of the target is sampled: name it under `monitor` (docs/monitors.md)",
        };
        paint.text(area, 1, 0, &fit(none, area.width.saturating_sub(2)), paint.theme.dim());
        return 0;
    }
    let columns = Columns::of(area.width);
    head(paint, area, &columns);
    let body = below(area, 1);
    let furthest = rows.len().saturating_sub(usize::from(body.height));
    let from = browse.scroll.min(furthest);
    for (row, own) in (0..body.height).zip(rows.iter().skip(from)) {
        match own {
            Row::Monitor(name) => {
                let name = fit(name, area.width.saturating_sub(2));
                paint.text(body, 1, row, &name, paint.theme.heading());
            }
            Row::Metric(own) => line(paint, body, row, own, &columns),
        }
    }
    furthest
}

/// Where the columns are, by the width of the screen.
struct Columns {
    name: u16,
    has_highest: bool,
    has_bound: bool,
    curve: u16,
}

impl Columns {
    fn of(width: u16) -> Columns {
        let (has_highest, has_bound) = (width >= WIDE, width >= ROOMY);
        let values = VALUE * (1 + u16::from(has_highest) + u16::from(has_bound));
        let rest = width.saturating_sub(values + 2);
        let curve = (rest / 2).min(120).min(rest.saturating_sub(NAME));
        Columns { name: rest - curve, has_highest, has_bound, curve }
    }
}

fn head(paint: &mut Paint<'_>, area: Rect, columns: &Columns) {
    let style = paint.theme.dim();
    let titles = [(true, "now"), (columns.has_highest, "highest"), (columns.has_bound, "full at")];
    let mut end = columns.name;
    for (_, title) in titles.into_iter().filter(|(is_shown, _)| *is_shown) {
        end += VALUE;
        paint.right(area, end, 0, title, style);
    }
    let about = if columns.curve > 16 { "the last minutes" } else { "" };
    paint.text(area, end + 1, 0, about, style);
}

fn line(paint: &mut Paint<'_>, area: Rect, row: u16, own: &TargetMetric<'_>, columns: &Columns) {
    let (plain, theme) = (Style::new(), paint.theme);
    let name = fit(&own.state.label, columns.name.saturating_sub(3));
    paint.text(area, 3, row, &name, plain);
    let Some((now, highest)) = own.now_and_highest() else { return };
    let style = |value| if own.is_full(value) { theme.error() } else { plain };
    let mut values = vec![(own.show(now), style(now))];
    if columns.has_highest {
        values.push((own.show(highest), style(highest)));
    }
    if columns.has_bound {
        let bound = own.full_at.map_or_else(String::new, |full| own.show(full));
        values.push((bound, theme.dim()));
    }
    let mut end = columns.name;
    for (value, style) in values {
        end += VALUE;
        paint.right(area, end, row, &value, style);
    }
    let points = own.state.course.points();
    let from = points.len().saturating_sub(usize::from(columns.curve));
    let shown = points[from..].iter().map(MetricPoint::shown);
    let curve = blocks_up_to(shown, own.full_at.unwrap_or(highest).max(highest));
    paint.text(area, end + 1, row, &curve, theme.curve(2));
}
