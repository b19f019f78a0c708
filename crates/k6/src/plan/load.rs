//! Executors as loads. Pure.

use squall_plan::model::{Closed, Load, Open, Stage};

use crate::options::{self, Executor, Rate};

/// The load that means the same.
pub(super) fn load(executor: &Executor) -> Load {
    match executor {
        Executor::ConstantVus { users, duration } => {
            closed(Closed { users: Some(*users), duration: Some(*duration), ..Closed::default() })
        }
        Executor::RampingVus { start, stages, graceful_ramp_down } => closed(Closed {
            // A load of stages begins with no users unless it says otherwise.
            users: Some(*start).filter(|own| *own > 0),
            stages: stages.iter().map(|own| stage(own, 1.0)).collect(),
            graceful_ramp_down: Some(*graceful_ramp_down),
            ..Closed::default()
        }),
        Executor::SharedIterations { users, iterations, max_duration } => closed(Closed {
            users: Some(*users),
            total_iterations: Some(*iterations),
            duration: Some(*max_duration),
            ..Closed::default()
        }),
        Executor::PerVuIterations { users, iterations, max_duration } => closed(Closed {
            users: Some(*users),
            iterations: Some(*iterations),
            duration: Some(*max_duration),
            ..Closed::default()
        }),
        Executor::ConstantArrivalRate { rate, duration, max_users } => Load::Open(Open {
            rate: Some(rate.per_second()),
            duration: Some(*duration),
            max_users: *max_users,
            ..Open::default()
        }),
        Executor::RampingArrivalRate { start, stages, max_users } => {
            let per_second = Rate { iterations: 1, unit: start.unit }.per_second();
            Load::Open(Open {
                rate: Some(start.per_second()).filter(|own| *own > 0.0),
                stages: stages.iter().map(|own| stage(own, per_second)).collect(),
                max_users: *max_users,
                ..Open::default()
            })
        }
    }
}

fn closed(own: Closed) -> Load {
    Load::Closed(own)
}

/// A stage whose target is counted in so many a unit.
fn stage(own: &options::Stage, unit: f64) -> Stage {
    Stage { level: own.target as f64 * unit, over: own.duration }
}
