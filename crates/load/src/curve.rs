//! What a load asks for over the time of a run, as a line that is drawn and read by the second.

use crate::time::Nanos;

/// Seconds to nanoseconds.
const SECOND: f64 = 1e9;

/// Users, or arrivals a second, over time: straight from point to point. Two points at the same time are a
/// jump; before the first one the value is 0, after the last one it stays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// Seconds after the start of the run, ascending, and values.
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// A curve of points in seconds; one whose time is before that of the point before it is left out.
    pub fn new(points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
        let mut curve = Curve::default();
        for (at, value) in points {
            curve.push(at, value);
        }
        curve
    }

    /// The part (from 0 to 1) that a scenario has of a load, which starts at `start` of the run's clock and
    /// ends, if it does, at `end`. Times of points are since its start.
    pub fn of_load(
        points: impl Iterator<Item = (Nanos, f64)>,
        part: f64,
        start: Nanos,
        end: Option<Nanos>,
    ) -> Curve {
        let seconds = |at: Nanos| at as f64 / SECOND;
        let points = points.map(|(at, value)| (seconds(start.saturating_add(at)), value * part));
        let mut curve = Curve::new(points);
        if let Some(end) = end.map(seconds) {
            let value = curve.before(end);
            curve.points.retain(|(at, _)| *at < end);
            curve.push(end, value);
            curve.push(end, 0.0);
        }
        curve
    }

    /// Adds a point behind the others. Of points in a row with the same value only the outer ones are kept.
    fn push(&mut self, at: f64, value: f64) {
        if self.points.last().is_some_and(|(last, _)| at < *last) {
            return;
        }
        if let [.., (_, first), second] = &mut self.points[..]
            && *first == value
            && second.1 == value
        {
            second.0 = at;
            return;
        }
        self.points.push((at, value));
    }

    /// Its points: seconds after the start of the run, and values.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The value from a time on, in seconds: behind a jump.
    fn after(&self, time: f64) -> f64 {
        let next = self.points.partition_point(|(at, _)| *at <= time);
        self.between(next, time)
    }

    /// The value up to a time, in seconds: before a jump.
    fn before(&self, time: f64) -> f64 {
        let next = self.points.partition_point(|(at, _)| *at < time);
        self.between(next, time)
    }

    /// The value at a time on the line that ends at point `next`.
    fn between(&self, next: usize, time: f64) -> f64 {
        match (next.checked_sub(1).map(|last| self.points[last]), self.points.get(next)) {
            (None, _) => 0.0,
            (Some((_, value)), None) => value,
            (Some((from, low)), Some((to, high))) => {
                low + (high - low) * (time - from) / (to - from)
            }
        }
    }

    /// The times within an interval, its ends left out, at which the line has another slope.
    fn bends(&self, from: f64, to: f64) -> &[(f64, f64)] {
        let first = self.points.partition_point(|(at, _)| *at <= from);
        let end = self.points.partition_point(|(at, _)| *at < to);
        &self.points[first..end.max(first)]
    }

    /// The highest value from one time to another, in seconds, a jump at the end left out.
    pub fn most(&self, from: f64, to: f64) -> f64 {
        let ends = [self.after(from), self.before(to)].into_iter();
        ends.chain(self.bends(from, to).iter().map(|(_, value)| *value)).fold(0.0, f64::max)
    }

    /// The integral from one time to another, in seconds: of a rate, the arrivals that are due.
    pub fn sum(&self, from: f64, to: f64) -> f64 {
        let inner = self.bends(from, to).iter().copied();
        let points = [(from, self.after(from))].into_iter().chain(inner);
        let points: Vec<(f64, f64)> = points.chain([(to, self.before(to))]).collect();
        let areas =
            points.windows(2).map(|pair| (pair[0].1 + pair[1].1) / 2.0 * (pair[1].0 - pair[0].0));
        areas.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rate, Users};
    use proptest::prelude::*;

    const S: Nanos = 1_000_000_000;

    #[test]
    fn a_ramp_a_plateau_and_an_end() {
        let users = Users::ramp(10, 4 * S).expect("a good shape");
        let curve = Curve::of_load(users.points(), 1.0, 2 * S, Some(10 * S));
        assert_eq!(curve.points(), [(2.0, 0.0), (6.0, 10.0), (10.0, 10.0), (10.0, 0.0)]);
        let by_second: Vec<f64> =
            (0..12).map(|second| curve.most(f64::from(second), f64::from(second + 1))).collect();
        let expected = [0.0, 0.0, 2.5, 5.0, 7.5, 10.0, 10.0, 10.0, 10.0, 10.0, 0.0, 0.0];
        assert_eq!(by_second, expected);
    }

    #[test]
    fn jumps_count_from_their_moment_on() {
        let stages = [(10.0, 0), (10.0, 2 * S), (50.0, 0), (50.0, S), (0.0, 0)];
        let rate = Rate::stages(0.0, &stages).expect("a good shape");
        let curve = Curve::of_load(rate.points(), 0.5, 0, Some(3 * S));
        let by_second: Vec<f64> =
            (0..4).map(|second| curve.sum(f64::from(second), f64::from(second + 1))).collect();
        assert_eq!(by_second, [5.0, 5.0, 25.0, 0.0]);
        assert_eq!(curve.most(0.0, 2.0), 5.0);
        assert_eq!(curve.most(1.5, 2.5), 25.0);
    }

    #[test]
    fn a_load_that_is_cut_short_ends_where_it_was() {
        let users = Users::ramp(10, 10 * S).expect("a good shape");
        let curve = Curve::of_load(users.points(), 1.0, 0, Some(5 * S));
        assert_eq!(curve.points(), [(0.0, 0.0), (5.0, 5.0), (5.0, 0.0)]);
        assert_eq!(Curve::default().most(0.0, 9.0), 0.0);
    }

    proptest! {
        /// What it says of users is what is asked for, but for the fraction of one.
        #[test]
        fn it_is_the_load(
            stages in prop::collection::vec((0u32..40, 0u64..5), 0..6),
            second in 0u32..20,
        ) {
            let stages: Vec<(f64, Nanos)> =
                stages.into_iter().map(|(level, length)| (f64::from(level), length * S)).collect();
            let users = Users::stages(3, &stages).expect("a good shape");
            let curve = Curve::of_load(users.points(), 1.0, 0, None);
            let from = Nanos::from(second) * S;
            let most = (0..100).map(|part| users.users_at(from + part * S / 100)).max().unwrap_or(0);
            let planned = curve.most(f64::from(second), f64::from(second + 1));
            prop_assert!((most as f64 - planned.ceil()).abs() <= 1.0, "{} {}", most, planned);
            let rate = Rate::stages(3.0, &stages).expect("a good shape");
            let curve = Curve::of_load(rate.points(), 1.0, 0, None);
            let due = rate.due_before(from + S) - rate.due_before(from);
            let planned = curve.sum(f64::from(second), f64::from(second + 1));
            prop_assert!((due - planned).abs() < 1e-6, "{} {}", due, planned);
        }
    }
}
