//! Critical sections.

use std::fmt::{Formatter, Result};

use squall_plan::template::BoundTemplate;

use super::operation::{Legend, Operation};

/// A critical section begins; [`LeaveSectionOp`] ends the innermost one.
#[derive(Debug)]
pub(crate) struct EnterSectionOp(pub BoundTemplate);

/// The innermost critical section ends.
#[derive(Debug)]
pub(crate) struct LeaveSectionOp;

impl Operation for EnterSectionOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        f.write_str("critical section")
    }
}

impl Operation for LeaveSectionOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        f.write_str("end of critical section")
    }
}
