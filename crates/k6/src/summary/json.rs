//! k6's summary as the JSON that `handleSummary` gets, and back: a script may change it before it asks for the text. Pure.

use serde_json::{Map, Value, json};
use squall_script::MetricKind;

use super::data::{Metric, State, SummaryData, SummaryOptions, ThresholdState};
use super::facts::Contains;
use super::group::{Check, Group, id};
use super::number::TimeUnit;

/// The kinds of metrics with their names in JSON.
const KINDS: [(MetricKind, &str); 4] = [
    (MetricKind::Counter, "counter"),
    (MetricKind::Gauge, "gauge"),
    (MetricKind::Rate, "rate"),
    (MetricKind::Trend, "trend"),
];

/// The name of a kind of metrics.
pub(crate) fn kind_label(kind: MetricKind) -> &'static str {
    KINDS.iter().find(|(own, _)| *own == kind).map_or("", |(_, label)| label)
}

impl SummaryData {
    /// As `handleSummary` gets it.
    pub fn to_json(&self) -> Value {
        let SummaryData { options, state, .. } = self;
        let metrics = self.metrics.iter().map(|own| (own.name.clone(), metric_to_json(own)));
        json!({
            "root_group": group_to_json(&self.root_group),
            "options": {
                "summaryTrendStats": options.trend_stats,
                "summaryTimeUnit": options.time_unit.map_or("", TimeUnit::name),
                "noColor": options.no_color,
            },
            "state": {
                "isStdOutTTY": state.is_stdout_terminal,
                "isStdErrTTY": state.is_stderr_terminal,
                "testRunDurationMs": whole_or_fraction(state.duration_ms),
            },
            "metrics": Value::Object(metrics.collect()),
            "setup_data": self.setup_data,
        })
    }

    /// Reads what [`SummaryData::to_json`] has made, and a script may have changed. What is missing or has another form is left
    /// out, but for the metrics.
    ///
    /// # Errors
    /// It is not the data of a summary, in a sentence that says what was expected.
    pub fn from_json(data: &Value) -> Result<SummaryData, String> {
        let metrics = data["metrics"].as_object().ok_or(
            "the data of a summary has to be an object with `metrics`, such as handleSummary gets",
        )?;
        let metrics = metrics.iter().map(|(name, own)| metric_of_json(name, own));
        let (options, state) = (&data["options"], &data["state"]);
        let has = |own: &Value| own.as_bool().unwrap_or(false);
        let unit = options["summaryTimeUnit"].as_str().unwrap_or_default();
        let stats = list(&options["summaryTrendStats"]).filter_map(|name| name.as_str());
        let trend_stats: Vec<String> = stats.map(str::to_owned).collect();
        let shown = SummaryOptions::default();
        Ok(SummaryData {
            metrics: metrics.collect::<Result<_, String>>()?,
            root_group: group_of_json(&data["root_group"]),
            options: SummaryOptions {
                trend_stats: if trend_stats.is_empty() { shown.trend_stats } else { trend_stats },
                time_unit: TimeUnit::parse(unit).ok(),
                no_color: has(&options["noColor"]),
            },
            state: State {
                is_stdout_terminal: has(&state["isStdOutTTY"]),
                is_stderr_terminal: has(&state["isStdErrTTY"]),
                duration_ms: state["testRunDurationMs"].as_f64().unwrap_or(0.0),
            },
            setup_data: data["setup_data"].clone(),
            scenarios: Vec::new(),
        })
    }
}

/// A number; whole ones without a point.
pub(crate) fn whole_or_fraction(value: f64) -> Value {
    let is_whole = value.fract() == 0.0 && value.abs() < 9e15;
    if is_whole { json!(value as i64) } else { json!(value) }
}

fn metric_to_json(metric: &Metric) -> Value {
    let values =
        metric.values.iter().map(|(name, value)| (name.clone(), whole_or_fraction(*value)));
    let mut own = json!({
        "type": kind_label(metric.kind),
        "contains": metric.contains.label(),
        "values": Value::Object(values.collect()),
    });
    if !metric.thresholds.is_empty() {
        let thresholds = metric.thresholds.iter();
        let thresholds = thresholds.map(|own| (own.expression.clone(), json!({"ok": own.is_met})));
        own["thresholds"] = Value::Object(thresholds.collect());
    }
    own
}

fn metric_of_json(name: &str, own: &Value) -> Result<Metric, String> {
    let label = own["type"].as_str().unwrap_or_default();
    let kind = KINDS.iter().find(|(_, known)| *known == label).map(|(kind, _)| *kind);
    let kind = kind.ok_or_else(|| {
        format!("metric `{name}` of a summary: expected the type counter, gauge, rate or trend, found `{label}`")
    })?;
    let values = entries(&own["values"]);
    let values = values.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)));
    let thresholds = entries(&own["thresholds"]).map(|(expression, own)| ThresholdState {
        expression: expression.clone(),
        is_met: own["ok"].as_bool().unwrap_or(false),
    });
    Ok(Metric {
        name: name.to_owned(),
        kind,
        contains: Contains::of_label(own["contains"].as_str().unwrap_or_default()),
        values: values.collect(),
        thresholds: thresholds.collect(),
    })
}

fn group_to_json(group: &Group) -> Value {
    json!({
        "name": group.name,
        "path": group.path,
        "id": id(&group.path),
        "groups": group.groups.iter().map(group_to_json).collect::<Vec<_>>(),
        "checks": group.checks.iter().map(check_to_json).collect::<Vec<_>>(),
    })
}

/// A check, as `handleSummary` and the exported file have it.
pub(super) fn check_to_json(check: &Check) -> Value {
    let Check { name, path, passes, fails } = check;
    json!({"name": name, "path": path, "id": id(path), "passes": passes, "fails": fails})
}

fn group_of_json(own: &Value) -> Group {
    Group {
        name: text(&own["name"]),
        path: text(&own["path"]),
        checks: list(&own["checks"]).map(check_of_json).collect(),
        groups: list(&own["groups"]).map(group_of_json).collect(),
    }
}

fn check_of_json(own: &Value) -> Check {
    Check {
        name: text(&own["name"]),
        path: text(&own["path"]),
        passes: own["passes"].as_u64().unwrap_or(0),
        fails: own["fails"].as_u64().unwrap_or(0),
    }
}

fn text(own: &Value) -> String {
    own.as_str().unwrap_or_default().to_owned()
}

fn list(own: &Value) -> impl Iterator<Item = &Value> {
    own.as_array().into_iter().flatten()
}

fn entries(own: &Value) -> impl Iterator<Item = (&String, &Value)> {
    own.as_object().into_iter().flat_map(Map::iter)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::golden::golden;

    #[test]
    fn the_data_are_those_of_handle_summary() {
        let text = serde_json::to_string_pretty(&sample::data().to_json()).expect("JSON");
        golden("summary/golden/data.json", &(text + "\n"));
    }

    #[test]
    fn what_was_written_is_read() {
        let data = SummaryData { scenarios: Vec::new(), ..sample::data() };
        let options = SummaryOptions {
            trend_stats: vec!["max".to_owned()],
            time_unit: Some(TimeUnit::Microseconds),
            no_color: true,
        };
        let data = SummaryData { options, ..data };
        assert_eq!(SummaryData::from_json(&data.to_json()), Ok(data));
    }

    #[test]
    fn what_is_no_summary_is_refused() {
        for (data, expected) in [
            (json!(null), "has to be an object with `metrics`"),
            (json!({"metrics": []}), "has to be an object with `metrics`"),
            (json!({"metrics": {"a": {"type": "sum"}}}), "metric `a`"),
        ] {
            let error = SummaryData::from_json(&data).expect_err("an error");
            assert!(error.contains(expected), "{error}");
        }
        // What a script has taken away is not there.
        let data = SummaryData::from_json(&json!({"metrics": {}})).expect("a summary");
        assert_eq!(data, SummaryData::default());
    }
}
