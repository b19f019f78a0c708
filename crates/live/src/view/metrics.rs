//! Metrics over time, a chart for each. Pure.

use ratatui_core::layout::Rect;
use squall_base::units::{percent, rate};
use squall_metrics::MetricKind;

use super::chart::{Curve, Of, chart, columns, dots, window};
use super::paint::{Paint, fit};
use crate::browse::Browse;
use crate::state::{LiveState, MetricPoint, MetricState};

/// Rows of a chart.
const HEIGHT: u16 = 8;
/// Columns from which on two charts stand beside each other.
const WIDE: u16 = 80;

/// Draws the tab; how far it can be scrolled.
pub fn draw(paint: &mut Paint<'_>, area: Rect, state: &LiveState, browse: &Browse) -> usize {
    // What is sampled of the target has a tab of its own.
    let all = state.metrics.all().iter().filter(|own| own.monitor.is_none());
    let shown: Vec<&MetricState> = all.filter(|own| browse.passes(&own.label)).collect();
    if shown.is_empty() {
        let none = "no metrics over time were recorded so far";
        paint.text(area, 1, 0, none, paint.theme.dim());
        return 0;
    }
    let beside = if area.width >= WIDE { 2 } else { 1 };
    let height = HEIGHT.min(area.height);
    let rows = shown.len().div_ceil(usize::from(beside));
    let furthest = rows.saturating_sub(usize::from(area.height / height));
    let from = browse.scroll.min(furthest);
    let width = area.width / beside;
    for (row, metrics) in (0..area.height / height).zip(shown.chunks(beside.into()).skip(from)) {
        for (column, own) in (0..).zip(metrics) {
            let (x, y) = (area.x + column * width, area.y + row * height);
            one(paint, Rect { x, y, width, height }, own, state, browse);
        }
    }
    furthest
}

fn one(paint: &mut Paint<'_>, area: Rect, own: &MetricState, state: &LiveState, browse: &Browse) {
    let (window, theme) = (window(state, browse), paint.theme);
    let of = match own.key.kind {
        MetricKind::Gauge => Of::Highest,
        MetricKind::Counter | MetricKind::Rate | MetricKind::Trend => Of::Mean,
    };
    let points = own.course.points();
    let values = columns(points, window, dots(area.width), of, MetricPoint::shown);
    let curves = [Curve { name: "", values, style: theme.curve(0), is_dotted: false }];
    let unit = unit(own.key.kind);
    let now = points.last().map_or(String::new(), |last| format!("  {}", unit(last.shown())));
    let name = fit(&own.label, area.width.saturating_sub(now.chars().count() as u16 + 1));
    chart(paint, area, &[(&name, theme.heading()), (&now, theme.curve(0))], &curves, window, unit);
}

/// How the values of a kind are written.
fn unit(kind: MetricKind) -> fn(f64) -> String {
    match kind {
        MetricKind::Counter => rate,
        MetricKind::Rate => percent,
        MetricKind::Gauge | MetricKind::Trend => number,
    }
}

/// A number in a unit that only the plan knows, with three digits at least.
fn number(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if value.fract() == 0.0 || size >= 99.95 => format!("{value:.0}"),
        _ if size >= 9.995 => format!("{value:.1}"),
        _ if size >= 0.9995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
