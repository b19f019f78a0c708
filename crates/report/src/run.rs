//! A run, finished or broken off, with everything that outputs are made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use squall_analysis::{
    Abort, Batches, Evidence, Outcome, Reason, Series, Shape, Steady, ThresholdResult, Totals,
    Validity, Warmup,
};
use squall_base::units;
use squall_metrics::{CheckCounts, HostMetrics, RequestStats, RowKind, TimeAccount};

use crate::document::Row;
use crate::html::RunCurves;
use crate::schema::document;

/// What is said of a run that the tester interrupted.
pub(crate) const INTERRUPTED: &str = "the run was interrupted: these are the results up to then";
/// Why a run failed that did not finish.
const NO_END: &str = "the run did not finish: squall was killed, or is still running";

document! {
    /// What is known about a run before it starts.
    Meta {
        /// Version of squall.
        squall: String,
        /// Name of the plan.
        plan: String,
        /// Its file, as it was asked for; null: the command line was the plan.
        file: Option<String>,
        /// Where requests with a relative URL go, as it was in this run; null: the plan has no target.
        target: Option<String>,
        /// The command line, with secrets masked.
        command: Vec<String>,
        /// Name of the machine.
        host: String,
        /// Operating system and kernel.
        os: String,
        /// The processor.
        cpu: String,
        /// Memory of the machine, in bytes.
        memory_bytes: u64,
        /// CPUs that squall may use.
        cpus: u64,
        /// Start, in seconds since 1970 (UTC).
        started_unix: f64,
        /// Worker threads.
        workers: u64,
        /// I/O backend: `io_uring` or `epoll`.
        io: String,
        /// Seed of everything random.
        seed: u64,
        /// The scenarios with their loads.
        scenarios: Vec<ScenarioMeta>,
        /// SHA-256 of the plan as it was run, and of its data files by name.
        digests: BTreeMap<String, String>,
        /// What the tester says of it, by name; `commit` is the commit of what is tested, where it is known.
        labels: BTreeMap<String, String>,
        /// Thresholds by which the run passes or fails.
        thresholds: Vec<String>,
        /// Whether numbers that are invalid fail the run.
        strict: bool,
        /// How the beginning is cut off: `auto`, `none`, or a number of seconds.
        warmup: String,
        /// From and to which second the plan's load is constant; null: never.
        constant_s: Option<(f64, Option<f64>)>,
    }

    /// What became of the setup, the load or the teardown.
    RunPhase {
        /// `setup`, `load` or `teardown`.
        phase: String,
        /// `done`, `failed`, `interrupted`, `aborted` by a threshold, or `not_run` because the run was
        /// interrupted before.
        end: String,
        /// Requests and programs that ended in it.
        requests: u64,
        /// Those of them that were errors.
        errors: u64,
        /// How long it took, in seconds.
        elapsed_s: f64,
        /// Its requests and programs, a row for each; none for the load, of which the result itself is.
        rows: Vec<Row>,
        /// The details of its errors, and lines that the plan logs; likewise.
        log: Vec<String>,
    }

    /// What became of the points that a feed sent while the run went on.
    FeedReport {
        /// Where to: kind and target, secrets masked.
        name: String,
        /// Points that arrived, as far as the receiver says.
        points_sent: u64,
        /// Points that did not.
        points_lost: u64,
        /// The first thing that went wrong, be it that it was repeated with success; null: nothing.
        error: Option<String>,
    }

    /// What the plan asks for of a scenario over time. Scenarios that share a load have parts by weight.
    PlannedLoad {
        /// `users`, or `arrivals` (a second); empty: unknown.
        unit: String,
        /// Seconds from the start of the load, ascending, and how many: straight from point to point, two at the
        /// same time are a jump, and after the last one the number stays.
        points: Vec<(f64, f64)>,
        /// The scenarios that have to end before it begins: its points count from then, which is seen by its first user.
        /// None: it begins with the load.
        after: Vec<String>,
        /// Whether it ends when its iterations are done, which is seen by its last user.
        until_done: bool,
    }

    /// A moment of the load that explains what is seen after it.
    Mark {
        /// Seconds after the start of the load.
        at_s: f64,
        /// `stage` (one begins, or the last is over), `paused`, `resumed`, `scaled` (somebody changed a load),
        /// `stopped`, `aborted` (both by somebody), or `threshold` (which ended the load).
        kind: String,
        /// The scenario; empty: all of them.
        scenario: String,
        /// In words.
        text: String,
    }

    /// A scenario.
    ScenarioMeta {
        /// Its name.
        name: String,
        /// Its load in words.
        load: String,
        /// The same as a curve.
        planned: PlannedLoad,
    }
}

impl FeedReport {
    /// What is lost, in a sentence; `None`: nothing.
    pub fn loss(&self) -> Option<String> {
        let FeedReport { name, points_sent, points_lost, error } = self;
        let all = units::count(points_sent.saturating_add(*points_lost));
        let why = error.as_ref().map_or(String::new(), |error| format!(": {error}"));
        let lost = units::count(*points_lost);
        (*points_lost > 0).then(|| format!("{name}: {lost} of {all} points were lost{why}"))
    }
}

/// Resources that squall itself used.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Generator {
    /// CPU time in user mode, in seconds.
    pub cpu_user_s: f64,
    /// CPU time in the kernel, in seconds.
    pub cpu_sys_s: f64,
    /// Largest resident memory, in bytes.
    pub peak_rss_bytes: u64,
    /// Requests written to the request log and to the samples, if there were any; one that is in both counts twice.
    pub requests_logged: Option<u64>,
    /// Requests left out of them because a queue was full.
    pub requests_not_logged: Option<u64>,
}

impl Generator {
    /// So many requests were written to a log, and so many left out, in all phases by now; `None`: there
    /// is no log.
    pub fn count_logged(&mut self, exchanges: Option<(u64, u64)>) {
        self.requests_logged = exchanges.map(|(written, _)| written);
        self.requests_not_logged = exchanges.map(|(_, left_out)| left_out);
    }
}

impl Meta {
    /// After how many seconds the last load ends by the plan; `None`: nobody knows before it has.
    pub fn load_ends_s(&self) -> Option<f64> {
        let ends = self.scenarios.iter().map(|scenario| {
            let PlannedLoad { points, after, until_done, .. } = &scenario.planned;
            // A load that has no end stays as it is after the last point.
            let (at, left) = points.last().filter(|_| after.is_empty() && !until_done)?;
            (*left == 0.0).then_some(*at)
        });
        ends.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
    }

    /// What the plan says about the load over time.
    pub fn shape(&self) -> Shape {
        let warmup = match self.warmup.as_str() {
            "none" => Warmup::None,
            text => text.parse().map_or(Warmup::Auto, Warmup::Fixed),
        };
        Shape {
            warmup,
            constant_from_s: self.constant_s.map(|(from, _)| from),
            constant_to_s: self.constant_s.and_then(|(_, to)| to),
        }
    }
}

/// Everything that outputs are made of. What is large is shared, so that a copy costs little.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// What was known before it started.
    pub meta: Meta,
    /// Length, in seconds.
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
    /// What was recorded.
    pub totals: Arc<Totals>,
    /// Results of its thresholds.
    pub threshold_results: Vec<ThresholdResult>,
    /// What the tester should know.
    pub warnings: Vec<String>,
    /// What became of what was sent elsewhere while it went on.
    pub feeds: Vec<FeedReport>,
    /// The first details of errors, and lines that the plan logs.
    pub log: Vec<String>,
    /// Resources that squall itself used.
    pub generator: Generator,
    /// Metrics of the host that squall ran on.
    pub host: HostMetrics,
    /// It second by second.
    pub series: Arc<Series>,
    /// It and its rows over time, as they are drawn; `None`: nobody asked for them.
    pub curves: Option<Arc<RunCurves>>,
    /// Its steady part.
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

    /// Whether it passed.
    pub fn passed(&self) -> bool {
        self.outcome().passed()
    }
}
