//! What users of all workers do together: rates that they keep in one line, passes that they count, rows that they take,
//! iterations that they share, and how many of them are active. These are atomic numbers; where users wait for each other is in [`crate::turns`].
//!
//! Several processes that share a load ask each other nothing. What the plan says of all users is therefore divided by the
//! share of the process, so that it holds for the sum:
//!
//! - rates that users keep in one line, or that active users have equal parts of, here ([`Together::part`]), and the exact
//!   counts of random moments, which are numbered and split like users;
//! - `total_iterations` of closed workloads by shard ([`Iterations`]), of open ones by the numbers of arrivals, and
//!   `max_users` by the numbers of users (`crate::roster`);
//! - rows of data by their numbers (`Rows`);
//! - connections of a pool (`crate::sample`).
//!
//! What cannot be divided holds within the process: how many users are active, passes that are counted together, sections
//! and places (see `squall_plan::holds_within_a_node`).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use squall_base::random::Random;
use squall_load::Share;

use crate::profile::LoadProfile;
use crate::program::{ExactOp, Feed, Program};
use crate::roster::Iterations;
use crate::shared_rows::{RowsKind, SharedRows};
use crate::turns::{Places, Sections};

/// Numbers that the workers of a run share.
#[derive(Debug, Default)]
pub(crate) struct Together {
    /// Active users of each scenario; empty where nothing in the program asks for them.
    active: Box<[AtomicU64]>,
    /// When the last place in each line is due, in nanoseconds of the run's clock; 0: nobody has had one.
    lines: Box<[AtomicU64]>,
    /// The moments that are drawn for each line.
    moments: Box<[Mutex<Moments>]>,
    /// How many passes were counted.
    counts: Box<[AtomicU64]>,
    /// Iterations that users of scripts have completed, ...
    pub completed: AtomicU64,
    /// ... and those that were cut off.
    pub cut_off: AtomicU64,
    /// How many rows were taken of each feed: by all its users, and then by those of each scenario.
    rows: Box<[Box<[SharedRows]>]>,
    /// What the process has of the users: of all, and then of those of each scenario. They are dealt to as many shards as
    /// have one.
    parts: RwLock<Box<[Share]>>,
    /// How many users there are at most: of all, and of each scenario.
    users: Box<[u64]>,
    /// The iterations of all users together.
    pub iterations: Iterations,
    /// Critical sections that somebody is in.
    pub sections: Arc<Sections>,
    pub places: Arc<Places>,
}

impl Together {
    /// `process`: what of all that is numbered the workers have. `is_first`: nobody has had it before.
    pub(crate) fn new(program: &Program, process: &Share, is_first: bool) -> Together {
        let rows = |feed: &Feed, is_first: bool| {
            let kind = RowsKind::of(feed);
            (0..=program.scenarios.len())
                .map(|_| SharedRows::new(kind, process, is_first))
                .collect()
        };
        let zeros =
            |count: usize| -> Box<[AtomicU64]> { (0..count).map(|_| AtomicU64::new(0)).collect() };
        let users: Box<[u64]> = most_users(program);
        Together {
            parts: RwLock::new(parts(&users, process)),
            users,
            active: zeros(if program.counts_active { program.scenarios.len() } else { 0 }),
            lines: zeros(program.lines),
            moments: (0..program.lines as u64)
                .map(|line| Mutex::new(Moments::new(Random::of(program.seed, u64::MAX, line, 0))))
                .collect(),
            counts: zeros(program.counts),
            completed: AtomicU64::new(0),
            cut_off: AtomicU64::new(0),
            rows: program.feeds.iter().map(|feed| rows(feed, is_first)).collect(),
            iterations: Iterations::new(&program.loads, process),
            sections: Arc::default(),
            places: Arc::new(Places::new(program.places)),
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

    /// The process has another share from now on.
    pub(crate) fn reshare(&self, process: &Share) -> Vec<usize> {
        *self.parts.write().unwrap_or_else(PoisonError::into_inner) = parts(&self.users, process);
        // Of each scenario too: no part of it is left out when one has told.
        let tells = |rows: &[SharedRows]| {
            rows.iter().fold(false, |tells, rows| rows.reshare(process) | tells)
        };
        let told = self.rows.iter().enumerate().filter(|(_, rows)| tells(rows));
        told.map(|(feed, _)| feed).collect()
    }

    fn part_of<T>(&self, scenario: Option<usize>, look: impl FnOnce(&Share) -> T) -> Option<T> {
        // A thread that panicked has left whole shares behind.
        let parts = self.parts.read().unwrap_or_else(PoisonError::into_inner);
        parts.get(scenario.map_or(0, |scenario| scenario + 1)).map(look)
    }

    /// Which part of what all users have together is that of the process, from 0 to 1: of the users of a scenario, or of
    /// all. One that has no share any more, and ends what it has begun, is not held back.
    pub(crate) fn part(&self, scenario: Option<usize>) -> f64 {
        let part = |share: &Share| share.shards().len() as f64 / share.of() as f64;
        self.part_of(scenario, part).filter(|part| *part > 0.0).unwrap_or(1.0)
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

    /// The next random moment of a line, `now` or later, of which there are `count`, rounded up, in each time; of these
    /// the process has its part. `None`: it has none in the time at hand.
    pub(crate) fn moment(
        &self,
        (line, scenario): (usize, Option<usize>),
        now: u64,
        count: f64,
        exact: ExactOp,
    ) -> Option<u64> {
        // At least one: there is a rate.
        let all = (count.ceil() as u64).max(1);
        let own = self.part_of(scenario, |share| share.count_below(all)).unwrap_or(all);
        // A thread that panicked has left whole numbers behind.
        let mut moments = self.moments[line].lock().unwrap_or_else(PoisonError::into_inner);
        moments.next(now, own, exact).map(|due| due.max(now))
    }

    /// The number of a pass, from 0, over all users that count it together.
    pub(crate) fn pass(&self, count: usize) -> u64 {
        self.counts[count].fetch_add(1, Ordering::Relaxed)
    }

    /// The rows of a feed that are taken together: by all users, or by those of a scenario.
    pub(crate) fn rows(&self, feed: usize, scenario: Option<usize>) -> &SharedRows {
        &self.rows[feed][scenario.map_or(0, |scenario| scenario + 1)]
    }
}

/// Random moments, of which there is an exact number in each time: those of a Poisson process whose number is known are
/// spread evenly and independently, and drawn here in their order, one by one.
#[derive(Debug)]
struct Moments {
    random: Random,
    /// When the time at hand ends; `None`: none has begun.
    ends: Option<u64>,
    /// How many moments are left in it.
    left: u64,
    /// Which part of it is before the last one that was drawn.
    passed: f64,
    /// How many passes more are due at that one.
    more: u32,
    due: u64,
}

impl Moments {
    fn new(random: Random) -> Moments {
        Moments { random, ends: None, left: 0, passed: 0.0, more: 0, due: 0 }
    }

    /// When the next pass is due. There are `count` moments in each time; `None`: there is none.
    fn next(&mut self, now: u64, count: u64, exact: ExactOp) -> Option<u64> {
        if self.more > 0 {
            self.more -= 1;
            return Some(self.due);
        }
        if self.left == 0 {
            if count == 0 {
                // Those who come later begin with a time of their own.
                self.ends = None;
                return None;
            }
            self.left = count;
            self.ends = Some(self.ends.unwrap_or(now).saturating_add(exact.over));
            self.passed = 0.0;
        }
        // The first of as many as are left, of what is left of the time.
        let rest = (1.0 - self.random.uniform()).powf(1.0 / self.left as f64);
        self.passed = 1.0 - (1.0 - self.passed) * rest;
        self.left -= 1;
        self.more = exact.batch.saturating_sub(1);
        let begins = self.ends.unwrap_or(now).saturating_sub(exact.over);
        self.due = begins.saturating_add((self.passed * exact.over as f64) as u64);
        Some(self.due)
    }
}

/// How many users there are at most: of all loads, and of those of each scenario.
fn most_users(program: &Program) -> Box<[u64]> {
    let of = |scenario: Option<usize>| {
        let has = |load: &&LoadProfile| {
            scenario.is_none_or(|own| load.members.iter().any(|member| member.scenario == own))
        };
        program.loads.iter().filter(has).map(LoadProfile::most_users).max().unwrap_or(1)
    };
    std::iter::once(None).chain((0..program.scenarios.len()).map(Some)).map(of).collect()
}

fn parts(users: &[u64], process: &Share) -> Box<[Share]> {
    users.iter().map(|users| process.among_first(*users)).collect()
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
    fn random_moments_are_in_order_and_as_many_as_they_should_be() {
        let mut moments = Moments::new(Random::new(7));
        let exact = ExactOp { over: 1_000_000, batch: 1 };
        let due: Vec<u64> = (0..1_000).filter_map(|_| moments.next(500, 100, exact)).collect();
        assert!(due.is_sorted());
        for (period, due) in due.chunks(100).enumerate() {
            let begins = 500 + period as u64 * 1_000_000;
            assert!(due.iter().all(|due| (begins..=begins + 1_000_000).contains(due)), "{period}");
            // As many in one half as in the other, but for chance.
            let half = due.iter().filter(|due| **due < begins + 500_000).count();
            assert!((25..=75).contains(&half), "{half}");
        }
        let mut moments = Moments::new(Random::new(7));
        let exact = ExactOp { over: 1_000_000, batch: 3 };
        let due: Vec<u64> = (0..30).filter_map(|_| moments.next(0, 10, exact)).collect();
        assert!(due.chunks(3).all(|own| own.iter().all(|due| *due == own[0])), "{due:?}");
        assert!(due[29] <= 1_000_000 && due[0] < due[29]);
        assert!(moments.next(0, 10, exact) >= Some(1_000_000), "the next time has its own");
    }

    /// What several processes have of a rate, and of an exact number of passes, is all of it.
    #[test]
    fn processes_divide_what_all_users_have_together() {
        for (users, total) in [(100, 50), (100, 7), (2, 9), (1, 1)] {
            let share = |shards: &[u64]| Share::new(shards, 6).expect("shards that exist");
            let processes =
                [share(&[0, 2]), share(&[1, 3, 4]), share(&[5])].map(|process| Together {
                    moments: Box::new([Mutex::new(Moments::new(Random::new(7)))]),
                    parts: RwLock::new(parts(&[users], &process)),
                    users: Box::new([users]),
                    ..Together::default()
                });
            let has =
                |own: &&Together| own.part_of(None, |share| share.count_below(users)) > Some(0);
            let part: f64 = processes.iter().filter(has).map(|own| own.part(None)).sum();
            assert!((part - 1.0).abs() < 1e-9, "{users} users: {part}");
            let exact = ExactOp { over: 1_000_000, batch: 1 };
            let in_time = |own: &Together| {
                let due = std::iter::from_fn(|| own.moment((0, None), 0, total as f64, exact));
                due.take_while(|due| *due <= 1_000_000).count() as u64
            };
            assert_eq!(processes.iter().map(in_time).sum::<u64>(), total, "{users} users");
            processes[0].reshare(&share(&[]));
            assert_eq!(processes[0].part(None), 1.0);
        }
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
