//! Virtual users, which JMeter calls threads: how many were started in the whole run, and how many of them have ended
//! (`JMeterContextService.getThreadCounts` of Apache JMeter 5.6.3). Users are seen when they have sampled something, and how
//! many were active in a second is known a second or two after it: so both numbers are of what is certain, and neither falls.
//! Pure.

use std::collections::{BTreeMap, VecDeque};

use squall_runner::Phase;

/// Users that were started, and those of them that have ended.
#[derive(Debug, Default)]
pub struct Users {
    /// Users of each scenario, in its phase: one more than the highest number that was seen.
    seen: BTreeMap<Phase, BTreeMap<String, u64>>,
    all_seen: u64,
    started: u64,
    ended: u64,
    /// The latest second of the load of which it is known how many users were active.
    latest: Option<u32>,
    /// Seconds from that on in which somebody was seen, with how many had been started when each began.
    begun: VecDeque<(u32, u64)>,
}

impl Users {
    /// A user has done something: one of the load in this second of it.
    pub fn see(&mut self, phase: Phase, scenario: &str, user: u64, second: u32) {
        if phase == Phase::Load && self.begun.back().is_none_or(|(latest, _)| *latest < second) {
            self.begun.push_back((second, self.started));
        }
        let of_phase = self.seen.entry(phase).or_default();
        let seen = match of_phase.get_mut(scenario) {
            Some(seen) => seen,
            None => of_phase.entry(scenario.to_owned()).or_default(),
        };
        self.all_seen += (user + 1).saturating_sub(*seen);
        *seen = (*seen).max(user + 1);
        self.started = self.started.max(self.all_seen);
    }

    /// So many users at most were active at once in a second of the load. Who had been started before it and is not among
    /// them has ended.
    pub fn second(&mut self, second: u32, active: u64) {
        if self.latest.is_some_and(|latest| second < latest) {
            return;
        }
        self.latest = Some(second);
        while self.begun.front().is_some_and(|(begun, _)| *begun < second) {
            self.begun.pop_front();
        }
        // Where nobody was seen in it, nobody was until the next.
        let before = self.begun.front().map_or(self.started, |(_, started)| *started);
        self.ended = self.ended.max(before.saturating_sub(active));
        // One that is active again after it had ended has been started again.
        self.started = self.started.max(self.ended + active);
    }

    /// Nobody is active any more.
    pub fn end(&mut self) {
        self.ended = self.started;
    }

    /// How many were started, and how many of these have ended.
    pub fn counts(&self) -> (u64, u64) {
        (self.started, self.ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many users of a scenario are seen in a second of the load.
    fn see(users: &mut Users, scenario: &str, count: u64, second: u32) {
        (0..count).for_each(|user| users.see(Phase::Load, scenario, user, second));
    }

    #[test]
    fn nobody_ends_while_users_are_started() {
        let mut users = Users::default();
        // Ten come in each second, of which is known how many were active when the next but one has begun.
        for second in 0..10_u32 {
            if let Some(known) = second.checked_sub(2) {
                users.second(known, 10 * u64::from(known + 1));
            }
            see(&mut users, "a", 10 * u64::from(second + 1), second);
            assert_eq!(users.counts(), (10 * u64::from(second + 1), 0));
        }
        // Of the last hundred ten end in a second.
        for (second, active) in [(10, 100), (11, 100), (12, 90), (13, 80)] {
            users.second(second, active);
        }
        assert_eq!(users.counts(), (100, 20));
        // A late second is past.
        users.second(12, 1);
        assert_eq!(users.counts(), (100, 20));
    }

    #[test]
    fn who_has_ended_stays_so() {
        let mut users = Users::default();
        users.see(Phase::Setup, "setup", 0, 0);
        see(&mut users, "a", 4, 0);
        users.second(0, 4);
        users.second(1, 4);
        assert_eq!(users.counts(), (5, 1), "the one of the setup");
        // The teardown is seen after the load, whose last seconds say nothing of it.
        users.end();
        users.see(Phase::Teardown, "teardown", 0, 9);
        assert_eq!(users.counts(), (6, 5));
        users.end();
        assert_eq!(users.counts(), (6, 6));
    }

    #[test]
    fn who_comes_again_is_started_again() {
        let mut users = Users::default();
        see(&mut users, "a", 10, 0);
        for (second, active) in [(0, 10), (1, 3), (2, 3), (3, 8)] {
            users.second(second, active);
        }
        assert_eq!(users.counts(), (15, 7));
        users.second(4, 0);
        assert_eq!(users.counts(), (15, 15));
    }

    #[test]
    fn users_of_different_scenarios_are_different() {
        let mut users = Users::default();
        users.see(Phase::Setup, "a", 0, 0);
        see(&mut users, "a", 2, 0);
        see(&mut users, "b", 2, 0);
        see(&mut users, "b", 1, 1);
        assert_eq!(users.counts(), (5, 0));
    }
}
