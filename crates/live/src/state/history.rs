//! A run second by second, as charts show it: in long runs a point covers several seconds. Pure.

use squall_analysis::SeriesRow;

/// Most points; where there would be more, neighbours become one.
const MAX_POINTS: usize = 1_200;

/// A second of the load, or several of them. Times are in µs where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point {
    /// The first second, from 0.
    pub second: u32,
    /// How many seconds it covers.
    pub seconds: u32,
    /// Most users active.
    pub users: u64,
    /// Most of them that closed workloads had.
    pub closed_users: u64,
    /// Most requests in flight.
    pub in_flight: u64,
    /// Requests that have ended.
    pub requests: u64,
    /// Those of them that were errors.
    pub errors: u64,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Median latency.
    pub p50_us: u64,
    /// 90th percentile of the latency.
    pub p90_us: u64,
    /// 99th percentile of the latency.
    pub p99_us: u64,
    /// Arrivals dropped because no user was free.
    pub arrivals_dropped: u64,
    /// 99th percentile of the receive delay.
    pub receive_delay_p99_us: u64,
    /// 99th percentile of the send delay.
    pub send_delay_p99_us: u64,
    /// The longest iteration of an event loop.
    pub loop_iteration_max_us: u64,
    /// The longest time for which an event loop may have stood still.
    pub longest_stall_us: u64,
    /// Time in which workers were ready to run but had no CPU, in ns.
    pub starved_ns: u64,
    /// CPU time of the busiest worker, in ns per second.
    pub busiest_ns: u64,
    /// Iterations of open workloads that began: arrivals that found a user.
    pub arrivals: u64,
    /// Arrivals that the plan wanted, of all open workloads.
    pub planned_arrivals: f64,
    /// Users that the plan wanted, of all closed workloads.
    pub planned_users: f64,
}

impl Point {
    /// What the workers recorded; nothing of the plan yet.
    pub fn of(row: &SeriesRow) -> Point {
        Point {
            second: row.second,
            seconds: row.seconds,
            users: row.users,
            requests: row.requests,
            errors: row.errors,
            bytes_in: row.bytes_in,
            bytes_out: row.bytes_out,
            p50_us: row.p50_us,
            p90_us: row.p90_us,
            p99_us: row.p99_us,
            arrivals_dropped: row.arrivals_dropped,
            receive_delay_p99_us: row.receive_delay_p99_us,
            send_delay_p99_us: row.send_delay_p99_us,
            loop_iteration_max_us: row.loop_iteration_max_us,
            longest_stall_us: row.longest_stall_us,
            starved_ns: row.starved_ns,
            busiest_ns: row.busiest_ns,
            ..Point::default()
        }
    }

    /// What the rules of validity look at.
    pub fn row(&self) -> SeriesRow {
        SeriesRow {
            second: self.second,
            seconds: self.seconds,
            users: self.users,
            requests: self.requests,
            errors: self.errors,
            arrivals_dropped: self.arrivals_dropped,
            receive_delay_p99_us: self.receive_delay_p99_us,
            send_delay_p99_us: self.send_delay_p99_us,
            loop_iteration_max_us: self.loop_iteration_max_us,
            longest_stall_us: self.longest_stall_us,
            starved_ns: self.starved_ns,
            busiest_ns: self.busiest_ns,
            ..SeriesRow::default()
        }
    }

    /// How long it is, in s.
    pub fn length_s(&self) -> f64 {
        f64::from(self.seconds.max(1))
    }

    /// Requests a second.
    pub fn rate(&self) -> f64 {
        self.requests as f64 / self.length_s()
    }

    /// This and the point after it. Percentiles are not averaged: the higher one counts.
    fn with(self, next: Point) -> Point {
        Point {
            second: self.second,
            seconds: self.seconds + next.seconds,
            users: self.users.max(next.users),
            closed_users: self.closed_users.max(next.closed_users),
            in_flight: self.in_flight.max(next.in_flight),
            requests: self.requests.saturating_add(next.requests),
            errors: self.errors.saturating_add(next.errors),
            bytes_in: self.bytes_in.saturating_add(next.bytes_in),
            bytes_out: self.bytes_out.saturating_add(next.bytes_out),
            p50_us: self.p50_us.max(next.p50_us),
            p90_us: self.p90_us.max(next.p90_us),
            p99_us: self.p99_us.max(next.p99_us),
            arrivals_dropped: self.arrivals_dropped.saturating_add(next.arrivals_dropped),
            receive_delay_p99_us: self.receive_delay_p99_us.max(next.receive_delay_p99_us),
            send_delay_p99_us: self.send_delay_p99_us.max(next.send_delay_p99_us),
            loop_iteration_max_us: self.loop_iteration_max_us.max(next.loop_iteration_max_us),
            longest_stall_us: self.longest_stall_us.max(next.longest_stall_us),
            starved_ns: self.starved_ns.saturating_add(next.starved_ns),
            busiest_ns: self.busiest_ns.max(next.busiest_ns),
            arrivals: self.arrivals.saturating_add(next.arrivals),
            planned_arrivals: self.planned_arrivals + next.planned_arrivals,
            planned_users: self.planned_users.max(next.planned_users),
        }
    }
}

/// The points of a run, and its last seconds one by one.
#[derive(Debug, Default)]
pub struct History {
    points: Vec<Point>,
    /// Seconds that a point covers.
    resolution: u32,
    /// The last seconds, the latest last.
    lately: Vec<Point>,
}

/// Seconds that are known one by one.
const LATELY: usize = 60;

impl History {
    /// Adds a second. If it is there already, a worker was late: what was recorded is known in full now, and only of
    /// the load it brings the rest.
    pub fn add(&mut self, mut point: Point) {
        self.resolution = self.resolution.max(1);
        let second = point.second;
        match self.lately.iter().position(|own| own.second == second) {
            Some(at) => {
                let before = self.lately[at];
                point.arrivals += before.arrivals;
                point.closed_users += before.closed_users;
                point.in_flight += before.in_flight;
                self.lately[at] = point;
                // Of points of several seconds the earlier numbers stay: they are for charts.
                let same = self.points.iter_mut().rev().find(|own| own.second == second);
                same.filter(|own| own.seconds <= 1).into_iter().for_each(|own| *own = point);
                return;
            }
            None => self.lately.push(point),
        }
        if self.lately.len() > LATELY {
            self.lately.remove(0);
        }
        let begins = second / self.resolution * self.resolution;
        match self.points.last_mut() {
            Some(last) if last.second / self.resolution * self.resolution == begins => {
                *last = last.with(point);
            }
            _ => self.points.push(point),
        }
        if self.points.len() > MAX_POINTS {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.resolution *= 2;
        let mut halved: Vec<Point> = Vec::with_capacity(MAX_POINTS);
        for point in &self.points {
            match halved.last_mut() {
                Some(last) if last.second / self.resolution == point.second / self.resolution => {
                    *last = last.with(*point);
                }
                _ => halved.push(*point),
            }
        }
        self.points = halved;
    }

    /// Seconds that a point covers.
    pub fn resolution(&self) -> u32 {
        self.resolution.max(1)
    }

    /// The points, in order.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The last seconds one by one, at most 60, in order.
    pub fn lately(&self) -> &[Point] {
        &self.lately
    }

    /// The last second.
    pub fn last(&self) -> Option<&Point> {
        self.lately.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(second: u32, requests: u64) -> Point {
        let (p99_us, arrivals) = (requests, requests);
        Point { second, seconds: 1, requests, p99_us, arrivals, ..Point::default() }
    }

    #[test]
    fn a_long_run_has_few_points_and_loses_nothing() {
        let mut history = History::default();
        (0..100_000).for_each(|at| history.add(second(at, 2)));
        assert!((600..=MAX_POINTS).contains(&history.points().len()), "{}", history.points().len());
        let requests: u64 = history.points().iter().map(|point| point.requests).sum();
        let seconds: u32 = history.points().iter().map(|point| point.seconds).sum();
        assert_eq!((requests, seconds, history.lately().len()), (200_000, 100_000, LATELY));
        assert!(history.points().iter().all(|point| point.rate() == 2.0 && point.p99_us == 2));
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
