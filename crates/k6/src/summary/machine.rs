//! k6's newer form of a summary for programs (`--new-machine-readable-summary`, schema version 1.0.0), as `grafana/k6-summary`
//! describes it. Pure.

use serde_json::{Map, Value, json};
use squall_script::MetricKind;

use super::data::{Metric, SummaryData};
use super::group::Check;
use super::json::{kind_label, whole_or_fraction};

/// The version of the schema.
const SCHEMA: &str = "1.0.0";
/// The version of k6 whose forms squall writes.
pub const K6_VERSION: &str = "2.2.0";
/// The metric whose parts stand with the checks.
const CHECKS: &str = "checks";

/// The summary in that form. `script` is the script's file, and `generated_at` a time as RFC 3339 writes it.
pub fn machine_readable(data: &SummaryData, script: &str, generated_at: &str) -> Value {
    let metrics = data.metrics.iter().filter(|own| own.name != CHECKS);
    let mut results = json!({"metrics": metrics.map(metric).collect::<Value>()});
    let checks = data.checks();
    if !checks.is_empty() {
        results["checks"] = of_checks(&checks);
    }
    json!({
        "config": {
            "duration": data.state.duration_ms / 1e3,
            "execution": "local",
            "script": script,
        },
        "metadata": {"generatedAt": generated_at, "k6Version": K6_VERSION},
        "results": results,
        "version": SCHEMA,
    })
}

fn of_checks(checks: &[Check]) -> Value {
    let sum = |of: fn(&Check) -> u64| {
        checks.iter().fold(0_u64, |sum, check| sum.saturating_add(of(check)))
    };
    let (passes, fails) = (sum(|own| own.passes), sum(|own| own.fails));
    let all = passes.saturating_add(fails);
    let share = |name: &str, own: u64| {
        json!({
            "name": name, "type": "rate", "contains": "default",
            "values": {"matches": own, "total": all, "rate": own as f64 / all.max(1) as f64},
        })
    };
    let total = json!({
        "name": "checks_total", "type": "counter", "contains": "default", "values": {"count": all},
    });
    let each = checks
        .iter()
        .map(|own| json!({"name": own.name, "passes": own.passes, "fails": own.fails}));
    json!({
        "metrics": [total, share("checks_failed", fails), share("checks_succeeded", passes)],
        "results": each.collect::<Value>(),
    })
}

fn metric(own: &Metric) -> Value {
    json!({
        "name": own.name,
        "type": kind_label(own.kind),
        "contains": own.contains.label(),
        "values": values(own),
    })
}

fn values(own: &Metric) -> Value {
    let value = |name: &str| own.value(name).unwrap_or_default();
    let named = |names: &[&str]| {
        let given = names.iter().filter_map(|name| Some((*name, own.value(name)?)));
        let given = given.map(|(name, value)| (name.to_owned(), whole_or_fraction(value)));
        Value::Object(given.collect::<Map<_, _>>())
    };
    match own.kind {
        MetricKind::Counter => named(&["count"]),
        MetricKind::Gauge => named(&["value", "min", "max"]),
        MetricKind::Rate => json!({
            "matches": whole_or_fraction(value("passes")),
            "total": whole_or_fraction(value("passes") + value("fails")),
            "rate": value("rate"),
        }),
        MetricKind::Trend => named(&["avg", "min", "med", "max", "p(90)", "p(95)"]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::golden::golden;

    #[test]
    fn the_newer_form_has_lists_of_metrics_and_checks() {
        let made = machine_readable(&sample::data(), "a.js", "2026-11-28T20:42:53Z");
        let text = serde_json::to_string_pretty(&made).expect("JSON");
        golden("summary/golden/machine_readable.json", &(text + "\n"));
        let made = machine_readable(&SummaryData::default(), "a.js", "2026-11-28T20:42:53Z");
        assert_eq!(made["results"], json!({"metrics": []}));
    }
}
