//! Drives a user: performs what its program asks for, until it waits, is free or gone.
//!
//! Several strands of a user at the same time all run within its task. Each has its own place in the program, its own
//! loops and groups, its own entry in flight and its own chance, so that what it draws does not depend on whose response
//! comes first. What else a user has, they share.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;

use squall_base::random::Random;

use super::next::{Next, Task};
use super::stretch::Stretch;
use super::{lanes, others, resources};
use crate::net::in_flight::Guard;
use crate::program::{Branch, ParallelOp, Program};
use crate::sample::{self, Moment};
use crate::user::{Core, Strand, User};
use crate::worker::Worker;

/// Operations, with requests counted as many, that a task may run before it lets others run: a loop
/// that never waits must not keep its worker from seeing the end of the run.
const BUDGET: u32 = 10_000;
const REQUEST_COST: u32 = 100;

/// Gives a user a task of its own.
pub(crate) fn start(worker: &Rc<Worker>, user: Box<User>) {
    worker.spawn(drive(worker.clone(), user));
}

/// Runs a user until it waits, is free, or is gone.
async fn drive(worker: Rc<Worker>, mut user: Box<User>) {
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
        Task::Parallel(op) => branches(worker, core, strand, op, now).await,
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

/// Runs the branches of an operation that `strand` came to at `now`. Returns when all had ended.
///
/// A branch may come to such an operation itself: hence the box.
fn branches<'a>(
    worker: &'a Rc<Worker>,
    core: &'a Core,
    strand: &'a mut Strand,
    op: &'a ParallelOp,
    now: Moment,
) -> Pin<Box<dyn Future<Output = Moment> + 'a>> {
    Box::pin(async move {
        lanes::open(worker, core, strand, now);
        let lanes = op.limit.min(op.branches.len());
        let strands: Vec<Strand> = (0..lanes).map(|_| strand.branch()).collect();
        let parallel = Parallel {
            worker,
            program: &worker.program,
            core,
            op,
            next: Cell::new(0),
            seed: core.chance(),
            end: Cell::new(now.ready),
            strand: RefCell::new(strand),
        };
        let run = |strand| parallel.lane(strand, now);
        lanes::join(core, strands.into_iter().map(run)).await;
        let Parallel { end, strand, .. } = parallel;
        let strand = strand.into_inner();
        strand.pc = op.end;
        lanes::close(worker, core, strand, end.get())
    })
}

/// Branches that are being run, as many at a time as there are lanes.
struct Parallel<'a> {
    worker: &'a Rc<Worker>,
    program: &'a Program,
    core: &'a Core,
    op: &'a ParallelOp,
    /// The next branch that nobody has begun.
    next: Cell<usize>,
    /// What the chance of all branches follows from.
    seed: u64,
    /// When the last one that has ended did so.
    end: Cell<u64>,
    /// The strand that they belong to.
    strand: RefCell<&'a mut Strand>,
}

impl<'a> Parallel<'a> {
    /// Runs one branch after the other, as long as there are any.
    async fn lane(&self, mut strand: Strand, mut now: Moment) {
        let in_flight = self.worker.in_flight.enter();
        while let Some((number, branch)) = self.begin() {
            let chance = Random::of(self.seed, number, 0, 0);
            let run = self.branch(&mut strand, branch, &in_flight, now);
            now = with_chance(self.core, chance, pin!(run)).await;
            self.strand.borrow_mut().join(&strand, branch.registers.clone());
            strand.failed = false;
        }
        // That of its last response, or until which it waited: what comes after is squall's own time.
        self.end.set(self.end.get().max(strand.due));
        let mut parent = self.strand.borrow_mut();
        parent.due = self.end.get();
        parent.waited &= strand.waited;
        parent.arrived &= strand.arrived;
    }

    /// The next branch, and its number.
    fn begin(&self) -> Option<(u64, &'a Branch)> {
        if self.core.is_ending() || self.worker.is_stopping() {
            return None;
        }
        let number = self.next.replace(self.next.get() + 1);
        Some((number as u64, self.op.branches.get(number)?))
    }

    /// Runs a branch from `now` on. Returns when it ended.
    async fn branch(
        &self,
        strand: &mut Strand,
        branch: &Branch,
        in_flight: &Guard<'_>,
        mut now: Moment,
    ) -> Moment {
        let Parallel { worker, program, core, .. } = *self;
        let mut budget = BUDGET;
        strand.pc = branch.ops.start;
        loop {
            let mut stretch =
                Stretch { worker, program, core, strand: &mut *strand, budget: &mut budget };
            match stretch.run_branch(branch.ops.end, now.ready) {
                Some(Next::Go(step)) => {
                    now = perform(worker, core, strand, in_flight, &mut budget, step, now).await;
                }
                Some(Next::Wait(_, due)) => match self.wait(in_flight, now.ready, due).await {
                    Some(due) => {
                        (strand.due, strand.waited) = (due, true);
                        now = Moment::at(worker.clock.now());
                    }
                    None => {
                        now = Moment::at(worker.clock.now());
                        strand.due = now.ready; // and not when the wait would have been over
                    }
                },
                // It ends with its user.
                Some(Next::Gone | Next::Free) => {
                    core.stopped.set(true);
                    return now;
                }
                None => return now,
            }
        }
    }

    /// Waits from `now` until `due`. Returns when it was due, which a pause makes later; `None`: the
    /// user, or its iteration, ends before.
    async fn wait(&self, in_flight: &Guard<'_>, now: u64, due: u64) -> Option<u64> {
        let Parallel { worker, core, .. } = *self;
        let wait = due.saturating_sub(now);
        let due = worker.roster.borrow().without_pauses(now).saturating_add(wait);
        let mut timer = None;
        let ready = |_: &_| {
            let now = worker.clock.now();
            let (surplus, paused, time) = {
                let roster = worker.roster.borrow();
                let surplus = roster.is_surplus(core.seat);
                (surplus, roster.is_paused(), roster.without_pauses(now))
            };
            if worker.is_stopping() || surplus {
                core.stopped.set(true);
            }
            if core.is_ending() {
                return Some(None);
            }
            let at = due.saturating_add(now - time);
            if time >= due && !paused {
                return Some(Some(at));
            }
            if !paused && timer.replace(at) != Some(at) {
                worker.wake_at(in_flight, at);
            }
            None
        };
        in_flight.wait(ready).await
    }
}

/// Runs a future with a chance of its own, which is its user's only while it is polled.
async fn with_chance<F: Future>(
    core: &Core,
    mut chance: Random,
    mut future: Pin<&mut F>,
) -> F::Output {
    poll_fn(|cx| {
        let others = core.swap_chance(chance);
        let polled = future.as_mut().poll(cx);
        chance = core.swap_chance(others);
        polled
    })
    .await
}
