//! How a run ends when it does not end by itself: orders that were given before it began, a worker that
//! breaks off.

mod common;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use squall_analysis::Totals;
use squall_engine::{Control, Ended, Event, RunOptions, Trace, Which};
use squall_wire::Io;

use common::{program, shared, target};

/// Runs one scenario with two workers.
fn run(control: &Control, trace: Option<Trace>, scenario: &str) -> (Ended, Totals) {
    let server = target();
    let program = program(&server, scenario);
    let options = RunOptions { workers: 2, ..RunOptions::default() };
    let mut totals = Totals::new();
    let shared = shared(&program, Io::Auto);
    let ended = squall_engine::run(program, shared, &options, control, trace, |event| {
        if let Event::Slice(slice) = event {
            totals.add(slice);
        }
    });
    (ended.expect("workers"), totals)
}

#[test]
fn orders_that_come_before_the_workers_are_obeyed() {
    let orders: [fn(&Control); 2] = [|control| control.stop(Duration::ZERO), Control::abort];
    for order in orders {
        let control = Control::default();
        order(&control);
        let (ended, totals) =
            run(&control, None, "load: {users: 2, for: 1h}, steps: [{get: /}, {think: 5ms}]");
        assert_eq!(ended.failures, [""; 0]);
        assert!(totals.all().count <= 2, "{}", totals.all().count);
    }
}

/// One user's task panics. The other worker ends in order, and what both have recorded is handed over.
#[test]
fn a_worker_that_breaks_off_ends_the_run() {
    let told = AtomicU64::new(0);
    let trace = Trace::new(Which::All, 0, move |_| {
        assert!(told.fetch_add(1, Ordering::Relaxed) != 20, "twenty are enough");
    });
    let (ended, totals) = run(
        &Control::default(),
        Some(trace),
        "load: {users: 4, for: 1h}, steps: [{get: /}, {think: 5ms}]",
    );
    assert_eq!(ended.failures.len(), 1, "{:?}", ended.failures);
    assert!(ended.failures[0].contains("panicked: twenty are enough"), "{:?}", ended.failures);
    assert!(totals.all().count >= 20, "{}", totals.all().count);
}
