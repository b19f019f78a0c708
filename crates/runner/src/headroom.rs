//! Whether a load may be changed to another level while its run goes on: the machine and the workers stay what they
//! are, so that what would not fit is refused before anybody acts on it. Pure, but for a look at the machine.

use squall_engine::RunOptions;
use squall_plan::model::{Load, Plan, Stage};

use crate::available::{Available, available};
use crate::capacity::Demand;

/// CPU time that each request takes at least, in µs, on any machine: the cheapest measured took 4 (docs/develop/benchmarks.md).
/// What a request of this plan takes is known to nobody here.
const LEAST_US_PER_REQUEST: f64 = 1.0;

/// What there is for the loads of a run that goes on.
#[derive(Debug, Clone)]
pub(crate) struct Headroom {
    /// What the machine had available when the run began.
    has: Available,
    workers: u32,
    hosts: usize,
    builtin: bool,
}

impl Headroom {
    /// For a run by these workers, which talks to so many hosts; `builtin`: the built-in target is one.
    pub(crate) fn new(workers: &RunOptions, hosts: usize, builtin: bool) -> Headroom {
        Headroom::of(available(), workers, hosts, builtin)
    }

    fn of(has: Available, workers: &RunOptions, hosts: usize, builtin: bool) -> Headroom {
        let has = Available {
            // Workers that began with one table for all keep it.
            tables: has.tables && workers.own_files,
            us_per_request: Some(LEAST_US_PER_REQUEST),
            ..has
        };
        Headroom { has, workers: workers.workers, hosts, builtin }
    }

    /// Why the run cannot have the loads of this plan in the place of those that it has `now`, in a sentence; `None`: as
    /// far as is known it can. Less than now is always possible.
    pub(crate) fn refuses(&self, now: &Plan, plan: &Plan) -> Option<String> {
        let closed = |plan| Demand::of(plan, self.hosts, self.builtin).closed();
        let (before, arrivals_before) = (closed(now), arrivals(now));
        let (closed, arrivals) = (closed(plan), arrivals(plan));
        if closed.users <= before.users && arrivals <= arrivals_before {
            return None;
        }
        let open = Demand { requests: Some(arrivals), ..Demand::default() };
        let needs = [
            closed.files(&self.has, Some(self.workers)),
            closed.memory(&self.has),
            open.cpus(&self.has),
        ];
        let missing = needs.into_iter().flatten().filter(|need| !need.help.is_empty());
        let missing: Vec<String> = missing.map(|need| need.text).collect();
        (!missing.is_empty())
            .then(|| format!("this machine cannot run that load: {}", missing.join("; ")))
    }
}

/// Most arrivals per second of all open workloads, each of which is at least a request.
fn arrivals(plan: &Plan) -> f64 {
    let loads = plan.scenarios.iter().filter_map(|scenario| scenario.load.as_ref());
    let top = |stages: &[Stage]| stages.iter().map(|stage| stage.level).fold(0.0, f64::max);
    let rate = |load: &Load| match load {
        Load::Open(open) => open.rate.unwrap_or(0.0).max(top(&open.stages)),
        Load::Closed(_) => 0.0,
    };
    loads.chain(&plan.load).map(|load| rate(&load.value)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::tests::{HAS, workers_of};

    fn plan(load: &str) -> Plan {
        let text = format!(
            "target: http://a\nscenarios:\n  a: {{load: {load}, steps: [{{get: /}}]}}\n  b: {{load: {{users: 1, for: 1m}}, steps: [{{get: /}}]}}\n"
        );
        crate::load_str("p", &text).expect("a plan").plan
    }

    /// What is said to this load in the place of one user.
    fn refused(load: &str, has: &Available, workers: &RunOptions) -> Option<String> {
        let now = plan("{users: 1, for: 1m}");
        Headroom::of(*has, workers, 1, false).refuses(&now, &plan(load))
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_reason() {
        let two = workers_of(2, false);
        let refused = |load: &str| refused(load, &HAS, &two).unwrap_or_default();
        assert_eq!(refused("{users: 900, for: 1m}"), "");
        assert_eq!(refused("{rate: 1000000/s, max_users: 5, for: 1m}"), "");
        let fast = refused("{rate: 30000000/s, max_users: 5, for: 1m}");
        assert_eq!(
            fast,
            "this machine cannot run that load: 30.00 CPUs for 30,000,000/s requests at 1.0 µs each, 2 available"
        );
        let many = refused("{users: 3000000, for: 1m}");
        assert!(
            many.contains("3,000,041 open files if all users are busy, 1,024 allowed"),
            "{many}"
        );
        assert!(many.contains("; about 3.6 GiB, 1.0 GiB available"), "{many}");
    }

    /// Whoever has begun more than the machine can run may take some of it back.
    #[test]
    fn less_is_never_refused() {
        let of = |users: u32| plan(&format!("{{users: {users}, for: 1m}}"));
        let room = Headroom::of(HAS, &workers_of(2, false), 1, false);
        assert_eq!(room.refuses(&of(3_000), &of(2_000)), None);
        assert!(room.refuses(&of(2_000), &of(3_000)).is_some());
    }

    /// Tables of open files are made when workers begin.
    #[test]
    fn workers_keep_the_tables_that_they_began_with() {
        let has = Available { tables: true, memory: 1 << 40, ..HAS };
        let load = "{users: 1500, for: 1m}";
        assert!(refused(load, &has, &workers_of(2, false)).is_some());
        assert_eq!(refused(load, &has, &workers_of(2, true)), None);
    }
}
