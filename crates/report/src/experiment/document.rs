//! The result of an experiment as programs read it, of which every other output is made: plain data.

use serde_json::{Value, json};

use crate::fleet::Machine;
use crate::schema::{document, schema_of};

/// Version of the form. Fields are added without a new one.
pub const EXPERIMENT_SCHEMA: u64 = 1;

/// The state of an experiment whose runs are being made.
pub(super) const UNDER_WAY: &str = "under way";

/// Where an experiment is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ExperimentState {
    /// Its runs are being made.
    UnderWay {
        /// How long those that are left take, in seconds; `None`: none was made.
        left_s: Option<f64>,
    },
    /// It ended before its last run.
    Interrupted,
    /// All runs were made.
    Finished,
}

impl ExperimentAbout {
    /// The same, of an experiment that is there.
    #[must_use]
    pub fn at(self, state: ExperimentState) -> ExperimentAbout {
        let (label, left_s) = match state {
            ExperimentState::UnderWay { left_s } => (UNDER_WAY, left_s),
            ExperimentState::Interrupted => ("interrupted", None),
            ExperimentState::Finished => ("finished", None),
        };
        let finished = state == ExperimentState::Finished;
        ExperimentAbout { finished, state: label.to_owned(), left_s, ..self }
    }
}

document! {
    /// What an experiment shows: `experiment.json`.
    ExperimentResult {
        /// Version of this schema.
        schema: u64,
        /// What was done, when and with what.
        about: ExperimentAbout,
        /// The machine that generated the load, or the nodes of a fleet.
        machine: Vec<Machine>,
        /// What the experiment started for each run.
        servers: Vec<ExperimentServer>,
        /// What differs between the variants.
        factors: Vec<ExperimentFactor>,
        /// What was measured, and what is to be said of it.
        measures: Vec<ExperimentMeasure>,
        /// The variants, with the value of each measure.
        variants: Vec<ExperimentVariant>,
        /// What each factor does, and how far that depends on another.
        effects: Vec<ExperimentEffect>,
        /// Each two variants beside each other that differ in one factor.
        comparisons: Vec<ExperimentComparison>,
        /// All runs, in the order in which they were made.
        runs: Vec<ExperimentRun>,
    }

    /// What was done, when and with what.
    ExperimentAbout {
        /// Name of the experiment.
        name: String,
        /// Its file, as it was asked for.
        file: String,
        /// The plan that each run drives: its file, or its name.
        plan: String,
        /// Version of squall.
        squall: String,
        /// The command line, with secrets masked.
        command: Vec<String>,
        /// Start, in seconds since 1970 (UTC).
        started_unix: f64,
        /// From the start to the end, with the interruptions between, in seconds.
        elapsed_s: f64,
        /// Seed of the order of the runs; null: they were made in the order of the file.
        seed: Option<u64>,
        /// Most blocks that were asked for: each is one repeat of every variant.
        repeats: u64,
        /// Half the width of the intervals at which it was to end before that, as a share of the value; null: it was not.
        relative_error: Option<f64>,
        /// How often a run that failed was to be made again.
        retries: u64,
        /// How the beginning of each run is cut off, as the experiment says; empty: as the plan says.
        warmup: String,
        /// Whether all runs were made; false: it is under way, or was interrupted.
        finished: bool,
        /// Where it was when this was written: `under way`, `interrupted` or `finished`.
        state: String,
        /// Blocks of which all runs were made.
        blocks_done: u64,
        /// How long the runs that are left take, in seconds, if they take as long as those before; null: none was made, or none
        /// is left.
        left_s: Option<f64>,
        /// Rules of validity by which a run counts although its numbers are invalid, as the experiment says; `all` alone: any.
        count_invalid: Vec<String>,
        /// What did not go as it should, beyond single runs.
        warnings: Vec<String>,
    }

    /// What the experiment starts before each run, and stops after it.
    ExperimentServer {
        /// Its name.
        name: String,
        /// Program and arguments, as the file has them, with `${...}`.
        command: Vec<String>,
        /// The program that was found for it, and what it said of its version, where that is known; empty: nothing is.
        version: String,
    }

    /// What differs between variants.
    ExperimentFactor {
        /// Its name.
        name: String,
        /// What it sets: `variable`, `load`, `plan`, `sysctl`; or `variants`: they are named one by one.
        kind: String,
        /// The part of the load, the key of the plan or the setting of the kernel; empty: a variable of the factor's name.
        sets: String,
        /// Its values, as text.
        levels: Vec<String>,
    }

    /// What was measured of each run.
    ExperimentMeasure {
        /// As the experiment names it: `mean(store)`.
        name: String,
        /// `us`, `per_second`, `share` (of 1), `bytes` or `number`.
        unit: String,
        /// How differences are told: `ratio` (0.13: 13% more; values are geometric means), or `difference`, in the unit.
        scale: String,
        /// What is to be said of it, the differences that are real first.
        sentences: Vec<String>,
        /// How much more all variants have in the last block than in the first; null: there is one block.
        drift: Option<ExperimentDifference>,
        /// The share of the variation of all runs that interactions of three factors and more explain.
        share_of_higher: f64,
        /// The share that differs between blocks: when a run was made.
        share_of_blocks: f64,
        /// The share that differs between repeats of the same.
        share_of_chance: f64,
        /// Names of the variants whose runs vary more than those of the others.
        noisy: Vec<String>,
    }

    /// A difference, as the measure's scale says.
    ExperimentDifference {
        /// How much more.
        value: f64,
        /// The lower end of its interval; null: unknown, as one repeat says nothing about chance.
        low: Option<f64>,
        /// The upper end.
        high: Option<f64>,
        /// Whether the interval leaves no doubt that there is a difference.
        is_real: bool,
        /// How probable so large a difference is by chance alone, were it the only one that is looked at.
        p: Option<f64>,
        /// How many repeats would show a difference of 5% (of shares, half a percentage point) in 80 of 100 experiments;
        /// null: unknown, or more than 10,000.
        repeats_needed: Option<u64>,
    }

    /// A variant.
    ExperimentVariant {
        /// Its name.
        name: String,
        /// The level of each factor.
        levels: Vec<String>,
        /// Its repeats, each a block in which it has a valid run.
        repeats: u64,
        /// How many of its runs failed.
        failed: u64,
        /// How many repeats were given up after so many of them, or not made.
        missing: u64,
        /// Why runs failed, each kind of reason once.
        why: Vec<ExperimentReason>,
        /// The rules by which numbers of its runs are invalid that count nevertheless, each once.
        counted_invalid: Vec<ExperimentReason>,
        /// The value of each measure.
        cells: Vec<ExperimentCell>,
    }

    /// Something that happened to runs of a variant.
    ExperimentReason {
        /// In a sentence, as its first run has it: others may differ in its numbers. Of numbers that count nevertheless, the rule.
        text: String,
        /// How many runs of the variant have it.
        runs: u64,
        /// The number of the first of them.
        first: u64,
        /// The folder of that run, relative to that of the experiment; null: the run did not begin.
        folder: Option<String>,
    }

    /// A measure of a variant, over its repeats.
    ExperimentCell {
        /// The measure.
        measure: String,
        /// The mean of its repeats, of ratios the geometric one; null: it has none.
        value: Option<f64>,
        /// The lower end of the 95% confidence interval (Student's t over repeats); null: there are fewer than two.
        low: Option<f64>,
        /// The upper end.
        high: Option<f64>,
        /// Repeats that have a value.
        repeats: u64,
    }

    /// What a factor does, or how far that depends on another.
    ExperimentEffect {
        /// The measure.
        measure: String,
        /// One factor (a main effect), or two (an interaction).
        factors: Vec<String>,
        /// What is taken for granted so that it can be estimated although variants have no valid run: `no interactions of three
        /// factors`, or `no interactions`; empty: nothing.
        assumes: String,
        /// The share of the variation of all runs that it explains; null: the variants that have valid runs do not tell.
        share: Option<f64>,
        /// How probable so much is by chance alone (Fisher's F).
        p: Option<f64>,
        /// Whether one of its contrasts is.
        is_real: bool,
        /// Of a main effect: each level beside each before it. Of an interaction: combinations of levels beside the first.
        contrasts: Vec<ExperimentContrast>,
    }

    /// How much more one level has than another, over all levels of the other factors.
    ExperimentContrast {
        /// For each factor of the effect: the level, and the one that it is compared with.
        levels: Vec<(String, String)>,
        /// The difference; of an interaction of ratios, the ratio of two ratios less 1. Null: the variants that have valid runs do
        /// not tell.
        difference: Option<ExperimentDifference>,
    }

    /// How much more the second of two variants has than the first.
    ExperimentComparison {
        /// The measure.
        measure: String,
        /// The first variant.
        first: String,
        /// The second variant.
        second: String,
        /// The difference; null: one of them has no valid run.
        difference: Option<ExperimentDifference>,
    }

    /// A run.
    ExperimentRun {
        /// Its number, from 1: runs are made in this order.
        number: u64,
        /// The position of its variant in `variants`.
        variant: u64,
        /// The block that it belongs to, from 0.
        block: u64,
        /// From 1; more: a run of this variant in this block failed before.
        attempt: u64,
        /// Its folder, relative to that of the experiment; null: the run did not begin.
        folder: Option<String>,
        /// Start, in seconds after that of the experiment.
        started_s: f64,
        /// From the start of its preparations to the end of what comes after it, in seconds.
        took_s: f64,
        /// The value of each measure, in the order of `measures`; null: it has none. Empty: the run failed.
        values: Vec<Option<f64>>,
        /// Why it has no values; null: it has.
        failed: Option<String>,
        /// The rules of validity by which its numbers are invalid, although it counts; empty: they are not.
        counted_invalid: Vec<String>,
        /// What is to be known of it beside its values.
        warnings: Vec<String>,
    }
}

/// The JSON Schema of the result of an experiment.
pub fn experiment_schema() -> Value {
    let mut schema = schema_of::<ExperimentResult>();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("squall experiment --json");
    schema
}
