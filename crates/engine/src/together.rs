//! What users of all workers do together: rates that they keep in one line, passes that they count, and how many
//! of them are active. Atomic numbers and nothing else: nobody waits for anybody here.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::program::Program;

/// Numbers that the workers of a run share.
#[derive(Debug, Default)]
pub(crate) struct Together {
    /// Active users of each scenario; empty where nothing in the program asks for them.
    active: Box<[AtomicU64]>,
    /// When the last place in each line is due, in nanoseconds of the run's clock; 0: nobody has had one.
    lines: Box<[AtomicU64]>,
    /// How many passes were counted.
    counts: Box<[AtomicU64]>,
}

impl Together {
    pub(crate) fn new(program: &Program) -> Together {
        let zeros = |count: usize| (0..count).map(|_| AtomicU64::new(0)).collect();
        Together {
            active: zeros(if program.counts_active { program.scenarios.len() } else { 0 }),
            lines: zeros(program.lines),
            counts: zeros(program.counts),
        }
    }

    /// A user of a scenario is active from now on.
    pub(crate) fn user_came(&self, scenario: usize) {
        if let Some(active) = self.active.get(scenario) {
            active.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A user of a scenario is no longer active.
    pub(crate) fn user_left(&self, scenario: usize) {
        if let Some(active) = self.active.get(scenario) {
            active.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Active users of a scenario, or of all; at least 1.
    pub(crate) fn active(&self, scenario: Option<usize>) -> u64 {
        let of = |active: &AtomicU64| active.load(Ordering::Relaxed);
        let active = match scenario {
            Some(scenario) => self.active.get(scenario).map_or(0, of),
            None => self.active.iter().map(of).sum(),
        };
        active.max(1)
    }

    /// The next place in a line in which one place follows the other after `period`: when it is due, `now` or later. It is
    /// not taken if it is due later than `most` from now.
    pub(crate) fn place(&self, line: usize, now: u64, period: u64, most: u64) -> Option<u64> {
        let mut due = now;
        let taken = self.lines[line].fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| {
            due = if last == 0 { now } else { now.max(last.saturating_add(period)) };
            (due - now <= most).then_some(due)
        });
        taken.ok().map(|_| due)
    }

    /// The number of a pass, from 0, over all users that count it together.
    pub(crate) fn pass(&self, count: usize) -> u64 {
        self.counts[count].fetch_add(1, Ordering::Relaxed)
    }
}

/// Whether steps are done in pass number `pass`, from 0, that are done in `percent` of a hundred, evenly: so that
/// after each pass the nearest whole number of them was done, halves rounded down.
pub(crate) fn is_in_percent(pass: u64, percent: f64) -> bool {
    let done = |passes: u64| ((percent * passes as f64 - 50.0) / 100.0).ceil().max(0.0);
    percent >= 100.0 || done(pass + 1) > done(pass)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted as JMeter counts: done, if of those before and this one fewer than the percentage were.
    #[test]
    fn a_percentage_is_kept_at_any_time() {
        for percent in [0.0, 1.0, 12.5, 25.0, 33.3, 49.9, 50.0, 66.6, 75.0, 99.0, 100.0, 250.0] {
            let mut done = 0.0;
            for pass in 0..1_000 {
                let expected = (100.0 * done + 50.0) / (pass as f64 + 1.0) < percent;
                // From 100 % on it is always done: as JMeter's rule has it too.
                assert_eq!(is_in_percent(pass, percent), expected, "{percent} {pass}");
                done += f64::from(u8::from(expected));
            }
            assert!((done - percent.min(100.0) * 10.0).abs() <= 1.0, "{percent}: {done}");
        }
    }

    #[test]
    fn places_in_a_line_keep_their_distance_and_are_not_made_up_for() {
        let together = Together { lines: Box::new([AtomicU64::new(0)]), ..Together::default() };
        let due = [(100, 100), (100, 110), (105, 120), (200, 200), (201, 210)];
        for (now, expected) in due {
            assert_eq!(together.place(0, now, 10, u64::MAX), Some(expected), "{now}");
        }
        // One that is too far away stays free.
        assert_eq!(together.place(0, 205, 50, 10), None);
        assert_eq!(together.place(0, 205, 50, 55), Some(260));
    }

    #[test]
    fn active_users_are_those_that_came_and_did_not_leave() {
        let zeros = || [AtomicU64::new(0), AtomicU64::new(0)];
        let together = Together {
            active: Box::new(zeros()),
            counts: Box::new(zeros()),
            ..Together::default()
        };
        assert_eq!(together.active(None), 1);
        [0, 0, 1].into_iter().for_each(|scenario| together.user_came(scenario));
        together.user_left(0);
        together.user_came(0);
        assert_eq!(
            [together.active(Some(0)), together.active(Some(1)), together.active(None)],
            [2, 1, 3]
        );
        assert_eq!([together.pass(1), together.pass(1), together.pass(0)], [0, 1, 0]);
    }
}
