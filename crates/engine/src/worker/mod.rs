//! A worker: one OS thread with its own event loop and its own share of the users. Workers share
//! nothing while they run but the names that are made on the way; once a second each hands over what it
//! has recorded.
//!
//! The roster says what is due ([`crate::roster`]); a user that does something is owned by a task, of which a worker
//! only knows how it is started ([`StartUser`]). So memory follows what is in flight, not the number of users.

mod alarm;
mod control;
mod event_loop;
mod open_files;
mod spans;
#[cfg(test)]
mod tests;
mod turn;

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::rc::Rc;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use squall_base::random::Random;
use squall_load::Share;
use squall_metrics::UserState;
use squall_plan::value::Value;
use squall_wire::{Client, Clock, LoopWaker, Origin, Shared};
use tokio::sync::{Notify, watch};
use tokio::task::LocalSet;

use crate::clock::WorkerClock;
use crate::messages::{Message, Orders};
use crate::net::bursts::Bursts;
use crate::net::in_flight::{InFlight, InFlightTable};
use crate::net::origins::{Asked, KnownOrigin, Origins, SaidProxy};
use crate::net::pools::Pools;
use crate::parts::trace_context::TraceId;
use crate::program::Program;
use crate::record::{NameRegistry, Recorder};
use crate::roster::{Part, Roster};
use crate::rows::Rows;
use crate::scratch::{Buffer, Buffers};
use crate::scripts::Scripts;
use crate::shared_values::SharedValues;
use crate::together::Together;
use crate::trace::{Exchange, Trace};
use crate::user::{Core, User};
use alarm::Alarm;

/// Where a run of one user leaves its variables.
pub(crate) type LastVariables = Arc<Mutex<Vec<(String, Value)>>>;

/// What a worker is started with.
pub(crate) struct Assignment {
    pub program: Arc<Program>,
    pub shared: Arc<Shared>,
    pub clock: Clock,
    /// Which worker this is, of how many.
    pub index: u32,
    pub of: u32,
    /// The share of all that is numbered that the workers divide.
    pub share: Share,
    /// Whether it goes on without a share, as others may come.
    pub stays: bool,
    /// Whether it gets a table of open files of its own.
    pub own_files: bool,
    /// When the load starts, on the run's clock.
    pub start: u64,
    pub messages: Sender<Message>,
    pub names: Arc<NameRegistry>,
    pub together: Arc<Together>,
    /// The variables that all users have together.
    pub shared_values: Arc<SharedValues>,
    pub orders: watch::Receiver<Orders>,
    /// Told of every request and response (`squall try`).
    pub trace: Option<Trace>,
    /// Where the variables of a run of one user are left at its end.
    pub variables: Option<LastVariables>,
    /// Starts what its users do.
    pub start_user: StartUser,
}

/// Gives a user that can go on a task of its own ([`Worker::spawn`]).
pub(crate) type StartUser = fn(&Rc<Worker>, Box<User>);

/// State of a worker, shared by its tasks.
pub(crate) struct Worker {
    pub program: Arc<Program>,
    pub clock: WorkerClock,
    pub client: Rc<Client>,
    pub index: u32,
    pub of: u32,
    pub recorder: Recorder,
    pub trace: Option<Trace>,
    pub roster: RefCell<Roster<Box<User>>>,
    pub in_flight: InFlightTable,
    pub pools: Pools,
    pub rows: Rows,
    pub buffers: Buffers,
    pub bursts: Bursts,
    /// What its users run of scripts.
    pub scripts: Scripts,
    origins: Origins,
    /// Samples that could have been copied for who watches.
    pub samples_seen: Cell<u64>,
    /// Copies that may be written over.
    pub spare_exchanges: RefCell<Vec<Arc<Exchange>>>,
    /// Where IDs of traces come from: no two runs may have the same, whatever their seeds.
    traces: Cell<Random>,
    alarm: Alarm,
    /// What the alarm is set to.
    alarm_at: Cell<u64>,
    /// When the roster has something due, or the second ends.
    next: Cell<u64>,
    /// More was due than was done, and what has arrived was not taken since.
    behind: Cell<bool>,
    /// Entries in flight whose deadlines have passed, until what had arrived was taken.
    overdue: RefCell<Vec<Rc<InFlight>>>,
    /// Tasks that own a user.
    tasks: Cell<u64>,
    /// No new request is to be begun.
    stopping: Cell<bool>,
    /// What is in flight has had its time.
    cancelled: Cell<bool>,
    /// All loads have ended by themselves, and what is in flight has a time to end.
    winding_down: Cell<bool>,
    /// Why the worker cannot go on.
    broken: RefCell<Option<String>>,
    wake: Notify,
    /// How many changes were made of those that were ordered.
    changed: Cell<usize>,
    /// When nothing more may begin.
    valid_until: Cell<u64>,
    /// Whether it was told to stand still, by a pause without an instant.
    paused: Cell<bool>,
    /// What the users of all workers do together.
    pub together: Arc<Together>,
    /// The variables that all users have together.
    pub shared_values: Arc<SharedValues>,
    /// Whether it goes on without a share, ...
    stays: bool,
    /// ... and whether it was said that it has done what its share has.
    is_idle: Cell<bool>,
    /// Loads that others wait for, and that are not done here.
    awaited: RefCell<Vec<u16>>,
    variables: Option<LastVariables>,
    start_user: StartUser,
}

/// What a worker sleeps in, and what other threads wake it by, which know it by the numbers of its
/// descriptors. So the thread that starts the workers makes it, and closes it when they have ended: a worker
/// with a table of open files of its own could close it only there.
pub(crate) struct EventLoop {
    runtime: tokio::runtime::Runtime,
    waker: Arc<LoopWaker>,
}

impl EventLoop {
    /// Event loops for so many workers.
    ///
    /// # Errors
    /// Out of descriptors or memory.
    pub(crate) fn for_workers(count: u32) -> io::Result<Vec<EventLoop>> {
        // The first of a process also makes what tokio hears of signals by, and tokio panics where there
        // are no descriptors for that: they have to be there.
        let spare = (0..4).map(|_| std::os::unix::net::UnixStream::pair());
        drop(spare.collect::<io::Result<Vec<_>>>()?);
        (0..count).map(|_| EventLoop::new()).collect()
    }

    /// An event loop for one worker.
    ///
    /// # Errors
    /// Out of descriptors or memory.
    fn new() -> io::Result<EventLoop> {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build()?;
        Ok(EventLoop { runtime, waker: LoopWaker::new()? })
    }

    /// Closes it. A name that is still looked up is waited for by nobody.
    pub(crate) fn close(self) {
        self.runtime.shutdown_background();
    }
}

/// Runs a worker on this thread until its share of the load is done.
///
/// # Errors
/// The worker could not be made (out of descriptors or memory), or a task broke off.
pub(crate) fn run(assignment: Assignment, event_loop: &EventLoop) -> io::Result<()> {
    let EventLoop { runtime, waker } = event_loop;
    let orders = assignment.orders.clone();
    if assignment.own_files {
        open_files::own_table()?;
    }
    turn::ask_for_short_ones();
    let worker = {
        let _within = runtime.enter();
        Rc::new(Worker::new(assignment, waker)?)
    };
    let local = LocalSet::new();
    let work = local.run_until(async {
        worker.event_loop(orders).await;
        worker.recorder.finish(worker.clock.now());
    });
    squall_wire::run_loop(runtime, &worker.client, waker, &*worker, work);
    let broken = worker.broken.take();
    broken.map_or(Ok(()), |reason| Err(io::Error::other(reason)))
}

impl Worker {
    pub(crate) fn new(assignment: Assignment, waker: &Arc<LoopWaker>) -> io::Result<Self> {
        let Assignment { program, shared, clock, index, of, share, start, .. } = assignment;
        let (messages, names) = (assignment.messages, assignment.names);
        let trace = assignment.trace.clone();
        let clock_of_worker = WorkerClock::new(clock);
        let recorder = Recorder::new(&program, index, start, messages, names, trace);
        recorder.begin_at(clock_of_worker.now());
        let part = Part::new(share, index, of);
        recorder.expect_users(program.most_closed_users(part.users()));
        let iterations = &assignment.together.iterations;
        let mut roster = Roster::new(&program.loads, part, iterations, start, program.seed);
        if assignment.stays {
            roster.stay();
            recorder.keep_progress();
        }
        Ok(Worker {
            client: Client::new(shared, clock, index as usize, waker)?,
            recorder,
            trace: assignment.trace,
            roster: RefCell::new(roster),
            in_flight: InFlightTable::default(),
            pools: Pools::default(),
            rows: Rows::new(&program, assignment.together.clone()),
            bursts: Bursts::default(),
            buffers: Buffers::default(),
            scripts: Scripts::default(),
            origins: Origins::new(&program),
            samples_seen: Cell::new(0),
            spare_exchanges: RefCell::default(),
            traces: Cell::new(Random::new(RandomState::new().hash_one(index))),
            alarm: Alarm::new()?,
            alarm_at: Cell::new(u64::MAX),
            next: Cell::new(0),
            behind: Cell::new(false),
            overdue: RefCell::default(),
            tasks: Cell::new(0),
            stopping: Cell::new(false),
            cancelled: Cell::new(false),
            winding_down: Cell::new(false),
            broken: RefCell::new(None),
            wake: Notify::new(),
            changed: Cell::new(0),
            valid_until: Cell::new(u64::MAX),
            paused: Cell::new(false),
            together: assignment.together,
            shared_values: assignment.shared_values,
            stays: assignment.stays,
            is_idle: Cell::new(false),
            awaited: RefCell::new(program.awaited_loads()),
            variables: assignment.variables,
            start_user: assignment.start_user,
            program,
            clock: clock_of_worker,
            index,
            of: assignment.of,
        })
    }

    /// A variable is set: what a secret one holds is shown nowhere from now on.
    pub(crate) fn learn(&self, variable: &str, value: &Value) {
        let wanted = &self.program.secrets_to_find;
        if !wanted.is_empty()
            && wanted.contains(variable)
            && let Err(reason) = self.recorder.found_secret(value)
        {
            self.break_off(format!("`{variable}`: {reason}"));
        }
    }

    /// Whether no new request is to be begun.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.get()
    }

    /// Whether nothing may be in flight any more.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.get()
    }

    /// Notes what a user does from a moment on.
    #[inline]
    pub(crate) fn note(&self, user: &Core, to: UserState, at: u64) {
        if let Some(from) = user.state.replace(user.state.get().map(|_| to)) {
            self.recorder.state(from, to, at);
        }
    }

    /// A user of a scenario is active from now on.
    fn note_came(&self, scenario: usize) {
        self.recorder.levels.user_came(scenario);
        self.together.user_came(scenario);
    }

    /// A user of a scenario is no longer active.
    fn note_left(&self, scenario: usize) {
        self.recorder.levels.user_left(scenario);
        self.together.user_left(scenario);
    }

    /// The number of users that exist, or do something for an open workload, has changed.
    fn note_users(&self) {
        self.recorder.users(self.roster.borrow().active());
    }

    /// Lets a user wait from `now` until `due`.
    pub(crate) fn park(&self, user: Box<User>, due: u64, now: u64) {
        self.roster.borrow_mut().park(user, due, now);
        self.note_next();
    }

    /// A user waits for its next arrival.
    pub(crate) fn free(&self, user: Box<User>) {
        self.note_left(user.core.scenario());
        self.roster.borrow_mut().free(user);
        self.note_users();
    }

    /// A user is no more.
    pub(crate) fn leave(&self, user: Box<User>, now: u64) {
        self.leave_variables(&user.core);
        self.note(&user.core, UserState::Finished, now);
        self.note_left(user.core.scenario());
        self.roster.borrow_mut().leave(user.core.seat);
        self.note_users();
        if !self.awaited.borrow().is_empty() {
            self.wake.notify_one();
        }
    }

    /// Leaves the variables of a user that have a value where the caller of a run of one user finds them.
    fn leave_variables(&self, user: &Core) {
        let Some(Ok(mut left)) = self.variables.as_ref().map(|variables| variables.lock()) else {
            return;
        };
        let names = self.program.variables.iter().enumerate().filter(|(_, name)| !name.is_empty());
        let value = |(index, name): (usize, &String)| {
            Some((name.clone(), user.variable(&self.program, index)?))
        };
        let shared = self.shared_values.now();
        let shared = self.program.shared.iter().cloned().zip(shared.iter().cloned());
        let shared = shared.filter_map(|(name, value)| Some((name, value?)));
        *left = names.filter_map(value).chain(shared).collect();
    }

    /// An origin that the plan names, by its number in the program.
    pub(crate) fn named_origin(&self, number: u32) -> Rc<KnownOrigin> {
        self.origins.named(number)
    }

    /// An origin for a request that asks for this. Connections with a client certificate, through a proxy or
    /// from an address of their own go to an origin of their own, so that no other request has them.
    pub(crate) fn known_origin(&self, origin: Origin, asked: Asked) -> Rc<KnownOrigin> {
        self.origins.known(&self.program, origin, asked)
    }

    /// An origin for a request that asks for this, from that for one which asks for nothing.
    pub(crate) fn as_asked(&self, plain: &Rc<KnownOrigin>, asked: Asked) -> Rc<KnownOrigin> {
        self.origins.as_asked(&self.program, plain, asked)
    }

    /// What a text says of a proxy.
    ///
    /// # Errors
    /// It says nothing of one.
    pub(crate) fn said_proxy(&self, text: &[u8]) -> Result<SaidProxy, String> {
        self.origins.said_proxy(&self.program, text)
    }

    /// The ID of a new trace.
    pub(crate) fn new_trace(&self) -> TraceId {
        self.draw_trace(TraceId::new)
    }

    /// Draws something for IDs of traces.
    pub(crate) fn draw_trace<R>(&self, draw: impl FnOnce(&mut Random) -> R) -> R {
        let mut random = self.traces.get();
        let drawn = draw(&mut random);
        self.traces.set(random);
        drawn
    }

    /// A buffer that holds some bytes.
    pub(crate) fn buffer(&self, bytes: &[u8]) -> Buffer<'_> {
        let mut buffer = self.buffers.take();
        buffer.extend_from_slice(bytes);
        buffer
    }
}
