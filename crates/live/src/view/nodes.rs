//! The nodes of a fleet, a row each, those that are other than the rest first. Pure.

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use squall_base::units::{count, percent, time};

use super::paint::{Paint, below, fit};
use crate::browse::Browse;
use crate::state::{LiveState, Mood, NodeState};

/// Columns of a number, with the gap before it, and of the zone.
const NUMBER: u16 = 11;
const ZONE: u16 = 8;
/// Columns of a screen from which on there is room for all.
const WIDE: u16 = 100;

const TITLES: [&str; 7] = ["state", "users", "requests/s", "errors", "p95", "send delay", "CPU"];

/// Draws the tab; how far it can be scrolled.
pub fn draw(paint: &mut Paint<'_>, area: Rect, state: &LiveState, browse: &Browse) -> usize {
    if state.nodes.all().is_empty() {
        let none = "this run has no nodes: one process makes its load (docs/fleet.md)";
        paint.text(area, 1, 0, none, paint.theme.dim());
        return 0;
    }
    let odd = state.nodes.odd();
    let why = |at: usize| odd.iter().find(|own| own.node == at).map(|own| own.text());
    let mut shown: Vec<(usize, &NodeState)> = state
        .nodes
        .all()
        .iter()
        .enumerate()
        .filter(|(_, own)| browse.passes(&own.node) || browse.passes(&own.zone))
        .collect();
    shown.sort_by_key(|(at, own)| {
        let rank = odd.iter().position(|odd| odd.node == *at).unwrap_or(usize::MAX);
        (!state.nodes.is_silent(own), rank)
    });
    let zones = zones(paint, area, state);
    let body = below(area, zones);
    head(paint, body);
    let rows = below(body, 1);
    let furthest = shown.len().saturating_sub(usize::from(rows.height));
    let from = browse.scroll.min(furthest);
    for (row, (at, own)) in (0..rows.height).zip(shown.into_iter().skip(from)) {
        line(paint, Rect { y: rows.y + row, height: 1, ..rows }, state, own, why(at).as_deref());
    }
    furthest
}

/// Latency by zone side by side, in a row; how many rows that took.
fn zones(paint: &mut Paint<'_>, area: Rect, state: &LiveState) -> u16 {
    let zones = state.nodes.zones();
    if zones.len() < 2 {
        return 0;
    }
    let each = zones.iter().map(|own| format!("{} p95 {}", own.zone, time(own.p95_us)));
    let text = format!("zones  {}", each.collect::<Vec<_>>().join("   "));
    paint.text(area, 1, 0, &fit(&text, area.width.saturating_sub(2)), paint.theme.heading());
    1
}

/// The places of the numbers, from the right edge: as many of the last ones as there is room for.
fn columns(width: u16) -> impl Iterator<Item = (usize, u16)> {
    let all = TITLES.len();
    // On a narrow screen users and errors give way.
    let kept: Vec<usize> = (0..all).filter(|at| width >= WIDE || ![1, 3].contains(at)).collect();
    let number = kept.len() as u16;
    kept.into_iter().enumerate().map(move |(place, at)| {
        (at, width.saturating_sub(NUMBER * (number - 1 - place as u16) + 1))
    })
}

fn head(paint: &mut Paint<'_>, area: Rect) {
    let style = paint.theme.heading();
    paint.text(area, 1, 0, "node", style);
    for (at, right) in columns(area.width) {
        paint.right(area, right, 0, TITLES[at], style);
    }
}

fn line(paint: &mut Paint<'_>, area: Rect, state: &LiveState, own: &NodeState, why: Option<&str>) {
    let is_silent = state.nodes.is_silent(own);
    let (word, mood) = match (is_silent, why) {
        (true, _) => ("silent", Mood::Bad),
        (false, Some(_)) => ("odd", Mood::Doubtful),
        (false, None) => ("runs", Mood::Good),
    };
    let style = if is_silent { paint.theme.dim() } else { Style::new() };
    let texts = [
        word.to_owned(),
        count(own.users as u64),
        count(own.requests as u64),
        count(own.errors as u64),
        time(own.p95_us),
        time(own.send_delay_us),
        percent(own.cpu),
    ];
    let mut room = area.width;
    for (at, right) in columns(area.width) {
        room = room.min(right.saturating_sub(NUMBER));
        let style = match at {
            0 => paint.theme.mood(mood),
            3 if own.errors > 0.0 => paint.theme.error(),
            _ => style,
        };
        paint.right(area, right, 0, &texts[at], style);
    }
    let zone = if own.zone.is_empty() { String::new() } else { fit(&own.zone, ZONE) };
    let why = match (is_silent, why) {
        (true, _) => format!(": nothing since second {}", own.second),
        (false, Some(why)) => format!(": {why}"),
        (false, None) => String::new(),
    };
    let name = format!("{} {zone}{why}", own.node);
    paint.text(area, 1, 0, &fit(name.trim_end(), room.saturating_sub(1)), style);
}
