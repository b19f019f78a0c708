//! Where a program goes on: loops, alternatives, jumps, flows at the same time, and ends.

use std::fmt::{Formatter, Result};
use std::ops::Range;

use squall_plan::expr::{BoundExpr, Slot};
use squall_plan::model::StopScope;

use super::operation::{Legend, Operation, Pc, Register};

/// Decides where a user goes on.
#[derive(Debug)]
pub(crate) enum FlowOp {
    /// Evaluates `times` into `limit`, sets `counter` to 0.
    Repeat {
        times: BoundExpr,
        counter: Register,
        limit: Register,
    },
    /// Goes to `end` when `counter` has reached `limit`; otherwise shows it in `variable`, adds 1.
    Pass {
        counter: Register,
        limit: Register,
        variable: Option<Slot>,
        end: Pc,
    },
    /// Evaluates a list into the hidden variable `list`, sets `index` to 0.
    Each {
        of: BoundExpr,
        list: Slot,
        index: Register,
    },
    /// Goes to `end` after the last element; otherwise puts the next one into `item`.
    Element {
        list: Slot,
        index: Register,
        item: Slot,
        end: Pc,
    },
    Unless {
        condition: BoundExpr,
        to: Pc,
    },
    Jump(Pc),
    /// By weight: the first target whose cumulative share is above a random number.
    Choose {
        cumulative: Box<[f64]>,
        targets: Box<[Pc]>,
    },
    /// The next target each time.
    RoundRobin {
        turn: Register,
        targets: Box<[Pc]>,
    },
    /// Goes on in a user's first iteration, to the target in all others.
    OncePerUser {
        otherwise: Pc,
    },
    /// Goes on in some passes, to the target in all others.
    Passes {
        count: PassCount,
        part: PassPart,
        otherwise: Pc,
    },
    /// Draws an order for [`FlowOp::Shuffled`]: its number into `order`, 0 into `turn`.
    Shuffle {
        order: Register,
        turn: Register,
    },
    /// The next target in that order; to `end` after the last.
    Shuffled {
        order: Register,
        turn: Register,
        targets: Box<[Pc]>,
        end: Pc,
    },
    /// Flows at the same time, at most `limit` of them, at least 1; the user goes on at `end`.
    Parallel {
        limit: usize,
        branches: Box<[Branch]>,
        end: Pc,
    },
    Stop(StopScope),
}

/// Where passes are counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PassCount {
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

/// The operations of one flow of several.
#[derive(Debug)]
pub(crate) struct Branch {
    pub ops: Range<Pc>,
    /// The registers that were made for these operations. They may use others too: a clock with a name has the one of
    /// the first step that goes by it.
    pub registers: Range<Register>,
}

impl Operation for FlowOp {
    fn print(&self, f: &mut Formatter<'_>, names: &dyn Legend) -> Result {
        match self {
            FlowOp::Repeat { counter, limit, .. } => {
                write!(f, "repeat: r{limit} = times, r{counter} = 0")
            }
            FlowOp::Pass { counter, limit, end, .. } => {
                write!(f, "if r{counter} == r{limit} go to {end}, else r{counter} += 1")
            }
            FlowOp::Each { index, .. } => write!(f, "for each: r{index} = 0"),
            FlowOp::Element { index, item, end, .. } => {
                write!(f, "{} = element r{index}, or go to {end}", names.variable(*item))
            }
            FlowOp::Unless { to, .. } => write!(f, "unless the condition holds go to {to}"),
            FlowOp::Jump(to) => write!(f, "go to {to}"),
            FlowOp::Choose { cumulative, targets } => {
                f.write_str("choose")?;
                let mut below = 0.0;
                for (share, target) in cumulative.iter().zip(targets) {
                    write!(f, " {:.1}%: {target}", (share - below) * 100.0)?;
                    below = *share;
                }
                Ok(())
            }
            FlowOp::RoundRobin { turn, targets } => {
                write!(f, "round robin by r{turn}: {targets:?}")
            }
            FlowOp::OncePerUser { otherwise } => {
                write!(f, "after the first iteration go to {otherwise}")
            }
            FlowOp::Passes { part: PassPart::First(part), otherwise, .. } => {
                write!(f, "after {} passes go to {otherwise}", part.source())
            }
            FlowOp::Passes { part: PassPart::Percent(part), otherwise, .. } => {
                write!(f, "in all but {}% of passes go to {otherwise}", part.source())
            }
            FlowOp::Shuffle { order, turn } => write!(f, "shuffle: r{order} = order, r{turn} = 0"),
            FlowOp::Shuffled { turn, targets, end, .. } => {
                write!(f, "shuffled by r{turn}: {targets:?}, then {end}")
            }
            FlowOp::Parallel { limit, branches, end } => {
                write!(f, "at most {limit} at the same time:")?;
                for Branch { ops, .. } in branches {
                    write!(f, " {}..{}", ops.start, ops.end)?;
                }
                write!(f, ", then go to {end}")
            }
            FlowOp::Stop(scope) => write!(f, "stop {scope:?}"),
        }
    }
}
