//! Options of whole tests.

use serde_json::{Value, json};

use super::*;

fn read(options: &Value, flags: &[(&str, &str)]) -> Result<Options, String> {
    let mut layers = Layers::default();
    layers.add_map(&Source::Script, options).map_err(|error| error.to_string())?;
    let flag =
        |(name, text): &(&str, &str)| (known(name).expect("an option"), vec![(*text).to_owned()]);
    let flags: Vec<_> = flags.iter().map(flag).collect();
    layers.add_flags(&flags).map_err(|error| error.to_string())?;
    Options::read(&layers, &[]).map_err(|error| error.to_string())
}

fn executor(options: &Value, flags: &[(&str, &str)]) -> Executor {
    let own = read(options, flags).unwrap_or_else(|error| panic!("{error}"));
    own.scenarios[0].executor.clone()
}

const MINUTES_10: Duration = Duration::from_secs(600);

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn short_forms_stand_for_an_executor() {
    let once = |users, iterations, max_duration| Executor::SharedIterations {
        users,
        iterations,
        max_duration,
    };
    assert_eq!(executor(&json!({}), &[]), once(1, 1, MINUTES_10));
    assert_eq!(executor(&json!({"vus": 5}), &[]), once(5, 5, MINUTES_10));
    assert_eq!(executor(&json!({"vus": 5, "iterations": 9}), &[]), once(5, 9, MINUTES_10));
    assert_eq!(executor(&json!({"iterations": 9, "duration": "5s"}), &[]), once(1, 9, s(5)));
    let constant = Executor::ConstantVus { users: 5, duration: s(7) };
    assert_eq!(executor(&json!({"vus": 5, "duration": "1m"}), &[("duration", "7s")]), constant);
    let stages = vec![Stage { duration: s(5), target: 10 }, Stage { duration: s(0), target: 0 }];
    let ramp =
        |start| Executor::RampingVus { start, stages: stages.clone(), graceful_ramp_down: s(30) };
    let written =
        json!({"stages": [{"duration": "5s", "target": 10}, {"duration": 0, "target": 0}]});
    assert_eq!(executor(&written, &[]), ramp(1));
    assert_eq!(executor(&json!({"vus": 3}), &[("stages", "5s:10,0s:0")]), ramp(3));
}

#[test]
fn scenarios_have_executors_with_keys_of_their_own() {
    let base = |own: Value| json!({"scenarios": {"a": own}});
    let own = base(
        json!({"executor": "constant-vus", "vus": 2, "duration": "10s", "startTime": "5s", "gracefulStop": "1s",
        "exec": "browse", "env": {"A": "b", "N": 1}, "tags": {"k": "v"}}),
    );
    let found = read(&own, &[]).expect("options").scenarios.remove(0);
    let pairs = |list: &[(&str, &str)]| {
        list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>()
    };
    let expected = Scenario {
        name: "a".to_owned(),
        executor: Executor::ConstantVus { users: 2, duration: s(10) },
        start_time: s(5),
        graceful_stop: s(1),
        exec: "browse".to_owned(),
        env: pairs(&[("A", "b"), ("N", "1")]),
        tags: pairs(&[("k", "v")]),
    };
    assert_eq!(found, expected);
    for (written, expected) in [
        (
            json!({"executor": "ramping-vus", "startVUs": 0, "stages": [{"duration": "3s", "target": 4}], "gracefulRampDown": "0s"}),
            Executor::RampingVus {
                start: 0,
                stages: vec![Stage { duration: s(3), target: 4 }],
                graceful_ramp_down: s(0),
            },
        ),
        (
            json!({"executor": "shared-iterations", "vus": 2, "iterations": 7, "maxDuration": "20s"}),
            Executor::SharedIterations { users: 2, iterations: 7, max_duration: s(20) },
        ),
        (
            json!({"executor": "per-vu-iterations", "vus": 2, "iterations": 7}),
            Executor::PerVuIterations { users: 2, iterations: 7, max_duration: MINUTES_10 },
        ),
        (
            json!({"executor": "constant-arrival-rate", "rate": 30, "timeUnit": "1m", "duration": "10s", "preAllocatedVUs": 2, "maxVUs": 9}),
            Executor::ConstantArrivalRate {
                rate: Rate { iterations: 30, unit: s(60) },
                duration: s(10),
                max_users: 9,
            },
        ),
        (
            json!({"executor": "ramping-arrival-rate", "startRate": 5, "stages": [{"duration": "3s", "target": 4}], "preAllocatedVUs": 2}),
            Executor::RampingArrivalRate {
                start: Rate { iterations: 5, unit: s(1) },
                stages: vec![Stage { duration: s(3), target: 4 }],
                max_users: 2,
            },
        ),
    ] {
        assert_eq!(executor(&base(written.clone()), &[]), expected, "{written}");
    }
}

#[test]
fn what_is_typed_replaces_the_scenarios() {
    let own = json!({"scenarios": {"a": {"executor": "constant-vus", "duration": "10s"}}});
    for (flag, text) in [("vus", "3"), ("duration", "5s"), ("iterations", "4")] {
        let found = read(&own, &[(flag, text)]).expect("options");
        assert_eq!(found.scenarios[0].name, DEFAULT, "{flag}");
        assert_eq!(
            found.warnings,
            [format!("option `{flag}` (--{flag}) replaces the script's scenarios")]
        );
    }
    assert_eq!(read(&own, &[("batch", "3")]).expect("options").scenarios[0].name, "a");
}

#[test]
fn wrong_options_are_told_with_their_place() {
    let scenario = |own: Value| json!({"scenarios": {"a": own}});
    for (options, said) in [
        (
            json!({"vus": 0}),
            "option `vus` (the script's options): expected a whole number from 1 on, found 0",
        ),
        (
            json!({"vus": "x"}),
            "option `vus` (the script's options): expected a whole number from 0 on, found \"x\"",
        ),
        (
            json!({"duration": "0s"}),
            "`duration` (the script's options): expected a time of at least 1s, found \"0s\"",
        ),
        (
            json!({"vus": 5, "iterations": 2}),
            "expected at least as many as there are users (`vus`), which are 5, found 2",
        ),
        (
            json!({"stages": [{"duration": "1s", "target": 1}], "duration": "5s"}),
            "`stages` and `duration` contradict each other",
        ),
        (json!({"stages": []}), "expected at least one stage"),
        (
            json!({"stages": [{"target": 1}]}),
            "option `stages[0]` (the script's options): `duration` is missing",
        ),
        (json!({"scenarios": {}}), "expected at least one scenario"),
        (
            json!({"scenarios": {"a b": {"executor": "constant-vus"}}}),
            "expected a name of letters, digits",
        ),
        (scenario(json!({})), "`executor` is missing"),
        (
            scenario(json!({"executor": "constant-vu"})),
            "`scenarios.a.executor` (the script's options): expected one of constant-vus, ",
        ),
        (scenario(json!({"executor": "externally-controlled"})), "k6 2 has no executor"),
        (scenario(json!({"executor": "constant-vus"})), "`duration` is missing"),
        (
            scenario(json!({"executor": "constant-vus", "duration": "5s", "rate": 3})),
            "`scenarios.a.rate` (the script's options): unknown key",
        ),
        (
            scenario(json!({"executor": "shared-iterations", "vus": 3})),
            "1 iterations are not enough for 3 users",
        ),
        (
            scenario(json!({"executor": "constant-arrival-rate", "rate": 1, "duration": "5s"})),
            "`preAllocatedVUs` is missing",
        ),
        (
            scenario(
                json!({"executor": "constant-arrival-rate", "rate": 1, "duration": "5s", "preAllocatedVUs": 5, "maxVUs": 2}),
            ),
            "expected at least `preAllocatedVUs`, which is 5",
        ),
        (
            scenario(
                json!({"executor": "constant-arrival-rate", "rate": 1, "timeUnit": "0s", "duration": "5s"}),
            ),
            "expected a time above 0",
        ),
        (json!({"rps": -5}), "option `rps` (the script's options): expected a whole number from 0"),
        (json!({"setupTimeout": "soon"}), "expected a time, such as"),
        (
            json!({"executionSegmentSequence": "0,1/2,1"}),
            "option `executionSegmentSequence` (the script's options): squall divides a load",
        ),
        (
            json!({"summaryTrendStats": ["mean"]}),
            "`summaryTrendStats[0]` (the script's options): unknown statistic `mean`: expected avg",
        ),
        (json!({"summaryTimeUnit": "min"}), "expected s, ms or us"),
        (
            json!({"thresholds": {"nothing": ["rate<1"]}}),
            "`thresholds.nothing` (the script's options): unknown metric `nothing`",
        ),
    ] {
        let error = read(&options, &[]).expect_err("an error");
        assert!(error.contains(said), "{options}: {error}");
    }
}

#[test]
fn the_rest_is_read_and_what_has_no_effect_is_warned_of() {
    let own = json!({
        "maxRedirects": 0, "batch": 3, "batchPerHost": 0, "userAgent": "me", "throw": true, "discardResponseBodies": true,
        "noCookiesReset": true, "minIterationDuration": "2s", "tags": {"a": "b"}, "rps": 0, "blockHostnames": [],
        "summaryTrendStats": ["avg", "p(99.9)", "count"], "summaryTimeUnit": "ms", "setupTimeout": "5s", "httpDebug": "full", "cloud": {"name": "x"},
    });
    let found = read(&own, &[("noSetup", "true"), ("noUsageReport", "true")]).expect("options");
    let http = Http {
        max_redirects: Some(0),
        batch: Some(3),
        batch_per_host: Some(1_000),
        user_agent: Some("me".to_owned()),
        throws: true,
        discards_bodies: true,
        keeps_cookies: true,
        rps: None,
    };
    assert_eq!(found.http, http);
    assert_eq!(
        (found.min_iteration, found.runs_setup, found.runs_teardown),
        (Some(s(2)), false, true)
    );
    assert_eq!(found.summary.trend_stats, ["avg", "p(99.9)", "count"]);
    assert_eq!(found.summary.time_unit, Some(TimeUnit::Milliseconds));
    assert_eq!(found.system_tags, SystemTags::default());
    let tags = read(&json!({}), &[("systemTags", "status,url")]).expect("options").system_tags;
    assert_eq!(tags.columns(), ["status", "url"]);
    assert_eq!((found.setup_timeout, found.teardown_timeout), (s(5), s(60)));
    assert_eq!((found.http_debug, &found.warnings), (Some(HttpDebug::Full), &vec![]));
    let debug = |own: Value| read(&json!({"httpDebug": own}), &[]).map(|own| own.http_debug);
    assert_eq!(debug(json!(true)), Ok(Some(HttpDebug::Heads)));
    assert_eq!(debug(json!("headers")), Ok(Some(HttpDebug::Heads)));
    assert_eq!(debug(json!(false)), Ok(None));
    let idle = read(&json!({"linger": true}), &[]).expect("options").warnings;
    assert!(
        idle[0].starts_with("option `linger` (the script's options) has no effect"),
        "{idle:?}"
    );
    let judged = json!({"thresholds": {"checks": ["rate>0.9"]}});
    assert_eq!(read(&judged, &[]).expect("options").thresholds.len(), 1);
    assert_eq!(read(&judged, &[("noThresholds", "true")]).expect("options").thresholds, []);
}

#[test]
fn thresholds_that_judge_nothing_are_warned_of() {
    let own = json!({"vus": 1, "thresholds": {
        "http_req_duration": [{"threshold": "p(95)<1", "tags": {"a": "b"}}],
        "http_reqs{scenario:old}": ["count>1"],
        "http_reqs{scenario:default}": ["count>1"],
    }});
    let found = read(&own, &[]).expect("options");
    assert_eq!(found.thresholds.len(), 2);
    let said = [
        "option `thresholds.http_req_duration[0].tags` has no effect: name tags with the metric, as in `http_reqs{name:login}`",
        "option `thresholds.http_reqs{scenario:old}` has no effect: the test has no scenario `old`",
    ];
    assert_eq!(found.warnings, said);
}
