//! Plans of options, as they are printed.

use serde_json::{Value, json};
use squall_plan::yaml;
use squall_script::{MetricKind, ScriptMetric};

use super::*;
use crate::options::Layers;

fn made(options: &Value, exports: &[&str]) -> Result<Plan, String> {
    let mut layers = Layers::default();
    layers.add_map(&Source::Script, options).map_err(|error| error.to_string())?;
    let own = [ScriptMetric { name: "stock".to_owned(), kind: MetricKind::Gauge, is_time: false }];
    let options = Options::read(&layers, &own).map_err(|error| error.to_string())?;
    let script = Described {
        file: "a.js".into(),
        exports: &|name| exports.contains(&name),
        env: vec![("K".to_owned(), "${v}".to_owned())],
        has_system_env: true,
        secrets: vec![squall_script::SecretSource {
            name: "default".to_owned(),
            secrets: vec![("key".to_owned(), "${s}".to_owned())],
        }],
    };
    plan(&script, &options).map_err(|error| error.to_string())
}

fn printed(options: &Value, exports: &[&str]) -> Value {
    let plan = made(options, exports).unwrap_or_else(|error| panic!("{options}: {error}"));
    yaml::value(&plan, false)
}

/// What is printed is read as the same plan.
#[test]
fn a_plan_has_all_of_a_script() {
    let options = json!({
        "scenarios": {
            "a": {"executor": "constant-vus", "vus": 2, "duration": "10s", "exec": "browse", "startTime": "5s", "env": {"X": "1"}, "tags": {"k": "v"}},
            "b": {"executor": "per-vu-iterations", "gracefulStop": "40s"},
        },
        "tags": {"all": "yes"}, "userAgent": "me", "batch": 3, "batchPerHost": 0, "maxRedirects": 4, "throw": true,
        "discardResponseBodies": true, "insecureSkipTLSVerify": true, "hosts": {"a.example": "1.2.3.4"}, "dns": {"ttl": "1m", "select": "first"},
        "localIPs": "10.0.0.1", "tlsVersion": "tls1.3", "thresholds": {"checks": ["rate>0.9"]}, "rps": 50, "blockHostnames": ["*.bad.example"],
        "blacklistIPs": ["10.0.0.0/8"], "setupTimeout": "5s", "tlsCipherSuites": ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
        "tlsAuth": [{"cert": "-----BEGIN CERTIFICATE-----\na", "key": "-----BEGIN PRIVATE KEY-----\nb", "domains": ["a.example"]}],
    });
    let exports = ["default", "browse", "setup", "teardown"];
    let mut plan = printed(&options, &exports);
    let told = plan["scripts"]["options"].take();
    assert_eq!(told["scenarios"]["a"]["startTime"], json!("5s"));
    let call = json!({"file": "a.js", "args": ["${setup_data}"]});
    let mut browse = call.clone();
    browse["call"] = json!("browse");
    browse["env"] = json!({"X": "1"});
    let first = json!({
        "graceful_stop": "30s", "load": {"users": 2, "for": "10s"}, "start_after": "5s", "tags": {"k": "v"}, "session": "per_iteration",
        "steps": [{"script": browse}],
    });
    assert_eq!(plan["scenarios"]["a"], first);
    assert_eq!(plan["scenarios"]["b"]["steps"], json!([{"script": call}]));
    assert_eq!(
        plan["setup"],
        json!([{"script": {"file": "a.js", "call": "setup", "returns": {"setup_data": "$"}}}])
    );
    assert_eq!(
        plan["teardown"],
        json!([{"script": {"file": "a.js", "call": "teardown", "args": ["${setup_data}"]}}])
    );
    assert_eq!((&plan["setup_timeout"], &plan["teardown_timeout"]), (&json!("5s"), &json!("1m")));
    assert_eq!((&plan["graceful_stop"], &plan["whole_iterations"]), (&json!("40s"), &json!(true)));
    assert_eq!(
        (&plan["allow_hosts"], &plan["defaults"]),
        (&json!(["*"]), &json!({"tags": {"all": "yes"}}))
    );
    let scripts = json!({
        "system_env": true, "env": {"K": "$${v}"}, "secrets": {"default": {"key": "$${s}"}}, "discard_bodies": true, "batch": 3, "batch_per_host": 1000, "throw": true,
        "redirects": 4, "user_agent": "me", "options": null, "max_rate": "50/s",
    });
    assert_eq!(plan["scripts"], scripts);
    let connections = json!({
        "http": "auto", "resolve": {"a.example": ["1.2.3.4"]}, "dns": {"ttl": "1m", "select": "first"},
        "source_addresses": ["10.0.0.1"], "block_hosts": ["*.bad.example"], "block_addresses": ["10.0.0.0/8"], "tls": {
            "insecure": true, "min": "1.3", "max": "1.3", "cipher_suites": ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
            "host_certs": [{"hosts": ["a.example"], "cert": "-----BEGIN CERTIFICATE-----\na", "key": "-----BEGIN PRIVATE KEY-----\nb"}],
        },
    });
    assert_eq!(plan["connections"], connections);
    let own = made(&options, &exports).expect("a plan");
    let again = yaml::load_str(
        "a",
        &yaml::print(&own, false),
        std::path::Path::new(""),
        &Default::default(),
    );
    let again = again.unwrap_or_else(|errors| panic!("{:?}", errors.diagnostics)).plan;
    let masked = yaml::value(&own, true);
    assert_eq!(masked["connections"]["tls"]["host_certs"][0]["key"], json!("***"));
    assert!(!masked.to_string().contains("PRIVATE KEY"), "{masked}");
    let (again, whole) = (yaml::value(&again, false), printed(&options, &exports));
    for key in ["scenarios", "scripts", "connections", "setup_timeout"] {
        assert_eq!(again[key], whole[key], "{key}");
    }
}

#[test]
fn each_executor_is_a_load() {
    for (executor, load) in [
        (
            json!({"executor": "constant-vus", "vus": 3, "duration": "1m"}),
            json!({"users": 3, "for": "1m"}),
        ),
        (
            json!({"executor": "ramping-vus", "startVUs": 0, "stages": [{"duration": "5s", "target": 10}, {"duration": 0, "target": 2}]}),
            json!({"stages": [{"users": 10, "over": "5s"}, {"users": 2}], "graceful_ramp_down": "30s"}),
        ),
        (
            json!({"executor": "ramping-vus", "startVUs": 4, "stages": [{"duration": "5s", "target": 10}], "gracefulRampDown": "1s"}),
            json!({"users": 4, "stages": [{"users": 10, "over": "5s"}], "graceful_ramp_down": "1s"}),
        ),
        (
            json!({"executor": "shared-iterations", "vus": 2, "iterations": 9, "maxDuration": "1m"}),
            json!({"users": 2, "for": "1m", "total_iterations": 9}),
        ),
        (
            json!({"executor": "per-vu-iterations", "vus": 2, "iterations": 9}),
            json!({"users": 2, "for": "10m", "iterations": 9}),
        ),
        (
            json!({"executor": "constant-arrival-rate", "rate": 90, "timeUnit": "1m", "duration": "5s", "preAllocatedVUs": 1, "maxVUs": 7}),
            json!({"rate": "1.5/s", "for": "5s", "max_users": 7}),
        ),
        (
            json!({"executor": "ramping-arrival-rate", "timeUnit": "2s", "stages": [{"duration": "5s", "target": 10}], "preAllocatedVUs": 3}),
            json!({"stages": [{"rate": "5/s", "over": "5s"}], "max_users": 3}),
        ),
    ] {
        let plan = printed(&json!({"scenarios": {"a": executor}}), &["default"]);
        assert_eq!(plan["scenarios"]["a"]["load"], load, "{executor}");
    }
}

#[test]
fn users_keep_what_the_options_say() {
    let plan = printed(&json!({"noCookiesReset": true, "noVUConnectionReuse": true}), &["default"]);
    let never = printed(&json!({"noConnectionReuse": true}), &["default"]);
    assert_eq!(never["connections"]["reuse"], json!("per_request"));
    let own = (&plan["scenarios"]["default"]["session"], &plan["connections"]["reuse"]);
    assert_eq!(own, (&json!("per_user"), &json!("per_iteration")));
    let plan = printed(&json!({"minIterationDuration": "2s"}), &["default", "setup"]);
    let steps = json!([{"parallel": [{"script": {"file": "a.js", "args": ["${setup_data}"]}}, {"think": "2s"}]}]);
    assert_eq!(plan["scenarios"]["default"]["steps"], steps);
    let plan =
        printed(&json!({"noSetup": true, "noTeardown": true}), &["default", "setup", "teardown"]);
    assert_eq!((&plan["setup"], &plan["teardown"]), (&Value::Null, &Value::Null));
    assert_eq!(plan["scenarios"]["default"]["steps"], json!([{"script": {"file": "a.js"}}]));
}

#[test]
fn thresholds_ask_for_the_same() {
    let of = |metric: &str, text: Value| {
        let plan = printed(&json!({"thresholds": {metric: [text]}}), &["default"]);
        plan["thresholds"][0].clone()
    };
    for (metric, text, expected) in [
        ("http_req_duration", "p(95)<200", "p95(http_req_duration) < 200"),
        ("http_req_duration", "p(99.9) <= 0.5", "p99.9(http_req_duration) <= 0.5"),
        ("http_req_duration", "avg<1", "mean(http_req_duration) < 1"),
        ("http_req_duration", "med<1", "p50(http_req_duration) < 1"),
        ("http_req_duration", "p(0)>1", "min(http_req_duration) > 1"),
        (
            "http_req_duration{name:GET /a}",
            "max<1",
            "max(http_req_duration, tag.name: \"GET /a\") < 1",
        ),
        (
            "http_req_duration{scenario:default,status:200}",
            "min>1",
            "min(http_req_duration, scenario: \"default\", tag.status: \"200\") > 1",
        ),
        ("group_duration{group:::x::y}", "max<1", "max(group_duration, tag.group: \"::x::y\") < 1"),
        ("http_reqs{group:}", "count<1", "count(http_reqs, tag.group: \"\") < 1"),
        ("http_reqs{group:\"\"}", "count<1", "count(http_reqs, tag.group: \"\") < 1"),
        ("http_req_failed", "rate<0.01", "rate(http_req_failed) < 0.01"),
        ("http_reqs", "rate>10", "rate(http_reqs) > 10"),
        ("http_reqs", "count===10", "count(http_reqs) == 10"),
        ("stock", "value>=0", "last(stock) >= 0"),
        ("dropped_iterations", "count<5", "arrivals_dropped < 5"),
        ("vus", "value>0", "last(users_active) > 0"),
        ("vus_max", "value<=10", "users_active <= 10"),
    ] {
        assert_eq!(of(metric, json!(text)), expected);
        assert!(is_requirement(expected), "{expected}");
    }
    let aborting = json!({"threshold": "rate<0.1", "abortOnFail": true, "delayAbortEval": "5s"});
    let expected =
        json!({"threshold": "rate(http_req_failed) < 0.1", "abort_on_fail": true, "after": "5s"});
    assert_eq!(of("http_req_failed", aborting), expected);
}

/// Whether a text looks like a requirement to the plan's own reader.
fn is_requirement(text: &str) -> bool {
    let plan = format!(
        "target: http://a\nthresholds: ['{}']\nscenarios: {{a: {{load: {{users: 1, for: 1s}}, steps: [{{get: /}}]}}}}",
        text.replace('\'', "''")
    );
    yaml::load_str("a", &plan, std::path::Path::new(""), &Default::default()).is_ok()
}

#[test]
fn what_cannot_be_is_refused() {
    for (options, exports, said) in [
        (
            json!({}),
            &[][..],
            "`scenarios.default.exec` (the script's options): the script exports no function `default`: add `export default",
        ),
        (
            json!({"scenarios": {"a": {"executor": "constant-vus", "duration": "5s", "exec": "x"}}}),
            &["default"],
            "exports no function `x`",
        ),
        (
            json!({"thresholds": {"vus{scenario:default}": ["value>1"]}}),
            &["default"],
            "ask for its `value`, without tags",
        ),
        (
            json!({"thresholds": {"ws_sessions": ["count>1"]}}),
            &["default"],
            "squall runs no `k6/ws`",
        ),
        (
            json!({"thresholds": {"dropped_iterations": ["rate<1"]}}),
            &["default"],
            "ask for its `count`",
        ),
        (json!({"thresholds": {"checks{a:\"it's 'x'\"}": ["rate<1"]}}), &["default"], ""),
    ] {
        match made(&options, exports) {
            Err(error) => assert!(!said.is_empty() && error.contains(said), "{options}: {error}"),
            Ok(plan) => assert!(said.is_empty(), "{options}: {:?}", plan.thresholds),
        }
    }
}
