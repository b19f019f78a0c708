//! Sets of numbers, as ranges.

use std::fmt::Write as _;

use super::units::Shards;

/// Most shards of a run.
pub const SHARDS: u32 = 1 << 20;

/// A set of numbers that mostly come one after the other, as ascending ranges that do not touch: first and last of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Adds a number; whether it was not there.
    pub fn insert(&mut self, number: u64) -> bool {
        let after = self.0.partition_point(|range| range.0 <= number);
        if after > 0 && number <= self.0[after - 1].1 {
            return false;
        }
        let joins_before = after > 0 && self.0[after - 1].1 + 1 == number;
        let joins_after = self.0.get(after).is_some_and(|next| number + 1 == next.0);
        match (joins_before, joins_after) {
            (true, true) => {
                self.0[after - 1].1 = self.0[after].1;
                self.0.remove(after);
            }
            (true, false) => self.0[after - 1].1 = number,
            (false, true) => self.0[after].0 = number,
            (false, false) => self.0.insert(after, (number, number)),
        }
        true
    }

    /// Whether a number is in it.
    pub fn contains(&self, number: u64) -> bool {
        let after = self.0.partition_point(|range| range.0 <= number);
        after > 0 && number <= self.0[after - 1].1
    }

    /// What is in it and not in the other.
    pub fn without(&self, other: &Ranges) -> Ranges {
        Ranges(self.0.iter().flat_map(|&(first, last)| other.gaps(first, last + 1)).collect())
    }

    /// How many ranges it has.
    pub fn pieces(&self) -> usize {
        self.0.len()
    }

    /// How many numbers from 0 on are in it, until the first that is not.
    pub fn prefix(&self) -> u64 {
        self.0.first().filter(|range| range.0 == 0).map_or(0, |range| range.1 + 1)
    }

    /// One more than the greatest; 0 of none.
    pub fn end(&self) -> u64 {
        self.0.last().map_or(0, |range| range.1 + 1)
    }

    /// What is not in it of the numbers from `from` up to, not including, `to`: first and last of each gap.
    pub fn gaps(&self, from: u64, to: u64) -> Vec<(u64, u64)> {
        let mut gaps = Vec::new();
        let mut at = from;
        let first = self.0.partition_point(|range| range.1 < from);
        for &(start, end) in &self.0[first..] {
            if at >= to || start >= to {
                break;
            }
            if start > at {
                gaps.push((at, start - 1));
            }
            at = end + 1;
        }
        if at < to {
            gaps.push((at, to - 1));
        }
        gaps
    }
}

/// Ascending shards as ranges: first and last of each.
pub fn of_shards(shards: &[u32]) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &shard in shards {
        match ranges.last_mut() {
            Some(range) if range.1 + 1 == shard => range.1 = shard,
            _ => ranges.push((shard, shard)),
        }
    }
    ranges
}

/// The shards of ranges; `None` if they do not ascend, or are beyond what a run may have.
pub fn shards_of(ranges: impl Iterator<Item = (u32, u32)>) -> Option<Shards> {
    let mut shards: Vec<u32> = Vec::new();
    for (first, last) in ranges {
        if first > last || last >= SHARDS || shards.last().is_some_and(|&before| before >= first) {
            return None;
        }
        shards.extend(first..=last);
    }
    Some(shards.into())
}

/// Shards as a person reads them: `0-3,7`.
pub fn text(shards: &[u32]) -> String {
    let mut text = String::new();
    for (first, last) in of_shards(shards) {
        if !text.is_empty() {
            text.push(',');
        }
        // Writing to a string cannot fail.
        let _ =
            if first == last { write!(text, "{first}") } else { write!(text, "{first}-{last}") };
    }
    text
}

/// Reads what [`text`] writes.
pub fn read(text: &str) -> Option<Shards> {
    if text.is_empty() {
        return Some(Shards::from([]));
    }
    let ranges: Option<Vec<(u32, u32)>> = text
        .split(',')
        .map(|piece| {
            let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
            Some((first.parse().ok()?, last.parse().ok()?))
        })
        .collect();
    shards_of(ranges?.into_iter())
}

/// Shards in messages: as text, which is short for those that come one after the other.
pub mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::protocol::units::Shards;

    /// Writes.
    pub fn serialize<S: Serializer>(shards: &Shards, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&crate::protocol::ranges::text(shards))
    }

    /// Reads.
    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Shards, D::Error> {
        let text = <std::borrow::Cow<'d, str>>::deserialize(from)?;
        crate::protocol::ranges::read(&text)
            .ok_or_else(|| D::Error::custom("expected ascending shards, such as 0-3,7"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_any_order_become_one_range() {
        let mut set = Ranges::default();
        for number in [3, 0, 2, 9, 1] {
            assert!(set.insert(number));
        }
        assert!(!set.insert(2));
        assert_eq!((set.prefix(), set.end(), set.pieces()), (4, 10, 2));
        assert_eq!(set.gaps(0, 12), [(4, 8), (10, 11)]);
        assert_eq!(set.gaps(2, 4), []);
        assert_eq!(set.gaps(5, 7), [(5, 6)]);
        assert!(set.contains(9) && !set.contains(4));
    }

    #[test]
    fn shards_are_read_as_they_were_written() {
        for shards in [&[][..], &[7], &[0, 1, 2, 5], &[1, 3, 5, 6, 7, SHARDS - 1]] {
            assert_eq!(&read(&text(shards)).unwrap()[..], shards);
        }
        for wrong in ["3-1", "1,1", "x", "0-9999999", "5,2", ",", "-"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
