//! Waits: for a time, for a rate, for other users.

use std::fmt::{Formatter, Result};

use squall_plan::expr::BoundExpr;
use squall_plan::model::{PacedBy, Think};
use squall_plan::template::BoundTemplate;

use super::operation::{Legend, Operation, Register};

/// A wait for a time.
#[derive(Debug)]
pub(crate) enum ThinkOp {
    Known(Think),
    /// The user's variables decide it.
    OfUser(BoundTemplate),
}

/// A wait for a rate.
#[derive(Debug)]
pub(crate) struct PaceOp {
    /// Passes a second.
    pub rate: BoundExpr,
    pub by: PacedBy,
    pub clock: PaceClock,
    /// Passes at random moments, of which the number is exact.
    pub exact: Option<ExactOp>,
}

/// An exact number of passes in a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExactOp {
    /// The time, in nanoseconds.
    pub over: u64,
    /// How many passes are due at each moment.
    pub batch: u32,
}

/// Where it is kept when the last pass was due.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PaceClock {
    /// With each user.
    User(Register),
    /// In a line of all users.
    Line(usize),
}

/// A wait for other users.
#[derive(Debug)]
pub(crate) struct RendezvousOp {
    /// The number of the place.
    pub place: usize,
    /// How many users have to be there.
    pub users: u32,
    /// How long the first of them waits at most, in nanoseconds.
    pub timeout: Option<u64>,
}

impl Operation for ThinkOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        match self {
            ThinkOp::Known(think) => write!(f, "think {think:?}"),
            ThinkOp::OfUser(_) => f.write_str("think, as the user's variables say"),
        }
    }
}

impl Operation for PaceOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "pace {} a second, {:?}", self.rate.source(), self.by)?;
        let exact = self.exact.map_or(0.0, |exact| exact.over as f64 / 1e9);
        if exact > 0.0 { write!(f, ", exact over {exact:.1} s") } else { Ok(()) }
    }
}

impl Operation for RendezvousOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        write!(f, "rendezvous {} of {} users", self.place, self.users)?;
        let most = self.timeout.map(|timeout| timeout as f64 / 1e9);
        most.map_or(Ok(()), |most| write!(f, ", {most:.1} s at most"))
    }
}
