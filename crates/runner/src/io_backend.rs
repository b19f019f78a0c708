//! Which I/O backend `--io auto` takes for a plan: the one that costs less CPU for it, as `bench/ring.py`
//! measures.

use squall_plan::model::{Bandwidth, Plan};
use squall_wire::Io;

use crate::capacity::Demand;

/// Below so many requests a second a worker sleeps before most of them, and a sleep in a ring costs more
/// than one in epoll; above, what the ring sends and receives at once saves more than that.
const MIN_RING_RATE: f64 = 10_000.0;

/// The backend for a plan. Users with a bandwidth have sockets of epoll's: beside them a ring is a second
/// event loop.
pub fn choose(asked: Io, plan: &Plan) -> Io {
    let limited = |bandwidth: &Bandwidth| *bandwidth != Bandwidth::default();
    let own = plan.scenarios.iter().filter_map(|scenario| scenario.bandwidth.as_ref());
    let is_throttled = own.chain([&plan.bandwidth]).any(limited);
    // Hosts play no part in it.
    let rate = Demand::of(plan, 1, false).requests;
    let is_slow = rate.is_some_and(|rate| rate < MIN_RING_RATE);
    match asked {
        Io::Auto if is_throttled || is_slow => Io::Epoll,
        asked => asked,
    }
}

#[cfg(test)]
mod tests {
    use squall_plan::vars::LoadOptions;

    use super::*;

    fn chosen(plan: &str) -> Io {
        let text = format!("target: http://127.0.0.1:9\n{plan}");
        let folder = std::path::Path::new("");
        let loaded = squall_plan::yaml::load_str("p", &text, folder, &LoadOptions::default());
        choose(Io::Auto, &loaded.expect("a good plan").plan)
    }

    #[test]
    fn each_plan_has_the_cheaper_backend() {
        let users = "scenarios: {a: {load: {users: 64, for: 1s}, steps: [{get: /}]";
        assert_eq!(chosen(&format!("{users}}}}}")), Io::Auto, "as fast as they can");
        assert_eq!(chosen(&format!("{users}, bandwidth: 1Mbit/s}}}}")), Io::Epoll);
        assert_eq!(chosen(&format!("bandwidth: {{up: 1Mbit/s}}\n{users}}}}}")), Io::Epoll);
        let rate = |rate: &str| {
            chosen(&format!("scenarios: {{a: {{load: {{{rate}, for: 1s}}, steps: [{{get: /}}]}}}}"))
        };
        assert_eq!(rate("rate: 5000/s"), Io::Epoll);
        assert_eq!(rate("rate: 20000/s"), Io::Auto);
        assert_eq!(rate("users: 100, pacing: 1s"), Io::Epoll);
    }

    #[test]
    fn what_is_asked_for_is_taken() {
        let plan = Plan { bandwidth: Bandwidth { down: Some(1), up: None }, ..Plan::default() };
        assert_eq!(choose(Io::Uring, &plan), Io::Uring);
    }
}
