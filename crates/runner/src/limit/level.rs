//! A plan at a load level: each of its loads is multiplied by the same factor.

use std::time::Duration;

use squall_limit::LevelKind;
use squall_plan::model::{Closed, Load, Open, Plan};

use crate::plans;

/// There are users for this many seconds' worth of arrivals, but at least `MIN_USERS`, ...
const ARRIVALS_IN_FLIGHT_S: f64 = 10.0;
const MIN_USERS: u64 = 100;
/// ... and at most as many as the open files allow.
const MAX_USERS: u64 = 10_000;

/// What a level counts unless it is asked for: users or arrivals, if all loads have those, or else the factor by
/// which the plan's loads are multiplied.
pub fn kind(plan: &Plan) -> LevelKind {
    let loads =
        plan.scenarios.iter().filter_map(|scenario| scenario.load.as_ref()).chain(&plan.load);
    let (open, all) = loads.fold((0, 0), |(open, all), load| {
        (open + usize::from(matches!(load.value, Load::Open(_))), all + 1)
    });
    match open {
        0 => LevelKind::Users,
        open if open == all => LevelKind::Rate,
        _ => LevelKind::Factor,
    }
}

/// The first level, unless one is asked for.
pub(super) fn first(by: LevelKind) -> f64 {
    match by {
        LevelKind::Rate => 10.0,
        LevelKind::Users => 1.0,
        LevelKind::Factor => 0.25,
    }
}

/// The plan at this level, for this long: all its loads are multiplied by the same factor, and stay at their peak
/// from the first moment on, those that come `after` others too; requests in flight at its end may take `graceful_stop`.
/// A level in users, or in arrivals, is that of all loads of its kind together. In a plan
/// without a load of that kind, all are turned into it, one part each. Each load has at least one user.
pub(super) fn at(
    plan: &Plan,
    by: LevelKind,
    level: f64,
    length: Duration,
    graceful_stop: Duration,
) -> Plan {
    let mut plan = plan.clone();
    plan.graceful_stop = Some(graceful_stop);
    let mut loads = plans::loads(&mut plan);
    let of_kind = loads.iter().filter(|load| kind_of(load) == by);
    let total: f64 = of_kind.map(|load| size(load)).sum();
    let factor = match by {
        LevelKind::Factor => Some(level),
        LevelKind::Rate | LevelKind::Users => (total > 0.0).then_some(level / total),
    };
    let count = loads.len() as f64;
    for load in &mut loads {
        **load = match factor {
            Some(factor) => sized(load, kind_of(load), factor * size(load), length),
            None => sized(load, by, level / count, length),
        };
    }
    for scenario in &mut plan.scenarios {
        scenario.start_after = Duration::ZERO;
        scenario.after.clear();
    }
    plan
}

/// The rate of arrivals of a plan, if all its load is arrivals: throughput has to keep up with it.
pub(super) fn arrivals(plan: &Plan) -> Option<f64> {
    let mut plan = plan.clone();
    plans::loads(&mut plan)
        .iter()
        .map(|load| match load {
            Load::Open(open) => open.rate,
            Load::Closed(_) => None,
        })
        .sum()
}

/// A load of so many users, or arrivals per second.
fn sized(load: &Load, kind: LevelKind, size: f64, length: Duration) -> Load {
    if kind == LevelKind::Rate {
        let (users, arrivals) = match load {
            Load::Open(open) => (open.max_users, open.arrivals),
            Load::Closed(_) => (0, Default::default()),
        };
        return Load::Open(Open {
            rate: Some(size),
            max_users: users.max(least_users(size)).min(MAX_USERS),
            arrivals,
            duration: Some(length),
            ..Open::default()
        });
    }
    Load::Closed(Closed {
        users: Some((size.round() as u64).max(1)),
        duration: Some(length),
        pacing: match load {
            Load::Closed(closed) => closed.pacing,
            Load::Open(_) => None,
        },
        ..Closed::default()
    })
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
    use std::path::Path;

    use super::*;

    const NINE: Duration = Duration::from_secs(9);

    fn plan(loads: &[&str]) -> Plan {
        let scenarios: String = loads
            .iter()
            .enumerate()
            .map(|(at, load)| {
                format!("  s{at}: {{load: {{{load}, for: 1m}}, steps: [{{get: /}}]}}\n")
            })
            .collect();
        let text = format!("target: builtin\nscenarios:\n{scenarios}");
        squall_plan::yaml::load_str("p", &text, Path::new(""), &Default::default())
            .expect("a plan")
            .plan
    }

    /// Kind and size of each load at a level.
    fn sizes(plan: &Plan, by: LevelKind, level: f64) -> Vec<(LevelKind, f64)> {
        let mut plan = at(plan, by, level, NINE, Duration::ZERO);
        plans::loads(&mut plan).iter().map(|load| (kind_of(load), size(load))).collect()
    }

    #[test]
    fn loads_keep_their_proportions() {
        let mut two = plan(&["users: 30", "users: 10, ramp: 5s"]);
        two.scenarios[1].start_after = Duration::from_secs(5);
        assert_eq!(kind(&two), LevelKind::Users);
        let (users, rate) = (LevelKind::Users, LevelKind::Rate);
        assert_eq!(sizes(&two, users, 200.0), [(users, 150.0), (users, 50.0)]);
        assert_eq!(sizes(&two, rate, 100.0), [(rate, 50.0), (rate, 50.0)]);
        let level = at(&two, users, 200.0, NINE, Duration::ZERO);
        assert_eq!(level.scenarios[1].start_after, Duration::ZERO);
        let load = level.scenarios[1].load.as_ref().expect("a load");
        let expected = Closed { users: Some(50), duration: Some(NINE), ..Closed::default() };
        assert_eq!(load.value, Load::Closed(expected));
    }

    /// Its load counts in the level, so it has to be there.
    #[test]
    fn a_scenario_that_comes_after_others_is_there_from_the_first_moment_on() {
        let text = "target: builtin\nscenarios:\n  a: {load: {users: 2, for: 1m}, steps: [{get: /}]}\n  b: {after: [a], load: {users: 2, for: 1m}, steps: [{get: /}]}\n";
        let plan = crate::load_str("p", text).expect("a plan").plan;
        assert_eq!(plan.scenarios[1].after.len(), 1);
        let level = at(&plan, LevelKind::Users, 4.0, NINE, Duration::ZERO);
        assert!(level.scenarios.iter().all(|own| own.after.is_empty()));
        assert_eq!(sizes(&plan, LevelKind::Users, 4.0), [(LevelKind::Users, 2.0); 2]);
    }

    #[test]
    fn users_and_arrivals_are_multiplied_by_the_same_factor() {
        let both = plan(&["users: 30", "rate: 60/s, max_users: 10"]);
        assert_eq!(kind(&both), LevelKind::Factor);
        let doubled = [(LevelKind::Users, 60.0), (LevelKind::Rate, 120.0)];
        assert_eq!(sizes(&both, LevelKind::Factor, 2.0), doubled);
        assert_eq!(sizes(&both, LevelKind::Users, 60.0), doubled);
        assert_eq!(sizes(&both, LevelKind::Rate, 120.0), doubled);
        let small = [(LevelKind::Users, 1.0), (LevelKind::Rate, 0.6)];
        assert_eq!(sizes(&both, LevelKind::Factor, 0.01), small, "nobody is no user");
    }

    #[test]
    fn throughput_has_to_keep_up_where_all_loads_are_arrivals() {
        let sized = |plan: &Plan, by, level| at(plan, by, level, NINE, Duration::ZERO);
        let open = plan(&["rate: 60/s, max_users: 10", "rate: 20/s, max_users: 10"]);
        assert_eq!(kind(&open), LevelKind::Rate);
        assert_eq!(arrivals(&sized(&open, LevelKind::Rate, 40.0)), Some(40.0));
        assert_eq!(arrivals(&sized(&open, LevelKind::Factor, 2.0)), Some(160.0));
        let both = plan(&["users: 30", "rate: 60/s, max_users: 10"]);
        assert_eq!(arrivals(&sized(&both, LevelKind::Rate, 40.0)), None);
    }
}
