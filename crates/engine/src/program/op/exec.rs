//! A program to run.

use std::fmt::{Formatter, Result};

use squall_plan::template::BoundTemplate;

use super::operation::{Legend, Operation};
use crate::program::limits::TimeOp;
use crate::program::ops::{PostOp, RowOp};

/// A program to run.
#[derive(Debug)]
pub(crate) struct ExecOp {
    pub row: RowOp,
    pub command: Vec<BoundTemplate>,
    /// Variables of its environment.
    pub env: Vec<(BoundTemplate, BoundTemplate)>,
    pub directory: Option<BoundTemplate>,
    /// Files in place of its standard streams.
    pub stdin: Option<BoundTemplate>,
    pub stdout: Option<BoundTemplate>,
    pub stderr: Option<BoundTemplate>,
    pub timeout: TimeOp,
    /// Its exit code, as it were, where it took too long.
    pub timeout_status: Option<i32>,
    /// What is said of its exit code.
    pub reason: Option<BoundTemplate>,
    /// What stands for what was sent.
    pub sent: Option<BoundTemplate>,
    /// What is done with its output, in the plan's order.
    pub post: Vec<PostOp>,
}

impl Operation for ExecOp {
    fn print(&self, f: &mut Formatter<'_>, names: &dyn Legend) -> Result {
        match self.row.name.known() {
            Some(name) => write!(f, "exec {}", names.row(name)),
            None => f.write_str("exec, of a name that the user's variables say"),
        }
    }

    fn is_name_known(&self) -> bool {
        self.row.name.known().is_some()
    }
}
