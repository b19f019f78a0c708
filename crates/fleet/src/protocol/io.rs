//! What goes into the state machines of a fleet, and what comes out of them.
//!
//! Who drives a machine (the transport's loop in a process, the simulation in a test) performs its [`Output`]s and
//! answers each that has a [`Ticket`] by one [`Input::Done`]; outputs may be performed in any order and at the same time,
//! but those on one key in their order.

use std::sync::Arc;

use squall_engine::Progress;

use crate::protocol::messages::{Card, Cells, Change, Order, Second};
pub use crate::protocol::units::{Bytes, FleetTime, Nanos, Shards};

/// How the line of a node's log begins that says why it refuses a run.
pub const REFUSES: &str = "refuses run";

/// Tells the answers to outputs apart. A machine never uses one twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// The time at which a machine is told something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// By the steady clock of its process.
    pub steady: Nanos,
    /// By the system's clock, in nanoseconds since 1970. The controller's is the fleet's time; a node's may be off by hours.
    pub unix: FleetTime,
}

/// A state machine: the controller's, or a node's.
pub trait Machine {
    /// Takes note of something, and says what is to be done.
    fn on(&mut self, now: Now, input: Input, out: &mut Vec<Output>);

    /// When it wants a [`Input::Tick`], by the steady clock; `None`: it does not.
    fn wake_at(&self) -> Option<Nanos>;
}

/// What a machine is told.
#[derive(Debug, Clone)]
pub enum Input {
    /// What a former process of this node has left on its disk: messages of a run with numbers from 0 up to, not including,
    /// `numbers` (nodes alone, before everything else). It says as well that this process is dead: whoever drives a node
    /// holds a lock on its spool.
    Kept { run: String, boot: u64, numbers: u64 },
    /// The process shall end: the node hands its shards over and leaves (nodes alone).
    Leave,
    /// Time has passed: at or after what the machine asked for.
    Tick,
    /// The server can be reached (again). Watches and consumers begin anew by themselves.
    Connected,
    /// The server cannot be reached.
    Disconnected,
    /// A key that is watched has this value now; `None`: it was deleted. Values between two that came may be left out, and a
    /// watch may be late by seconds after a partition.
    Key { key: String, revision: u64, value: Option<Bytes> },
    /// A stored message, in the order in which the server stored them; every one of them, from the first. It comes again
    /// from the first after the controller has started anew.
    Message { sequence: u64, subject: String, payload: Bytes },
    /// Somebody asks, and waits for an [`Output::Reply`].
    Asked { subject: String, payload: Bytes, reply: String },
    /// A message that nobody stores.
    Heard { subject: String, payload: Bytes },
    /// What became of an output.
    Done { ticket: Ticket, answer: Answer },
    /// What the load on this node says (nodes alone).
    Load(LoadEvent),
    /// What the run asks for (the controller alone).
    Run(RunCommand),
}

/// What became of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Stored: a put's revision, or a stored message's sequence number.
    Stored(u64),
    /// The put's revision was not that of the key.
    Conflict,
    /// What a get found: the revision and the value.
    Value(Option<(u64, Bytes)>),
    /// What an asked process replied.
    Reply(Bytes),
    /// An object that was fetched.
    Object(Bytes),
    /// It took too long, or the server cannot be reached. Whether it was done is not known.
    Unknown,
    /// The server refused it, for good, in a sentence (a full disk, a missing permission).
    Refused(String),
}

/// A message that a node keeps until its run is released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its run.
    pub run: String,
    /// The process that made it.
    pub boot: u64,
    /// Its number among those of the process.
    pub number: u64,
    /// Its subject.
    pub subject: String,
    /// Its id.
    pub id: String,
    /// The message.
    pub payload: Bytes,
}

/// What a machine wants done.
#[derive(Debug, Clone)]
pub enum Output {
    /// Keeps a message on the node's disk; what has no room takes the place of the oldest that are written down.
    Keep(Kept),
    /// Reads a kept message again. Answered by [`Answer::Object`], or [`Answer::Refused`] if it is there no more.
    Recall { ticket: Ticket, run: String, boot: u64, number: u64 },
    /// Kept messages below this number may be deleted when room is needed.
    MayDrop { run: String, boot: u64, below: u64 },
    /// Deletes all kept messages of a run.
    Drop { run: String },
    /// Puts a value. `revision`: only if that is the key's; 0: only if there is none; `None`: in any case.
    Put { ticket: Ticket, key: String, value: Bytes, revision: Option<u64> },
    /// Reads a key directly, from the server that stores it.
    Get { ticket: Ticket, key: String },
    /// Deletes a key.
    Delete { ticket: Ticket, key: String },
    /// Publishes a message that is stored, once under its id.
    Publish { ticket: Ticket, subject: String, id: String, payload: Bytes },
    /// Sends a message that nobody stores, to whoever listens.
    Say { subject: String, payload: Bytes },
    /// Asks, and waits for at most so many nanoseconds.
    Ask { ticket: Ticket, subject: String, payload: Bytes, wait: Nanos },
    /// Answers who asked.
    Reply { reply: String, payload: Bytes },
    /// Stores an object under its digest, unless it is there.
    PutObject { ticket: Ticket, digest: String, bytes: Bytes },
    /// Fetches an object.
    GetObject { ticket: Ticket, digest: String },
    /// Watches the keys of a pattern (`*` is one word, `>` the rest) from their present values on.
    Watch { keys: String },
    /// Listens to a subject, for [`Input::Asked`] and [`Input::Heard`].
    Listen { subject: String },
    /// Makes the stream of a run (of the subjects `keys::stored(run)`) unless it is there, and reads it from its first message.
    Consume { run: String },
    /// Ends watching the keys of a run (`run.<R>.`), and listening to its subjects (`squall.<R>.`).
    Unwatch { run: String },
    /// Deletes what the server keeps of a run: its stream, its objects, its keys (`run.<R>.>`).
    Forget { run: String },
    /// Tells the load on this node (nodes alone).
    Load(LoadCommand),
    /// Tells the run (the controller alone).
    Run(RunEvent),
    /// A line for the log of the process.
    Log(String),
    /// The machine is done: its process may end.
    End,
}

impl Output {
    /// Whether it is asked for once and holds from then on: the transport sees to it for as long as that takes, and nobody
    /// waits for an answer.
    pub fn is_lasting(&self) -> bool {
        matches!(
            self,
            Output::Watch { .. }
                | Output::Listen { .. }
                | Output::Consume { .. }
                | Output::Forget { .. }
        )
    }
}

/// What the load on a node is told. Each comes at most once for a run, but for changes.
#[derive(Debug, Clone)]
pub enum LoadCommand {
    /// Opens what the order seals, checks it against what this node allows, fetches files, compiles the plan, looks names
    /// up. Answered by [`LoadEvent::Ready`] or [`LoadEvent::Refused`]. `key` is the order's key, sealed for this node,
    /// which has this number (from 1) of so many.
    Prepare { order: Arc<Order>, key: Bytes, number: u32, of: u32 },
    /// Starts the load at `at` of the node's steady clock, which may be past: second 0 begins then all the same.
    Start { at: Nanos, shards: Shards },
    /// Until then of the node's steady clock the load may go on. Whoever sleeps longer begins nothing when it wakes up, before
    /// it is told to go on or to stop.
    Valid { until: Nanos },
    /// How far others are with what shards have to do that it is given next.
    Known(Progress),
    /// From this second on the node has these shards.
    Reshare { from: u32, shards: Shards },
    /// Changes the load.
    Change(Change),
    /// Stops at once what is going on, because the lease has run out: nothing more is sent. What was recorded is handed over.
    Fence,
    /// Starts the load again that a fence stopped, at this second.
    Resume { from: u32, shards: Shards },
    /// The run is over: ends it if it goes on, and deletes its files and secrets.
    Forget,
}

/// What the load on a node says.
#[derive(Debug, Clone)]
pub enum LoadEvent {
    /// The plan can run here.
    Ready,
    /// It cannot, or this node does not allow it, in a sentence.
    Refused(String),
    /// How far it is with loads that have a number of iterations, as far as that has changed. Comes before the second.
    Progress(Progress),
    /// A second is over.
    Second(Second),
    /// A step, or an error with `on_error: stop_run`, asks for the end of the run on all nodes.
    StopAsked,
    /// Whether what its shards have to do is done, since the part that begins with this second; `None`: it is not, or not any
    /// more. The load goes on, as it may get others.
    Done { since: Option<u32> },
    /// The load is over: nothing more will be recorded. What failed, in sentences.
    Ended { failures: Vec<String> },
}

/// What a run asks the controller for.
#[derive(Debug, Clone)]
pub enum RunCommand {
    /// Calls nodes, waits for them, and starts the load. An order with 0 shards gets 4 for each core of the nodes.
    Begin { order: Arc<Order>, wanted: Wanted },
    /// Goes on with a run that another controller began.
    Resume { run: String },
    /// Changes the load: a pause or its end as soon as all nodes can know of it in time.
    Change(Change),
    /// The seconds until this one, and it, are written down: nodes need not keep them.
    Written { until: u32 },
    /// Everything was evaluated and written: nodes are let go, and the server forgets the run.
    Release,
}

/// The nodes that a run wants.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wanted {
    /// How many of each zone; one entry with an empty zone: of any.
    pub zones: Vec<(String, u32)>,
    /// How long to wait for them.
    pub wait: Nanos,
}

/// What a run is told by the controller.
#[derive(Debug, Clone)]
pub enum RunEvent {
    /// How the barrier stands, in a line that a person reads: nodes that are there, ready, missing; bytes fetched.
    Waiting(String),
    /// The run cannot begin, in a sentence that names who is missing or why. Nothing was sent.
    Refused(String),
    /// The load starts then, cut into so many shards, on these nodes.
    Starts { at: FleetTime, shards: u32, nodes: Vec<Card> },
    /// A node of the run, whose clock is measured (again): fleet time less its system's, and how well that is known, in
    /// nanoseconds.
    Clock { card: Box<Card>, offset: i64, error: Nanos },
    /// The nodes that live carry at most so many virtual users together, by their cards; `None`: one of them sets no limit.
    /// Told when that changes; at first there is no limit.
    Carries { users: Option<u64> },
    /// What a node recorded in a second; each comes once. In the order of nodes' seconds.
    Record { node: String, second: Second },
    /// No more is expected of the seconds until this one; what comes of them all the same is late.
    Whole { second: u32 },
    /// Something that a person is told of: a node was lost, came back, joined; shares were given away.
    Told { node: String, at: FleetTime, text: String },
    /// Nodes ask for the end of the run.
    StopAsked,
    /// Somebody ends the run from elsewhere, as who sits before it could.
    Interrupted,
    /// The load is done, or given up: the state of every cell, and what failed, in sentences.
    Ended { cells: Cells, failures: Vec<String> },
}
