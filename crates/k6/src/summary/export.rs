//! The file of `--summary-export`: metrics with their numbers, groups and checks by name. Pure.

use serde_json::{Map, Value, json};
use squall_script::MetricKind;

use super::data::{Metric, SummaryData};
use super::group::{Group, id};
use super::json::{check_to_json, whole_or_fraction};

/// The summary as `--summary-export` writes it. Unlike in what `handleSummary` gets, a threshold is `true` if it is **not** met.
pub fn export(data: &SummaryData) -> Value {
    let metrics = data.metrics.iter().map(|own| (own.name.clone(), metric(own)));
    json!({
        "metrics": Value::Object(metrics.collect()),
        "root_group": group(&data.root_group),
    })
}

fn metric(metric: &Metric) -> Value {
    let name = |own: &str| match (metric.kind, own) {
        // The share of a rate has another name here.
        (MetricKind::Rate, "rate") => "value".to_owned(),
        _ => own.to_owned(),
    };
    let values = metric.values.iter().map(|(own, value)| (name(own), whole_or_fraction(*value)));
    let mut own: Map<String, Value> = values.collect();
    if !metric.thresholds.is_empty() {
        let thresholds = metric.thresholds.iter();
        let thresholds = thresholds.map(|own| (own.expression.clone(), json!(!own.is_met)));
        own.insert("thresholds".to_owned(), Value::Object(thresholds.collect()));
    }
    Value::Object(own)
}

fn group(own: &Group) -> Value {
    let groups = own.groups.iter().map(|inner| (inner.name.clone(), group(inner)));
    let checks = own.checks.iter().map(|check| (check.name.clone(), check_to_json(check)));
    json!({
        "name": own.name,
        "path": own.path,
        "id": id(&own.path),
        "groups": Value::Object(groups.collect()),
        "checks": Value::Object(checks.collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::golden::golden;

    #[test]
    fn the_file_is_that_of_summary_export() {
        let text = serde_json::to_string_pretty(&export(&sample::data())).expect("JSON");
        golden("summary/golden/export.json", &(text + "\n"));
    }

    #[test]
    fn a_threshold_is_true_that_is_not_met() {
        let file = export(&sample::data());
        let of = |name: &str| file["metrics"][name]["thresholds"].clone();
        assert_eq!(of("http_req_duration{name:items}"), json!({"p(95)<200": true}));
        assert_eq!(of("http_req_duration"), json!({"p(99)<200": false, "avg<60": false}));
        assert_eq!(file["metrics"]["checks"]["value"], json!(28.0 / 42.0));
    }
}
