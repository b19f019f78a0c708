//! Searches of simulated queues, whose edges are known: the fast part of `bench/limit_queues.py`.

#[path = "../examples/limit_queues/queue.rs"]
mod queue;
#[path = "../examples/limit_queues/search.rs"]
mod search;

use std::ops::Range;

use queue::{Queue, Service};

const M_M_1: Queue =
    Queue { name: "M/M/1", servers: 1, service: Service::Exponential, mean_ms: 2.0, p99_ms: 40.0 };
const M_M_4: Queue =
    Queue { name: "M/M/4", servers: 4, service: Service::Exponential, mean_ms: 8.0, p99_ms: 60.0 };

/// What theory says of the queue's edge, and what so many simulated requests say.
fn is_that_of_theory(queue: Queue) {
    let edge = queue.edge();
    assert!((queue.share_above(edge) - 0.01).abs() < 1e-4, "{edge}");
    let simulated = queue.simulated_share_above(edge, 1_000_000);
    assert!((simulated - 0.01).abs() < 0.0015, "{}: {simulated}", queue.name);
}

#[test]
fn one_simulated_server_is_that_of_theory() {
    is_that_of_theory(M_M_1);
}

#[test]
fn four_simulated_servers_are_those_of_theory() {
    is_that_of_theory(M_M_4);
}

/// Ten searches, with steps of 10 s, of which 8 are measured. Of any twenty, 17 answers have to be right, and 17
/// intervals to hold: these ten are always the same, and may miss so many.
fn edge_is_found(queue: Queue, seeds: Range<u64>, missed: u64) {
    let edge = queue.edge();
    let least = seeds.end - seeds.start - missed;
    let (mut right, mut inside) = (0, 0);
    for seed in seeds {
        let limit = search::search(&queue, 10, seed);
        let maximum = limit.sustained_max.expect("a maximum");
        right += u64::from((maximum.level / edge - 1.0).abs() <= 0.1);
        inside += u64::from((maximum.low..=maximum.high).contains(&edge));
        let contradicted = search::is_contradicted(&limit.steps, maximum.high);
        assert!(!contradicted, "its own steps contradict it: {limit:?}");
    }
    assert!(right >= least && inside >= least, "{}: {right} right, {inside} inside", queue.name);
}

#[test]
fn the_edge_of_one_server_is_found() {
    edge_is_found(M_M_1, 0..10, 1);
}

#[test]
fn the_edge_of_one_server_is_found_again() {
    edge_is_found(M_M_1, 10..20, 1);
}

#[test]
fn the_edge_of_four_servers_is_found() {
    edge_is_found(M_M_4, 0..10, 1);
}

#[test]
fn the_edge_of_four_servers_is_found_again() {
    edge_is_found(M_M_4, 10..20, 1);
}
