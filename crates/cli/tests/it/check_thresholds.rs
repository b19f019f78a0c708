//! `squall check` of thresholds: what can never have a value is an error, and what is ambiguous a warning.

use crate::common::squall;

/// A plan with a request, a group and a trend of one name; no setup, and one load with a schedule.
const PLAN: &str = "target: http://127.0.0.1:9
scenarios:
  a:
    load: {users: 1, for: 1s}
    steps:
      - {get: /, name: login}
      - {group: login, steps: [{get: /x, name: x}]}
      - metric: {name: login, kind: trend, value: '5'}
  b: {load: {users: 1, for: 1s}, steps: [{get: /, name: login}, {get: /, name: iteration}]}
  c: {load: {rate: 5/s, for: 1s}, steps: [{get: /, name: due}]}
";

/// What is said of the plan with this threshold, and the exit code.
fn check(plan: &str, threshold: &str) -> (String, Option<i32>) {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!("{plan}thresholds:\n  - \"{threshold}\"\n");
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let output = squall(folder.path(), &["check", "plan.yaml"]);
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
}

#[test]
fn what_never_has_a_value_is_an_error() {
    let no_schedule = "nothing that this threshold is about has a corrected latency";
    let nothing = "nothing in this plan is what this threshold is about";
    for (threshold, words) in [
        ("p95(scenario: setup) < 1s", "no scenario is named `setup`"),
        ("p95(scenario: zzzzz) < 1s", "hint: the scenarios of this plan are a, b, c\n"),
        ("count(login, kind: iteration) > 1", nothing),
        ("p95(login, scenario: b) > 400", nothing),
        ("p95(login, kind: request) > 400", nothing),
        ("corrected_p99(scenario: a) < 1s", no_schedule),
        ("corrected_p99(x) < 1s", no_schedule),
        ("corrected_p99(due, kind: iteration) < 1s", nothing),
        ("corrected_p99(kind: group) < 1s", no_schedule),
    ] {
        let (errors, code) = check(PLAN, threshold);
        assert_eq!(code, Some(2), "{threshold}\n{errors}");
        assert!(errors.contains(words), "{threshold}\n{errors}");
        assert_eq!(errors.matches("error:").count(), 1, "{threshold}\n{errors}");
    }
    for threshold in [
        "corrected_p99 < 1s",
        "corrected_p99(due) < 1s",
        "corrected_p99(scenario: c) < 1s",
        "count(kind: iteration) > 0",
        "p95(login, scenario: a) > 4",
    ] {
        let (errors, code) = check(PLAN, threshold);
        assert_eq!(code, Some(0), "{threshold}\n{errors}");
    }
    let setup = format!("setup: [{{get: /, name: first}}]\n{PLAN}");
    assert_eq!(check(&setup, "p95(scenario: setup) < 1s").1, Some(0));
    let (errors, _) = check(&setup, "p95(scenario: zzzzz) < 1s");
    assert!(errors.contains("are a, b, c, setup\n"), "{errors}");
    let paced = PLAN.replace("users: 1, for", "users: 1, pacing: 1s, for");
    assert_eq!(check(&paced, "corrected_p99(scenario: a) < 1s").1, Some(0));
}

#[test]
fn a_name_of_several_kinds_is_a_warning_where_it_is_one() {
    for (threshold, warning) in [
        (
            "p95(login) < 1s",
            "`login` is the name of a request and of a group and of a metric: this threshold is \
             about the request",
        ),
        (
            "count(iteration) > 0",
            "`iteration` is the name of a request and of an iteration: this threshold is about the request",
        ),
        ("p95(login) > 400", ""),
        ("p95(login, scenario: b) < 1s", ""),
        ("p95(login, kind: group) < 1s", ""),
    ] {
        let (warnings, code) = check(PLAN, threshold);
        assert_eq!(code, Some(0), "{threshold}\n{warnings}");
        match warning {
            "" => assert!(!warnings.contains("is the name of"), "{threshold}\n{warnings}"),
            words => assert!(warnings.contains(words), "{threshold}\n{warnings}"),
        }
    }
}
