//! A rate of arrivals over time, straight from point to point, and its integral in closed form.

use crate::error::ShapeError;
use crate::time::{MAX_TIME, Nanos, ends_of};

const SECOND: f64 = 1e9;

/// The highest rate, a second: ten nanoseconds apart, arrivals still have times of their own.
pub const MAX_RATE: f64 = 1e8;
/// The lowest rate above 0, a second: one arrival in 32 years.
pub const MIN_RATE: f64 = 1e-9;

/// Arrivals a second over time. Before the first point and after the last one the rate stays.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    points: Vec<Point>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    /// Times ascend; two at the same time are a jump.
    at: Nanos,
    rate: f64,
    /// Arrivals due before: the integral of the rate.
    sum: f64,
}

/// Where [`Rate::time_of`] was last: sums that ascend are then found in constant time, amortised.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RateCursor(u32);

impl Rate {
    /// From 0 to so many arrivals a second over `ramp`, and on at that rate.
    ///
    /// # Errors
    /// The rate is neither 0 nor from [`MIN_RATE`] to [`MAX_RATE`].
    pub fn ramp(rate: f64, ramp: Nanos) -> Result<Rate, ShapeError> {
        Rate::stages(0.0, &[(rate, ramp)])
    }

    /// From `start` a second through stages of (rate at the end, length). A length of 0 is a jump.
    ///
    /// # Errors
    /// A rate is neither 0 nor from [`MIN_RATE`] to [`MAX_RATE`], or the stages are longer than
    /// [`MAX_TIME`].
    pub fn stages(start: f64, stages: &[(f64, Nanos)]) -> Result<Rate, ShapeError> {
        let ends = ends_of(stages.iter().map(|(_, length)| *length))?;
        let mut last = Point { at: 0, rate: checked(start)?, sum: 0.0 };
        let mut points = vec![last];
        for ((rate, length), at) in stages.iter().zip(ends) {
            let rate = checked(*rate)?;
            let sum = last.sum + (last.rate + rate) / 2.0 * (*length as f64 / SECOND);
            last = Point { at, rate, sum };
            points.push(last);
        }
        Ok(Rate { points })
    }

    /// Arrivals due before a time: the integral of the rate.
    pub fn due_before(&self, time: Nanos) -> f64 {
        let after = self.points.partition_point(|point| point.at <= time);
        // The first point is at 0: there is one at or before any time.
        let from = self.points[after - 1];
        let seconds = (time - from.at) as f64 / SECOND;
        let rate = match self.points.get(after) {
            Some(to) => {
                let part = (time - from.at) as f64 / (to.at - from.at) as f64;
                from.rate + (to.rate - from.rate) * part
            }
            None => from.rate,
        };
        from.sum + (from.rate + rate) / 2.0 * seconds
    }

    /// When the integral of the rate reaches `sum` and goes on. `None`: not before [`MAX_TIME`].
    ///
    /// The cursor is where the call before this one has found its time: a sum at or above that one's
    /// costs only the stages that lie between, a smaller one a binary search.
    pub fn time_of(&self, cursor: &mut RateCursor, sum: f64) -> Option<Nanos> {
        let mut at = cursor.0 as usize;
        if self.points.get(at).is_none_or(|point| point.sum > sum) {
            at = self.points.partition_point(|point| point.sum <= sum).saturating_sub(1);
        }
        // The last point up to which no more than `sum` are due.
        while self.points.get(at + 1).is_some_and(|next| next.sum <= sum) {
            at += 1;
        }
        cursor.0 = at as u32;
        let from = self.points[at];
        let rest = (sum - from.sum).max(0.0);
        let nanos = match self.points.get(at + 1) {
            Some(to) => {
                // More than 0, for the integral grows on the way.
                let length = (to.at - from.at) as f64;
                // rate t + slope t^2 / 2 = rest, solved so that it holds for a slope of 0 as well.
                let slope = (to.rate - from.rate) / (length / SECOND);
                let root = (from.rate * from.rate + 2.0 * slope * rest).max(0.0).sqrt();
                let divisor = root + from.rate;
                let seconds = if divisor > 0.0 { 2.0 * rest / divisor } else { 0.0 };
                (seconds * SECOND).min(length)
            }
            None if from.rate > 0.0 => rest / from.rate * SECOND,
            None => return None,
        };
        // A conversion from floating point saturates.
        let time = from.at.saturating_add(nanos.round() as Nanos);
        (time <= MAX_TIME).then_some(time)
    }

    /// Time and rate, straight from point to point; two at the same time are a jump. After the last one the
    /// rate stays.
    pub fn points(&self) -> impl Iterator<Item = (Nanos, f64)> {
        self.points.iter().map(|point| (point.at, point.rate))
    }

    pub fn most(&self) -> f64 {
        self.points.iter().map(|point| point.rate).fold(0.0, f64::max)
    }
}

fn checked(rate: f64) -> Result<f64, ShapeError> {
    if rate == 0.0 || (MIN_RATE..=MAX_RATE).contains(&rate) {
        return Ok(rate);
    }
    Err(ShapeError(format!(
        "the rate {rate}/s cannot be scheduled: expected 0, or a rate from 0.000000001/s to 100,000,000/s"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: Nanos = 1_000_000_000;

    fn time_of(rate: &Rate, sum: f64) -> Option<Nanos> {
        rate.time_of(&mut RateCursor::default(), sum)
    }

    #[test]
    fn a_ramp_reaches_its_rate() {
        let rate = Rate::ramp(100.0, 10 * S).expect("a good shape");
        assert_eq!((rate.due_before(10 * S), rate.due_before(20 * S)), (500.0, 1_500.0));
        assert_eq!(time_of(&rate, 500.0), Some(10 * S));
        assert_eq!(time_of(&rate, 125.0), Some(5 * S));
        assert_eq!(time_of(&rate, 1_500.0), Some(20 * S));
    }

    #[test]
    fn a_pause_between_two_jumps() {
        let stages = [(5.0, S), (0.0, 0), (0.0, 3 * S), (5.0, 0)];
        let rate = Rate::stages(5.0, &stages).expect("a good shape");
        assert_eq!(time_of(&rate, 4.0), Some(4 * S / 5));
        assert_eq!(time_of(&rate, 5.0), Some(4 * S), "the first one after the pause");
    }

    #[test]
    fn rates_out_of_bounds_are_errors_that_say_what_is_allowed() {
        for bad in [1e9, 1.0001e8, 9e-10, 1e-300, -1.0, f64::NAN, f64::INFINITY] {
            let error = Rate::ramp(bad, 0).expect_err("out of bounds");
            assert!(error.0.contains("from 0.000000001/s to 100,000,000/s"), "{error}");
        }
        assert!(Rate::stages(1.0, &[(1.0, MAX_TIME), (1.0, 1)]).is_err());
        assert!(Rate::stages(1.0, &[(1.0, u64::MAX), (1.0, u64::MAX)]).is_err());
    }

    #[test]
    fn beyond_the_end_of_time_nothing_is_due() {
        let rate = Rate::ramp(MIN_RATE, 0).expect("the lowest rate");
        let last = time_of(&rate, 15.0).expect("after 475 years");
        assert!(last.abs_diff(15 * S * S) < S, "{last}");
        assert_eq!(time_of(&rate, 16.0), None);
        for sum in [1e30, f64::MAX, f64::INFINITY] {
            assert_eq!(time_of(&rate, sum), None);
        }
        assert_eq!(time_of(&Rate::ramp(0.0, 0).expect("no load"), 0.0), None);
    }

    /// Stages of any rate, 0 among them, and of any length, 0 and very long ones among them.
    fn stages() -> impl Strategy<Value = Vec<(f64, Nanos)>> {
        let rate = prop_oneof![Just(0.0), Just(MIN_RATE), Just(MAX_RATE), 0.001f64..5_000.0];
        let length = prop_oneof![Just(0), Just(1), 0..100 * S, 0..MAX_TIME / 10];
        prop::collection::vec((rate, length), 1..6)
    }

    proptest! {
        #[test]
        fn time_and_number_are_inverse(
            start in 0.001f64..1_000.0,
            stages in prop::collection::vec((0.001f64..5_000.0, 0u64..100), 1..5),
            n in 0u64..1_000_000,
        ) {
            let stages: Vec<_> = stages.into_iter().map(|(rate, s)| (rate, s * S)).collect();
            let rate = Rate::stages(start, &stages).expect("a good shape");
            if let Some(time) = time_of(&rate, n as f64).filter(|time| *time < 1_000_000 * S) {
                // A nanosecond's rounding is worth that much of an arrival.
                let slack = rate.most() * 2e-9 + 1e-6 * (1.0 + n as f64 * 1e-6);
                prop_assert!((rate.due_before(time) - n as f64).abs() <= slack + 1e-3);
            }
        }

        /// A cursor changes what a time costs, never the time.
        #[test]
        fn a_cursor_finds_what_a_search_finds(stages in stages(), sums in prop::collection::vec(0f64..1e6, 1..50)) {
            let rate = Rate::stages(0.0, &stages).expect("a good shape");
            let mut cursor = RateCursor::default();
            for sum in sums {
                prop_assert_eq!(rate.time_of(&mut cursor, sum), time_of(&rate, sum));
            }
        }

        #[test]
        fn times_ascend_within_the_end_of_time(stages in stages(), sums in prop::collection::vec(0f64..1e12, 1..50)) {
            let rate = Rate::stages(0.0, &stages).expect("a good shape");
            let mut sums = sums;
            sums.sort_by(f64::total_cmp);
            let times: Vec<_> = sums.iter().map_while(|sum| time_of(&rate, *sum)).collect();
            prop_assert!(times.iter().all(|time| *time <= MAX_TIME));
            prop_assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
        }
    }
}
