//! A comparison as programs read it, of which every other output is made.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use squall_analysis::{
    Difference, DifferenceResult, Gate, GatedRow, RowComparison, Scale, compare, judge,
};
use squall_metrics::RowKey;

use super::differs::differing;
use super::side::{RunAbout, Side};
use crate::group_path::path;
use crate::schema::{document, schema_of};

/// Version of the form. Fields are added without a new one.
const COMPARISON: u64 = 1;

document! {
    /// Runs side by side. The first is what the others are compared with.
    ComparisonDocument {
        /// Version of this schema.
        schema: u64,
        /// The runs.
        runs: Vec<ComparedRun>,
        /// What differs between them besides their numbers.
        differs: Vec<Differing>,
        /// The first run with each of the others.
        pairs: Vec<Pair>,
        /// Whether all gates passed.
        passed: bool,
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

    /// Two runs.
    Pair {
        /// The position of the first in `runs`.
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
    }

    /// What came of a gate.
    GateRow {
        /// The gate as it was written.
        text: String,
        /// By how much the value may change.
        limit: f64,
        /// The row; null: the first run has none that is meant.
        row: Option<String>,
        /// How it changed; null: not both runs have it.
        value: Option<ComparedValue>,
        /// Whether it passed.
        passed: bool,
        /// Why.
        why: String,
    }
}

/// The JSON Schema of a comparison.
pub fn comparison_schema() -> Value {
    let mut schema = schema_of::<ComparisonDocument>();
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("squall compare --json");
    schema
}

/// Compares runs with the first of them, and judges them by gates.
pub fn compare_runs(sides: &[Side], gates: &[Gate]) -> ComparisonDocument {
    let abouts: Vec<&RunAbout> = sides.iter().map(|side| &side.about).collect();
    let run = |side: &Side| ComparedRun { name: side.name.clone(), about: side.about.clone() };
    let pairs: Vec<Pair> =
        (1..sides.len()).map(|at| pair(&sides[0], (at, &sides[at]), gates)).collect();
    ComparisonDocument {
        schema: COMPARISON,
        runs: sides.iter().map(run).collect(),
        differs: differing(&abouts),
        passed: pairs.iter().flat_map(|pair| &pair.gates).all(|gate| gate.passed),
        pairs,
    }
}

fn pair(first: &Side, (at, second): (usize, &Side), gates: &[Gate]) -> Pair {
    let found = compare(&first.measured, &second.measured);
    let changed: usize = found.rows.iter().map(|row| row.changed().count()).sum();
    let names = |keys: &[RowKey]| keys.iter().map(|key| label(Some(key))).collect();
    let judged = judge(gates, &first.measured, &second.measured);
    let gates = judged.into_iter().map(|own| GateRow {
        text: own.text,
        limit: own.limit,
        row: match own.row {
            GatedRow::All => Some(label(None)),
            GatedRow::Of(key) => Some(label(Some(&key))),
            GatedRow::Missing => None,
        },
        value: own.difference.as_ref().map(value),
        passed: own.passed,
        why: own.why.to_owned(),
    });
    Pair {
        before: 0,
        after: at as u64,
        tests: found.tests as u64,
        changed: changed as u64,
        gates: gates.collect(),
        only_before: names(&found.only_before),
        only_after: names(&found.only_after),
        rows: found.rows.into_iter().map(row).collect(),
    }
}

/// What a row is called among those of its scenario.
fn label(key: Option<&RowKey>) -> String {
    let Some(key) = key else { return "all requests".to_owned() };
    let path = path(&key.place.group, &key.label());
    match key.place.kind.label() {
        "request" => path,
        "iteration" if key.place.scenario.is_empty() => "all scenarios (iterations)".to_owned(),
        "iteration" => format!("{} (iterations)", key.place.scenario),
        kind => format!("{path} ({kind})"),
    }
}

fn row(own: RowComparison) -> ComparedRow {
    let place = own.key.as_ref().map(|key| &key.place);
    let [before, after] = own.curves;
    ComparedRow {
        kind: place.map_or(String::new(), |place| place.kind.label().to_owned()),
        scenario: place.map(|place| place.scenario.clone()).filter(|name| !name.is_empty()),
        group: place.map_or(Vec::new(), |place| place.group.clone()),
        tags: place.map_or(BTreeMap::new(), |place| place.tags.iter().cloned().collect()),
        name: own.key.as_ref().map_or(String::new(), |key| key.name.clone()),
        label: label(own.key.as_ref()),
        values: own.differences.iter().map(value).collect(),
        shift: own.shift.iter().map(value).collect(),
        curves: (before, after),
    }
}

fn value(own: &Difference) -> ComparedValue {
    let unit = match (own.measure.is_time(), own.measure.scale()) {
        (true, _) => "us",
        (_, Scale::Ratio) => "per_second",
        (_, Scale::Points) => "share",
    };
    let whys = [own.before, own.after].into_iter().flatten().find_map(|one| one.why);
    let rises = own.change.is_some_and(|change| change > 0.0);
    ComparedValue {
        measure: own.measure.word(),
        unit: unit.to_owned(),
        before: own.before.map(|one| one.value),
        after: own.after.map(|one| one.value),
        change: own.change,
        low: own.low,
        high: own.high,
        p: own.p,
        result: own.result.word().to_owned(),
        worse: rises == own.measure.more_is_worse(),
        why: whys.filter(|_| own.result != DifferenceResult::Changed).map(str::to_owned),
    }
}
