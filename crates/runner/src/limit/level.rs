//! A plan at a load level: the plan's loads are replaced, in their proportions.

use std::time::Duration;

use squall_limit::LevelKind;
use squall_plan::model::{Closed, Load, Open, Plan};

use crate::plans;

/// There are users for this many seconds' worth of arrivals, but at least `MIN_USERS`, ...
const ARRIVALS_IN_FLIGHT_S: f64 = 10.0;
const MIN_USERS: u64 = 100;
/// ... and at most as many as the open files allow.
const MAX_USERS: u64 = 10_000;

/// What most of the plan's loads count: arrivals or users.
pub fn kind(plan: &Plan) -> LevelKind {
    let loads =
        plan.scenarios.iter().filter_map(|scenario| scenario.load.as_ref()).chain(&plan.load);
    let open = loads.clone().filter(|load| matches!(load.value, Load::Open(_))).count();
    if 2 * open > loads.count() { LevelKind::Rate } else { LevelKind::Users }
}

/// The plan at this level, for this long. The level is that of all loads of its kind together; loads of the other
/// kind are raised by the same factor. In a plan without a load of that kind, all are turned into it, one part
/// each. Each load has at least one user.
pub fn at(plan: &Plan, by: LevelKind, level: f64, length: Duration) -> Plan {
    let mut plan = plan.clone();
    let mut loads = plans::loads(&mut plan);
    let of_kind = loads.iter().filter(|load| kind_of(load) == by);
    let total: f64 = of_kind.map(|load| size(load)).sum();
    let count = loads.len() as f64;
    for load in &mut loads {
        **load = match (kind_of(load), total > 0.0) {
            (own, true) => sized(load, own, level * size(load) / total, length),
            (_, false) => sized(load, by, level / count, length),
        };
    }
    for scenario in &mut plan.scenarios {
        scenario.start_after = Duration::ZERO;
    }
    plan
}

/// Whether all loads are arrivals at this level, so that throughput is the rate.
pub fn is_open(plan: &Plan, by: LevelKind) -> bool {
    let mut plan = plan.clone();
    let loads = plans::loads(&mut plan);
    let open = loads.iter().filter(|load| kind_of(load) == LevelKind::Rate).count();
    by == LevelKind::Rate && (open == 0 || open == loads.len())
}

/// A load of so many users, or arrivals per second.
fn sized(load: &Load, kind: LevelKind, size: f64, length: Duration) -> Load {
    match (kind, load) {
        (LevelKind::Users, load) => Load::Closed(Closed {
            users: Some((size.round() as u64).max(1)),
            duration: Some(length),
            pacing: match load {
                Load::Closed(closed) => closed.pacing,
                Load::Open(_) => None,
            },
            ..Closed::default()
        }),
        (LevelKind::Rate, load) => {
            let (users, arrivals) = match load {
                Load::Open(open) => (open.max_users, open.arrivals),
                Load::Closed(_) => (0, Default::default()),
            };
            Load::Open(Open {
                rate: Some(size),
                max_users: users.max(least_users(size)).min(MAX_USERS),
                arrivals,
                duration: Some(length),
                ..Open::default()
            })
        }
    }
}

fn least_users(rate: f64) -> u64 {
    ((rate * ARRIVALS_IN_FLIGHT_S).ceil() as u64).max(MIN_USERS)
}

fn kind_of(load: &Load) -> LevelKind {
    match load {
        Load::Closed(_) => LevelKind::Users,
        Load::Open(_) => LevelKind::Rate,
    }
}

/// The most users of a load, or arrivals per second.
fn size(load: &Load) -> f64 {
    let (stages, own) = match load {
        Load::Closed(closed) => (&closed.stages, closed.users.map(|users| users as f64)),
        Load::Open(open) => (&open.stages, open.rate),
    };
    let size = stages.iter().map(|stage| stage.level).chain(own).reduce(f64::max);
    size.filter(|size| *size > 0.0).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> Plan {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("plan.yaml");
        std::fs::write(&path, text).expect("writable");
        squall_plan::yaml::load(&path, &Default::default()).expect("a plan").plan
    }

    #[test]
    fn loads_keep_their_proportions() {
        let two = plan(
            "target: builtin\nscenarios:\n  a: {load: {users: 30, for: 1m}, steps: [{get: /}]}\n  b: {load: {users: 10, ramp: 5s, for: 1m}, start_after: 5s, steps: [{get: /}]}\n",
        );
        assert_eq!(kind(&two), LevelKind::Users);
        let level = at(&two, LevelKind::Users, 200.0, Duration::from_secs(9));
        let users = |plan: &Plan, index: usize| match &plan.scenarios[index].load {
            Some(load) => match &load.value {
                Load::Closed(closed) => (closed.users, closed.ramp, closed.duration),
                Load::Open(open) => (Some(open.max_users), open.ramp, open.duration),
            },
            None => panic!("a load"),
        };
        let nine = Some(Duration::from_secs(9));
        assert_eq!(users(&level, 0), (Some(150), Duration::ZERO, nine));
        assert_eq!(users(&level, 1), (Some(50), Duration::ZERO, nine));
        assert_eq!(level.scenarios[1].start_after, Duration::ZERO);
        let rate = at(&two, LevelKind::Rate, 100.0, Duration::from_secs(9));
        assert_eq!(users(&rate, 0), (Some(500), Duration::ZERO, nine));
    }

    #[test]
    fn loads_of_both_kinds_are_raised_together() {
        let both = plan(
            "target: builtin\nscenarios:\n  a: {load: {users: 30, for: 1m}, steps: [{get: /}]}\n  b: {load: {rate: 60/s, for: 1m}, steps: [{get: /}]}\n",
        );
        let sizes = |by, level| {
            let mut plan = at(&both, by, level, Duration::from_secs(9));
            let loads = plans::loads(&mut plan);
            loads.iter().map(|load| (kind_of(load), size(load))).collect::<Vec<_>>()
        };
        let doubled = [(LevelKind::Users, 60.0), (LevelKind::Rate, 120.0)];
        assert_eq!(sizes(LevelKind::Users, 60.0), doubled);
        assert_eq!(sizes(LevelKind::Rate, 120.0), doubled);
        assert!(!is_open(&both, LevelKind::Rate));
    }
}
