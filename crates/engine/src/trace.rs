//! What one who watches a run is told of its exchanges (`squall try`, a log of requests): copies, made
//! only of exchanges that the watcher has picked.

use std::sync::Arc;

use squall_metrics::{ErrorKind, Phases};

/// Which exchanges a watcher is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Every one.
    All,
    /// Those that were errors.
    Failed,
    /// One in so many of each worker.
    OneIn(u64),
}

/// Told of exchanges when they are over, on the thread of the worker that made them.
#[derive(Clone)]
pub struct Trace {
    watch: Arc<dyn Fn(Exchange) + Send + Sync>,
    /// Which it is told of.
    pub(crate) which: Which,
    /// Most bytes that are copied of a request and of an answer's body; 0: neither of them, nor heads.
    pub(crate) bytes: usize,
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace").field("which", &self.which).field("bytes", &self.bytes).finish()
    }
}

impl Trace {
    /// Calls `watch` for each exchange that `which` picks. Of what was sent and of the answer's body
    /// at most so many bytes are copied; with 0 heads are left out too.
    pub fn new(
        which: Which,
        bytes: usize,
        watch: impl Fn(Exchange) + Send + Sync + 'static,
    ) -> Self {
        Trace { watch: Arc::new(watch), which, bytes }
    }

    pub(crate) fn tell(&self, exchange: Exchange) {
        (self.watch)(exchange);
    }
}

/// An exchange, or a program that was run, as it was.
#[derive(Debug, Clone, Default)]
pub struct Exchange {
    /// When it was begun, in µs after the start of the run.
    pub at_us: u64,
    /// The worker that made it.
    pub worker: u32,
    /// The user's scenario.
    pub scenario: String,
    /// The user's number.
    pub user: u64,
    /// The user's iteration, from 0.
    pub iteration: u64,
    /// Name under which it is counted.
    pub name: String,
    /// Where it went: `http://host:port`; empty for a program.
    pub origin: String,
    /// The request's head, and as much of the body as was made in memory.
    pub request: Vec<u8>,
    /// Bytes of all that.
    pub request_bytes: usize,
    /// Status code, 0 where none came; a program's exit code.
    pub status: i64,
    /// The answer's head as it came.
    pub head: Vec<u8>,
    /// The beginning of the answer's body, unpacked.
    pub body: Vec<u8>,
    /// Bytes of the whole body.
    pub body_bytes: u64,
    /// All bytes read.
    pub bytes_in: u64,
    /// All bytes written.
    pub bytes_out: u64,
    /// Whether the connection had been used before.
    pub reused: bool,
    /// From the start to the last byte, in ns.
    pub latency_ns: u64,
    /// Where they went.
    pub phases: Phases,
    /// What made it an error, and the detail.
    pub error: Option<(ErrorKind, String)>,
    /// Extracted values, in order: the variable, and its value or why there is none.
    pub extracted: Vec<(String, Result<String, String>)>,
    /// Checks, in order: the text, whether it is only a warning, and whether it held or why it
    /// could not be told.
    pub checks: Vec<(String, bool, Result<bool, String>)>,
}
