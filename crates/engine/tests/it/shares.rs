//! Several processes that drive one load, and hand parts of it over while it goes on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use squall_analysis::Totals;
use squall_engine::{Control, Event, Program, Progress, RunOptions};
use squall_load::Share;
use squall_wire::Io;

use crate::common::{program, shared, target};

fn share(shards: &[u64]) -> Share {
    Share::new(shards, 4).expect("shards that exist")
}

/// What a process has recorded, and how it said that it had nothing to do.
struct Part {
    totals: Totals,
    seconds: Vec<u32>,
    idle: Vec<bool>,
}

/// Drives a share of a load that began at `start`, until it is over for all.
fn drive(program: &Arc<Program>, own: &[u64], start: Instant, control: &Control) -> Part {
    let (shared, start) = (shared(program, Io::Auto), Some(start));
    let options = RunOptions { share: share(own), stays: true, start, ..RunOptions::default() };
    let mut part = Part { totals: Totals::new(), seconds: Vec::new(), idle: Vec::new() };
    let ended =
        squall_engine::run(program.clone(), shared, &options, control, None, |event| match event {
            Event::Slice(slice) => {
                part.totals.add(slice);
                part.seconds.push(slice.second);
            }
            Event::Idle(is_idle) => part.idle.push(is_idle),
            Event::Started | Event::Log(_) | Event::Notice { .. } | Event::Progress { .. } => {}
        });
    assert_eq!(ended.expect("a worker").failures, [""; 0]);
    part
}

/// One joins when the load has long begun, with nothing, and then takes what another gives away: together they have every
/// arrival once, and the seconds of both are those of the run.
#[test]
fn who_joins_takes_over_at_a_whole_second() {
    let server = target();
    let program = program(&server, "load: {rate: 100/s, for: 4s}, steps: [{get: /}]");
    let (first, second) = (Control::default(), Control::default());
    first.reshare(share(&[0, 2]), Duration::from_secs(3));
    second.reshare(share(&[1, 3]), Duration::from_secs(3));
    let start = Instant::now();
    let parts = std::thread::scope(|scope| {
        let stays = scope.spawn(|| drive(&program, &[0, 1, 2, 3], start, &first));
        std::thread::sleep(Duration::from_millis(1_100));
        let joins = scope.spawn(|| drive(&program, &[], start, &second));
        [stays, joins].map(|part| part.join().expect("no panic"))
    });
    let due = parts.each_ref().map(|part| part.totals.counters().arrivals_due);
    assert_eq!(due[0] + due[1], 400, "{due:?}");
    assert_eq!(due, [350, 50]);
    assert_eq!(parts[0].seconds.first(), Some(&0));
    assert!(parts[1].seconds.first().is_some_and(|second| *second >= 1), "{:?}", parts[1].seconds);
    assert_eq!(parts[1].idle.get(..2), Some(&[true, false][..]), "{:?}", parts[1].idle);
}

/// A load that no time ends goes on until it is told to end, as another share of it may come.
#[test]
fn who_has_done_its_iterations_waits_for_more_until_it_is_told_to_end() {
    let server = target();
    let program = program(&server, "load: {users: 4, iterations: 2}, steps: [{get: /}]");
    let control = Control::default();
    let options = RunOptions { share: share(&[0, 1, 2]), stays: true, ..RunOptions::default() };
    let (mut totals, mut progress) = (Totals::new(), Progress::default());
    let ended = squall_engine::run(
        program.clone(),
        shared(&program, Io::Auto),
        &options,
        &control,
        None,
        |event| match event {
            Event::Slice(slice) => _ = totals.add(slice),
            Event::Idle(true) => control.stop(Duration::ZERO),
            Event::Progress { progress: more, .. } => progress.merge(more),
            Event::Idle(false) | Event::Started | Event::Log(_) | Event::Notice { .. } => {}
        },
    );
    assert_eq!(ended.expect("a worker").failures, [""; 0]);
    assert_eq!(totals.counters().iterations_done, 6);
    assert_eq!(progress.users, [0, 1, 2].map(|user| ((0, user), 2)).into());
}
