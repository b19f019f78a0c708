//! Exponential histograms, which Prometheus (native histograms) and OpenTelemetry have alike: bucket `i` holds values above
//! 2^((i-1)/16) and up to 2^(i/16) seconds. Pure.

use squall_metrics::Histogram;

/// Of which power of two the number of buckets in each doubling is: 16, so that a bucket is 4.4 % wide.
pub const SCALE: u8 = 4;

/// A distribution of times in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Exponential {
    /// How many values.
    pub count: u64,
    /// Their sum, in s.
    pub sum_s: f64,
    /// How many values were 0 (below 1 µs).
    pub zeros: u64,
    /// The buckets that hold something, in order: index and count.
    pub buckets: Vec<(i32, u64)>,
}

impl Exponential {
    /// Of a histogram in µs. What lies in one of its buckets is taken for the highest value of that, which is less
    /// than 0.1 % above: as for percentiles.
    pub fn of(histogram: &Histogram) -> Exponential {
        let mut own = Exponential {
            count: histogram.count(),
            sum_s: histogram.sum() / 1e6,
            zeros: 0,
            buckets: Vec::new(),
        };
        for (low, width, count) in histogram.buckets() {
            let high = (low + width - 1).min(histogram.max());
            if high == 0 {
                own.zeros += count;
                continue;
            }
            let index = index(high as f64 / 1e6);
            match own.buckets.last_mut() {
                Some((last, sum)) if *last == index => *sum += count,
                _ => own.buckets.push((index, count)),
            }
        }
        own
    }
}

/// The bucket of a value in s, which is above 0.
fn index(value_s: f64) -> i32 {
    (value_s.log2() * f64::from(1 << SCALE)).ceil() as i32
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
        let own = Exponential::of(&histogram);
        assert_eq!((own.count, own.zeros), (7, 1));
        assert!((own.sum_s - 5.000_700).abs() < 1e-3, "{}", own.sum_s);
        let sum: u64 = own.buckets.iter().map(|(_, count)| count).sum();
        assert_eq!(sum + own.zeros, own.count);
        assert!(own.buckets.windows(2).all(|two| two[0].0 < two[1].0), "{own:?}");
        assert_eq!(own.buckets.last(), Some(&(16, 1)), "the largest value is exact");
    }
}
