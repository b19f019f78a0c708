//! How far the users of loads with a number of iterations are, so that another process can go on where one has stopped.

use std::collections::BTreeMap;

use squall_load::Share;

/// Iterations that were begun, of loads that have `iterations` or `total_iterations`. Plain numbers, which only grow: of two
/// records of the same thing the higher number is the later one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// By load (its number in the plan) and user: the iterations that the user has begun.
    pub users: BTreeMap<(u16, u64), u64>,
    /// By load and shard: how many were begun of the shard's part of `total_iterations`. Shards are counted as the share of
    /// the process is.
    pub totals: BTreeMap<(u16, u64), u64>,
}

impl Progress {
    /// Nothing was begun.
    pub fn is_empty(&self) -> bool {
        self.users.is_empty() && self.totals.is_empty()
    }

    /// Adds what another record knows, whichever is the later one.
    pub fn merge(&mut self, other: &Progress) {
        let all = [(&mut self.users, &other.users), (&mut self.totals, &other.totals)];
        for (own, theirs) in all {
            for (key, begun) in theirs {
                let known = own.entry(*key).or_default();
                *known = (*known).max(*begun);
            }
        }
    }

    /// What of it is in a share.
    pub fn within(&self, share: &Share) -> Progress {
        let within = |all: &BTreeMap<(u16, u64), u64>| {
            all.iter()
                .filter(|((_, number), _)| share.owns(*number))
                .map(|(k, v)| (*k, *v))
                .collect()
        };
        Progress { users: within(&self.users), totals: within(&self.totals) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_of_two_records_counts() {
        let record = |users: &[(u64, u64)]| Progress {
            users: users.iter().map(|(user, begun)| ((0, *user), *begun)).collect(),
            totals: BTreeMap::from([((1, 3), users.len() as u64)]),
        };
        let (early, late) = (record(&[(0, 2)]), record(&[(0, 3), (5, 1)]));
        let mut merged = [early.clone(), late.clone()];
        merged[0].merge(&late);
        merged[1].merge(&early);
        assert_eq!(merged, [late.clone(), late.clone()]);
        let odd = Share::new(&[1], 2).expect("a shard that exists");
        let within = late.within(&odd);
        assert_eq!((within.users.len(), within.totals.len(), within.is_empty()), (1, 1, false));
    }
}
