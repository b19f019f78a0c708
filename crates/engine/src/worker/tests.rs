//! What a worker decides, on virtual time.

use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::messages::{Command, Orders};
use crate::testing::{Bench, Handed, MS, S, program, scenario};
use crate::user::User;
use crate::worker::Worker;

fn bench(load: &str, steps: &str) -> Bench {
    Bench::new(scenario(load, steps, "on_error: continue"))
}

/// In which seconds so many iterations were done.
fn done(handed: &Handed) -> Vec<(u32, u64)> {
    let done = handed.slices.iter().map(|slice| (slice.second, slice.counters.iterations_done));
    done.filter(|(_, done)| *done > 0).collect()
}

#[test]
fn nobody_goes_on_in_a_pause_and_all_go_on_later_by_its_length() {
    let bench = bench("users: 2, iterations: 2", "{think: 1500ms}");
    bench.run_to(500 * MS);
    bench.worker.obey(&Orders { paused: true, ..Orders::default() });
    bench.run_to(10 * S);
    bench.worker.obey(&Orders::default());
    bench.run_to(20 * S);
    assert!(bench.worker.is_done());
    assert_eq!(done(&bench.finish()), [(11, 2), (12, 2)]);
}

#[test]
fn a_branch_that_waits_stands_still_in_a_pause() {
    let bench = bench("users: 1, iterations: 1", "{parallel: [{think: 1500ms}, {think: 1s}]}");
    bench.run_to(500 * MS);
    bench.worker.obey(&Orders { paused: true, ..Orders::default() });
    bench.run_to(10 * S);
    bench.worker.obey(&Orders::default());
    bench.run_to(20 * S);
    assert_eq!(done(&bench.finish()), [(11, 1)]);
}

/// It may drive so many seconds of the load.
fn valid_for(seconds: u64) -> Orders {
    let begins = Some(Instant::now());
    let valid_until = begins.map(|begins| begins + Duration::from_secs(seconds));
    Orders { begins, valid_until, ..Orders::default() }
}

#[test]
fn who_slept_too_long_begins_nothing_until_it_may() {
    let bench = bench("rate: 10/s, for: 8s, max_users: 80", "{think: 100ms}, {think: 900ms}");
    bench.worker.obey(&valid_for(2));
    bench.run_to(1_550 * MS);
    // It stood still, and wakes up.
    bench.worker.clock.set(3 * S);
    bench.run_to(4_500 * MS);
    bench.worker.obey(&valid_for(20));
    bench.run_to(12 * S);
    assert!(bench.worker.is_done());
    let handed = bench.finish();
    let begun = |second| {
        let slices = handed.slices.iter().filter(|slice| slice.second == second);
        slices.map(|slice| slice.counters.iterations_started).sum::<u64>()
    };
    assert_eq!([0, 1, 2, 3].map(begun), [10, 6, 0, 0]);
    assert_eq!(done(&handed), [(1, 6), (4, 9), (5, 35), (6, 10), (7, 10)]);
    assert_eq!(handed.totals.counters().iterations_started, 80);
}

#[test]
fn an_arrival_that_finds_no_free_user_is_dropped() {
    let bench = bench("rate: 10/s, for: 2s, max_users: 1", "{think: 450ms}");
    bench.run_to(30 * S);
    assert!(bench.worker.is_done());
    let counters = bench.finish().totals.counters();
    let begun = counters.iterations_started;
    assert_eq!((counters.arrivals_due, counters.arrivals_cut_off), (20, 0));
    assert_eq!((begun, counters.iterations_done, counters.arrivals_dropped), (4, 4, 16));
}

#[test]
fn each_arrival_that_was_due_when_the_run_ends_is_booked() {
    let bench = bench("rate: 1000/s, for: 1h, max_users: 10000", "{think: 10s}");
    bench.run_to(S);
    // It stood still: nobody looked at what became due.
    bench.worker.clock.set(2 * S);
    bench.worker.obey(&Orders { command: Command::Stop { graceful: 0 }, ..Orders::default() });
    bench.run_to(3 * S);
    assert!(bench.worker.is_done());
    let counters = bench.finish().totals.counters();
    assert_eq!(counters.arrivals_due, counters.iterations_started + counters.arrivals_cut_off);
    assert!((999..=1001).contains(&counters.arrivals_cut_off), "{counters:?}");
    assert_eq!(counters.iterations_done, 0);
}

#[test]
fn a_load_that_waits_for_another_begins_when_it_is_told_to() {
    let bench = Bench::new(program(
        "scenarios:
  a: {load: {users: 1, iterations: 1}, steps: [{think: 3s}]}
  b: {load: {users: 1, iterations: 1}, after: [a], steps: [{think: 1s}]}",
    ));
    bench.worker.tell_done_loads();
    bench.run_to(5 * S);
    bench.worker.tell_done_loads();
    bench.worker.tell_done_loads();
    assert!(!bench.worker.is_done());
    let released = |command| Orders { released: vec![1], command, ..Orders::default() };
    bench.worker.obey(&released(Command::Run));
    bench.run_to(10 * S);
    assert!(bench.worker.is_done());
    let handed = bench.finish();
    assert_eq!((done(&handed), handed.loads_done), (vec![(3, 1), (6, 1)], vec![0]));
}

#[test]
fn a_stop_ends_who_waits_at_once_and_what_is_in_flight_later() {
    let bench = bench("users: 3, for: 1h", "{think: 10s}");
    bench.run_to(S);
    let entry = bench.worker.in_flight.enter();
    bench.worker.obey(&Orders { command: Command::Stop { graceful: 2 * S }, ..Orders::default() });
    bench.run_to(S + MS);
    assert_eq!(bench.worker.roster.borrow().active(), 0);
    assert!(bench.worker.is_stopping() && !bench.worker.is_cancelled());
    bench.run_to(3 * S);
    assert!(bench.worker.is_cancelled());
    let never = std::pin::pin!(std::future::pending::<()>());
    assert!(bench.block_on(entry.run(never)).is_err(), "it is cancelled");
}

/// A deadline that has passed cancels nothing before what had arrived by then was taken from the kernel.
#[test]
fn a_deadline_is_missed_only_once_what_had_arrived_was_taken() {
    let bench = bench("users: 1, for: 1h", "{think: 10s}");
    bench.run_to(MS);
    let worker = &bench.worker;
    let entry = worker.in_flight.enter();
    let is_cancelled = || {
        let never = std::pin::pin!(std::future::pending::<()>());
        let one = async {
            tokio::select! { biased; run = entry.run(never) => run.is_err(), () = std::future::ready(()) => false }
        };
        bench.block_on(one)
    };
    worker.set_deadlines(&entry, 2 * S, 3 * S);
    bench.run_to(2 * S - 1);
    assert!(worker.overdue.borrow().is_empty());
    bench.run_to(2 * S);
    assert!(!worker.overdue.borrow().is_empty() && !is_cancelled());
    // What was taken reaches only to shortly before it.
    worker.expire(2 * S - 1);
    assert!(!is_cancelled());
    worker.set_deadlines(&entry, 4 * S, 5 * S);
    bench.run_to(4 * S);
    worker.expire(4 * S);
    assert!(is_cancelled());
}

/// A task that panics ends its worker, which says why; what else it was to do is not done.
#[test]
fn a_task_that_panics_breaks_its_worker_off() {
    fn start(worker: &Rc<Worker>, user: Box<User>) {
        let own = worker.clone();
        worker.spawn(async move {
            assert!(user.core.seat.number != 1, "user 1 is a bad one");
            own.leave(user, 0);
        });
    }
    let program = scenario("users: 2, for: 1h", "{think: 1s}", "on_error: continue");
    let bench = Bench::with(program, start, None);
    bench.run_to(MS);
    assert!(bench.worker.is_done());
    let reason = bench.worker.broken.take();
    assert_eq!(reason.as_deref(), Some("a virtual user's task panicked: user 1 is a bad one"));
    assert_eq!(bench.worker.tasks.get(), 0, "what it held is given back");
}
