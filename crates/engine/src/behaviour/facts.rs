//! Where a user of a script stands in its test, as the script may ask.

use std::sync::atomic::Ordering;

use squall_script::Facts;

use crate::profile::{LoadProfile, Shape};
use crate::program::now_unix_ms;
use crate::user::Core;
use crate::worker::Worker;

/// What is known of a user now.
pub(super) fn of(worker: &Worker, core: &Core) -> Facts {
    let program = &worker.program;
    let load = &program.loads[usize::from(core.seat.load)];
    let scenario = &program.scenarios[core.scenario()];
    let ran = worker.clock.now().saturating_sub(worker.recorder.start());
    let since = ran.saturating_sub(load.start);
    let length = load.end().map(|end| end.saturating_sub(load.start)).filter(|own| *own > 0);
    let user = core.seat.number + 1;
    let iteration = core.iteration.get();
    // Of users in turn: no two have the same.
    let number = match load.shape {
        Shape::Open(_) => core.scheduled.get(),
        Shape::Closed(_) => iteration * load.most_users().max(1) + core.seat.number,
    };
    let active = worker.together.active(None);
    let planned = worker.together.part(None)
        * program.loads.iter().map(LoadProfile::most_users).sum::<u64>() as f64;
    let planned = planned.round() as u64;
    Facts {
        user,
        user_in_test: user,
        iteration,
        iteration_in_scenario: iteration,
        scenario: scenario.name.as_str().into(),
        executor: executor(load).into(),
        scenario_start_ms: now_unix_ms() as f64 - since as f64 / 1e6,
        progress: length.map_or(0.0, |length| (since as f64 / length as f64).min(1.0)),
        scenario_iteration: number,
        scenario_iteration_in_test: number,
        iterations_completed: worker.together.completed.load(Ordering::Relaxed),
        iterations_interrupted: worker.together.cut_off.load(Ordering::Relaxed),
        users_active: active,
        users_initialized: active.max(planned),
        test_run_ms: ran as f64 / 1e6,
    }
}

/// How a load is given, in k6's words.
fn executor(load: &LoadProfile) -> &'static str {
    let is_constant = load.constant_from() == Some(load.start);
    match &load.shape {
        Shape::Open(_) if is_constant => "constant-arrival-rate",
        Shape::Open(_) => "ramping-arrival-rate",
        Shape::Closed(own) if own.total_iterations.is_some() => "shared-iterations",
        Shape::Closed(own) if own.iterations.is_some() => "per-vu-iterations",
        Shape::Closed(_) if is_constant => "constant-vus",
        Shape::Closed(_) => "ramping-vus",
    }
}
