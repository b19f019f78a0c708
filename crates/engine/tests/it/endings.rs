//! How a run ends when it does not end by itself: orders that were given before it began, a worker that
//! breaks off.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use squall_analysis::Totals;
use squall_engine::{Control, Ended, Event, ExchangeFilter, RunOptions, Trace};
use squall_wire::Io;

use crate::common::{program, shared, target};

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

/// More arrivals are due than any machine can take, so that the workers never catch up: they end when they are told to,
/// without those that are due by then, and each arrival that was due is in the counters.
#[test]
fn a_stop_does_not_wait_for_arrivals_in_arrears() {
    let control = Control::default();
    let stopper = control.clone();
    let stop = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(700));
        stopper.stop(Duration::ZERO);
    });
    let load = "load: {rate: 50000000/s, for: 30s, max_users: 2}, steps: [{get: /}]";
    let (ended, totals) = run(&control, None, load);
    stop.join().expect("no panic");
    assert_eq!(ended.failures, [""; 0]);
    let counters = totals.counters();
    assert_eq!(
        counters.arrivals_due,
        counters.iterations_started + counters.arrivals_dropped + counters.arrivals_cut_off
    );
    assert!(counters.arrivals_cut_off > 0, "{counters:?}");
}

/// One user's task panics. The other worker ends in order, and what both have recorded is handed over.
#[test]
fn a_worker_that_breaks_off_ends_the_run() {
    let told = AtomicU64::new(0);
    let trace = Trace::new(ExchangeFilter::All, 0, move |_| {
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

/// A caller that samples its host at the start can take seconds for it: the workers do not wait for that.
#[test]
fn the_load_goes_on_while_the_caller_is_told_of_its_start() {
    let server = target();
    let program = program(&server, "load: {users: 1, iterations: 3}, steps: [{get: /}]");
    let (sent, responses) = mpsc::channel();
    let sent = Mutex::new(sent);
    let trace = Trace::new(ExchangeFilter::All, 0, move |_| {
        // Nobody listens any more to what comes after the first.
        let _ = sent.lock().map(|sent| sent.send(()));
    });
    let (shared, options) = (shared(&program, Io::Auto), RunOptions::default());
    let mut started = Vec::new();
    let ended =
        squall_engine::run(program, shared, &options, &Control::default(), Some(trace), |event| {
            if let Event::Started = event {
                // It bounds how long a failure of this test takes.
                started.push(responses.recv_timeout(Duration::from_secs(60)));
            }
        });
    assert_eq!(ended.expect("a worker").failures, [""; 0]);
    assert_eq!(started, [Ok(())]);
}
