//! What `squall node` runs: joins a fleet, runs what it is called to, and leaves in order.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::card::{self, Chosen};
use super::files;
use super::job::{Fetch, Lender};
use super::load::Load;
use super::policy;
use super::spool::DiskSpool;
use crate::protocol::Node;
use crate::protocol::io::{Answer, Bytes, Input, LoadCommand, LoadEvent, Nanos, Output, REFUSES};
use crate::protocol::keys::{NAME, is_name};
use crate::protocol::messages::{Allows, Change};
use crate::protocol::ranges;
use crate::seal::NodeKey;
use crate::transport::drive::{Clocks, Tell};
use crate::transport::nats::Nats;
use crate::transport::{Connect, ConnectError, Driver, EVENTS_WAITING, Event, Transport};

/// How often it looks whether it shall end.
const LOOK: Duration = Duration::from_millis(50);
/// How long leaving in order may take: shares are handed over at a whole second, and what is in flight ends.
const LEAVING: Duration = Duration::from_secs(60);

/// How a node is run.
#[derive(Clone)]
pub struct NodeOptions {
    /// The server. The name in it is set to that of the node.
    pub connect: Connect,
    /// Its name; `None`: made of the machine's and the process's number.
    pub name: Option<String>,
    /// Where it is; empty: it does not say.
    pub zone: String,
    /// Its part of its zone's load, beside the others' weights; above 0.
    pub weight: f64,
    /// Whether it ends after one run.
    pub once: bool,
    /// For how long it waits for a run at most; `None`: until it is told to end.
    pub wait_for_run: Option<Duration>,
    /// What it may be used for.
    pub allows: Allows,
    /// Where it keeps what it recorded, each node in a folder of its name.
    pub spool: PathBuf,
    /// Most bytes that are kept there.
    pub spool_size: u64,
}

/// What a person wants of a node while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// It goes on.
    GoOn,
    /// It hands its shards over and leaves the fleet.
    Leave,
    /// It ends now.
    End,
}

/// Why a node could not be run, or ended before its time; in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(pub String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<ConnectError> for Error {
    fn from(error: ConnectError) -> Error {
        Error(error.to_string())
    }
}

/// Runs a node until its work is done or `asked` says that it shall end. `say` is given lines that a person reads.
///
/// # Errors
/// It cannot join: an option is wrong, the server cannot be used, or its name is taken. Or it was to end after one run, and
/// has refused that.
pub fn serve(
    options: NodeOptions,
    asked: impl Fn() -> Asked,
    say: impl Fn(&str) + Send + Sync + 'static,
) -> Result<(), Error> {
    let name = named(&options)?;
    let connect = Connect { name: name.clone(), ..options.connect.clone() };
    let temporary = std::env::temp_dir();
    files::delete_leftovers(&temporary);
    DiskSpool::sweep(&options.spool);
    let spool = DiskSpool::open(&options.spool.join(&name), options.spool_size).map_err(Error)?;
    let key = NodeKey::new().map_err(|error| Error(error.to_string()))?;
    let Allows { hosts, .. } = &options.allows;
    if hosts.is_empty() {
        say(
            "without --allow-hosts this node takes no run: start it with the hosts that it may send requests to",
        );
    }
    let (zone, weight) = (options.zone.as_str(), options.weight);
    let chosen = Chosen { name: &name, zone, weight, allows: &options.allows };
    let card = card::card(&chosen, key.public());
    let fetch = Arc::new(Server::new(connect.clone()));
    let allows = options.allows.clone();
    let lender = Lender { name: name.clone(), key, allows, fetch, temporary };
    let joined = format!("{name}, {} cores, zone {}", card.cores, shown(zone));
    let ending = Arc::new(Ending::default());
    let handle = Serving::new(lender, Arc::new(say), ending.clone());
    let tell = handle.tell.clone();
    ending.set_idle(true);
    let once = options.once;
    let driver = Driver::start(Node::new(card, once), connect, spool, handle.handler())?;
    // Nobody but this thread sets it.
    let _first = tell.set(driver.teller());
    ending.say(&format!("connected as {joined}"));
    let (most, waiting) = (options.wait_for_run, ending.clone());
    wait(driver, &ending, || match asked() {
        Asked::GoOn if most.is_some_and(|most| waiting.is_idle_for(most)) => Asked::Leave,
        asked => asked,
    });
    ending.outcome(once)
}

fn shown(zone: &str) -> &str {
    if zone.is_empty() { "(none)" } else { zone }
}

/// The node's name, and whether its other options make sense.
fn named(options: &NodeOptions) -> Result<String, Error> {
    let name = options.name.clone().unwrap_or_else(card::default_name);
    let expected = format!("expected at most {NAME} letters, digits, `-` and `_`");
    if !is_name(&name) {
        return Err(Error(format!("invalid name `{name}` of a node: {expected}")));
    }
    if !card::is_zone(&options.zone) {
        return Err(Error(format!("invalid zone `{}`: {expected}", options.zone)));
    }
    if !(options.weight.is_finite() && options.weight > 0.0) {
        return Err(Error(format!("invalid weight {}: expected a number above 0", options.weight)));
    }
    if !options.allows.hosts.is_empty() {
        policy::hosts(&options.allows).map_err(|why| Error(format!("--allow-hosts: {why}")))?;
    }
    Ok(name)
}

/// Waits for the end.
fn wait(driver: Driver, ending: &Ending, asked: impl Fn() -> Asked) {
    let mut leaves_until = None;
    while !driver.has_ended() {
        match asked() {
            Asked::GoOn => {}
            Asked::Leave if leaves_until.is_none() => {
                ending.is_leaving.store(true, Relaxed);
                ending.say("leaves the fleet: its shards are handed over");
                driver.tell(Input::Leave);
                leaves_until = Some(Instant::now() + LEAVING);
            }
            Asked::Leave => {}
            Asked::End => {
                ending.is_leaving.store(true, Relaxed);
                break;
            }
        }
        if leaves_until.is_some_and(|until| Instant::now() >= until) {
            ending.say("could not leave in order within a minute, and ends now");
            break;
        }
        std::thread::sleep(LOOK);
    }
    ending.is_done.store(driver.has_ended(), Relaxed);
    driver.stop();
}

/// Told of lines that a person reads.
type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// How a node has ended, and who is told.
#[derive(Default)]
struct Ending {
    say: OnceLock<Say>,
    has_run: AtomicBool,
    is_leaving: AtomicBool,
    is_done: AtomicBool,
    /// Since when it is in no run; `None`: it is in one, or has not joined.
    idle_since: Mutex<Option<Instant>>,
    last: Mutex<String>,
    /// The line that says why it has refused the last run; empty: it has not.
    refused: Mutex<String>,
}

impl Ending {
    fn say(&self, text: &str) {
        if let Some(say) = self.say.get() {
            say(text);
        }
    }

    fn set_idle(&self, is_idle: bool) {
        let mut since = self.idle_since.lock().unwrap_or_else(PoisonError::into_inner);
        *since = is_idle.then(Instant::now);
    }

    fn is_idle_for(&self, most: Duration) -> bool {
        let since = self.idle_since.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_some_and(|since| since.elapsed() >= most)
    }

    /// A line of the protocol's log.
    fn log(&self, text: String) {
        self.say(&text);
        if text.starts_with(REFUSES) {
            self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&text);
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// A machine that ended by itself before it was in any run could not join: it has said why. One that was started for
    /// one run has done nothing if it has refused that.
    fn outcome(&self, once: bool) -> Result<(), Error> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if once && !refused.is_empty() {
            return Err(Error(format!("this node ends after one run (--once), and {refused}")));
        }
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let went_on = self.has_run.load(Relaxed) || self.is_leaving.load(Relaxed);
        match self.is_done.load(Relaxed) && !went_on {
            true => Err(Error(last.clone())),
            false => Ok(()),
        }
    }
}

/// Passes on what the machine wants of this process.
struct Serving {
    load: Load,
    tell: Arc<OnceLock<Tell>>,
    ending: Arc<Ending>,
    run: String,
}

impl Serving {
    fn new(lender: Lender, say: Arc<dyn Fn(&str) + Send + Sync>, ending: Arc<Ending>) -> Serving {
        // Nobody but this sets it.
        let _first = ending.say.set(say);
        let tell: Arc<OnceLock<Tell>> = Arc::default();
        let (own, told) = (tell.clone(), ending.clone());
        let load = Load::new(Arc::new(lender), instant, move |event| {
            described(&event).iter().for_each(|text| told.say(text));
            // It is set as soon as the machine is driven, without which there is no load.
            own.wait().tell(Input::Load(event));
        });
        Serving { load, tell, ending, run: String::new() }
    }

    fn handler(mut self) -> impl FnMut(Output) + Send {
        move |output| match output {
            Output::Load(command) => self.command(command),
            Output::Log(text) => self.ending.log(text),
            _ => {}
        }
    }

    fn command(&mut self, command: LoadCommand) {
        let Serving { ending, run, .. } = self;
        match &command {
            LoadCommand::Prepare { order, .. } => {
                ending.has_run.store(true, Relaxed);
                ending.set_idle(false);
                run.clone_from(&order.run);
                ending.say(&format!("run {run}: prepares, of {} shards", order.shards));
            }
            LoadCommand::Start { shards, .. } => {
                ending.say(&format!("run {run}: starts with shards {}", listed(shards)));
            }
            LoadCommand::Reshare { from, shards } => {
                let shards = listed(shards);
                ending.say(&format!("run {run}: from second {from} on shards {shards}"));
            }
            LoadCommand::Fence => ending.say(&format!(
                "run {run}: the server has not answered for the lease, so nothing more is sent"
            )),
            LoadCommand::Resume { from, shards } => {
                let shards = listed(shards);
                ending.say(&format!("run {run}: goes on from second {from} with shards {shards}"));
            }
            LoadCommand::Change(Change::Stop { .. } | Change::Done | Change::Abort) => {
                ending.say(&format!("run {run}: was told to end"));
            }
            LoadCommand::Change(_) | LoadCommand::Known(_) | LoadCommand::Valid { .. } => {}
            LoadCommand::Forget => {
                ending.set_idle(true);
                ending.say(&format!("run {run}: is over"));
            }
        }
        self.load.on(command);
    }
}

fn listed(shards: &[u32]) -> String {
    if shards.is_empty() { "(none)".to_owned() } else { ranges::text(shards) }
}

/// What of a load's events a person reads.
fn described(event: &LoadEvent) -> Vec<String> {
    match event {
        LoadEvent::Ready => vec!["is ready".to_owned()],
        LoadEvent::Refused(why) => vec![format!("refuses the run: {why}")],
        LoadEvent::StopAsked => vec!["a step asks for the end of the run".to_owned()],
        LoadEvent::Ended { failures } => {
            let failed = failures.iter().map(|why| format!("failed: {why}"));
            std::iter::once("the load is done".to_owned()).chain(failed).collect()
        }
        LoadEvent::Second(_) | LoadEvent::Progress(_) | LoadEvent::Done { .. } => Vec::new(),
    }
}

fn instant(steady: Nanos) -> Instant {
    Clocks::new().instant(steady)
}

/// Fetches objects over a connection of its own, as whoever asks for them waits.
struct Server {
    connect: Connect,
    open: Mutex<Option<Opened>>,
}

struct Opened {
    runtime: Runtime,
    nats: Nats,
    /// What arrives on it nobody has asked for.
    _arrives: mpsc::Receiver<Event>,
}

impl Server {
    fn new(connect: Connect) -> Server {
        Server { connect, open: Mutex::new(None) }
    }

    fn open(&self) -> Result<Opened, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let (events, arrives) = mpsc::channel(EVENTS_WAITING);
        let nats = runtime.block_on(Nats::open(self.connect.clone(), events));
        let nats = nats.map_err(|error| error.to_string())?;
        Ok(Opened { runtime, nats, _arrives: arrives })
    }
}

impl Fetch for Server {
    fn object(&self, _: &str, digest: &str) -> Result<Bytes, String> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = match open.take() {
            Some(opened) => opened,
            None => self.open()?,
        };
        let answer = opened.runtime.block_on(opened.nats.get_object(digest.to_owned()));
        match answer {
            Answer::Object(bytes) => {
                *open = Some(opened);
                Ok(bytes)
            }
            Answer::Refused(why) => Err(why),
            other => Err(format!("the server did not hand it over in time ({other:?})")),
        }
    }

    fn done(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> NodeOptions {
        NodeOptions {
            connect: Connect::to("nats://127.0.0.1:1", "x"),
            name: Some("eu-1".to_owned()),
            zone: "eu".to_owned(),
            weight: 1.0,
            once: true,
            wait_for_run: None,
            allows: Allows { hosts: vec!["*".to_owned()], ..Allows::default() },
            spool: PathBuf::new(),
            spool_size: 1,
        }
    }

    #[test]
    fn options_that_make_no_sense_are_told() {
        assert_eq!(named(&options()).as_deref(), Ok("eu-1"));
        let wrong = |change: fn(&mut NodeOptions)| {
            let mut options = options();
            change(&mut options);
            named(&options).expect_err("wrong").to_string()
        };
        assert!(wrong(|own| own.name = Some("eu.1".to_owned())).contains("`eu.1`"));
        assert!(wrong(|own| own.zone = "a b".to_owned()).contains("`a b`"));
        assert!(wrong(|own| own.weight = 0.0).contains("above 0"));
        assert!(wrong(|own| own.weight = f64::NAN).contains("above 0"));
        assert!(wrong(|own| own.allows.hosts = vec!["a:80".to_owned()]).contains("--allow-hosts"));
    }

    /// A script that starts a node for one run learns by its exit code whether there was one.
    #[test]
    fn a_node_that_has_refused_its_only_run_has_failed() {
        let ending = Ending::default();
        ending.has_run.store(true, Relaxed);
        ending.log("is called to run shop-1".to_owned());
        assert_eq!(ending.outcome(true), Ok(()));
        ending.log(format!("{REFUSES} shop-1: the plan runs programs"));
        ending.log("is done with run shop-1".to_owned());
        let why = ending.outcome(true).expect_err("refused").to_string();
        assert!(why.contains("refuses run shop-1: the plan runs programs"), "{why}");
        assert_eq!(ending.outcome(false), Ok(()), "it may have driven others");
    }

    #[test]
    fn without_a_server_a_node_says_so_and_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut options = NodeOptions { spool: folder.path().to_owned(), ..options() };
        options.spool_size = 1 << 20;
        options.connect.patience = Duration::from_millis(1);
        let error = serve(options, || Asked::GoOn, |_| {}).expect_err("nobody there");
        assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
    }
}
