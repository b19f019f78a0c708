//! The behaviour of a virtual user: its program, run from where it stands to where it has to wait,
//! again and again. It says what it waits for, and neither the load nor the record knows how it came
//! to that.

mod choices;
mod groups;
mod join;
mod look;
mod operations;
mod others;
mod parallel;
mod resources;
mod stretch;
mod waits;
mod write;

use std::rc::Rc;

use squall_metrics::UserState;
use squall_plan::model::OnError;

use self::others::Waiting;
use self::stretch::Stretch;
use crate::program::{ExecOp, ParallelOp, Pc, RequestOp, Scenario, TcpOp};
use crate::sample::in_flight::Guard;
use crate::sample::{self, Moment, Sampled};
use crate::user::{Core, OpenGroup, Strand, User};
use crate::worker::Worker;

/// Operations, with requests counted as many, that a task may run before it lets others run: a loop
/// that never waits must not keep its worker from seeing the end of the run.
const BUDGET: u32 = 10_000;
const REQUEST_COST: u32 = 100;

/// What a user needs to go on.
enum Next<'p> {
    Go(Task<'p>),
    /// To think, or to keep its pacing, until then.
    Wait(UserState, u64),
    /// An arrival.
    Free,
    /// Nothing: it ends.
    Gone,
}

/// What a strand does, after which it goes on.
enum Task<'p> {
    Request(&'p RequestOp),
    Exec(&'p ExecOp),
    Tcp(&'p TcpOp),
    Parallel(&'p ParallelOp),
    /// To wait for other users.
    Wait(Waiting),
    /// To let others run.
    Yield,
}

/// Runs a user until it waits, is free, or is gone.
pub(crate) async fn drive(worker: Rc<Worker>, mut user: Box<User>) {
    let program = worker.program.clone();
    let in_flight = worker.in_flight.enter();
    let mut budget = BUDGET;
    let mut now = Moment::at(worker.clock.now());
    loop {
        let User { core, strand } = &mut *user;
        let mut stretch = Stretch {
            worker: &worker,
            program: &program,
            core: &*core,
            strand: &mut *strand,
            budget: &mut budget,
        };
        match stretch.run(now.ready) {
            Next::Go(task) => {
                now = perform(&worker, core, strand, &in_flight, &mut budget, task, now).await;
            }
            Next::Wait(state, due) => {
                drop(in_flight);
                worker.note(core, state, now.ready);
                return worker.park(user, due, now.ready);
            }
            Next::Free => return worker.free(user),
            Next::Gone => return worker.leave(user, now.ready),
        }
    }
}

/// Does what a strand can do from a moment on. Returns when it was done.
async fn perform(
    worker: &Rc<Worker>,
    core: &Core,
    strand: &mut Strand,
    in_flight: &Guard<'_>,
    budget: &mut u32,
    task: Task<'_>,
    now: Moment,
) -> Moment {
    let end = match task {
        Task::Request(op) => {
            *budget = budget.saturating_sub(REQUEST_COST);
            if let Some(resources) = &op.policy.resources {
                return resources::load_page(worker, core, strand, in_flight, op, resources, now)
                    .await;
            }
            worker.note_begin(core, strand, now);
            let sampled = sample::sample(worker, core, strand, in_flight, op, now).await;
            worker.note_end(core, strand, &sampled)
        }
        Task::Exec(op) => {
            worker.note_begin(core, strand, now);
            let sampled = sample::sample(worker, core, strand, in_flight, op, now).await;
            worker.note_end(core, strand, &sampled)
        }
        Task::Tcp(op) => {
            *budget = budget.saturating_sub(REQUEST_COST);
            worker.note_begin(core, strand, now);
            let sampled = sample::sample(worker, core, strand, in_flight, op, now).await;
            worker.note_end(core, strand, &sampled)
        }
        Task::Parallel(op) => parallel::run(worker, core, strand, op, now).await,
        Task::Wait(waiting) => others::wait(worker, core, strand, in_flight, waiting, now).await,
        Task::Yield => {
            *budget = BUDGET;
            tokio::task::yield_now().await;
            Moment::at(worker.clock.now())
        }
    };
    worker.advance_if_due(end.seen);
    end
}

impl Worker {
    /// A user ends within its groups and its iteration.
    pub(crate) fn cut_off_spans(&self, core: &Core, strand: &mut Strand) {
        let in_iteration = core.in_iteration.get() && !strand.is_branch;
        if strand.groups.is_empty() && !in_iteration {
            return;
        }
        let now = self.clock.now();
        strand.groups.drain(..).for_each(|group| self.recorder.cut_off_group(&group, now));
        if in_iteration {
            self.recorder.cut_off_group(&self.iteration(core, strand), now);
        }
    }

    /// The iteration of a user, which is recorded as groups are.
    fn iteration(&self, core: &Core, strand: &Strand) -> OpenGroup {
        let name = self.program.scenarios[core.scenario()].iteration;
        OpenGroup {
            name,
            since: core.began.get(),
            failed: strand.failed,
            thought_before: None,
            tally_before: strand.tally(),
            is_sample: false,
            one_sample: None,
        }
    }

    /// A strand begins a sample.
    fn note_begin(&self, core: &Core, strand: &Strand, now: Moment) {
        if !strand.is_branch {
            self.note(core, UserState::Request, now.ready);
        } else if let Some(at) = core.concurrency.begin(now.ready) {
            self.note(core, UserState::Request, at);
        }
    }

    /// A strand's sample is over. Returns when it was.
    fn note_end(&self, core: &Core, strand: &mut Strand, sampled: &Sampled) -> Moment {
        let end = sampled.end.ready;
        if !strand.is_branch {
            self.note(core, UserState::Ready, end);
        } else if let Some(at) = core.concurrency.end(end) {
            self.note(core, UserState::Think, at);
        }
        self.judge(core, strand, sampled.failed);
        sampled.end
    }

    /// Draws what follows from whether what a strand did last has failed.
    fn judge(&self, core: &Core, strand: &mut Strand, failed: bool) {
        core.last_ok.set(!failed);
        if failed {
            self.react(core, strand);
        }
    }

    /// Draws what follows for a user from a sample that failed.
    fn react(&self, core: &Core, strand: &mut Strand) {
        strand.fail_groups();
        let scenario = &self.program.scenarios[core.scenario()];
        match scenario.on_error {
            OnError::Continue => {}
            // To the end of the program: the iteration is over.
            OnError::NextIteration => {
                // It begins anew.
                core.last_ok.set(true);
                scenario.end_iteration(core, strand);
            }
            OnError::StopUser => core.stopped.set(true),
            OnError::StopRun => self.stop_run(self.program.graceful_stop),
            OnError::AbortRun => self.stop_run(std::time::Duration::ZERO),
        }
    }
}

impl Scenario {
    /// Lets a user's iteration end, with all its strands.
    fn end_iteration(&self, core: &Core, strand: &mut Strand) {
        strand.pc = self.ops.len() as Pc;
        core.iteration_over.set(strand.is_branch);
    }
}
