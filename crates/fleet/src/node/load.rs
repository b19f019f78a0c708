//! The load on a node: runs what it is told to, on threads of its own, and says what it recorded.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use squall_runner::{FinishedRun, Handle, RunParts, run_with};

use super::engine::NodeEngine;
use super::job::{self, Lender};
use super::shared::{Shared, Tell};
use super::sink::NodeSink;
use crate::protocol::io::{Bytes, LoadCommand, LoadEvent, Nanos};
use crate::protocol::messages::Order;

/// What the sink of a node is called, should it lose something.
const SINK: &str = "the fleet";

/// Runs loads, one after the other.
pub struct Load {
    lender: Arc<Lender>,
    tell: Arc<Tell>,
    /// When the steady clock was at 0 that starts are told by.
    instant: fn(Nanos) -> Instant,
    current: Option<Running>,
}

/// A run that was not forgotten yet, or whose thread still ends.
struct Running {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

impl Load {
    /// `tell` is called with what the load says, on its threads; `instant` knows the moments of the steady clock.
    pub(crate) fn new(
        lender: Arc<Lender>,
        instant: fn(Nanos) -> Instant,
        tell: impl Fn(LoadEvent) + Send + Sync + 'static,
    ) -> Load {
        Load { lender, tell: Arc::new(tell), instant, current: None }
    }

    /// Does what it is told, without waiting.
    pub fn on(&mut self, command: LoadCommand) {
        match command {
            LoadCommand::Prepare { order, key, number, of } => {
                let node = squall_engine::Node { number, of, name: self.lender.name.clone() };
                self.prepare(order, key, node);
            }
            command => {
                if let Some(running) = &self.current {
                    self.pass(&running.shared, command);
                }
            }
        }
    }

    fn pass(&self, shared: &Shared, command: LoadCommand) {
        match command {
            LoadCommand::Prepare { .. } => {}
            LoadCommand::Start { at, shards } => shared.start((self.instant)(at), &shards),
            LoadCommand::Valid { until } => shared.valid_until((self.instant)(until)),
            LoadCommand::Known(known) => shared.know(&known),
            LoadCommand::Reshare { from, shards } => shared.reshare(from, &shards),
            LoadCommand::Change(change) => shared.change(&change),
            LoadCommand::Fence => shared.fence(),
            LoadCommand::Resume { from, shards } => shared.resume(from, &shards),
            LoadCommand::Forget => shared.forget(),
        }
    }

    fn prepare(&mut self, order: Arc<Order>, key: Bytes, node: squall_engine::Node) {
        let former = self.current.take();
        former.iter().for_each(|former| former.shared.forget());
        let most_users = self.lender.allows.max_users;
        let shared = Arc::new(Shared::new(order.shards, most_users, self.tell.clone()));
        let (lender, own) = (self.lender.clone(), shared.clone());
        let thread = std::thread::Builder::new().name("load".to_owned()).spawn(move || {
            // Two loads at a time would be in each other's way.
            if let Some(former) = former {
                let _has_told_itself = former.thread.join();
            }
            let outcome = Outcome { shared: own.clone(), told: None };
            run(&lender, (&order, &key), node, &own, outcome);
        });
        match thread {
            Ok(thread) => self.current = Some(Running { shared, thread }),
            Err(error) => {
                shared.tell(LoadEvent::Refused(format!("no thread can be started: {error}")));
            }
        }
    }

    /// Whether a load is still running, or was not forgotten.
    pub fn is_busy(&self) -> bool {
        self.current.as_ref().is_some_and(|running| !running.shared.is_forgotten())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // Files go with the thread: it is waited for, and it ends at once.
        if let Some(Running { shared, thread }) = self.current.take() {
            shared.forget();
            let _has_told_itself = thread.join();
        }
    }
}

/// Says how a run ended, whatever became of its thread.
struct Outcome {
    shared: Arc<Shared>,
    /// `None`: the thread has broken off.
    told: Option<Result<Vec<String>, String>>,
}

impl Drop for Outcome {
    fn drop(&mut self) {
        let broke_off = "its thread panicked: this is a bug in squall, please report it";
        let told = self.told.take().unwrap_or_else(|| Err(broke_off.to_owned()));
        let event = match (told, self.shared.is_ready()) {
            (Err(why), false) => LoadEvent::Refused(why),
            (Ok(failures), false) => LoadEvent::Refused(failures.join("; ")),
            (Err(why), true) => LoadEvent::Ended { failures: vec![why] },
            (Ok(failures), true) => LoadEvent::Ended { failures },
        };
        self.shared.tell(event);
    }
}

fn run(
    lender: &Lender,
    (order, key): (&Order, &[u8]),
    node: squall_engine::Node,
    shared: &Arc<Shared>,
    mut outcome: Outcome,
) {
    let opened = job::open(lender, order, key, node);
    lender.fetch.done();
    let opened = match opened {
        Ok(opened) => opened,
        Err(why) => {
            outcome.told = Some(Err(why));
            return;
        }
    };
    shared.set_users(opened.users.clone());
    let sink = NodeSink::new(shared.clone(), opened.copies, opened.key.clone());
    let parts = RunParts {
        source: Box::new(NodeEngine(shared.clone())),
        monitors: Vec::new(),
        sinks: vec![(SINK.to_owned(), Box::new(sink))],
    };
    let finished = run_with(&opened.plan, &opened.options, parts, &Handle::default());
    // Gone before anybody hears of the end.
    drop(opened);
    outcome.told = Some(match finished {
        Ok(FinishedRun { run, .. }) => {
            let mut failures = run.incomplete.clone();
            failures.extend(shared.failures());
            Ok(failures)
        }
        Err(error) => Err(error.text),
    });
}
