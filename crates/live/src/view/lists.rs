//! The tabs that are lists: errors, thresholds and checks, the log; and the help. Pure.

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use squall_base::escape_control;
use squall_base::units::{count, percent};

use super::paint::{Paint, clock, fit, width, wrap};
use crate::browse::Browse;
use crate::state::{LiveState, Mood, Problem, Standing};

/// Most rows of a line that is wrapped.
const MAX_WRAPPED: usize = 6;
/// Columns by which what belongs to the line above is indented.
const INDENT: u16 = 4;

/// A line of a list, which is wrapped where it is too long.
pub struct Line {
    text: String,
    style: Style,
    indent: u16,
}

impl Line {
    /// A line in a style.
    pub fn of(text: String, style: Style) -> Line {
        Line { text, style, indent: 1 }
    }

    /// The same as a part of what the line above says.
    pub fn within(self) -> Line {
        Line { indent: INDENT, ..self }
    }
}

/// Shows lines from the one to which a person has scrolled; how far that can be.
pub fn show(paint: &mut Paint<'_>, area: Rect, lines: &[Line], browse: &Browse) -> usize {
    let wrapped: Vec<(u16, Style, String)> = lines
        .iter()
        .flat_map(|line| {
            let room = area.width.saturating_sub(line.indent + 1).max(1);
            let rows = wrap(&line.text, room, MAX_WRAPPED);
            rows.into_iter().map(|row| (line.indent, line.style, row))
        })
        .collect();
    let furthest = wrapped.len().saturating_sub(usize::from(area.height));
    let from = browse.scroll.min(furthest);
    for (row, (indent, style, text)) in (0..area.height).zip(&wrapped[from..]) {
        paint.text(area, *indent, row, text, *style);
    }
    furthest
}

/// Errors, those that are most first.
fn sorted(state: &LiveState) -> Vec<&Problem> {
    let mut all: Vec<&Problem> = state.problems.all().iter().collect();
    all.sort_by_key(|own| std::cmp::Reverse(own.count));
    all
}

fn say(problem: &Problem) -> String {
    let seen = match problem.seen {
        None => String::new(),
        Some((first, last)) if first == last => format!(", at {}", clock(f64::from(first))),
        Some((first, last)) => {
            format!(", from {} to {}", clock(f64::from(first)), clock(f64::from(last)))
        }
    };
    format!("{} x {} in {}{seen}", count(problem.count), problem.kind.label(), problem.label)
}

/// The tab of errors.
pub fn errors(paint: &mut Paint<'_>, area: Rect, state: &LiveState, browse: &Browse) -> usize {
    let theme = paint.theme;
    let mut lines = Vec::new();
    let all = sorted(state);
    let shown =
        all.into_iter().filter(|own| browse.passes(&own.label) || browse.passes(own.kind.label()));
    for own in shown {
        lines.push(Line::of(say(own), theme.error()));
        let of = format!("of {}, {}/s now", escape_control(&own.scenario), count(own.lately));
        lines.push(Line::of(of, theme.dim()).within());
        if let Some(example) = &own.example {
            lines.push(Line::of(example.clone(), Style::new()).within());
        }
        lines.push(Line::of(own.kind.explain().to_owned(), theme.dim()).within());
    }
    if state.problems.left_out() > 0 {
        let more =
            format!("{} errors of further names and kinds", count(state.problems.left_out()));
        lines.push(Line::of(more, theme.error()));
    }
    if lines.is_empty() {
        lines.push(Line::of("no errors".to_owned(), theme.mood(Mood::Good)));
    }
    show(paint, area, &lines, browse)
}

/// The most frequent errors, a row each, with an example.
pub fn first_errors(paint: &mut Paint<'_>, area: Rect, state: &LiveState) {
    let theme = paint.theme;
    paint.text(area, 1, 0, "Errors", theme.heading());
    let shown = sorted(state).into_iter().filter(|own| own.count > 0);
    for (row, own) in (1..area.height).zip(shown) {
        let x =
            paint.text(area, 1, row, &fit(&say(own), area.width.saturating_sub(2)), theme.error());
        let example = own.example.as_deref().unwrap_or_default();
        let room = area.width.saturating_sub(x + 2);
        if room > 12 {
            paint.text(area, x + 2, row, &fit(example, room), Style::new());
        }
    }
}

/// The tab of thresholds and checks.
pub fn checks(paint: &mut Paint<'_>, area: Rect, state: &LiveState, browse: &Browse) -> usize {
    let theme = paint.theme;
    let mut lines = Vec::new();
    for own in state.thresholds.iter().filter(|own| browse.passes(&own.text)) {
        let standing = state.standing(own);
        let (word, mood) = match standing {
            Standing::Passes => (standing.label(), Mood::Good),
            Standing::Fails => ("FAILS", Mood::Bad),
            Standing::NotYet => (standing.label(), Mood::Unknown),
        };
        let text = format!("{word}  {}  so far {}", escape_control(&own.text), own.shown);
        lines.push(Line::of(text, theme.mood(mood)));
    }
    if !lines.is_empty() {
        lines.insert(0, Line::of("Thresholds, as they stand".to_owned(), theme.heading()));
    }
    if !state.checks.is_empty() {
        lines.push(Line::of("Checks".to_owned(), theme.heading()));
    }
    for (scenario, name, counts) in state.checks.iter().filter(|(_, name, _)| browse.passes(name)) {
        let share = counts.failed as f64 / counts.count().max(1) as f64;
        let warned = match counts.warned {
            0 => String::new(),
            warned => format!(", {} warned", count(warned)),
        };
        let text = match counts.failed {
            0 => format!("ok      {name} ({scenario}): {} passed{warned}", count(counts.passed)),
            failed => format!(
                "FAILED  {name} ({scenario}): {} of {} failed, {}{warned}",
                count(failed),
                count(counts.count()),
                percent(share)
            ),
        };
        let style = if counts.failed > 0 { theme.error() } else { Style::new() };
        lines.push(Line::of(text, style));
    }
    if lines.is_empty() {
        let none = "no thresholds and no checks were evaluated so far".to_owned();
        lines.push(Line::of(none, theme.dim()));
    }
    show(paint, area, &lines, browse)
}

/// The tab of the log, the latest first.
pub fn log(paint: &mut Paint<'_>, area: Rect, state: &LiveState, browse: &Browse) -> usize {
    let shown = state.log.iter().rev().filter(|line| browse.passes(&line.text));
    let lines: Vec<Line> = shown
        .map(|line| {
            let style = if line.is_warning { paint.theme.error() } else { Style::new() };
            Line::of(format!("{:>7}  {}", clock(line.at_s), line.text), style)
        })
        .collect();
    show(paint, area, &lines, browse)
}

/// What keys do, as the help shows it.
const HELP: [(&str, &str); 16] = [
    ("1 to 9, Tab, ← →", "another tab"),
    ("↑ ↓ PgUp PgDn Home End", "scroll"),
    ("q, s", "stop in order (asks first); again: end at once"),
    ("Ctrl-C", "the same without being asked"),
    ("p, space", "pause, and go on"),
    ("+  -", "10% more or fewer users, or arrivals, of the chosen load"),
    ("n", "a number of users, or a rate, for the chosen load"),
    ("l", "choose the next load"),
    ("w", "charts: the last minute, or the whole load"),
    ("o  r", "requests: another order; reverse it"),
    ("/  Esc", "show only names with what is typed; all again"),
    ("Ctrl-L", "redraw"),
    ("?, h", "this help"),
    ("", ""),
    ("", "Requests whose curve has another colour, or ×, had errors then."),
    ("", "In flight: the peak of concurrent requests in the last second."),
];

pub fn help(paint: &mut Paint<'_>, area: Rect) {
    let theme = paint.theme;
    let columns = HELP.iter().map(|(keys, _)| width(keys)).max().unwrap_or(0) + 3;
    for (row, (keys, does)) in (0..area.height).zip(HELP) {
        paint.text(area, 1, row, keys, theme.heading());
        let rest = Rect { x: area.x + columns, width: area.width.saturating_sub(columns), ..area };
        paint.text(rest, 0, row, &fit(does, rest.width), Style::new());
    }
}
