//! What happens in a run besides its seconds.

use std::sync::Arc;

use squall_analysis::Abort;
use squall_engine::{ErrorExample, Exchange, Measured, SeenGroup};
use squall_metrics::RowKey;
use squall_report::Run;

use crate::phase::Phase;

/// Something that has happened.
#[derive(Debug, Clone)]
pub struct Event {
    /// When, in seconds after the run began (its setup, where it has one).
    pub at_s: f64,
    /// What.
    pub kind: EventKind,
}

/// What has happened.
#[derive(Debug, Clone)]
pub enum EventKind {
    /// Something about the plan that may not mean what was meant, as lines with its place.
    Warning(String),
    /// A phase begins.
    PhaseBegan(Phase),
    /// A phase is over.
    PhaseEnded {
        /// Which.
        phase: Phase,
        /// Why it failed, if so.
        failed: Option<String>,
    },
    /// A phase that the plan has is not begun, because the run was stopped or aborted before.
    NotRun(Phase),
    /// The plan's load reaches the next of its stages.
    Stage {
        /// The scenario; empty: the load that scenarios share by weight.
        scenario: String,
        /// Which stage begins, from 1; one more than there are: the last is over.
        stage: usize,
        /// How many there are.
        stages: usize,
        /// When, in seconds after the start of the load, without pauses.
        starts_s: f64,
    },
    /// Somebody asked for the end of the phase; what is in flight may finish.
    StopAsked(Phase),
    /// A threshold with `abort_on_fail` is violated: the load ends, in order.
    Aborted(Abort),
    /// Somebody asked for the end at once.
    AbortAsked(Phase),
    /// The load is paused.
    Paused,
    /// The load goes on.
    Resumed,
    /// Somebody changed a load.
    Scaled {
        /// The scenario; empty: the load that scenarios share by weight.
        scenario: String,
        /// To what, such as `200 users` or `50/s`.
        to: String,
        /// The same as a number: users, or arrivals a second.
        level: f64,
    },
    /// The first error of a kind in a row; its example follows in the log.
    FirstError {
        /// What bears the name: a request, a resource or a program.
        key: Arc<RowKey>,
        /// The kind, as in results.
        kind: &'static str,
    },
    /// A line of the run's log, its secrets masked and its control characters escaped: one that the plan logs,
    /// or an example of an error.
    Log {
        /// Where it was written.
        phase: Phase,
        /// The worker.
        worker: u32,
        /// The second of that phase.
        second: u32,
        /// The line.
        text: String,
        /// The error that it is an example of.
        example: Option<ErrorExample>,
    },
    /// Something about who generates the load: how far its preparation is, or that a node was lost, is back or has joined.
    Notice {
        /// The node; empty: all of them.
        node: String,
        /// What, in a line.
        text: String,
    },
    /// A part of the result is lost, in a sentence.
    Error(String),
    /// A request and its response. Only sinks that want them are told.
    Exchange(SeenExchange),
    /// Values that a script has measured. Only sinks that want them are told.
    Measured {
        /// In which phase; its times count from the start of that.
        phase: Phase,
        /// The values, with their tags.
        measured: Arc<Measured>,
    },
    /// A group that is over. Only sinks that want them are told.
    Group {
        /// In which phase; its times count from the start of that.
        phase: Phase,
        /// The group.
        group: Arc<SeenGroup>,
    },
    /// The load is evaluated, and its result is known; the teardown follows.
    Evaluated(Arc<Run>),
}

/// A request and its response, with the secrets that are in them (`exchange.secrets`): who shows them has to
/// mask those.
#[derive(Debug, Clone)]
pub struct SeenExchange {
    /// In which phase; its times count from the start of that.
    pub phase: Phase,
    /// The exchange.
    pub exchange: Arc<Exchange>,
}
