//! `run.json`: everything that is known of a run when it is over, as programs read it, and of which the
//! text report is made. `docs/run.md` explains it; `squall schema --run` prints its JSON Schema.

#![warn(missing_docs)]

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::fleet::Fleet;
use crate::generator::{GeneratorDocument, PhaseTimes};
use crate::meta::{FeedReport, Mark, Meta};
use crate::node_report::NodeReport;
use crate::schema::{document, schema_of};
use crate::series::{CheckTrack, HostTrack, MetricTrack, RowTrack, SeriesDocument};

/// What stands for validity where no load ran, because setup failed or the run was stopped before.
pub const NONE: &str = "none";

/// Version of the schema. Fields are added without a new one.
pub const SCHEMA: u64 = 3;

document! {
    /// The result of a run.
    RunDocument {
        /// Version of this schema. A reader refuses a later one.
        schema: u64,
        /// What was tested, and with what.
        meta: Meta,
        /// Length of the run, in seconds.
        elapsed_s: f64,
        /// Setup, load and teardown, as far as the plan has them and they were to run.
        run_phases: Vec<RunPhase>,
        /// Whether it ended in an orderly way; otherwise squall was killed, or is still running.
        finished: bool,
        /// Whether the tester interrupted it.
        interrupted: bool,
        /// The threshold that ended the load; null: none did.
        aborted: Option<AbortDocument>,
        /// Whether the plan stopped it.
        stopped_by_plan: bool,
        /// What happened while the load went on, in order.
        marks: Vec<Mark>,
        /// Whether the run passed, and if not, why.
        outcome: OutcomeDocument,
        /// How far the numbers can be trusted: `valid`, `questionable` or `invalid`; `none`: no load ran, so that there
        /// are no numbers.
        validity: String,
        /// Why not further, and notes; the most severe first.
        validity_reasons: Vec<ValidityReason>,
        /// All requests, resources and programs together.
        totals: Row,
        /// Requests, resources and programs, a row for each kind, scenario, group and name.
        requests: Vec<Row>,
        /// The rows of a name in several scenarios or groups, together.
        names: Vec<Row>,
        /// Groups. `error_kinds` and `status` are those of the requests within them.
        groups: Vec<Row>,
        /// Iterations, by scenario.
        iterations: Vec<Row>,
        /// Checks.
        checks: Vec<CheckRow>,
        /// Metrics that the plan records itself.
        metrics: Vec<MetricRow>,
        /// Results of the thresholds.
        thresholds: Vec<ThresholdRow>,
        /// What is counted besides requests, by name.
        counters: BTreeMap<String, u64>,
        /// The steady part; null: too short to have one.
        steady: Option<SteadyPart>,
        /// Where the users' time went, in user-seconds.
        time_accounting: TimeAccounting,
        /// Throughput as measured and by Little's law; null: no closed workload.
        throughput_gap: Option<Gap>,
        /// What squall itself used, and its own delays, of all nodes together.
        generator: GeneratorDocument,
        /// What each node did, and what squall and its machine needed: one entry where one process ran the load.
        nodes: Vec<NodeReport>,
        /// What became of the shares of a fleet's load; null: one process ran it.
        fleet: Option<Fleet>,
        /// What the tester should know.
        warnings: Vec<String>,
        /// What became of what was sent elsewhere while the run went on.
        feeds: Vec<FeedReport>,
        /// Where the target spent its CPU time; null: no profile was taken.
        profile: Option<ProfileDocument>,
        /// The first details of errors, and lines that the plan logs.
        log: Vec<String>,
        /// The run second by second; in long runs each row covers several seconds.
        series: Vec<SeriesDocument>,
        /// The requests, resources, programs, groups and iterations with the most to count, by second.
        series_rows: Vec<RowTrack>,
        /// The checks with the most to count, by second.
        series_checks: Vec<CheckTrack>,
        /// The metrics of the plan with the most to count, and then those of monitors, by second.
        series_metrics: Vec<MetricTrack>,
        /// The host, by second.
        series_host: HostTrack,
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

    /// Whether the run passed.
    OutcomeDocument {
        /// Whether it passed.
        passed: bool,
        /// Why it failed.
        reasons: Vec<FailureDocument>,
        /// How its load was other than the plan asked for, whether it passed or not: clauses that can follow "but".
        caveats: Vec<String>,
        /// The exit code of the run.
        exit_code: u64,
    }

    /// A reason for which the run failed.
    FailureDocument {
        /// `aborted`, `threshold`, `check`, `errors`, `every_request`, `nothing_measured`,
        /// `not_sent`, `expressions`, `marked_failed`, `stopped_by_plan`, `teardown_lost` or `incomplete`.
        kind: String,
        /// Which threshold or check; null: none.
        name: Option<String>,
        /// How many times; null: not a number of times.
        count: Option<u64>,
        /// In a sentence.
        text: String,
    }

    /// A load that a threshold ended, because what was recorded by then violated it.
    AbortDocument {
        /// The threshold, as it was written.
        threshold: String,
        /// When, in seconds after the start of the load.
        at_s: f64,
        /// The value that it had then, as a person reads it.
        shown: String,
    }

    /// Something that bears on how far the numbers can be trusted.
    ValidityReason {
        /// The rule.
        rule: String,
        /// What it alone makes of the run.
        validity: String,
        /// Its effect on the numbers, as shares of them; null: nobody knows.
        effect: Option<EffectDocument>,
        /// The effect in words.
        effect_text: String,
        /// What was observed.
        observed: String,
        /// What to do about it.
        advice: String,
        /// The nodes of a fleet that it is about; none: it is about the run.
        nodes: Vec<String>,
    }

    /// By which share numbers may be wrong; 0: not.
    EffectDocument {
        /// Of the rate.
        rate: f64,
        /// Of the mean latency.
        mean: f64,
        /// Of the p99.
        p99: f64,
    }

    /// A profile of the target's CPU time.
    ProfileDocument {
        /// The monitor whose processes were profiled.
        process: String,
        /// What took it: `perf` or `JFR`.
        tool: String,
        /// When it began, in seconds after the start of the load.
        at_s: f64,
        /// How long it took.
        seconds: f64,
        /// How many samples were taken.
        samples: u64,
        /// The file with its stacks, in the run's folder.
        file: String,
    }

    /// What was recorded under a name.
    Row {
        /// `request`, `program`, `resource`, `group` or `iteration`; empty: several.
        kind: String,
        /// The scenario; null: all of them.
        scenario: Option<String>,
        /// The groups around it, the outermost first.
        group: Vec<String>,
        /// Its tags, with those of the groups and the scenario around it.
        tags: BTreeMap<String, String>,
        /// The name; empty in the totals of a run.
        name: String,
        /// How many have ended.
        count: u64,
        /// How many of them were errors.
        errors: u64,
        /// The same as a share, from 0 to 1.
        error_rate: f64,
        /// Errors by kind.
        error_kinds: BTreeMap<String, u64>,
        /// Responses by status.
        status: BTreeMap<String, u64>,
        /// How many a second.
        rate: f64,
        /// Bytes received.
        bytes_in: u64,
        /// Bytes sent.
        bytes_out: u64,
        /// Requests, groups and iterations that squall cut off, because their load or the run had ended.
        cut_off: u64,
        /// Requests that squall could not make from the plan, and did not send.
        not_sent: u64,
        /// How often requests were sent again, because the target had closed their connection.
        retries: u64,
        /// Latency of complete responses, in µs.
        latency_us: Times,
        /// The same with what was given up, which counts with the time that it had waited; null: nothing was.
        latency_with_timeouts_us: Option<BoundedTimes>,
        /// Corrected latency, in µs; null: there is no schedule.
        corrected_latency_us: Option<Times>,
        /// The same with what was given up; null: nothing was.
        corrected_latency_with_timeouts_us: Option<BoundedTimes>,
        /// Phases of requests, by name, in µs.
        phases: BTreeMap<String, PhaseTimes>,
    }

    /// The distribution of times.
    Times {
        /// How many there are.
        count: u64,
        /// The mean.
        mean: f64,
        /// The standard deviation.
        sd: f64,
        /// The smallest one.
        min: f64,
        /// The median.
        p50: f64,
        /// The 75th percentile.
        p75: f64,
        /// The 90th percentile.
        p90: f64,
        /// The 95th percentile.
        p95: f64,
        /// The 99th percentile.
        p99: f64,
        /// The 99.9th percentile.
        p999: f64,
        /// The largest one.
        max: f64,
    }

    /// The distribution of times of which some are lower bounds.
    BoundedTimes {
        /// How many there are.
        count: u64,
        /// How many of them were given up.
        given_up: u64,
        /// Which of the values are lower bounds.
        at_least: Vec<String>,
        /// The mean.
        mean: Option<f64>,
        /// The smallest one.
        min: Option<f64>,
        /// The median.
        p50: Option<f64>,
        /// The 75th percentile.
        p75: Option<f64>,
        /// The 90th percentile.
        p90: Option<f64>,
        /// The 95th percentile.
        p95: Option<f64>,
        /// The 99th percentile.
        p99: Option<f64>,
        /// The 99.9th percentile.
        p999: Option<f64>,
        /// The largest one.
        max: Option<f64>,
    }

    /// What a check came to.
    CheckRow {
        /// The scenario.
        scenario: String,
        /// The groups around it, the outermost first.
        group: Vec<String>,
        /// Its tags, with those of the groups and the scenario around it.
        tags: BTreeMap<String, String>,
        /// Its name, or its expression.
        name: String,
        /// How often it passed.
        passed: u64,
        /// How often it failed.
        failed: u64,
        /// How often it failed and was only to warn.
        warned: u64,
    }

    /// A metric that the plan records itself, in the unit in which it does, or that a monitor samples.
    MetricRow {
        /// The scenario; empty for a monitor's, and for `other`, which counts for all of them.
        scenario: String,
        /// Its name.
        name: String,
        /// `counter`, `gauge`, `rate` or `trend`.
        kind: String,
        /// Its tags; that of the target's monitor is `monitor`.
        tags: BTreeMap<String, String>,
        /// Of what a monitor samples of the target: `share` (of 1), `bytes`, `bytes per second`, `per second`, `seconds` or `number`.
        unit: Option<String>,
        /// How many values were recorded.
        count: u64,
        /// Of a counter: the sum of its values.
        sum: Option<f64>,
        /// Of a gauge: the last value.
        last: Option<f64>,
        /// Of a rate: how many values were true.
        trues: Option<u64>,
        /// Of a rate: the share that was true, from 0 to 1.
        share: Option<f64>,
        /// Of a gauge or a trend: the mean.
        mean: Option<f64>,
        /// Of a trend: the standard deviation.
        sd: Option<f64>,
        /// Of a gauge or a trend: the smallest value.
        min: Option<f64>,
        /// Of a trend: the median.
        p50: Option<f64>,
        /// Of a trend: the 75th percentile.
        p75: Option<f64>,
        /// Of a trend: the 90th percentile.
        p90: Option<f64>,
        /// Of a trend: the 95th percentile.
        p95: Option<f64>,
        /// Of a trend: the 99th percentile.
        p99: Option<f64>,
        /// Of a trend: the 99.9th percentile.
        p999: Option<f64>,
        /// Of a gauge or a trend: the largest value.
        max: Option<f64>,
    }

    /// The result of a threshold.
    ThresholdRow {
        /// The threshold as it was written.
        text: String,
        /// The name that it is about; null: it names none.
        name: Option<String>,
        /// What it is about, as it was written between the parentheses; empty: all requests.
        subject: String,
        /// The metric: `p99`, `error_rate`.
        metric: String,
        /// `<`, `<=`, `>`, `>=`, `==` or `!=`.
        op: String,
        /// The limit, in `unit`.
        limit: f64,
        /// The measured value, in `unit`; null: nothing was counted.
        value: Option<f64>,
        /// Whether the value is only known to be at least that.
        at_least: bool,
        /// `us`, `per_second`, `share` (of 1) or `number`.
        unit: String,
        /// Whether it passed.
        passed: bool,
        /// The value as a person reads it, or why there is none.
        shown: String,
        /// The length of its moving window, in seconds; null: it is about the whole run.
        over_s: Option<u64>,
        /// The second with which the worst window begins, whose value it is; null: there is none.
        worst_from_s: Option<u64>,
    }

    /// The steady part of a run.
    SteadyPart {
        /// Its first second.
        from_s: u64,
        /// The second after its last.
        to_s: u64,
        /// Whether one was found; otherwise it is what the plan or the run's length leave.
        found: bool,
        /// Requests in it.
        count: u64,
        /// How many of them were errors.
        errors: u64,
        /// How many a second.
        rate: f64,
        /// Latency of complete responses, in µs.
        latency_us: Times,
        /// The rate, the mean and percentiles, each with its 95 % confidence interval.
        confidence: BTreeMap<String, Known>,
        /// Corrected latency, in µs; null: there is no schedule.
        corrected_latency_us: Option<Times>,
        /// The same of corrected latencies.
        corrected_confidence: BTreeMap<String, Known>,
    }

    /// A value with what is known about its true value.
    Known {
        /// The value.
        value: f64,
        /// The lower end of the interval; null: unknown.
        low: Option<f64>,
        /// The upper end; null: unknown.
        high: Option<f64>,
        /// Why an end is unknown.
        why: Option<String>,
        /// About how many seconds longer the run would have to be to know it well.
        longer_s: Option<f64>,
    }

    /// Time accounting, in user-seconds.
    TimeAccounting {
        /// Users of closed workloads.
        users: u64,
        /// Their time.
        users_s: f64,
        /// Of it in requests.
        requests: f64,
        /// In think time.
        think: f64,
        /// In pacing.
        pacing: f64,
        /// Waiting for other users: in line for a critical section, or at a rendezvous.
        waiting: f64,
        /// Before they had started.
        not_started: f64,
        /// Waiting for squall itself.
        generator: f64,
        /// After they had finished.
        finished: f64,
        /// Time in requests by phase.
        requests_by_phase: BTreeMap<String, f64>,
    }

    /// Throughput as measured and by Little's law, a second.
    Gap {
        /// Measured.
        measured: f64,
        /// Users divided by the mean time of a request with think time and pacing.
        littles_law: f64,
        /// The gap between them, from 0 to 1.
        gap: f64,
        /// What causes it.
        causes: Vec<GapCauseDocument>,
        /// In one line.
        text: String,
    }

    /// A cause of the gap.
    GapCauseDocument {
        /// The state of the users that did nothing.
        state: String,
        /// Its share of the users' time.
        share: f64,
        /// In words.
        text: String,
    }
}

/// The JSON Schema of `run.json`.
pub fn run_schema() -> Value {
    let mut schema = schema_of::<RunDocument>();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("squall run.json");
    schema["properties"]["schema"]["maximum"] = json!(SCHEMA);
    schema
}

impl OutcomeDocument {
    /// Whether the run would have passed, had its teardown not been interrupted or left out.
    pub(crate) fn lacks_teardown_alone(&self) -> bool {
        !self.passed && self.reasons.iter().all(|own| own.kind == "teardown_lost")
    }
}
