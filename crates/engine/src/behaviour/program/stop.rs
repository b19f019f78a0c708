//! The end of an iteration, of a user or of the run.

use std::time::Duration;

use squall_plan::model::StopScope;

use super::interpreter::{Interpreter, Run};
use crate::behaviour::next::Next;
use crate::user::Cursor;

impl Run for StopScope {
    fn run<'p>(&'p self, user: &mut Interpreter<'_, 'p>, _: u64) -> Option<Next<'p, Cursor>> {
        match self {
            StopScope::Iteration => {
                user.strand.end_iteration(user.core);
                return None;
            }
            // Compilation made jumps of them.
            StopScope::Pass | StopScope::Loop => return None,
            StopScope::User => {}
            StopScope::Run => user.worker.stop_run(user.program.graceful_stop),
            StopScope::RunNow => user.worker.stop_run(Duration::ZERO),
        }
        Some(Next::Gone)
    }
}
