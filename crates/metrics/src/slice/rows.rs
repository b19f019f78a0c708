//! Statistics of the rows that were used in a second, by number.

use crate::codec::{self, DecodeError};
use crate::names::{MAX_NUMBERS, NameId};
use crate::request_stats::RequestStats;

/// Rows above which a slice frees its memory each second: so many names are rarely used again at once,
/// and allocating them anew costs less than keeping them.
const MAX_REUSED_ROWS: usize = 64;

/// How a row is read that a version of slices has written, into one that is empty.
pub(super) type DecodeRow = fn(&mut RequestStats, &mut &[u8], u64) -> Result<(), DecodeError>;

/// Statistics by the number of a name.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Rows {
    rows: Vec<Option<Box<RequestStats>>>,
    /// Numbers of the names that were used in this second, in the order of their first use.
    pub(super) touched: Vec<u32>,
}

impl Rows {
    pub(super) fn row(&mut self, NameId(name): NameId) -> &mut RequestStats {
        let index = name as usize;
        if self.rows.len() <= index {
            self.rows.resize_with(index + 1, || None);
        }
        let row = self.rows[index].get_or_insert_with(Box::default);
        if row.is_empty() {
            self.touched.push(name);
        }
        row
    }

    pub(super) fn put(&mut self, name: u32, row: Box<RequestStats>) {
        let index = name as usize;
        if self.rows.len() <= index {
            self.rows.resize_with(index + 1, || None);
        }
        if self.rows[index].replace(row).is_none() {
            self.touched.push(name);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (NameId, &RequestStats)> {
        self.touched.iter().filter_map(|name| {
            let row = self.rows.get(*name as usize)?.as_deref()?;
            Some((NameId(*name), row))
        })
    }

    pub(super) fn clear(&mut self) {
        if self.touched.len() > MAX_REUSED_ROWS {
            self.rows.clear();
        }
        for name in self.touched.drain(..) {
            if let Some(Some(row)) = self.rows.get_mut(name as usize) {
                row.clear();
            }
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let rows =
            self.rows.iter().flatten().map(|row| size_of::<RequestStats>() + row.heap_bytes());
        self.rows.capacity() * 8 + self.touched.capacity() * 4 + rows.sum::<usize>()
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        codec::put(out, self.touched.len() as u64);
        for (NameId(id), row) in self.iter() {
            codec::put(out, u64::from(id));
            codec::put_block(out, |out| row.encode(out));
        }
    }

    /// Reads rows that a version has written, each by `decode`.
    pub(super) fn decode(
        bytes: &mut &[u8],
        (decode, version): (DecodeRow, u64),
    ) -> Result<Rows, DecodeError> {
        let mut rows = Rows::default();
        for _ in 0..codec::get(bytes)? {
            let id = codec::get_u32(bytes)?;
            let mut row = Box::<RequestStats>::default();
            decode(&mut row, &mut codec::get_bytes(bytes)?, version)?;
            if id >= MAX_NUMBERS || row.is_empty() {
                return Err(DecodeError("the number of a name is out of range"));
            }
            rows.put(id, row);
        }
        Ok(rows)
    }
}
