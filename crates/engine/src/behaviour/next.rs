//! What a user does, and what it needs to go on: the interface between a behaviour and its driver.

use std::rc::Rc;

use squall_script::{HttpRequest, HttpResponse, Requests};

use crate::program::{RequestOp, ScriptOp};
use crate::sample::Sample;
use crate::scripts::Spot;
use crate::turns::{Pass, Turn, Visit};
use crate::user::{Core, Strand};
use crate::worker::Worker;

/// What decides on the steps of a user, or of one of the branches that it has at the same time.
pub(super) trait Behaviour: Sized {
    /// Runs from where it stands to where it has to wait, and says what for. The answer comes with the next call.
    fn resume<'p>(&mut self, env: Env<'_, 'p>, answer: Answer) -> Next<'p, Self>;

    /// One of the branches that it asked for has ended, by its place among them.
    fn join(&mut self, number: usize, branch: Self);
}

/// What a behaviour may use while it runs.
pub(super) struct Env<'e, 'p> {
    pub worker: &'p Rc<Worker>,
    pub core: &'p Core,
    /// The flow of its steps.
    pub strand: &'e mut Strand,
    /// How many steps it may still do before it lets others run ([`Task::Yield`]).
    pub budget: &'e mut u32,
    /// The time, on the run's clock.
    pub now: u64,
}

/// Why a behaviour goes on.
#[derive(Debug)]
pub(super) enum Answer {
    Begin,
    /// What it asked for was done, or the time has come.
    Ready,
    /// The requests of a script, and what came of them.
    Responses(Vec<(HttpRequest, HttpResponse)>),
}

/// What a behaviour needs to go on.
pub(super) enum Next<'p, B> {
    /// Something that is done at once.
    Go(Task<'p, B>),
    /// To think until then.
    Wait(u64),
    /// Nothing: its iteration, or its branch, is over.
    Over,
    /// Nothing: its user ends.
    Gone,
}

/// Something that is done for a behaviour while its user keeps its task.
pub(super) enum Task<'p, B> {
    Request(&'p RequestOp),
    Sample(Sample<'p>),
    /// Requests of a script, at the same time.
    Requests(Asked<'p>),
    /// Branches at the same time, at most so many.
    Join {
        branches: Vec<B>,
        limit: usize,
    },
    /// To wait for other users.
    Wait(Waiting),
    /// To let others run.
    Yield,
}

/// Requests that a script makes.
pub(super) struct Asked<'p> {
    /// The call that makes them, ...
    pub op: &'p ScriptOp,
    /// ... and where it stands in the groups of the script.
    pub spot: Spot,
    pub requests: Requests,
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
