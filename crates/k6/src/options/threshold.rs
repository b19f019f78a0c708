//! k6's thresholds: a metric, perhaps with tags, and what is asked of it. Pure.

use std::time::Duration;

use squall_plan::diagnostic::nearest;
use squall_script::{MetricKind, ScriptMetric};

use super::load::Scenario;
use super::value::{At, OptionError};
use crate::summary::BuiltIn;

/// A requirement.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The metric as it was written, with its tags: `http_req_duration{name:login}`.
    pub subject: String,
    /// The name of the metric.
    pub metric: String,
    /// Tags that the values must have.
    pub tags: Vec<(String, String)>,
    /// The expression as it was written: `p(95)<200`.
    pub text: String,
    pub aggregate: Aggregate,
    /// `<`, `<=`, `>`, `>=`, `==` or `!=`.
    pub operator: &'static str,
    pub limit: f64,
    /// Whether the test ends as soon as it is violated.
    pub aborts: bool,
    /// When that is looked at first, counted from the start of the test.
    pub delay: Duration,
}

/// What is made of a metric's values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aggregate {
    Average,
    Minimum,
    Maximum,
    Median,
    /// From 0 to 100.
    Percentile(f64),
    /// The sum of a counter.
    Count,
    /// A counter's sum per second, or the share of a rate.
    Rate,
    /// The last value of a gauge.
    Last,
}

/// The thresholds of a test with these scenarios. `own` are the metrics that the script makes; `warnings` get what changes nothing.
///
/// # Errors
/// A metric is unknown, or an expression is not what is expected.
pub fn thresholds(
    all: &At<'_>,
    own: &[ScriptMetric],
    scenarios: &[Scenario],
    warnings: &mut Vec<String>,
) -> Result<Vec<Threshold>, OptionError> {
    let mut found = Vec::new();
    for (subject, at) in all.map()? {
        let (name, tags) = of_subject(&subject, &at)?;
        let kind = kind_of(&name, own).ok_or_else(|| unknown(&name, own, &at))?;
        let is_there = |name: &str| scenarios.iter().any(|own| own.name == name);
        let absent = tags.iter().find(|(tag, value)| tag == "scenario" && !is_there(value));
        if let Some((_, name)) = absent {
            warnings.push(format!(
                "option `{}` has no effect: the test has no scenario `{name}`",
                at.name
            ));
            continue;
        }
        for entry in at.list()? {
            warnings.extend(without_effect(&entry));
            found.push(threshold(&entry, (&subject, &name, tags.clone()), kind)?);
        }
    }
    Ok(found)
}

fn unknown(name: &str, own: &[ScriptMetric], at: &At<'_>) -> OptionError {
    let built_in = BuiltIn::ALL.iter().map(|own| own.name);
    let near = nearest(name, built_in.chain(own.iter().map(|own| own.name.as_str())));
    let help = near.map_or_else(
        || "the script has to make it, at its top level".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    at.refused(format!("unknown metric `{name}`: {help}"))
}

/// What a metric's values are: one of k6's, or of the script's own.
fn kind_of(name: &str, own: &[ScriptMetric]) -> Option<MetricKind> {
    let made = || own.iter().find(|own| own.name == name).map(|own| own.kind);
    BuiltIn::of(name).map(|own| own.kind).or_else(made)
}

/// What k6 calls a kind, and what thresholds may ask of it.
fn of_kind(kind: MetricKind) -> (&'static str, &'static str) {
    match kind {
        MetricKind::Counter => ("counter", "count and rate"),
        MetricKind::Gauge => ("gauge", "value"),
        MetricKind::Rate => ("rate", "rate"),
        MetricKind::Trend => ("trend", "avg, min, max, med and p(N)"),
    }
}

/// Keys of a threshold that mean nothing: k6 ignores them too (`thresholdConfig` in its metrics/thresholds.go).
fn without_effect(at: &At<'_>) -> Option<String> {
    const KEYS: [&str; 3] = ["threshold", "abortOnFail", "delayAbortEval"];
    let all = at.value.as_object()?;
    let key = all.keys().find(|key| !KEYS.contains(&key.as_str()))?;
    let help = match key.as_str() {
        "tags" => "name tags with the metric, as in `http_reqs{name:login}`".to_owned(),
        _ => format!("expected one of {}", KEYS.join(", ")),
    };
    Some(format!("option `{}.{key}` has no effect: {help}", at.name))
}

fn threshold(
    at: &At<'_>,
    (subject, metric, tags): (&str, &str, Vec<(String, String)>),
    kind: MetricKind,
) -> Result<Threshold, OptionError> {
    let is_text = at.value.is_string();
    let text = match is_text {
        true => at.clone(),
        false => at
            .key("threshold")
            .ok_or_else(|| at.expected("a text, or a mapping with `threshold`"))?,
    };
    let (aggregate, operator, limit) = expression(text.text()?).ok_or_else(|| {
        text.expected("an expression such as \"p(95)<200\", \"rate>0.9\" or \"count<=10\"")
    })?;
    if !aggregate.is_of(kind) {
        let (word, allowed) = of_kind(kind);
        return Err(text.refused(format!("`{metric}` is a {word}, of which there is {allowed}")));
    }
    let key = |name: &str| if is_text { None } else { at.key(name) };
    Ok(Threshold {
        subject: subject.to_owned(),
        metric: metric.to_owned(),
        tags,
        text: text.text()?.to_owned(),
        aggregate,
        operator,
        limit,
        aborts: key("abortOnFail").map(|own| own.switch()).transpose()?.unwrap_or_default(),
        delay: key("delayAbortEval").map(|own| own.time()).transpose()?.unwrap_or_default(),
    })
}

/// A metric's name and tags: `name`, or `name{tag:value,other:"a value"}`.
fn of_subject(text: &str, at: &At<'_>) -> Result<(String, Vec<(String, String)>), OptionError> {
    let wrong = || {
        at.refused(format!(
            "`{text}`: expected a metric, or one with tags as in http_reqs{{name:login}}"
        ))
    };
    let Some((name, rest)) = text.split_once('{') else {
        return Ok((text.trim().to_owned(), Vec::new()));
    };
    let inner = rest.trim_end().strip_suffix('}').ok_or_else(wrong)?;
    let mut tags = Vec::new();
    let mut rest = inner.trim();
    while !rest.is_empty() {
        let (tag, after) = rest.split_once(':').ok_or_else(wrong)?;
        let (value, after) = tag_value(after.trim_start()).ok_or_else(wrong)?;
        tags.push((tag.trim().trim_matches(['"', '\'']).to_owned(), value.to_owned()));
        rest = after.trim_start();
        if let Some(more) = rest.strip_prefix(',') {
            rest = more.trim_start();
        } else if !rest.is_empty() {
            return Err(wrong());
        }
    }
    if tags.is_empty() || tags.iter().any(|(tag, _)| tag.is_empty()) {
        return Err(wrong());
    }
    Ok((name.trim().to_owned(), tags))
}

/// The value of a tag, in quotes or up to a comma, and what follows.
fn tag_value(text: &str) -> Option<(&str, &str)> {
    match text.chars().next().filter(|own| matches!(own, '"' | '\'')) {
        Some(quote) => text[1..].split_once(quote),
        None => {
            let end = text.find(',').unwrap_or(text.len());
            Some((text[..end].trim(), &text[end..]))
        }
    }
}

/// `p(95)<200`: what is made of the values, the operator and the limit.
fn expression(text: &str) -> Option<(Aggregate, &'static str, f64)> {
    let at = text.find(['<', '>', '=', '!'])?;
    let (word, rest) = text.split_at(at);
    let operators = [
        ("===", "=="),
        ("<=", "<="),
        (">=", ">="),
        ("==", "=="),
        ("!=", "!="),
        ("<", "<"),
        (">", ">"),
    ];
    let found = |(own, ours): (&str, &'static str)| Some((ours, rest.strip_prefix(own)?));
    let (operator, limit) = operators.into_iter().find_map(found)?;
    let limit = limit.trim().parse::<f64>().ok().filter(|own| own.is_finite())?;
    Some((aggregate(word.trim())?, operator, limit))
}

fn aggregate(word: &str) -> Option<Aggregate> {
    Some(match word {
        "avg" => Aggregate::Average,
        "min" => Aggregate::Minimum,
        "max" => Aggregate::Maximum,
        "med" => Aggregate::Median,
        "count" => Aggregate::Count,
        "rate" => Aggregate::Rate,
        "value" => Aggregate::Last,
        _ => {
            let of = word.strip_prefix("p(")?.strip_suffix(')')?.trim();
            let of = of.parse::<f64>().ok().filter(|own| (0.0..=100.0).contains(own))?;
            Aggregate::Percentile(of)
        }
    })
}

impl Aggregate {
    /// Whether values of such a metric can be asked for it.
    fn is_of(self, kind: MetricKind) -> bool {
        match self {
            Aggregate::Count => kind == MetricKind::Counter,
            Aggregate::Rate => matches!(kind, MetricKind::Counter | MetricKind::Rate),
            Aggregate::Last => kind == MetricKind::Gauge,
            _ => kind == MetricKind::Trend,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::options::Source;

    fn read(value: &Value) -> Result<Vec<Threshold>, String> {
        let own =
            [ScriptMetric { name: "stock".to_owned(), kind: MetricKind::Gauge, is_time: false }];
        let at = At { value, name: "thresholds".to_owned(), source: &Source::Script };
        thresholds(&at, &own, &[], &mut Vec::new()).map_err(|error| error.to_string())
    }

    #[test]
    fn texts_and_mappings_are_read() {
        let value = json!({
            "http_req_duration": ["p(99.9) < 200", "avg<=1e2", {"threshold": "med<5", "abortOnFail": true, "delayAbortEval": "10s"}],
            "http_req_duration{name:GET /a, group: ::x::y ,status:\"2,0\"}": ["max>0.5"],
            "checks": ["rate===1"],
            "stock": ["value!=0"],
        });
        let found = read(&value).expect("thresholds");
        let shown: Vec<_> = found
            .iter()
            .map(|own| (own.metric.as_str(), own.aggregate, own.operator, own.limit))
            .collect();
        let expected = [
            ("http_req_duration", Aggregate::Percentile(99.9), "<", 200.0),
            ("http_req_duration", Aggregate::Average, "<=", 100.0),
            ("http_req_duration", Aggregate::Median, "<", 5.0),
            ("http_req_duration", Aggregate::Maximum, ">", 0.5),
            ("checks", Aggregate::Rate, "==", 1.0),
            ("stock", Aggregate::Last, "!=", 0.0),
        ];
        assert_eq!(shown, expected);
        assert_eq!((found[2].aborts, found[2].delay), (true, Duration::from_secs(10)));
        let tags = [("name", "GET /a"), ("group", "::x::y"), ("status", "2,0")];
        let tags: Vec<_> = tags.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        assert_eq!(found[3].tags, tags);
        assert_eq!(
            found[3].subject,
            "http_req_duration{name:GET /a, group: ::x::y ,status:\"2,0\"}"
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (value, said) in [
            (
                json!({"http_req_durations": ["avg<1"]}),
                "unknown metric `http_req_durations`: did you mean `http_req_duration`?",
            ),
            (
                json!({"whatever": ["avg<1"]}),
                "unknown metric `whatever`: the script has to make it",
            ),
            (json!({"checks": ["p(95)<1"]}), "`checks` is a rate, of which there is rate"),
            (
                json!({"http_reqs": ["avg<1"]}),
                "`http_reqs` is a counter, of which there is count and rate",
            ),
            (json!({"checks": ["rate ~ 1"]}), "expected an expression such as"),
            (json!({"checks": ["rate<"]}), "expected an expression such as"),
            (json!({"http_req_duration": ["p(101)<1"]}), "expected an expression such as"),
            (json!({"checks{": ["rate<1"]}), "expected a metric, or one with tags"),
            (json!({"checks{a}": ["rate<1"]}), "expected a metric, or one with tags"),
            (json!({"checks": "rate<1"}), "expected a list"),
            (json!({"checks": [{}]}), "expected a text, or a mapping with `threshold`"),
        ] {
            let error = read(&value).expect_err("an error");
            assert!(error.contains(said), "{value}: {error}");
        }
    }
}
