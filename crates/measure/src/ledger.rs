//! Where the users' time went. Each user of a closed load is at each moment in one [`State`]; the time
//! in all states adds up to users × elapsed time, with nothing left over.
//!
//! A [`Book`] is kept by each worker and closed each second into a [`Ledger`]; ledgers add up over
//! seconds and workers. A change may become known after the second in which it happened was closed:
//! the next ledger then corrects the one before, so that a state's time in one second may be negative,
//! and only sums mean something.

use crate::codec::{self, DecodeError};
use crate::row::{PHASES, Phases};

/// What a user does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum State {
    /// Its time has not come: the load still ramps up, or starts later.
    NotStarted,
    /// It could go on, but the generator has not got round to it.
    Ready,
    /// A request, or a program, is under way.
    Request,
    /// It thinks.
    Think,
    /// It waits for its next iteration to be due.
    Pace,
    /// It is done, and others go on.
    Finished,
}

/// Number of states.
const STATES: usize = 6;

impl State {
    /// All of them, in order.
    pub const ALL: [State; STATES] = [
        State::NotStarted,
        State::Ready,
        State::Request,
        State::Think,
        State::Pace,
        State::Finished,
    ];

    /// Name in results.
    pub fn label(self) -> &'static str {
        match self {
            State::NotStarted => "not_started",
            State::Ready => "generator",
            State::Request => "requests",
            State::Think => "think",
            State::Pace => "pace",
            State::Finished => "finished",
        }
    }
}

/// User-time by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ledger {
    /// Users of closed loads, started or not.
    pub users: u64,
    /// Time that it covers, in ns.
    pub covered_ns: u64,
    /// Requests and programs of these users that are over.
    pub requests: u64,
    /// When the first user was done, in ns after the start of the run.
    pub first_finished_ns: Option<u64>,
    /// User-time in each state, in ns.
    states: [i64; STATES],
    /// Time of requests in each of [`PHASES`], in ns.
    phases: [u64; PHASES.len()],
}

impl Ledger {
    /// User-time in a state, in ns.
    pub fn time(&self, state: State) -> i64 {
        self.states[state as usize]
    }

    /// Time of requests in the phases, in ns, by [`PHASES`]; what is left of the requests' time went
    /// into waiting for a shared connection and into requests that came to nothing.
    pub fn phases(&self) -> [u64; PHASES.len()] {
        self.phases
    }

    /// User-time in all states, in ns.
    pub fn total(&self) -> i64 {
        self.states.iter().fold(0, |sum, time| sum.saturating_add(*time))
    }

    /// Adds the ledger of the same users for a later second.
    pub fn add_later(&mut self, later: &Ledger) {
        self.covered_ns = self.covered_ns.saturating_add(later.covered_ns);
        self.users = later.users;
        self.add_times(later);
    }

    /// Adds the ledger of other users. Ledgers that cover different times have no common one: what
    /// is missing must have been filled up by [`Ledger::extend`].
    pub fn add_users(&mut self, other: &Ledger) {
        self.covered_ns = self.covered_ns.max(other.covered_ns);
        self.users = self.users.saturating_add(other.users);
        self.add_times(other);
    }

    /// Makes it cover a longer time: its users were done before.
    pub fn extend(&mut self, covered_ns: u64) {
        let missing = covered_ns.saturating_sub(self.covered_ns);
        let idle = i64::try_from(missing.saturating_mul(self.users)).unwrap_or(i64::MAX);
        let finished = &mut self.states[State::Finished as usize];
        *finished = finished.saturating_add(idle);
        self.covered_ns += missing;
    }

    /// Saturates: what is read from a file may be anything.
    fn add_times(&mut self, other: &Ledger) {
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
        self.states.iter().for_each(|time| codec::put_signed(out, *time));
        self.phases.iter().for_each(|time| codec::put(out, *time));
    }

    pub(crate) fn decode(bytes: &mut &[u8]) -> Result<Ledger, DecodeError> {
        let mut ledger = Ledger {
            users: codec::get(bytes)?,
            covered_ns: codec::get(bytes)?,
            requests: codec::get(bytes)?,
            first_finished_ns: codec::get(bytes)?.checked_sub(1),
            ..Ledger::default()
        };
        for time in &mut ledger.states {
            *time = codec::get_signed(bytes)?;
        }
        for time in &mut ledger.phases {
            *time = codec::get(bytes)?;
        }
        Ok(ledger)
    }
}

/// Keeps the ledger of a worker. All times are in ns on the run's clock.
#[derive(Debug, Clone)]
pub struct Book {
    /// Start of the run.
    start: u64,
    /// Start of the open page.
    opened: u64,
    /// Users in each state now.
    counts: [u64; STATES],
    /// A user that came into a state at `t` counts `opened - t` here: with `now - opened` for each
    /// user that is in the state, that is the time since `t`.
    page: Ledger,
}

impl Book {
    /// An empty book.
    pub fn new(start: u64) -> Book {
        Book { start, opened: start, counts: [0; STATES], page: Ledger::default() }
    }

    /// So many users will come, but have not yet.
    pub fn expect(&mut self, users: u64) {
        self.page.users += users;
        self.counts[State::NotStarted as usize] += users;
    }

    /// A user changed its state at a time, which may be past.
    #[inline]
    pub fn change(&mut self, from: State, to: State, at: u64) {
        let time = at.wrapping_sub(self.opened) as i64;
        self.page.states[from as usize] += time;
        self.page.states[to as usize] -= time;
        self.counts[from as usize] -= 1;
        self.counts[to as usize] += 1;
        if to == State::Finished {
            let after = at.saturating_sub(self.start);
            let first = self.page.first_finished_ns.map_or(after, |first| first.min(after));
            self.page.first_finished_ns = Some(first);
        }
    }

    /// A request of a user is over, with these phases.
    #[inline]
    pub fn request(&mut self, phases: &Phases) {
        self.page.requests += 1;
        for (own, time) in self.page.phases.iter_mut().zip(phases.0) {
            *own += time.unwrap_or(0);
        }
    }

    /// Time that was taken for one state was spent in another.
    #[inline]
    pub fn correct(&mut self, from: State, to: State, time: u64) {
        self.page.states[from as usize] -= time as i64;
        self.page.states[to as usize] += time as i64;
    }

    /// Closes the page at a time and opens the next one.
    pub fn close(&mut self, at: u64) -> Ledger {
        let covered = at.saturating_sub(self.opened);
        for (time, users) in self.page.states.iter_mut().zip(self.counts) {
            *time += (covered * users) as i64;
        }
        self.opened += covered;
        let next = Ledger { users: self.page.users, ..Ledger::default() };
        let mut closed = std::mem::replace(&mut self.page, next);
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
        let mut book = Book::new(1_000);
        book.expect(2);
        book.change(State::NotStarted, State::Ready, 1_100);
        book.change(State::Ready, State::Request, 1_150);
        let mut sum = book.close(2_000);
        // Known late: it happened before the page was closed.
        book.change(State::Request, State::Think, 1_900);
        book.correct(State::Request, State::Ready, 10);
        book.change(State::Think, State::Finished, 2_500);
        sum.add_later(&book.close(3_000));
        let times = State::ALL.map(|state| sum.time(state));
        assert_eq!(times, [100 + 2_000, 50 + 10, 750 - 10, 600, 0, 500]);
        assert_eq!((sum.total(), sum.covered_ns, sum.users), (4_000, 2_000, 2));
        assert_eq!(sum.first_finished_ns, Some(1_500));
        sum.extend(2_500);
        assert_eq!((sum.time(State::Finished), sum.total()), (500 + 1_000, 5_000));
    }

    proptest! {
        /// Whatever users do, their time adds up.
        #[test]
        fn all_time_is_accounted(
            users in 1u64..20,
            changes in prop::collection::vec((0usize..STATES, 0u64..500, any::<bool>()), 0..200),
        ) {
            let (mut book, mut now, mut sum) = (Book::new(5), 5, Ledger::default());
            book.expect(users);
            let mut states = vec![State::NotStarted; users as usize];
            for (index, (to, wait, close)) in changes.into_iter().enumerate() {
                now += wait;
                let user = index % states.len();
                book.change(states[user], State::ALL[to], now - wait / 3);
                states[user] = State::ALL[to];
                if close {
                    sum.add_later(&book.close(now));
                }
            }
            now += 7;
            sum.add_later(&book.close(now));
            prop_assert_eq!(sum.total(), ((now - 5) * users) as i64);
            prop_assert_eq!(sum.covered_ns, now - 5);
            let mut bytes = Vec::new();
            sum.encode(&mut bytes);
            prop_assert_eq!(Ledger::decode(&mut bytes.as_slice()), Ok(sum));
        }
    }
}
