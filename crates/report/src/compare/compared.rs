//! Makes a comparison of sides.

use std::collections::BTreeMap;

use squall_analysis::{
    Difference, DifferenceResult, Gate, GateOutcome, GateResult, GatedRow, RowComparison, Scale,
    compare, judge,
};
use squall_metrics::RowKey;

use super::about::RunAbout;
use super::differs::differing;
use super::document::{
    COMPARISON, ComparedRow, ComparedRun, ComparedSide, ComparedValue, ComparisonDocument, GateRow,
    Pair,
};
use super::gate_words::why;
use super::side::Side;
use super::target::compared;
use crate::group_path::path;

/// Compares sides with the first of them, and judges them by gates. Each side is a run, or several of the same thing.
pub fn compare_runs(sides: &[Side], gates: &[Gate]) -> ComparisonDocument {
    let of_sides = || sides.iter().flat_map(|side| &side.runs);
    let abouts: Vec<&RunAbout> = of_sides().map(|(_, about)| about).collect();
    let runs =
        of_sides().map(|(name, about)| ComparedRun { name: name.clone(), about: about.clone() });
    let mut next = 0;
    let side = |side: &Side| {
        let first = next;
        next += side.runs.len() as u64;
        ComparedSide { name: side.name.clone(), runs: (first..next).collect() }
    };
    let pairs: Vec<Pair> =
        (1..sides.len()).map(|at| pair(&sides[0], (at, &sides[at]), gates)).collect();
    let outcomes = |outcome: GateOutcome| {
        let mut all = pairs.iter().flat_map(|pair| &pair.gates);
        all.any(|gate| gate.outcome == outcome.label())
    };
    ComparisonDocument {
        schema: COMPARISON,
        sides: sides.iter().map(side).collect(),
        runs: runs.collect(),
        differs: differing(&abouts),
        passed: !outcomes(GateOutcome::Worse) && !outcomes(GateOutcome::Missing),
        undecided: outcomes(GateOutcome::CannotTell),
        pairs,
    }
}

fn pair(first: &Side, (at, second): (usize, &Side), gates: &[Gate]) -> Pair {
    let found = compare(&first.measured, &second.measured);
    let changed: usize = found.rows.iter().map(|row| row.changed().count()).sum();
    let names = |keys: &[RowKey]| keys.iter().map(|key| label(Some(key))).collect();
    let invalid = [first, second].into_iter().flat_map(|side| &side.runs);
    let invalid: Vec<&str> = invalid
        .filter(|(_, own)| own.validity == "invalid")
        .map(|(name, _)| name.as_str())
        .collect();
    let judged = judge(gates, &first.measured, &second.measured);
    Pair {
        before: 0,
        after: at as u64,
        tests: found.tests as u64,
        changed: changed as u64,
        target: compared(first, second),
        gates: judged.into_iter().map(|own| gate_row(own, &invalid)).collect(),
        only_before: names(&found.only_before),
        only_after: names(&found.only_after),
        rows: found.rows.into_iter().map(row).collect(),
    }
}

/// What came of a gate. Where the numbers of a run are invalid, they tell nothing.
fn gate_row(own: GateResult, invalid: &[&str]) -> GateRow {
    let outcome = match own.outcome {
        GateOutcome::Missing => GateOutcome::Missing,
        _ if !invalid.is_empty() => GateOutcome::CannotTell,
        outcome => outcome,
    };
    let needed = own.needed.filter(|_| invalid.is_empty());
    GateRow {
        why: why(&own, invalid),
        text: own.text,
        limit: own.limit,
        caught: own.caught,
        row: match own.row {
            GatedRow::All => Some(label(None)),
            GatedRow::Of(key) => Some(label(Some(&key))),
            GatedRow::Missing => None,
        },
        value: own.difference.as_ref().map(value),
        outcome: outcome.label().to_owned(),
        needed_s: needed.and_then(|needed| needed.seconds),
        needed_runs: needed.map(|needed| needed.runs),
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
        why: own.why.filter(|_| own.result == DifferenceResult::Unknown).map(str::to_owned),
        needed_s: own.needed.and_then(|needed| needed.seconds),
        needed_runs: own.needed.map(|needed| needed.runs),
    }
}
