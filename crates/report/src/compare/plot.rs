//! Pictures made of characters: where an interval lies, and a curve on one line; and how far pictures reach. Pure.

use super::document::ComparedValue;

/// Heights of a curve.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The range that pictures of several intervals share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    low: f64,
    high: f64,
}

/// From where to where a picture of changes reaches: it has 0, all changes, and the ends of their intervals, but no more than
/// three times the largest change to either side (at least 5%). An interval that says almost nothing would leave the others no
/// room.
pub(super) fn reach<'v>(values: impl Iterator<Item = &'v ComparedValue> + Clone) -> (f64, f64) {
    const TIMES: f64 = 3.0;
    const LEAST: f64 = 0.05;
    let changes = values.clone().filter_map(|own| own.change).map(f64::abs);
    let most = TIMES * changes.fold(LEAST / TIMES, f64::max);
    let all = values.flat_map(|own| [own.change, own.low, own.high]).flatten();
    let (low, high) = all.fold((0.0f64, 0.0f64), |(low, high), own| (low.min(own), high.max(own)));
    (low.max(-most), high.min(most))
}

impl Axis {
    /// One that has 0 and all of these values, and something to both sides of 0.
    pub(super) fn around(values: impl Iterator<Item = f64>) -> Axis {
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((0.0f64, 0.0f64), |(low, high), own| (low.min(own), high.max(own)));
        let room = ((high - low) * 0.05).max(0.001);
        Axis { low: low - room, high: high + room }
    }

    fn column(&self, value: f64, width: usize) -> usize {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        (share * (width - 1) as f64).round() as usize
    }

    /// An interval with its value in so many characters: `·│ ├─●──┤`. One that goes on beyond the axis has no end there.
    pub(super) fn interval(
        &self,
        value: f64,
        ends: (Option<f64>, Option<f64>),
        width: usize,
    ) -> String {
        let zero = self.column(0.0, width);
        let mut line: Vec<char> = (0..width).map(|at| if at == zero { '│' } else { ' ' }).collect();
        let is_known = ends.0.is_some() || ends.1.is_some();
        let low = ends.0.filter(|low| *low >= self.low);
        let high = ends.1.filter(|high| *high <= self.high);
        let from = low.map_or(0, |low| self.column(low, width));
        let to = high.map_or(width - 1, |high| self.column(high, width));
        if is_known {
            for own in &mut line[from..=to.max(from)] {
                *own = if *own == '│' { '┼' } else { '─' };
            }
        }
        if low.is_some() {
            line[from] = '├';
        }
        if high.is_some() {
            line[to] = '┤';
        }
        line[self.column(value, width)] = '●';
        line.into_iter().collect::<String>().trim_end().to_owned()
    }
}

/// Several curves on the same scale, from 0 to the largest of them, each in at most so many characters.
pub(super) fn curves(all: &[&[f64]], width: usize) -> Vec<String> {
    let most = all.iter().flat_map(|curve| curve.iter()).fold(0.0f64, |most, own| most.max(*own));
    let bar = |value: f64| {
        let at = if most > 0.0 { value / most * (BARS.len() - 1) as f64 } else { 0.0 };
        BARS[(at.round() as usize).min(BARS.len() - 1)]
    };
    let one = |curve: &&[f64]| {
        let width = width.min(curve.len());
        let part = |at: usize| {
            let part = &curve[at * curve.len() / width..(at + 1) * curve.len() / width];
            part.iter().fold(0.0f64, |most, own| most.max(*own))
        };
        (0..width).map(|at| bar(part(at))).collect()
    };
    all.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_lie_where_they_should() {
        let axis = Axis::around([-0.1, 0.1].into_iter());
        assert_eq!(axis.interval(0.05, (Some(0.02), Some(0.1)), 23), "           │ ├──●────┤");
        assert_eq!(axis.interval(0.0, (Some(-0.1), None), 23), " ├─────────●───────────");
        assert_eq!(axis.interval(0.0, (Some(-0.1), Some(9.0)), 23), " ├─────────●───────────");
        assert_eq!(Axis::around(std::iter::empty()).interval(0.0, (None, None), 5), "  ●");
    }

    #[test]
    fn an_interval_that_says_nothing_leaves_room_for_the_others() {
        let value = |change, low, high| ComparedValue {
            change: Some(change),
            low: Some(low),
            high: Some(high),
            ..ComparedValue::default()
        };
        let (known, open) = (value(0.1, -0.05, 0.2), value(0.0, -1.0, 1_537.0));
        assert_eq!(reach([&known].into_iter()), (-0.05, 0.2));
        let (low, high) = reach([&known, &open].into_iter());
        assert!((low + 0.3).abs() < 1e-9 && (high - 0.3).abs() < 1e-9, "{low} {high}");
        assert_eq!(reach([&value(0.001, -0.2, 0.2)].into_iter()), (-0.05, 0.05));
        assert_eq!(reach(std::iter::empty()), (0.0, 0.0));
    }

    #[test]
    fn curves_share_a_scale() {
        assert_eq!(curves(&[&[1.0, 2.0, 4.0], &[8.0, 0.0]], 10), ["▂▃▅", "█▁"]);
        assert_eq!(curves(&[&[1.0; 100], &[]], 4), ["████", ""]);
    }
}
