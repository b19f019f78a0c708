//! The view: from what is known and what a person looks at to a screen of any size. Pure.

mod chart;
mod lists;
mod metrics;
mod nodes;
mod overview;
mod paint;
mod requests;
mod squall;
mod target;
#[cfg(test)]
mod tests;
mod theme;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use crate::browse::{Browse, Mode, Tab};
use crate::state::{LiveState, Stopping};
use paint::{Paint, bar, below, clock, fit, top, width};
pub use theme::Theme;

/// The smallest screen that shows everything.
const MIN_COLUMNS: u16 = 40;
const MIN_ROWS: u16 = 12;
/// Seconds for which what came of a command is shown.
const NOTICE_S: f64 = 8.0;

/// Draws everything on an empty screen. Returns how far the rows can be scrolled at most.
pub fn draw(state: &LiveState, browse: &Browse, theme: Theme, buffer: &mut Buffer) -> usize {
    let screen = *buffer.area();
    let mut paint = Paint { buffer, theme };
    if screen.width < MIN_COLUMNS || screen.height < MIN_ROWS {
        small(&mut paint, screen, state);
        return 0;
    }
    title(&mut paint, screen, state);
    progress(&mut paint, below(screen, 1), state);
    answers(&mut paint, below(screen, 2), state);
    tabs(&mut paint, below(screen, 5), state, browse);
    let body = below(screen, 6);
    let body = top(body, body.height - 1);
    let last = Rect { y: screen.y + screen.height - 1, height: 1, ..screen };
    footer(&mut paint, last, state, browse);
    if browse.mode == Mode::Help {
        lists::help(&mut paint, body);
        return 0;
    }
    match browse.tab {
        Tab::Overview => {
            overview::draw(&mut paint, body, state, browse);
            0
        }
        Tab::Requests => requests::draw(&mut paint, body, state, browse),
        Tab::Errors => lists::errors(&mut paint, body, state, browse),
        Tab::Checks => lists::checks(&mut paint, body, state, browse),
        Tab::Generator => squall::draw(&mut paint, body, state, browse),
        Tab::Log => lists::log(&mut paint, body, state, browse),
        Tab::Metrics => metrics::draw(&mut paint, body, state, browse),
        Tab::Target => target::draw(&mut paint, body, state, browse),
        Tab::Nodes => nodes::draw(&mut paint, body, state, browse),
    }
}

/// A screen on which nothing else has room.
fn small(paint: &mut Paint<'_>, screen: Rect, state: &LiveState) {
    let plain = ratatui_core::style::Style::new();
    paint.text(
        screen,
        0,
        0,
        &format!("squall: {} {}", state.doing(), clock(state.load_s())),
        plain,
    );
    for (row, answer) in (1..).zip(state.answers()) {
        let x = paint.text(screen, 0, row, answer.question, plain);
        paint.text(screen, x + 1, row, &answer.word, paint.theme.mood(answer.mood));
    }
    paint.text(screen, 0, 4, &format!("(more at {MIN_COLUMNS}x{MIN_ROWS})"), paint.theme.dim());
}

fn title(paint: &mut Paint<'_>, area: Rect, state: &LiveState) {
    let bar = paint.theme.bar();
    let blank = " ".repeat(usize::from(area.width));
    paint.text(area, 0, 0, &blank, bar);
    let doing = format!("{} ", state.doing());
    let room = area.width.saturating_sub(width(&doing) + 1);
    let target = state.target_beside_plan().map_or(String::new(), |own| format!("  at {own}"));
    paint.text(area, 0, 0, &fit(&format!(" squall  {}{target}", state.plan), room), bar);
    paint.right(area, area.width, 0, &doing, bar);
}

/// How far the load is.
fn progress(paint: &mut Paint<'_>, area: Rect, state: &LiveState) {
    let passed = state.load_s();
    let text = match state.length_s() {
        Some(length) => {
            let left = clock((length - passed).max(0.0).ceil());
            format!(" {} of {}, {left} left", clock(passed.min(length)), clock(length))
        }
        None => format!(" {}", clock(passed)),
    };
    let part = state.length_s().filter(|length| *length > 0.0).map(|length| passed / length);
    let by_number = || {
        let parts = state.loads.iter().map(|load| load.part_done(passed));
        parts.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min)
    };
    let Some(part) = part.or_else(by_number) else {
        paint.text(area, 1, 0, &text, paint.theme.dim());
        return;
    };
    let columns = area.width.saturating_sub(width(&text) + 8);
    let percent = format!(" {:>3.0}%", (part.min(1.0) * 100.0).floor());
    let style = paint.theme.curve(0);
    let x = paint.text(area, 1, 0, &bar(columns, part), style);
    let x = paint.text(area, x, 0, &percent, paint.theme.heading());
    paint.text(area, x, 0, &text, ratatui_core::style::Style::new());
}

fn answers(paint: &mut Paint<'_>, area: Rect, state: &LiveState) {
    for (row, answer) in (0..).zip(state.answers()) {
        let x = paint.text(area, 1, row, &format!("{:<13} ", answer.question), paint.theme.dim());
        let word = format!(" {} ", answer.word);
        let x = paint.text(area, x, row, &word, paint.theme.mood(answer.mood));
        let x = x.max(24) + 1;
        let detail = fit(&answer.detail, area.width.saturating_sub(x));
        paint.text(area, x, row, &detail, ratatui_core::style::Style::new());
    }
}

fn tabs(paint: &mut Paint<'_>, area: Rect, state: &LiveState, browse: &Browse) {
    let mut x = 1;
    let errors = state.problems.total() + state.problems.not_sent();
    let label = |(number, tab): (usize, &Tab)| match tab {
        Tab::Errors if errors > 0 => format!(" {number} {} ! ", tab.label()),
        _ => format!(" {number} {} ", tab.label()),
    };
    let tabs = Tab::of(state.metrics.has_target(), !state.nodes.all().is_empty());
    let mut labels: Vec<String> = (1..).zip(&tabs).map(label).collect();
    if labels.iter().map(|own| width(own)).sum::<u16>() + 2 > area.width {
        // Then the space between two is enough for both.
        labels.iter_mut().for_each(|own| *own = own.trim_start().to_owned());
    }
    for (tab, label) in tabs.iter().copied().zip(labels) {
        let style = match tab {
            _ if tab == browse.tab => paint.theme.bar(),
            Tab::Errors if errors > 0 => paint.theme.error(),
            _ => paint.theme.dim(),
        };
        x = paint.text(area, x, 0, &label, style);
    }
    if !browse.filter.is_empty() {
        // On a narrow screen it stands on the last tabs.
        let room = area.width.saturating_sub(x + 1).max(area.width / 3);
        let text = fit(&format!("  filter: {}", browse.filter), room);
        paint.right(area, area.width, 0, &text, paint.theme.heading());
    }
}

/// What keys do, what is being typed, or what came of the last command.
fn footer(paint: &mut Paint<'_>, area: Rect, state: &LiveState, browse: &Browse) {
    let load = state.loads.get(browse.load).map_or("", |load| load.label());
    let strong = paint.theme.bar();
    let question = match &browse.mode {
        Mode::Filter => {
            Some(format!(" show only names with: {}_ (Enter, Esc: all) ", browse.filter))
        }
        Mode::Level(typed) => {
            let is_users = state.loads.get(browse.load).is_none_or(|load| load.is_users());
            let what = if is_users { "virtual users" } else { "arrivals a second" };
            Some(format!(" {what} of {load}: {typed}_ (Enter, Esc) "))
        }
        Mode::Stop => Some(match state.stopping {
            None => " stop the run? Requests in flight may finish. (y/n) ".to_owned(),
            Some(Stopping::InOrder | Stopping::AtOnce) => " end it at once? (y/n) ".to_owned(),
        }),
        Mode::Help => Some(" any key: back ".to_owned()),
        Mode::Keys => None,
    };
    if let Some(question) = question {
        paint.text(area, 0, 0, &fit(&question, area.width), strong);
        return;
    }
    let notice = browse.notice.as_ref().filter(|(at_s, _)| state.now_s - at_s < NOTICE_S);
    if let Some((_, notice)) = notice {
        paint.text(area, 0, 0, &fit(&format!(" {notice} "), area.width), strong);
        return;
    }
    let go_on = if state.is_paused() { "go on" } else { "pause" };
    let mut keys = format!(" ?:help  q:stop  p:{go_on}  +/-:{load}  n:number");
    if state.loads.len() > 1 {
        keys.push_str("  l:load");
    }
    keys.push_str(match browse.tab {
        Tab::Overview => "  w:window  Tab:next",
        Tab::Requests => "  o:sort  r:reverse  /:filter",
        Tab::Errors | Tab::Checks | Tab::Log | Tab::Target | Tab::Nodes => "  /:filter  ↑↓:scroll",
        Tab::Metrics => "  w:window  /:filter  ↑↓:scroll",
        Tab::Generator => "  ↑↓:scroll",
    });
    paint.text(area, 0, 0, &fit(&keys, area.width), paint.theme.dim());
}
