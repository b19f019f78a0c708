//! What one who watches a run is told of its exchanges (`squall try`, a log of requests): copies, made
//! only of exchanges that the watcher has picked.

mod exchange;
mod measured;
mod spares;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use squall_plan::secrets::Secrets;

pub use exchange::{Exchange, ExchangeCopy, Extracted};
pub use measured::Measured;
pub use spares::Spares;

/// Which exchanges a watcher is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeFilter {
    All,
    /// Those that were errors.
    Failed,
    /// One in so many of each worker.
    OneIn(u64),
    /// None of them: only other things are watched.
    None,
}

/// Told of a line that the plan logs.
type LogWatch = Arc<dyn Fn(&str) + Send + Sync>;
/// Told of a group that is over.
type GroupWatch = Arc<dyn Fn(SeenGroup) + Send + Sync>;
/// Told of what a script has measured.
type MeasuredWatch = Arc<dyn Fn(Measured) + Send + Sync>;
/// Told how many copies were lost.
type LostWatch = Arc<dyn Fn(u64) + Send + Sync>;

/// Told of exchanges when they are over, on the thread of the worker that made them.
#[derive(Clone)]
pub struct Trace {
    watch: Arc<dyn Fn(Arc<Exchange>) + Send + Sync>,
    /// Told of the lines that the plan logs, when it does.
    log: Option<LogWatch>,
    /// Told of groups when they are over.
    group: Option<GroupWatch>,
    /// Told of what scripts measure.
    measured: Option<MeasuredWatch>,
    /// Told of copies that were lost elsewhere.
    lost: Option<LostWatch>,
    /// How many groups have a number.
    groups: Arc<AtomicU64>,
    /// Copies that may be written over.
    pub(crate) spares: Spares,
    /// Which it is told of.
    pub(crate) which: ExchangeFilter,
    /// Most bytes that are copied of a request and of a response's body; 0: neither of them, nor heads.
    pub(crate) bytes: usize,
    /// Whether it is told what was extracted and checked.
    pub(crate) observations: bool,
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace").field("which", &self.which).field("bytes", &self.bytes).finish()
    }
}

impl Trace {
    /// Calls `watch` for each exchange that `which` picks. Of what was sent and of the response's body
    /// at most so many bytes are copied; with 0 heads are left out too.
    pub fn new(
        which: ExchangeFilter,
        bytes: usize,
        watch: impl Fn(Arc<Exchange>) + Send + Sync + 'static,
    ) -> Self {
        Trace {
            watch: Arc::new(watch),
            log: None,
            group: None,
            measured: None,
            lost: None,
            groups: Arc::default(),
            spares: Spares::default(),
            which,
            bytes,
            observations: false,
        }
    }

    /// The same, told what was extracted of each exchange and checked, as well.
    pub fn with_observations(self) -> Self {
        Trace { observations: true, ..self }
    }

    /// The same, with copies that were given back to write over.
    pub fn with_spares(self, spares: &Spares) -> Self {
        Trace { spares: spares.clone(), ..self }
    }

    /// The same, told of the lines that the plan logs as well, with their secrets masked and control
    /// characters escaped. The details of errors, which a run's log has too, are not among them.
    pub fn with_log(self, log: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Trace { log: Some(Arc::new(log)), ..self }
    }

    /// The same, told of the plan's groups as well, when they are over: after the exchanges in them. What is in groups
    /// is counted as far as `which` picks it. A page with what it loads is such a group, too.
    pub fn with_groups(self, group: impl Fn(SeenGroup) + Send + Sync + 'static) -> Self {
        Trace { group: Some(Arc::new(group)), ..self }
    }

    /// The same, told of whatever scripts measure, as soon as it is.
    pub fn with_measured(self, measured: impl Fn(Measured) + Send + Sync + 'static) -> Self {
        Trace { measured: Some(Arc::new(measured)), ..self }
    }

    /// The same, told how many copies were lost where they were made, if that was elsewhere.
    pub fn with_lost(self, lost: impl Fn(u64) + Send + Sync + 'static) -> Self {
        Trace { lost: Some(Arc::new(lost)), ..self }
    }

    /// Who is told of groups.
    pub(crate) fn group(&self) -> Option<&(dyn Fn(SeenGroup) + Send + Sync)> {
        self.group.as_deref()
    }

    /// Who is told of what scripts measure.
    pub(crate) fn measured(&self) -> Option<&(dyn Fn(Measured) + Send + Sync)> {
        self.measured.as_deref()
    }

    /// A number for a group, if somebody is told of groups.
    pub(crate) fn next_group(&self) -> Option<u64> {
        self.group.is_some().then(|| self.groups.fetch_add(1, Relaxed))
    }

    /// Who is told of log lines.
    pub(crate) fn log(&self) -> Option<&(dyn Fn(&str) + Send + Sync)> {
        self.log.as_deref()
    }

    /// Hands over an exchange that was picked.
    pub fn tell(&self, exchange: Arc<Exchange>) {
        (self.watch)(exchange);
    }

    /// Hands over a group that is over, if anybody is told of groups.
    pub fn tell_group(&self, group: SeenGroup) {
        self.group.iter().for_each(|watch| watch(group.clone()));
    }

    /// So many copies of exchanges and groups were lost before they came here.
    pub fn lose(&self, copies: u64) {
        self.lost.iter().for_each(|lost| lost(copies));
    }

    /// What of exchanges is wanted: which, most bytes of each message, and whether groups are as well.
    pub fn wanted(&self) -> (ExchangeFilter, usize, bool) {
        (self.which, self.bytes, self.group.is_some())
    }
}

/// What a plan itself says that a sample came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatedResponse {
    /// Its status: a number, or another text.
    pub status: String,
    /// What it says beside that.
    pub reason: String,
    /// Bytes of the text that was looked at.
    pub bytes: u64,
    /// What is said of what it failed; empty: it failed nothing.
    pub failure: String,
}

/// A group that a user has gone through, as it was.
#[derive(Debug, Clone, Default)]
pub struct SeenGroup {
    /// When it was begun, in µs after the start of the run.
    pub at_us: u64,
    /// The user's scenario; `setup` and `teardown` in those.
    pub scenario: String,
    pub user: u64,
    pub name: String,
    /// What no output may show of it, as far as it is known by then: who shows it has to mask those.
    pub secrets: Arc<Secrets>,
    /// How long it took, in ns.
    pub duration_ns: u64,
    /// Whether something in it failed.
    pub failed: bool,
    /// Whether its user left it before its end.
    pub is_left: bool,
    /// What was sampled in it.
    pub tally: Tally,
    /// Its number, if it is one sample: that of its parts.
    pub one_sample: Option<u64>,
    /// Whether it is a page with what it loads: one sample, of which one part is the page itself, and the others are resources.
    pub is_page: bool,
    /// The number of the group around it that is one sample.
    pub part_of: Option<u64>,
    /// What the last text said of itself that was looked at in it, if nothing was sampled in it, or it is one sample.
    pub answer: Option<StatedResponse>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Requests, programs, and groups in which there was neither.
    pub samples: u64,
    /// Those of them that failed.
    pub failed: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// Those of the samples that are parts of another.
    pub parts: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Tally) {
        self.samples += other.samples;
        self.failed += other.failed;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.parts += other.parts;
    }

    /// What has come since there was so much.
    pub(crate) fn since(self, before: Tally) -> Tally {
        Tally {
            samples: self.samples - before.samples,
            failed: self.failed - before.failed,
            bytes_in: self.bytes_in - before.bytes_in,
            bytes_out: self.bytes_out - before.bytes_out,
            parts: self.parts - before.parts,
        }
    }
}
