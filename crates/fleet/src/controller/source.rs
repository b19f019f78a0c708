//! A fleet as the source of a run's load.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use squall_engine::{Ended, Event, Program, RunOptions};
use squall_plan::value::Value;
use squall_plan::yaml::Loaded;
use squall_report::{Fleet, Machine, NodeReport, Run};
use squall_runner::{Io, LoadOrder, LoadSource, Options, PlanText, Values};

use crate::controller::events::Events;
use crate::controller::job::{job, plan_files, seal};
use crate::controller::kept::{Held, Kept};
use crate::controller::link::{Driven, Link};
use crate::controller::options::FleetOptions;
use crate::controller::session::{Outcome, Session};
use crate::protocol::io::{Bytes, RunCommand, Wanted};
use crate::protocol::keys::is_name;
use crate::protocol::messages::{Card, Job, Order};
use crate::protocol::{Controller, Lead};
use crate::seal::{NodeKey, RunKey};
use crate::transport::Connect;

/// How long it may take to let nodes go.
const RELEASE: Duration = Duration::from_secs(20);
/// How much longer than a load may take the server keeps what nodes fetch and record, for who joins late or resumes the run;
/// and how long, where the plan does not say how long the load takes. A controller that was lost deletes nothing.
const KEEP_AFTER: Duration = Duration::from_secs(24 * 3600);
const KEEP_UNKNOWN: Duration = Duration::from_secs(7 * 24 * 3600);
const KEEP_MOST: Duration = Duration::from_secs(366 * 24 * 3600);
/// Most letters of a plan's name in that of a run.
const PLAN_NAME: usize = 40;

/// Opens what a run is driven over: the controller's machine, with objects that are stored first.
type Open = dyn Fn(Opening) -> io::Result<Box<dyn Link>> + Send + Sync;

/// What a link is opened with.
pub(crate) struct Opening {
    /// Seals for nodes.
    pub key: RunKey,
    /// Objects by digest.
    pub objects: Vec<(String, Bytes)>,
    /// How long the server keeps them, and the run's seconds, if nobody deletes them.
    pub keep: Duration,
}

/// A load that is to begin: its link, what that is told, the job of its nodes, and the run's key.
type Begun = (Box<dyn Link>, RunCommand, Job, RunKey);

/// The nodes of a fleet, in the place of the workers of this process. Several loads may be run one after the other, as a
/// search does: nodes are called for each.
pub struct FleetSource {
    options: FleetOptions,
    open: Box<Open>,
    /// The run that it goes on with.
    resumed: Option<Kept>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    link: Option<Box<dyn Link>>,
    /// The folder in which the run is kept until it is released, which no other process writes meanwhile.
    folder: Option<(PathBuf, Held)>,
    /// It goes on with a run, and could not: another controller leads it, or the server was not there.
    is_refused: bool,
    /// What became of the last load.
    done: Option<Done>,
}

/// What became of a load, for its result.
struct Done {
    fleet: Fleet,
    nodes: Vec<NodeReport>,
    machines: Vec<Machine>,
}

impl FleetSource {
    /// Nodes at a server, which is connected to when the load is to begin.
    pub fn new(options: FleetOptions) -> FleetSource {
        let (connect, version) = (options.connect.clone(), options.version.clone());
        let open = move |opening: Opening| -> io::Result<Box<dyn Link>> {
            let sender = NodeKey::new().map_err(io::Error::other)?;
            let nonce = drawn().map_err(io::Error::other)?;
            let Opening { key, objects, keep } = opening;
            let seal = move |card: &Card| {
                key.seal_for(&card.key, &sender).map_err(|error| error.to_string())
            };
            let (host, version) = (host_name(), version.clone());
            let controller = Controller::new(Lead { nonce, host, version, seal: Box::new(seal) });
            let connect = Connect { keep, ..connect.clone() };
            let driven = Driven::start(controller, objects, connect);
            Ok(Box::new(driven.map_err(|error| io::Error::other(error.to_string()))?))
        };
        FleetSource::over(options, Box::new(open))
    }

    /// Over any link.
    pub(crate) fn over(options: FleetOptions, open: Box<Open>) -> FleetSource {
        FleetSource { options, open, resumed: None, state: Mutex::default() }
    }

    /// Goes on with a run that another process began and did not end, from its folder: the source, the plan, and the options
    /// that it was run with. Its setup is not run again.
    ///
    /// # Errors
    /// The folder has no such run, or another process goes on with it; in a sentence.
    pub fn resume(
        options: FleetOptions,
        folder: &Path,
    ) -> Result<(FleetSource, Loaded, Options), String> {
        let kept = Kept::read(folder)?;
        kept.key()?;
        let held = Kept::hold(folder)?;
        let job = &kept.job;
        let name = folder.join("plan.yaml").display().to_string();
        let text = PlanText { name, text: job.plan.clone(), folder: PathBuf::new() };
        let loaded =
            squall_runner::import(&text, &Values::default()).map_err(|error| error.text)?;
        let run = Options {
            target: job.target.clone(),
            seed: Some(job.seed),
            allow_exec: job.allow_exec,
            workers: job.workers,
            io: io_of(&job.io),
            ..Options::default()
        };
        let mut source = FleetSource::new(options);
        source.resumes(kept);
        source.state().folder = Some((folder.to_owned(), held));
        Ok((source, loaded, run))
    }

    /// Goes on with this run.
    pub(crate) fn resumes(&mut self, kept: Kept) {
        self.resumed = Some(kept);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can leave it half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the link of a load, what it is told to begin with, and the run's key.
    fn begin(&self, order: &LoadOrder<'_>) -> Result<Begun, String> {
        let keep = keep(order.program.length_s(), self.options.wait);
        let open = |key, objects| {
            (self.open)(Opening { key, objects, keep }).map_err(|error| error.to_string())
        };
        if let Some(kept) = &self.resumed {
            let (key, job) = (kept.key()?, kept.job.clone());
            let link = open(key.clone(), Vec::new())?;
            return Ok((link, RunCommand::Resume { run: kept.run.clone() }, job, key));
        }
        let files = plan_files(order.plan, order.program.scripts())?;
        let (key, job) = (RunKey::new().map_err(|error| error.to_string())?, job(order, &files));
        let sealed = seal(&job, files, &key)?;
        let run = run_name(&order.plan.name)?;
        let (lease, on_loss) = (nanos(self.options.lease), self.options.on_loss);
        if let Some(folder) = order.folder {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let kept = Kept::new(&run, &key, now.as_secs_f64(), (lease, on_loss), job.clone());
            Events::delete(folder);
            let held = kept.write(folder);
            let held = held.map_err(|error| format!("{}: {error}", folder.display()))?;
            self.state().folder = Some((folder.to_owned(), held));
        }
        let version = self.options.version.clone();
        let (job_object, files) = (String::new(), Vec::new());
        let whole = Order { run, version, shards: 0, lease, on_loss, job: job_object, files };
        let (whole, objects) = (sealed.in_order(whole), sealed.objects);
        let wanted = Wanted { zones: self.options.nodes.clone(), wait: nanos(self.options.wait) };
        let begin = RunCommand::Begin { order: Arc::new(whole), wanted };
        Ok((open(key.clone(), objects)?, begin, job, key))
    }

    fn lease(&self) -> u64 {
        self.resumed.as_ref().map_or(nanos(self.options.lease), |kept| kept.lease)
    }
}

impl LoadSource for FleetSource {
    /// Seconds come merged.
    fn workers(&self, _: &Program, _: &RunOptions) -> u32 {
        1
    }

    fn is_local(&self) -> bool {
        false
    }

    fn metrics(&self) -> Vec<String> {
        METRICS.map(str::to_owned).to_vec()
    }

    fn found(&self) -> Option<Vec<(String, Value)>> {
        let setup = &self.resumed.as_ref()?.job.setup;
        Some(setup.iter().map(|(name, value)| (name.clone(), Value::from_json(value))).collect())
    }

    fn run(&self, order: LoadOrder<'_>, on: &mut dyn FnMut(Event<'_>)) -> io::Result<Ended> {
        let (mut link, begin, job, key) = self.begin(&order).map_err(io::Error::other)?;
        link.command(begin);
        let lease = Duration::from_nanos(self.lease());
        let ended = (lease, &self.options.ended);
        let outcome = Session::new(&order, key, ended, &mut *link, on).run();
        // It is released whatever became of it.
        let mut state = self.state();
        (state.link, state.is_refused) = (Some(link), self.resumed.is_some() && outcome.is_err());
        drop(state);
        let Outcome { ended, nodes, cells } = outcome?;
        let on_loss = self.resumed.as_ref().map_or(self.options.on_loss, |kept| kept.on_loss);
        self.state().done = Some(Done {
            fleet: nodes.fleet(&cells, (self.lease(), on_loss)),
            nodes: nodes.reports(&cells),
            machines: nodes.machines(&job.io, job.workers),
        });
        Ok(ended)
    }

    fn complete(&self, run: &mut Run) {
        if let Some(Done { fleet, nodes, machines }) = self.state().done.take() {
            run.fleet = Some(fleet);
            run.nodes = nodes;
            run.meta.nodes = machines;
        }
        if let Some(kept) = &self.resumed {
            run.meta.started_unix = kept.started_unix;
        }
    }

    fn release(&self) -> Vec<String> {
        let (link, folder) = {
            let mut state = self.state();
            // Somebody may go on with it later.
            let folder = state.folder.take().filter(|_| !state.is_refused);
            (state.link.take(), folder)
        };
        let Some(link) = link else {
            // Nothing has begun: there is nothing to go on with.
            if self.resumed.is_none() {
                folder.iter().for_each(|(folder, _)| forget(folder));
            }
            return Vec::new();
        };
        link.command(RunCommand::Release);
        let is_done = link.end(RELEASE);
        if is_done {
            folder.iter().for_each(|(folder, _)| forget(folder));
            return Vec::new();
        }
        let why = "the server could not be told that the run is over: what it keeps of it goes by itself in some days, and nodes wait for some minutes before they take another run";
        vec![why.to_owned()]
    }
}

impl Drop for FleetSource {
    fn drop(&mut self) {
        // After a panic of the run.
        self.release();
    }
}

/// Nobody goes on with the run of a folder any more.
fn forget(folder: &Path) {
    Kept::delete(folder);
    Events::delete(folder);
}

/// The metrics of nodes and zones: see [`crate::record::facts`].
const METRICS: [&str; 11] = [
    "node_requests",
    "node_errors",
    "node_latency",
    "node_send_delay",
    "node_receive_delay",
    "node_cpu",
    "node_host_cpu",
    "node_users",
    "zone_requests",
    "zone_errors",
    "zone_latency",
];

/// How long the server keeps what belongs to a load of so many seconds, for whose nodes it is waited so long.
fn keep(length_s: Option<f64>, wait: Duration) -> Duration {
    // A load that is too long for a number of seconds has no end that matters.
    let length = length_s.and_then(|own| Duration::try_from_secs_f64(own).ok());
    let keep =
        length.map_or(KEEP_UNKNOWN, |own| own.saturating_add(wait).saturating_add(KEEP_AFTER));
    keep.min(KEEP_MOST)
}

/// A name that no other run has.
pub(crate) fn run_name(plan: &str) -> Result<String, String> {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    let name: String = plan.chars().map(letter).take(PLAN_NAME).collect();
    let name = format!("{}-{:012x}", name.trim_matches('-'), drawn()? >> 16);
    debug_assert!(is_name(name.trim_start_matches('-')));
    Ok(name.trim_start_matches('-').to_owned())
}

/// The name of this machine.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// A number that nobody else has.
fn drawn() -> Result<u64, String> {
    use ring::rand::{SecureRandom as _, SystemRandom};
    let mut bytes = [0; 8];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| "the system gives no random numbers".to_owned())?;
    Ok(u64::from_le_bytes(bytes))
}

/// How connections are read and written, by its name.
fn io_of(label: &str) -> Io {
    let all = [Io::Auto, Io::Epoll, Io::Uring];
    all.into_iter().find(|own| own.label() == label).unwrap_or_default()
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
