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

/// The plan at this level, for this long. Each load has at least one user.
pub fn at(plan: &Plan, by: LevelKind, level: f64, length: Duration) -> Plan {
    let mut plan = plan.clone();
    let mut loads = plans::loads(&mut plan);
    let sizes: Vec<f64> = loads.iter().map(|load| size(load, by)).collect();
    let total: f64 = sizes.iter().sum();
    for (load, size) in loads.iter_mut().zip(sizes) {
        let part = level * size / total;
        **load = match by {
            LevelKind::Users => Load::Closed(Closed {
                users: Some((part.round() as u64).max(1)),
                duration: Some(length),
                pacing: match load {
                    Load::Closed(closed) => closed.pacing,
                    Load::Open(_) => None,
                },
                ..Closed::default()
            }),
            LevelKind::Rate => Load::Open(Open {
                rate: Some(part),
                max_users: match load {
                    Load::Open(open) => open.max_users.max(least_users(part)),
                    Load::Closed(_) => least_users(part),
                }
                .min(MAX_USERS),
                arrivals: match load {
                    Load::Open(open) => open.arrivals,
                    Load::Closed(_) => Default::default(),
                },
                duration: Some(length),
                ..Open::default()
            }),
        };
    }
    for scenario in &mut plan.scenarios {
        scenario.start_after = Duration::ZERO;
    }
    plan
}

fn least_users(rate: f64) -> u64 {
    ((rate * ARRIVALS_IN_FLIGHT_S).ceil() as u64).max(MIN_USERS)
}

/// The size of a load relative to the others; loads of the other kind count as one each.
fn size(load: &Load, by: LevelKind) -> f64 {
    let own = match (load, by) {
        (Load::Closed(closed), LevelKind::Users) => closed
            .stages
            .iter()
            .map(|stage| stage.level)
            .chain(closed.users.map(|users| users as f64))
            .reduce(f64::max),
        (Load::Open(open), LevelKind::Rate) => {
            open.stages.iter().map(|stage| stage.level).chain(open.rate).reduce(f64::max)
        }
        _ => None,
    };
    own.filter(|own| *own > 0.0).unwrap_or(1.0)
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
}
