//! The lines of k6's text that have a number: names with dots up to the values, and these in columns. Pure.

use squall_script::MetricKind;

use super::built_in::Section;
use super::data::{Metric, SummaryOptions};
use super::group::Check;
use super::number::{percent, plain, value};
use super::selector::Selector;

/// Dots behind the longest name.
const DOTS: usize = 3;

/// A line before it is aligned.
#[derive(Debug)]
struct Line {
    /// What stands before the dots.
    name: String,
    cells: Cells,
}

#[derive(Debug)]
enum Cells {
    /// The statistics of a trend, a column each.
    Trend(Vec<String>),
    /// A value, and what is said beside it.
    Value(String, Vec<String>),
}

/// How many checks there were, how many held, and how many did not.
pub(super) fn of_checks(checks: &[Check], seconds: f64) -> Vec<String> {
    let sum = |of: fn(&Check) -> u64| {
        checks.iter().fold(0_u64, |sum, check| sum.saturating_add(of(check)))
    };
    let (passes, fails) = (sum(|own| own.passes), sum(|own| own.fails));
    let all = passes.saturating_add(fails);
    let rate = if seconds > 0.0 { all as f64 / seconds } else { 0.0 };
    let line = |name: &str, value: String, beside: String| Line {
        name: name.to_owned(),
        cells: Cells::Value(value, vec![beside]),
    };
    let share = |name: &str, own: u64| {
        let shown = percent(own as f64 / all.max(1) as f64);
        line(name, shown, format!("{own} out of {all}"))
    };
    aligned(&[
        line("checks_total", all.to_string(), format!("{}/s", plain(rate))),
        share("checks_succeeded", passes),
        share("checks_failed", fails),
    ])
}

/// Metrics by section, each with its heading. Without `is_full` those are left out that are parts of another.
pub(super) fn of_metrics(
    metrics: &[Metric],
    options: &SummaryOptions,
    is_full: bool,
) -> Vec<(&'static str, Vec<String>)> {
    let shown: Vec<(Section, &Metric)> = metrics
        .iter()
        .map(|metric| (Section::of(Selector::of(&metric.name).name), metric))
        .filter(|(section, _)| *section != Section::Checks)
        .filter(|(section, _)| is_full || *section != Section::HttpPhases)
        .collect();
    let lines: Vec<Line> = shown.iter().map(|(_, metric)| line(metric, options)).collect();
    let aligned: Vec<(Section, String)> =
        shown.iter().map(|(section, _)| *section).zip(aligned(&lines)).collect();
    let sections = Section::SHOWN.iter().map(|(title, sections)| {
        let own = aligned.iter().filter(|(section, _)| sections.contains(section));
        (*title, own.map(|(_, line)| line.clone()).collect::<Vec<_>>())
    });
    sections.filter(|(_, lines)| !lines.is_empty()).collect()
}

/// A number of a metric, by its name, as the text shows it. `None`: it has none of that name.
pub(super) fn shown_value(metric: &Metric, name: &str, options: &SummaryOptions) -> Option<String> {
    let own = metric.value(name)?;
    let shown = || value(own, metric.contains, options.time_unit);
    Some(match (metric.kind, name) {
        (MetricKind::Rate, "rate") => percent(own),
        (MetricKind::Rate, _) | (MetricKind::Trend, "count") => plain(own),
        (MetricKind::Counter, "rate") => format!("{}/s", shown()),
        _ => shown(),
    })
}

fn line(metric: &Metric, options: &SummaryOptions) -> Line {
    let Selector { name, braces, .. } = Selector::of(&metric.name);
    let name = match braces.is_empty() {
        true => name.to_owned(),
        false => {
            let inner = braces.trim_start_matches('{').trim_end_matches('}').trim();
            format!("  {{ {inner} }}")
        }
    };
    let shown = |number: &str| shown_value(metric, number, options).unwrap_or_default();
    let cells = match metric.kind {
        MetricKind::Trend => {
            let stats = options.trend_stats.iter().filter(|name| metric.value(name).is_some());
            Cells::Trend(stats.map(|name| format!("{name}={}", shown(name))).collect())
        }
        MetricKind::Counter => Cells::Value(shown("count"), vec![shown("rate")]),
        MetricKind::Gauge => {
            let beside = ["min", "max"].map(|name| format!("{name}={}", shown(name)));
            Cells::Value(shown("value"), beside.to_vec())
        }
        MetricKind::Rate => {
            let of = |name| metric.value(name).unwrap_or(0.0);
            let all = plain(of("passes") + of("fails"));
            Cells::Value(shown("rate"), vec![format!("{} out of {all}", shown("passes"))])
        }
    };
    Line { name, cells }
}

/// Lines with their names and values below each other.
fn aligned(lines: &[Line]) -> Vec<String> {
    let width = lines.iter().map(|line| length(&line.name)).max().unwrap_or(0) + DOTS;
    let (mut trend, mut single, mut beside) = (Vec::new(), 0, Vec::new());
    for line in lines {
        match &line.cells {
            Cells::Trend(cells) => widen(&mut trend, cells),
            Cells::Value(own, rest) => {
                single = single.max(length(own));
                widen(&mut beside, rest);
            }
        }
    }
    let one = |line: &Line| {
        let cells = match &line.cells {
            Cells::Trend(cells) => padded(cells, &trend),
            Cells::Value(own, rest) => format!("{own:single$} {}", padded(rest, &beside)),
        };
        let dots = ".".repeat(width.saturating_sub(length(&line.name)));
        format!("{}{dots}: {cells}", line.name).trim_end().to_owned()
    };
    lines.iter().map(one).collect()
}

/// Makes columns as wide as their cells.
fn widen(columns: &mut Vec<usize>, cells: &[String]) {
    columns.resize(columns.len().max(cells.len()), 0);
    for (column, cell) in columns.iter_mut().zip(cells) {
        *column = length(cell).max(*column);
    }
}

fn padded(cells: &[String], columns: &[usize]) -> String {
    let widths = columns.iter().copied().chain(std::iter::repeat(0));
    let cells = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
    cells.collect::<Vec<_>>().join(" ")
}

fn length(text: &str) -> usize {
    text.chars().count()
}
