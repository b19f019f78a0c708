//! A run second by second: its numbers. Pure.

use std::ops::Deref;

use squall_analysis::SeriesRow;
use squall_metrics::Quantities;

use super::course::{Course, Span};

/// A second of the load, or several of them. It can be used as the [`Quantities`] that it has.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point {
    /// The first second, from 0.
    pub second: u32,
    pub seconds: u32,
    pub quantities: Quantities,
    /// See [`SeriesRow::longest_stall_us`].
    pub longest_stall_us: u64,
    /// Most users that closed workloads had.
    pub closed_users: u64,
    /// Iterations of open workloads that began: arrivals that found a user.
    pub arrivals: u64,
}

impl Deref for Point {
    type Target = Quantities;

    fn deref(&self) -> &Quantities {
        &self.quantities
    }
}

impl Point {
    /// The names of [`Point::values`].
    pub fn names() -> impl Iterator<Item = &'static str> {
        let quantities = Quantities::ALL.iter().map(|own| own.name);
        ["second", "seconds", "closed_users", "arrivals"].into_iter().chain(quantities)
    }

    pub fn values(&self) -> impl Iterator<Item = f64> {
        let own = [f64::from(self.second), f64::from(self.seconds)];
        let of_loads = [self.closed_users as f64, self.arrivals as f64];
        own.into_iter().chain(of_loads).chain(self.quantities.values())
    }

    /// What the rules of validity look at.
    pub fn row(&self) -> SeriesRow {
        SeriesRow {
            second: self.second,
            seconds: self.seconds,
            quantities: self.quantities,
            longest_stall_us: self.longest_stall_us,
            ..SeriesRow::default()
        }
    }

    pub fn rate(&self) -> f64 {
        self.requests as f64 / self.length_s()
    }
}

impl Span for Point {
    fn second(&self) -> u32 {
        self.second
    }

    fn seconds(&self) -> u32 {
        self.seconds
    }

    fn with(self, next: Point) -> Point {
        Point {
            second: self.second,
            seconds: self.seconds + next.seconds,
            quantities: self.quantities.with(&next.quantities),
            longest_stall_us: self.longest_stall_us.max(next.longest_stall_us),
            closed_users: self.closed_users.max(next.closed_users),
            arrivals: self.arrivals.saturating_add(next.arrivals),
        }
    }
}

/// The points of a run, and its last seconds one by one.
#[derive(Debug, Default)]
pub struct History {
    course: Course<Point>,
    /// The last seconds, the latest last.
    lately: Vec<Point>,
}

/// Seconds that are known one by one.
const LATELY: usize = 60;

impl History {
    /// Adds a second. If it is there already, a worker was late: what was recorded is known in full now, and only of
    /// the load it brings the rest.
    pub fn add(&mut self, mut point: Point) {
        if let Some(before) = self.lately.iter_mut().find(|own| own.second == point.second) {
            point.arrivals += before.arrivals;
            point.closed_users += before.closed_users;
            *before = point;
            // Of points of several seconds the earlier numbers stay: they are for charts.
            self.course.replace(point);
            return;
        }
        self.lately.push(point);
        if self.lately.len() > LATELY {
            self.lately.remove(0);
        }
        self.course.add(point);
    }

    /// Seconds that a point covers.
    pub fn resolution(&self) -> u32 {
        self.course.resolution()
    }

    /// The points, in order.
    pub fn points(&self) -> &[Point] {
        self.course.points()
    }

    /// The last seconds one by one, at most 60, in order.
    pub fn lately(&self) -> &[Point] {
        &self.lately
    }

    pub fn last(&self) -> Option<&Point> {
        self.lately.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::course::MAX_POINTS;

    fn second(second: u32, requests: u64) -> Point {
        let quantities = Quantities { requests, p99_us: requests as f64, ..Quantities::default() };
        Point { second, seconds: 1, quantities, arrivals: requests, ..Point::default() }
    }

    #[test]
    fn a_long_run_has_few_points_and_loses_nothing() {
        let mut history = History::default();
        (0..100_000).for_each(|at| history.add(second(at, 2)));
        assert!((600..=MAX_POINTS).contains(&history.points().len()), "{}", history.points().len());
        let requests: u64 = history.points().iter().map(|point| point.requests).sum();
        let seconds: u32 = history.points().iter().map(|point| point.seconds).sum();
        assert_eq!((requests, seconds, history.lately().len()), (200_000, 100_000, LATELY));
        assert!(history.points().iter().all(|point| point.rate() == 2.0 && point.p99_us == 2.0));
    }

    #[test]
    fn a_second_that_comes_again_counts_once() {
        let mut history = History::default();
        [(0, 5), (1, 3), (1, 4)].into_iter().for_each(|(at, n)| history.add(second(at, n)));
        let requests: Vec<u64> = history.points().iter().map(|point| point.requests).collect();
        assert_eq!(requests, [5, 4]);
        let arrivals: Vec<u64> = history.lately().iter().map(|point| point.arrivals).collect();
        assert_eq!(arrivals, [5, 3 + 4], "the rest of them");
        assert_eq!(history.last().map(|point| point.requests), Some(4));
    }
}
