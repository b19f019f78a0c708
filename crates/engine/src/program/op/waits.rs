//! Waits: for a time, for a rate, for other users.

use std::fmt::{Formatter, Result};

use squall_plan::expr::BoundExpr;
use squall_plan::model::{PacedBy, Think};
use squall_plan::template::BoundTemplate;

use super::operation::{Legend, Operation, Register};

/// A wait, or the end of what others wait for.
#[derive(Debug)]
pub(crate) enum WaitOp {
    Think(Think),
    /// A wait for a time that the user's variables decide.
    ThinkOfUser(BoundTemplate),
    Pace(Box<PaceOp>),
    /// A wait at a place until so many users are there; the first of them waits no longer than `timeout` nanoseconds.
    Rendezvous {
        place: usize,
        users: u32,
        timeout: Option<u64>,
    },
    /// A critical section begins, for its turn in which the user waits.
    EnterSection(BoundTemplate),
    /// The innermost critical section ends.
    LeaveSection,
}

/// A wait for a rate.
#[derive(Debug)]
pub(crate) struct PaceOp {
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
    User(Register),
    /// In a line of all users.
    Line(usize),
}

impl Operation for WaitOp {
    fn print(&self, f: &mut Formatter<'_>, _: &dyn Legend) -> Result {
        match self {
            WaitOp::Think(think) => write!(f, "think {think:?}"),
            WaitOp::ThinkOfUser(_) => f.write_str("think, as the user's variables say"),
            WaitOp::Pace(own) => {
                write!(f, "pace {} a second, {:?}", own.rate.source(), own.by)?;
                let exact = own.exact.map_or(0.0, |exact| exact.over as f64 / 1e9);
                if exact > 0.0 { write!(f, ", exact over {exact:.1} s") } else { Ok(()) }
            }
            WaitOp::Rendezvous { place, users, timeout } => {
                write!(f, "rendezvous {place} of {users} users")?;
                let most = timeout.map(|timeout| timeout as f64 / 1e9);
                most.map_or(Ok(()), |most| write!(f, ", {most:.1} s at most"))
            }
            WaitOp::EnterSection(_) => f.write_str("critical section"),
            WaitOp::LeaveSection => f.write_str("end of critical section"),
        }
    }
}
