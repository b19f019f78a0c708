//! The end of something, printed.

use std::fmt::{Formatter, Result};

use squall_plan::model::StopScope;

use super::operation::{Legend, Operation};

impl Operation for StopScope {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "stop {self:?}")
    }
}
