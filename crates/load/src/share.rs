//! The one place where numbered things (users, arrivals, iterations, rows of data) are split over
//! nodes and workers.

use crate::error::ShapeError;

/// The numbers that one node or one worker takes.
///
/// All numbers are dealt to `of` shards, number i to shard i mod `of`; a share is a set of shards.
/// Two shares without a common number, such as the shares of two workers, never meet.
///
/// Shares can be split ([`Share::worker_of`]) and handed over ([`Share::union`],
/// [`Share::without`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// Ascending, each below `of`.
    shards: Box<[u64]>,
    of: u64,
}

/// The streams of a Poisson process ([`crate::Pattern::Poisson`]): a number with many divisors.
pub(crate) const POISSON_STREAMS: u64 = 840;

/// Most shards that a share from outside may be counted in.
const MAX_OF: u64 = 1 << 20;
/// Most shards in all that splitting makes: enough for 2^20 nodes of 2^20 workers.
const MAX_SPLIT: u64 = 1 << 40;

impl Share {
    pub fn all() -> Share {
        Share { shards: Box::new([0]), of: 1 }
    }

    /// A set of shards out of `of`, in any order.
    ///
    /// # Errors
    /// `of` is not between 1 and 1,048,576, or a shard is not below it.
    pub fn new(shards: &[u64], of: u64) -> Result<Share, ShapeError> {
        if !(1..=MAX_OF).contains(&of) {
            return Err(ShapeError(format!("a load is split into 1 to {MAX_OF} shards, not {of}")));
        }
        if let Some(shard) = shards.iter().find(|shard| **shard >= of) {
            return Err(ShapeError(format!("shard {shard} is not one of 0 to {}", of - 1)));
        }
        let mut shards = shards.to_vec();
        shards.sort_unstable();
        shards.dedup();
        Ok(Share { shards: shards.into(), of })
    }

    /// The shards in it, ascending. With [`Share::of`] this is all there is to a share.
    pub fn shards(&self) -> &[u64] {
        &self.shards
    }

    /// The number of shards of the whole.
    pub fn of(&self) -> u64 {
        self.of
    }

    /// The part of worker `index` of `workers` that divide this share. The parts are disjoint, add up
    /// to the share exactly, and have the same number of shards each. Whole shards are dealt out
    /// where their number allows that; otherwise every shard is divided into as few finer ones as it
    /// takes.
    ///
    /// An index that is not below `workers` gets nothing.
    pub fn worker_of(&self, index: u32, workers: u32) -> Share {
        let (index, workers) = (u64::from(index), u64::from(workers));
        let count = self.shards.len() as u64;
        if index >= workers || count == 0 {
            return Share { shards: Box::new([]), of: self.of };
        }
        let factor = workers / gcd(count, workers);
        // Parts that are too fine are not made: whole shards dealt out still add up to the share.
        let fine = self.of.checked_mul(factor).filter(|of| *of <= MAX_SPLIT);
        let (factor, of) = fine.map_or((1, self.of), |of| (factor, of));
        // Finer shards in ascending order: part j of each shard lies below part j + 1 of any.
        let nth = |k: u64| self.shards[(k % count) as usize] + k / count * self.of;
        let shards = (index..count * factor).step_by(workers as usize).map(nth).collect();
        Share { shards, of }
    }

    /// A share of nothing, counted in as many shards.
    pub fn none(&self) -> Share {
        Share { shards: Box::new([]), of: self.of }
    }

    /// The shards of it all of whose numbers are in another share.
    pub fn within(&self, other: &Share) -> Share {
        let is_within = |shard: &u64| {
            let factor = other.of / gcd(self.of, other.of);
            (0..factor).all(|part| other.owns(shard + part * self.of))
        };
        let shards = self.shards.iter().copied().filter(is_within).collect();
        Share { shards, of: self.of }
    }

    /// This share and another one, which may overlap.
    ///
    /// # Errors
    /// Both counted in common shards would be more than 1,048,576 shards.
    pub fn union(&self, other: &Share) -> Result<Share, ShapeError> {
        let (mut shards, theirs, of) = self.in_common(other)?;
        shards.extend(theirs);
        shards.sort_unstable();
        shards.dedup();
        Ok(Share { shards: shards.into(), of })
    }

    /// What of this share is not in another one.
    ///
    /// # Errors
    /// Both counted in common shards would be more than 1,048,576 shards.
    pub fn without(&self, other: &Share) -> Result<Share, ShapeError> {
        let (mut shards, theirs, of) = self.in_common(other)?;
        shards.retain(|shard| theirs.binary_search(shard).is_err());
        Ok(Share { shards: shards.into(), of })
    }

    /// The shards of two shares, both out of the same number, which is returned too.
    fn in_common(&self, other: &Share) -> Result<(Vec<u64>, Vec<u64>, u64), ShapeError> {
        let factor = other.of / gcd(self.of, other.of);
        let of = self.of.checked_mul(factor).filter(|of| *of <= MAX_SPLIT);
        let size = |share: &Share| of.map(|of| of / share.of * share.shards.len() as u64);
        match (of, size(self), size(other)) {
            (Some(of), Some(own), Some(theirs)) if own.max(theirs) <= MAX_OF => {
                Ok((self.divided(of), other.divided(of), of))
            }
            _ => Err(ShapeError(format!(
                "shares out of {} and out of {} shards have too many shards together",
                self.of, other.of
            ))),
        }
    }

    /// The same numbers in `of` shards. `None`: `of` is no multiple of the present number, or they would be too many.
    pub(crate) fn in_shards_of(&self, of: u64) -> Option<Share> {
        let factor = of.checked_div(self.of).filter(|factor| factor * self.of == of)?;
        (self.shards.len() as u64 * factor <= MAX_OF && of <= MAX_SPLIT)
            .then(|| Share { shards: self.divided(of).into(), of })
    }

    /// Shards in any order, each of them below `of`, and once.
    pub(crate) fn of_shards(mut shards: Vec<u64>, of: u64) -> Share {
        shards.sort_unstable();
        Share { shards: shards.into(), of }
    }

    /// What this share has if all numbers are dealt to the first `count` shards alone: of arrivals for so many users, each
    /// of which is in another shard. As it is, if there are no more shards than that.
    pub fn among_first(&self, count: u64) -> Share {
        if count == 0 || count >= self.of {
            return self.clone();
        }
        let shards = self.shards.iter().copied().filter(|shard| *shard < count).collect();
        Share { shards, of: count }
    }

    /// The number of shards into which a load is best cut for so many workers in all: at least four for each, so that
    /// what a lost node had can be spread, and a divisor or a multiple of 840, so that nobody draws arrivals of a
    /// Poisson process that are another's.
    pub fn shards_for(workers: u64) -> u64 {
        let least = workers.saturating_mul(4).clamp(1, MAX_OF - POISSON_STREAMS);
        let divisor = (least..=POISSON_STREAMS).find(|of| POISSON_STREAMS.is_multiple_of(*of));
        divisor.unwrap_or_else(|| least.next_multiple_of(POISSON_STREAMS))
    }

    /// Its shards out of `of`, a multiple of its own number; ascending.
    fn divided(&self, of: u64) -> Vec<u64> {
        let parts = 0..of / self.of;
        parts.flat_map(|part| self.shards.iter().map(move |s| s + part * self.of)).collect()
    }

    /// Whether number `i` is in it.
    pub fn owns(&self, i: u64) -> bool {
        self.shards.binary_search(&(i % self.of)).is_ok()
    }

    /// How many of the numbers below `n` are in it.
    pub fn count_below(&self, n: u64) -> u64 {
        let (rounds, rest) = (n / self.of, n % self.of);
        let begun = self.shards.partition_point(|shard| *shard < rest);
        rounds * self.shards.len() as u64 + begun as u64
    }

    /// The `k`-th number in it, from 0. `None`: the share is empty, or the number is above 2^64 - 1.
    pub fn nth(&self, k: u64) -> Option<u64> {
        let round = k.checked_div(self.shards.len() as u64)?;
        let shard = self.shards[(k % self.shards.len() as u64) as usize];
        round.checked_mul(self.of)?.checked_add(shard)
    }
}

pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn share(shards: &[u64], of: u64) -> Share {
        Share::new(shards, of).expect("shards that exist")
    }

    #[test]
    fn every_second_number() {
        let second = Share::all().worker_of(1, 2);
        assert_eq!(second, share(&[1], 2));
        assert_eq!((0..5).map(|n| second.count_below(n)).collect::<Vec<_>>(), [0, 0, 1, 1, 2]);
        assert_eq!((0..3).filter_map(|k| second.nth(k)).collect::<Vec<_>>(), [1, 3, 5]);
        assert_eq!(Share::all().worker_of(2, 2).count_below(100), 0);
        assert_eq!(Share::all().worker_of(0, 0).nth(0), None);
    }

    #[test]
    fn whole_shards_are_dealt_out_where_they_suffice() {
        let node = share(&[0, 2, 4, 6], 8);
        assert_eq!(
            (node.worker_of(0, 2), node.worker_of(1, 2)),
            (share(&[0, 4], 8), share(&[2, 6], 8))
        );
        assert_eq!(share(&[3], 8).worker_of(1, 2), share(&[11], 16));
    }

    #[test]
    fn arrivals_of_few_users_go_to_the_shards_that_have_them() {
        let nodes = [share(&[0, 2], 4), share(&[1, 3], 4)].map(|node| node.among_first(3));
        assert_eq!(nodes, [share(&[0, 2], 3), share(&[1], 3)]);
        assert_eq!(share(&[3], 4).among_first(3).count_below(99), 0);
        assert_eq!(share(&[3], 4).among_first(9), share(&[3], 4));
    }

    #[test]
    fn a_load_is_cut_into_at_least_four_shards_a_worker() {
        let cut = |workers| Share::shards_for(workers);
        assert_eq!(
            [0, 1, 2, 5, 40, 210, 211, 1_000].map(cut),
            [1, 4, 8, 20, 168, 840, 1_680, 4_200]
        );
        for workers in (1..5_000).chain([u64::MAX]) {
            let of = cut(workers);
            assert!(Share::new(&[0], of).is_ok() && of >= workers.min(100_000) * 4);
            assert!(840 % of == 0 || of % 840 == 0, "{of}");
        }
    }

    #[test]
    fn a_share_that_does_not_exist_is_an_error() {
        for (shards, of) in [(&[0][..], 0), (&[2], 2), (&[0], MAX_OF + 1)] {
            assert!(Share::new(shards, of).is_err(), "{shards:?} of {of}");
        }
        assert_eq!(share(&[1, 0, 1], 2).shards(), [0, 1]);
    }

    #[test]
    fn a_split_that_becomes_too_fine_still_adds_up() {
        let mut part = Share::all();
        for _ in 0..4 {
            part = part.worker_of(1, u32::MAX);
        }
        assert!(part.of() <= MAX_SPLIT);
        let all: u64 = (0..3).map(|i| part.worker_of(i, 3).count_below(u64::MAX)).sum();
        assert_eq!(all, part.count_below(u64::MAX));
    }

    proptest! {
        /// Nodes with any shards of their own, each split over workers and once more.
        #[test]
        fn any_nested_split_adds_up(
            of in 1u64..20,
            pick in prop::collection::vec(0usize..3, 20),
            workers in prop::collection::vec((1u32..9, 1u32..5), 3),
            n in 0u64..100_000,
        ) {
            let mut parts = Vec::new();
            for (node, (outer, inner)) in workers.iter().enumerate() {
                let own: Vec<u64> = (0..of).filter(|shard| pick[*shard as usize] == node).collect();
                let node = share(&own, of);
                for i in 0..*outer {
                    let worker = node.worker_of(i, *outer);
                    parts.extend((0..*inner).map(|j| worker.worker_of(j, *inner)));
                }
            }
            prop_assert_eq!(parts.iter().map(|part| part.count_below(n)).sum::<u64>(), n);
            prop_assert_eq!(parts.iter().filter(|part| part.owns(n)).count(), 1);
        }

        #[test]
        fn workers_of_a_share_have_equal_parts(shards in prop::collection::vec(0u64..12, 1..8), workers in 1u32..9) {
            let node = share(&shards, 12);
            let sizes: Vec<_> =
                (0..workers).map(|i| node.worker_of(i, workers)).map(|w| (w.shards.len(), w.of)).collect();
            prop_assert!(sizes.windows(2).all(|pair| pair[0] == pair[1]));
        }

        #[test]
        fn nth_and_count_are_inverse(shards in prop::collection::vec(0u64..16, 1..10), k in 0u64..100_000) {
            let share = share(&shards, 16);
            let number = share.nth(k).expect("a small number");
            prop_assert!(share.owns(number));
            prop_assert_eq!(share.count_below(number), k);
            prop_assert_eq!(share.count_below(number + 1), k + 1);
        }

        /// A share that is handed over number by number is the one that set operations give.
        #[test]
        fn union_and_difference_are_those_of_sets(
            (a, a_of) in (prop::collection::vec(0u64..6, 0..6), 6u64..9),
            (b, b_of) in (prop::collection::vec(0u64..4, 0..4), 4u64..9),
        ) {
            let (a, b) = (share(&a, a_of), share(&b, b_of));
            let (union, without) = (a.union(&b).expect("few"), a.without(&b).expect("few"));
            for i in 0..600 {
                prop_assert_eq!(union.owns(i), a.owns(i) || b.owns(i));
                prop_assert_eq!(without.owns(i), a.owns(i) && !b.owns(i));
            }
            prop_assert!(union.shards.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(without.shards.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
