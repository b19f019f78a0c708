//! Groups: named spans of operations.

use std::fmt::{Formatter, Result};

use squall_metrics::PlaceId;
use squall_plan::template::BoundTemplate;

use super::operation::{Legend, Operation};

/// The name under which a group is counted.
#[derive(Debug)]
pub(crate) enum GroupName {
    Known(u32),
    /// Made each time; where it counts then.
    Made(BoundTemplate, PlaceId),
}

/// A group begins; [`LeaveOp`] ends the innermost one.
#[derive(Debug)]
pub(crate) struct EnterOp {
    pub name: GroupName,
    /// Whether the waits within it are left out of its time.
    pub without_thinks: bool,
    /// Whether what is in it are parts of one sample.
    pub is_one_sample: bool,
}

/// The innermost group ends.
#[derive(Debug)]
pub(crate) struct LeaveOp {
    /// Whether that is before its end, by a jump out of it.
    pub early: bool,
}

impl Operation for EnterOp {
    fn print(&self, f: &mut Formatter<'_>, names: &dyn Legend) -> Result {
        match self.name {
            GroupName::Known(name) => write!(f, "group {}", names.row(name)),
            GroupName::Made(..) => f.write_str("group (named when it runs)"),
        }
    }

    fn is_name_known(&self) -> bool {
        matches!(self.name, GroupName::Known(_))
    }
}

impl Operation for LeaveOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        f.write_str("end of group")
    }
}
