//! Statistics of many rows in few bytes, column by column, for a network: what is written of a second in a file is row by
//! row, and twice as much. It merges as exactly: nothing is rounded.
//!
//! Beside what counters say, nearly all of it are histograms of some ten to some hundred values each. Of one that stands
//! alone its smallest and largest value are written, and the gaps between the buckets of its values in order: the high
//! bits of a gap in a column that a compressor packs well, the low ones, which nothing packs, as they are (Rice's code).
//! One that resembles another of its row (the time to the first byte and the latency, the latency with and without its
//! correction) is written as the differences from that, value by value in their order. Where nearly all are alike, mostly 0,
//! each is written with how often it comes: one that is the same as the other takes next to nothing.

mod bits;
mod decode;
mod encode;
#[cfg(test)]
mod tests;

use crate::error_kind::ErrorKind;
use crate::histogram::{COARSE, FINE, Histogram, Parts, bucket_at, index_of};
use crate::request_stats::{FINE_TIMES, PHASES, RequestStats, add};

/// How many columns there are.
pub const COLUMNS: usize = 7;
/// What each of them holds, in their order.
pub const COLUMN_NAMES: [&str; COLUMNS] =
    ["counters", "forms", "sizes", "gaps", "multiples", "differences", "low bits"];

/// The columns, each of which is compressed by itself: numbers as varints, but for the last one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns(pub [Vec<u8>; COLUMNS]);

/// Places in [`Columns`].
const COUNTERS: usize = 0;
const FORMS: usize = 1;
const SIZES: usize = 2;
const GAPS: usize = 3;
const MULTIPLES: usize = 4;
const DIFFERENCES: usize = 5;
const LOW_BITS: usize = 6;

/// How many histograms a row has.
const TIMES: usize = FINE_TIMES + PHASES.len();
const LATENCY: usize = 0;
const CORRECTED_LATENCY: usize = 1;
const DNS: usize = FINE_TIMES + 1;
const TLS: usize = FINE_TIMES + 3;
const FIRST_BYTE: usize = FINE_TIMES + 4;
const BODY: usize = FINE_TIMES + 5;
/// The order in which they are written: the time to the first byte last, as it follows from the others.
const ORDER: [usize; TIMES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, BODY, FIRST_BYTE];

/// What a column of forms says of a histogram: it is empty, its values are written one by one, or beside those of the row's
/// latency, in runs of equal differences or each by itself; or so many buckets less this, with how many values each has.
const EMPTY: u64 = 0;
const ONE_BY_ONE: u64 = 1;
const BESIDE: u64 = 2;
const EACH_BESIDE: u64 = 3;
const BY_BUCKET: u64 = 3;

/// A bucket that holds something: index and count.
type Bucket = (u32, u64);

/// Whether a histogram has three digits.
const fn is_fine(which: usize) -> bool {
    which < FINE_TIMES
}

/// The lowest value of a bucket, in µs, and its width.
fn bucket_of(which: usize, index: u32) -> (u64, u64) {
    match is_fine(which) {
        true => bucket_at::<FINE>(index as usize),
        false => bucket_at::<COARSE>(index as usize),
    }
}

/// The bucket of a value in µs.
fn index_in(which: usize, value: u64) -> u32 {
    match is_fine(which) {
        true => index_of::<FINE>(value) as u32,
        false => index_of::<COARSE>(value) as u32,
    }
}

/// Which histogram of its row one may resemble.
fn is_beside_latency(which: usize) -> bool {
    matches!(which, CORRECTED_LATENCY | FIRST_BYTE)
}

/// The bucket of a latency among those of one that is written beside it. Coarse buckets are made of whole fine ones.
fn beside(which: usize, latency: u32) -> u32 {
    match is_fine(which) {
        true => latency,
        false => index_in(which, bucket_of(LATENCY, latency).0),
    }
}

/// What the sum of a histogram, in ns, will be: that of its buckets' middles.
fn sum_of_middles(which: usize, buckets: &[Bucket]) -> u64 {
    buckets.iter().fold(0u64, |sum, (index, count)| {
        let (low, width) = bucket_of(which, *index);
        sum.wrapping_add((low * 1_000 + width * 500).wrapping_mul(*count))
    })
}

/// The same of one that is written beside the latency: what that leaves beside the other parts of it.
fn sum_beside(which: usize, sums: &[u64; TIMES]) -> u64 {
    let others = if which == FIRST_BYTE { &sums[DNS..=TLS] } else { &[] };
    let others = others.iter().fold(0u64, |sum, own| sum.wrapping_add(*own));
    let body = if which == FIRST_BYTE { sums[BODY] } else { 0 };
    sums[LATENCY].wrapping_sub(others).wrapping_sub(body)
}

/// How many low bits of the gaps between so many buckets are written as they are.
fn low_bits(first: u32, last: u32, gaps: u64) -> u32 {
    let mean = u64::from(last.saturating_sub(first)) / gaps.max(1);
    mean.max(1).ilog2().saturating_sub(2)
}

/// Rows that were read, in their order, without memory of their own for each: the numbers of them all, and their buckets.
#[derive(Debug, Clone, Default)]
pub struct ColumnRows {
    rows: Vec<ColumnRow>,
    error_kinds: Vec<(ErrorKind, u64)>,
    status: Vec<(u16, u64)>,
    times: Vec<ColumnTimes>,
    buckets: Vec<Bucket>,
}

/// A row; its lists end where the next one's begin.
#[derive(Debug, Clone, Copy, Default)]
struct ColumnRow {
    /// Count, errors, cut off, not sent, retries, bytes in and out.
    numbers: [u64; 7],
    error_kinds: (u32, u32),
    status: (u32, u32),
    times: (u32, u32),
}

/// A histogram of a row.
#[derive(Debug, Clone, Copy)]
struct ColumnTimes {
    which: u8,
    parts: Parts,
    buckets: (u32, u32),
}

/// A part of a list.
fn part<T>(list: &[T], (from, to): (u32, u32)) -> &[T] {
    list.get(from as usize..to as usize).unwrap_or_default()
}

impl ColumnRows {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row to statistics; one that is not there has recorded nothing.
    pub fn merge_into(&self, row: usize, stats: &mut RequestStats) {
        let Some(row) = self.rows.get(row) else { return };
        let own = [
            &mut stats.count,
            &mut stats.errors,
            &mut stats.cut_off,
            &mut stats.not_sent,
            &mut stats.retries,
            &mut stats.bytes_in,
            &mut stats.bytes_out,
        ];
        for (own, number) in own.into_iter().zip(row.numbers) {
            *own = own.saturating_add(number);
        }
        for (kind, count) in part(&self.error_kinds, row.error_kinds) {
            add(&mut stats.error_kinds, *kind, *count);
        }
        for (status, count) in part(&self.status, row.status) {
            add(&mut stats.status, *status, *count);
        }
        for times in part(&self.times, row.times) {
            let which = usize::from(times.which);
            match which.checked_sub(FINE_TIMES) {
                None => {
                    if let Some(own) = stats.fine_mut().into_iter().nth(which) {
                        self.merge_times(times, own);
                    }
                }
                Some(phase) => {
                    if let Some(own) = stats.phases.get_mut(phase) {
                        self.merge_times(times, own);
                    }
                }
            }
        }
    }

    fn merge_times<const BITS: u32>(&self, times: &ColumnTimes, own: &mut Histogram<BITS>) {
        let buckets = part(&self.buckets, times.buckets).iter();
        own.merge_parts(&times.parts, buckets.map(|(index, count)| (*index as usize, *count)));
    }

    /// Adds the latency of a row to a histogram.
    pub fn merge_latency(&self, row: usize, latency: &mut Histogram) {
        let Some(row) = self.rows.get(row) else { return };
        let times = part(&self.times, row.times);
        for own in times.iter().filter(|own| usize::from(own.which) == LATENCY) {
            self.merge_times(own, latency);
        }
    }

    /// Requests of a row that have ended, and errors among them.
    pub fn counts(&self, row: usize) -> (u64, u64) {
        self.rows.get(row).map_or((0, 0), |row| (row.numbers[0], row.numbers[1]))
    }
}
