//! Loops and jumps.

use std::fmt::{Formatter, Result};

use squall_plan::expr::{BoundExpr, Slot};

use super::operation::{Legend, Operation, Pc, Register};

/// Evaluates `times` into `limit`, sets `counter` to 0.
#[derive(Debug)]
pub(crate) struct RepeatOp {
    pub times: BoundExpr,
    pub counter: Register,
    pub limit: Register,
}

/// Goes to `end` when `counter` has reached `limit`; otherwise shows it in `variable`, adds 1.
#[derive(Debug)]
pub(crate) struct PassOp {
    pub counter: Register,
    pub limit: Register,
    pub variable: Option<Slot>,
    pub end: Pc,
}

/// Evaluates a list into the hidden variable `list`, sets `index` to 0.
#[derive(Debug)]
pub(crate) struct EachOp {
    pub of: BoundExpr,
    pub list: Slot,
    pub index: Register,
}

/// Goes to `end` after the last element; otherwise puts the next one into `item`.
#[derive(Debug)]
pub(crate) struct ElementOp {
    pub list: Slot,
    pub index: Register,
    pub item: Slot,
    pub end: Pc,
}

/// Goes on elsewhere unless a condition holds.
#[derive(Debug)]
pub(crate) struct UnlessOp {
    pub condition: BoundExpr,
    pub to: Pc,
}

/// Goes on elsewhere.
#[derive(Debug)]
pub(crate) struct JumpOp(pub Pc);

impl Operation for RepeatOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "repeat: r{} = times, r{} = 0", self.limit, self.counter)
    }
}

impl Operation for PassOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        let PassOp { counter, limit, end, .. } = self;
        write!(f, "if r{counter} == r{limit} go to {end}, else r{counter} += 1")
    }
}

impl Operation for EachOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "for each: r{} = 0", self.index)
    }
}

impl Operation for ElementOp {
    fn print(&self, f: &mut Formatter<'_>, names: &dyn Legend) -> Result {
        let ElementOp { index, item, end, .. } = self;
        write!(f, "{} = element r{index}, or go to {end}", names.variable(*item))
    }
}

impl Operation for UnlessOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "unless the condition holds go to {}", self.to)
    }
}

impl Operation for JumpOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "go to {}", self.0)
    }
}
