//! Throughput, measured and by Little's law. A closed workload of N users with mean response time R and
//! mean think time Z has a throughput of N / (R + Z) if all users are busy all the time (the interactive
//! response time law: Denning and Buzen, "The operational analysis of queueing network models", ACM
//! Computing Surveys 10, 1978). The gap between that and the measured throughput is the share of the
//! users' time in which they did nothing that the plan asks for; time accounting names the causes.

use squall_base::units::{percent, rate, time};
use squall_metrics::{TimeAccount, UserState};

/// Measured throughput, throughput by Little's law, the gap between them, and its causes.
#[derive(Debug, Clone, PartialEq)]
pub struct ThroughputGap {
    /// Measured: requests of closed workloads divided by the elapsed time, per second.
    pub measured: f64,
    /// By Little's law, N / (R + Z): users divided by the mean time of a request, with think time,
    /// pacing and waits for other users, per second.
    pub littles_law: f64,
    /// |a - b| / max(a, b), from 0 to 1.
    pub gap: f64,
    /// What causes the gap, largest first; the shares add up to `gap`.
    pub causes: Vec<GapCause>,
}

/// One cause of the gap.
#[derive(Debug, Clone, PartialEq)]
pub struct GapCause {
    /// The state of the users that did nothing.
    pub state: UserState,
    /// Its share of the users' time, from 0 to 1.
    pub share: f64,
    /// The same in words.
    pub text: String,
}

impl ThroughputGap {
    /// The gap of a run's time account; `None`: there was no closed workload, or none of its requests ended.
    pub fn of(account: &TimeAccount) -> Option<ThroughputGap> {
        let total = account.total() as f64;
        let busy: f64 =
            [UserState::Request, UserState::Think, UserState::Pacing, UserState::Waiting]
                .map(|state| account.time(state) as f64)
                .iter()
                .sum();
        if account.requests == 0 || account.covered_ns == 0 || busy <= 0.0 || total <= 0.0 {
            return None;
        }
        let requests = account.requests as f64;
        let measured = requests / (account.covered_ns as f64 / 1e9);
        let littles_law = account.users as f64 * requests / (busy / 1e9);
        let difference = (measured - littles_law).abs();
        let mut causes: Vec<GapCause> =
            [UserState::NotStarted, UserState::Ready, UserState::Finished]
                .map(|state| GapCause {
                    state,
                    share: account.time(state) as f64 / total,
                    text: idle(account, state),
                })
                .into_iter()
                .filter(|cause| cause.share != 0.0)
                .collect();
        causes.sort_by(|a, b| b.share.total_cmp(&a.share));
        let gap = difference / measured.max(littles_law);
        Some(ThroughputGap { measured, littles_law, gap, causes })
    }

    /// One line of text.
    pub fn text(&self) -> String {
        let causes = self.causes.iter().filter(|cause| cause.share >= 0.000_5);
        let causes: Vec<String> =
            causes.map(|cause| format!("{} {}", percent(cause.share), cause.text)).collect();
        let why =
            if causes.is_empty() { String::new() } else { format!(": {}", causes.join("; ")) };
        format!(
            "{} measured, {} by Little's law, a gap of {}{why}",
            rate(self.measured),
            rate(self.littles_law),
            percent(self.gap)
        )
    }
}

/// What it means that users were in a state in which they did nothing.
fn idle(account: &TimeAccount, state: UserState) -> String {
    let users = account.time(state) as f64 / account.covered_ns as f64;
    let all = account.users;
    match state {
        UserState::NotStarted => {
            format!("users not yet started (ramp), {users:.1} of {all} on average")
        }
        UserState::Finished => {
            let first = time(account.first_finished_ns.unwrap_or(account.covered_ns) as f64 / 1e3);
            let length = time(account.covered_ns as f64 / 1e3);
            match all {
                1 => format!("after the only user had finished (at {first} of {length})"),
                _ => format!(
                    "users finished while others continued (the first after {first} of {length}), {users:.1} of {all} on average"
                ),
            }
        }
        _ => format!("users waiting for the generator, {users:.1} of {all} on average"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use squall_metrics::Phases;
    use squall_metrics::TimeRecorder;

    #[test]
    fn one_user_has_no_others() {
        let second = 1_000_000_000;
        let mut recorder = TimeRecorder::new(0);
        recorder.expect(1);
        recorder.change(UserState::NotStarted, UserState::Ready, 0);
        recorder.change(UserState::Ready, UserState::Request, 0);
        recorder.request(&Phases::default());
        recorder.change(UserState::Request, UserState::Finished, second);
        let gap = ThroughputGap::of(&recorder.close(2 * second)).expect("there was a request");
        let text = gap.text();
        assert!(
            text.ends_with("50% after the only user had finished (at 1.00 s of 2.00 s)"),
            "{text}"
        );
    }

    /// Two users, of which one makes three requests of 1 s each and the other one.
    #[test]
    fn causes_add_up_to_the_gap() {
        let second = 1_000_000_000;
        let mut recorder = TimeRecorder::new(0);
        recorder.expect(2);
        for (begin, requests) in [(0, 3), (second / 2, 1)] {
            recorder.change(UserState::NotStarted, UserState::Ready, begin);
            recorder.change(UserState::Ready, UserState::Request, begin);
            (0..requests).for_each(|_| recorder.request(&Phases::default()));
            recorder.change(UserState::Request, UserState::Finished, begin + requests * second);
        }
        let account = recorder.close(3 * second);
        let gap = ThroughputGap::of(&account).expect("there were requests");
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(gap.measured, 4.0 / 3.0);
        close(gap.littles_law, 2.0);
        close(gap.gap, 1.0 / 3.0);
        close(gap.causes.iter().map(|cause| cause.share).sum(), gap.gap);
        assert_eq!(
            gap.text(),
            "1.33/s measured, 2.00/s by Little's law, a gap of 33.3%: 25% users finished while others \
             continued (the first after 1.50 s of 3.00 s), 0.5 of 2 on average; 8.33% users not yet \
             started (ramp), 0.2 of 2 on average"
        );
        assert_eq!(ThroughputGap::of(&TimeRecorder::new(0).close(second)), None);
    }
}
