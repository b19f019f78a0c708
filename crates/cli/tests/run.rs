//! The binary against the built-in target, over real sockets: what is typed, what comes back.

mod common;

use std::path::Path;

use serde_json::Value;
use squall_target::{Server, TlsCertificate, TlsOptions};

use common::{Steps, kinds, result, squall, target, target_at};

/// Runs a plan with one scenario of these steps, once or a few times by one user.
fn steps(server: &Server, head: &str, iterations: u32, steps: &str, code: i32) -> Value {
    let files: &[(&str, &[u8])] = &[("rows.csv", b"name,n\nada,1\ngrace,2\nlinus,3\n")];
    let url = &server.url();
    Steps { url, head, users: 1, iterations, steps, files }.run(code)
}

#[test]
fn one_line_counts_what_the_target_counts() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let json = result(folder.path(), &[&server.url(), "-c", "8", "-n", "1000"], 0);
    assert_eq!(
        (json["totals"]["count"].as_u64(), json["totals"]["errors"].as_u64()),
        (Some(1_000), Some(0))
    );
    assert_eq!(json["counters"]["users_active"].as_u64(), Some(8));
    let stats = server.stats();
    assert_eq!((stats.requests, stats.accepted), (1_000, 8));
    assert_eq!(json["totals"]["bytes_in"].as_u64(), Some(stats.bytes_out));
    assert_eq!(json["totals"]["bytes_out"].as_u64(), Some(stats.bytes_in));
    assert!(
        !folder.path().join("squall-runs").exists(),
        "a one-line command leaves nothing behind"
    );
}

#[test]
fn one_line_with_method_headers_body_and_rate() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let url = format!("{}/upload", server.url());
    let json =
        result(folder.path(), &[&url, "-b", "hello", "-H", "X-A: b", "-n", "20", "-r", "200/s"], 0);
    assert_eq!(json["totals"]["count"].as_u64(), Some(20));
    assert_eq!(json["counters"]["arrivals_due"].as_u64(), Some(20));
    assert_eq!(json["totals"]["corrected_latency_us"]["count"].as_u64(), Some(20));
    let json = result(folder.path(), &[&server.url(), "-n", "10", "-c", "1", "--no-keepalive"], 0);
    assert_eq!(json["counters"]["connections_opened"].as_u64(), Some(10));
}

#[test]
fn login_with_csrf_cookies_and_checks() {
    let json = steps(
        &target(),
        "data: {people: {csv: rows.csv, at_end: stop}}",
        5,
        r#"
      - get: /login
        extract: {csrf: {css: "input[name=csrf]", attr: value}}
      - post: /login
        name: login
        form: {user: "${people.name}", password: "secret-${people.name}", csrf: "${csrf}"}
        check: [status == 302, header("location") == "/home", 'cookie("sid") != null']
      - get: /home
        check: body.contains(people.name)
"#,
        0,
    );
    assert_eq!(
        json["requests"]["login"]["count"].as_u64(),
        Some(3),
        "three rows, then the user stops"
    );
    assert_eq!(json["counters"]["data_exhausted"].as_u64(), Some(1));
    assert_eq!(json["counters"]["checks_passed"].as_u64(), Some(12));
}

#[test]
fn steps_do_what_they_say() {
    let json = steps(
        &target(),
        "vars: {n: 3}",
        2,
        r#"
      - set: {list: [a, b], seen: 0}
      - group: loops
        steps:
          - repeat: n
            counter: i
            steps: [{get: "/status/20${i}", name: "pass ${i}", status_errors: false}]
          - for_each: {item: list}
            steps: [{get: "/echo?q=${item}", check: 'json("$.query.q") == item'}]
          - while: seen < 2
            steps: [{set: {seen: "${seen + 1}"}}, {get: /, name: while}]
      - if: iteration == 0
        then: [{get: /, name: first}]
        else: [{get: /, name: later}]
      - once_per_user: [{get: /, name: once}]
      - round_robin: [{steps: [{get: /, name: even}]}, {steps: [{get: /, name: odd}]}]
      - choose: [{weight: 1, steps: [{get: /, name: chosen}]}]
      - think: 1ms..2ms
      - exec: [sh, -c, "echo hello; exit 3"]
        check: [status == 3, body == "hello\n"]
      - stop: iteration
      - get: /
        name: never
"#,
        0,
    );
    let count = |name: &str| json["requests"][name]["count"].as_u64();
    for (name, expected) in [
        ("pass 0", 2),
        ("pass 1", 2),
        ("pass 2", 2),
        ("GET /echo", 4),
        ("while", 4),
        ("first", 1),
        ("later", 1),
        ("once", 1),
        ("even", 1),
        ("odd", 1),
        ("chosen", 2),
    ] {
        assert_eq!(count(name), Some(expected), "{name}: {}", json["requests"]);
    }
    assert_eq!(json["programs"]["sh"]["count"].as_u64(), Some(2), "{}", json["programs"]);
    assert_eq!(count("never"), None);
    assert_eq!(json["groups"]["loops"]["count"].as_u64(), Some(2));
}

#[test]
fn bodies_auth_redirects_and_compression() {
    let json = steps(
        &target(),
        "",
        1,
        r#"
      - post: /echo
        json: {a: [1, "${user}", null], b: "x"}
        check: ['json("$.method") == "POST"', 'body.contains("application/json")']
      - post: /upload
        body: {file: rows.csv}
        check: 'json("$.bytes") == 29'
      - post: /upload
        name: form
        multipart: {note: hi, f: {file: rows.csv}}
        check: 'json("$.bytes") > 29'
      - get: /redirect/3
        redirects: 5
        check: status == 200
      - get: /gzip
        compression: true
        check: ['header("content-encoding") == "gzip"', body_bytes > 0, 'size(body) > body_bytes']
      - head: /
        check: [status == 200, body_bytes == 0]
      - get: /chunked
        check: [status == 200, body_bytes > 0]
"#,
        0,
    );
    assert_eq!(kinds(&json), "{}");
    assert_eq!(json["counters"]["redirects"].as_u64(), Some(3));
}

#[test]
fn every_failure_has_its_kind() {
    let server = target();
    let one = |step: &str| kinds(&steps(&server, "", 1, step, 0));
    assert_eq!(one("get: /status/500"), r#"{"status":1}"#);
    assert_eq!(one("{get: /, extract: {x: {regex: 'no(thing)'}}}"), r#"{"extract":1}"#);
    assert_eq!(one("{get: /redirect/5, redirects: 2}"), r#"{"too_many_redirects":1}"#);
    assert_eq!(one("{get: /hostile/redirect-away, redirects: 2}"), r#"{"host_not_allowed":1}"#);
    assert_eq!(one("{get: /delay/5000, timeout: 50ms}"), r#"{"timeout_first_byte":1}"#);
    assert_eq!(one("{get: /hostile/endless-body, timeout: 300ms}"), r#"{"timeout_body":1}"#);
    assert_eq!(one("{get: /bytes/2m, max_body: 1MiB}"), r#"{"body_too_large":1}"#);
    let folder = tempfile::tempdir().expect("a folder");
    let json = result(folder.path(), &["http://127.0.0.1:1/", "-n", "3"], 0);
    assert_eq!(kinds(&json), r#"{"connect_refused":3}"#);
}

#[test]
fn the_hostile_corner_is_survived() {
    let server = target();
    let folder = tempfile::tempdir().expect("a folder");
    for (case, kind) in [
        ("reset-before", "reset"),
        ("reset-in-headers", "reset"),
        ("reset-after-headers", "reset"),
        ("close-before", "closed_early"),
        ("close-in-headers", "closed_early"),
        ("close-in-body", "closed_early"),
        ("bad-chunk-size", "malformed_response"),
        ("huge-chunk-size", "malformed_response"),
        ("two-content-lengths", "malformed_response"),
        ("length-and-chunked", "malformed_response"),
        ("invalid-bytes", "malformed_response"),
        ("content-length-long", "closed_early"),
        ("endless-headers", "malformed_response"),
        ("never-answers", "timeout_first_byte"),
    ] {
        let url = format!("{}/hostile/{case}", server.url());
        let json = result(folder.path(), &[&url, "-c", "2", "-n", "4", "-t", "2s"], 0);
        assert_eq!(kinds(&json), format!("{{\"{kind}\":4}}"), "{case}");
    }
}

#[test]
fn a_connection_that_the_server_closed_is_replaced() {
    let server = target();
    let url = format!("{}/hostile/close-after-keep-alive", server.url());
    let folder = tempfile::tempdir().expect("a folder");
    let json = result(folder.path(), &[&url, "-c", "1", "-n", "20"], 0);
    assert_eq!(json["totals"]["errors"].as_u64(), Some(0), "{}", kinds(&json));
    assert_eq!(json["counters"]["connections_opened"].as_u64(), Some(20));
}

#[test]
fn tls_with_a_ca_of_its_own_and_without() {
    let certificate = TlsCertificate::SelfSigned { names: Vec::new() };
    let server = target_at("127.0.0.1:0", Some(TlsOptions { certificate, client_ca: None }));
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("ca.pem"), server.ca_pem().expect("a certificate"))
        .expect("writable");
    let plan = format!(
        "target: {}\nconnections: {{tls: {{ca: ca.pem}}}}\nscenarios: {{a: {{load: {{users: 4, iterations: 5}}, steps: [{{get: /}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &["run", "plan.yaml"], 0);
    assert_eq!(
        (json["totals"]["count"].as_u64(), json["totals"]["errors"].as_u64()),
        (Some(20), Some(0)),
        "{json}"
    );
    assert_eq!(json["totals"]["phases"]["tls"]["count"].as_u64(), Some(4));
    let json = result(folder.path(), &[&server.url(), "-n", "2"], 0);
    assert_eq!(kinds(&json), r#"{"tls":2}"#);
    assert_eq!(kinds(&result(folder.path(), &[&server.url(), "-n", "2", "-k"], 0)), "{}");
}

#[test]
fn thresholds_decide_the_exit_code() {
    let server = target();
    let json = steps(&server, "thresholds: [count == 2, error_rate < 1%]", 2, "get: /", 0);
    assert_eq!(json["thresholds"][0]["passed"], Value::Bool(true));
    steps(&server, "thresholds: [count > 2]", 2, "get: /", 1);
    steps(&server, "", 1, "{get: /, check: status == 404}", 1);
}

#[test]
fn setup_is_known_to_all_and_secrets_to_none() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        r#"
target: {}
vars: {{password: hunter2secret}}
setup: [{{get: /api/items/7, extract: {{item: {{json: $.name}}}}}}]
scenarios:
  a:
    load: {{users: 6, iterations: 1}}
    steps:
      - get: "/echo?item=${{url_encode(item)}}"
        check: size(item) > 0
      - get: /status/500
        headers: {{X-Pass: "${{password}}"}}
      - log: "the password is ${{password}}"
teardown: [{{get: /}}]
"#,
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let output = squall(folder.path(), &["run", "plan.yaml", "-w", "2"]);
    let text = String::from_utf8_lossy(&output.stdout);
    // One request of each iteration is an error.
    assert_eq!(output.status.code(), Some(1), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("6 of 12 requests were errors (50%)"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let runs: Vec<_> =
        std::fs::read_dir(folder.path().join("squall-runs")).expect("runs").collect();
    let run = runs[0].as_ref().expect("a run").path();
    for file in ["plan.yaml", "run.json", "log.jsonl", "slices.bin"] {
        let bytes = std::fs::read(run.join(file)).expect(file);
        assert!(!String::from_utf8_lossy(&bytes).contains("hunter2secret"), "{file}");
    }
    assert!(!text.contains("hunter2secret"));
    let again = squall(folder.path(), &["report", &run.display().to_string()]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stdout).contains("GET /echo"));
    let tried = squall(folder.path(), &["try", "plan.yaml"]);
    let shown = String::from_utf8_lossy(&tried.stdout);
    assert!(shown.contains("item = ") && !shown.contains("hunter2secret"), "{shown}");
}

#[test]
fn arrivals_that_find_no_user_are_counted() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let url = format!("{}/delay/400", server.url());
    let json = result(folder.path(), &[&url, "-r", "100/s", "-c", "2", "-d", "1s"], 0);
    let of = |name: &str| json["counters"][name].as_u64().unwrap_or(0);
    assert_eq!(of("arrivals_due"), 100);
    assert!(of("arrivals_dropped") > 80, "{}", json["counters"]);
    assert_eq!(json["totals"]["count"].as_u64(), Some(100 - of("arrivals_dropped")));
    assert_eq!(json["validity"], "invalid");
    assert!(
        json["validity_reasons"]
            .to_string()
            .contains("were dropped because no virtual user was free")
    );
}

#[test]
fn a_bad_plan_is_shown_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = "target: http://127.0.0.1:9\nscenarios:\n  a:\n    load: {users: 1, for: 1s}\n    steps:\n      - get: /\n        check: statsu == 200\n      - get: /x\n        extract: {y: {regex: '('}}\nthresholds: [p99 < 5]\n";
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let output = squall(folder.path(), &["check", "plan.yaml"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("plan.yaml:10:14: error"), "{text}");
    std::fs::write(folder.path().join("plan.yaml"), plan.replace("thresholds: [p99 < 5]", ""))
        .expect("writable");
    let output = squall(folder.path(), &["check", "plan.yaml"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("plan.yaml:7:16: error: unknown variable `statsu`"), "{text}");
    assert!(text.contains("plan.yaml:9:31: error"), "{text}");
    assert!(text.contains("2 errors"), "{text}");
    assert_eq!(squall(folder.path(), &["run", "nowhere.yaml"]).status.code(), Some(2));
    assert_eq!(squall(folder.path(), &["--nonsense"]).status.code(), Some(2));
}

#[test]
fn what_cannot_have_been_meant_is_a_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = "target: http://127.0.0.1:9\nvars: {used: 1, idle: 2}\ndata: {rows: {csv: rows.csv}}\nscenarios:\n  a:\n    load: {users: 1, for: 1s}\n    steps:\n      - get: /\n        name: home\n        headers: {X: \"${used}\"}\nthresholds: [p99 < 5ms, p99(hom) < 5ms, p99(home) < 5ms]\n";
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    std::fs::write(folder.path().join("rows.csv"), "a\n1\n").expect("writable");
    let output = squall(folder.path(), &["check", "plan.yaml"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for warning in [
        "plan.yaml:2:17: warning: the variable `idle` is never used",
        "plan.yaml:3:8: warning: the data source `rows` is never used",
        "plan.yaml:11:25: warning: no request or group is named `hom`",
        "did you mean `home`?",
    ] {
        assert!(text.contains(warning), "{warning}: {text}");
    }
    assert_eq!(text.matches("warning").count(), 3, "{text}");
}

#[test]
fn the_schema_is_json() {
    let output = squall(Path::new("."), &["schema"]);
    let schema: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(schema["properties"]["scenarios"].is_object());
}

#[test]
fn the_examples_are_good_plans() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for entry in std::fs::read_dir(&folder).expect("examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let output = squall(&folder, &["check", &path.display().to_string()]);
            assert_eq!(
                output.status.code(),
                Some(0),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}

/// A program that runs is not the business of whoever waits for responses, on the same worker.
#[test]
fn responses_are_read_while_a_program_runs() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nscenarios:\n  slow: {{load: {{users: 1, iterations: 1}}, steps: [{{exec: [sleep, '2']}}]}}\n  \
         fast: {{load: {{users: 1, iterations: 20}}, steps: [{{get: /delay/1}}]}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &["run", "plan.yaml", "--allow-exec", "-w", "1"], 0);
    let slowest =
        json["requests"]["GET /delay/1"]["latency_us"]["max"].as_f64().map(|us| us as u64);
    assert!(slowest.is_some_and(|slowest| slowest < 1_500_000), "{slowest:?}");
}

#[test]
fn a_seed_seeds_the_built_in_target_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = "target: builtin\nscenarios:\n  user:\n    load: {users: 1, iterations: 20}\n    steps:\n      - get: /queue?mean=0.5\n        extract: {service: {json: $.service_us}}\n      - get: /delay/0.2?dist=exponential\n        extract: {delay: {json: $.delay_ms}}\n      - metric: {name: drawn, kind: trend, value: service + 1000 * delay}\n";
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("a file");
    let drawn = |seed: &str| {
        let json = result(folder.path(), &["run", "plan.yaml", "--seed", seed], 0);
        let drawn = json["metrics"][0].clone();
        assert_eq!(drawn["count"].as_u64(), Some(20), "{drawn}");
        drawn
    };
    assert_eq!(drawn("7"), drawn("7"));
    assert_ne!(drawn("7")["mean"], drawn("8")["mean"]);
}
