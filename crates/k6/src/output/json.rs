//! Lines of `--out json`: one that says what a metric is, before the first of its points, and one for each point. Pure.

use serde_json::{Map, Value, json};

use super::point::{Point, PointMetric};
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
        "time": time(own.unix_us),
        "value": whole_or_fraction(own.value),
        "tags": map(own.tags),
    });
    if !own.metadata.is_empty() {
        data["metadata"] = Value::Object(map(own.metadata));
    }
    json!({"metric": own.metric.name, "type": "Point", "data": data})
}

/// A time in µs since 1970 as RFC 3339 writes it, in UTC.
fn time(unix_us: u64) -> String {
    let (seconds, us) = (unix_us / 1_000_000, unix_us % 1_000_000);
    let days = i64::try_from(seconds / 86_400).unwrap_or(0);
    let (year, month, day) = squall_base::calendar::date(days);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{us:06}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_utc() {
        assert_eq!(time(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(time(951_827_696_000_001), "2000-02-29T12:34:56.000001Z");
    }
}
