//! A run, finished or broken off, with everything that outputs are made of.

use std::collections::BTreeMap;
use std::io;

use squall_analysis::{
    Abort, Batches, BatchesBuilder, Evidence, Facts, Outcome, Reason, Series, SeriesBuilder, Shape,
    Steady, Threshold, ThresholdResult, Totals, Validity, Warmup,
};
use squall_base::units;
use squall_metrics::{CheckCounts, HostMetrics, Slice, TimeAccount};

use crate::document::Row;
use crate::html::{CurvesBuilder, RunCurves};
use crate::recording::Recording;
use crate::schema::document;

document! {
    /// What is known about a run before it starts.
    Meta {
        /// Version of squall.
        squall: String,
        /// Name of the plan.
        plan: String,
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

/// Everything that outputs are made of.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// What was known before it started.
    pub meta: Meta,
    /// Length, in seconds.
    pub elapsed_s: f64,
    /// Whether it ended in an orderly way; otherwise the generator was killed.
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
    pub totals: Totals,
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
    pub series: Series,
    /// It and its rows over time, as they are drawn; `None`: nobody asked for them.
    pub curves: Option<RunCurves>,
    /// Its steady part.
    pub steady: Option<Steady>,
    /// The latencies of its steady part, in batches.
    pub batches: Option<Batches>,
    /// Why its numbers are questionable or invalid, the most severe reason first.
    pub reasons: Vec<Reason>,
}

impl Run {
    /// Evaluates it from its totals and from everything recorded, of which little is held: the series, the steady
    /// part, thresholds, and the validity of its numbers. Thresholds that cannot be parsed are ignored: they were
    /// reported when the plan was read.
    ///
    /// # Errors
    /// The recording cannot be read. Everything that needs no series is there nevertheless.
    pub fn evaluate(&mut self, recording: &mut Recording) -> io::Result<()> {
        let series = self.totals.series();
        let read = self.read_series(recording, series, drop);
        let judged = self.judge(recording);
        read.and(judged)
    }

    /// The same, and in the same pass the curves that a page draws; they are not free, and nothing else needs them.
    ///
    /// # Errors
    /// As of [`Run::evaluate`]; the curves are of what could be read.
    pub fn evaluate_to_draw(&mut self, recording: &mut Recording) -> io::Result<()> {
        let (series, mut curves) = (self.totals.series(), self.curves_of(&self.totals));
        let read = self.read_series(recording, series, |slice| curves.add(&slice));
        self.curves = Some(curves.finish());
        let judged = self.judge(recording);
        read.and(judged)
    }

    /// Evaluates it from everything recorded alone, its totals too. The counts are read before all else: of which
    /// rows there are series, and how fine these are, depends on them.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub(crate) fn read(&mut self, recording: &mut Recording) -> io::Result<()> {
        let (counted, mut totals) = (counts(recording)?, Together::default());
        self.read_series(recording, counted.series(), |slice| totals.add(slice))?;
        self.hold(totals.finish());
        self.judge(recording)
    }

    /// The same with the curves that a page draws.
    ///
    /// # Errors
    /// As of [`Run::read`].
    pub(crate) fn read_to_draw(&mut self, recording: &mut Recording) -> io::Result<()> {
        let (counted, mut totals) = (counts(recording)?, Together::default());
        let mut curves = self.curves_of(&counted);
        self.read_series(recording, counted.series(), |slice| {
            curves.add(&slice);
            totals.add(slice);
        })?;
        self.curves = Some(curves.finish());
        self.hold(totals.finish());
        self.judge(recording)
    }

    /// Takes totals that were read; a run that was broken off was as long as they are.
    fn hold(&mut self, totals: Totals) {
        if !self.finished {
            self.elapsed_s = f64::from(totals.seconds());
        }
        self.totals = totals;
    }

    /// What computes the curves of a run with these totals.
    fn curves_of(&self, totals: &Totals) -> CurvesBuilder {
        let seconds = if self.finished { self.elapsed_s.ceil() as u32 } else { totals.seconds() };
        CurvesBuilder::new(seconds, totals.rows().count() + totals.checks().count())
    }

    /// Reads everything recorded for the series; `also` sees each slice.
    fn read_series(
        &mut self,
        recording: &mut Recording,
        mut series: SeriesBuilder,
        mut also: impl FnMut(Slice),
    ) -> io::Result<()> {
        let read = recording.replay_held(|slice| {
            series.add(&slice);
            also(slice);
        });
        self.series = series.finish();
        if let Some(reason) = read? {
            self.warnings.push(format!("slices.bin: {reason}; what follows it is left out"));
        }
        Ok(())
    }

    /// What follows from totals and series, and the batches of the steady part.
    fn judge(&mut self, recording: &mut Recording) -> io::Result<()> {
        let (totals, elapsed_s) = (&self.totals, self.elapsed_s);
        self.steady = squall_analysis::steady(totals, &self.series, elapsed_s, self.meta.shape());
        let batches = match self.steady {
            Some(steady) => {
                let mut batches = BatchesBuilder::new(&self.series, steady);
                let read = recording.replay_latencies(|slice| batches.add(slice));
                self.batches = Some(batches.finish());
                read
            }
            None => Ok(None),
        };
        let thresholds = self.meta.thresholds.iter().filter_map(|text| Threshold::parse(text).ok());
        let thresholds: Vec<Threshold> = thresholds.collect();
        let results = thresholds.iter().map(|threshold| threshold.evaluate(totals, elapsed_s));
        self.threshold_results = results.collect();
        self.reasons = squall_analysis::assess(&Facts {
            totals,
            series: &self.series,
            all: &totals.all(),
            elapsed_s,
            host: &self.host,
            steady: self.steady,
            thresholds: &thresholds,
        });
        batches.map(drop)
    }

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
        if !self.finished {
            self.warnings.push(
                "the generator was killed: these are the results up to the last second on disk"
                    .to_owned(),
            );
        }
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
        squall_analysis::outcome(&Evidence {
            thresholds: &self.threshold_results,
            all: &self.totals.all(),
            checks: &checks,
            expressions_failed: self.totals.counters().expressions_failed,
            aborted: self.aborted.as_ref(),
            stopped_by_plan: self.stopped_by_plan,
            incomplete: &self.incomplete,
        })
    }

    /// Whether it passed.
    pub fn passed(&self) -> bool {
        self.outcome().passed()
    }
}

/// Slices that are added to totals together.
const SLICES_TOGETHER: usize = 16;

/// Totals of slices that come one by one, and are added several at a time.
#[derive(Default)]
struct Together {
    totals: Totals,
    slices: Vec<Slice>,
}

impl Together {
    fn add(&mut self, slice: Slice) {
        self.slices.push(slice);
        if self.slices.len() == SLICES_TOGETHER {
            self.totals.add_together(&self.slices);
            self.slices.clear();
        }
    }

    fn finish(mut self) -> Totals {
        self.totals.add_together(&self.slices);
        self.totals
    }
}

/// What a recording counted, without any times.
fn counts(recording: &mut Recording) -> io::Result<Totals> {
    let mut totals = Totals::new();
    recording.replay_counts(|slice| {
        totals.add(slice);
    })?;
    Ok(totals)
}
