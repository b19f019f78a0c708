//! The result as the page has it: everything but its rows by second, of which the page has what it draws, as columns.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use squall_metrics::Quantities;

use super::fleet::FleetWords;
use super::target::TargetFigures;
use crate::document::RunPhase;
use crate::document::{
    AbortDocument, CheckRow, Gap, MetricRow, OutcomeDocument, Row, RunDocument, SteadyPart,
    ThresholdRow, TimeAccounting, ValidityReason,
};
use crate::fleet::Fleet;
use crate::generator::GeneratorDocument;
use crate::meta::{Mark, Meta};
use crate::node_report::NodeReport;
use crate::series::{HostTrack, MetricTrack, SeriesDocument, SeriesScenario};

/// A column of a scenario's series, and where its numbers come from.
type ScenarioField = (&'static str, fn(&SeriesScenario) -> f64);

/// What is drawn of a scenario.
const SCENARIO_FIELDS: [ScenarioField; 3] = [
    ("planned_users", |own| own.planned_users),
    ("planned_arrivals", |own| own.planned_arrivals),
    ("iterations_started", |own| own.iterations_started as f64),
];

/// Defines the result as the page has it: each field is the one of [`RunDocument`] that has its name.
macro_rules! figures {
    ($($name:ident: $type:ty,)*) => {
        #[derive(Debug, Serialize)]
        pub(super) struct Figures<'a> {
            $($name: &'a $type,)*
            series: Columns<'a>,
            fleet_words: Option<FleetWords>,
            target: Vec<TargetFigures>,
        }

        impl Figures<'_> {
            pub(super) fn of(run: &RunDocument) -> Figures<'_> {
                Figures {
                    $($name: &run.$name,)*
                    series: Columns::of(&run.series),
                    fleet_words: FleetWords::of(run),
                    target: TargetFigures::of(run),
                }
            }
        }
    };
}

figures! {
    schema: u64,
    meta: Meta,
    elapsed_s: f64,
    run_phases: [RunPhase],
    finished: bool,
    interrupted: bool,
    aborted: Option<AbortDocument>,
    stopped_by_plan: bool,
    marks: [Mark],
    outcome: OutcomeDocument,
    validity: str,
    validity_reasons: [ValidityReason],
    totals: Row,
    requests: [Row],
    groups: [Row],
    iterations: [Row],
    checks: [CheckRow],
    metrics: [MetricRow],
    thresholds: [ThresholdRow],
    counters: BTreeMap<String, u64>,
    steady: Option<SteadyPart>,
    time_accounting: TimeAccounting,
    throughput_gap: Option<Gap>,
    generator: GeneratorDocument,
    nodes: [NodeReport],
    fleet: Option<Fleet>,
    warnings: [String],
    log: [String],
    series_metrics: [MetricTrack],
    series_host: HostTrack,
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
