//! A worker: one OS thread with its own event loop and its own share of the users. Workers share
//! nothing while they run; once a second each hands over what it has recorded.
//!
//! A user that waits is plain data in [`Worker::users`] and a timer in the wheel. A user that does
//! something is owned by a task ([`drive`]). So memory follows what is in flight, not the number of
//! users.

mod account;
mod connections;
mod drive;
mod effort;
mod exec;
mod files;
mod flight;
pub(crate) mod flow;
mod hop;
mod load;
mod park;
mod perform;
mod recorder;
mod save;
mod timer;
mod watched;
mod wheel;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use slab::Slab;
use squall_measure::UserState as State;
use squall_plan::value::Value;
use squall_wire::{Client, Clock, Shared};
use tokio::sync::watch;
use tokio::task::LocalSet;

use crate::parts::data::Reader;
use crate::program::Program;
use crate::run::{Command, Message, Orders};
use crate::trace::Trace;
use crate::user::User;
use connections::Pools;
use flight::{Cut, Flight};
use load::UnitState;
pub(crate) use recorder::Recorder;
use timer::Alarm;
use wheel::Wheel;

/// Where a run of one user leaves its variables.
pub(crate) type Kept = Arc<Mutex<Vec<(String, Value)>>>;

/// What a worker is started with.
pub(crate) struct Assignment {
    pub program: Arc<Program>,
    pub shared: Arc<Shared>,
    pub clock: Clock,
    /// Which worker this is, of how many.
    pub index: u32,
    pub of: u32,
    /// Whether it gets a table of open files of its own.
    pub own_files: bool,
    /// When the load starts, on the run's clock.
    pub start: u64,
    pub messages: Sender<Message>,
    pub commands: watch::Receiver<Orders>,
    /// Told of every request and answer (`squall try`).
    pub trace: Option<Trace>,
    /// Where the variables of a run of one user are left at its end.
    pub variables: Option<Kept>,
}

/// State of a worker, shared by its tasks.
pub(crate) struct Worker {
    pub program: Arc<Program>,
    pub clock: Clock,
    pub client: Rc<Client>,
    pub index: u32,
    pub of: u32,
    pub recorder: Recorder,
    pub trace: Option<Trace>,
    /// Exchanges that could have been watched.
    watched: Cell<u64>,
    /// Origins, those known only since the run began included.
    pub origins: RefCell<Vec<Rc<squall_wire::Origin>>>,
    pub pools: Pools,
    readers: RefCell<Vec<Reader>>,
    /// How many rows were taken of each feed, by scenario or over all.
    taken: RefCell<Vec<u64>>,
    users: RefCell<Slab<Parked>>,
    units: RefCell<Vec<UnitState>>,
    flights: RefCell<Vec<Rc<Flight>>>,
    /// Those that no task has. They keep their timer in the wheel: where tasks are short a new one for
    /// each would fill it.
    free_flights: RefCell<Vec<Rc<Flight>>>,
    wheel: RefCell<Wheel<Timer>>,
    alarm: Alarm,
    /// What the alarm is set to.
    alarm_at: Cell<u64>,
    /// When the wheel has to be looked at next.
    next: Cell<u64>,
    /// Tasks that own a user.
    active: Cell<u64>,
    /// No new request is to be begun.
    ending: Cell<bool>,
    /// The grace is over.
    aborted: Cell<bool>,
    idle: tokio::sync::Notify,
    variables: Option<Kept>,
}

/// A user that waits, and its place's generation: a timer for a former occupant does nothing.
struct Parked {
    user: Box<User>,
    generation: u32,
}

/// What waits in the wheel.
#[derive(Debug, Clone, Copy)]
enum Timer {
    /// A waiting user goes on.
    User { place: u32, generation: u32 },
    /// A flight's limit has to be looked at.
    Flight(u32),
    /// A flight may go on that was held back by its user's speed.
    Flow(u32),
    /// The number of users of a closed load changes.
    Users(u16),
    /// An arrival of an open load is due.
    Arrival(u16),
    /// A load ends.
    End(u16),
    /// The second is over.
    Second,
    /// The grace is over.
    Abort,
}

/// Runs a worker on this thread until its share of the load is done.
///
/// # Errors
/// The event loop could not be made (out of descriptors or memory).
pub(crate) fn run(assignment: Assignment) -> io::Result<()> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().on_thread_park(park::park).build()?;
    let (commands, start) = (assignment.commands.clone(), assignment.start);
    if assignment.own_files {
        files::own_table()?;
    }
    let worker = {
        let _within = runtime.enter();
        Rc::new(Worker::new(assignment)?)
    };
    park::enter(&worker);
    let local = LocalSet::new();
    runtime.block_on(worker.timed(local.run_until(async {
        worker.begin(start);
        worker.turn_until_done(commands).await;
        worker.recorder.finish(worker.clock.now());
    })));
    Ok(())
}

impl Worker {
    fn new(assignment: Assignment) -> io::Result<Self> {
        let Assignment {
            program, shared, clock, index, of, start, messages, trace, variables, ..
        } = assignment;
        let readers = program.feeds.iter().map(|feed| Reader::new(&feed.source)).collect();
        let taken = vec![0; program.feeds.len() * (program.scenarios.len() + 1)];
        Ok(Worker {
            client: Client::new(shared, clock, index as usize)?,
            recorder: Recorder::new(&program, index, start, messages),
            trace,
            watched: Cell::new(0),
            origins: RefCell::new(program.origins.iter().cloned().map(Rc::new).collect()),
            pools: Pools::default(),
            readers: RefCell::new(readers),
            taken: RefCell::new(taken),
            users: RefCell::new(Slab::new()),
            units: RefCell::new(Vec::new()),
            flights: RefCell::default(),
            free_flights: RefCell::default(),
            wheel: RefCell::new(Wheel::new()),
            alarm: Alarm::new()?,
            alarm_at: Cell::new(u64::MAX),
            next: Cell::new(u64::MAX),
            active: Cell::new(0),
            ending: Cell::new(false),
            aborted: Cell::new(false),
            idle: tokio::sync::Notify::new(),
            variables,
            program,
            clock,
            index,
            of,
        })
    }

    /// Measures how long the loop goes without looking for events: the future of a `LocalSet` runs a
    /// bounded number of tasks each time that it is polled.
    async fn timed(&self, turns: impl Future<Output = ()>) {
        let mut turns = pin!(turns);
        poll_fn(|cx| {
            let begin = self.clock.now();
            let polled = turns.as_mut().poll(cx);
            let took = self.clock.now() - begin;
            self.recorder.own(|own| own.loop_iteration.record(took / 1_000));
            self.client.submit_late();
            polled
        })
        .await;
    }

    /// The worker's own loop: timers, commands, the end.
    async fn turn_until_done(self: &Rc<Self>, mut commands: watch::Receiver<Orders>) {
        let mut told = true;
        loop {
            self.fire(self.clock.now());
            if self.is_done() {
                return;
            }
            self.set_alarm();
            tokio::select! {
                ring = self.alarm.ring() => {
                    self.alarm_at.set(u64::MAX);
                    if ring.is_err() {
                        // Cannot happen to a timer descriptor that is open; without a timer
                        // nothing can go on, so end in order.
                        self.end(0);
                    }
                }
                () = self.idle.notified() => {}
                change = commands.changed(), if told => match change {
                    Ok(()) => self.obey(&commands.borrow_and_update()),
                    // Whoever commands is gone: nobody wants the results.
                    Err(_) => {
                        told = false;
                        self.abort();
                    }
                },
            }
        }
    }

    fn obey(&self, orders: &Orders) {
        for unit in &orders.ended {
            self.end_unit(*unit as usize);
        }
        match orders.command {
            Command::Run => {}
            Command::Stop { grace } => self.end(grace),
            Command::Abort => self.abort(),
        }
    }

    /// Fires all timers that are due.
    pub(crate) fn fire(self: &Rc<Self>, now: u64) {
        loop {
            let popped = self.wheel.borrow_mut().pop(now);
            let Some((due, timer)) = popped else { break };
            self.fired(due, timer, now);
        }
        self.next.set(self.wheel.borrow().next().unwrap_or(u64::MAX));
    }

    /// Fires timers if any is due: a saturated loop need not wait for the kernel's timer.
    #[inline]
    pub(crate) fn fire_if_due(self: &Rc<Self>, now: u64) {
        if now >= self.next.get() {
            self.fire(now);
        }
    }

    fn fired(self: &Rc<Self>, due: u64, timer: Timer, now: u64) {
        match timer {
            Timer::User { place, generation } => self.wake(place, generation),
            Timer::Flight(flight) => {
                let again =
                    self.flights.borrow().get(flight as usize).and_then(|f| f.look(due, now));
                if let Some(again) = again {
                    self.insert(again, timer);
                }
            }
            Timer::Flow(flight) => {
                if let Some(flight) = self.flights.borrow().get(flight as usize) {
                    flight.wake();
                }
            }
            Timer::Users(unit) => self.adjust_users(unit as usize, due),
            Timer::Arrival(unit) => self.arrive(unit as usize, now),
            Timer::End(unit) => self.end_unit(unit as usize),
            Timer::Second => {
                self.recorder.roll(now);
                self.insert(self.recorder.second_ends(), Timer::Second);
            }
            Timer::Abort => self.abort(),
        }
    }

    fn insert(&self, due: u64, timer: Timer) {
        self.wheel.borrow_mut().insert(due, timer);
        if due < self.next.get() {
            self.next.set(due);
            if due < self.alarm_at.get() {
                self.set_alarm();
            }
        }
    }

    /// Sets the kernel's timer to what is next, if it is set to something else.
    fn set_alarm(&self) {
        let next = self.next.get();
        if next == u64::MAX || next == self.alarm_at.get() || self.client.has_ring() {
            return;
        }
        self.set_alarm_at(next);
    }

    /// Sets the kernel's timer.
    fn set_alarm_at(&self, at: u64) {
        self.alarm_at.set(at);
        let wait = at.saturating_sub(self.clock.now());
        if self.alarm.set(wait).is_err() {
            self.idle.notify_one(); // look again at once rather than never
        }
    }

    /// Begins the end: no new request, what is in flight may take `grace` nanoseconds.
    pub(crate) fn end(&self, grace: u64) {
        if self.ending.replace(true) {
            return;
        }
        let units = self.units.borrow().len();
        for unit in 0..units {
            self.end_unit(unit);
        }
        self.insert(self.clock.now().saturating_add(grace), Timer::Abort);
        self.idle.notify_one();
    }

    /// Ends the run from within: here at once, on other workers as soon as they are told.
    fn stop_run(&self) {
        self.recorder.ask_to_stop();
        self.end(crate::schedule::nanos(self.program.grace));
    }

    /// Cuts all that is in flight.
    fn abort(&self) {
        self.aborted.set(true);
        if !self.ending.get() {
            self.end(0);
        }
        for flight in self.flights.borrow().iter() {
            flight.cut(Cut::Abort);
        }
    }

    fn is_done(&self) -> bool {
        self.active.get() == 0 && self.units.borrow().iter().all(UnitState::is_done)
    }

    /// The number of users that exist, or do something for an open load, has changed.
    fn note_users(&self) {
        self.recorder.users(self.units.borrow().iter().map(UnitState::active).sum());
    }

    /// Notes what a user does from a moment on.
    #[inline]
    fn note(&self, user: &mut User, to: State, at: u64) {
        if let Some(state) = &mut user.state {
            self.recorder.state(*state, to, at);
            *state = to;
        }
    }

    /// Lets a user wait until `due`.
    fn park(&self, user: Box<User>, due: u64) {
        let mut users = self.users.borrow_mut();
        let entry = users.vacant_entry();
        let place = entry.key() as u32;
        let generation = self.recorder.next_generation();
        entry.insert(Parked { user, generation });
        drop(users);
        self.insert(due, Timer::User { place, generation });
    }

    /// A waiting user goes on, if it still waits.
    fn wake(self: &Rc<Self>, place: u32, generation: u32) {
        let mut users = self.users.borrow_mut();
        let waits = users.get(place as usize).is_some_and(|parked| parked.generation == generation);
        if waits {
            let mut user = users.remove(place as usize).user;
            drop(users);
            let due = user.due;
            user.waited = true;
            self.note(&mut user, State::Ready, due);
            self.start(user);
        }
    }

    /// Takes out all users of a load that wait.
    #[allow(clippy::vec_box)] // users go from list to task and back by their pointer
    fn unpark(&self, unit: usize) -> Vec<Box<User>> {
        let mut users = self.users.borrow_mut();
        let places: Vec<usize> = users
            .iter()
            .filter(|(_, parked)| parked.user.unit as usize == unit)
            .map(|(place, _)| place)
            .collect();
        places.into_iter().map(|place| users.remove(place).user).collect()
    }

    /// Gives a user a task of its own.
    fn start(self: &Rc<Self>, user: Box<User>) {
        self.active.set(self.active.get() + 1);
        tokio::task::spawn_local(drive::drive(self.clone(), user));
    }

    /// A flight for a task; given back when it is dropped.
    fn lease(self: &Rc<Self>) -> Lease {
        let free = self.free_flights.borrow_mut().pop();
        let flight = free.unwrap_or_else(|| {
            let mut flights = self.flights.borrow_mut();
            let flight = Rc::new(Flight::new(flights.len() as u32));
            flights.push(flight.clone());
            flight
        });
        if self.aborted.get() {
            flight.cut(Cut::Abort);
        }
        Lease { worker: self.clone(), flight }
    }

    /// A task has let go of its user.
    fn task_ended(&self) {
        self.active.set(self.active.get() - 1);
        if self.active.get() == 0 {
            self.idle.notify_one();
        }
    }
}

/// A task's flight, in the list where timers find it.
struct Lease {
    worker: Rc<Worker>,
    flight: Rc<Flight>,
}

impl std::ops::Deref for Lease {
    type Target = Flight;

    fn deref(&self) -> &Flight {
        &self.flight
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.flight.reset();
        self.worker.free_flights.borrow_mut().push(self.flight.clone());
    }
}
