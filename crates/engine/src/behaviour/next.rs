//! What a user needs to go on, as its behaviour says it.

use squall_metrics::UserState;

use crate::program::{ExecOp, ParallelOp, RequestOp, TcpOp};
use crate::turns::{Pass, Turn, Visit};

/// What a user needs to go on.
pub(super) enum Next<'p> {
    Go(Task<'p>),
    /// To think, or to keep its pacing, until then.
    Wait(UserState, u64),
    /// An arrival.
    Free,
    /// Nothing: it ends.
    Gone,
}

/// What a strand does, after which it goes on.
pub(super) enum Task<'p> {
    Request(&'p RequestOp),
    Exec(&'p ExecOp),
    Tcp(&'p TcpOp),
    Parallel(&'p ParallelOp),
    /// To wait for other users.
    Wait(Waiting),
    /// To let others run.
    Yield,
}

/// What a user waits for.
pub(super) enum Waiting {
    Turn(Turn),
    /// That others come, so many nanoseconds at most.
    Visit(Visit, Option<u64>),
}

impl Waiting {
    pub(super) fn pass(&self) -> &Pass {
        match self {
            Waiting::Turn(turn) => turn.pass(),
            Waiting::Visit(visit, _) => visit.pass(),
        }
    }
}
