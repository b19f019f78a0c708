//! Pictures of an experiment as SVG: the interval of each variant, shares of variation, and the runs in their order. Pure.

use std::fmt::Write as _;

use squall_base::units::percent;

use super::document::{ExperimentCell, ExperimentMeasure, ExperimentResult, ExperimentRun};
use super::words::escaped;
use crate::text::shorten;

/// Width of a picture in its own units, and the room for names at its left and right.
const WIDTH: f64 = 440.0;
const NAMES: f64 = 150.0;
const NUMBERS: f64 = 62.0;
const RIGHT: f64 = 16.0;
/// Height of a line of a picture of intervals, and of the picture of runs.
const LINE: f64 = 22.0;
const HEIGHT: f64 = 220.0;
/// Room below for the axis.
const BELOW: f64 = 24.0;
/// Most columns of a name in a picture.
const MAX_NAME: usize = 22;
/// How many colours there are; variants beyond them get other shapes.
const COLORS: usize = 7;

/// The class that gives a variant, or a part of a bar, its colour.
pub(super) fn color(number: usize) -> String {
    format!("c{}", number % COLORS + 1)
}

/// From where to where an axis goes.
#[derive(Debug, Clone, Copy)]
struct Axis {
    low: f64,
    high: f64,
    /// Where that is in the picture.
    from: f64,
    to: f64,
}

impl Axis {
    /// One that has all of these values, with some room. `None`: there is none.
    fn around(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Option<Axis> {
        let mut ends: Option<(f64, f64)> = None;
        for value in values.filter(|value| value.is_finite()) {
            let (low, high) = ends.unwrap_or((value, value));
            ends = Some((low.min(value), high.max(value)));
        }
        let (low, high) = ends?;
        let room = ((high - low) * 0.06).max(high.abs() * 0.005).max(1e-9);
        Some(Axis { low: low - room, high: high + room, from, to })
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Round values along it, about four.
    fn ticks(&self) -> Vec<f64> {
        let raw = (self.high - self.low) / 4.0;
        let power = 10_f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|own| own * power).find(|own| *own >= raw);
        let step = step.unwrap_or(raw);
        let first = (self.low / step).ceil() as i64;
        (0..8).map(|at| (first + at) as f64 * step).take_while(|own| *own <= self.high).collect()
    }

    /// The ticks with their labels, without those that would read the same as the one before.
    fn labels(&self, measure: &ExperimentMeasure) -> Vec<(f64, String)> {
        let mut all: Vec<(f64, String)> = Vec::new();
        for tick in self.ticks() {
            let label = measure.shown(tick);
            if all.last().is_none_or(|(_, last)| *last != label) {
                all.push((self.at(tick), label));
            }
        }
        all
    }
}

/// The mean of each variant with its interval, and its runs as small points.
pub(super) fn intervals(result: &ExperimentResult, at: usize) -> String {
    let measure = &result.measures[at];
    let cells: Vec<_> = result.variants.iter().map(|variant| variant.cells.get(at)).collect();
    let runs = || result.runs.iter().filter(|run| run.failed.is_none());
    let values = runs().filter_map(|run| run.values.get(at).copied().flatten());
    let ends = cells.iter().flatten().flat_map(|cell| [cell.value, cell.low, cell.high]).flatten();
    let Some(axis) = Axis::around(values.chain(ends), NAMES, WIDTH - RIGHT) else {
        return String::new();
    };
    let height = result.variants.len() as f64 * LINE + BELOW;
    let mut drawn = String::new();
    for (x, label) in axis.labels(measure) {
        let _ = write!(
            drawn,
            "<path class=\"grid\" d=\"M{x:.1} 0V{:.1}\"/><text class=\"below\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            height - BELOW,
            height - 8.0,
            escaped(&label)
        );
    }
    for (number, (variant, cell)) in result.variants.iter().zip(&cells).enumerate() {
        let y = (number as f64 + 0.5) * LINE;
        let _ = write!(
            drawn,
            "<text class=\"left name\" x=\"{:.1}\" y=\"{:.1}\">{}</text><g class=\"{}\">",
            NAMES - 8.0,
            y + 4.0,
            escaped(&shorten(&variant.name, MAX_NAME)),
            color(number)
        );
        for run in runs().filter(|run| run.variant as usize == number) {
            if let Some(value) = run.values.get(at).copied().flatten() {
                let _ = write!(
                    drawn,
                    "<circle class=\"run\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.8\"/>",
                    axis.at(value),
                    y + 6.0
                );
            }
        }
        if let Some(cell) = cell {
            mean(&mut drawn, &axis, measure, (&variant.name, cell), y);
        }
        drawn.push_str("</g>");
    }
    figure(&measure.name, height, &drawn)
}

/// The mean of a variant with its interval, on its line.
fn mean(
    drawn: &mut String,
    axis: &Axis,
    measure: &ExperimentMeasure,
    (name, cell): (&str, &ExperimentCell),
    y: f64,
) {
    let Some(value) = cell.value else { return };
    if let (Some(low), Some(high)) = (cell.low, cell.high) {
        let (low, high, top, bottom) = (axis.at(low), axis.at(high), y - 4.0, y + 4.0);
        let _ = write!(
            drawn,
            "<path class=\"whisker\" d=\"M{low:.1} {top:.1}V{bottom:.1}M{low:.1} {y:.1}H{high:.1}M{high:.1} {top:.1}V{bottom:.1}\"/>"
        );
    }
    let words = format!("{name}: {} ({})", measure.shown(value), measure.interval(cell));
    let _ = write!(
        drawn,
        "<circle class=\"mean\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{}</title></circle>",
        axis.at(value),
        escaped(&words)
    );
}

/// The runs of a measure in their order, coloured by variant, with a line between blocks.
pub(super) fn order(result: &ExperimentResult, at: usize) -> String {
    let measure = &result.measures[at];
    let value = |run: &ExperimentRun| match run.failed {
        None => run.values.get(at).copied().flatten(),
        Some(_) => None,
    };
    let bottom = HEIGHT - BELOW;
    let Some(axis) = Axis::around(result.runs.iter().filter_map(value), bottom - 10.0, 8.0) else {
        return String::new();
    };
    let count = result.runs.len() as f64;
    let x =
        |number: f64| NUMBERS + 10.0 + (number + 0.5) / count * (WIDTH - NUMBERS - RIGHT - 10.0);
    let mut drawn = String::new();
    for (y, label) in axis.labels(measure) {
        let _ = write!(
            drawn,
            "<path class=\"grid\" d=\"M{NUMBERS} {y:.1}H{WIDTH}\"/><text class=\"left\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            NUMBERS - 5.0,
            y + 4.0,
            escaped(&label)
        );
    }
    for (number, run) in result.runs.iter().enumerate() {
        let here = x(number as f64);
        if number > 0 && result.runs[number - 1].block != run.block {
            let between = x(number as f64 - 0.5);
            let _ = write!(drawn, "<path class=\"zero\" d=\"M{between:.1} 4V{bottom}\"/>");
        }
        let name = result.variants.get(run.variant as usize).map_or("", |own| own.name.as_str());
        match value(run) {
            Some(value) => {
                let words = format!("run {}, {name}: {}", run.number, measure.shown(value));
                let _ = write!(
                    drawn,
                    "<g class=\"{}\">{}<title>{}</title></g>",
                    color(run.variant as usize),
                    shape(run.variant as usize / COLORS, here, axis.at(value)),
                    escaped(&words)
                );
            }
            None => drawn.push_str(&gone(run.number, here, bottom - 4.0)),
        }
    }
    let _ = write!(
        drawn,
        "<text class=\"below\" x=\"{:.1}\" y=\"{:.1}\">run 1</text><text class=\"below\" x=\"{:.1}\" y=\"{:.1}\">{count}</text>",
        x(0.0) + 6.0,
        HEIGHT - 8.0,
        x(count - 1.0),
        HEIGHT - 8.0
    );
    figure(&measure.name, HEIGHT, &drawn)
}

/// The cross of a run that has no value.
fn gone(number: u64, x: f64, y: f64) -> String {
    let (left, right, top, bottom) = (x - 3.0, x + 3.0, y - 3.0, y + 3.0);
    format!(
        "<path class=\"gone\" d=\"M{left:.1} {top}L{right:.1} {bottom}M{left:.1} {bottom}L{right:.1} {top}\"><title>run {number}: no value</title></path>"
    )
}

/// A point, in another shape once the colours are used up.
fn shape(kind: usize, x: f64, y: f64) -> String {
    match kind % 4 {
        0 => format!("<circle class=\"point\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>"),
        1 => format!(
            "<rect class=\"point\" x=\"{:.1}\" y=\"{:.1}\" width=\"6.4\" height=\"6.4\"/>",
            x - 3.2,
            y - 3.2
        ),
        2 => format!(
            "<path class=\"point\" d=\"M{x:.1} {:.1}L{:.1} {:.1}H{:.1}Z\"/>",
            y - 4.2,
            x + 4.0,
            y + 3.0,
            x - 4.0
        ),
        _ => format!(
            "<path class=\"point\" d=\"M{x:.1} {:.1}L{:.1} {y:.1}L{x:.1} {:.1}L{:.1} {y:.1}Z\"/>",
            y - 4.6,
            x + 4.2,
            y + 4.6,
            x - 4.2
        ),
    }
}

/// A part of a bar: what it is, the class of its colour, and its share.
pub(super) struct Part {
    pub label: String,
    pub class: String,
    pub share: f64,
}

/// Shares of variation, one beside the other in one bar, with a legend.
pub(super) fn shares(parts: &[Part]) -> String {
    let all: f64 = parts.iter().map(|part| part.share).sum();
    if all <= 0.0 {
        return String::new();
    }
    let (mut bar, mut legend, mut from) = (String::new(), String::new(), 0.0);
    for part in parts {
        let width = part.share / all * 1_000.0;
        let label = escaped(&part.label);
        let share = percent(part.share);
        let _ = write!(
            bar,
            "<rect class=\"part {}\" x=\"{from:.1}\" y=\"0\" width=\"{width:.1}\" height=\"20\"><title>{label}: {share}</title></rect>",
            part.class
        );
        let _ = write!(legend, "<li class=\"{}\">■ <span>{label} {share}</span></li>", part.class);
        from += width;
    }
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 1000 20\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Shares of variation\">{bar}</svg>\n\
         <ul class=\"legend\">{legend}</ul>\n"
    )
}

fn figure(caption: &str, height: f64, drawn: &str) -> String {
    let caption = escaped(caption);
    format!(
        "<figure><figcaption>{caption}</figcaption><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{caption}\">{drawn}</svg></figure>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within_the_axis() {
        for (low, high, expected) in [
            (0.0, 100.0, vec![0.0, 50.0, 100.0]),
            (1_230.0, 1_251.0, vec![1_230.0, 1_240.0, 1_250.0]),
            (0.011, 0.019, vec![0.012, 0.014, 0.016, 0.018]),
        ] {
            let ticks = Axis { low, high, from: 0.0, to: 1.0 }.ticks();
            let near =
                ticks.iter().zip(&expected).all(|(own, expected)| (own - expected).abs() < 1e-9);
            assert!(ticks.len() == expected.len() && near, "{ticks:?}");
        }
        assert!(Axis::around([f64::NAN].into_iter(), 0.0, 1.0).is_none());
        let same = Axis::around([0.0, 0.0].into_iter(), 0.0, 1.0).expect("an axis");
        assert!((same.at(0.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn parts_of_a_bar_fill_it() {
        let part = |share: f64| Part { label: "<x>".into(), class: "c1".into(), share };
        let drawn = shares(&[part(0.25), part(0.75)]);
        assert!(drawn.contains("width=\"250.0\"") && drawn.contains("x=\"250.0\""), "{drawn}");
        assert!(!drawn.contains("<x>"));
        assert_eq!(shares(&[part(0.0)]), "");
    }
}
