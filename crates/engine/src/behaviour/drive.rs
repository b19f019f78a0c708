//! The driver: performs what a behaviour asks for, until its user waits, is free or gone.
//!
//! Several branches of a user at the same time all run within its task. Each has its own behaviour and strand, its own
//! entry in flight and its own chance, so that what it draws does not depend on whose response comes first. What else
//! a user has, they share.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::iter::Enumerate;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::vec::IntoIter;

use squall_base::random::Random;
use squall_metrics::UserState;

use super::next::{Answer, Asked, Behaviour, Env, Next, Task};
use super::requests::Sender;
use super::{due, lanes, others, resources};
use crate::net::in_flight::Guard;
use crate::program::RequestOp;
use crate::roster::After;
use crate::sample::{self, Moment, Sampler};
use crate::user::{Core, Strand};
use crate::worker::Worker;

/// Steps that a task may run before it lets others run: a loop that never waits must not keep its worker from seeing
/// the end of the run. Whatever is performed for a behaviour counts as [`TASK_COST`] of them: samples, branches, and a
/// turn or meeting with other users even where it need not be waited for.
const BUDGET: u32 = 10_000;
const TASK_COST: u32 = 100;

/// How a user gives up its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// It does nothing until then.
    Wait(UserState, u64),
    /// It waits for an arrival.
    Free,
    /// It is no more.
    Gone,
}

/// Runs a user until it rests. Returns how, and since when.
pub(super) async fn run<B: Behaviour>(
    worker: &Rc<Worker>,
    core: &Core,
    strand: &mut Strand,
    behaviour: &mut B,
) -> (Rest, u64) {
    let in_flight = worker.in_flight.enter();
    let mut flow = Flow::new(worker, core, strand, behaviour, &in_flight);
    let mut now = Moment::at(worker.clock.now());
    loop {
        match flow.next(now.ready) {
            Ok(task) => now = flow.perform(task, now).await,
            Err(rest) => return (rest, now.ready),
        }
    }
}

/// One flow of a user's steps, at work.
struct Flow<'f, 'p, B> {
    worker: &'p Rc<Worker>,
    core: &'p Core,
    strand: &'f mut Strand,
    behaviour: &'f mut B,
    in_flight: &'f Guard<'p>,
    budget: u32,
    /// What the behaviour is told when it goes on.
    answer: Answer,
}

impl<'f, 'p, B: Behaviour> Flow<'f, 'p, B> {
    fn new(
        worker: &'p Rc<Worker>,
        core: &'p Core,
        strand: &'f mut Strand,
        behaviour: &'f mut B,
        in_flight: &'f Guard<'p>,
    ) -> Self {
        let (budget, answer) = (BUDGET, Answer::Ready);
        Flow { worker, core, strand, behaviour, in_flight, budget, answer }
    }

    /// What a user does next, iteration by iteration; or how it rests.
    fn next(&mut self, now: u64) -> Result<Task<'p, B>, Rest> {
        let (worker, core) = (self.worker, self.core);
        loop {
            if !core.in_iteration.get() {
                let ends = core.stopped.get() || worker.is_stopping();
                if ends || !worker.begin_iteration(core, self.strand, now) {
                    worker.count_arrival(self.strand, false);
                    return Err(Rest::Gone);
                }
                self.answer = Answer::Begin;
            }
            match self.resume(now) {
                Next::Go(task) => return Ok(task),
                Next::Wait(until) => return Err(Rest::Wait(UserState::Think, until)),
                Next::Gone => {
                    worker.cut_off_spans(core, self.strand);
                    return Err(Rest::Gone);
                }
                Next::Over => match worker.end_iteration(core, self.strand, now) {
                    After::Now(_) if self.budget == 0 => return Ok(Task::Yield),
                    After::Now(_) => self.budget -= 1,
                    After::At(due) => return Err(Rest::Wait(UserState::Pacing, due)),
                    After::Free => return Err(Rest::Free),
                    After::Gone => return Err(Rest::Gone),
                },
            }
        }
    }

    /// Runs the behaviour to where it has to wait, unless its user or its iteration has to end.
    fn resume(&mut self, now: u64) -> Next<'p, B> {
        let Flow { worker, core, .. } = *self;
        core.elapsed.set(now.saturating_sub(worker.recorder.start()));
        if core.stopped.get() || worker.is_stopping() {
            return Next::Gone;
        }
        if self.strand.is_over || core.iteration_over.get() {
            return Next::Over;
        }
        let answer = std::mem::replace(&mut self.answer, Answer::Ready);
        let (strand, budget) = (&mut *self.strand, &mut self.budget);
        let next = self.behaviour.resume(Env { worker, core, strand, budget, now }, answer);
        if let Next::Wait(until) = next {
            let wait = until.saturating_sub(now);
            self.strand.thought = self.strand.thought.saturating_add(wait);
        }
        next
    }

    /// Performs what the behaviour asked for, from `now` on. Returns when it was done.
    async fn perform(&mut self, task: Task<'p, B>, now: Moment) -> Moment {
        let Flow { worker, core, in_flight, .. } = *self;
        self.budget = self.budget.saturating_sub(TASK_COST);
        let end = match task {
            Task::Request(op) => self.request(op, now).await,
            Task::Sample(step) => self.sample(step, now).await,
            Task::Requests(asked) => {
                let Asked { op, spot, mut requests } = asked;
                let site = worker.scripts.call_site(op);
                let sender = Sender::new(worker, core, (op, &site), spot);
                let (responses, end) = if requests.list.len() == 1 {
                    let request = requests.list.remove(0);
                    let (got, end) = sender.follow(self.strand, in_flight, request, now).await;
                    (vec![got], end)
                } else {
                    Box::pin(sender.batch(self.strand, requests, now)).await
                };
                self.answer = Answer::Responses(responses);
                end
            }
            Task::Join { branches, limit } => {
                let parent = (&mut *self.strand, &mut *self.behaviour);
                join(worker, core, parent, branches, limit, now).await
            }
            Task::Wait(waiting) => {
                others::wait(worker, core, self.strand, in_flight, waiting, now).await
            }
            Task::Yield => {
                self.budget = BUDGET;
                tokio::task::yield_now().await;
                Moment::at(worker.clock.now())
            }
        };
        worker.advance_if_due(end.seen);
        end
    }

    /// Takes a sample, or loads a page with all that it names.
    async fn request(&mut self, op: &'p RequestOp, now: Moment) -> Moment {
        let Some(resources) = &op.policy.resources else { return self.sample(op, now).await };
        let Flow { worker, core, in_flight, .. } = *self;
        let page = (op, &**resources);
        resources::load_page(worker, core, self.strand, in_flight, page, now).await
    }

    async fn sample(&mut self, sampler: impl Sampler<'p>, now: Moment) -> Moment {
        let Flow { worker, core, in_flight, .. } = *self;
        worker.note_begin(core, self.strand, now);
        let sampled = sample::sample(worker, core, self.strand, in_flight, sampler, now).await;
        worker.note_end(core, self.strand, &sampled)
    }
}

/// Runs branches that a flow came to at `now`, at most `limit` at a time. Returns when all had ended.
///
/// A branch may come to branches itself: hence the box.
fn join<'a, B: Behaviour + 'a>(
    worker: &'a Rc<Worker>,
    core: &'a Core,
    (strand, behaviour): (&'a mut Strand, &'a mut B),
    branches: Vec<B>,
    limit: usize,
    now: Moment,
) -> Pin<Box<dyn Future<Output = Moment> + 'a>> {
    Box::pin(async move {
        lanes::open(worker, core, strand, now);
        let lanes = limit.min(branches.len());
        let strands: Vec<Strand> = (0..lanes).map(|_| strand.branch()).collect();
        let parallel = Parallel {
            worker,
            core,
            waiting: RefCell::new(branches.into_iter().enumerate()),
            behaviour: RefCell::new(behaviour),
            seed: core.chance(),
            end: Cell::new(now.ready),
            strand: RefCell::new(strand),
        };
        lanes::join(core, strands.into_iter().map(|strand| parallel.lane(strand, now))).await;
        let Parallel { end, strand, .. } = parallel;
        lanes::close(worker, core, strand.into_inner(), end.get())
    })
}

/// Branches that are being run, as many at a time as there are lanes.
struct Parallel<'a, B> {
    worker: &'a Rc<Worker>,
    core: &'a Core,
    /// The branches that nobody has begun, with their numbers.
    waiting: RefCell<Enumerate<IntoIter<B>>>,
    seed: u64,
    /// When the last of them ended.
    end: Cell<u64>,
    /// What they belong to.
    strand: RefCell<&'a mut Strand>,
    behaviour: RefCell<&'a mut B>,
}

impl<B: Behaviour> Parallel<'_, B> {
    /// Runs one branch after the other, as long as there are any.
    async fn lane(&self, mut strand: Strand, mut now: Moment) {
        let in_flight = self.worker.in_flight.enter();
        while let Some((number, mut branch)) = self.begin() {
            let chance = Random::of(self.seed, number as u64, 0, 0);
            let run = self.branch(&mut strand, &mut branch, &in_flight, now);
            now = with_chance(self.core, chance, pin!(run)).await;
            self.strand.borrow_mut().join(&mut strand);
            self.behaviour.borrow_mut().join(number, branch);
        }
        // That of its last response, or until which it waited: what comes after is squall's own time.
        self.end.set(self.end.get().max(strand.due));
        let mut parent = self.strand.borrow_mut();
        parent.due = self.end.get();
        parent.waited &= strand.waited;
        parent.arrived &= strand.arrived;
    }

    /// The next branch, and its number.
    fn begin(&self) -> Option<(usize, B)> {
        if self.core.is_ending() || self.worker.is_stopping() {
            return None;
        }
        self.waiting.borrow_mut().next()
    }

    /// Runs a branch from `now` on. Returns when it ended.
    async fn branch(
        &self,
        strand: &mut Strand,
        behaviour: &mut B,
        in_flight: &Guard<'_>,
        mut now: Moment,
    ) -> Moment {
        let Parallel { worker, core, .. } = *self;
        let mut flow = Flow::new(worker, core, strand, behaviour, in_flight);
        loop {
            match flow.resume(now.ready) {
                Next::Go(task) => now = flow.perform(task, now).await,
                Next::Wait(until) => {
                    let wait = until.saturating_sub(now.ready);
                    let due = due::wait(worker, core, in_flight, (now.ready, wait)).await;
                    now = Moment::at(worker.clock.now());
                    match due {
                        Some(due) => (flow.strand.due, flow.strand.waited) = (due, true),
                        None => flow.strand.due = now.ready, // and not when the wait would have been over
                    }
                }
                // It ends with its user.
                Next::Gone => {
                    worker.cut_off_spans(core, flow.strand);
                    core.stopped.set(true);
                    return now;
                }
                Next::Over => {
                    worker.end_groups(core, flow.strand, now.ready);
                    return now;
                }
            }
        }
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
