//! Percentiles of histograms with classic buckets, over the time between two scrapes. Pure.

use std::collections::HashMap;

/// Which percentiles: as shares, and as the values of the tag `quantile`.
pub(super) const QUANTILES: [(f64, &str); 3] = [(0.5, "0.5"), (0.95, "0.95"), (0.99, "0.99")];

/// A histogram's buckets: each its upper bound, and how many values so far were not above it.
pub(super) type Buckets = Vec<(f64, f64)>;

/// Histograms as they were the last time, each by its family and its labels.
#[derive(Debug, Default)]
pub(super) struct Histograms(HashMap<String, Buckets>);

impl Histograms {
    /// The percentiles of what was counted since the last time; none of a new histogram, of one that was reset, and of one that
    /// has counted nothing since.
    pub(super) fn percentiles(
        &mut self,
        now: HashMap<String, Buckets>,
    ) -> Vec<(String, [Option<f64>; 3])> {
        let last = std::mem::replace(&mut self.0, now);
        let of = |(name, buckets): (&String, &Buckets)| {
            let counted = since(buckets, last.get(name)?)?;
            Some((name.clone(), QUANTILES.map(|(share, _)| percentile(&counted, share))))
        };
        self.0.iter().filter_map(of).collect()
    }
}

/// What buckets have counted since they were these; `None`: they are others, or were reset.
fn since(now: &Buckets, last: &Buckets) -> Option<Buckets> {
    let sorted = |buckets: &Buckets| {
        let mut sorted = buckets.clone();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        sorted
    };
    let (now, last) = (sorted(now), sorted(last));
    let same = now.len() == last.len() && now.iter().zip(&last).all(|(now, last)| now.0 == last.0);
    let grown: Buckets = now.iter().zip(&last).map(|(now, last)| (now.0, now.1 - last.1)).collect();
    (same && grown.iter().all(|(_, count)| *count >= 0.0)).then_some(grown)
}

/// A percentile by linear interpolation within its bucket, as `histogram_quantile` of Prometheus has it: of values above all
/// finite bounds it is the highest of these.
fn percentile(buckets: &Buckets, share: f64) -> Option<f64> {
    let (last, total) = *buckets.last()?;
    if last.is_finite() || total <= 0.0 || buckets.len() < 2 {
        return None;
    }
    let rank = share * total;
    let at = buckets.iter().position(|(_, count)| *count >= rank)?;
    let (bound, count) = buckets[at];
    if bound.is_infinite() {
        return Some(buckets[buckets.len() - 2].0);
    }
    let (low, before) = match at {
        0 if bound <= 0.0 => return Some(bound),
        0 => (0.0, 0.0),
        at => buckets[at - 1],
    };
    let within = count - before;
    Some(if within > 0.0 { low + (bound - low) * (rank - before) / within } else { bound })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrape(counts: [f64; 3]) -> HashMap<String, Buckets> {
        let bounds = [f64::INFINITY, 0.1, 1.0];
        HashMap::from([("t".to_owned(), bounds.into_iter().zip(counts).collect())])
    }

    #[test]
    fn percentiles_are_of_what_was_counted_between() {
        let mut own = Histograms::default();
        assert!(own.percentiles(scrape([1_000.0, 1_000.0, 1_000.0])).is_empty());
        // 80 of up to 0.1, 20 of up to 1.
        let found = own.percentiles(scrape([1_100.0, 1_080.0, 1_100.0]));
        let [median, p95, p99] = found[0].1;
        assert_eq!(median, Some(0.0625));
        assert!((p95.expect("a value") - 0.775).abs() < 1e-9);
        assert!((p99.expect("a value") - 0.955).abs() < 1e-9);
        // Nothing more.
        let found = own.percentiles(scrape([1_100.0, 1_080.0, 1_100.0]));
        assert_eq!(found[0].1, [None; 3]);
        // All above 1.
        let found = own.percentiles(scrape([1_110.0, 1_080.0, 1_100.0]));
        assert_eq!(found[0].1, [Some(1.0); 3]);
        // A restart.
        assert!(own.percentiles(scrape([10.0, 5.0, 10.0])).is_empty());
    }
}
