//! A distribution of times for the page: a few dozen bins on a logarithmic scale, and percentiles.

use serde::Serialize;
use squall_metrics::Histogram;

/// Bins of a tenfold: each is 12% wide.
pub const BINS_PER_DECADE: f64 = 20.0;
/// The percentiles of a curve, on the scale of 1/(1 - p) that shows the slow ones.
pub const PERCENTILES: [f64; 22] = [
    0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 75.0, 80.0, 85.0, 90.0, 92.5, 95.0, 97.5, 98.0,
    99.0, 99.5, 99.9, 99.99, 99.999, 100.0,
];

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Distribution {
    /// The first bin, and the counts from there on: bin n begins at 10^(n/[`BINS_PER_DECADE`]) µs.
    pub bins: Vec<u64>,
    /// The [`PERCENTILES`], in µs; as many as so many values can have, and the largest one last.
    pub percentiles: Vec<u64>,
}

impl Distribution {
    /// Of what a histogram has counted; `None`: nothing.
    pub fn of(histogram: &Histogram) -> Option<Distribution> {
        (!histogram.is_empty()).then(|| Distribution {
            bins: bins(histogram),
            percentiles: histogram.percentiles(PERCENTILES).into(),
        })
    }
}

/// The first bin that holds something, and the counts from there on; empty: there are none.
pub fn bins(histogram: &Histogram) -> Vec<u64> {
    let mut bins: Vec<u64> = Vec::new();
    let (mut first, mut bin, mut end) = (0, 0, 0);
    for (low, width, count) in histogram.buckets() {
        let value = low + width / 2;
        // Most are in the bin of the one before, and a logarithm takes its time.
        if value >= end {
            bin = bin_of(value);
            end = end_of_bin(bin);
        }
        if bins.is_empty() {
            (first, bins) = (bin, vec![bin as u64]);
        }
        let at = 1 + bin - first;
        if bins.len() <= at {
            bins.resize(at + 1, 0);
        }
        bins[at] = bins[at].saturating_add(count);
    }
    bins
}

/// A value below which none that follows one of a bin is of another.
fn end_of_bin(bin: usize) -> u64 {
    // Rounding may move the end of a bin a little.
    (10f64.powf((bin + 1) as f64 / BINS_PER_DECADE) * (1.0 - 1e-6)) as u64
}

fn bin_of(value: u64) -> usize {
    // Up to an hour, which is bin 191.
    (BINS_PER_DECADE * (value.max(1) as f64).log10() + 1e-9).floor() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenfold_has_twenty_bins() {
        assert_eq!([0, 1, 10, 11, 12, 100, 1_000_000].map(bin_of), [0, 0, 20, 20, 21, 40, 120]);
        let mut histogram = Histogram::new();
        [10, 10, 12, 100].into_iter().for_each(|value| histogram.record(value));
        let bins = bins(&histogram);
        assert_eq!((bins[0], bins[1], bins[2], bins.last()), (20, 2, 1, Some(&1)));
        assert_eq!(bins.len(), 1 + 21);
    }

    #[test]
    fn each_value_is_in_its_own_bin() {
        let mut histogram = Histogram::new();
        (0..20_000u64).chain((0..2_000).map(|n| n * n * 850)).for_each(|n| histogram.record(n));
        let mut wanted = vec![0; 193];
        for (low, width, count) in histogram.buckets() {
            wanted[1 + bin_of(low + width / 2)] += count;
        }
        assert_eq!(bins(&histogram), wanted[..bins(&histogram).len()]);
        assert_eq!(bins(&histogram)[1..].iter().sum::<u64>(), histogram.count());
    }

    #[test]
    fn nothing_has_no_distribution() {
        assert_eq!(Distribution::of(&Histogram::new()), None);
        let mut one = Histogram::new();
        one.record(7);
        let own = Distribution::of(&one).expect("a value");
        assert_eq!((own.bins, own.percentiles[0]), (vec![16, 1], 7));
    }
}
