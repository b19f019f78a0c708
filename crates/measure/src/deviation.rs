//! The check that testers know as "the two rates": requests divided by the time of the run, and users
//! divided by the mean time of one request with its waits. If all users were busy all the time both are
//! the same; how far they are apart is the share of the users' time in which a user was there and yet
//! did nothing of the plan, and the ledger says why.

use crate::ledger::{Ledger, State};

/// Both rates, how far they are apart, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Deviation {
    /// Requests of closed loads, divided by the elapsed time, a second.
    pub rate_by_total: f64,
    /// Users, divided by the mean time of a request, think time and pace included, a second.
    pub rate_by_mean: f64,
    /// |a - b| / max(a, b), from 0 to 1.
    pub share: f64,
    /// What makes it up, largest first; their shares add up to `share`.
    pub causes: Vec<Cause>,
}

/// A part of the deviation.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    /// What the users were that did nothing.
    pub state: State,
    /// Its part of the users' time, from 0 to 1.
    pub share: f64,
    /// In words.
    pub text: String,
}

impl Ledger {
    /// The two rates; `None`: there was no closed load, or none of its requests came to an end.
    pub fn deviation(&self) -> Option<Deviation> {
        let total = self.total() as f64;
        let busy: f64 = [State::Request, State::Think, State::Pace]
            .map(|state| self.time(state) as f64)
            .iter()
            .sum();
        if self.requests == 0 || self.covered_ns == 0 || busy <= 0.0 || total <= 0.0 {
            return None;
        }
        let requests = self.requests as f64;
        let rate_by_total = requests / (self.covered_ns as f64 / 1e9);
        let rate_by_mean = self.users as f64 * requests / (busy / 1e9);
        let apart = (rate_by_total - rate_by_mean).abs();
        let mut causes: Vec<Cause> = [State::NotStarted, State::Ready, State::Finished]
            .map(|state| Cause {
                state,
                share: self.time(state) as f64 / total,
                text: self.idle(state),
            })
            .into_iter()
            .filter(|cause| cause.share != 0.0)
            .collect();
        causes.sort_by(|a, b| b.share.total_cmp(&a.share));
        let share = apart / rate_by_total.max(rate_by_mean);
        Some(Deviation { rate_by_total, rate_by_mean, share, causes })
    }

    /// What it means that users did nothing.
    fn idle(&self, state: State) -> String {
        let users = self.time(state) as f64 / self.covered_ns as f64;
        let all = self.users;
        match state {
            State::NotStarted => {
                format!("users not yet started (ramp), on average {users:.1} of {all}")
            }
            State::Finished => {
                let seconds = |ns: u64| ns as f64 / 1e9;
                let first = self.first_finished_ns.unwrap_or(self.covered_ns);
                format!(
                    "users done while others went on (the first after {:.1} s of {:.1} s), on average {users:.1} of {all}",
                    seconds(first),
                    seconds(self.covered_ns)
                )
            }
            _ => format!("users waiting for the generator, on average {users:.1} of {all}"),
        }
    }
}

impl Deviation {
    /// In words, one line.
    pub fn text(&self) -> String {
        let causes = self.causes.iter().filter(|cause| cause.share >= 0.000_5);
        let causes: Vec<String> =
            causes.map(|cause| format!("{:.1} % {}", cause.share * 100.0, cause.text)).collect();
        let why =
            if causes.is_empty() { String::new() } else { format!(": {}", causes.join("; ")) };
        format!(
            "{:.1}/s by total time, {:.1}/s by mean time, {:.1} % apart{why}",
            self.rate_by_total,
            self.rate_by_mean,
            self.share * 100.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Book;
    use crate::row::Phases;

    /// Two users, of which one makes three requests of 1 s each and the other one.
    #[test]
    fn the_parts_make_the_whole() {
        let second = 1_000_000_000;
        let mut book = Book::new(0);
        book.expect(2);
        for (begin, requests) in [(0, 3), (second / 2, 1)] {
            book.change(State::NotStarted, State::Ready, begin);
            book.change(State::Ready, State::Request, begin);
            (0..requests).for_each(|_| book.request(&Phases::default()));
            book.change(State::Request, State::Finished, begin + requests * second);
        }
        let deviation = book.close(3 * second).deviation().expect("there were requests");
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(deviation.rate_by_total, 4.0 / 3.0);
        close(deviation.rate_by_mean, 2.0);
        close(deviation.share, 1.0 / 3.0);
        close(deviation.causes.iter().map(|cause| cause.share).sum(), deviation.share);
        assert_eq!(
            deviation.text(),
            "1.3/s by total time, 2.0/s by mean time, 33.3 % apart: 25.0 % users done while others went \
             on (the first after 1.5 s of 3.0 s), on average 0.5 of 2; 8.3 % users not yet started \
             (ramp), on average 0.2 of 2"
        );
        assert_eq!(Book::new(0).close(second).deviation(), None);
    }
}
