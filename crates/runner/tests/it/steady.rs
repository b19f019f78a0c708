//! The steady part of a run is where the plan's load is constant, less what the plan calls warm-up, and has intervals.
//! Where else it begins, and what intervals there are, is tested on series that are known.

use serde_json::Value;

use crate::common::{End, options, result, target};

fn run(lines: &str) -> Value {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!("target: {}\n{lines}\n", server.url());
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    result(folder.path(), &options(), End::Passed)
}

#[test]
fn a_ramp_and_the_end_are_cut_off() {
    let json = run(
        "warmup: none\nscenarios: {a: {load: {rate: 200/s, ramp: 1s, for: 6s}, steps: [{get: '/delay/2?dist=uniform&spread=20'}]}}",
    );
    let steady = &json["steady"];
    assert_eq!(
        (steady["from_s"].as_u64(), steady["to_s"].as_u64()),
        (Some(1), Some(6)),
        "{steady}"
    );
    let seconds = json["series"].as_array().expect("seconds");
    let count: u64 = seconds[1..6].iter().filter_map(|second| second["requests"].as_u64()).sum();
    assert_eq!(steady["count"].as_u64(), Some(count), "{steady}");
    assert_eq!(
        (steady["rate"].as_f64(), &steady["found"]),
        (Some(count as f64 / 5.0), &true.into())
    );
    for confidence in ["confidence", "corrected_confidence"] {
        for (key, value) in steady[confidence].as_object().expect("values") {
            let of = |name: &str| value[name].as_f64();
            assert!(of("low") <= of("value"), "{key}: {value}");
            match of("high") {
                Some(high) => assert!(of("value") <= Some(high), "{key}: {value}"),
                None => assert!(value["why"].is_string(), "{key}: {value}"),
            }
        }
        // Five seconds know too little of each other to bound high percentiles above.
        for key in ["p90", "p999"] {
            assert_eq!(steady[confidence][key]["high"], Value::Null, "{key}: {steady}");
        }
    }
}
