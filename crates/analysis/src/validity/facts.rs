//! What the rules of validity look at, and how far numbers can be trusted.

use squall_metrics::{HostMetrics, RequestStats};

use crate::odd_nodes::NodeFacts;
use crate::series::Series;
use crate::steady::Steady;
use crate::threshold::{Threshold, ThresholdResult};
use crate::totals::Totals;

/// How far the numbers of a run can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Validity {
    /// Nothing was found that changed them noticeably.
    Valid,
    /// Some of them may be off, or say less than they seem to: the reasons say which and by how much.
    Questionable,
    /// Some of them are off by so much that the target cannot be judged by them.
    Invalid,
}

impl Validity {
    /// Its name in results.
    pub fn label(self) -> &'static str {
        match self {
            Validity::Valid => "valid",
            Validity::Questionable => "questionable",
            Validity::Invalid => "invalid",
        }
    }
}

/// What is known of a fleet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FleetFacts {
    /// Cells (a shard in a second) of the run.
    pub cells: u64,
    /// Those that were driven.
    pub driven: u64,
    /// What was not driven, in words, the most first.
    pub gaps: Vec<String>,
    /// Workers of all nodes; 0: unknown.
    pub workers: u64,
    /// The nodes.
    pub nodes: Vec<NodeFacts>,
}

/// What is known about a run.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    pub totals: &'a Totals,
    /// The same second by second.
    pub series: &'a Series,
    /// All its requests together.
    pub all: &'a RequestStats,
    /// How long it took, in s.
    pub elapsed_s: f64,
    /// Samples of the host that squall ran on.
    pub host: &'a HostMetrics,
    /// What became of a fleet; `None`: one process ran it, or it is not known yet.
    pub fleet: Option<&'a FleetFacts>,
    /// Its steady part, if its load has one.
    pub steady: Option<Steady>,
    /// The run's thresholds: they say which percentiles were asked for.
    pub thresholds: &'a [Threshold],
    /// Their results, as far as they are known.
    pub results: &'a [ThresholdResult],
    /// Whether anybody sees its corrected latencies: where nobody does, what moves them alone is no more than a note.
    pub shows_corrected: bool,
}

impl Facts<'_> {
    /// How many workers there were. What a fleet recorded comes as that of one; `None`: nobody knows how many it has.
    pub(super) fn workers(&self) -> Option<u64> {
        match self.fleet {
            Some(fleet) => Some(fleet.workers).filter(|workers| *workers > 0),
            None => Some(self.totals.workers() as u64),
        }
    }

    /// The result of a threshold; `None`: it has windows, and nobody has looked at them.
    pub(super) fn result_of(&self, threshold: &Threshold) -> Option<ThresholdResult> {
        let known = self.results.iter().find(|own| own.text == threshold.text());
        let whole = || {
            threshold.window().is_none().then(|| threshold.evaluate(self.totals, self.elapsed_s))
        };
        known.cloned().or_else(whole)
    }
}
