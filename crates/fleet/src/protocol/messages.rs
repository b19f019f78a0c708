//! What controller and nodes tell each other. All of it is input like any other: bounded, and checked when it is read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use crate::protocol::units::Shards;
use crate::protocol::units::{Bytes, FleetTime, Nanos};

/// What a node says of itself when it joins. A field that is missing is as in the default, and one that is not known is left
/// out: so a node of another version is named with its version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Card {
    /// Its name: letters, digits, `-` and `_`; unique in the fleet.
    pub node: String,
    /// Drawn at each start of the process.
    pub boot: u64,
    /// squall's version, with its commit.
    pub version: String,
    /// Name of the machine.
    pub host: String,
    /// Operating system and kernel of the machine.
    pub os: String,
    /// Its processor.
    pub cpu: String,
    /// CPUs that it may use.
    pub cores: u32,
    /// Memory of the machine, in bytes.
    pub memory_bytes: u64,
    /// Its limit of open files.
    pub open_files: u64,
    /// Local ports toward one destination.
    pub ports: u64,
    /// Where it is, such as `eu`; empty: it does not say.
    pub zone: String,
    /// Its part of its zone's load, beside the others' weights.
    pub weight: f64,
    /// Requests a second of a core, measured when it joined; 0: not measured.
    pub calibration: f64,
    /// Public key (an xkey of NATS) for which it is sealed what this node alone may read.
    pub key: String,
    /// What it may be used for.
    pub allows: Allows,
}

/// What a node may be used for. Empty hosts: for nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Allows {
    /// Hosts that it sends requests to: names, `*.example.com`, addresses, networks (`10.0.0.0/8`), `*`.
    pub hosts: Vec<String>,
    /// Whether a plan may run programs.
    pub exec: bool,
    /// The folder in which a plan may read files of the node's own.
    pub files: Option<String>,
    /// Most virtual users.
    pub max_users: Option<u64>,
}

/// A run, as nodes are told of it. Nothing secret is in it that is not sealed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The run: letters, digits, `-` and `_`.
    pub run: String,
    /// squall's version that a node must have.
    pub version: String,
    /// Into how many shards the load is cut; 0 in what a run asks for: 4 for each core of the nodes.
    pub shards: u32,
    /// How long a node may be without the server, in nanoseconds.
    pub lease: Nanos,
    /// What becomes of the shards of a node that is lost.
    pub on_loss: OnLoss,
    /// The job: a serialized [`Job`], encrypted with the order's key; an object, by its digest.
    pub job: String,
    /// Files of the plan: objects, encrypted with the order's key.
    pub files: Vec<SentFile>,
}

/// A file of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentFile {
    /// SHA-256 of the file, in hexadecimal.
    pub digest: String,
    /// The object that is it, encrypted.
    pub object: String,
    /// Its length, in bytes.
    pub bytes: u64,
}

/// What becomes of the shards of a node that is lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnLoss {
    /// Others take them over.
    #[default]
    Redistribute,
    /// They are not driven any more.
    Continue,
    /// The run ends.
    Abort,
}

/// What a node runs, sealed on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The plan as it is run, in YAML. Names of files in it are digests of [`Order::files`], or names on the node.
    pub plan: String,
    /// Digest of each file, by the name that it has in the plan.
    pub files: BTreeMap<String, String>,
    /// The scripts that the plan calls, by the names that they have in it.
    #[serde(default)]
    pub scripts: BTreeMap<String, SentScript>,
    /// Base URL in place of the plan's target.
    pub target: Option<String>,
    /// Seed of everything random.
    pub seed: u64,
    /// Whether the plan may run programs.
    pub allow_exec: bool,
    /// How connections are read and written: `auto`, `io_uring` or `epoll`.
    pub io: String,
    /// Workers of a node; `None`: as many as it sees fit.
    pub workers: Option<u32>,
    /// What the setup found: variables and their values as JSON.
    pub setup: Vec<(String, serde_json::Value)>,
    /// Which copies of requests are wanted; `None`: none.
    pub exchanges: Option<WantedCopies>,
}

/// A script with all that it imports and opens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentScript {
    /// Its own file: one of these.
    pub file: String,
    /// Digest of each file, by its path below the root of the script, with `/`.
    pub files: BTreeMap<String, String>,
}

/// Copies of requests that somebody wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedCopies {
    /// `all`, `failed`, or `1/N`.
    pub which: String,
    /// Most bytes of each body.
    pub bytes: u64,
    /// Whether groups are wanted as well.
    pub groups: bool,
}

/// The shards that a node has, from a second on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Grows by one with each part of the node.
    pub epoch: u32,
    /// The process that has it.
    pub boot: u64,
    /// How often the process had been fenced, as far as the controller knew. One that was fenced since does not follow it.
    pub fences: u32,
    /// From this second on.
    pub from: u32,
    /// Why it is not what the part before was.
    pub why: Why,
    /// Which.
    #[serde(with = "crate::protocol::ranges::as_text")]
    pub shards: Shards,
    /// How far the users of loads with a number of iterations are in shards that are new to it, as `codec::progress_text`
    /// writes it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub progress: String,
}

/// Why a node's share changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It was given shards.
    Given,
    /// Shards were moved to another node.
    Moved,
    /// It has fenced itself.
    Fenced,
    /// Nothing was heard of it for its lease.
    Lost,
    /// Its process ended, and another one of its name took its place.
    Restarted,
    /// It left.
    Left,
}

/// What is a node's in a run. One key a node, which the controller alone writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The controller that gave it.
    pub leader: u64,
    /// The process that has it; another one of the same name has not.
    pub boot: u64,
    /// Its number among the nodes of the run, from 1, and how many the run wanted. One that takes the place of another that
    /// has left, or refused, has that one's number; one that joins beyond those has a higher one.
    pub number: u32,
    pub of: u32,
    /// The order's key, sealed for the node.
    pub key: Vec<u8>,
    /// When second 0 begins; `None`: not decided yet, prepare.
    pub start: Option<FleetTime>,
    /// What it has and had, each part until the next one.
    pub parts: Vec<Part>,
}

/// What a node is called to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The run.
    pub run: String,
}

/// Who leads a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leader {
    /// Drawn by the controller.
    pub nonce: u64,
    /// Grows with each renewal.
    pub renewal: u64,
    /// Name of its machine.
    pub host: String,
}

/// How far a node is in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// In no run.
    #[default]
    Idle,
    /// Called: waits for its assignment, or prepares.
    Called,
    /// The plan can run.
    Ready,
    /// It cannot, or may not.
    Refused,
    /// Drives its shards.
    Running,
    /// Has stopped by itself, as its lease ran out; waits for shards.
    Fenced,
    /// Drives its shards, and wants to leave.
    Leaving,
    /// The load is done.
    Ended,
    /// Has left the run.
    Left,
    /// Has forgotten the run.
    Released,
}

/// What a node says of itself in a run, stored: whenever something of it changes, and often enough to renew its lease.
/// It is all that it has to say, so that one that is lost does no harm.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sign {
    /// The process.
    pub boot: u64,
    /// Grows with each sign of the process.
    pub serial: u64,
    /// How far it is.
    pub phase: Phase,
    /// Why it refuses, in a sentence.
    pub refused: String,
    /// Its last parts that it follows: epoch, and the second from which on it does, which may be later than wanted.
    pub holds: Vec<(u32, u32)>,
    /// How often it was fenced.
    pub fences: u32,
    /// From this second on it has driven nothing, since the last fence.
    pub fenced: u32,
    /// How many messages with numbers it has published.
    pub numbers: u64,
    /// Whether a step asked for the end of the run.
    pub stop_asked: bool,
    /// Whether what it has to do since the last part that it holds is done: it stays, as it may get more.
    pub is_done: bool,
    /// What failed, in sentences.
    pub failures: Vec<String>,
    /// Former processes of the node, which are dead, and how many messages each has left on the disk.
    pub former: Vec<(u64, u64)>,
    /// Fleet time less the time of its system's clock, in nanoseconds.
    pub offset: i64,
    /// How well the offset is known, in nanoseconds.
    pub error: u64,
}

/// What a node says four times a second in a run (once a second otherwise), to whoever listens.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// The process.
    pub boot: u64,
    /// The run that it is in; empty: none.
    pub run: String,
    /// How far it is.
    pub phase: Phase,
    /// How many shards it has.
    pub shards: u32,
    /// Fleet time, by its reckoning; 0: it does not know.
    pub time: FleetTime,
    /// Fleet time less the time of its system's clock, in nanoseconds.
    pub offset: i64,
    /// How well the offset is known, in nanoseconds.
    pub error: u64,
}

/// What the controller answers who asks for the time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// Fleet time.
    pub time: FleetTime,
    /// So many seconds are written down, from the first.
    pub written: u32,
}

/// What the controller asks a node to publish again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resend {
    /// The node.
    pub node: String,
    /// Its process, or a former one.
    pub boot: u64,
    /// Numbers of messages: first and last of each range.
    pub numbers: Vec<(u64, u64)>,
    /// Which of its requests this is: a part of the ids under which they are published, as the server takes those that it
    /// knows for copies.
    pub round: u64,
}

/// A change of the load, on all nodes at the same time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The loads stand still from the beginning of this second of the run on, or as soon as all nodes can know of it: the
    /// controller writes the second that holds.
    Pause { from: u32 },
    /// They go on from the beginning of this second on, likewise, where they stood when the pause began: what is due in a
    /// second follows from the changes alone, whoever drives it and whenever a node has heard of them.
    GoOn { from: u32 },
    /// A load (by its number) has another shape, a load of the plan model as YAML, from so many nanoseconds after the
    /// start of the load on.
    Shape { load: u16, shape: String, after: Nanos },
    /// The end in order: what is in flight may take so many nanoseconds.
    Stop { graceful: Nanos },
    /// The end because all is done: what the controller itself says, once no node has anything left.
    Done,
    /// The end at once.
    Abort,
}

/// The changes of a run so far. One key, which the controller alone writes: a node that was cut off sees all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Changes(pub Vec<Change>);

/// What a node recorded in a second.
#[derive(Debug, Clone, PartialEq)]
pub struct Second {
    /// The second of the load, from 0.
    pub second: u32,
    /// The shards that it drove in it.
    pub shards: Shards,
    /// Whether it drove them from the second's beginning to its end. Without shards: whether it carries none of those that it
    /// has (`--max-users`).
    pub is_whole: bool,
    /// More of a second that was published before.
    pub late: u32,
    /// What was recorded: see `record`.
    pub record: Bytes,
}

/// What became of the cells of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cells {
    /// Shards of the run.
    pub shards: u32,
    /// Seconds of the run.
    pub seconds: u32,
    /// Cells that were driven.
    pub driven: u64,
    /// What was not: together with `driven` these are all cells.
    pub missing: Vec<Missing>,
}

/// Cells that were not driven, or not from the beginning of their second to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Of these shards.
    pub shards: Shards,
    /// The first second.
    pub from: u32,
    /// The last second.
    pub to: u32,
    /// The node that had them, or had them before; empty: nobody.
    pub node: String,
    /// Why, in words.
    pub why: String,
}
