//! Time accounting of the workers of all nodes, as one account a second.
//!
//! A worker says nothing any more when its users have finished, and an account of users covers the same time for all of
//! them: so those of a worker that says nothing are finished. If it turns out that its second was only late, that is taken
//! back.

use std::collections::BTreeMap;

use squall_metrics::TimeAccount;

/// Seconds of which it is known what was taken for finished.
const SECONDS: u32 = 1_024;

#[derive(Debug, Default)]
pub(super) struct Accounts {
    /// Users of each node's workers.
    users: BTreeMap<(String, u32), u64>,
    /// What has come of seconds.
    open: BTreeMap<u32, BTreeMap<(String, u32), TimeAccount>>,
    /// Of the latest seconds that were taken: of each worker that said nothing, for how long its users were taken for
    /// finished, in ns.
    taken: BTreeMap<u32, BTreeMap<(String, u32), i64>>,
}

impl Accounts {
    /// Adds the account of a node's worker in a second.
    pub(super) fn add(&mut self, second: u32, (node, worker): (&str, u32), account: &TimeAccount) {
        let key = (node.to_owned(), worker);
        let own = self.open.entry(second).or_default().entry(key).or_default();
        match own.covered_ns {
            0 => *own = *account,
            _ => own.add_later(account),
        }
    }

    /// Takes what has come of a second, once all of it was added; again, what has come since.
    pub(super) fn take(&mut self, second: u32) -> TimeAccount {
        let own = self.open.remove(&second).unwrap_or_default();
        let mut sum = TimeAccount::default();
        if let Some(absent) = self.taken.get_mut(&second) {
            for (worker, account) in own {
                sum.add_users(&account.late(absent.remove(&worker).unwrap_or_default()));
            }
            return sum;
        }
        let covered = own.values().map(|account| account.covered_ns).max().unwrap_or_default();
        let mut absent = BTreeMap::new();
        for (worker, users) in &self.users {
            if !own.contains_key(worker) {
                let finished = TimeAccount::finished(*users, covered);
                sum.add_users(&finished);
                absent.insert(worker.clone(), finished.total());
            }
        }
        for (worker, mut account) in own {
            self.users.insert(worker, account.users);
            account.extend(covered);
            sum.add_users(&account);
        }
        self.taken.insert(second, absent);
        if self.taken.len() > SECONDS as usize {
            self.taken.pop_first();
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use squall_metrics::UserState;

    use super::*;

    const NS: u64 = 1_000_000_000;

    fn account(users: u64, covered_ns: u64) -> TimeAccount {
        TimeAccount::finished(users, covered_ns)
    }

    fn finished(account: &TimeAccount) -> i64 {
        account.time(UserState::Finished)
    }

    #[test]
    fn all_users_are_accounted_for_in_every_second() {
        let mut accounts = Accounts::default();
        accounts.add(0, ("a", 0), &account(3, NS));
        accounts.add(0, ("b", 0), &account(2, NS / 2));
        let first = accounts.take(0);
        assert_eq!((first.users, first.covered_ns, first.total()), (5, NS, 5 * NS as i64));
        accounts.add(1, ("a", 0), &account(3, NS));
        let second = accounts.take(1);
        assert_eq!((second.users, finished(&second)), (5, 5 * NS as i64), "b has finished");
    }

    #[test]
    fn what_comes_late_takes_back_what_it_was_taken_for() {
        let mut accounts = Accounts::default();
        for node in ["a", "b"] {
            accounts.add(0, (node, 0), &account(2, NS));
        }
        let mut sum = accounts.take(0);
        accounts.add(1, ("a", 0), &account(2, NS));
        sum.add_later(&accounts.take(1));
        accounts.add(1, ("b", 0), &account(2, NS));
        let late = accounts.take(1);
        assert_eq!((late.users, late.covered_ns, late.total()), (0, 0, 0));
        sum.add_users(&late);
        assert_eq!((sum.users, sum.covered_ns, sum.total()), (4, 2 * NS, 8 * NS as i64));
    }
}
