//! What a first honest implementation got wrong, each as a run in which it shows; and that one controller leads.

use std::sync::Arc;

use crate::protocol::io::{Answer, Input, Machine, Now, Output, RunCommand, RunEvent, Wanted};
use crate::protocol::messages::{OnLoss, Order};
use crate::protocol::units::{MS, SECOND};
use crate::protocol::{Controller, Lead};

use super::broker::Broker;
use super::iterations::Counted;
use super::scenario::{Fault, Scenario};
use super::world::World;

/// Worlds of each script: they differ in delays and clocks.
const WORLDS: u64 = 20;

/// A run in which nothing happens but this.
fn script(lease: u64, faults: Vec<(u64, Fault)>) -> Scenario {
    Scenario {
        nodes: 3,
        joins: Vec::new(),
        zones: false,
        shards: 12,
        lease: lease * SECOND,
        on_loss: OnLoss::Redistribute,
        length: 16,
        counted: None,
        lost: 0,
        twice: 0,
        late: 0,
        late_watch: 0,
        forgotten: 0,
        faults,
    }
}

fn run(seed: u64, scenario: Scenario) -> World {
    let mut world = World::new(seed, scenario, false);
    world.run();
    assert_eq!(world.oracle.wrong, [""; 0], "seed {seed}");
    assert!(world.oracle.ended.is_some(), "seed {seed}: it did not end");
    world
}

fn is_told(world: &World, text: &str) -> bool {
    world.oracle.told.iter().any(|told| told.contains(text))
}

fn missing(world: &World) -> usize {
    world.oracle.ended.as_ref().map_or(0, |(cells, _)| cells.missing.len())
}

/// Acknowledgements that are awaited one after the other made a fence of 10 s of a cut of 5 s.
#[test]
fn a_cut_that_is_shorter_than_the_lease_costs_nothing() {
    for seed in 0..WORLDS {
        let cut = Fault::Cut { process: 1, up: true, down: true, length: 5 * SECOND };
        let world = run(seed, script(8, vec![(4 * SECOND, cut)]));
        assert!(!is_told(&world, "had stopped by itself"), "{:?}", world.oracle.told);
        assert_eq!(missing(&world), 0);
        assert!(world.processes[1].most_in_flight >= 4, "{}", world.processes[1].most_in_flight);
    }
}

/// A consumer that was silent after a restart of the server looked like silence of all nodes, and stopped the live view.
#[test]
fn a_silent_consumer_loses_no_node_and_no_record() {
    for seed in 0..WORLDS {
        let stall = Fault::Stall { length: 9 * SECOND };
        let world = run(seed, script(3, vec![(4 * SECOND, stall)]));
        assert!(!is_told(&world, "was lost"), "{:?}", world.oracle.told);
        assert!(world.oracle.after_whole > 0, "seconds went on by patience");
        assert_eq!(missing(&world), 0);
    }
}

/// A watch that told of an old share after a fence made two nodes send the same.
#[test]
fn a_late_watch_after_a_fence_revives_no_old_share() {
    for seed in 0..WORLDS {
        let cut = Fault::Cut { process: 1, up: true, down: true, length: 8 * SECOND };
        let scenario = Scenario { late_watch: 1_000, ..script(3, vec![(3 * SECOND, cut)]) };
        let world = run(seed, scenario);
        assert!(missing(&world) > 0, "it was fenced");
    }
}

/// Without the process in a message's id, the first messages of a new one were taken for those of the former.
#[test]
fn messages_of_a_new_process_are_no_duplicates() {
    for seed in 0..WORLDS {
        let kill = Fault::Kill { process: 1, back: Some(900 * MS), disk: true };
        let world = run(seed, script(6, vec![(5 * SECOND, kill)]));
        assert!(is_told(&world, "has started anew"), "{:?}", world.oracle.told);
        assert_eq!(world.broker.duplicates, 0);
    }
}

/// What is due after a pause followed from when each node had heard of it, and nobody who came later could know that.
#[test]
fn pauses_are_the_same_for_all_whoever_takes_shards_over() {
    for seed in 0..WORLDS {
        let faults = vec![
            (2_300 * MS, Fault::Pause),
            (4_100 * MS, Fault::Leave { process: 1 }),
            (6_700 * MS, Fault::GoOn),
            (9_200 * MS, Fault::Kill { process: 2, back: Some(500 * MS), disk: true }),
        ];
        let world = run(seed, Scenario { joins: vec![5 * SECOND], ..script(3, faults) });
        assert_eq!(world.oracle.changes.0.len(), 2, "{:?}", world.oracle.changes);
        assert_eq!(world.oracle.unheard, 0, "nobody heard of it late");
    }
}

/// A node that leaves said so again whenever it heard of anything, thousands of times a second.
#[test]
fn a_node_that_leaves_says_so_once() {
    for seed in 0..WORLDS {
        let world = run(seed, script(8, vec![(4_100 * MS, Fault::Leave { process: 1 })]));
        let ids = world.processes[1].firsts.keys();
        let signs = ids.filter(|id| id.contains("/s")).count();
        assert!((4..40).contains(&signs), "{signs} signs in 7 seconds");
    }
}

/// Iterations of the last second before shards were given on were done again.
#[test]
fn who_takes_shards_over_of_a_living_node_does_nothing_again() {
    for seed in 0..WORLDS {
        let counted = Some(Counted { shards: 12, users: 30, each: 50, total: 500 });
        let faults = vec![(6 * SECOND, Fault::Leave { process: 1 })];
        let scenario = Scenario {
            joins: vec![3 * SECOND],
            late: 300,
            counted,
            length: 60,
            ..script(5, faults)
        };
        let world = run(seed, scenario);
        assert!(is_told(&world, "has shards"), "{:?}", world.oracle.told);
        assert_eq!(world.oracle.counting.again, 0);
    }
}

/// Lets a controller and a server talk for so long; what the run is told.
fn talk(
    controller: &mut Controller,
    broker: &mut Broker,
    from: u64,
    length: u64,
    first: Input,
) -> Vec<RunEvent> {
    let mut inputs = vec![first];
    let mut told = Vec::new();
    let mut time = from;
    while time < from + length {
        let mut out = Vec::new();
        for input in inputs.drain(..) {
            controller.on(Now { steady: time, unix: time as i64 }, input, &mut out);
        }
        for output in out {
            let (ticket, answer) = match output {
                Output::Put { ticket, key, value, revision } => {
                    (ticket, broker.put(&key, value, revision))
                }
                Output::Get { ticket, key } => {
                    (ticket, Answer::Value(broker.keys.get(&key).cloned()))
                }
                Output::Run(event) => {
                    told.push(event);
                    continue;
                }
                _ => continue,
            };
            inputs.push(Input::Done { ticket, answer });
        }
        if inputs.is_empty() {
            time += 100 * MS;
            inputs.push(Input::Tick);
        }
    }
    told
}

fn controller(nonce: u64) -> Controller {
    Controller::new(Lead {
        nonce,
        host: format!("host-{nonce}"),
        version: "1".into(),
        seal: Box::new(|_| Ok(Vec::new())),
    })
}

fn begin() -> Input {
    let order = Order {
        run: "r".into(),
        version: "1".into(),
        shards: 4,
        lease: 3 * SECOND,
        on_loss: OnLoss::Redistribute,
        job: String::new(),
        files: Vec::new(),
    };
    let wanted = Wanted { zones: vec![(String::new(), 1)], wait: 600 * SECOND };
    Input::Run(RunCommand::Begin { order: Arc::new(order), wanted })
}

#[test]
fn a_second_controller_is_refused() {
    let mut broker = Broker::default();
    let (mut first, mut second) = (controller(1), controller(2));
    let told = talk(&mut first, &mut broker, 0, SECOND, begin());
    assert!(matches!(&told[..], [RunEvent::Waiting(_)]), "{told:?}");
    let told = talk(&mut second, &mut broker, 0, SECOND, begin());
    assert!(
        matches!(&told[..], [RunEvent::Refused(why)] if why.contains("led by another controller")),
        "{told:?}"
    );
}
