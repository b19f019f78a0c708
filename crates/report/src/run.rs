//! A run, finished or broken off, with everything that outputs are made of.

use std::sync::Arc;

use squall_analysis::{
    Abort, Batches, Evidence, Outcome, Reason, Series, Steady, ThresholdResult, Totals, Validity,
};
use squall_base::units;
use squall_metrics::{CheckCounts, HostMetrics, RequestStats, RowKind, TimeAccount};

use crate::curves::RunCurves;
use crate::document::RunPhase;
use crate::fleet::Fleet;
use crate::generator::Generator;
use crate::meta::{FeedReport, Mark, Meta};
use crate::node_report::NodeReport;
use crate::profile::Profile;

/// What is said of a run that the tester interrupted.
pub(crate) const INTERRUPTED: &str = "the run was interrupted: these are the results up to then";
/// Why a run failed that did not finish.
const NO_END: &str = "the run did not finish: squall was killed, or is still running";

/// Everything that outputs are made of. What is large is shared, so that a copy costs little.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// What was known before it started.
    pub meta: Meta,
    pub elapsed_s: f64,
    /// Whether it ended in an orderly way; otherwise squall was killed, or is still running.
    pub finished: bool,
    /// Whether the tester interrupted it.
    pub interrupted: bool,
    /// Its setup, load and teardown, as far as it has them.
    pub phases: Vec<RunPhase>,
    /// What could not be done or written: a setup or teardown that failed, a worker that broke off.
    pub incomplete: Vec<String>,
    /// The threshold that ended its load, and when.
    pub aborted: Option<Abort>,
    /// Its stages, pauses, and what people changed.
    pub marks: Vec<Mark>,
    /// Whether the plan stopped it: a step, or an error with `on_error: stop_run`.
    pub stopped_by_plan: bool,
    pub totals: Arc<Totals>,
    /// Results of its thresholds.
    pub threshold_results: Vec<ThresholdResult>,
    /// What the tester should know.
    pub warnings: Vec<String>,
    /// What became of what was sent elsewhere while it went on.
    pub feeds: Vec<FeedReport>,
    /// A profile of the target that was taken while it went on.
    pub profile: Option<Arc<Profile>>,
    /// The first details of errors, and lines that the plan logs.
    pub log: Vec<String>,
    /// Resources that squall itself used.
    pub generator: Generator,
    /// What each node of a fleet did; none: one process ran it.
    pub nodes: Vec<NodeReport>,
    /// What became of the shares of a fleet's load; `None`: one process ran it. This and the nodes have to be there before
    /// the run is evaluated, which judges them.
    pub fleet: Option<Fleet>,
    /// Metrics of the host that squall ran on.
    pub host: HostMetrics,
    /// It second by second.
    pub series: Arc<Series>,
    /// It and its rows over time, as they are drawn; `None`: nobody asked for them.
    pub curves: Option<Arc<RunCurves>>,
    pub steady: Option<Steady>,
    /// The latencies of its steady part, in batches.
    pub batches: Option<Arc<Batches>>,
    /// Why its numbers are questionable or invalid, the most severe reason first.
    pub reasons: Vec<Reason>,
}

impl Run {
    /// Whether a load ran, so that there is something to judge.
    pub fn has_numbers(&self) -> bool {
        self.totals.workers() > 0
    }

    /// How far its numbers can be trusted, if it has any.
    pub fn validity(&self) -> Validity {
        squall_analysis::worst(&self.reasons)
    }

    /// Adds the warnings that follow from what was recorded.
    pub fn warn(&mut self) {
        let counters = self.totals.counters();
        let mut warn = |count: u64, text: &str| {
            if count > 0 {
                self.warnings.push(text.replace("{}", &units::count(count)));
            }
        };
        warn(
            counters.data_exhausted,
            "{} virtual users stopped because a data file had no more rows",
        );
        warn(
            self.generator.requests_not_logged.unwrap_or(0),
            "{} requests were left out of the request log or the samples because a queue was full: virtual users do not wait for it",
        );
        warn(counters.log_dropped, "{} lines did not fit into the run's log");
        warn(
            counters.names_beyond_limit,
            "{} requests count under `other`: there were more names than the plan's `max_names`; give such requests a `name`, or raise the number",
        );
        warn(
            u64::from(self.totals.metrics_overflowed()),
            "the plan records more than 1,000 metrics, each a name with its tags: further ones count as `other`; use tags with fewer values",
        );
        warn(
            self.totals.nameless(),
            "{} requests and groups are missing in the totals, because the record that has their names was lost",
        );
        warn(
            self.totals.refused(),
            "{} slices of a worker and second that had been counted already were left out",
        );
    }

    /// Time accounting of its virtual users.
    pub fn time_account(&self) -> TimeAccount {
        self.totals.time_account(self.elapsed_s)
    }

    /// Whether it passed, and if not, why.
    pub fn outcome(&self) -> Outcome {
        let mut checks: Vec<(String, CheckCounts)> = Vec::new();
        for (key, counts) in self.totals.checks() {
            match checks.iter_mut().find(|(name, _)| *name == key.name) {
                Some((_, own)) => own.merge(&counts),
                None => checks.push((key.name.clone(), counts)),
            }
        }
        let mut requests = RequestStats::default();
        self.totals.of_kind(RowKind::Request).for_each(|(_, own)| requests.merge(own));
        let mut incomplete = self.incomplete.clone();
        incomplete.extend((!self.finished).then(|| NO_END.to_owned()));
        squall_analysis::outcome(&Evidence {
            thresholds: &self.threshold_results,
            all: &self.totals.all(),
            requests: &requests,
            checks: &checks,
            counters: self.totals.counters(),
            has_metrics: self.totals.metrics().any(|(key, _)| !key.is_of_monitor()),
            aborted: self.aborted.as_ref(),
            stopped_by_plan: self.stopped_by_plan,
            load_started: self.has_numbers(),
            incomplete: &incomplete,
            teardown_lost: self.teardown_lost(),
        })
    }

    /// What became of a teardown that was interrupted or not run.
    fn teardown_lost(&self) -> Option<&'static str> {
        let teardown = self.phases.iter().find(|phase| phase.phase == "teardown")?;
        match teardown.end.as_str() {
            "interrupted" => Some("the teardown was interrupted"),
            "not_run" => Some("the teardown was not run"),
            _ => None,
        }
    }

    pub fn passed(&self) -> bool {
        self.outcome().passed()
    }
}
