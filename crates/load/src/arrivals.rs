//! Open loads: when arrival number n is due.

use crate::line::Line;
use crate::random::Random;
use crate::{Nanos, Segment, ShapeError};

const SECOND: f64 = 1e9;

/// Arrivals a second, over time, and their number up to any time in closed form.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    line: Line,
    /// Arrivals due before each point of the line.
    sums: Vec<f64>,
}

impl Rate {
    /// From 0 to so many arrivals a second over `ramp`, and on at that rate.
    ///
    /// # Errors
    /// The rate is out of bounds.
    pub fn ramp(rate: f64, ramp: Nanos) -> Result<Rate, ShapeError> {
        Rate::stages(0.0, &[(rate, ramp)])
    }

    /// From `start` a second through stages of (rate at the end, length). A length of 0 is a jump.
    ///
    /// # Errors
    /// A rate is out of bounds.
    pub fn stages(start: f64, stages: &[(f64, Nanos)]) -> Result<Rate, ShapeError> {
        let line = Line::through(start, stages)?;
        let mut sums = vec![0.0];
        for pair in line.points().windows(2) {
            let ((from, low), (to, high)) = (pair[0], pair[1]);
            let before = sums[sums.len() - 1];
            sums.push(before + (low + high) / 2.0 * ((to - from) as f64 / SECOND));
        }
        Ok(Rate { line, sums })
    }

    /// Arrivals due before a time: the integral of the rate.
    pub fn due_before(&self, time: Nanos) -> f64 {
        let points = self.line.points();
        let at = points.partition_point(|(at, _)| *at <= time).saturating_sub(1);
        let (from, low) = points[at];
        let length = time.saturating_sub(from) as f64 / SECOND;
        self.sums[at] + (low + self.line.at(time)) / 2.0 * length
    }

    /// When the integral of the rate reaches `sum`. `None`: never.
    pub fn time_of(&self, sum: f64) -> Option<Nanos> {
        let points = self.line.points();
        // The first stretch at whose end more than `sum` are due.
        let stretch = (1..points.len()).find(|index| self.sums[*index] > sum);
        let Some(end) = stretch else {
            let last = points.len() - 1;
            let (from, rate) = points[last];
            if rate <= 0.0 {
                return None;
            }
            return Some(from + ((sum - self.sums[last]) / rate * SECOND).round() as Nanos);
        };
        let ((from, low), (to, high)) = (points[end - 1], points[end]);
        let length = (to - from) as f64 / SECOND;
        let rest = sum - self.sums[end - 1];
        // low t + slope t^2 / 2 = rest, solved so that it holds for a slope of 0 as well.
        let slope = (high - low) / length;
        let root = (low * low + 2.0 * slope * rest).max(0.0).sqrt();
        let seconds = if root + low > 0.0 { 2.0 * rest / (low + root) } else { 0.0 };
        Some(from + (seconds.min(length) * SECOND).round() as Nanos)
    }

    /// The highest rate.
    pub fn most(&self) -> f64 {
        self.line.most()
    }
}

/// How arrivals are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// Arrival n is due when the integral of the rate reaches n.
    Even,
    /// A Poisson process: the integral of the rate between two arrivals is exponentially distributed
    /// with mean 1 (the time-change theorem for point processes).
    Poisson {
        /// What it is drawn from.
        seed: u64,
    },
}

/// An arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Its number, from 0, over all shares.
    pub index: u64,
    /// When it is due, since the start of the load.
    pub due: Nanos,
}

/// The arrivals of a share, in order. The whole stream follows from rate, pattern and seed; a share
/// takes what its segment owns, so that the shares of any split add up to the same stream.
#[derive(Debug, Clone)]
pub struct Arrivals {
    rate: Rate,
    pattern: Pattern,
    segment: Segment,
    /// Even: which of the segment's arrivals comes next. Poisson: which of all.
    next: u64,
    /// Poisson: the integral of the rate up to the arrival before `next`.
    sum: f64,
    ahead: Option<Arrival>,
}

impl Arrivals {
    /// The arrivals of a share.
    pub fn new(rate: Rate, pattern: Pattern, segment: Segment) -> Arrivals {
        let mut arrivals = Arrivals { rate, pattern, segment, next: 0, sum: 0.0, ahead: None };
        arrivals.ahead = arrivals.find();
        arrivals
    }

    /// The next arrival, which stays the next. `None`: there are no more.
    pub fn peek(&self) -> Option<Arrival> {
        self.ahead
    }

    fn find(&mut self) -> Option<Arrival> {
        match self.pattern {
            Pattern::Even => {
                let index = self.segment.nth(self.next);
                self.next += 1;
                let due = if index == u64::MAX { None } else { self.rate.time_of(index as f64) };
                due.map(|due| Arrival { index, due })
            }
            Pattern::Poisson { seed } => loop {
                let index = self.next;
                self.next += 1;
                self.sum += Random::of(seed, index, 0, 0).exponential(1.0);
                let due = self.rate.time_of(self.sum)?;
                if self.segment.owns(index) {
                    return Some(Arrival { index, due });
                }
            },
        }
    }
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let found = self.ahead.take();
        if found.is_some() {
            self.ahead = self.find();
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: Nanos = 1_000_000_000;

    fn due(rate: Rate, pattern: Pattern, segment: Segment, most: usize) -> Vec<Arrival> {
        Arrivals::new(rate, pattern, segment).take(most).collect()
    }

    #[test]
    fn even_arrivals_at_a_constant_rate() {
        let rate = Rate::ramp(4.0, 0).expect("a good shape");
        let times: Vec<_> =
            due(rate, Pattern::Even, Segment::all(), 5).iter().map(|a| a.due).collect();
        assert_eq!(times, [0, S / 4, S / 2, 3 * S / 4, S]);
    }

    #[test]
    fn a_ramp_reaches_its_rate() {
        let rate = Rate::ramp(100.0, 10 * S).expect("a good shape");
        assert_eq!(rate.due_before(10 * S), 500.0);
        assert_eq!(rate.due_before(20 * S), 1_500.0);
        assert_eq!(rate.time_of(500.0), Some(10 * S));
        assert_eq!(rate.time_of(125.0), Some(5 * S));
        assert_eq!(rate.time_of(1_500.0), Some(20 * S));
    }

    #[test]
    fn a_rate_that_falls_to_nothing_has_a_last_arrival() {
        let rate = Rate::stages(10.0, &[(0.0, 2 * S)]).expect("a good shape");
        let all = due(rate.clone(), Pattern::Even, Segment::all(), 100);
        assert_eq!(all.len(), 10);
        assert!(all.iter().all(|arrival| arrival.due <= 2 * S));
        assert_eq!(rate.time_of(10.5), None);
    }

    #[test]
    fn a_pause_between_two_jumps() {
        let stages = [(5.0, S), (0.0, 0), (0.0, 3 * S), (5.0, 0)];
        let rate = Rate::stages(5.0, &stages).expect("a good shape");
        assert_eq!(rate.time_of(4.0), Some(4 * S / 5));
        assert_eq!(rate.time_of(5.0), Some(4 * S), "the first one after the pause");
    }

    #[test]
    fn poisson_arrivals_have_the_mean_and_variance_of_a_poisson_process() {
        let rate = Rate::ramp(1_000.0, 0).expect("a good shape");
        let all = due(rate, Pattern::Poisson { seed: 7 }, Segment::all(), 200_000);
        let seconds = all[all.len() - 1].due as f64 / SECOND;
        assert!((all.len() as f64 / seconds - 1_000.0).abs() < 10.0);
        let mut counts = vec![0f64; seconds as usize];
        for arrival in &all {
            if let Some(count) = counts.get_mut((arrival.due / S) as usize) {
                *count += 1.0;
            }
        }
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / counts.len() as f64;
        assert!((variance / mean - 1.0).abs() < 0.4, "variance {variance}, mean {mean}");
    }

    proptest! {
        #[test]
        fn shares_add_up_to_the_whole(
            start in 0f64..50.0,
            stages in prop::collection::vec((0f64..200.0, 0u64..10), 1..5),
            of in 1u32..6,
            seed in any::<u64>(),
            poisson in any::<bool>(),
        ) {
            let stages: Vec<_> = stages.into_iter().map(|(rate, s)| (rate, s * S)).collect();
            let rate = Rate::stages(start, &stages).expect("a good shape");
            let pattern = if poisson { Pattern::Poisson { seed } } else { Pattern::Even };
            let whole = due(rate.clone(), pattern, Segment::all(), 300);
            let mut shares: Vec<Arrival> = (0..of)
                .flat_map(|worker| due(rate.clone(), pattern, Segment::worker(worker, of), 300))
                .filter(|arrival| arrival.index < whole.len() as u64)
                .collect();
            shares.sort_by_key(|arrival| arrival.index);
            prop_assert_eq!(&shares, &whole);
            prop_assert!(whole.windows(2).all(|pair| pair[0].due <= pair[1].due));
        }

        #[test]
        fn time_and_number_are_inverse(
            start in 0f64..1_000.0,
            stages in prop::collection::vec((0f64..5_000.0, 0u64..100), 1..5),
            n in 0u64..1_000_000,
        ) {
            let stages: Vec<_> = stages.into_iter().map(|(rate, s)| (rate, s * S)).collect();
            let rate = Rate::stages(start, &stages).expect("a good shape");
            if let Some(time) = rate.time_of(n as f64).filter(|time| *time < 1_000_000 * S) {
                // A nanosecond's rounding is worth that much of an arrival.
                let slack = rate.most() * 2e-9 + 1e-6 * (1.0 + n as f64 * 1e-6);
                prop_assert!((rate.due_before(time) - n as f64).abs() <= slack + 1e-3);
            }
        }
    }
}
