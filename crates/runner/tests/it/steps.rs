//! Steps against the built-in target, over real sockets: what they do, and how each of them fails.

use serde_json::Value;
use squall_runner::Options;
use squall_target::Server;

use crate::common::peer::{Peer, response};
use crate::common::{End, Steps, counter, kinds, options, result, target, workers};

/// Runs a plan with one scenario of these steps, once or a few times by one user.
fn steps(server: &Server, head: &str, iterations: u32, steps: &str, end: End) -> Value {
    let files: &[(&str, &[u8])] = &[("rows.csv", b"name,n\nada,1\ngrace,2\nlinus,3\n")];
    let url = &server.url();
    Steps { url, head, users: 1, iterations, steps, files }.run(end)
}

/// Each line of the log says what the value was for, and why there is none.
#[test]
fn expressions_that_fail_say_what_they_were_for() {
    for (step, words) in [
        ("{set: {total: '${1 / none}'}}", "total: "),
        ("{if: 'none > 1', then: [{get: /}]}", "none > 1: "),
        ("{while: 'none > 1', steps: [{get: /}]}", "none > 1: "),
        ("{for_each: {item: none.items}, steps: [{get: /}]}", "none.items: "),
        ("{think: '${none}s'}", "think: "),
        ("{log: 'it is ${none + 1}'}", "log: "),
        ("{metric: {name: basket, kind: gauge, value: none}}", "basket: "),
    ] {
        let never = "if: 'false'\n        then: [{set: {none: 1}}]";
        let json = steps(
            &target(),
            "",
            1,
            &format!("\n      - {never}\n      - {step}\n      - get: /"),
            End::Failed,
        );
        assert_eq!(counter(&json, "expressions_failed"), 1, "{step}: {}", json["log"]);
        let log = json["log"].to_string();
        let said = format!("scenario user: {words}variable `none` has no value");
        assert!(log.contains(&said), "{step}: {log}");
    }
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
        End::Passed,
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
fn data_goes_on_where_a_step_says_so() {
    let head = "data: {line: {csv: rows.csv, header: [a], skip_header: true, quotes: false, ragged: true, at_end: eof, \
                advance: step}, number: {numbers: {from: 5, to: 6}, share: user}}";
    let json = steps(
        &target(),
        head,
        3,
        r#"
      - repeat: 2
        steps:
          - next_row: line
          - {get: "/echo?q=${line.a}&n=${number.number}", name: "${line.a} ${number.number}"}
"#,
        End::Passed,
    );
    let count = |name: &str| json["requests"][name]["count"].as_u64();
    assert_eq!(
        [count("ada 5"), count("grace 5"), count("linus 6"), count("<EOF> 6"), count("<EOF> 5")],
        [Some(1), Some(1), Some(1), Some(1), Some(2)],
        "{}",
        json["requests"]
    );
    let ends = "data: {line: {csv: rows.csv, at_end: stop, advance: step}}";
    let step = "{repeat: 2, steps: [{next_row: line}, {get: /, name: one}]}";
    let json = steps(&target(), ends, 3, step, End::Passed);
    assert_eq!(json["requests"]["one"]["count"].as_u64(), Some(3));
    assert_eq!(json["counters"]["data_exhausted"].as_u64(), Some(1));
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
        End::Passed,
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
fn passes_are_counted_and_loops_are_left() {
    let json = steps(
        &target(),
        "",
        8,
        r#"
      - passes: {percent: 25, steps: [{get: /, name: a fourth}]}
      - passes: {first: 3, of: scenario, steps: [{get: /, name: the first}]}
      - shuffle: [{steps: [{get: /, name: one}, {get: /, name: its second}]}, {steps: [{get: /, name: other}]}]
      - repeat: 5
        counter: i
        steps:
          - group: within
            steps:
              - if: i == 1
                then: [{stop: pass}]
              - if: i == 3
                then: [{stop: loop}]
              - {get: /, name: in the loop}
      - {get: /status/500, name: fails, status_errors: true}
      - {if: "!last_ok", then: [{get: /, name: after a failure}], else: [{get: /, name: never}]}
      - {if: last_ok && elapsed >= 0, then: [{get: /, name: after a success}]}
"#,
        End::Failed,
    );
    let count = |name: &str| json["requests"][name]["count"].as_u64();
    for (name, expected) in [
        ("a fourth", Some(2)),
        ("the first", Some(3)),
        ("one", Some(8)),
        ("its second", Some(8)),
        ("other", Some(8)),
        ("in the loop", Some(16)),
        ("after a failure", Some(8)),
        ("after a success", Some(8)),
        ("never", None),
    ] {
        assert_eq!(count(name), expected, "{name}: {}", json["requests"]);
    }
    assert_eq!(json["groups"]["within"]["count"].as_u64(), Some(8 * 4), "one for each pass");
}

#[test]
fn a_rate_holds_users_back_and_waits_may_be_left_out_of_a_group() {
    let began = std::time::Instant::now();
    let json = steps(
        &target(),
        "",
        4,
        r#"
      - group: quick
        think_time: excluded
        steps: [{pace: {rate: 20, clock: c}}, {get: /, name: a}, {pace: {rate: 20, clock: c}}, {think: 20ms}]
"#,
        End::Passed,
    );
    // Eight places 50 ms apart, of which the first is at once.
    assert!(began.elapsed() >= std::time::Duration::from_millis(7 * 50 + 20));
    assert_eq!(json["groups"]["quick"]["count"].as_u64(), Some(4));
}

/// Users that wait in line for a rate that rises go on by what it is then, and not by what it was when they came.
#[test]
fn a_rate_that_changes_holds_for_those_who_wait_too() {
    let json = steps(
        &target(),
        "",
        2,
        r#"
      - pace: {rate: "elapsed < 0.5 ? 0.01 : elapsed < 1 ? 0 : 1000", by: run_in_line}
      - get: /
        name: a
"#,
        End::Passed,
    );
    assert_eq!(json["requests"]["a"]["count"].as_u64(), Some(2), "{}", json["requests"]);
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
        End::Passed,
    );
    assert_eq!(kinds(&json), "{}");
    assert_eq!(json["counters"]["redirects"].as_u64(), Some(3));
}

#[test]
fn every_failure_has_its_kind() {
    let server = target();
    let one = |step: &str| kinds(&steps(&server, "", 1, step, End::Failed));
    assert_eq!(one("get: /status/500"), r#"{"status":1}"#);
    assert_eq!(one("{get: /, extract: {x: {regex: 'no(thing)'}}}"), r#"{"extract":1}"#);
    assert_eq!(one("{get: /redirect/5, redirects: 2}"), r#"{"too_many_redirects":1}"#);
    assert_eq!(one("{get: /hostile/redirect-away, redirects: 2}"), r#"{"host_not_allowed":1}"#);
    assert_eq!(one("{get: /delay/3600000, timeout: 1s}"), r#"{"timeout_first_byte":1}"#);
    assert_eq!(one("{get: /hostile/endless-body, timeout: 2s}"), r#"{"timeout_body":1}"#);
    assert_eq!(one("{get: /bytes/2m, max_body: 1MiB}"), r#"{"body_too_large":1}"#);
    let refused = Steps { iterations: 3, ..Steps::one("http://127.0.0.1:1", "get: /") };
    assert_eq!(kinds(&refused.run(End::Failed)), r#"{"connect_refused":3}"#);
}

#[test]
fn the_hostile_corner_is_survived() {
    let server = target();
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
        let step = format!("{{get: /hostile/{case}, timeout: 2s}}");
        let (url, users, iterations) = (&server.url(), 2, 2);
        let json = Steps { users, iterations, ..Steps::one(url, &step) }.run(End::Failed);
        assert_eq!(kinds(&json), format!("{{\"{kind}\":4}}"), "{case}");
    }
}

#[test]
fn a_connection_that_the_server_closed_is_replaced() {
    let server = target();
    // A close that has come before a request is sent: one that crosses it, on a connection that has just answered, is an error.
    let request = "{group: g, steps: [{get: /hostile/close-after-keep-alive}, {think: 200ms}]}";
    let json = steps(&server, "", 5, request, End::Passed);
    assert_eq!(json["totals"]["errors"].as_u64(), Some(0), "{}", kinds(&json));
    assert_eq!(json["counters"]["connections_opened"].as_u64(), Some(5));
}

#[test]
fn thresholds_and_checks_decide_whether_a_run_passes() {
    let server = target();
    let json =
        steps(&server, "thresholds: [count == 2, error_rate < 1%]", 2, "get: /", End::Passed);
    assert_eq!(json["thresholds"][0]["passed"], Value::Bool(true));
    steps(&server, "thresholds: [count > 2]", 2, "get: /", End::Failed);
    steps(&server, "", 1, "{get: /, check: status == 404}", End::Failed);
}

/// A program that runs is not the business of whoever waits for responses, on the same worker: it runs until the last
/// of them was sent.
#[test]
fn responses_are_read_while_a_program_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let last = folder.path().join("last");
    let path = last.clone();
    let server = Peer::start("127.0.0.1", move |mut client| {
        for _ in 0..20 {
            client.request();
            client.send(response("200 OK", ""));
        }
        std::fs::write(&path, "").expect("writable");
    });
    let plan = format!(
        "target: {}\nscenarios:\n  \
         slow: {{load: {{users: 1, iterations: 1}}, steps: [{{exec: [sh, -c, 'until [ -e {} ]; do sleep 0.1; done'], timeout: 1m}}]}}\n  \
         fast: {{load: {{users: 1, iterations: 20}}, steps: [{{get: /}}]}}\n",
        server.url(),
        last.display()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &workers(1), End::Passed);
    assert_eq!(json["requests"]["GET /"]["count"].as_u64(), Some(20), "{json}");
}

#[test]
fn a_seed_seeds_the_built_in_target_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = "target: builtin\nscenarios:\n  user:\n    load: {users: 1, iterations: 20}\n    steps:\n      - get: /queue?mean=0.5\n        extract: {service: {json: $.service_us}}\n      - get: /delay/0.2?dist=exponential\n        extract: {delay: {json: $.delay_ms}}\n      - metric: {name: drawn, kind: trend, value: service + 1000 * delay}\n";
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("a file");
    let drawn = |seed: u64| {
        let options = Options { seed: Some(seed), ..options() };
        let json = result(folder.path(), &options, End::Passed);
        let drawn = json["metrics"][0].clone();
        assert_eq!(drawn["count"].as_u64(), Some(20), "{drawn}");
        drawn
    };
    assert_eq!(drawn(7), drawn(7));
    assert_ne!(drawn(7)["mean"], drawn(8)["mean"]);
}

#[test]
fn what_one_user_sets_in_a_shared_variable_all_users_see() {
    let server = target();
    let plan = format!(
        "target: {}\nvars: {{token: {{value: null, shared: true}}}}\nscenarios:\n  \
         first: {{load: {{users: 1, iterations: 1}}, steps: [{{get: /, extract: {{token: status}}}}, {{set: {{token: \"t${{token}}\"}}}}]}}\n  \
         others: {{after: [first], load: {{users: 4, iterations: 2}}, steps: [{{get: \"/${{token}}\", name: \"got ${{token}}\", check: status > 0}}]}}\n",
        server.url()
    );
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &workers(2), End::Passed);
    assert_eq!(json["requests"]["got t200"]["count"].as_u64(), Some(8), "{}", json["requests"]);
}

#[test]
fn a_text_is_looked_at_as_a_response_is() {
    let server = target();
    let step = "group: \"made ${iteration}\"\n        steps:\n          - look: '{\"id\": ${iteration + 1}}'\n            \
                extract: {id: {json: $.id}, whole: body}\n            check: [id == 1, 'status == 200', 'size(whole) > 5']\n          \
                - {get: /, name: \"after ${id} ${last_ok}\", counted: false}\n          - {get: /, name: \"after ${id} ${last_ok}\"}";
    let json =
        Steps { users: 1, iterations: 2, ..Steps::one(&server.url(), step) }.run(End::Failed);
    let group = |name: &str| (&json["groups"][name]["count"], &json["groups"][name]["errors"]);
    assert_eq!(group("made 0"), (&Value::from(1), &Value::from(0)), "{}", json["groups"]);
    assert_eq!(group("made 1"), (&Value::from(1), &Value::from(1)), "{}", json["groups"]);
    // The request between them is not counted, and decides what the next one sees.
    for name in ["after 1 true", "after 2 true"] {
        assert_eq!(json["requests"][name]["count"].as_u64(), Some(1), "{}", json["requests"]);
    }
}

#[test]
fn texts_are_written_to_files() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("out.txt");
    let step = format!(
        "write: \"{}\"\n        text: \"${{iteration}}\\n\"\n        append: true\n      - get: /",
        path.display()
    );
    Steps { users: 1, iterations: 3, ..Steps::one(&server.url(), &step) }.run(End::Passed);
    assert_eq!(std::fs::read_to_string(&path).expect("a file"), "0\n1\n2\n");
}
