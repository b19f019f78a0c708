//! An experiment as two tables (RFC 4180), as R and pandas want them: one row for one observation, one column for one thing.

use super::document::{ExperimentFactor, ExperimentResult, ExperimentRun, ExperimentVariant};
use crate::csv::quoted;

/// A row for each run and measure, with a column for each factor: what an analysis of variance begins with. A run that failed
/// has rows without values.
pub fn experiment_runs_csv(result: &ExperimentResult) -> String {
    let before = ["run", "block", "attempt", "variant"];
    let after = ["measure", "unit", "value", "started_s", "took_s", "failed", "folder"];
    let mut out = head(result, &before, &after);
    for run in &result.runs {
        for (at, measure) in result.measures.iter().enumerate() {
            let mut cells =
                vec![run.number.to_string(), (run.block + 1).to_string(), run.attempt.to_string()];
            cells.extend(variant(result, run));
            cells.extend([measure.name.clone(), measure.unit.clone()]);
            let value = run.values.get(at).copied().flatten();
            cells.push(number(value));
            cells.extend([run.started_s, run.took_s].map(|time| format!("{time:.3}")));
            cells.extend([run.failed.clone(), run.folder.clone()].map(Option::unwrap_or_default));
            out.push_str(&table_line(cells.into_iter()));
        }
    }
    out
}

/// A row for each variant and measure, with a column for each factor.
pub fn experiment_csv(result: &ExperimentResult) -> String {
    let after =
        ["measure", "unit", "value", "low", "high", "repeats", "failed_runs", "missing_repeats"];
    let mut out = head(result, &["variant"], &after);
    for variant in &result.variants {
        for (cell, measure) in variant.cells.iter().zip(&result.measures) {
            let mut cells = names(result, variant);
            cells.extend([cell.measure.clone(), measure.unit.clone()]);
            cells.extend([cell.value, cell.low, cell.high].map(number));
            cells
                .extend([cell.repeats, variant.failed, variant.missing].map(|own| own.to_string()));
            out.push_str(&table_line(cells.into_iter()));
        }
    }
    out
}

/// The head of a table: its own columns, with those of the factors between.
fn head(result: &ExperimentResult, before: &[&str], after: &[&str]) -> String {
    let columns = || before.iter().chain(after).map(|own| (*own).to_owned());
    let factor = |own: &ExperimentFactor| match columns().any(|column| column == own.name) {
        true => format!("factor_{}", own.name),
        false => own.name.clone(),
    };
    let factors = factors(result).map(factor);
    let before = before.iter().map(|own| (*own).to_owned());
    table_line(before.chain(factors).chain(after.iter().map(|own| (*own).to_owned())))
}

/// The factors that have a column: variants that are named one by one have that of their names.
fn factors(result: &ExperimentResult) -> impl Iterator<Item = &ExperimentFactor> {
    result.factors.iter().filter(|own| own.kind != "variants")
}

/// The name of a variant, and its levels.
fn names(result: &ExperimentResult, variant: &ExperimentVariant) -> Vec<String> {
    let levels = result.factors.iter().zip(&variant.levels);
    let levels = levels.filter(|(factor, _)| factor.kind != "variants").map(|own| own.1);
    std::iter::once(&variant.name).chain(levels).cloned().collect()
}

/// The name of a run's variant, and its levels.
fn variant(result: &ExperimentResult, run: &ExperimentRun) -> Vec<String> {
    match result.variants.get(run.variant as usize) {
        Some(own) => names(result, own),
        None => vec![String::new(); factors(result).count() + 1],
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn table_line(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.map(|cell| quoted(&cell).into_owned()).collect();
    format!("{}\n", cells.join(","))
}
