//! A sparse histogram with HdrHistogram's buckets: it takes memory only for the values that were recorded.
//!
//! The buckets are those of HdrHistogram (Tene; hdrhistogram.org) for a lowest value of 1 µs, a
//! highest of 1 hour and 3 significant digits: 2,048 steps of 1 µs, then 1,024 steps for each
//! doubling; or, for what needs less, 256 and 128 (2 digits). [`store`] stores those that were used.

mod store;
#[cfg(test)]
mod tests;

use crate::codec::{self, DecodeError, VERSION};
use store::Store;

/// Largest value, in µs: one hour. Larger ones count as this.
pub const HIGHEST: u64 = 3_600_000_000;
/// Bits of 2,048, below which each value has a counter of its own: 3 significant digits.
pub const FINE: u32 = 11;
/// Bits of 256: 2 significant digits.
pub const COARSE: u32 = 8;

/// The version of slices from which on there is no sum of squares in them.
const HAS_NO_SQUARES: u64 = 3;

/// Values in microseconds, counted in buckets of 3 significant digits, or as fine as `BITS` says.
#[derive(Debug, Clone, Default)]
pub struct Histogram<const BITS: u32 = FINE> {
    store: Store,
    count: u64,
    min: u64,
    max: u64,
    /// Their sum, in ns: a mean keeps the fractions of µs that buckets do not.
    sum_ns: u64,
}

/// What a histogram is made of beside its buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Parts {
    pub count: u64,
    /// In µs.
    pub min: u64,
    /// In µs.
    pub max: u64,
    pub sum_ns: u64,
}

/// HdrHistogram's index of a value.
#[inline]
pub(crate) const fn index_of<const BITS: u32>(value: u64) -> usize {
    if value < 1 << BITS {
        return value as usize;
    }
    // How many doublings above the steps of 1.
    let bucket = 64 - value.leading_zeros() - BITS;
    let half = 1 << (BITS - 1);
    ((bucket as usize + 1) << (BITS - 1)) + ((value >> bucket) - half) as usize
}

/// The lowest value of an index, and the width of its bucket.
pub(crate) const fn bucket_at<const BITS: u32>(index: usize) -> (u64, u64) {
    let index = index as u64;
    if index < 1 << BITS {
        return (index, 1);
    }
    let half = 1 << (BITS - 1);
    let bucket = (index >> (BITS - 1)) - 1;
    (((index & (half - 1)) + half) << bucket, 1 << bucket)
}

/// The rank of a percentile among so many values: p/100 of them, rounded up, and at least 1.
pub fn rank(p: f64, count: u64) -> u64 {
    ((p.clamp(0.0, 100.0) * count as f64 / 100.0).ceil() as u64).max(1)
}

impl<const BITS: u32> Histogram<BITS> {
    /// An empty histogram; it takes no memory beside itself.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a value, in µs.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_n(value, 1);
    }

    /// Counts a value that is known in ns. Its bucket is that of its whole µs; mean and deviation keep the
    /// rest.
    #[inline]
    pub fn record_ns(&mut self, ns: u64) {
        self.add(ns / 1_000, ns, 1);
    }

    /// Counts a value several times.
    #[inline]
    pub fn record_n(&mut self, value: u64, count: u64) {
        if count > 0 {
            self.add(value, value.saturating_mul(1_000), count);
        }
    }

    /// Counts a value of whole µs, exactly so many ns, several times, at least once.
    #[inline]
    fn add(&mut self, value: u64, ns: u64, count: u64) {
        let (value, ns) = (value.min(HIGHEST), ns.min(HIGHEST * 1_000));
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += count;
        self.sum_ns = self.sum_ns.saturating_add(ns.saturating_mul(count));
        self.store.add(index_of::<BITS>(value), count);
    }

    /// Adds what another has counted.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count = self.count.saturating_add(other.count);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.store.merge(&other.store);
    }

    /// Adds what another has counted, which is only known in parts.
    pub(crate) fn merge_parts(
        &mut self,
        parts: &Parts,
        buckets: impl Iterator<Item = (usize, u64)>,
    ) {
        self.min = if self.count == 0 { parts.min } else { self.min.min(parts.min) };
        self.max = self.max.max(parts.max);
        self.count = self.count.saturating_add(parts.count);
        self.sum_ns = self.sum_ns.saturating_add(parts.sum_ns);
        self.store.merge_buckets(buckets);
    }

    /// What it is made of beside its buckets.
    pub(crate) fn parts(&self) -> Parts {
        Parts { count: self.count, min: self.min, max: self.max, sum_ns: self.sum_ns }
    }

    /// Forgets everything but its memory.
    pub fn clear(&mut self) {
        if self.count == 0 {
            return;
        }
        self.store.clear();
        *self = Self { store: std::mem::take(&mut self.store), ..Self::default() };
    }

    /// Gives back the memory that what is in it does not need; for one that is not added to for some time.
    pub fn compact(&mut self) {
        self.store.compact();
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Their sum, in µs, exact to the ns where they were.
    pub fn sum(&self) -> f64 {
        self.sum_ns as f64 / 1e3
    }

    /// Their mean, in µs; 0 when there is none. Exact, but never below the smallest and above the largest one, which are cut
    /// to whole µs.
    pub fn mean(&self) -> f64 {
        self.exact_mean().max(self.min as f64).min(self.max as f64)
    }

    fn exact_mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum() / self.count as f64 }
    }

    /// Their standard deviation, in µs, as exact as the buckets are; 0 below two values. A sum of squares would be more
    /// exact, but as a float it would depend on the order in which histograms are merged.
    pub fn sd(&self) -> f64 {
        let middle = |(low, width, count): (u64, u64, u64)| {
            (low as f64 + (width - 1) as f64 / 2.0, count as f64)
        };
        let count = self.count.max(1) as f64;
        let mean = self.buckets().map(middle).map(|(at, count)| at * count).sum::<f64>() / count;
        let squares = self.buckets().map(middle).map(|(at, own)| (at - mean) * (at - mean) * own);
        (squares.sum::<f64>() / count).sqrt()
    }

    /// The smallest one, in µs, exact.
    pub fn min(&self) -> u64 {
        self.min
    }

    /// The largest one, in µs, exact.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// A percentile, in µs: the highest value of the bucket in which the value of that rank lies, but
    /// no more than the largest value (HdrHistogram's definition; the rank is p/100 of the count,
    /// rounded up, and at least 1). 0 when there is none.
    pub fn percentile(&self, p: f64) -> u64 {
        self.at_rank(rank(p, self.count))
    }

    /// Several percentiles, in ascending order, at once: to find them takes as long as to find the last of them.
    pub fn percentiles<const N: usize>(&self, ps: [f64; N]) -> [u64; N] {
        let (mut values, mut found, mut seen) = ([0; N], 0, 0u64);
        for (low, width, count) in self.buckets() {
            seen = seen.saturating_add(count);
            while found < N && seen >= rank(ps[found], self.count) {
                values[found] = (low + width - 1).min(self.max);
                found += 1;
            }
            if found == N {
                break;
            }
        }
        values
    }

    /// The highest value of the bucket in which the value of a rank lies, but no more than the largest
    /// value; 0: there are fewer.
    pub fn at_rank(&self, rank: u64) -> u64 {
        let bucket = self.bucket_at_rank(rank);
        bucket.map_or(0, |(low, width)| (low + width - 1).min(self.max))
    }

    /// The lowest value and the width of the bucket in which the value of a rank lies; `None`: there are fewer.
    pub fn bucket_at_rank(&self, rank: u64) -> Option<(u64, u64)> {
        let mut seen = 0u64;
        let mut buckets = self.buckets();
        let (low, width, _) = buckets.find(|(.., count)| {
            seen = seen.saturating_add(*count);
            seen >= rank
        })?;
        Some((low, width))
    }

    /// How many values lie in buckets that begin above a value.
    pub fn count_above(&self, value: u64) -> u64 {
        let above = self.buckets().filter(|(low, ..)| *low > value);
        above.fold(0u64, |sum, (.., count)| sum.saturating_add(count))
    }

    /// The buckets that hold something, in order: lowest value, width, count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.touched().map(|(index, count)| {
            let (low, width) = bucket_at::<BITS>(index);
            (low, width, count)
        })
    }

    /// Index and count of the buckets that hold something, in order.
    pub fn touched(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.store.touched()
    }

    /// Bytes that it has on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.store.heap_bytes()
    }

    /// Appends it in squall's own form: the count of touched buckets, then min and max (µs), the sum (ns),
    /// then the buckets as [`Store::pack`] has them; numbers are varints.
    pub fn encode(&self, out: &mut Vec<u8>) {
        codec::put(out, self.touched().count() as u64);
        if self.count == 0 {
            return;
        }
        for number in [self.min, self.max, self.sum_ns] {
            codec::put(out, number);
        }
        self.store.pack(out);
    }

    /// Reads what [`Histogram::encode`] wrote.
    ///
    /// # Errors
    /// The bytes are not of that form.
    pub fn decode(bytes: &mut &[u8]) -> Result<Self, DecodeError> {
        let mut histogram = Self::new();
        histogram.read(bytes, VERSION)?;
        Ok(histogram)
    }

    /// The same into an empty one, from slices of a version. It is not touched where nothing was counted: of most rows that
    /// is so of most histograms.
    #[inline]
    pub(crate) fn read(&mut self, bytes: &mut &[u8], version: u64) -> Result<(), DecodeError> {
        match codec::get(bytes)? {
            0 => Ok(()),
            buckets => self.read_buckets(buckets, bytes, version),
        }
    }

    fn read_buckets(
        &mut self,
        buckets: u64,
        bytes: &mut &[u8],
        version: u64,
    ) -> Result<(), DecodeError> {
        for number in [&mut self.min, &mut self.max, &mut self.sum_ns] {
            *number = codec::get(bytes)?;
        }
        if version < HAS_NO_SQUARES {
            codec::take::<8>(bytes)?;
        }
        (self.store, self.count) = Store::take_packed(bytes, buckets, index_of::<BITS>(HIGHEST))?;
        Ok(())
    }
}

impl From<&Histogram<COARSE>> for Histogram {
    /// Count, sum, smallest and largest value stay; the others become the highest ones of their buckets.
    fn from(coarse: &Histogram<COARSE>) -> Histogram {
        let mut fine = Histogram::new();
        for (low, width, count) in coarse.buckets() {
            fine.record_n((low + width - 1).min(coarse.max), count);
        }
        (fine.min, fine.sum_ns) = (coarse.min, coarse.sum_ns);
        fine
    }
}

/// Equal if they have counted the same, however they are stored.
impl<const BITS: u32> PartialEq for Histogram<BITS> {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |own: &Self| (own.count, own.min, own.max, own.sum_ns);
        numbers(self) == numbers(other) && self.touched().eq(other.touched())
    }
}
