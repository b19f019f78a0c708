//! How a share that changes stays divided among the same takers.

use std::collections::HashMap;

use crate::share::Share;

/// Divides a share among as many takers as have had parts of what was there before. What a taker had and is still there it
/// keeps; what is new goes to those who have least, of the lowest numbers first. `None`: the share is counted in shards
/// that have nothing in common with those of the parts, so that it has to be divided anew.
///
/// It follows from what was and is there alone, so that all takers find the same without asking each other.
pub fn deal_again(share: &Share, before: &[Share]) -> Option<Vec<Share>> {
    let of = before.first()?.of();
    if before.iter().all(|part| part.shards().is_empty() || part.of() != of) {
        return None;
    }
    let fine = share.in_shards_of(of)?;
    let kept = |part: &Share| part.shards().iter().copied().filter(|s| fine.owns(*s)).collect();
    let mut parts: Vec<Vec<u64>> = before.iter().map(kept).collect();
    let mut had: Vec<u64> = parts.iter().flatten().copied().collect();
    had.sort_unstable();
    // Numbers below `share.of()` are those of few users: each round of them is dealt evenly by itself.
    let round_of = |shard: u64| shard / share.of();
    let mut by_round: HashMap<(usize, u64), usize> = HashMap::new();
    for (taker, shards) in parts.iter().enumerate() {
        shards
            .iter()
            .for_each(|shard| *by_round.entry((taker, round_of(*shard))).or_default() += 1);
    }
    for shard in fine.shards().iter().copied().filter(|shard| had.binary_search(shard).is_err()) {
        let round = round_of(shard);
        let has = |taker: &usize| {
            let in_round = by_round.get(&(*taker, round)).copied().unwrap_or(0);
            (in_round, parts[*taker].len(), *taker)
        };
        let taker = (0..parts.len()).min_by_key(has)?;
        *by_round.entry((taker, round)).or_default() += 1;
        parts[taker].push(shard);
    }
    Some(parts.into_iter().map(|shards| Share::of_shards(shards, of)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn share(shards: &[u64], of: u64) -> Share {
        Share::new(shards, of).expect("shards that exist")
    }

    fn workers(share: &Share, of: u32) -> Vec<Share> {
        (0..of).map(|worker| share.worker_of(worker, of)).collect()
    }

    #[test]
    fn who_has_least_gets_what_is_new() {
        let before = workers(&share(&[0, 1, 2, 3], 8), 2);
        let after = deal_again(&share(&[0, 2, 3, 5, 6], 8), &before).expect("the same shards");
        assert_eq!(after, [share(&[0, 2, 6], 8), share(&[3, 5], 8)]);
        assert_eq!(deal_again(&share(&[0], 8), &workers(&share(&[], 8), 2)), None);
        assert_eq!(deal_again(&share(&[0], 3), &before), None);
    }

    proptest! {
        /// Whatever the shares that follow each other: all of it is dealt, each shard once; what stays is where it was, and
        /// what was taken is spread.
        #[test]
        fn nothing_is_lost_doubled_or_moved(
            shares in prop::collection::vec(prop::collection::btree_set(0u64..12, 1..12), 2..6),
            takers in 1u32..6,
            number in 0u64..10_000,
        ) {
            let shares: Vec<Share> =
                shares.iter().map(|own| share(&own.iter().copied().collect::<Vec<_>>(), 12)).collect();
            let mut parts = workers(&shares[0], takers);
            for now in &shares[1..] {
                let Some(after) = deal_again(now, &parts) else { break };
                let owners = |parts: &[Share]| -> Vec<usize> {
                    (0..parts.len()).filter(|taker| parts[*taker].owns(number)).collect()
                };
                let (before, found) = (owners(&parts), owners(&after));
                prop_assert_eq!(found.len(), usize::from(now.owns(number)));
                if let ([was], [is]) = (&before[..], &found[..]) {
                    prop_assert_eq!(was, is);
                }
                parts = after;
            }
        }

        #[test]
        fn what_grows_stays_even(first in 1u64..6, more in 1u64..7, takers in 1u32..6) {
            let before = workers(&share(&(0..first).collect::<Vec<_>>(), 12), takers);
            let now = share(&(0..first + more).collect::<Vec<_>>(), 12);
            let after = deal_again(&now, &before).expect("the same shards");
            // Of the users of each round every taker has as many as the others, but for one.
            for users in [12, 120, 1_200] {
                let rounds = after[0].of() / 12;
                let counts: Vec<u64> = after.iter().map(|part| part.count_below(users)).collect();
                let (least, most) = (counts.iter().min(), counts.iter().max());
                let apart = most.zip(least).map_or(0, |(most, least)| most - least);
                prop_assert!(apart <= 2 * users.div_ceil(12).min(users / 12 * rounds), "{:?}", counts);
            }
        }
    }
}
