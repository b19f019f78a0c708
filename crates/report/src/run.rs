//! A run as it is known when it is over, or broke off.

use serde::{Deserialize, Serialize};
use squall_measure::{
    Batches, Facts, Judgement, Ledger, Reason, SecondRow, Shape, Steady, Surroundings, Threshold,
    Totals, Trust, Warmup,
};

/// What is known of a run before it begins.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Meta {
    /// Version of squall.
    pub squall: String,
    /// Name of the plan.
    pub plan: String,
    /// Operating system and kernel.
    pub os: String,
    /// Processors that squall may use.
    pub cpus: u64,
    /// Start, in seconds since 1970.
    pub started_unix: f64,
    /// Threads that made load.
    pub workers: u64,
    /// How they asked the system for input and output: `io_uring` or `epoll`.
    #[serde(default)]
    pub io: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Rules that judge the run.
    pub thresholds: Vec<String>,
    /// How the beginning is cut off: `auto`, `none`, or a number of seconds.
    #[serde(default)]
    pub warmup: String,
    /// From and to which second the load stays as it is, as the plan has it.
    #[serde(default)]
    pub constant_s: Option<(f64, Option<f64>)>,
}

impl Meta {
    /// What is known of the load.
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

/// What the generator itself took.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Generator {
    /// CPU time in user mode, in seconds.
    pub cpu_user_s: f64,
    /// CPU time in the kernel, in seconds.
    pub cpu_sys_s: f64,
    /// Largest resident memory, in bytes.
    pub peak_rss_bytes: u64,
    /// Requests that were written into a log of requests, if there was one.
    #[serde(default)]
    pub requests_logged: Option<u64>,
    /// Requests that such a log had no room for.
    #[serde(default)]
    pub requests_not_logged: Option<u64>,
}

/// Everything that outputs are made of.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// What was known before.
    pub meta: Meta,
    /// Length, in seconds.
    pub elapsed_s: f64,
    /// Whether it came to its own end or was ended in order; otherwise the generator was killed.
    pub finished: bool,
    /// Whether somebody ended it before its time.
    pub interrupted: bool,
    /// What was recorded.
    pub totals: Totals,
    /// What its thresholds came to.
    pub judgements: Vec<Judgement>,
    /// What a person should know.
    pub warnings: Vec<String>,
    /// First details of errors, and lines that the plan logs.
    pub log: Vec<String>,
    /// What the generator took.
    pub generator: Generator,
    /// What the machine looked like.
    pub surroundings: Surroundings,
    /// Its steady part.
    pub steady: Option<Steady>,
    /// Why its numbers cannot be trusted, the worst reason first.
    pub reasons: Vec<Reason>,
}

impl Run {
    /// Judges it by its thresholds, and how far its numbers can be trusted. Thresholds that are none
    /// are left out: they were found when the plan was read.
    pub fn judge(&mut self) {
        self.steady = squall_measure::steady(&self.totals, self.elapsed_s, self.meta.shape());
        let thresholds = self.meta.thresholds.iter().filter_map(|text| Threshold::parse(text).ok());
        let thresholds: Vec<Threshold> = thresholds.collect();
        let judgements =
            thresholds.iter().map(|threshold| threshold.judge(&self.totals, self.elapsed_s));
        self.judgements = judgements.collect();
        self.reasons = squall_measure::verdict(&Facts {
            totals: &self.totals,
            all: &self.totals.all(),
            surroundings: &self.surroundings,
            steady: self.steady,
            thresholds: &thresholds,
        });
    }

    /// How far its numbers can be trusted.
    pub fn trust(&self) -> Trust {
        squall_measure::trust(&self.reasons)
    }

    /// Adds the warnings that follow from what was recorded.
    pub fn warn(&mut self) {
        let counters = self.totals.counters();
        let mut warn = |count: u64, text: &str| {
            if count > 0 {
                self.warnings.push(text.replace("{}", &count.to_string()));
            }
        };
        warn(counters.data_exhausted, "{} users stopped because a data file had no more rows");
        warn(
            self.generator.requests_not_logged.unwrap_or(0),
            "{} requests were left out of the log of requests: its queue was full, and no user waits for it",
        );
        warn(counters.log_dropped, "{} lines did not fit the run's log");
        warn(
            u64::from(self.totals.names_overflowed()),
            "more than 1,000 names of requests: the rest is counted under `other`; give such requests a `name`",
        );
        if !self.finished {
            self.warnings.push(
                "the run was broken off: this is what was on disk up to its last second".to_owned(),
            );
        }
    }

    /// Where the users' time went.
    pub fn ledger(&self) -> Ledger {
        self.totals.ledger(self.elapsed_s)
    }

    /// The latencies of its steady part, in batches.
    pub fn batches(&self) -> Option<Batches> {
        let steady = self.steady?;
        let within = |row: &&SecondRow| (steady.from..steady.to).contains(&row.second);
        Some(Batches::of(self.totals.series().filter(within)))
    }

    /// Whether all thresholds hold.
    pub fn passed(&self) -> bool {
        self.judgements.iter().all(|judgement| judgement.passed)
    }
}
