//! A run, finished or broken off, with everything that outputs are made of.

use std::io;

use serde::{Deserialize, Serialize};
use squall_analysis::{
    Batches, BatchesBuilder, Facts, Reason, Series, Shape, Steady, Threshold, ThresholdResult,
    Totals, Validity, Warmup,
};
use squall_base::units;
use squall_metrics::{HostMetrics, TimeAccount};

use crate::recording::Recording;

/// What is known about a run before it starts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Meta {
    /// Version of squall.
    pub squall: String,
    /// Name of the plan.
    pub plan: String,
    /// Operating system and kernel.
    pub os: String,
    /// CPUs that squall may use.
    pub cpus: u64,
    /// Start, in seconds since 1970 (UTC).
    pub started_unix: f64,
    /// Worker threads.
    pub workers: u64,
    /// I/O backend: `io_uring` or `epoll`.
    #[serde(default)]
    pub io: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Thresholds by which the run passes or fails.
    pub thresholds: Vec<String>,
    /// How the beginning is cut off: `auto`, `none`, or a number of seconds.
    #[serde(default)]
    pub warmup: String,
    /// From and to which second the plan's load is constant; `None`: never.
    #[serde(default)]
    pub constant_s: Option<(f64, Option<f64>)>,
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

/// Resources that squall itself used.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Generator {
    /// CPU time in user mode, in seconds.
    pub cpu_user_s: f64,
    /// CPU time in the kernel, in seconds.
    pub cpu_sys_s: f64,
    /// Largest resident memory, in bytes.
    pub peak_rss_bytes: u64,
    /// Requests written to the request log, if there was one.
    #[serde(default)]
    pub requests_logged: Option<u64>,
    /// Requests left out of that log because its queue was full.
    #[serde(default)]
    pub requests_not_logged: Option<u64>,
}

impl Generator {
    /// So many requests were written to a log, and so many left out, in all sections by now; `None`: there
    /// is no log.
    pub fn count_logged(&mut self, exchanges: Option<(u64, u64)>) {
        self.requests_logged = exchanges.map(|(written, _)| written);
        self.requests_not_logged = exchanges.map(|(_, left_out)| left_out);
    }
}

/// What came of a setup or a teardown.
#[derive(Debug, Clone, Default)]
pub struct SectionResult {
    /// Whether it was run to its end, and no request failed.
    pub passed: bool,
    /// Length, in seconds.
    pub elapsed_s: f64,
    /// What was recorded.
    pub totals: Totals,
    /// The details of its errors, and lines that the plan logs.
    pub log: Vec<String>,
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
    /// Whether the plan stopped it: a step, or an error with `on_error: stop_run`.
    pub stopped_by_plan: bool,
    /// What came of its setup, if it has one.
    pub setup: Option<SectionResult>,
    /// What came of its teardown, likewise.
    pub teardown: Option<SectionResult>,
    /// What was recorded.
    pub totals: Totals,
    /// Results of its thresholds.
    pub threshold_results: Vec<ThresholdResult>,
    /// What the tester should know.
    pub warnings: Vec<String>,
    /// The first details of errors, and lines that the plan logs.
    pub log: Vec<String>,
    /// Resources that squall itself used.
    pub generator: Generator,
    /// Metrics of the host that squall ran on.
    pub host: HostMetrics,
    /// It second by second.
    pub series: Series,
    /// Its steady part.
    pub steady: Option<Steady>,
    /// The latencies of its steady part, in batches.
    pub batches: Option<Batches>,
    /// Why its numbers are questionable or invalid, the most severe reason first.
    pub reasons: Vec<Reason>,
}

impl Run {
    /// Evaluates it from its totals and from everything recorded, which is read twice and of which little is
    /// held: the series, the steady part, thresholds, and the validity of its numbers. Thresholds that cannot
    /// be parsed are ignored: they were reported when the plan was read.
    ///
    /// # Errors
    /// The recording cannot be read. Everything that needs no series is there nevertheless.
    pub fn evaluate(&mut self, recording: &mut Recording) -> io::Result<()> {
        let mut series = self.totals.series();
        let read = recording.replay(|slice| series.add(slice));
        self.series = series.finish();
        let (totals, elapsed_s) = (&self.totals, self.elapsed_s);
        self.steady = squall_analysis::steady(totals, &self.series, elapsed_s, self.meta.shape());
        let batches = match self.steady {
            Some(steady) => {
                let mut batches = BatchesBuilder::new(&self.series, steady);
                let read = recording.replay(|slice| batches.add(slice));
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
        read.and(batches).map(drop)
    }

    /// How far its numbers can be trusted.
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
            "{} requests were left out of the request log because its queue was full: virtual users do not wait for it",
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

    /// Why it failed, a sentence each; none: it passed.
    pub fn failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        let all = self.threshold_results.len();
        let failed = self.threshold_results.iter().filter(|result| !result.passed).count();
        if failed > 0 {
            failures.push(format!("{failed} of {all} thresholds failed"));
        }
        let checks = self.totals.counters().checks_failed;
        if checks > 0 {
            let plural = if checks == 1 { "" } else { "s" };
            failures.push(format!("{} check{plural} failed", units::count(checks)));
        }
        if self.stopped_by_plan {
            failures.push("the plan stopped the run".to_owned());
        }
        failures
    }

    /// Whether it passed: all thresholds and checks passed, and the plan did not stop it.
    pub fn passed(&self) -> bool {
        self.failures().is_empty()
    }
}
