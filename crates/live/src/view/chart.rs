//! Curves over time in braille dots, two by four in a character, and small ones in blocks. Pure.

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use super::paint::{Paint, below, clock, top, width};
use crate::browse::Browse;
use crate::state::{LiveState, Span};

/// Columns of the labels at the left.
const LABELS: u16 = 9;
/// Columns of a curve's name after its last dot.
const NAME: u16 = 5;

/// Seconds of the shorter window.
const MINUTE_S: f64 = 60.0;

pub struct Curve<'a> {
    /// Its name, at most four characters.
    pub name: &'a str,
    /// Its values by column of dots; `None`: there is none.
    pub values: Vec<Option<f64>>,
    pub style: Style,
    /// Whether only every fourth dot is shown: of what was planned.
    pub is_dotted: bool,
}

/// From and to which second of the load a chart goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    pub from_s: f64,
    pub to_s: f64,
}

/// How several points in one column become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    Highest,
    Mean,
}

/// From and to which second charts go: the whole load, or its last minute.
pub fn window(state: &LiveState, browse: &Browse) -> Window {
    let last = state.history.last().map_or(0.0, |point| f64::from(point.second + 1));
    if browse.last_minute {
        return Window { from_s: (last - MINUTE_S).max(0.0), to_s: last.max(MINUTE_S) };
    }
    let planned = state.length_s().map(|length| length + state.stood_still_s());
    Window { from_s: 0.0, to_s: planned.unwrap_or(MINUTE_S).max(last) }
}

/// Columns of dots that a chart of so many columns has.
pub fn dots(columns: u16) -> usize {
    2 * usize::from(columns.saturating_sub(LABELS + NAME))
}

/// A value for each column of dots.
pub fn columns<P: Span>(
    points: &[P],
    window: Window,
    dots: usize,
    of: Of,
    value: impl Fn(&P) -> f64,
) -> Vec<Option<f64>> {
    let mut sums = vec![(0.0f64, 0u32); dots];
    let length = (window.to_s - window.from_s).max(1.0);
    let column = |second: f64| (second - window.from_s) / length * dots as f64;
    for point in points {
        let begins = f64::from(point.second());
        let (first, last) = (column(begins).floor(), column(begins + point.length_s()).ceil());
        if last <= 0.0 || first >= dots as f64 {
            continue;
        }
        // A point that begins within a column belongs to it; the next one begins where this one ends.
        let (first, last) = (first.max(0.0) as usize, (last as usize).saturating_sub(1));
        for (sum, number) in &mut sums[first..=last.clamp(first, dots - 1)] {
            *sum = match of {
                Of::Highest => sum.max(value(point)),
                Of::Mean => *sum + value(point),
            };
            *number += 1;
        }
    }
    let value = |(sum, number): (f64, u32)| match (number, of) {
        (0, _) => None,
        (_, Of::Highest) => Some(sum),
        (_, Of::Mean) => Some(sum / f64::from(number)),
    };
    sums.into_iter().map(value).collect()
}

/// The least of 1, 2 and 5 times a power of ten that is no less.
fn nice(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| *step >= value * 0.999_999).unwrap_or(10.0 * power)
}

/// Draws curves on a common axis from 0, below a title.
pub fn chart(
    paint: &mut Paint<'_>,
    area: Rect,
    title: &[(&str, Style)],
    curves: &[Curve<'_>],
    window: Window,
    unit: fn(f64) -> String,
) {
    paint.texts(area, 0, 0, title);
    let plot = below(area, 1);
    if plot.height < 3 || plot.width < LABELS + NAME + 4 {
        return;
    }
    let plot = top(plot, plot.height - 1);
    let highest = curves.iter().flat_map(|curve| curve.values.iter().flatten());
    let highest = nice(highest.fold(0.0, |a: f64, b| a.max(*b)));
    let dim = paint.theme.dim();
    paint.right(plot, LABELS - 1, 0, &unit(highest), dim);
    paint.right(plot, LABELS - 1, plot.height - 1, "0", dim);
    if plot.height >= 9 {
        paint.right(plot, LABELS - 1, plot.height / 2, &unit(highest / 2.0), dim);
    }
    let axis = Rect { y: plot.y + plot.height, height: 1, ..plot };
    paint.text(axis, LABELS, 0, &clock(window.from_s), dim);
    paint.right(axis, axis.width.saturating_sub(NAME), 0, &clock(window.to_s), dim);
    let canvas = Rect { x: plot.x + LABELS, width: plot.width - LABELS - NAME, ..plot };
    let mut taken = Vec::new();
    for curve in curves {
        let end = draw(paint, canvas, curve, highest);
        name(paint, plot, canvas, curve, end, &mut taken);
    }
}

/// Draws a curve; the character in which it ends.
fn draw(
    paint: &mut Paint<'_>,
    canvas: Rect,
    curve: &Curve<'_>,
    highest: f64,
) -> Option<(u16, u16)> {
    let rows = 4 * canvas.height;
    let (mut before, mut end) = (None, None);
    for (column, value) in curve.values.iter().enumerate() {
        let Some(value) = value else {
            before = None;
            continue;
        };
        let part = (value / highest).clamp(0.0, 1.0);
        let y = rows - 1 - (part * f64::from(rows - 1)).round() as u16;
        let x = column as u16;
        let (from, to) = match before {
            Some(last) if !curve.is_dotted => (y.min(last), y.max(last)),
            _ => (y, y),
        };
        before = Some(y);
        if !curve.is_dotted || column.is_multiple_of(4) {
            (from..=to).for_each(|y| dot(paint, canvas, x, y, curve.style));
        }
        end = Some((x / 2, y / 4));
    }
    end
}

fn dot(paint: &mut Paint<'_>, canvas: Rect, x: u16, y: u16, style: Style) {
    const DOTS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
    let Some(cell) = paint.buffer.cell_mut((canvas.x + x / 2, canvas.y + y / 4)) else { return };
    let there = cell.symbol().chars().next().map_or(0, u32::from);
    let there = if (0x2800..0x2900).contains(&there) { there } else { 0x2800 };
    let with = there | DOTS[usize::from(x % 2)][usize::from(y % 4)];
    cell.set_char(char::from_u32(with).unwrap_or(' ')).set_style(style);
}

/// Writes a curve's name beside its end, in the nearest row that is free.
fn name(
    paint: &mut Paint<'_>,
    plot: Rect,
    canvas: Rect,
    curve: &Curve<'_>,
    end: Option<(u16, u16)>,
    taken: &mut Vec<u16>,
) {
    let Some((x, y)) = end else { return };
    let free =
        |row: &i32| (0..i32::from(plot.height)).contains(row) && !taken.contains(&(*row as u16));
    let near = (0..i32::from(plot.height)).flat_map(|off| [i32::from(y) - off, i32::from(y) + off]);
    let Some(row) = near.into_iter().find(free).map(|row| row as u16) else { return };
    taken.push(row);
    let at = canvas.x - plot.x + x + 1;
    let room = plot.width.saturating_sub(width(curve.name));
    paint.text(plot, at.min(room), row, curve.name, curve.style);
}

/// Values as blocks, the highest as a full one.
pub fn blocks(values: impl Iterator<Item = f64> + Clone) -> String {
    let highest = values.clone().fold(0.0, f64::max);
    blocks_up_to(values, highest)
}

/// Values as blocks, one of so much as a full one.
pub fn blocks_up_to(values: impl Iterator<Item = f64>, highest: f64) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let block = |value: f64| {
        if value <= 0.0 {
            return ' ';
        }
        BLOCKS[((value / highest * 8.0).ceil() as usize).clamp(1, 8) - 1]
    };
    values.map(block).collect()
}

#[cfg(test)]
mod tests {
    use squall_metrics::Quantities;

    use crate::state::Point;

    use super::*;

    fn points(values: &[u64]) -> Vec<Point> {
        let seconds = (0..).zip(values);
        let point = |(second, requests): (u32, &u64)| Point {
            second,
            seconds: 1,
            quantities: Quantities { requests: *requests, ..Quantities::default() },
            ..Point::default()
        };
        seconds.map(point).collect()
    }

    #[test]
    fn seconds_become_columns_of_dots() {
        let of = |values: &[u64], to_s, dots, of| {
            columns(&points(values), Window { from_s: 0.0, to_s }, dots, of, Point::rate)
        };
        let some = |values: &[f64]| values.iter().map(|value| Some(*value)).collect::<Vec<_>>();
        // Two dots a second, and nothing yet of what is to come.
        assert_eq!(of(&[1, 2], 3.0, 6, Of::Mean)[..4], some(&[1.0, 1.0, 2.0, 2.0]));
        assert_eq!(of(&[1, 2], 3.0, 6, Of::Mean)[4..], [None, None]);
        // Two seconds a dot.
        assert_eq!(of(&[1, 2, 3, 5], 4.0, 2, Of::Mean), some(&[1.5, 4.0]));
        assert_eq!(of(&[1, 2, 3, 5], 4.0, 2, Of::Highest), some(&[2.0, 5.0]));
        let last = Window { from_s: 2.0, to_s: 4.0 };
        assert_eq!(
            columns(&points(&[1, 2, 3, 5]), last, 2, Of::Mean, Point::rate),
            some(&[3.0, 5.0])
        );
    }

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(
            [0.0, 1.0, 1.2, 37.0, 999.0, 1_000.0].map(nice),
            [1.0, 1.0, 2.0, 50.0, 1_000.0, 1_000.0]
        );
    }

    #[test]
    fn small_curves_have_eight_heights() {
        assert_eq!(blocks([0.0, 1.0, 4.0, 8.0].into_iter()), " ▁▄█");
    }
}
