//! The operations of a program, one for each kind of step or part of one, but for what they are made of (`ops`, `samples`).

use std::ops::Range;

use squall_metrics::PlaceId;
use squall_plan::expr::{BoundExpr, Slot};
use squall_plan::model::{PacedBy, StopScope, Think};
use squall_plan::template::BoundTemplate;

use super::ops::{CookieOp, JsonOp, LookOp, MetricOp, WriteOp};
use super::samples::{ExecOp, RequestOp, TcpOp};

/// Index of an operation within its scenario.
pub(crate) type Pc = u32;
/// Index of a number that a user keeps: a loop's counter or limit, a turn.
pub(crate) type Register = u16;

/// The name under which a group is counted.
#[derive(Debug)]
pub(crate) enum GroupName {
    Known(u32),
    /// Made each time; where it counts then.
    Made(BoundTemplate, PlaceId),
}

/// One operation. A user is a program counter over these.
#[derive(Debug)]
pub(crate) enum Op {
    Request(Box<RequestOp>),
    Exec(Box<ExecOp>),
    Tcp(Box<TcpOp>),
    Look(Box<LookOp>),
    Write(Box<WriteOp>),
    Think(Think),
    /// A wait that the user's variables decide.
    ThinkOfUser(BoundTemplate),
    /// A wait for a rate.
    Pace(Box<PaceOp>),
    /// A wait for other users.
    Rendezvous(Box<RendezvousOp>),
    /// A critical section begins; [`Op::LeaveSection`] ends the innermost one.
    EnterSection(Box<BoundTemplate>),
    LeaveSection,
    /// A group begins; [`Op::Leave`] ends the innermost one.
    Enter {
        name: GroupName,
        /// Whether the waits within it are left out of its time.
        without_thinks: bool,
        /// Whether what is in it are parts of one sample.
        is_one_sample: bool,
    },
    Leave {
        /// Whether that is before its end, by a jump out of it.
        early: bool,
    },
    Set {
        slot: Slot,
        value: JsonOp,
    },
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
    /// Goes on in some of the passes, to another place in all others.
    Passes(Box<PassesOp>),
    /// Draws an order for [`Op::Shuffled`]: its number into `order`, 0 into `turn`.
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
    /// Several flows at the same time; then on at their end.
    Parallel(Box<ParallelOp>),
    /// The next row of a feed.
    NextRow(u16),
    /// The cookies of a jar, or of all.
    ClearCookies(Option<u16>),
    /// A cache, or all.
    ClearCache(Option<u16>),
    SetCookie(Box<CookieOp>),
    Log(BoundTemplate),
    Stop(StopScope),
    Metric(Box<MetricOp>),
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
    /// The registers that these operations use, and no others do.
    pub registers: Range<Register>,
}
