//! What one who watches a run is told of each exchange (`squall try`): everything, copied. A run
//! under load has no watcher.

use std::sync::Arc;

use squall_measure::{ErrorKind, Phases};

/// Told of each exchange when it is over.
#[derive(Clone)]
pub struct Trace(Arc<dyn Fn(Exchange) + Send + Sync>);

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Trace")
    }
}

impl Trace {
    /// Calls this for each exchange.
    pub fn new(watch: impl Fn(Exchange) + Send + Sync + 'static) -> Self {
        Trace(Arc::new(watch))
    }

    pub(crate) fn tell(&self, exchange: Exchange) {
        (self.0)(exchange);
    }
}

/// Most bytes of a body that a watcher is shown.
pub(crate) const SHOWN_BODY: usize = 16 << 10;

/// An exchange, or a program that was run, as it was.
#[derive(Debug, Clone, Default)]
pub struct Exchange {
    /// Name under which it is counted.
    pub name: String,
    /// Where it went: `http://host:port`; empty for a program.
    pub origin: String,
    /// The request's head, and as much of the body as was made in memory, at most 16 KiB.
    pub request: Vec<u8>,
    /// Status code, 0 where none came; a program's exit code.
    pub status: i64,
    /// The answer's head as it came.
    pub head: Vec<u8>,
    /// The first 16 KiB of the answer's body, unpacked.
    pub body: Vec<u8>,
    /// Bytes of the whole body.
    pub body_bytes: u64,
    /// Whether the connection had been used before.
    pub reused: bool,
    /// Microseconds from the start to the last byte.
    pub latency_us: u64,
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
