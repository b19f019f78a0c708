//! Reads rows that were written as columns. They come from elsewhere: every number is checked, and memory grows with what
//! is there, whatever it says.

use super::bits::BitReader;
use super::{
    BESIDE, BY_BUCKET, Bucket, COLUMNS, COUNTERS, ColumnRow, ColumnRows, ColumnTimes, DIFFERENCES,
    EACH_BESIDE, EMPTY, FORMS, GAPS, LATENCY, LOW_BITS, MULTIPLES, ONE_BY_ONE, ORDER, SIZES, TIMES,
    beside, bucket_of, index_in, is_beside_latency, low_bits, part, sum_beside, sum_of_middles,
};
use crate::codec::{self, DecodeError};
use crate::error_kind::ErrorKind;
use crate::histogram::{HIGHEST, Parts};
use crate::names::MAX_NUMBERS;

const OUT_OF_RANGE: DecodeError = DecodeError("a histogram's bucket is out of range");

impl ColumnRows {
    /// Reads what [`super::Columns::of`] wrote.
    ///
    /// # Errors
    /// The bytes are not of that form.
    pub fn decode(columns: [&[u8]; COLUMNS]) -> Result<ColumnRows, DecodeError> {
        let low = BitReader::new(columns[LOW_BITS]);
        let mut reader = Reader { columns, low, rows: ColumnRows::default() };
        reader.counters()?;
        reader.all_times()?;
        Ok(reader.rows)
    }
}

struct Reader<'c> {
    columns: [&'c [u8]; COLUMNS],
    low: BitReader<'c>,
    rows: ColumnRows,
}

impl Reader<'_> {
    #[inline]
    fn get(&mut self, column: usize) -> Result<u64, DecodeError> {
        codec::get(&mut self.columns[column])
    }

    fn get_difference(&mut self, column: usize, from: u64) -> Result<u64, DecodeError> {
        Ok(from.wrapping_add(codec::get_signed(&mut self.columns[column])? as u64))
    }

    fn counters(&mut self) -> Result<(), DecodeError> {
        let rows = self.get(COUNTERS)?;
        // Each has a byte for each of its numbers.
        let most = (self.columns[COUNTERS].len() as u64 / 7).min(u64::from(MAX_NUMBERS));
        if rows > most {
            return Err(DecodeError("there are more rows than bytes"));
        }
        self.rows.rows.resize(rows as usize, ColumnRow::default());
        for number in 0..7 {
            for row in 0..rows as usize {
                self.rows.rows[row].numbers[number] = self.get(COUNTERS)?;
            }
        }
        for row in 0..rows as usize {
            let from = self.rows.error_kinds.len() as u32;
            for _ in 0..self.get(COUNTERS)? {
                let kind = ErrorKind::from_number(self.get(COUNTERS)?);
                let count = self.get(COUNTERS)?;
                let kind = kind.ok_or(DecodeError("unknown kind of error"))?;
                self.rows.error_kinds.push((kind, count));
            }
            self.rows.rows[row].error_kinds = (from, self.rows.error_kinds.len() as u32);
        }
        for row in 0..rows as usize {
            let from = self.rows.status.len() as u32;
            let mut left = self.rows.rows[row].numbers[0];
            for _ in 0..self.get(COUNTERS)? {
                let status = u16::try_from(self.get(COUNTERS)?);
                let status = status.map_err(|_| DecodeError("a status is out of range"))?;
                let count = self.get_difference(COUNTERS, left)?;
                left = left.wrapping_sub(count);
                self.rows.status.push((status, count));
            }
            self.rows.rows[row].status = (from, self.rows.status.len() as u32);
        }
        Ok(())
    }

    /// The histograms come kind by kind; here they are put together row by row.
    fn all_times(&mut self) -> Result<(), DecodeError> {
        let rows = self.rows.rows.len();
        let mut sums = vec![[0; TIMES]; rows];
        let mut latencies: Vec<Option<ColumnTimes>> = vec![None; rows];
        let mut all: Vec<(u32, ColumnTimes)> = Vec::new();
        for which in ORDER {
            for row in 0..rows {
                let form = self.get(FORMS)?;
                if form == EMPTY {
                    continue;
                }
                let from = self.rows.buckets.len() as u32;
                let parts = match form {
                    BESIDE | EACH_BESIDE => {
                        let is_each = form == EACH_BESIDE;
                        self.beside((which, is_each), latencies[row], &sums[row])?
                    }
                    _ => self.alone(which, form, self.rows.rows[row].numbers[0])?,
                };
                let buckets = (from, self.rows.buckets.len() as u32);
                let times = ColumnTimes { which: which as u8, parts, buckets };
                sums[row][which] = parts.sum_ns;
                if which == LATENCY {
                    latencies[row] = Some(times);
                }
                all.push((row as u32, times));
            }
        }
        // Stable: those of a row stay in their order.
        all.sort_by_key(|(row, _)| *row);
        let mut at = 0;
        for (row, own) in self.rows.rows.iter_mut().enumerate() {
            let from = at;
            at += all[at..].iter().take_while(|(of, _)| *of as usize == row).count();
            own.times = (from as u32, at as u32);
        }
        self.rows.times = all.into_iter().map(|(_, times)| times).collect();
        Ok(())
    }

    /// A histogram that stands alone.
    fn alone(&mut self, which: usize, form: u64, rows: u64) -> Result<Parts, DecodeError> {
        let count = self.get_difference(FORMS, rows)?;
        let min = self.get(SIZES)?;
        let max = min.saturating_add(self.get(SIZES)?);
        if count == 0 || max > HIGHEST {
            return Err(OUT_OF_RANGE);
        }
        let (first, last) = (index_in(which, min), index_in(which, max));
        let from = self.rows.buckets.len();
        match form {
            ONE_BY_ONE => self.one_by_one(first, last, count)?,
            _ => self.by_bucket(first, last, (count, form - BY_BUCKET))?,
        }
        let middles = sum_of_middles(which, &self.rows.buckets[from..]);
        let sum_ns = self.get_difference(SIZES, middles)?;
        Ok(Parts { count, min, max, sum_ns })
    }

    fn one_by_one(&mut self, first: u32, last: u32, count: u64) -> Result<(), DecodeError> {
        if first == last {
            self.rows.buckets.push((first, count));
            return Ok(());
        }
        let mut open = (first, 1);
        let low = low_bits(first, last, count - 1);
        for _ in 0..count.checked_sub(2).ok_or(OUT_OF_RANGE)? {
            self.value(&mut open, low)?;
        }
        if open.0 > last {
            return Err(OUT_OF_RANGE);
        }
        self.step(&mut open, last);
        self.rows.buckets.push(open);
        Ok(())
    }

    /// The next value, whose bucket may be the one before's.
    #[inline]
    fn value(&mut self, open: &mut Bucket, low: u32) -> Result<(), DecodeError> {
        let index = u64::from(open.0).saturating_add(self.gap(low)?);
        self.step(open, u32::try_from(index).map_err(|_| OUT_OF_RANGE)?);
        Ok(())
    }

    #[inline]
    fn step(&mut self, open: &mut Bucket, index: u32) {
        if index == open.0 {
            open.1 += 1;
        } else {
            self.rows.buckets.push(*open);
            *open = (index, 1);
        }
    }

    #[inline]
    fn gap(&mut self, low: u32) -> Result<u64, DecodeError> {
        let high = self.get(GAPS)?;
        // No gap is as long as the highest index, which has 17 bits.
        if high > 1 << 20 {
            return Err(OUT_OF_RANGE);
        }
        Ok(high << low | self.low.get(low)?)
    }

    fn by_bucket(
        &mut self,
        first: u32,
        last: u32,
        (count, buckets): (u64, u64),
    ) -> Result<(), DecodeError> {
        let low = low_bits(first, last, buckets - 1);
        let (mut index, mut left) = (first, count);
        for at in 0..buckets {
            let is_last = at + 1 == buckets;
            if at > 0 {
                let gap = if is_last { None } else { Some(self.gap(low)?) };
                let next = gap.map_or(u64::from(last), |gap| u64::from(index) + 1 + gap);
                if next <= u64::from(index) || next > u64::from(last) {
                    return Err(OUT_OF_RANGE);
                }
                index = next as u32;
            } else if is_last && first != last {
                return Err(OUT_OF_RANGE);
            }
            let own = if is_last { left } else { self.get(MULTIPLES)?.saturating_add(1) };
            left = left.checked_sub(own).ok_or(OUT_OF_RANGE)?;
            if own == 0 {
                return Err(OUT_OF_RANGE);
            }
            self.rows.buckets.push((index, own));
        }
        Ok(())
    }

    /// A histogram that was written beside the row's latency, each of its values by itself or not.
    fn beside(
        &mut self,
        (which, is_each): (usize, bool),
        latency: Option<ColumnTimes>,
        sums: &[u64; TIMES],
    ) -> Result<Parts, DecodeError> {
        let latency = latency.filter(|_| is_beside_latency(which)).ok_or(OUT_OF_RANGE)?;
        let count = latency.parts.count;
        let min = self.get_back(latency.parts.min)?;
        let max = self.get_back(latency.parts.max)?;
        let sum_ns = self.get_difference(SIZES, sum_beside(which, sums))?;
        if min > max || max > HIGHEST {
            return Err(OUT_OF_RANGE);
        }
        let highest = index_in(which, HIGHEST);
        let reference = latency.buckets;
        let (mut at, mut there) = (0, (0, 0));
        let (mut run, mut left) = ((0, 0), count);
        let mut open: Option<Bucket> = None;
        while left > 0 {
            if run.1 == 0 {
                let difference = codec::get_signed(&mut self.columns[DIFFERENCES])?;
                let more = if is_each { 0 } else { self.get(MULTIPLES)? };
                run = (difference, more.saturating_add(1));
            }
            if there.1 == 0 {
                there = *part(&self.rows.buckets, reference).get(at).ok_or(OUT_OF_RANGE)?;
                at += 1;
            }
            let some = run.1.min(there.1).min(left);
            let index = i64::from(beside(which, there.0)).checked_sub(run.0);
            let index = index.and_then(|index| u32::try_from(index).ok());
            let index = index.filter(|index| *index <= highest).ok_or(OUT_OF_RANGE)?;
            (run.1, there.1, left) = (run.1 - some, there.1 - some, left - some);
            match &mut open {
                Some((own, count)) if *own == index => *count += some,
                Some((own, _)) if *own > index => return Err(OUT_OF_RANGE),
                _ => self.rows.buckets.extend(open.replace((index, some))),
            }
        }
        self.rows.buckets.extend(open);
        debug_assert!(bucket_of(which, highest).0 <= HIGHEST);
        Ok(Parts { count, min, max, sum_ns })
    }

    /// A number of which is written how much it lies below a known one.
    fn get_back(&mut self, known: u64) -> Result<u64, DecodeError> {
        Ok(known.wrapping_sub(codec::get_signed(&mut self.columns[SIZES])? as u64))
    }
}
