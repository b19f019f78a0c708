//! What unit tests share: a worker on virtual time, whose users have no network. Time stands still while users do what
//! they can do, and then is what the worker waits for.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use squall_analysis::Totals;
use squall_load::Share;
use squall_metrics::{RequestStats, RowKind, Slice};
use squall_wire::{Clock, Io, LoopOwner, LoopWaker, Settings, Shared};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::LocalSet;

use crate::behaviour;
use crate::messages::{ErrorExample, LogLine, Message, Orders};
use crate::program::{CompileOptions, Program, compile};
use crate::record::NameRegistry;
use crate::shared_values::SharedValues;
use crate::together::Together;
use crate::trace::Trace;
use crate::worker::{Assignment, StartUser, Worker};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const S: u64 = 1_000 * MS;

/// A request that fails before anything is sent: no URL begins so.
pub(crate) const FAILS: &str = "{set: {bad: 'nowhere://x'}}, {get: '${bad}', name: bad}";

/// The program of a plan without a target.
pub(crate) fn program(plan: &str) -> Arc<Program> {
    let options = squall_plan::vars::LoadOptions::default();
    let loaded = squall_plan::yaml::load_str("plan", plan, "".as_ref(), &options);
    let plan = loaded.expect("a good plan").plan;
    Arc::new(compile(&plan, &CompileOptions::default()).expect("a good plan"))
}

/// The program of one scenario of this load and these steps, and what else the scenario says.
pub(crate) fn scenario(load: &str, steps: &str, more: &str) -> Arc<Program> {
    program(&format!("scenarios: {{a: {{load: {{{load}}}, steps: [{steps}], {more}}}}}"))
}

/// A worker whose time only the test moves.
pub(crate) struct Bench {
    pub worker: Rc<Worker>,
    inbox: Receiver<Message>,
    local: LocalSet,
    runtime: Runtime,
}

/// What a worker has handed over and asked for.
#[derive(Default)]
pub(crate) struct Handed {
    pub slices: Vec<Slice>,
    pub totals: Totals,
    pub log: Vec<String>,
    pub examples: Vec<ErrorExample>,
    /// How long what was in flight might take, if the end of the run was asked for.
    pub stop_asked: Option<Duration>,
    pub loads_done: Vec<u16>,
}

impl Bench {
    pub(crate) fn new(program: Arc<Program>) -> Bench {
        Bench::with(program, behaviour::start, None)
    }

    pub(crate) fn with(
        program: Arc<Program>,
        start_user: StartUser,
        trace: Option<Trace>,
    ) -> Bench {
        Bench::one_of(1, program, start_user, trace)
    }

    /// The first one of so many workers.
    pub(crate) fn one_of(
        of: u32,
        program: Arc<Program>,
        start_user: StartUser,
        trace: Option<Trace>,
    ) -> Bench {
        let (messages, inbox) = mpsc::channel();
        let (_, orders) = watch::channel(Orders::default());
        let settings = Settings { io: Io::Epoll, ..Settings::default() };
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let assignment = Assignment {
            shared: Shared::new(settings, program.destinations()).expect("a network"),
            clock: Clock::new(Instant::now()),
            index: 0,
            of,
            share: Share::all(),
            stays: false,
            own_files: false,
            start: 0,
            messages,
            names: Arc::new(NameRegistry::new(&program)),
            together: Arc::new(Together::new(&program, &Share::all(), true)),
            shared_values: Arc::new(SharedValues::new(program.initial_shared.clone())),
            orders,
            trace,
            variables: None,
            start_user,
            program,
        };
        let worker = {
            let _within = runtime.enter();
            Worker::new(assignment, &LoopWaker::new().expect("a waker")).expect("a worker")
        };
        Bench { worker: Rc::new(worker), inbox, local: LocalSet::new(), runtime }
    }

    /// Runs what there is to do up to a time, which it is then.
    pub(crate) fn run_to(&self, until: u64) {
        self.runtime.block_on(self.local.run_until(async {
            loop {
                let now = self.worker.clock.now();
                while !self.worker.advance(now) {
                    settle().await;
                }
                settle().await;
                let next = self.worker.next_deadline().max(now);
                if next > until {
                    break;
                }
                self.worker.clock.set(next);
            }
            self.worker.clock.set(until);
        }));
    }

    /// Runs a future while the worker's tasks go on.
    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(self.local.run_until(future))
    }

    /// Ends the record now, and gives what was handed over.
    pub(crate) fn finish(&self) -> Handed {
        self.worker.recorder.finish(self.worker.clock.now());
        let mut handed = Handed::default();
        for message in self.inbox.try_iter() {
            match message {
                Message::Slice { slice, .. } => {
                    handed.totals.add(&slice);
                    handed.slices.push(*slice);
                }
                Message::Log(lines) => {
                    for LogLine { text, example, .. } in lines {
                        handed.log.push(text);
                        handed.examples.extend(example);
                    }
                }
                Message::StopAsked(graceful) => handed.stop_asked = Some(graceful),
                Message::LoadDone(load) => handed.loads_done.push(load),
                Message::LoadEnded(_)
                | Message::Progress { .. }
                | Message::Idle { .. }
                | Message::Failed { .. } => {}
            }
        }
        handed
    }
}

impl Handed {
    /// The groups, or iterations, of a name: how many ended, how many of them failed, and how many were cut off.
    pub(crate) fn spans(&self, kind: RowKind, name: &str) -> (u64, u64, u64) {
        self.row(kind, name, |stats| (stats.count, stats.errors, stats.cut_off))
    }

    /// How many requests of a name failed before they were sent.
    pub(crate) fn failed(&self, name: &str) -> u64 {
        self.row(RowKind::Request, name, |stats| stats.not_sent)
    }

    fn row<T: Default>(&self, kind: RowKind, name: &str, look: impl Fn(&RequestStats) -> T) -> T {
        let row = self.totals.of_kind(kind).find(|(key, _)| key.name == name);
        row.map(|(_, stats)| look(stats)).unwrap_or_default()
    }
}

/// Lets all tasks do what they can do without the time going on.
async fn settle() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}
