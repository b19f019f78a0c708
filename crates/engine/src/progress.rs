//! How far the users of loads with a number of iterations are, so that another process can go on where one has stopped.

use std::collections::BTreeMap;

use squall_load::Share;

/// Most users that are told of at a time.
const MOST_USERS_TOLD: usize = 20_000;

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

    /// Takes what is told of it next: all, or as many users as a message has room for. The others stay.
    pub fn take_next(&mut self) -> Progress {
        let mut next = std::mem::take(self);
        if let Some(&first) = next.users.keys().nth(MOST_USERS_TOLD) {
            self.users = next.users.split_off(&first);
        }
        next
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

/// What a worker has begun in a second, of loads with a number of iterations.
#[derive(Debug, Default)]
pub(crate) struct Begun {
    /// Iterations that users have begun so far, by load and user. The last one of a user counts.
    pub users: Vec<((u16, u64), u64)>,
    /// How many more were begun of those that all users have together, by load and shard.
    pub totals: BTreeMap<(u16, u64), u64>,
}

/// How much of `total_iterations` the workers have begun together, second by second. A worker may be ahead of another: what it
/// has begun counts from its own second on.
#[derive(Debug, Default)]
pub(crate) struct TotalsBegun {
    /// Until the seconds of `recent`.
    before: Totals,
    /// More in each of the last seconds.
    recent: BTreeMap<u32, Totals>,
}

type Totals = BTreeMap<(u16, u64), u64>;

/// Seconds that a worker may be behind another. One that is slower counts as if it were not.
const MOST_BEHIND: u32 = 8;

impl TotalsBegun {
    /// Adds what a worker has begun in a second. Returns what has changed in that second and in those after it.
    pub(crate) fn add(&mut self, second: u32, begun: Begun) -> Vec<(u32, Progress)> {
        let Begun { users, totals: more } = begun;
        let own = self.recent.entry(second).or_default();
        more.iter().for_each(|(key, more)| *own.entry(*key).or_default() += more);
        let mut users = Some(users.into_iter().collect());
        let seconds: Vec<u32> = self.recent.range(second..).map(|(own, _)| *own).collect();
        let changed = seconds.into_iter().map(|second| {
            let totals = more.keys().map(|key| (*key, self.until(second, key))).collect();
            (second, Progress { users: users.take().unwrap_or_default(), totals })
        });
        let changed = changed.filter(|(_, progress)| !progress.is_empty()).collect();
        self.forget();
        changed
    }

    /// How many were begun until the end of a second.
    fn until(&self, second: u32, key: &(u16, u64)) -> u64 {
        let recent = self.recent.range(..=second).filter_map(|(_, own)| own.get(key));
        self.before.get(key).copied().unwrap_or(0) + recent.sum::<u64>()
    }

    /// Adds the seconds together in which no worker can be any more.
    fn forget(&mut self) {
        let last = self.recent.last_key_value().map_or(0, |(second, _)| *second);
        while let Some(first) =
            self.recent.first_entry().filter(|own| own.key().saturating_add(MOST_BEHIND) < last)
        {
            for (key, more) in first.remove() {
                *self.before.entry(key).or_default() += more;
            }
        }
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

    #[test]
    fn many_users_are_told_of_one_part_after_the_other() {
        let most = MOST_USERS_TOLD as u64;
        let users: BTreeMap<(u16, u64), u64> =
            (0..2 * most + 1).map(|user| ((0, user), 1)).collect();
        let all = Progress { users, totals: BTreeMap::from([((1, 3), 5)]) };
        let mut left = all.clone();
        let told: Vec<Progress> =
            std::iter::from_fn(|| Some(left.take_next()).filter(|own| !own.is_empty())).collect();
        let parts: Vec<_> = told.iter().map(|own| (own.users.len(), own.totals.len())).collect();
        assert_eq!(parts, [(most as usize, 1), (most as usize, 0), (1, 0)]);
        let mut together = Progress::default();
        told.iter().for_each(|own| together.merge(own));
        assert_eq!(together, all);
    }

    #[test]
    fn what_a_worker_is_ahead_counts_from_its_own_second_on() {
        let key = (1, 3);
        let begun = |user, more| Begun {
            users: vec![((0, user), 1)],
            totals: BTreeMap::from([(key, more)]),
        };
        let mut totals = TotalsBegun::default();
        let mut next = |second, user, more| {
            let told = totals.add(second, begun(user, more));
            Vec::from_iter(told.iter().map(|(at, own)| (*at, own.users.len(), own.totals[&key])))
        };
        assert_eq!(next(4, 0, 5), [(4, 1, 5)]);
        assert_eq!(next(5, 0, 3), [(5, 1, 8)]);
        assert_eq!(next(4, 1, 2), [(4, 1, 7), (5, 0, 10)]);
        // What is long past is one number.
        assert_eq!(next(20, 0, 1), [(20, 1, 11)]);
        assert_eq!(next(21, 1, 1), [(21, 1, 12)]);
        assert_eq!(totals.recent.len(), 2);
        assert!(totals.add(22, Begun::default()).is_empty(), "nothing was begun");
    }
}
