//! A histogram with HdrHistogram's buckets, kept sparse: memory for what was seen, not for what might
//! be.
//!
//! The buckets are those of HdrHistogram (Tene; hdrhistogram.org) for a lowest value of 1 µs, a
//! highest of 1 hour and 3 significant digits: 2,048 steps of 1 µs, then 1,024 steps for each
//! doubling; or, for what needs less, 256 and 128 (2 digits). As long as few buckets are touched they
//! are a short list; then they lie in pages of 64 counters that are made when first touched, and kept
//! when the histogram is cleared.

use crate::codec::{self, DecodeError};

/// Largest value, in µs: one hour. Larger ones count as this.
pub const HIGHEST: u64 = 3_600_000_000;
/// Bits of 2,048, below which each value has a counter of its own: 3 significant digits.
pub const FINE: u32 = 11;
/// Bits of 256: 2 significant digits.
pub const COARSE: u32 = 8;
const PAGE: usize = 64;
const NO_PAGE: u16 = u16::MAX;

/// Values in microseconds, counted in buckets of 3 significant digits, or as fine as `BITS` says.
#[derive(Debug, Clone, Default)]
pub struct Histogram<const BITS: u32 = FINE> {
    store: Store,
    count: u64,
    min: u64,
    max: u64,
    sum: u64,
    /// Sum of squares, for the standard deviation; as a float it cannot overflow.
    squares: f64,
}

/// Index and count of the touched buckets.
#[derive(Debug, Clone)]
enum Store {
    /// In order of the index; at most [`FEW`] while it grows, and any number once it was packed.
    Few(Vec<(u16, u16)>),
    Many(Box<Pages>),
}

impl Default for Store {
    fn default() -> Self {
        Store::Few(Vec::new())
    }
}

/// Most buckets in a list; a page costs as much as 64 of them.
const FEW: usize = 512;

impl Store {
    #[inline]
    fn add(&mut self, index: usize, count: u64) {
        match self {
            Store::Many(pages) => pages.add(index, count),
            Store::Few(_) => self.add_to_few(index, count),
        }
    }

    fn add_to_few(&mut self, index: usize, count: u64) {
        let Store::Few(list) = self else { return };
        let place = list.binary_search_by_key(&(index as u16), |(own, _)| *own);
        let short = u16::try_from(count).ok();
        match (place, short) {
            (Ok(at), Some(count)) if list[at].1.checked_add(count).is_some() => list[at].1 += count,
            (Err(at), Some(count)) if list.len() < FEW => list.insert(at, (index as u16, count)),
            _ => {
                let mut pages = Box::<Pages>::default();
                for (index, count) in list.iter() {
                    pages.add(usize::from(*index), u64::from(*count));
                }
                pages.add(index, count);
                *self = Store::Many(pages);
            }
        }
    }

    fn clear(&mut self) {
        match self {
            Store::Few(list) => list.clear(),
            Store::Many(pages) => {
                pages.counters.iter_mut().for_each(|page| page.fill(0));
                pages.overflows.clear();
            }
        }
    }

    /// Index and count of what holds something, in order.
    fn touched(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let (few, many) = match self {
            Store::Few(list) => (list.as_slice(), None),
            Store::Many(pages) => (&[][..], Some(pages)),
        };
        let few = few.iter().map(|(index, count)| (usize::from(*index), u64::from(*count)));
        few.chain(many.into_iter().flat_map(|pages| pages.touched()))
    }

    /// Takes no more memory than what is in it needs: a list, of any length, where counts are short.
    fn compact(&mut self) {
        let short = |(index, count): (usize, u64)| {
            Some((u16::try_from(index).ok()?, u16::try_from(count).ok()?))
        };
        let list: Option<Vec<_>> = self.touched().map(short).collect();
        if let Some(mut list) = list {
            list.shrink_to_fit();
            *self = Store::Few(list);
        }
    }

    fn heap_bytes(&self) -> usize {
        match self {
            Store::Few(list) => list.capacity() * size_of::<(u16, u16)>(),
            Store::Many(pages) => {
                size_of::<Pages>()
                    + pages.at.capacity() * 2
                    + pages.counters.capacity() * size_of::<[u32; PAGE]>()
                    + pages.page_of.capacity() * 2
                    + pages.overflows.capacity() * 16
            }
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Pages {
    /// Where each page lies, or [`NO_PAGE`]; as long as the highest page that was touched.
    at: Vec<u16>,
    counters: Vec<[u32; PAGE]>,
    /// Which page each of `counters` is.
    page_of: Vec<u16>,
    /// Counters that overflowed their 32 bits: index, and how many times 2^32.
    overflows: Vec<(u32, u64)>,
}

/// HdrHistogram's index of a value.
#[inline]
const fn index_of<const BITS: u32>(value: u64) -> usize {
    if value < 1 << BITS {
        return value as usize;
    }
    // How many doublings above the steps of 1.
    let bucket = 64 - value.leading_zeros() - BITS;
    let half = 1 << (BITS - 1);
    ((bucket as usize + 1) << (BITS - 1)) + ((value >> bucket) - half) as usize
}

/// The lowest value of an index, and the width of its bucket.
const fn bucket_at<const BITS: u32>(index: usize) -> (u64, u64) {
    let index = index as u64;
    if index < 1 << BITS {
        return (index, 1);
    }
    let half = 1 << (BITS - 1);
    let bucket = (index >> (BITS - 1)) - 1;
    (((index & (half - 1)) + half) << bucket, 1 << bucket)
}

impl Pages {
    #[inline]
    fn add(&mut self, index: usize, count: u64) {
        let page = index / PAGE;
        let at = match self.at.get(page) {
            Some(&at) if at != NO_PAGE => at as usize,
            _ => self.new_page(page),
        };
        let counter = &mut self.counters[at][index % PAGE];
        match u32::try_from(count).ok().and_then(|count| counter.checked_add(count)) {
            Some(sum) => *counter = sum,
            None => self.overflow(at, index, count),
        }
    }

    #[cold]
    fn new_page(&mut self, page: usize) -> usize {
        if self.at.len() <= page {
            self.at.resize(page + 1, NO_PAGE);
        }
        self.counters.push([0; PAGE]);
        self.page_of.push(page as u16);
        self.at[page] = (self.counters.len() - 1) as u16;
        self.counters.len() - 1
    }

    #[cold]
    fn overflow(&mut self, at: usize, index: usize, count: u64) {
        let counter = &mut self.counters[at][index % PAGE];
        let sum = u64::from(*counter).saturating_add(count);
        *counter = sum as u32;
        self.overflows.push((index as u32, sum >> 32));
    }

    fn touched(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let present = (0..self.at.len()).filter(|page| self.at[*page] != NO_PAGE);
        present.flat_map(move |page| {
            let at = self.at[page] as usize;
            let counts =
                (0..PAGE).map(move |offset| (page * PAGE + offset, self.count_at(at, offset)));
            counts.filter(|(_, count)| *count > 0)
        })
    }

    fn count_at(&self, at: usize, offset: usize) -> u64 {
        let low = u64::from(self.counters[at][offset]);
        if self.overflows.is_empty() {
            return low;
        }
        let index = (self.page_of[at] as usize * PAGE + offset) as u32;
        let own = self.overflows.iter().filter(|(i, _)| *i == index);
        let high = own.fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
        low.saturating_add(high.saturating_mul(1 << 32))
    }
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

    /// Counts a value several times.
    #[inline]
    pub fn record_n(&mut self, value: u64, count: u64) {
        if count == 0 {
            return;
        }
        let value = value.min(HIGHEST);
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += count;
        self.sum = self.sum.saturating_add(value.saturating_mul(count));
        self.squares += (value as f64) * (value as f64) * count as f64;
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
        self.sum = self.sum.saturating_add(other.sum);
        self.squares += other.squares;
        for (index, count) in other.store.touched() {
            self.store.add(index, count);
        }
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

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Their sum, in µs.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Their mean, in µs, exact; 0 when there is none.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Their standard deviation, in µs, from exact sums; 0 below two values.
    pub fn sd(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let mean = self.mean();
        (self.squares / self.count as f64 - mean * mean).max(0.0).sqrt()
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
        let rank = ((p.clamp(0.0, 100.0) / 100.0 * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (low, width, count) in self.buckets() {
            seen += count;
            if seen >= rank {
                return (low + width - 1).min(self.max);
            }
        }
        0
    }

    /// How many values lie in buckets that begin above a value.
    pub fn count_above(&self, value: u64) -> u64 {
        self.buckets().filter(|(low, ..)| *low > value).map(|(.., count)| count).sum()
    }

    /// The buckets that hold something, in order: lowest value, width, count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.touched().map(|(index, count)| {
            let (low, width) = bucket_at::<BITS>(index);
            (low, width, count)
        })
    }

    /// Index and count of the buckets that hold something, in order.
    pub(crate) fn touched(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.store.touched()
    }

    /// Bytes that it has on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.store.heap_bytes()
    }

    /// Appends it in squall's own form: the count of touched buckets, then min, max, sum, squares (8
    /// bytes), then for each bucket the distance from the one before and its count; numbers are
    /// varints.
    pub fn encode(&self, out: &mut Vec<u8>) {
        codec::put(out, self.touched().count() as u64);
        if self.count == 0 {
            return;
        }
        for number in [self.min, self.max, self.sum] {
            codec::put(out, number);
        }
        out.extend_from_slice(&self.squares.to_le_bytes());
        let mut before = 0;
        for (index, count) in self.touched() {
            codec::put(out, (index - before) as u64);
            codec::put(out, count);
            before = index;
        }
    }

    /// Reads what [`Histogram::encode`] wrote.
    ///
    /// # Errors
    /// The bytes are not of that form.
    pub fn decode(bytes: &mut &[u8]) -> Result<Self, DecodeError> {
        let buckets = codec::get(bytes)?;
        let mut histogram = Self::new();
        if buckets == 0 {
            return Ok(histogram);
        }
        let (min, max, sum) = (codec::get(bytes)?, codec::get(bytes)?, codec::get(bytes)?);
        let squares = f64::from_le_bytes(codec::take(bytes)?);
        let mut index = 0u64;
        for _ in 0..buckets {
            index = index.saturating_add(codec::get(bytes)?);
            let count = codec::get(bytes)?;
            if index > index_of::<BITS>(HIGHEST) as u64 || count == 0 {
                return Err(DecodeError("a histogram's bucket is out of range"));
            }
            histogram.store.add(index as usize, count);
            histogram.count = histogram.count.saturating_add(count);
        }
        (histogram.min, histogram.max, histogram.sum, histogram.squares) = (min, max, sum, squares);
        Ok(histogram)
    }
}

/// Equal if they have counted the same; sums of squares may differ in their last digits by the order
/// of additions, and are left out.
impl<const BITS: u32> PartialEq for Histogram<BITS> {
    fn eq(&self, other: &Self) -> bool {
        (self.count, self.min, self.max, self.sum) == (other.count, other.min, other.max, other.sum)
            && self.touched().eq(other.touched())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram: Histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(*value));
        histogram
    }

    fn reference(values: &[u64]) -> hdrhistogram::Histogram<u64> {
        let mut histogram =
            hdrhistogram::Histogram::new_with_bounds(1, HIGHEST, 3).expect("good bounds");
        values.iter().for_each(|value| histogram.record(*value).expect("in range"));
        histogram
    }

    #[test]
    fn an_empty_one_costs_little_and_says_nothing() {
        let empty: Histogram = Histogram::new();
        assert_eq!((empty.heap_bytes(), empty.percentile(99.0), empty.mean()), (0, 0, 0.0));
        assert!(size_of::<Histogram>() <= 72);
    }

    #[test]
    fn what_is_above_an_hour_counts_as_an_hour() {
        assert_eq!(of(&[u64::MAX]).max(), HIGHEST);
    }

    #[test]
    fn counters_do_not_overflow() {
        let mut histogram: Histogram = Histogram::new();
        histogram.record_n(5, u64::from(u32::MAX));
        histogram.record_n(5, 10);
        histogram.record_n(7, 1 << 40);
        assert_eq!(
            histogram.touched().map(|(_, count)| count).collect::<Vec<_>>(),
            [u64::from(u32::MAX) + 10, 1 << 40]
        );
        let mut bytes = Vec::new();
        histogram.encode(&mut bytes);
        assert_eq!(Histogram::decode(&mut bytes.as_slice()).expect("what was encoded"), histogram);
    }

    #[test]
    fn mean_and_deviation() {
        let histogram = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((histogram.mean(), histogram.sd()), (5.0, 2.0));
    }

    proptest! {
        #[test]
        fn buckets_hold_what_they_should(value in 0..HIGHEST) {
            let (low, width) = bucket_at::<FINE>(index_of::<FINE>(value));
            prop_assert!(low <= value && value < low + width && width * 1_000 <= value.max(1_000));
            let (low, width) = bucket_at::<COARSE>(index_of::<COARSE>(value));
            prop_assert!(low <= value && value < low + width && width * 100 <= value.max(100));
        }

        #[test]
        fn percentiles_are_hdrhistograms(
            values in prop::collection::vec(prop_oneof![1u64..5_000, 1u64..HIGHEST], 1..200),
            p in 0f64..=100.0,
        ) {
            let (ours, theirs) = (of(&values), reference(&values));
            prop_assert_eq!(ours.count(), theirs.len());
            // Ours ends at the largest value, theirs at the end of its bucket.
            prop_assert_eq!(ours.percentile(p), theirs.value_at_percentile(p).min(ours.max()));
        }

        #[test]
        fn merging_is_as_recording_all(
            a in prop::collection::vec(0..HIGHEST, 0..100),
            b in prop::collection::vec(0..HIGHEST, 0..100),
        ) {
            let (mut ab, mut ba) = (of(&a), of(&b));
            ab.merge(&of(&b));
            ba.merge(&of(&a));
            let all = of(&[a, b].concat());
            prop_assert_eq!(&ab, &all);
            prop_assert_eq!(&ba, &all);
        }

        #[test]
        fn encoding_loses_nothing(values in prop::collection::vec(0..HIGHEST, 0..2_000)) {
            let histogram = of(&values);
            let mut bytes = Vec::new();
            histogram.encode(&mut bytes);
            let mut rest = bytes.as_slice();
            prop_assert_eq!(Histogram::decode(&mut rest).expect("what was encoded"), histogram);
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn decoding_anything_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = Histogram::<FINE>::decode(&mut bytes.as_slice());
        }

        #[test]
        fn a_cleared_one_is_as_new(values in prop::collection::vec(0..HIGHEST, 1..50)) {
            let mut histogram = of(&values);
            histogram.clear();
            prop_assert_eq!(&histogram, &Histogram::new());
            histogram.record(3);
            prop_assert_eq!(histogram, of(&[3]));
        }
    }
}
