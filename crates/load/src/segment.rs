//! Shares of numbered things: users, arrivals, rows.

/// The numbers that one worker, or one node, takes: number i belongs to shard i mod S, and a segment
/// is a set of shards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Shards in ascending order, each below `of`.
    shards: Box<[u32]>,
    of: u32,
}

impl Segment {
    /// Everything.
    pub fn all() -> Segment {
        Segment { shards: Box::new([0]), of: 1 }
    }

    /// The share of worker `index` out of `of`. An index that is too large takes nothing.
    pub fn worker(index: u32, of: u32) -> Segment {
        Segment::of_shards(&[index], of)
    }

    /// The share of a set of shards out of `of`; shards that do not exist are left out.
    pub fn of_shards(shards: &[u32], of: u32) -> Segment {
        let of = of.max(1);
        let mut shards: Vec<u32> = shards.iter().copied().filter(|shard| *shard < of).collect();
        shards.sort_unstable();
        shards.dedup();
        Segment { shards: shards.into(), of }
    }

    /// Whether number `i` is in it.
    pub fn owns(&self, i: u64) -> bool {
        let shard = (i % u64::from(self.of)) as u32;
        self.shards.binary_search(&shard).is_ok()
    }

    /// How many of the numbers below `n` are in it.
    pub fn count_below(&self, n: u64) -> u64 {
        let (rounds, rest) = (n / u64::from(self.of), (n % u64::from(self.of)) as u32);
        let begun = self.shards.partition_point(|shard| *shard < rest);
        rounds * self.shards.len() as u64 + begun as u64
    }

    /// The `k`-th number in it, from 0. An empty segment has none: it gives `u64::MAX`.
    pub fn nth(&self, k: u64) -> u64 {
        let size = self.shards.len() as u64;
        if size == 0 {
            return u64::MAX;
        }
        k / size * u64::from(self.of) + u64::from(self.shards[(k % size) as usize])
    }

    /// The smallest `n` for which [`Segment::count_below`] differs from that of `from`: one above the
    /// next number in it at or after `from`.
    pub(crate) fn next_step(&self, from: u64) -> u64 {
        self.nth(self.count_below(from)).saturating_add(1)
    }

    /// The largest `n` below `from` for which [`Segment::count_below`] is smaller than that of
    /// `from`: the last number in it below `from`. `None`: there is none.
    pub(crate) fn last_step(&self, from: u64) -> Option<u64> {
        self.count_below(from).checked_sub(1).map(|k| self.nth(k))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_second_number() {
        let second = Segment::worker(1, 2);
        assert_eq!((0..5).map(|n| second.count_below(n)).collect::<Vec<_>>(), [0, 0, 1, 1, 2]);
        assert_eq!((0..3).map(|k| second.nth(k)).collect::<Vec<_>>(), [1, 3, 5]);
        assert_eq!(Segment::worker(2, 2).count_below(100), 0);
    }

    proptest! {
        #[test]
        fn workers_add_up(n in 0u64..1_000_000, of in 1u32..40) {
            let sum: u64 = (0..of).map(|worker| Segment::worker(worker, of).count_below(n)).sum();
            prop_assert_eq!(sum, n);
            let owners = (0..of).filter(|worker| Segment::worker(*worker, of).owns(n)).count();
            prop_assert_eq!(owners, 1);
        }

        #[test]
        fn nth_and_count_are_inverse(shards in prop::collection::vec(0u32..16, 1..10), k in 0u64..100_000) {
            let segment = Segment::of_shards(&shards, 16);
            let number = segment.nth(k);
            prop_assert!(segment.owns(number));
            prop_assert_eq!(segment.count_below(number), k);
            prop_assert_eq!(segment.next_step(number), number + 1);
            prop_assert_eq!(segment.last_step(number + 1), Some(number));
        }
    }
}
