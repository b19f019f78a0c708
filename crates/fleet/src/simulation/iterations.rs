//! Iterations that are counted: a number for each user, and one that all users share, in parts of the shards.

use squall_engine::Progress;

/// The loads of a run with a number of iterations.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    /// Shards of the run.
    pub shards: u32,
    /// Users of load 0, each in the shard of its number, with so many iterations each.
    pub users: u64,
    pub each: u64,
    /// Iterations that the users of load 1 share.
    pub total: u64,
}

/// An iteration that was begun in a second: of a user of load 0, or of a shard's part of load 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Begun {
    pub load: u16,
    pub number: u64,
    pub iteration: u64,
    pub shard: u32,
    pub second: u32,
}

impl Counted {
    /// What a shard has to do: load, number (a user or the shard), and how many iterations.
    pub fn of_shard(self, shard: u32) -> impl Iterator<Item = (u16, u64, u64)> {
        let (shard, of) = (u64::from(shard), u64::from(self.shards));
        let users = (0..self.users).filter(move |user| user % of == shard);
        let part = self.total / of + u64::from(shard < self.total % of);
        users.map(move |user| (0, user, self.each)).chain([(1, shard, part)])
    }
}

/// How far a node is with them.
#[derive(Debug)]
pub struct Iterations {
    counted: Counted,
    begun: Progress,
    /// What of it was not told yet.
    untold: Progress,
}

impl Iterations {
    pub fn new(counted: Counted) -> Iterations {
        Iterations { counted, begun: Progress::default(), untold: Progress::default() }
    }

    /// Others were so far.
    pub fn know(&mut self, known: &Progress) {
        self.begun.merge(known);
    }

    fn begun(&self, load: u16, number: u64) -> u64 {
        let all = if load == 0 { &self.begun.users } else { &self.begun.totals };
        all.get(&(load, number)).copied().unwrap_or(0)
    }

    /// Whether all is begun that shards have.
    pub fn are_done(&self, shards: &[u32]) -> bool {
        let mut all = shards.iter().flat_map(|shard| self.counted.of_shard(*shard));
        all.all(|(load, number, count)| self.begun(load, number) >= count)
    }

    /// Each user of these shards, and each shard, begins at most so many.
    pub fn go_on(&mut self, second: u32, shards: &[u32], most: u32, done: &mut Vec<Begun>) {
        for &shard in shards {
            for (load, number, count) in self.counted.of_shard(shard) {
                let first = self.begun(load, number);
                let next = count.min(first + u64::from(most)).max(first);
                if next == first {
                    continue;
                }
                for all in [&mut self.begun, &mut self.untold] {
                    let all = if load == 0 { &mut all.users } else { &mut all.totals };
                    all.insert((load, number), next);
                }
                let begun = |iteration| Begun { load, number, iteration, shard, second };
                done.extend((first..next).map(begun));
            }
        }
    }

    /// What is to be told of it.
    pub fn tell(&mut self) -> Option<Progress> {
        Some(std::mem::take(&mut self.untold)).filter(|told| !told.is_empty())
    }
}
