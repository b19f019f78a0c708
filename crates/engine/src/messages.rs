//! What workers and the run that started them tell each other.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use squall_load::Share;
use squall_metrics::{ErrorKind, Slice};
use squall_plan::model::Load;

use crate::profile::Shape;
use crate::progress::{Begun, Progress};

pub(crate) enum Message {
    /// How far users are with iterations that are counted, at the end of the second whose slice follows.
    Progress {
        second: u32,
        begun: Begun,
    },
    /// A second is over.
    Slice {
        slice: Box<Slice>,
        give_back: Sender<Box<Slice>>,
    },
    Log(Vec<LogLine>),
    /// A step or an error asks for the end of the run, and what is in flight may take so long.
    StopAsked(Duration),
    /// A worker's share of a load that others wait for is done.
    LoadDone(u16),
    /// The first user of a load that ends together has done its iterations.
    LoadEnded(u16),
    /// A worker has done what its share has, or got something to do again.
    Idle {
        worker: u32,
        is_idle: bool,
    },
    /// A worker could not be started, or its thread broke off.
    Failed {
        worker: u32,
        reason: String,
    },
}

/// What workers are told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Orders {
    pub command: Command,
    /// Loads that have ended before their time.
    pub ended: Vec<u16>,
    /// Loads that waited for others, which are done.
    pub released: Vec<u16>,
    /// When the load begins, once that is known.
    pub begins: Option<Instant>,
    /// The loads stand still.
    pub paused: bool,
    /// After this nothing begins, unless it is put off before.
    pub valid_until: Option<Instant>,
    /// Changes of loads and shares, all that there were.
    pub changes: Vec<ChangeOrder>,
}

#[derive(Debug, Clone)]
pub(crate) struct ChangeOrder {
    /// When, in nanoseconds after the start of the load.
    pub after: u64,
    pub kind: ChangeKind,
}

#[derive(Debug, Clone)]
pub(crate) enum ChangeKind {
    /// The shape of a load, and what of the plan model it was made of.
    Shape { load: u16, shape: Shape, of: Box<Load> },
    /// The loads stand still from then on.
    Pause,
    /// They go on.
    GoOn,
    /// The share of the whole process, and how far those are whom it takes over.
    Share { share: Share, progress: Arc<Progress> },
}

/// Whether and how the run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Command {
    #[default]
    Run,
    /// Begin nothing new; what is in flight may take so many nanoseconds.
    Stop {
        graceful: u64,
    },
    Abort,
}

/// A line of the run's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// The worker that wrote it.
    pub worker: u32,
    /// The second of the run in which it was written.
    pub second: u32,
    /// The text, its secrets masked and its control characters escaped.
    pub text: String,
    /// Whether it says what failed: it is neither a line that the plan logs nor a warning.
    pub is_failure: bool,
    /// The error that it is an example of.
    pub example: Option<ErrorExample>,
}

/// An example of an error: the first few of each kind and row, and then one in a thousand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorExample {
    pub scenario: String,
    /// The name of the request.
    pub name: String,
    /// The kind of error.
    pub kind: ErrorKind,
    /// The status of the response; 0: none came.
    pub status: u16,
    /// Which error of its kind and row it is, of those of its worker, from 1.
    pub number: u64,
    /// The beginning of the response's body, its secrets masked and its control characters escaped; empty: there was
    /// none, or nobody kept it.
    pub excerpt: String,
}
