//! All options of a test, as `exec.test.options` gives them to its script: from everywhere, with a scenario in place of short
//! forms. What was not given is null, but where k6 itself fills in a value. Pure.
//!
//! The shape is that of k6's `lib.Options` as JSON (`optionsAsObject` in its `js/modules/k6/execution`); the values that k6
//! fills in are those of `applyDefault` in its `cmd/config.go`.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::executor::{self, EXECUTORS, Executor, OF_ALL};
use super::layers::Layers;
use super::load::{self, DEFAULT};
use super::system_tags::USUAL;
use super::table::OPTIONS;
use super::value::{At, OptionError};
use crate::summary::SummaryOptions;

/// Options that scripts are not told: scenarios stand for the first four, and k6 has the others elsewhere.
const NOT_TOLD: [&str; 7] =
    ["vus", "duration", "iterations", "stages", "noThresholds", "linger", "noUsageReport"];

/// Options that scripts are told and that squall does not have.
const OF_K6: [&str; 2] = ["consoleOutput", "metricSamplesBufferSize"];

/// Keys whose values are times.
const TIMES: [&str; 8] = [
    "setupTimeout",
    "teardownTimeout",
    "minIterationDuration",
    "startTime",
    "gracefulStop",
    "duration",
    "maxDuration",
    "gracefulRampDown",
];

/// All options.
///
/// # Errors
/// A time is not what is expected.
pub(super) fn consolidated(layers: &Layers) -> Result<Value, OptionError> {
    let mut all = Map::new();
    for name in OPTIONS.iter().map(|own| own.name).filter(|own| !NOT_TOLD.contains(own)) {
        let value = match layers.get(name) {
            Some(own) => told(&own)?,
            None => filled_in(name),
        };
        all.insert(name.to_owned(), value);
    }
    all.extend(OF_K6.map(|name| (name.to_owned(), Value::Null)));
    all.insert("scenarios".to_owned(), scenarios(layers)?);
    Ok(Value::Object(all))
}

/// A value as it was given, in the form that k6 gives to all of its kind.
fn told(own: &At<'_>) -> Result<Value, OptionError> {
    let key = own.name.rsplit('.').next().unwrap_or_default();
    match (key, own.value) {
        (_, Value::Null) => Ok(Value::Null),
        (key, _) if TIMES.contains(&key) => Ok(json!(time(own.time()?))),
        ("tlsVersion", Value::String(both)) => Ok(json!({"min": both, "max": both})),
        ("dns", Value::Object(own)) => {
            let mut all = filled_in("dns");
            all.as_object_mut().into_iter().for_each(|all| all.extend(own.clone()));
            Ok(all)
        }
        // What is shown of a certificate is no secret.
        ("tlsAuth", Value::Array(list)) => Ok(list
            .iter()
            .map(|own| json!({"cert": own.get("cert"), "domains": own.get("domains")}))
            .collect()),
        ("thresholds", Value::Object(_)) => {
            let one = |(subject, at): (String, At<'_>)| {
                let list: Vec<Value> =
                    at.list()?.iter().map(threshold).collect::<Result<_, _>>()?;
                Ok((subject, Value::from(list)))
            };
            own.map()?.into_iter().map(one).collect()
        }
        _ => Ok(own.value.clone()),
    }
}

/// A threshold: its text alone, unless it can end the test.
fn threshold(own: &At<'_>) -> Result<Value, OptionError> {
    let Some(text) = own.key("threshold") else { return Ok(own.value.clone()) };
    if !own.key("abortOnFail").map(|own| own.switch()).transpose()?.unwrap_or_default() {
        return Ok(text.value.clone());
    }
    let delay = own.key("delayAbortEval").map(|own| own.time()).transpose()?.map(time);
    Ok(json!({"threshold": text.value, "abortOnFail": true, "delayAbortEval": delay}))
}

/// What k6 fills in where an option was not given.
fn filled_in(name: &str) -> Value {
    match name {
        "setupTimeout" | "teardownTimeout" => json!("1m0s"),
        "dns" => json!({"ttl": "5m", "select": "random", "policy": "preferIPv4"}),
        "summaryTrendStats" => json!(SummaryOptions::default().trend_stats),
        "systemTags" => json!(USUAL),
        _ => Value::Null,
    }
}

/// Each scenario with all keys that its executor has.
fn scenarios(layers: &Layers) -> Result<Value, OptionError> {
    let Some(given) = load::given(layers) else {
        let short = short(&executor::of_short_forms(layers)?);
        let source = &super::Source::Script;
        return Ok(
            json!({DEFAULT: scenario(&At { value: &short, name: DEFAULT.to_owned(), source })?}),
        );
    };
    given.map()?.into_iter().map(|(name, at)| Ok((name, scenario(&at)?))).collect()
}

fn scenario(own: &At<'_>) -> Result<Value, OptionError> {
    let executor = own.value.get("executor").and_then(Value::as_str).unwrap_or_default();
    let keys = EXECUTORS.iter().find(|(name, _)| *name == executor).map_or(&[][..], |own| own.1);
    let value = |key: &&str| {
        let value = own.key(key).map_or(Ok(Value::Null), |at| match *key {
            "stages" => at.list()?.iter().map(stage).collect(),
            _ => told(&at),
        });
        Ok(((*key).to_owned(), value?))
    };
    OF_ALL.iter().chain(keys).map(value).collect()
}

fn stage(own: &At<'_>) -> Result<Value, OptionError> {
    let duration = own.key("duration").map(|own| told(&own)).transpose()?;
    Ok(json!({"duration": duration, "target": own.key("target").map(|own| own.value.clone())}))
}

/// The scenario that a short form stands for.
fn short(own: &Executor) -> Value {
    match own {
        Executor::ConstantVus { users, duration } => {
            json!({"executor": "constant-vus", "vus": users, "duration": time(*duration)})
        }
        Executor::RampingVus { start, stages, .. } => {
            let stage = |own: &executor::Stage| json!({"duration": time(own.duration), "target": own.target});
            let stages: Vec<Value> = stages.iter().map(stage).collect();
            json!({"executor": "ramping-vus", "startVUs": start, "stages": stages})
        }
        Executor::SharedIterations { users, iterations, max_duration } => {
            let length = time(*max_duration);
            json!({"executor": "shared-iterations", "vus": users, "iterations": iterations, "maxDuration": length})
        }
        // No short form stands for them.
        Executor::PerVuIterations { .. }
        | Executor::ConstantArrivalRate { .. }
        | Executor::RampingArrivalRate { .. } => Value::Null,
    }
}

/// A time as Go writes it: `1h0m0s`, `1m30s`, `1.5s`, `250ms`.
fn time(own: Duration) -> String {
    let (seconds, nanos) = (own.as_secs(), own.subsec_nanos());
    match (seconds, nanos) {
        (0, 0) => "0s".to_owned(),
        (0, _) if nanos < 1_000 => format!("{nanos}ns"),
        (0, _) if nanos < 1_000_000 => format!("{}µs", f64::from(nanos) / 1e3),
        (0, _) => format!("{}ms", f64::from(nanos) / 1e6),
        _ => {
            let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
            let rest = (seconds % 60) as f64 + f64::from(nanos) / 1e9;
            match (hours, minutes) {
                (0, 0) => format!("{rest}s"),
                (0, _) => format!("{minutes}m{rest}s"),
                _ => format!("{hours}h{minutes}m{rest}s"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Source, known};

    fn of(options: &Value, flags: &[(&str, &str)]) -> Value {
        let mut layers = Layers::default();
        layers.add_map(&Source::Script, options).expect("options");
        let flag = |(name, text): &(&str, &str)| {
            (known(name).expect("an option"), vec![(*text).to_owned()])
        };
        layers.add_flags(&flags.iter().map(flag).collect::<Vec<_>>()).expect("flags");
        consolidated(&layers).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn short_forms_are_scenarios() {
        let none = json!({"env": null, "exec": null, "gracefulStop": null, "startTime": null, "tags": null});
        for (options, expected) in [
            (
                json!({}),
                json!({"executor": "shared-iterations", "vus": 1, "iterations": 1, "maxDuration": "10m0s"}),
            ),
            (
                json!({"vus": 3, "duration": "90s"}),
                json!({"executor": "constant-vus", "vus": 3, "duration": "1m30s"}),
            ),
            (
                json!({"stages": [{"duration": "1h", "target": 5}]}),
                json!({"executor": "ramping-vus", "startVUs": 1, "stages": [{"duration": "1h0m0s", "target": 5}], "gracefulRampDown": null}),
            ),
        ] {
            let mut expected = expected;
            let all = expected.as_object_mut().expect("a mapping");
            all.extend(none.as_object().cloned().into_iter().flatten());
            let found = of(&options, &[]);
            assert_eq!(found["scenarios"], json!({"default": expected}), "{options}");
            assert_eq!((found.get("vus"), found.get("stages")), (None, None));
        }
    }

    #[test]
    fn options_of_everywhere_are_told_in_one_form() {
        let options = json!({
            "scenarios": {"a": {"executor": "per-vu-iterations", "vus": 2, "gracefulStop": "500ms", "env": {"A": "1"}}},
            "dns": {"ttl": "1m"}, "tlsVersion": "tls1.3", "setupTimeout": "90s", "minIterationDuration": 1500, "rps": 5, "batch": 7,
            "tags": {"k": "v"},
            "thresholds": {"checks": ["rate>0.5", {"threshold": "rate>0.1"}, {"threshold": "rate>0", "abortOnFail": true, "delayAbortEval": "1m"}]},
        });
        let found = of(&options, &[("batch", "9")]);
        let scenario = json!({
            "executor": "per-vu-iterations", "vus": 2, "iterations": null, "maxDuration": null, "startTime": null,
            "gracefulStop": "500ms", "env": {"A": "1"}, "exec": null, "tags": null,
        });
        assert_eq!(found["scenarios"], json!({"a": scenario}));
        for (name, value) in [
            ("batch", json!(9)),
            ("rps", json!(5)),
            ("dns", json!({"ttl": "1m", "select": "random", "policy": "preferIPv4"})),
            ("tlsVersion", json!({"min": "tls1.3", "max": "tls1.3"})),
            ("setupTimeout", json!("1m30s")),
            ("teardownTimeout", json!("1m0s")),
            ("minIterationDuration", json!("1.5s")),
            ("tags", json!({"k": "v"})),
            ("userAgent", Value::Null),
            ("consoleOutput", Value::Null),
        ] {
            assert_eq!(found.get(name), Some(&value), "{name}");
        }
        let ends = json!({"threshold": "rate>0", "abortOnFail": true, "delayAbortEval": "1m0s"});
        assert_eq!(found["thresholds"], json!({"checks": ["rate>0.5", "rate>0.1", ends]}));
        assert_eq!(found["systemTags"].as_array().map(Vec::len), Some(14));
        // A number of users that was typed replaces the scenarios.
        assert_eq!(of(&options, &[("vus", "4")])["scenarios"]["default"]["vus"], json!(4));
    }

    #[test]
    fn times_are_written_as_go_does() {
        for (ms, text) in
            [(0, "0s"), (250, "250ms"), (1_500, "1.5s"), (60_000, "1m0s"), (3_661_000, "1h1m1s")]
        {
            assert_eq!(time(Duration::from_millis(ms)), text);
        }
        assert_eq!(time(Duration::from_nanos(1_500)), "1.5µs");
    }
}
