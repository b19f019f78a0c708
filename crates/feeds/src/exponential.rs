//! Exponential histograms, which Prometheus (native histograms) and OpenTelemetry have alike: bucket `i` holds values above
//! 2^((i-1)/16) and up to 2^(i/16) of the unit, which is seconds for times. Pure.

use squall_metrics::Histogram;

use crate::families::Resolution;

/// Of which power of two the number of buckets in each doubling is: 16, so that a bucket is 4.4 % wide.
pub const SCALE: u8 = 4;

#[derive(Debug, Clone, PartialEq)]
pub struct Exponential {
    pub count: u64,
    pub sum: f64,
    /// How many values were 0 (below one step of the histogram).
    pub zeros: u64,
    /// Up to where values count as 0: half a step.
    pub zero_threshold: f64,
    /// The buckets that hold something, in order: index and count.
    pub buckets: Vec<(i32, u64)>,
}

impl Exponential {
    /// Of a histogram in such steps. What lies in one of its buckets is taken for the highest value of that, which is less
    /// than 0.1 % above: as for percentiles.
    pub fn of(histogram: &Histogram, step: Resolution) -> Exponential {
        let mut own = Exponential {
            count: histogram.count(),
            sum: histogram.sum() / step.per_unit(),
            zeros: 0,
            zero_threshold: 0.5 / step.per_unit(),
            buckets: Vec::new(),
        };
        for (low, width, count) in histogram.buckets() {
            let high = (low + width - 1).min(histogram.max());
            if high == 0 {
                own.zeros += count;
                continue;
            }
            let index = index(high as f64 / step.per_unit());
            match own.buckets.last_mut() {
                Some((last, sum)) if *last == index => *sum += count,
                _ => own.buckets.push((index, count)),
            }
        }
        own
    }

    /// Buckets one after the other: how far they are from those before (the first: its index), and how many they are.
    pub fn spans(&self) -> Vec<(i64, u64)> {
        let mut spans: Vec<(i64, u64)> = Vec::new();
        let mut next = 0;
        for (index, _) in &self.buckets {
            let gap = i64::from(*index) - next;
            match spans.last_mut() {
                Some((_, length)) if gap == 0 => *length += 1,
                _ => spans.push((gap, 1)),
            }
            next = i64::from(*index) + 1;
        }
        spans
    }

    /// By how much the count of each bucket differs from that of the one before.
    pub fn deltas(&self) -> impl Iterator<Item = i64> {
        let mut before = 0;
        self.buckets.iter().map(move |(_, count)| {
            let delta = *count as i64 - before;
            before = *count as i64;
            delta
        })
    }
}

/// The bucket of a value, which is above 0.
fn index(value: f64) -> i32 {
    (value.log2() * f64::from(1 << SCALE)).ceil() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_between_the_bounds_of_their_buckets() {
        let bound = |index: i32| (f64::from(index) / f64::from(1 << SCALE)).exp2();
        for value in [1e-6, 0.000_123, 0.4999, 0.5, 0.500_1, 1.0, 1.001, 2.0, 59.0, 3_600.0] {
            let index = index(value);
            assert!(bound(index - 1) < value && value <= bound(index), "{value}: {index}");
        }
        assert_eq!([0.5, 1.0, 2.0].map(index), [-16, 0, 16]);
    }

    #[test]
    fn every_value_of_a_histogram_is_in_one_bucket() {
        let mut histogram = Histogram::new();
        for us in [0, 1, 1_000_000, 1_000_000, 999_999, 2_000_000, 700] {
            histogram.record(us);
        }
        let own = Exponential::of(&histogram, Resolution::Microsecond);
        assert_eq!((own.count, own.zeros), (7, 1));
        assert!((own.sum - 5.000_700).abs() < 1e-3, "{}", own.sum);
        let sum: u64 = own.buckets.iter().map(|(_, count)| count).sum();
        assert_eq!(sum + own.zeros, own.count);
        assert!(own.buckets.windows(2).all(|two| two[0].0 < two[1].0), "{own:?}");
        assert_eq!(own.buckets.last(), Some(&(16, 1)), "the largest value is exact");
        let of_plan = Exponential::of(&histogram, Resolution::Thousandth);
        // 2^(176/16) is 2,048.
        assert_eq!(of_plan.buckets.last(), Some(&(176, 1)), "2,000 of the plan's unit");
        assert_eq!((own.zero_threshold, of_plan.zero_threshold), (0.5e-6, 0.5e-3));
    }

    #[test]
    fn spans_and_deltas_say_where_buckets_are() {
        let own = |buckets: &[(i32, u64)]| Exponential {
            buckets: buckets.to_vec(),
            ..Exponential::of(&Histogram::new(), Resolution::Microsecond)
        };
        let four = own(&[(-5, 1), (-4, 2), (-1, 7), (0, 1)]);
        assert_eq!(four.spans(), [(-5, 2), (2, 2)]);
        assert_eq!(four.deltas().collect::<Vec<_>>(), [1, 1, 5, -6]);
        assert_eq!(own(&[]).spans(), []);
    }
}
