//! The first tab: the scenarios, curves of load and latency, errors, and on large screens the requests. Pure.

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use squall_base::units::{count, rate, time};

use super::chart::{Curve, Of, Window, chart, columns, dots, window};
use super::paint::{Paint, bar, below, clock, fit, halves, top};
use super::{lists, requests};
use crate::browse::Browse;
use crate::state::{LiveState, LoadState, Point, Span};

/// Rows from which on there is room for four charts, and for the requests.
const LARGE: u16 = 32;

pub fn draw(paint: &mut Paint<'_>, area: Rect, state: &LiveState, browse: &Browse) {
    let used = scenarios(paint, top(area, area.height / 3), state, browse);
    let mut rest = below(area, used);
    let problems = state.problems.all().iter().filter(|own| own.count > 0).count() as u16;
    if problems > 0 {
        let most = if area.height >= LARGE { 6 } else { 2 };
        let rows = problems.min(most) + 1;
        let errors = below(rest, rest.height.saturating_sub(rows));
        rest = top(rest, rest.height.saturating_sub(rows));
        lists::first_errors(paint, errors, state);
    }
    if area.height < LARGE {
        charts(paint, rest, state, window(state, browse), false);
        return;
    }
    let rows = (state.rows.all().len() as u16).saturating_add(2).min(rest.height * 2 / 5);
    charts(paint, top(rest, rest.height - rows), state, window(state, browse), true);
    requests::draw(paint, below(rest, rest.height - rows), state, browse);
}

/// A row for each load; how many rows that took.
fn scenarios(paint: &mut Paint<'_>, area: Rect, state: &LiveState, browse: &Browse) -> u16 {
    let at_s = state.load_s();
    let room = usize::from(area.height).max(1);
    let all = state.loads.len();
    let shown = if all > room { room - 1 } else { all };
    // The chosen one can always be seen.
    let from = (browse.load + 1).saturating_sub(shown.max(1));
    for (row, (number, load)) in (0..).zip(state.loads.iter().enumerate().skip(from).take(shown)) {
        let is_chosen = all > 1 && number == browse.load;
        scenario(paint, area, row, load, at_s, is_chosen, state.history.last().is_some());
    }
    if all > shown {
        let more = format!("   and {} more (l)", all - shown);
        paint.text(area, 0, shown as u16, &more, paint.theme.dim());
    }
    room.min(all) as u16
}

fn scenario(
    paint: &mut Paint<'_>,
    area: Rect,
    row: u16,
    load: &LoadState,
    at_s: f64,
    is_chosen: bool,
    has_begun: bool,
) {
    let plain = Style::new();
    let columns = (area.width / 6).clamp(8, 30);
    let mark = if is_chosen { "▸" } else { " " };
    let style = if is_chosen { paint.theme.heading() } else { plain };
    let name =
        format!("{mark}{:<width$} ", fit(load.label(), columns), width = usize::from(columns));
    let x = paint.text(area, 0, row, &name, style);
    let wide = (area.width / 8).clamp(6, 24);
    let x = match load.part_done(at_s) {
        Some(part) => {
            let style = paint.theme.curve(0);
            let x = paint.text(area, x, row, &bar(wide, part), style);
            paint.text(area, x, row, &format!(" {:>3.0}%", (part * 100.0).floor()), plain)
        }
        None => x,
    };
    let left = match (load.from_s(), load.left_s(at_s)) {
        (None, _) => "  after others".to_owned(),
        (Some(from), _) if at_s < from => format!("  in {}", clock(from - at_s)),
        (_, Some(left)) => format!("  {} left", clock(left.ceil())),
        (_, None) => String::new(),
    };
    let planned = load.planned(at_s);
    let (users, in_flight) = (count(load.now.users), count(load.now.in_flight.most));
    let level = match load.is_users() {
        _ if load.from_s().is_none() => "  not known yet".to_owned(),
        // Until the first second is over it is not known how many there are.
        true if !has_begun => {
            format!("  {} users planned", count(planned.round() as u64))
        }
        false if !has_begun => format!("  {} arrivals planned", rate(planned)),
        true => format!("  {users} of {} users", count(planned.round() as u64)),
        false => {
            let started = rate(load.now.iterations_started as f64);
            format!("  {started} of {} arrivals", rate(planned))
        }
    };
    let there = match load.is_users() {
        true => format!("  {in_flight} in flight"),
        false => format!("  {users} users, {in_flight} in flight"),
    };
    let ended = rate(load.done_lately as f64);
    let done = match area.width < 100 {
        true => String::new(),
        false => format!("  {} iterations, {ended}", count(load.done)),
    };
    let x = paint.text(area, x, row, &format!("{left:<13}"), plain);
    let x = paint.text(area, x, row, &level, paint.theme.heading());
    let x = paint.text(area, x, row, &there, plain);
    paint.text(area, x, row, &done, plain);
}

/// Two charts beside each other, or four.
fn charts(paint: &mut Paint<'_>, area: Rect, state: &LiveState, window: Window, all: bool) {
    let upper = if all { area.height / 2 } else { area.height };
    let [left, right] = halves(top(area, upper));
    let is_open = state.loads.iter().any(|load| !load.is_users());
    match is_open {
        true => arrivals(paint, left, state, window),
        false if all => users(paint, left, state, window, true),
        false => throughput(paint, left, state, window),
    }
    latency(paint, right, state, window);
    if all {
        let [left, right] = halves(below(area, upper));
        match is_open {
            // Users that arrivals need are counted with those that are planned.
            true => users(paint, left, state, window, false),
            false => throughput(paint, left, state, window),
        }
        errors(paint, right, state, window);
    }
}

/// What of the load was planned, by column of dots: also of what is to come.
fn planned(state: &LiveState, window: Window, dots: usize, is_users: bool) -> Vec<Option<f64>> {
    let past = columns(state.history.points(), window, dots, Of::Mean, |point| match is_users {
        true => point.planned_users,
        false => point.planned_arrivals / point.length_s(),
    });
    let length = (window.to_s - window.from_s) / dots.max(1) as f64;
    let meant = || state.loads.iter().filter(|load| load.is_users() == is_users);
    let stood_still = state.stood_still_s();
    let ahead = |column: usize| {
        let at_s = window.from_s + column as f64 * length - stood_still;
        meant().map(|load| load.planned(at_s)).sum()
    };
    let ends = state.length_s().is_some() && state.stopping.is_none();
    past.iter()
        .enumerate()
        .map(|(column, value)| value.or_else(|| ends.then(|| ahead(column))))
        .collect()
}

fn arrivals(paint: &mut Paint<'_>, area: Rect, state: &LiveState, window: Window) {
    let dots = dots(area.width);
    let began = columns(state.history.points(), window, dots, Of::Mean, |point| {
        point.arrivals as f64 / point.length_s()
    });
    let (planned, theme) = (planned(state, window, dots, false), paint.theme);
    let curves = [
        Curve { name: "plan", values: planned, style: theme.dim(), is_dotted: true },
        Curve { name: "now", values: began, style: theme.curve(0), is_dotted: false },
    ];
    let last = state.history.last().copied().unwrap_or_default();
    let now = format!("  {}", rate(last.arrivals as f64));
    let plan = format!(" of {} planned{}", rate(last.planned_arrivals), to_come(state, false));
    let title = [("Arrivals", theme.heading()), (&*now, theme.curve(0)), (&*plan, theme.dim())];
    chart(paint, area, &title, &curves, window, rate);
}

fn users(paint: &mut Paint<'_>, area: Rect, state: &LiveState, window: Window, is_planned: bool) {
    let dots = dots(area.width);
    let there =
        columns(state.history.points(), window, dots, Of::Highest, |point| point.users as f64);
    let theme = paint.theme;
    let mut curves = Vec::new();
    if is_planned {
        let values = planned(state, window, dots, true);
        curves.push(Curve { name: "plan", values, style: theme.dim(), is_dotted: true });
    }
    curves.push(Curve { name: "now", values: there, style: theme.curve(0), is_dotted: false });
    let last = state.history.last().copied().unwrap_or_default();
    let now = format!("  {}", count(last.users));
    let plan = match is_planned {
        true => {
            let planned = count(last.planned_users.round() as u64);
            format!(" of {planned} planned{}", to_come(state, true))
        }
        false => String::new(),
    };
    let title =
        [("Virtual users", theme.heading()), (&*now, theme.curve(0)), (&*plan, theme.dim())];
    chart(paint, area, &title, &curves, window, whole);
}

/// What is planned besides, nobody knows when.
fn to_come(state: &LiveState, is_users: bool) -> String {
    match state.awaited(is_users).as_slice() {
        [] => String::new(),
        [one] => format!(", then {one}"),
        [one, others @ ..] => format!(", then {one} and {} more", others.len()),
    }
}

fn throughput(paint: &mut Paint<'_>, area: Rect, state: &LiveState, window: Window) {
    let values = columns(state.history.points(), window, dots(area.width), Of::Mean, Point::rate);
    let theme = paint.theme;
    let curves = [Curve { name: "", values, style: theme.curve(0), is_dotted: false }];
    let now = format!("  {}", rate(state.history.last().map_or(0.0, Point::rate)));
    let title = [("Requests", theme.heading()), (&*now, theme.curve(0))];
    chart(paint, area, &title, &curves, window, rate);
}

fn latency(paint: &mut Paint<'_>, area: Rect, state: &LiveState, window: Window) {
    let dots = dots(area.width);
    let theme = paint.theme;
    let of = |value: fn(&Point) -> f64| {
        columns(state.history.points(), window, dots, Of::Highest, value)
    };
    // The highest first: where they meet, the lower ones are on top.
    let curves = [
        Curve {
            name: "p99",
            values: of(|point| point.p99_us),
            style: theme.curve(1),
            is_dotted: false,
        },
        Curve {
            name: "p90",
            values: of(|point| point.p90_us),
            style: theme.curve(2),
            is_dotted: false,
        },
        Curve {
            name: "p50",
            values: of(|point| point.p50_us),
            style: theme.curve(0),
            is_dotted: false,
        },
    ];
    let last = state.history.last().copied().unwrap_or_default();
    let [p50, p90, p99] = [("p50", last.p50_us), ("p90", last.p90_us), ("p99", last.p99_us)].map(
        |(name, us)| match us > 0.0 {
            false => format!(" {name} –"),
            true => format!(" {name} {}", time(us)),
        },
    );
    let heading = if area.width < 46 { "" } else { "Latency " };
    let title = [
        (heading, theme.heading()),
        (&*p50, theme.curve(0)),
        (&*p90, theme.curve(2)),
        (&*p99, theme.curve(1)),
    ];
    chart(paint, area, &title, &curves, window, time);
}

fn errors(paint: &mut Paint<'_>, area: Rect, state: &LiveState, window: Window) {
    let values = columns(state.history.points(), window, dots(area.width), Of::Mean, |point| {
        point.errors as f64 / point.length_s()
    });
    let theme = paint.theme;
    let curves = [Curve { name: "", values, style: theme.error(), is_dotted: false }];
    let last = state.history.last().map_or(0, |point| point.errors);
    let now = format!("  {}, {} in all", rate(last as f64), count(state.problems.total()));
    let title = [("Errors", theme.heading()), (&*now, theme.error())];
    chart(paint, area, &title, &curves, window, rate);
}

fn whole(number: f64) -> String {
    count(number.round() as u64)
}
