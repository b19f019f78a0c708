//! The steady part of a run: where it begins and ends by the plan, and that it has
//! intervals.

use serde_json::Value;

use crate::common::{End, options, result, target};

fn run(lines: &str) -> Value {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!("target: {}\n{lines}\n", server.url());
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    result(folder.path(), &options(), End::Passed)
}

fn part(json: &Value) -> (Option<u64>, Option<u64>) {
    (json["steady"]["from_s"].as_u64(), json["steady"]["to_s"].as_u64())
}

#[test]
fn ramps_warm_ups_and_ends_are_cut_off() {
    let json = run(
        "warmup: none\nscenarios: {a: {load: {rate: 200/s, ramp: 1s, for: 6500ms}, steps: [{get: '/delay/2?dist=uniform&spread=20'}]}}",
    );
    assert_eq!(part(&json), (Some(1), Some(6)), "{}", json["steady"]);
    let steady = &json["steady"];
    let count = steady["count"].as_f64().expect("a count");
    assert!((900.0..=1_100.0).contains(&count), "about 200 a second: {count}");
    assert_eq!((steady["rate"].as_f64(), &steady["found"]), (Some(count / 5.0), &true.into()));
    for key in ["mean", "p50", "rate"] {
        let value = &steady["confidence"][key];
        let of = |name: &str| value[name].as_f64().unwrap_or_else(|| panic!("{name}: {value}"));
        assert!(of("low") <= of("value") && of("value") <= of("high"), "{value}");
    }
    // Five seconds know too little of each other to bound high percentiles above.
    for (key, why) in [("p90", "fewer than 20 steady seconds"), ("p999", "too few slow responses")]
    {
        for confidence in ["confidence", "corrected_confidence"] {
            let value = &steady[confidence][key];
            assert!(value["low"].as_f64() <= value["value"].as_f64(), "{value}");
            assert_eq!((&value["high"], &value["why"]), (&Value::Null, &why.into()), "{value}");
        }
    }
    let json = run(
        "warmup: 2s\nscenarios: {a: {load: {users: 2, for: 7500ms}, steps: [{get: /}, {think: 10ms}]}}",
    );
    assert_eq!(part(&json), (Some(2), Some(7)), "{}", json["steady"]);
}

#[test]
fn a_load_that_always_changes_has_no_steady_part() {
    let json = run(
        "scenarios: {a: {load: {stages: [{users: 2, over: 1s}, {users: 4, over: 1s}]}, steps: [{get: /delay/5}]}}",
    );
    assert_eq!(json["steady"], Value::Null);
    assert!(!json["validity_reasons"].to_string().contains("unsteady"));
}
