//! Time accounting: how the virtual users of closed workloads spent their time. At each moment a user is in
//! one [`UserState`]; the times of all states add up to exactly users × elapsed time.
//!
//! Each worker has a [`TimeRecorder`], which it closes every second into a [`TimeAccount`]; accounts add up
//! over seconds and workers. A state change may become known after its second was closed. The next
//! account then corrects the previous one, so that a state's time in one second may be negative: only
//! sums are meaningful.

use crate::codec::{self, DecodeError};
use crate::request_stats::{PHASES, Phases};

/// What a virtual user does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum UserState {
    /// It has not started: the load still ramps up, or starts later.
    NotStarted,
    /// It could continue, but the generator has not resumed it yet.
    Ready,
    /// A request, or a program, is in flight.
    Request,
    /// It waits for its think time.
    Think,
    /// It waits until pacing lets its next iteration begin.
    Pacing,
    /// It has finished while others continue.
    Finished,
    /// It waits for other users, as the plan says: for its turn in a critical section, or at a rendezvous.
    Waiting,
}

const STATES: usize = 7;

impl UserState {
    /// All states, in order.
    pub const ALL: [UserState; STATES] = [
        UserState::NotStarted,
        UserState::Ready,
        UserState::Request,
        UserState::Think,
        UserState::Pacing,
        UserState::Finished,
        UserState::Waiting,
    ];

    /// Its name in results.
    pub fn label(self) -> &'static str {
        match self {
            UserState::NotStarted => "not_started",
            UserState::Ready => "generator",
            UserState::Request => "requests",
            UserState::Think => "think",
            UserState::Pacing => "pacing",
            UserState::Finished => "finished",
            UserState::Waiting => "waiting",
        }
    }
}

/// Time of users by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeAccount {
    /// Users of closed workloads, started or not.
    pub users: u64,
    /// Time that it covers, in ns.
    pub covered_ns: u64,
    /// Requests and programs of these users that have ended.
    pub requests: u64,
    /// When the first user finished, in ns after the start of the run.
    pub first_finished_ns: Option<u64>,
    /// Time in each state, in ns.
    states: [i64; STATES],
    /// Time of requests in each of [`PHASES`], in ns.
    phases: [u64; PHASES.len()],
}

impl TimeAccount {
    /// That of users who have finished, over so many ns.
    pub fn finished(users: u64, covered_ns: u64) -> TimeAccount {
        let mut account = TimeAccount { users, ..TimeAccount::default() };
        account.extend(covered_ns);
        account
    }

    /// Time of all users in a state, in ns.
    pub fn time(&self, state: UserState) -> i64 {
        self.states[state as usize]
    }

    /// Time of requests in the phases, in ns, by [`PHASES`]; the rest of the requests' time was spent
    /// waiting for a shared connection and on requests that got no response.
    pub fn phases(&self) -> [u64; PHASES.len()] {
        self.phases
    }

    /// Time of all users in all states, in ns.
    pub fn total(&self) -> i64 {
        self.states.iter().fold(0, |sum, time| sum.saturating_add(*time))
    }

    /// Adds the account of the same users for a later second.
    pub fn add_later(&mut self, later: &TimeAccount) {
        self.covered_ns = self.covered_ns.saturating_add(later.covered_ns);
        self.users = later.users;
        self.add_times(later);
    }

    /// Adds the account of other users. Both must cover the same time: [`TimeAccount::extend`] brings a
    /// shorter one to it.
    pub fn add_users(&mut self, other: &TimeAccount) {
        self.covered_ns = self.covered_ns.max(other.covered_ns);
        self.users = self.users.saturating_add(other.users);
        self.add_times(other);
    }

    /// Makes it cover a longer time, after its users have finished.
    pub fn extend(&mut self, covered_ns: u64) {
        let missing = covered_ns.saturating_sub(self.covered_ns);
        let idle = i64::try_from(missing.saturating_mul(self.users)).unwrap_or(i64::MAX);
        let finished = &mut self.states[UserState::Finished as usize];
        *finished = finished.saturating_add(idle);
        self.covered_ns += missing;
    }

    /// What comes to it of a second that was closed without it: its times, less the time in ns for which its users were
    /// taken for finished then. Users and covered time were counted.
    #[must_use]
    pub fn late(mut self, taken_for_finished_ns: i64) -> TimeAccount {
        (self.users, self.covered_ns) = (0, 0);
        let finished = &mut self.states[UserState::Finished as usize];
        *finished = finished.saturating_sub(taken_for_finished_ns);
        self
    }

    /// Saturates: what is read from a file may be anything.
    fn add_times(&mut self, other: &TimeAccount) {
        self.requests = self.requests.saturating_add(other.requests);
        self.first_finished_ns = match (self.first_finished_ns, other.first_finished_ns) {
            (Some(own), Some(theirs)) => Some(own.min(theirs)),
            (own, theirs) => own.or(theirs),
        };
        for (own, theirs) in self.states.iter_mut().zip(other.states) {
            *own = own.saturating_add(theirs);
        }
        for (own, theirs) in self.phases.iter_mut().zip(other.phases) {
            *own = own.saturating_add(theirs);
        }
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let finished = self.first_finished_ns.map_or(0, |time| time + 1);
        for number in [self.users, self.covered_ns, self.requests, finished] {
            codec::put(out, number);
        }
        codec::put(out, self.states.len() as u64);
        self.states.iter().for_each(|time| codec::put_signed(out, *time));
        codec::put(out, self.phases.len() as u64);
        self.phases.iter().for_each(|time| codec::put(out, *time));
    }

    pub(crate) fn decode(bytes: &mut &[u8]) -> Result<TimeAccount, DecodeError> {
        let mut account = TimeAccount {
            users: codec::get(bytes)?,
            covered_ns: codec::get(bytes)?,
            requests: codec::get(bytes)?,
            first_finished_ns: codec::get(bytes)?.checked_sub(1),
            ..TimeAccount::default()
        };
        // An earlier version may know fewer states and phases.
        let states = usize::try_from(codec::get(bytes)?).unwrap_or(usize::MAX);
        for time in account.states.iter_mut().take(states) {
            *time = codec::get_signed(bytes)?;
        }
        let phases = usize::try_from(codec::get(bytes)?).unwrap_or(usize::MAX);
        for time in account.phases.iter_mut().take(phases) {
            *time = codec::get(bytes)?;
        }
        Ok(account)
    }
}

/// Records the state changes of a worker's users. All times are in ns on the run's clock.
#[derive(Debug, Clone)]
pub struct TimeRecorder {
    /// Start of the run.
    start: u64,
    /// Start of the open account.
    opened: u64,
    /// Users in each state now.
    counts: [u64; STATES],
    /// The account of the time since `opened`. A user that entered a state at `t` has added `opened - t`
    /// to it: with `now - opened` for each user in the state, that is the time since `t`.
    open: TimeAccount,
}

impl TimeRecorder {
    /// A recorder without users.
    pub fn new(start: u64) -> TimeRecorder {
        TimeRecorder { start, opened: start, counts: [0; STATES], open: TimeAccount::default() }
    }

    /// Adds users that have not started yet.
    pub fn expect(&mut self, users: u64) {
        self.open.users += users;
        self.counts[UserState::NotStarted as usize] += users;
    }

    /// A user changes its state at `at`, which may be in the past.
    #[inline]
    pub fn change(&mut self, from: UserState, to: UserState, at: u64) {
        if self.counts[from as usize] == 0 {
            self.surprise(from);
        }
        let time = at.wrapping_sub(self.opened) as i64;
        self.open.states[from as usize] += time;
        self.open.states[to as usize] -= time;
        self.counts[from as usize] -= 1;
        self.counts[to as usize] += 1;
        if to == UserState::Finished {
            let after = at.saturating_sub(self.start);
            let first = self.open.first_finished_ns.map_or(after, |first| first.min(after));
            self.open.first_finished_ns = Some(first);
        }
    }

    /// A user comes that was not expected, as a load was given more of them while it was in progress: until now it
    /// has been in this state.
    #[cold]
    fn surprise(&mut self, state: UserState) {
        self.open.users += 1;
        self.counts[state as usize] += 1;
        self.open.states[state as usize] += self.opened.saturating_sub(self.start) as i64;
    }

    /// A user's request has ended, with these phases.
    #[inline]
    pub fn request(&mut self, phases: &Phases) {
        self.open.requests += 1;
        for (own, time) in self.open.phases.iter_mut().zip(phases.0) {
            *own += time.unwrap_or(0);
        }
    }

    /// Moves time that was recorded for one state to another, in which it was really spent.
    #[inline]
    pub fn correct(&mut self, from: UserState, to: UserState, time: u64) {
        self.open.states[from as usize] -= time as i64;
        self.open.states[to as usize] += time as i64;
    }

    /// Closes the open account at `at` and opens the next one.
    pub fn close(&mut self, at: u64) -> TimeAccount {
        let covered = at.saturating_sub(self.opened);
        for (time, users) in self.open.states.iter_mut().zip(self.counts) {
            *time += (covered * users) as i64;
        }
        self.opened += covered;
        let next = TimeAccount { users: self.open.users, ..TimeAccount::default() };
        let mut closed = std::mem::replace(&mut self.open, next);
        closed.covered_ns = covered;
        closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn time_goes_where_the_user_is() {
        let mut recorder = TimeRecorder::new(1_000);
        recorder.expect(2);
        recorder.change(UserState::NotStarted, UserState::Ready, 1_100);
        recorder.change(UserState::Ready, UserState::Request, 1_150);
        let mut sum = recorder.close(2_000);
        // Recorded late: it happened before the account was closed.
        recorder.change(UserState::Request, UserState::Think, 1_900);
        recorder.correct(UserState::Request, UserState::Ready, 10);
        recorder.change(UserState::Think, UserState::Finished, 2_500);
        sum.add_later(&recorder.close(3_000));
        let times = UserState::ALL.map(|state| sum.time(state));
        assert_eq!(times, [100 + 2_000, 50 + 10, 750 - 10, 600, 0, 500, 0]);
        assert_eq!((sum.total(), sum.covered_ns, sum.users), (4_000, 2_000, 2));
        assert_eq!(sum.first_finished_ns, Some(1_500));
        sum.extend(2_500);
        assert_eq!((sum.time(UserState::Finished), sum.total()), (500 + 1_000, 5_000));
    }

    #[test]
    fn users_that_were_not_expected_had_not_started() {
        let mut recorder = TimeRecorder::new(1_000);
        recorder.expect(1);
        recorder.change(UserState::NotStarted, UserState::Think, 1_000);
        let mut sum = recorder.close(2_000);
        recorder.change(UserState::NotStarted, UserState::Think, 2_500);
        sum.add_later(&recorder.close(3_000));
        assert_eq!((sum.users, sum.total(), sum.covered_ns), (2, 4_000, 2_000));
        let times = (sum.time(UserState::NotStarted), sum.time(UserState::Think));
        assert_eq!(times, (1_500, 2_500));
    }

    proptest! {
        /// Whatever users do, their times add up.
        #[test]
        fn all_time_is_accounted(
            users in 1u64..20,
            changes in prop::collection::vec((0usize..STATES, 0u64..500, any::<bool>()), 0..200),
        ) {
            let (mut recorder, mut now, mut sum) = (TimeRecorder::new(5), 5, TimeAccount::default());
            recorder.expect(users);
            let mut states = vec![UserState::NotStarted; users as usize];
            for (index, (to, wait, close)) in changes.into_iter().enumerate() {
                now += wait;
                let user = index % states.len();
                recorder.change(states[user], UserState::ALL[to], now - wait / 3);
                states[user] = UserState::ALL[to];
                if close {
                    sum.add_later(&recorder.close(now));
                }
            }
            now += 7;
            sum.add_later(&recorder.close(now));
            prop_assert_eq!(sum.total(), ((now - 5) * users) as i64);
            prop_assert_eq!(sum.covered_ns, now - 5);
            let mut bytes = Vec::new();
            sum.encode(&mut bytes);
            prop_assert_eq!(TimeAccount::decode(&mut bytes.as_slice()), Ok(sum));
        }
    }
}
