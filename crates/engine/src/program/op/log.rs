//! A line for the run's log.

use std::fmt::{Formatter, Result};

use squall_plan::template::BoundTemplate;

use super::operation::{Legend, Operation};

/// A line for the run's log.
#[derive(Debug)]
pub(crate) struct LogOp(pub BoundTemplate);

impl Operation for LogOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        f.write_str("log")
    }
}
