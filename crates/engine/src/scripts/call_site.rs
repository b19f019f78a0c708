//! What a worker knows of a step that calls a function of a script.

use super::counted::Counted;
use super::rows::Rows;
use crate::program::ScriptOp;

/// What a worker knows of a step that calls a function.
#[derive(Debug)]
pub(crate) struct CallSite {
    /// The rows under which what the function does counts.
    pub rows: Rows,
    /// The metrics that are recorded of it.
    pub counted: Counted,
}

impl CallSite {
    /// Of a call to which no user has come.
    pub(super) fn new(op: &ScriptOp) -> CallSite {
        CallSite { rows: Rows::new(&op.place), counted: Counted::new(op) }
    }
}
