//! Sets keys of a plan, which is a value as its file would have it. What is set is looked at when the plan is read again.

use serde_json::{Map, Value};
use squall_plan::model::LoadKey;

/// Users of an open workload at most, where its plan does not say: seconds' worth of arrivals, and the bounds of that.
const MAX_USERS_SECONDS: f64 = 10.0;
const MAX_USERS: (f64, f64) = (100.0, 1e6);

/// Sets a part of every load that has it.
///
/// # Errors
/// No load has it, in a sentence.
pub(crate) fn set_load(plan: &mut Value, key: LoadKey, value: &Value) -> Result<(), String> {
    let (name, mut count) = (key.label(), 0);
    for load in loads(plan) {
        let is_open = load.contains_key("rate");
        let is_staged = load.contains_key("stages");
        let has = match key {
            LoadKey::Users => load.contains_key("users") && !is_staged,
            LoadKey::Rate => is_open && !is_staged,
            LoadKey::For => !is_staged,
            LoadKey::Iterations => !is_open && !is_staged,
        };
        if !has {
            continue;
        }
        if key == LoadKey::Rate && has_usual_users(load) {
            load.remove("max_users");
        }
        load.insert(name.to_owned(), value.clone());
        count += 1;
    }
    match count {
        0 => Err(format!(
            "the plan has no load whose `{name}` could be set; its stages can be: `plan: scenarios.NAME.load.stages`"
        )),
        _ => Ok(()),
    }
}

/// The loads of a plan.
fn loads(plan: &mut Value) -> Vec<&mut Map<String, Value>> {
    let Some(plan) = plan.as_object_mut() else { return Vec::new() };
    let mut found = Vec::new();
    for (key, value) in plan {
        match (key.as_str(), value) {
            ("load", Value::Object(load)) => found.push(load),
            ("scenarios", Value::Object(scenarios)) => {
                let own = scenarios.values_mut().filter_map(|own| own.get_mut("load"));
                found.extend(own.filter_map(Value::as_object_mut));
            }
            _ => {}
        }
    }
    found
}

/// Whether an open workload has as many users as one has whose plan does not say how many.
fn has_usual_users(load: &Map<String, Value>) -> bool {
    let rate = match load.get("rate") {
        Some(Value::String(text)) => squall_base::units::parse_rate(text).ok(),
        other => other.and_then(Value::as_f64),
    };
    let usual = rate.map(|rate| (rate * MAX_USERS_SECONDS).ceil().clamp(MAX_USERS.0, MAX_USERS.1));
    usual.is_some() && load.get("max_users").and_then(Value::as_f64) == usual
}

/// Sets a key by its path: names with a `.` between them, of which one may hold dots itself, and numbers from 1 in lists.
///
/// # Errors
/// The path leads through what has no keys, in a sentence.
pub(crate) fn set_path(plan: &mut Value, path: &str, value: &Value) -> Result<(), String> {
    let (mut at, mut left) = (plan, path);
    loop {
        let walked = path[..path.len() - left.len()].trim_end_matches('.');
        let (key, rest) = match &*at {
            Value::Object(map) => first_key(map, left),
            _ => left.split_once('.').map_or((left, None), |(key, rest)| (key, Some(rest))),
        };
        let key = key.to_owned();
        let entry = match at {
            Value::Object(map) => map.entry(key).or_insert(Value::Null),
            Value::Array(items) => {
                let (count, number) = (items.len(), key.parse::<usize>());
                let number = number.ok().and_then(|number| number.checked_sub(1));
                number.and_then(|number| items.get_mut(number)).ok_or_else(|| {
                    format!("`{walked}` is a list of {count}: expected a number from 1 to {count}, found `{key}`")
                })?
            }
            other => return Err(format!("`{walked}` is {other}, and has no key `{key}`")),
        };
        let Some(rest) = rest else {
            *entry = value.clone();
            return Ok(());
        };
        if entry.is_null() {
            *entry = Value::Object(Map::new());
        }
        (at, left) = (entry, rest);
    }
}

/// The first key of a path, and the rest: a key that is there with dots in it, or what stands before the first dot.
fn first_key<'p>(map: &Map<String, Value>, path: &'p str) -> (&'p str, Option<&'p str>) {
    let dots = path.match_indices('.').map(|(at, _)| at);
    let ends: Vec<usize> = dots.chain([path.len()]).collect();
    let known = ends.iter().rev().find(|end| map.contains_key(&path[..**end]));
    let end = *known.unwrap_or(&ends[0]);
    (&path[..end], path.get(end + 1..))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_key_is_set_by_its_path() {
        let mut plan = json!({
            "connections": {"reuse": "per_user"},
            "scenarios": {"a.b": {"steps": [{"get": "/"}, {"think": "1s"}]}},
            "bandwidth": "2Mbit/s",
        });
        for (path, value) in [
            ("connections.reuse", json!("pool")),
            ("connections.dns.ttl", json!("1s")),
            ("scenarios.a.b.steps.2.think", json!("5s")),
            ("seed", json!(4)),
        ] {
            set_path(&mut plan, path, &value).expect(path);
        }
        let expected = json!({
            "connections": {"reuse": "pool", "dns": {"ttl": "1s"}},
            "scenarios": {"a.b": {"steps": [{"get": "/"}, {"think": "5s"}]}},
            "bandwidth": "2Mbit/s",
            "seed": 4,
        });
        assert_eq!(plan, expected);
        for (path, said) in [
            ("bandwidth.down", "`bandwidth` is \"2Mbit/s\""),
            ("scenarios.a.b.steps.3.get", "from 1 to 2, found `3`"),
            ("scenarios.a.b.steps.0.get", "found `0`"),
        ] {
            let error = set_path(&mut plan, path, &json!(1)).expect_err(path);
            assert!(error.contains(said), "{error}");
        }
        assert_eq!(plan, expected, "what cannot be set changes nothing");
    }

    #[test]
    fn a_part_of_the_load_is_set_wherever_a_load_has_it() {
        let plan = json!({
            "load": {"users": 1, "for": "1s"},
            "scenarios": {
                "open": {"load": {"rate": "50/s", "for": "1s", "max_users": 500}},
                "few": {"load": {"rate": 50, "for": "1s", "max_users": 20}},
                "staged": {"load": {"users": 1, "stages": [{"users": 2, "over": "1s"}]}},
            },
        });
        let set = |key, value| {
            let mut plan = plan.clone();
            set_load(&mut plan, key, &value).map(|()| plan)
        };
        let users = set(LoadKey::Users, json!(7)).unwrap();
        assert_eq!(users["load"]["users"], 7);
        assert_eq!(users["scenarios"]["staged"], plan["scenarios"]["staged"]);
        let rate = set(LoadKey::Rate, json!("100/s")).unwrap();
        assert_eq!(rate["scenarios"]["open"]["load"], json!({"rate": "100/s", "for": "1s"}));
        assert_eq!(rate["scenarios"]["few"]["load"]["max_users"], 20);
        assert_eq!(
            set(LoadKey::For, json!("2s")).unwrap()["scenarios"]["few"]["load"]["for"],
            "2s"
        );
        let mut none = json!({"scenarios": {"a": {"load": {"rate": 1}}}});
        assert!(
            set_load(&mut none, LoadKey::Users, &json!(1))
                .is_err_and(|why| why.contains("`users`"))
        );
    }
}
