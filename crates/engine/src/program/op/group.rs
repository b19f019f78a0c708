//! Groups: named spans of operations.

use std::fmt::{Formatter, Result};

use squall_metrics::PlaceId;
use squall_plan::template::BoundTemplate;

use super::operation::{Legend, Operation};

/// An end of a group.
#[derive(Debug)]
pub(crate) enum GroupOp {
    /// One begins. `without_thinks`: the waits within it are left out of its time. `is_one_sample`: what is in it are
    /// parts of one sample.
    Enter { name: GroupName, without_thinks: bool, is_one_sample: bool },
    /// The innermost one ends. `early`: that is before its end, by a jump out of it.
    Leave { early: bool },
}

/// The name under which a group is counted.
#[derive(Debug)]
pub(crate) enum GroupName {
    Known(u32),
    /// Made each time; where it counts then.
    Made(BoundTemplate, PlaceId),
}

impl Operation for GroupOp {
    fn print(&self, f: &mut Formatter<'_>, names: &dyn Legend) -> Result {
        match self {
            GroupOp::Enter { name: GroupName::Known(name), .. } => {
                write!(f, "group {}", names.row(*name))
            }
            GroupOp::Enter { .. } => f.write_str("group (named when it runs)"),
            GroupOp::Leave { .. } => f.write_str("end of group"),
        }
    }

    fn is_name_known(&self) -> bool {
        !matches!(self, GroupOp::Enter { name: GroupName::Made(..), .. })
    }
}
