//! A comparison as programs read it, of which every other output is made: plain data.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::about::RunAbout;
use super::target::ComparedTarget;
use crate::schema::{document, schema_of};

/// Version of the form. Fields are added without a new one.
pub(super) const COMPARISON: u64 = 2;

document! {
    /// Runs side by side.
    ComparisonDocument {
        /// Version of this schema.
        schema: u64,
        /// The sides, each a run or several of the same thing. The first is what the others are compared with.
        sides: Vec<ComparedSide>,
        /// The runs of all sides, those of the first side first.
        runs: Vec<ComparedRun>,
        /// What differs between them besides their numbers.
        differs: Vec<Differing>,
        /// The first side with each of the others.
        pairs: Vec<Pair>,
        /// Whether no gate is `worse` or `missing`.
        passed: bool,
        /// Whether a gate `cannot_tell`.
        undecided: bool,
    }

    /// A run, or several of the same thing.
    ComparedSide {
        /// What it is called.
        name: String,
        /// Its runs, by their positions in `runs`.
        runs: Vec<u64>,
    }

    /// A run.
    ComparedRun {
        /// What it is called.
        name: String,
        /// What it was.
        about: RunAbout,
    }

    /// Something that differs between runs besides their numbers.
    Differing {
        /// What.
        what: String,
        /// What it is in each run.
        values: Vec<String>,
        /// Whether numbers of such runs may differ for that reason.
        matters: bool,
    }

    /// Two sides.
    Pair {
        /// The position of the first in `sides`.
        before: u64,
        /// The position of the second.
        after: u64,
        /// How many differences were tested together: the chance that two equal runs show any is 5% at most.
        tests: u64,
        /// How many of them are more than chance.
        changed: u64,
        /// The rows that both have; the first is all requests together, where there are several.
        rows: Vec<ComparedRow>,
        /// Names of rows that the first has alone.
        only_before: Vec<String>,
        /// Names of rows that the second has alone.
        only_after: Vec<String>,
        /// What monitors sampled of the target of both.
        target: Vec<ComparedTarget>,
        /// What came of the gates.
        gates: Vec<GateRow>,
    }

    /// A row in two runs.
    ComparedRow {
        /// `request`, `program`, `resource`, `group` or `iteration`; empty: all requests together.
        kind: String,
        /// The scenario; null: all of them.
        scenario: Option<String>,
        /// The groups around it, the outermost first.
        group: Vec<String>,
        /// Its tags, with those of the groups and the scenario around it.
        tags: BTreeMap<String, String>,
        /// The name; empty: all requests together.
        name: String,
        /// What it is called among the rows of its scenario: `checkout / login{team=a} (group)`.
        label: String,
        /// Rate, errors, mean and percentiles.
        values: Vec<ComparedValue>,
        /// How each percentile of the distribution moved; the bands hold all together with 95% confidence.
        shift: Vec<ComparedValue>,
        /// The mean latency over time in both runs, by block, in µs.
        curves: (Vec<f64>, Vec<f64>),
    }

    /// A value in two runs.
    ComparedValue {
        /// `rate`, `error_rate`, `mean`, `p99`.
        measure: String,
        /// `us`, `per_second` or `share` (of 1).
        unit: String,
        /// In the first run; null: it has none.
        before: Option<f64>,
        /// In the second.
        after: Option<f64>,
        /// By how much it changed: as a share of what it was; of error rates, the difference of the shares.
        change: Option<f64>,
        /// The lower end of the 95% confidence interval of the change; null: unknown.
        low: Option<f64>,
        /// The upper end; null: unknown.
        high: Option<f64>,
        /// The probability of so large a change between two equal runs, were it the only one that is looked at.
        p: Option<f64>,
        /// `changed`: more than chance among all that are looked at; `same`: what there may be of a change is below
        /// 5%, or half a percentage point of errors; `unclear`; or `unknown`.
        result: String,
        /// Whether a change in this direction is worse for those who wait.
        worse: bool,
        /// Why nothing is known of how far the change may be chance.
        why: Option<String>,
        /// Of an unclear one, how many seconds each run should have so that it would probably be clear; null: it is not
        /// unclear, or longer runs would not tell.
        needed_s: Option<f64>,
        /// The same as a number of runs on each side, as long as these.
        needed_runs: Option<u64>,
    }

    /// What came of a gate.
    GateRow {
        /// The gate as it was written.
        text: String,
        /// By how much the value may change.
        limit: f64,
        /// The change that the gate is made to catch: twice the limit.
        caught: f64,
        /// The row; null: the first run has none that is meant.
        row: Option<String>,
        /// How it changed; null: not both sides have it.
        value: Option<ComparedValue>,
        /// `worse`: it changed by more than the limit, and by more than chance; `not_worse`: the change that the gate is
        /// made to catch is ruled out; `cannot_tell`; `missing`: a side has no such row or value.
        outcome: String,
        /// Why.
        why: String,
        /// Of one that cannot tell, how many seconds each run should have; null: longer runs would not tell.
        needed_s: Option<f64>,
        /// The same as a number of runs on each side, as long as these.
        needed_runs: Option<u64>,
    }
}

/// The JSON Schema of a comparison.
pub fn comparison_schema() -> Value {
    let mut schema = schema_of::<ComparisonDocument>();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("squall compare --json");
    schema
}
