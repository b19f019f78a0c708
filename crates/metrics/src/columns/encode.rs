//! Writes rows as columns.

use super::bits::BitWriter;
use super::{
    BESIDE, BY_BUCKET, Bucket, COUNTERS, Columns, DIFFERENCES, EACH_BESIDE, EMPTY, FORMS, GAPS,
    LATENCY, LOW_BITS, MULTIPLES, ONE_BY_ONE, ORDER, SIZES, TIMES, beside, is_beside_latency,
    low_bits, sum_beside, sum_of_middles,
};
use crate::codec::{put, put_signed};
use crate::histogram::{Histogram, Parts};
use crate::request_stats::{FINE_TIMES, RequestStats};

impl Columns {
    /// Those of rows, in this order.
    pub fn of(rows: &[&RequestStats]) -> Columns {
        let mut writer = Writer::default();
        writer.counters(rows);
        let mut sums = vec![[0; TIMES]; rows.len()];
        let latencies: Vec<Vec<Bucket>> = rows.iter().map(|row| touched(&row.latency)).collect();
        for which in ORDER {
            for ((row, sums), latency) in rows.iter().zip(&mut sums).zip(&latencies) {
                let (parts, buckets) = match which.checked_sub(FINE_TIMES) {
                    None => of_histogram(row.fine()[which]),
                    Some(phase) => of_histogram(&row.phases[phase]),
                };
                sums[which] = parts.sum_ns;
                let own = Times { which, parts, buckets: &buckets, rows: row.count };
                writer.times(&own, (row.latency.parts(), latency), sums);
            }
        }
        let Writer { columns: mut all, low } = writer;
        low.finish(&mut all.0[LOW_BITS]);
        all
    }
}

fn touched<const BITS: u32>(histogram: &Histogram<BITS>) -> Vec<Bucket> {
    histogram.touched().map(|(index, count)| (index as u32, count)).collect()
}

fn of_histogram<const BITS: u32>(histogram: &Histogram<BITS>) -> (Parts, Vec<Bucket>) {
    match histogram.is_empty() {
        true => (Parts::default(), Vec::new()),
        false => (histogram.parts(), touched(histogram)),
    }
}

/// A histogram of a row, and how many requests the row has.
struct Times<'t> {
    which: usize,
    parts: Parts,
    buckets: &'t [Bucket],
    rows: u64,
}

#[derive(Default)]
struct Writer {
    columns: Columns,
    low: BitWriter,
}

impl Writer {
    fn put(&mut self, column: usize, number: u64) {
        put(&mut self.columns.0[column], number);
    }

    fn put_difference(&mut self, column: usize, from: u64, number: u64) {
        put_signed(&mut self.columns.0[column], number.wrapping_sub(from) as i64);
    }

    /// What was counted, number by number.
    fn counters(&mut self, rows: &[&RequestStats]) {
        type Number = fn(&RequestStats) -> u64;
        let numbers: [Number; 7] = [
            |row| row.count,
            |row| row.errors,
            |row| row.cut_off,
            |row| row.not_sent,
            |row| row.retries,
            |row| row.bytes_in,
            |row| row.bytes_out,
        ];
        self.put(COUNTERS, rows.len() as u64);
        for number in numbers {
            rows.iter().for_each(|row| self.put(COUNTERS, number(row)));
        }
        for row in rows {
            self.put(COUNTERS, row.error_kinds.len() as u64);
            for (kind, count) in &row.error_kinds {
                self.put(COUNTERS, *kind as u64);
                self.put(COUNTERS, *count);
            }
        }
        for row in rows {
            self.put(COUNTERS, row.status.len() as u64);
            // Of most rows every request has a status, so that the last one's count is what is left.
            let mut left = row.count;
            for (status, count) in row.status.iter().rev() {
                self.put(COUNTERS, u64::from(*status));
                self.put_difference(COUNTERS, left, *count);
                left = left.wrapping_sub(*count);
            }
        }
    }

    fn times(&mut self, own: &Times, latency: (Parts, &[Bucket]), sums: &[u64; TIMES]) {
        let buckets = own.buckets.len() as u64;
        let like = latency.0.count == own.parts.count && is_beside_latency(own.which);
        if own.buckets.is_empty() {
            self.put(FORMS, EMPTY);
        } else if like {
            self.beside(own, latency, sums);
        } else if own.parts.count <= 2 * buckets {
            self.put(FORMS, ONE_BY_ONE);
            self.head(own);
            self.one_by_one(own);
        } else {
            self.put(FORMS, BY_BUCKET + buckets);
            self.head(own);
            self.by_bucket(own);
        }
    }

    /// Count, smallest and largest value, and sum.
    fn head(&mut self, Times { which, parts, buckets, rows }: &Times) {
        self.put_difference(FORMS, *rows, parts.count);
        self.put(SIZES, parts.min);
        self.put(SIZES, parts.max.wrapping_sub(parts.min));
        self.put_difference(SIZES, sum_of_middles(*which, buckets), parts.sum_ns);
    }

    /// The gaps between the values in their order; the first and the last bucket are known.
    fn one_by_one(&mut self, own: &Times) {
        let (first, last) = ends(own.buckets);
        let gaps = own.parts.count - 1;
        if first == last {
            return;
        }
        let low = low_bits(first, last, gaps);
        let values = own.buckets.iter().flat_map(|(index, count)| (0..*count).map(|_| *index));
        let mut before = first;
        for index in values.skip(1).take(gaps as usize - 1) {
            self.gap(u64::from(index - before), low);
            before = index;
        }
    }

    /// The gaps between the buckets, and how many values each has but the last.
    fn by_bucket(&mut self, own: &Times) {
        let (first, last) = ends(own.buckets);
        let low = low_bits(first, last, own.buckets.len() as u64 - 1);
        let inner = own.buckets.len().saturating_sub(2);
        for two in own.buckets.windows(2).take(inner) {
            self.gap(u64::from(two[1].0 - two[0].0 - 1), low);
        }
        for (_, count) in &own.buckets[..own.buckets.len() - 1] {
            self.put(MULTIPLES, count - 1);
        }
    }

    fn gap(&mut self, gap: u64, low: u32) {
        self.put(GAPS, gap >> low);
        self.low.put(&mut self.columns.0[LOW_BITS], gap, low);
    }

    /// The differences from the latency, value by value in their order: each with how often it comes, unless nearly all
    /// differ from the one before.
    fn beside(
        &mut self,
        own: &Times,
        (latency, reference): (Parts, &[Bucket]),
        sums: &[u64; TIMES],
    ) {
        debug_assert_ne!(own.which, LATENCY);
        let runs = differences(own, reference);
        let is_each = 2 * runs.len() as u64 > own.parts.count;
        self.put(FORMS, if is_each { EACH_BESIDE } else { BESIDE });
        self.put_difference(SIZES, own.parts.min, latency.min);
        self.put_difference(SIZES, own.parts.max, latency.max);
        self.put_difference(SIZES, sum_beside(own.which, sums), own.parts.sum_ns);
        for (difference, length) in runs {
            let times = if is_each { length } else { 1 };
            (0..times).for_each(|_| put_signed(&mut self.columns.0[DIFFERENCES], difference));
            if !is_each {
                self.put(MULTIPLES, length - 1);
            }
        }
    }
}

/// By how many buckets the latency's values are above those of a histogram that has as many, in their order: each number with
/// how often it comes in a row.
fn differences(own: &Times, reference: &[Bucket]) -> Vec<(i64, u64)> {
    let (mut theirs, mut there) = (reference.iter().copied(), (0, 0));
    let mut runs: Vec<(i64, u64)> = Vec::new();
    for (index, mut count) in own.buckets.iter().copied() {
        while count > 0 {
            if there.1 == 0 {
                let Some(next) = theirs.next() else { break };
                there = next;
            }
            let some = count.min(there.1);
            let difference = i64::from(beside(own.which, there.0)) - i64::from(index);
            match runs.last_mut() {
                Some((of, length)) if *of == difference => *length += some,
                _ => runs.push((difference, some)),
            }
            count -= some;
            there.1 -= some;
        }
    }
    runs
}

/// The first and the last bucket of some.
fn ends(buckets: &[Bucket]) -> (u32, u32) {
    let at = |bucket: Option<&Bucket>| bucket.map_or(0, |(index, _)| *index);
    (at(buckets.first()), at(buckets.last()))
}
