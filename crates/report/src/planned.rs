//! What the plan asks for in each second of a run.

use squall_load::{Curve, Presence};

use crate::run::Run;

/// What the plan asks for of each scenario.
pub(crate) struct PlannedLoads(Vec<PlannedScenario>);

struct PlannedScenario {
    name: String,
    is_open: bool,
    /// Counted from its begin.
    curve: Curve,
    presence: Presence,
}

impl PlannedLoads {
    pub(crate) fn of(run: &Run) -> PlannedLoads {
        let scenarios = run.meta.scenarios.iter().map(|own| {
            let planned = &own.planned;
            let from_s = planned.after.is_empty().then_some(0.0);
            let mut presence = Presence::new(from_s, planned.until_done);
            let place = run.series.scenarios().iter().position(|name| *name == own.name);
            for row in run.series.rows() {
                let is_there = place
                    .and_then(|place| row.scenarios.get(place))
                    .is_some_and(|seen| seen.load.users > 0 || seen.load.iterations_started > 0);
                let from_s = f64::from(row.second);
                presence.note(from_s, from_s + f64::from(row.seconds), is_there);
            }
            PlannedScenario {
                name: own.name.clone(),
                is_open: planned.unit == "arrivals",
                curve: Curve::new(planned.points.iter().copied()),
                presence,
            }
        });
        PlannedLoads(scenarios.collect())
    }

    /// Most users, and the arrivals, of each scenario in some seconds.
    pub(crate) fn in_seconds(
        &self,
        second: u32,
        seconds: u32,
    ) -> impl Iterator<Item = (&str, f64, f64)> {
        let (from, to) = (f64::from(second), f64::from(second) + f64::from(seconds));
        self.0.iter().map(move |own| {
            let (users, arrivals) = match (own.presence.within(from, to), own.is_open) {
                (None, _) => (0.0, 0.0),
                (Some((from, to)), true) => (0.0, own.curve.sum(from, to)),
                (Some((from, to)), false) => (own.curve.most(from, to), 0.0),
            };
            (own.name.as_str(), users, arrivals)
        })
    }
}
