//! How many of its shards a node drives: as many as it carries users (`--max-users`).

use squall_load::Share;
use squall_plan::model::Load;

use super::policy::MostUsers;

/// What a node carries of a run.
#[derive(Debug)]
pub(crate) struct Capacity {
    /// Shards of the whole run.
    of: u32,
    /// The most users of each of the plan's loads.
    users: MostUsers,
    /// The most users of the node; `None`: any number.
    most: Option<u64>,
}

impl Capacity {
    /// Of a node that carries at most so many users, in a run that is cut into so many shards.
    pub(crate) fn new(of: u32, most: Option<u64>) -> Capacity {
        Capacity { of, users: MostUsers::default(), most }
    }

    /// The plan is opened: these are its users.
    pub(crate) fn set_users(&mut self, users: MostUsers) {
        self.users = users;
    }

    /// As many of these shards as it carries, the first ones.
    pub(crate) fn within<'s>(&self, shards: &'s [u32]) -> &'s [u32] {
        self.users.within(shards, self.of, self.most)
    }

    /// What is said where it carries only so many of its shards.
    pub(crate) fn told(&self, fits: usize, shards: usize) -> Option<String> {
        let most = self.most.filter(|_| fits < shards)?;
        Some(format!(
            "this node drove {fits} of its {shards} shards, as it carries at most {most} users (`--max-users`)"
        ))
    }

    /// A load, by its number, gets another shape.
    pub(crate) fn change(&mut self, number: u16, load: &Load) {
        self.users.change(number, load);
    }

    /// Shards out of those of the run.
    pub(crate) fn share(&self, shards: &[u32]) -> Share {
        let numbers: Vec<u64> = shards.iter().map(|shard| u64::from(*shard)).collect();
        let of = u64::from(self.of);
        // Those that do not exist are nobody's.
        let known = || Share::new(&[], of.max(1)).unwrap_or_else(|_| Share::all().worker_of(1, 1));
        Share::new(&numbers, of).unwrap_or_else(|_| known())
    }
}
