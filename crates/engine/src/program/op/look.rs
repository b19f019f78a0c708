//! A text that is looked at as a response is.

use std::fmt::{Formatter, Result};

use squall_plan::expr::BoundExpr;
use squall_plan::template::BoundTemplate;

use super::counted::Counted;
use super::operation::{Legend, Operation};
use crate::program::ops::PostOp;

/// A text that is looked at as a response is.
#[derive(Debug)]
pub(crate) struct LookOp {
    pub text: BoundTemplate,
    pub status: BoundExpr,
    /// `None`: that it is OK.
    pub reason: Option<BoundTemplate>,
    /// What stands for what was sent.
    pub sent: Option<BoundTemplate>,
    /// What is done with it, in the plan's order.
    pub post: Vec<PostOp>,
}

impl Operation for LookOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "look, {}", Counted(&self.post))
    }
}
