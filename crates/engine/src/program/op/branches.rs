//! Alternatives, and flows at the same time.

use std::fmt::{Formatter, Result};
use std::ops::Range;

use squall_plan::expr::BoundExpr;

use super::operation::{Legend, Operation, Pc, Register};

/// By weight: the first target whose cumulative share is above a random number.
#[derive(Debug)]
pub(crate) struct ChooseOp {
    pub cumulative: Box<[f64]>,
    pub targets: Box<[Pc]>,
}

/// The next target each time.
#[derive(Debug)]
pub(crate) struct RoundRobinOp {
    pub turn: Register,
    pub targets: Box<[Pc]>,
}

/// Goes on in a user's first iteration, to the target in all others.
#[derive(Debug)]
pub(crate) struct OncePerUserOp {
    pub otherwise: Pc,
}

/// Draws an order for [`ShuffledOp`]: its number into `order`, 0 into `turn`.
#[derive(Debug)]
pub(crate) struct ShuffleOp {
    pub order: Register,
    pub turn: Register,
}

/// The next target in that order; to `end` after the last.
#[derive(Debug)]
pub(crate) struct ShuffledOp {
    pub order: Register,
    pub turn: Register,
    pub targets: Box<[Pc]>,
    pub end: Pc,
}

/// In which passes steps are done.
#[derive(Debug)]
pub(crate) struct PassesOp {
    pub count: PassCount,
    pub part: PassPart,
    /// Where a user goes on in the others.
    pub otherwise: Pc,
}

/// Where passes are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PassCount {
    /// With each user.
    User(Register),
    /// By all users together.
    Together(usize),
}

/// In how many passes steps are done.
#[derive(Debug)]
pub(crate) enum PassPart {
    /// In so many at first.
    First(BoundExpr),
    /// In so many of a hundred.
    Percent(BoundExpr),
}

/// Flows at the same time.
#[derive(Debug)]
pub(crate) struct ParallelOp {
    /// Most at the same time, at least 1.
    pub limit: usize,
    pub branches: Box<[Branch]>,
    /// Where the user goes on.
    pub end: Pc,
}

/// The operations of one flow of several.
#[derive(Debug)]
pub(crate) struct Branch {
    pub ops: Range<Pc>,
    /// The registers that were made for these operations. They may use others too: a clock with a name has the one of
    /// the first step that goes by it.
    pub registers: Range<Register>,
}

impl Operation for ChooseOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        f.write_str("choose")?;
        let mut below = 0.0;
        for (share, target) in self.cumulative.iter().zip(&self.targets) {
            write!(f, " {:.1}%: {target}", (share - below) * 100.0)?;
            below = *share;
        }
        Ok(())
    }
}

impl Operation for RoundRobinOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "round robin by r{}: {:?}", self.turn, self.targets)
    }
}

impl Operation for OncePerUserOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "after the first iteration go to {}", self.otherwise)
    }
}

impl Operation for PassesOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        match &self.part {
            PassPart::First(part) => write!(f, "after {} passes", part.source())?,
            PassPart::Percent(part) => write!(f, "in all but {}% of passes", part.source())?,
        }
        write!(f, " go to {}", self.otherwise)
    }
}

impl Operation for ShuffleOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "shuffle: r{} = order, r{} = 0", self.order, self.turn)
    }
}

impl Operation for ShuffledOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        let ShuffledOp { turn, targets, end, .. } = self;
        write!(f, "shuffled by r{turn}: {targets:?}, then {end}")
    }
}

impl Operation for ParallelOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "at most {} at the same time:", self.limit)?;
        for branch in &self.branches {
            write!(f, " {}..{}", branch.ops.start, branch.ops.end)?;
        }
        write!(f, ", then go to {}", self.end)
    }
}
