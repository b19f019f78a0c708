//! The result as the page has it: everything but its rows by second, of which the page has what it draws, as columns.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use squall_metrics::Quantities;

use crate::document::RunPhase;
use crate::document::{
    AbortDocument, CheckRow, Gap, GeneratorDocument, MetricRow, OutcomeDocument, Row, RunDocument,
    SteadyPart, ThresholdRow, TimeAccounting, ValidityReason,
};
use crate::meta::{Mark, Meta};
use crate::series::{HostTrack, MetricTrack, SeriesDocument, SeriesScenario};

/// What is drawn of a scenario.
const SCENARIO_FIELDS: [(&str, fn(&SeriesScenario) -> f64); 3] = [
    ("planned_users", |own| own.planned_users),
    ("planned_arrivals", |own| own.planned_arrivals),
    ("iterations_started", |own| own.iterations_started as f64),
];

/// The result; each field is the one of [`RunDocument`] that has its name.
#[derive(Debug, Serialize)]
pub(super) struct Figures<'a> {
    schema: u64,
    meta: &'a Meta,
    elapsed_s: f64,
    run_phases: &'a [RunPhase],
    finished: bool,
    interrupted: bool,
    aborted: Option<&'a AbortDocument>,
    stopped_by_plan: bool,
    marks: &'a [Mark],
    outcome: &'a OutcomeDocument,
    validity: &'a str,
    validity_reasons: &'a [ValidityReason],
    totals: &'a Row,
    requests: &'a [Row],
    groups: &'a [Row],
    iterations: &'a [Row],
    checks: &'a [CheckRow],
    metrics: &'a [MetricRow],
    thresholds: &'a [ThresholdRow],
    counters: &'a BTreeMap<String, u64>,
    steady: Option<&'a SteadyPart>,
    time_accounting: &'a TimeAccounting,
    throughput_gap: Option<&'a Gap>,
    generator: &'a GeneratorDocument,
    host_metrics: &'a BTreeMap<String, u64>,
    warnings: &'a [String],
    log: &'a [String],
    series: Columns<'a>,
    series_metrics: &'a [MetricTrack],
    series_host: &'a HostTrack,
}

impl Figures<'_> {
    /// Those of a result.
    pub(super) fn of(run: &RunDocument) -> Figures<'_> {
        Figures {
            schema: run.schema,
            meta: &run.meta,
            elapsed_s: run.elapsed_s,
            run_phases: &run.run_phases,
            finished: run.finished,
            interrupted: run.interrupted,
            aborted: run.aborted.as_ref(),
            stopped_by_plan: run.stopped_by_plan,
            marks: &run.marks,
            outcome: &run.outcome,
            validity: &run.validity,
            validity_reasons: &run.validity_reasons,
            totals: &run.totals,
            requests: &run.requests,
            groups: &run.groups,
            iterations: &run.iterations,
            checks: &run.checks,
            metrics: &run.metrics,
            thresholds: &run.thresholds,
            counters: &run.counters,
            steady: run.steady.as_ref(),
            time_accounting: &run.time_accounting,
            throughput_gap: run.throughput_gap.as_ref(),
            generator: &run.generator,
            host_metrics: &run.host_metrics,
            warnings: &run.warnings,
            log: &run.log,
            series: Columns::of(&run.series),
            series_metrics: &run.series_metrics,
            series_host: &run.series_host,
        }
    }
}

/// The series as lists of one length.
#[derive(Debug, Serialize)]
struct Columns<'a> {
    /// How many seconds each row covers.
    seconds: u32,
    /// The first second of each.
    second: Vec<u32>,
    /// The quantities, by name.
    #[serde(flatten)]
    fields: BTreeMap<&'static str, Vec<Value>>,
    /// [`SCENARIO_FIELDS`] of each scenario, by its name.
    scenarios: BTreeMap<&'a str, BTreeMap<&'static str, Vec<Value>>>,
}

impl Columns<'_> {
    fn of(rows: &[SeriesDocument]) -> Columns<'_> {
        let names = rows.first().into_iter().flat_map(|row| row.scenarios.keys());
        let missing = SeriesScenario::default();
        let scenario = |name: &String| {
            let of = rows.iter().map(|row| row.scenarios.get(name).unwrap_or(&missing));
            let of: Vec<&SeriesScenario> = of.collect();
            let column = |value: fn(&SeriesScenario) -> f64| {
                of.iter().map(|own| number(value(own))).collect()
            };
            SCENARIO_FIELDS.iter().map(|(name, value)| (*name, column(*value))).collect()
        };
        let values: Vec<Vec<f64>> =
            rows.iter().map(|row| row.quantities().values().collect()).collect();
        let fields = Quantities::ALL
            .iter()
            .enumerate()
            .map(|(at, own)| (own.name, values.iter().map(|row| number(row[at])).collect()));
        Columns {
            seconds: rows.first().map_or(1, |row| row.seconds),
            second: rows.iter().map(|row| row.second).collect(),
            fields: fields.collect(),
            scenarios: names.map(|name| (name.as_str(), scenario(name))).collect(),
        }
    }
}

/// A number that is whole is written without a fraction.
pub fn number(value: f64) -> Value {
    let whole = value as u64;
    if whole as f64 == value { Value::from(whole) } else { Value::from(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let row = |second: u32, users: u64, busiest_worker: f64| {
            let scenario = SeriesScenario { planned_users: 2.5, ..SeriesScenario::default() };
            let scenarios = [("s".to_owned(), scenario)].into_iter().collect();
            SeriesDocument {
                second,
                seconds: 4,
                users,
                busiest_worker,
                scenarios,
                ..Default::default()
            }
        };
        let rows = [row(0, 7, 0.0), row(4, 8, 0.25)];
        let columns = serde_json::to_value(Columns::of(&rows)).expect("JSON");
        assert_eq!(columns["second"], serde_json::json!([0, 4]));
        assert_eq!(
            (&columns["seconds"], &columns["users"]),
            (&Value::from(4), &serde_json::json!([7, 8]))
        );
        assert_eq!(columns["busiest_worker"].to_string(), "[0,0.25]");
        assert_eq!(columns["scenarios"]["s"]["planned_users"], serde_json::json!([2.5, 2.5]));
    }
}
