//! Lines of `--out json`: one that says what a metric is, before the first of its points, and one for each point. Pure.

use serde_json::{Map, Value, json};

use super::point::{Point, PointMetric, rfc_3339};
use crate::summary::{Selector, kind_label, whole_or_fraction};

/// What a metric is. `thresholds` are those of the script: the metric with its tags, and the expression.
pub(super) fn metric(own: &PointMetric<'_>, thresholds: &[(String, String)]) -> Value {
    let name = own.name;
    let here = thresholds.iter().filter(|(metric, _)| metric == name);
    let here: Vec<&String> = here.map(|(_, expression)| expression).collect();
    let mut parts: Vec<&str> = Vec::new();
    for (metric, _) in thresholds {
        let Selector { name: of, braces, .. } = Selector::of(metric);
        if of == name && !braces.is_empty() && !parts.contains(&metric.as_str()) {
            parts.push(metric);
        }
    }
    let parts = match parts.is_empty() {
        true => Value::Null,
        false => parts.into_iter().map(part).collect(),
    };
    json!({
        "type": "Metric",
        "data": {
            "name": name,
            "type": kind_label(own.kind),
            "contains": own.contains.label(),
            "thresholds": here,
            "submetrics": parts,
        },
        "metric": name,
    })
}

/// Those values of a metric that a threshold is about.
fn part(metric: &str) -> Value {
    let Selector { tags, braces, .. } = Selector::of(metric);
    let tags = tags.into_iter().map(|(tag, value)| (tag.to_owned(), json!(value)));
    json!({
        "name": metric,
        "suffix": braces.trim_start_matches('{').trim_end_matches('}'),
        "tags": tags.collect::<Map<_, _>>(),
    })
}

/// A value of a metric.
pub(super) fn point(own: &Point<'_>) -> Value {
    let map = |all: &[(&str, std::borrow::Cow<'_, str>)]| {
        all.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect::<Map<_, _>>()
    };
    let mut data = json!({
        "time": rfc_3339(own.unix_us),
        "value": whole_or_fraction(own.value),
        "tags": map(own.tags),
    });
    if !own.metadata.is_empty() {
        data["metadata"] = Value::Object(map(own.metadata));
    }
    json!({"metric": own.metric.name, "type": "Point", "data": data})
}
