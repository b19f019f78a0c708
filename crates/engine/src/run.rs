//! Runs a program: starts the workers, passes on what they hand over, commands them. It is the only
//! place that knows of all workers; what becomes of the records is the caller's business.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use squall_load::Share;
use squall_metrics::Slice;
use squall_plan::model::Load;
use squall_plan::value::Value;
use squall_wire::{Clock, Shared};
use tokio::sync::watch;

use crate::behaviour;
use crate::follow::Followed;
use crate::messages::{ChangeKind, ChangeOrder, Command, LogLine, Message, Orders};
use crate::profile::Shape;
use crate::program::Program;
use crate::progress::{Progress, TotalsBegun};
use crate::record::NameRegistry;
use crate::shared_values::SharedValues;
use crate::together::Together;
use crate::trace::Trace;
use crate::worker::{self, Assignment, EventLoop};

/// What a run hands to its caller while it goes on.
#[derive(Debug)]
pub enum Event<'a> {
    /// The workers are there, and start the load however long the caller takes from now on. Comes once, before slices and lines.
    Started,
    /// A worker's records of one second.
    Slice(&'a Slice),
    /// Lines of the run's log.
    Log(&'a [LogLine]),
    /// Something that a person is told of, before the start too: about which node (empty: all that generate the load), and
    /// what. The workers of this process say nothing of the kind.
    Notice { node: &'a str, text: &'a str },
    /// How far the users of loads with a number of iterations are at the end of a second: what has changed since it was told
    /// last, before a worker's slice of that second comes. [`Progress::merge`] adds it to what is known. Of a run that
    /// stays, for who may have to go on with the share ([`Control::reshare_with`]).
    Progress { second: u32, progress: &'a Progress },
    /// Whether the process has done what its share has, of a run that stays ([`RunOptions::stays`]). `false`: it got
    /// something to do again, as it has another share.
    Idle(bool),
}

/// The load starts so many ns after its workers, so that none is late because its thread had yet to
/// be made.
const START_AFTER: u64 = 5_000_000;

/// Who begins so many ns after the load takes no rows that another may have used.
const LATE: u64 = 1_000_000_000;

/// How a run is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOptions {
    /// The share of the plan's loads that this process has; its workers divide it. It may be empty, if the run stays.
    pub share: Share,
    /// Whether the run goes on when its share is done, as it may get another ([`Control::reshare`]). It then ends when all
    /// loads have, if they end by time, and otherwise when it is told to; [`Event::Idle`] says how it stands.
    pub stays: bool,
    /// When the load starts; `None`: as soon as the workers are there. It may be past: seconds count from there all the
    /// same, and nothing that was due before the next whole second is begun.
    pub start: Option<Instant>,
    /// How many workers, at most one a user.
    pub workers: u32,
    /// Whether each worker gets a table of open files of its own: a limit of open files is one of a
    /// table (Linux; elsewhere it plays no part). What was open before the run is open in all of them.
    pub own_files: bool,
}

impl Default for RunOptions {
    /// One worker, which has everything.
    fn default() -> Self {
        let (share, stays) = (Share::all(), false);
        RunOptions { share, stays, start: None, workers: 1, own_files: false }
    }
}

/// Controls a run from elsewhere (a signal, a test).
#[derive(Debug, Clone)]
pub struct Control(watch::Sender<Orders>);

impl Default for Control {
    fn default() -> Self {
        Control(watch::Sender::new(Orders::default()))
    }
}

impl Control {
    /// Lets the loads stand still: nobody arrives, begins or goes on. What is in flight goes on.
    pub fn pause(&self) {
        self.0.send_modify(|orders| orders.paused = true);
    }

    /// Lets the loads go on where they stood; they end later by the length of the pause.
    pub fn resume(&self) {
        self.0.send_modify(|orders| orders.paused = false);
    }

    /// From then on nobody arrives, begins or goes on, unless this is put off first: whoever else would drive this
    /// process's share may have begun. A process that was not run for a while thus sends nothing when it wakes up, before
    /// anybody could tell it to stop. Unlike a pause, it puts nothing off.
    pub fn hold_after(&self, at: Instant) {
        self.0.send_modify(|orders| orders.valid_until = Some(at));
    }

    /// Lets the loads stand still from `after` the start of the load on, a whole second: several processes that are told the
    /// same stand still at the same place of the load. If it is told too late, what was begun since then is not begun again.
    /// Its end is told by [`Control::resume_at`].
    pub fn pause_at(&self, after: Duration) {
        self.change(after, ChangeKind::Pause);
    }

    /// Lets loads that [`Control::pause_at`] has paused go on from `after` the start of the load on, a whole second. If it is
    /// told too late, what was due before the next whole second is left out, and counted as cut off.
    pub fn resume_at(&self, after: Duration) {
        self.change(after, ChangeKind::GoOn);
    }

    /// Gives a load of the plan (by its number, in the plan's order) another shape from `after` the
    /// start of the run on, whose time 0 is then. A closed workload stays closed, an open one open:
    /// another kind is ignored. `after` must not be past.
    ///
    /// # Errors
    /// The load makes no sense, in a sentence.
    pub fn reshape(&self, number: u16, load: &Load, after: Duration) -> Result<(), String> {
        let kind = ChangeKind::Shape {
            load: number,
            shape: Shape::new(load)?,
            of: Box::new(load.clone()),
        };
        self.change(after, kind);
        Ok(())
    }

    /// Gives this process another share of the plan's loads from `after` the start of the run on, a whole second.
    ///
    /// Of what it gives away nothing is begun from then on. Arrivals and counted iterations that have begun are ended
    /// here; other users of closed workloads leave at their next wait or request. What it takes begins then, with new
    /// users at the same seats. If it is told too late, what was due before the next whole second is left out, and
    /// counted as cut off: it is never made up for.
    ///
    /// A share is counted in as many shards as that with which the run began.
    pub fn reshare(&self, share: Share, after: Duration) {
        self.reshare_with(share, Progress::default(), after);
    }

    /// Gives this process another share, as [`Control::reshare`] does, with what is known of how far users of loads with a
    /// number of iterations are that it takes over: they begin with the iteration that follows, and of `total_iterations`
    /// it gets what is left. What is not in it has not begun.
    pub fn reshare_with(&self, share: Share, progress: Progress, after: Duration) {
        let progress = Arc::new(progress);
        self.change(after, ChangeKind::Share { share, progress });
    }

    fn change(&self, after: Duration, kind: ChangeKind) {
        let after = crate::profile::nanos(after);
        self.0.send_modify(|orders| orders.changes.push(ChangeOrder { after, kind }));
    }

    /// Says when a load begins whose users are elsewhere: [`Control::elapsed`] counts from then.
    pub fn begin(&self, at: Instant) {
        self.0.send_modify(|orders| orders.begins = Some(at));
    }

    /// What is ordered from the beginning on, for who passes it on to users that are elsewhere.
    pub fn follow(&self) -> Followed {
        Followed::new(self.0.subscribe())
    }

    /// Ends the run in order: nothing new is begun, what is in flight may take so long.
    pub fn stop(&self, graceful_stop: Duration) {
        self.0.send_if_modified(|orders| {
            let first = orders.command == Command::Run;
            if first {
                let graceful = crate::profile::nanos(graceful_stop);
                orders.command = Command::Stop { graceful };
            }
            first
        });
    }

    /// Ends the run at once.
    pub fn abort(&self) {
        self.0.send_modify(|orders| orders.command = Command::Abort);
    }

    /// Ends one load, on all workers.
    fn end_load(&self, load: u16) {
        self.0.send_if_modified(|orders| {
            let first = !orders.ended.contains(&load);
            if first {
                orders.ended.push(load);
            }
            first
        });
    }

    /// Lets a load start that waited for others.
    fn release(&self, load: u16) {
        self.0.send_modify(|orders| orders.released.push(load));
    }

    /// How long ago the load began; `None`: it has not.
    pub fn elapsed(&self) -> Option<Duration> {
        Instant::now().checked_duration_since(self.0.borrow().begins?)
    }

    /// Whether the run was told to end.
    pub fn is_stopped(&self) -> bool {
        self.0.borrow().command != Command::Run
    }
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// From the start of the load to the last worker's end.
    pub elapsed: Duration,
    /// A step, or an error with `on_error: stop_run`, asked for the end.
    pub asked: bool,
    /// Workers that broke off, with the reason.
    pub failures: Vec<String>,
    /// What the users' variables held at the end of a run of one user, by name.
    pub variables: Vec<(String, Value)>,
}

/// Runs a program until its load is done or it is stopped. `events` is called on this thread.
///
/// A worker that breaks off, or whose thread cannot be started, ends the run ([`Ended::failures`]).
///
/// # Errors
/// Out of descriptors or memory before anything was sent.
pub fn run(
    program: Arc<Program>,
    shared: Arc<Shared>,
    options: &RunOptions,
    control: &Control,
    trace: Option<Trace>,
    mut events: impl FnMut(Event<'_>),
) -> io::Result<Ended> {
    let of = options.workers.clamp(1, program.most_workers());
    let loops = EventLoop::for_workers(of)?;
    let now = Instant::now();
    // Times before the origin of the clock could not be told.
    let origin = options.start.map_or(now, |start| start.min(now));
    let clock = Clock::new(origin);
    let start = options.start.map_or(clock.now() + START_AFTER, |start| {
        let after = start.saturating_duration_since(origin);
        u64::try_from(after.as_nanos()).unwrap_or(u64::MAX)
    });
    control.0.send_modify(|orders| orders.begins = Some(origin + Duration::from_nanos(start)));
    let (messages, inbox) = mpsc::channel();
    let names = Arc::new(NameRegistry::new(&program));
    // Who begins late may follow another that has had the share.
    let is_first = clock.now().saturating_sub(start) < LATE;
    let together = Arc::new(Together::new(&program, &options.share, is_first));
    let shared_values = Arc::new(SharedValues::new(program.initial_shared.clone()));
    let variables = (program.most_users() == 1).then(|| Arc::new(Mutex::new(Vec::new())));
    let (asked, failures, elapsed) = std::thread::scope(|scope| {
        for (index, event_loop) in (0..of).zip(&loops) {
            let mut orders = control.0.subscribe();
            // What was ordered before is to be obeyed too.
            orders.mark_changed();
            let assignment = Assignment {
                program: program.clone(),
                shared: shared.clone(),
                clock,
                index,
                of,
                share: options.share.clone(),
                stays: options.stays,
                own_files: options.own_files,
                start,
                messages: messages.clone(),
                names: names.clone(),
                together: together.clone(),
                shared_values: shared_values.clone(),
                orders,
                trace: trace.clone(),
                variables: variables.clone(),
                start_user: behaviour::start,
            };
            let failed = messages.clone();
            let thread = std::thread::Builder::new().name(format!("worker-{index}"));
            let started = thread.spawn_scoped(scope, move || work(assignment, event_loop, &failed));
            if let Err(error) = started {
                // The others end at once; what they have recorded by then is kept.
                control.abort();
                let reason = format!("its thread could not be started: {error}");
                let _ = messages.send(Message::Failed { worker: index, reason });
                break;
            }
        }
        drop((messages, trace));
        let (asked, failures) = collect(&inbox, &program, control, of, &mut events);
        (asked, failures, Duration::from_nanos(clock.now().saturating_sub(start)))
    });
    loops.into_iter().for_each(EventLoop::close);
    let variables =
        variables.and_then(|kept| kept.lock().map(|mut kept| std::mem::take(&mut *kept)).ok());
    let variables = variables.unwrap_or_default();
    Ok(Ended { elapsed, asked, failures, variables })
}

/// A worker's thread, which reports why if it breaks off.
fn work(assignment: Assignment, event_loop: &EventLoop, messages: &Sender<Message>) {
    let worker = assignment.index;
    let outcome = catch_unwind(AssertUnwindSafe(|| worker::run(assignment, event_loop)));
    let reason = match outcome {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error.to_string(),
        Err(_) => "its thread panicked: this is a bug in squall, please report it".to_owned(),
    };
    let _ = messages.send(Message::Failed { worker, reason });
}

/// Passes on what workers say until the last of them has ended.
fn collect(
    inbox: &Receiver<Message>,
    program: &Program,
    control: &Control,
    workers: u32,
    events: &mut impl FnMut(Event<'_>),
) -> (bool, Vec<String>) {
    let (mut asked, mut failures) = (false, Vec::new());
    // How many workers have done their share of each load.
    let mut done = vec![0; program.loads.len()];
    // Iterations that were begun of those that all users have together.
    let mut totals = TotalsBegun::default();
    let mut idle = vec![false; workers as usize];
    // Only now: what a caller does at the start can take seconds, in which short loads would begin and end.
    events(Event::Started);
    for message in inbox {
        match message {
            Message::Slice { slice, give_back } => {
                events(Event::Slice(&slice));
                // A worker that has ended needs no slice.
                let _ = give_back.send(slice);
            }
            Message::Log(lines) => events(Event::Log(&lines)),
            Message::Progress { second, begun } => {
                for (second, progress) in totals.add(second, begun) {
                    events(Event::Progress { second, progress: &progress });
                }
            }
            Message::StopAsked(graceful) => {
                asked = true;
                control.stop(graceful);
            }
            Message::LoadDone(load) => {
                done[usize::from(load)] += 1;
                let is_done = |load: &u16| done[usize::from(*load)] == workers;
                for (number, waiting) in (0..).zip(&program.loads) {
                    if waiting.after.contains(&load) && waiting.after.iter().all(is_done) {
                        control.release(number);
                    }
                }
            }
            Message::LoadEnded(load) => control.end_load(load),
            Message::Idle { worker, is_idle } => {
                let before = idle.iter().all(|is_idle| *is_idle);
                idle.get_mut(worker as usize).into_iter().for_each(|own| *own = is_idle);
                let all = idle.iter().all(|is_idle| *is_idle);
                if before != all {
                    events(Event::Idle(all));
                }
            }
            Message::Failed { worker, reason } => {
                failures.push(format!("worker {worker}: {reason}"));
                control.stop(program.graceful_stop);
            }
        }
    }
    (asked, failures)
}
