//! Searches of simulated queues, whose edges are known: the fast part of `bench/limit_queues.py`.

#[path = "../examples/limit_queues/queue.rs"]
mod queue;
#[path = "../examples/limit_queues/search.rs"]
mod search;

use queue::{Queue, Service};

const M_M_1: Queue =
    Queue { name: "M/M/1", servers: 1, service: Service::Exponential, mean_ms: 2.0, p99_ms: 40.0 };
const M_M_4: Queue =
    Queue { name: "M/M/4", servers: 4, service: Service::Exponential, mean_ms: 8.0, p99_ms: 60.0 };

#[test]
fn simulated_queues_are_those_of_theory() {
    for queue in [M_M_1, M_M_4] {
        let edge = queue.edge();
        assert!((queue.share_above(edge) - 0.01).abs() < 1e-4, "{edge}");
        let simulated = queue.simulated_share_above(edge, 1_000_000);
        assert!((simulated - 0.01).abs() < 0.0015, "{}: {simulated}", queue.name);
    }
}

/// With steps of 10 s, of which 8 are measured.
#[test]
fn edges_are_found_and_lie_within_their_intervals() {
    for queue in [M_M_1, M_M_4] {
        let edge = queue.edge();
        let (mut right, mut inside) = (0, 0);
        for seed in 0..20 {
            let limit = search::search(&queue, 10, seed);
            let maximum = limit.sustained_max.expect("a maximum");
            right += usize::from((maximum.level / edge - 1.0).abs() <= 0.1);
            inside += usize::from((maximum.low..=maximum.high).contains(&edge));
            let contradicted = search::is_contradicted(&limit.steps, maximum.high);
            assert!(!contradicted, "its own steps contradict it: {limit:?}");
        }
        assert!(right >= 17 && inside >= 17, "{}: {right} right, {inside} inside", queue.name);
    }
}
