//! What a worker's record makes of what comes early, late, often and under new names.

use std::sync::mpsc;

use squall_analysis::Totals;
use squall_metrics::{CheckResult, RowKind, Sample, Source, UserState};

use super::*;
use crate::testing::{MS, S, program};

/// A recorder and what it hands over. The load begins a second after the clock.
struct Book {
    recorder: Recorder,
    inbox: Receiver<Message>,
}

const START: u64 = S;
const PLAN: &str = "scenarios: {a: {load: {users: 1, iterations: 1}, steps: [{get: 'http://a.invalid/', name: known, check: status == 200}]}}";

impl Book {
    /// With as many names counted separately as the plan says.
    fn new(plan: &str, registry: Option<Arc<NameRegistry>>) -> Book {
        let program = program(plan);
        let registry = registry.unwrap_or_else(|| Arc::new(NameRegistry::new(&program)));
        let (messages, inbox) = mpsc::channel();
        Book { recorder: Recorder::new(&program, 0, START, messages, registry, None), inbox }
    }

    /// The seconds that were handed over since this was last asked, each with its requests.
    fn seconds(&self) -> Vec<(u32, u64)> {
        let requests = |slice: &Slice| slice.requests().map(|(_, stats)| stats.count).sum();
        self.slices().iter().map(|slice| (slice.second, requests(slice))).collect()
    }

    fn slices(&self) -> Vec<Slice> {
        let slices = self.inbox.try_iter().filter_map(|message| match message {
            Message::Slice { slice, .. } => Some(*slice),
            _ => None,
        });
        slices.collect()
    }

    fn request(&self, end: u64) {
        self.recorder.request(0, &Sample::ok(1_000), START + end);
    }
}

#[test]
fn a_second_ends_at_its_boundary() {
    let book = Book::new(PLAN, None);
    book.request(0);
    book.request(S - 1);
    assert_eq!(book.seconds(), []);
    book.request(S);
    assert_eq!(book.seconds(), [(0, 2)]);
    assert_eq!(book.recorder.second_ends(), START + 2 * S);
    book.recorder.roll(START + 2 * S - 1);
    assert_eq!(book.seconds(), []);
    book.recorder.roll(START + 2 * S);
    assert_eq!(book.seconds(), [(1, 1)]);
    // Before the start is the first second, too.
    book.recorder.roll(0);
    book.recorder.finish(START + 2 * S + 5);
    assert_eq!(book.seconds(), [(2, 0)]);
}

#[test]
fn seconds_in_which_nothing_was_recorded_are_left_out() {
    let book = Book::new(PLAN, None);
    book.request(300 * MS);
    book.request(4 * S + 1);
    book.recorder.finish(START + 5 * S);
    assert_eq!(book.seconds(), [(0, 1), (4, 1)]);
}

/// What a second got is what was recorded before it ended, whenever that was over.
#[test]
fn what_comes_late_counts_in_the_present_second() {
    let book = Book::new(PLAN, None);
    book.recorder.roll(START + S);
    book.request(S - 1);
    book.recorder.expect_users(1);
    book.recorder.state(UserState::NotStarted, UserState::Ready, START + S);
    book.recorder.roll(START + 2 * S);
    // The state changed in the second that is over.
    book.recorder.state(UserState::Ready, UserState::Think, START + 2 * S - 400 * MS);
    book.recorder.finish(START + 3 * S);
    let slices = book.slices();
    assert_eq!(slices.iter().map(|slice| slice.second).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(slices[1].requests().map(|(_, stats)| stats.count).sum::<u64>(), 1);
    let time = |state| slices[1..].iter().map(|slice| slice.time_account.time(state)).sum::<i64>();
    assert_eq!(time(UserState::Ready), 600_000_000, "as if it had been known in time");
    assert_eq!(time(UserState::Think), 1_400_000_000);
}

#[test]
fn the_present_users_are_in_each_second() {
    let book = Book::new(PLAN, None);
    book.recorder.users(3);
    book.recorder.users(2);
    book.recorder.roll(START + S);
    book.recorder.users(1);
    book.recorder.finish(START + 2 * S);
    let most: Vec<u64> = book.slices().iter().map(|slice| slice.counters.users_active).collect();
    assert_eq!(most, [3, 2]);
}

/// The place of the plan's requests, or checks.
fn place(program: &Program, kind: RowKind) -> PlaceId {
    let known = program.names.keys().find(|key| key.place.kind == kind).expect("a row");
    program.names.clone().place(&known.place)
}

#[test]
fn names_above_the_limit_are_counted_together() {
    let plan = format!("max_names: 3\n{PLAN}");
    let requests = place(&program(&plan), RowKind::Request);
    let book = Book::new(&plan, None);
    for number in 0..5 {
        let name = book.recorder.name(requests, &format!("new {}", number % 4));
        book.recorder.request(name, &Sample::ok(1_000), START);
    }
    book.recorder.finish(START + S);
    let mut totals = Totals::new();
    let mut beyond = 0;
    for slice in book.slices() {
        beyond += slice.counters.names_beyond_limit;
        totals.add(&slice);
    }
    let mut rows: Vec<(&str, u64)> = totals
        .rows()
        .map(|(key, stats)| (&*key.name, stats.count))
        .filter(|(_, count)| *count > 0)
        .collect();
    rows.sort_unstable();
    assert_eq!(rows, [("new 0", 2), ("new 1", 1), ("other", 2)]);
    assert_eq!(beyond, 2);
}

/// What a script checks has a name that nobody knew before.
#[test]
fn a_check_may_get_its_name_while_the_run_goes_on() {
    let program = program(PLAN);
    let checks = place(&program, RowKind::Check);
    let registry = Arc::new(NameRegistry::new(&program));
    let books = [(); 2].map(|()| Book::new(PLAN, Some(registry.clone())));
    for (book, results) in books.iter().zip([
        [("is fast", CheckResult::Passed), ("is whole", CheckResult::Failed)],
        [("is whole", CheckResult::Passed), ("is fast", CheckResult::Passed)],
    ]) {
        for (name, result) in results {
            let row = book.recorder.name(checks, name);
            book.recorder.check(row, result);
        }
        book.recorder.finish(START + S);
    }
    let mut totals = Totals::new();
    for (worker, book) in (0..).zip(&books) {
        for mut slice in book.slices() {
            slice.source = Source::Worker(worker);
            totals.add(&slice);
        }
    }
    let checks = totals.checks().map(|(key, counts)| (&*key.name, counts.passed, counts.failed));
    let mut checks: Vec<_> = checks.collect();
    checks.sort_unstable();
    assert_eq!(checks, [("is fast", 2, 0), ("is whole", 1, 1)]);
    let counters = totals.counters();
    assert_eq!((counters.checks_passed, counters.checks_failed), (3, 1));
}
