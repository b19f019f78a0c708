//! The binary against the built-in target, over real sockets: what is typed, what comes back.

use std::path::Path;

use serde_json::Value;
use squall_target::{TlsCertificate, TlsOptions};

use crate::common::peer::{Peer, response};
use crate::common::{kinds, result, squall, target, target_at};

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
fn tls_with_a_ca_of_its_own_and_without() {
    let certificate = TlsCertificate::SelfSigned { names: Vec::new() };
    let server =
        target_at("127.0.0.1:0", Some(TlsOptions { certificate, client_ca: None, http2: true }));
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
    let json = result(folder.path(), &[&server.url(), "-n", "2"], 1);
    assert_eq!(kinds(&json), r#"{"tls":2}"#);
    assert_eq!(kinds(&result(folder.path(), &[&server.url(), "-n", "2", "-k"], 0)), "{}");
}

/// With the keys of its sessions Wireshark decrypts what was recorded.
#[test]
fn keys_are_written_where_the_environment_says() {
    let certificate = TlsCertificate::SelfSigned { names: Vec::new() };
    let server =
        target_at("127.0.0.1:0", Some(TlsOptions { certificate, client_ca: None, http2: true }));
    let folder = tempfile::tempdir().expect("a folder");
    for (file, code) in [("keys.txt", 0), ("nowhere/keys.txt", 2)] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_squall"))
            .args([&server.url(), "-n", "2", "-k", "--quiet"])
            .current_dir(folder.path())
            .env("SSLKEYLOGFILE", file)
            .output()
            .expect("squall runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{errors}");
        assert_eq!(errors.contains("SSLKEYLOGFILE: nowhere/keys.txt: No such file"), code == 2);
    }
    let keys = std::fs::read_to_string(folder.path().join("keys.txt")).expect("keys");
    assert!(keys.contains("CLIENT_TRAFFIC_SECRET_0 "), "{keys}");
}

#[test]
fn thresholds_and_checks_decide_the_exit_code() {
    let folder = tempfile::tempdir().expect("a folder");
    for (threshold, step, code) in [
        ("count == 2", "{get: /}", 0),
        ("count > 2", "{get: /}", 1),
        ("count == 2", "{get: /, check: status == 404}", 1),
    ] {
        let plan = format!(
            "target: builtin\nthresholds: [{threshold}]\nscenarios: {{a: {{load: {{users: 1, iterations: 2}}, steps: [{step}]}}}}\n"
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        let json = result(folder.path(), &["run", "plan.yaml"], code);
        assert_eq!(json["outcome"]["passed"], code == 0);
    }
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
    let json = result(folder.path(), &[&url, "-r", "100/s", "-c", "2", "-d", "3s"], 0);
    let of = |name: &str| json["counters"][name].as_u64().unwrap_or(0);
    assert_eq!(of("arrivals_due"), 300);
    // A machine that stops over the end of the load cuts some off.
    let dropped = of("arrivals_dropped");
    let begun = 300 - dropped - of("arrivals_cut_off");
    assert!(dropped > 150 && begun < 50, "{}", json["counters"]);
    assert_eq!(json["totals"]["count"].as_u64(), Some(begun));
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
    let plan = "target: http://127.0.0.1:9\nvars: {used: 1, idle: 2}\ndata: {rows: {csv: rows.csv}}\nscenarios:\n  a:\n    load: {users: 1, for: 1s}\n    steps:\n      - get: /\n        name: home\n        headers: {X: \"${used}\"}\nthresholds: [p99 < 5ms, p99(home) < 5ms]\n";
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    std::fs::write(folder.path().join("rows.csv"), "a\n1\n").expect("writable");
    let output = squall(folder.path(), &["check", "plan.yaml"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for warning in [
        "plan.yaml:2:17: warning: the variable `idle` is never used",
        "plan.yaml:3:8: warning: the data source `rows` is never used",
    ] {
        assert!(text.contains(warning), "{warning}: {text}");
    }
    assert_eq!(text.matches("warning").count(), 2, "{text}");
}

#[test]
fn a_threshold_about_nothing_is_an_error_before_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    for (threshold, error) in [
        ("p99(hom) < 5ms", "no request or group is named `hom`"),
        ("p99(hom) < 5ms", "did you mean `home`?"),
        ("p99(scenario: b) < 5ms", "no scenario is named `b`"),
        ("p99(kind: group) < 5ms", "nothing in this plan is what this threshold is about"),
        ("p99(home, group: shop) < 5ms", "nothing in this plan is what this threshold is about"),
    ] {
        let plan = format!(
            "target: http://127.0.0.1:9\nscenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    steps:\n      - get: /\n        name: home\nthresholds: [\"{threshold}\"]\n"
        );
        std::fs::write(folder.path().join("plan.yaml"), &plan).expect("writable");
        let output = squall(folder.path(), &["run", "plan.yaml"]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("plan.yaml:8:15: error") && text.contains(error), "{text}");
        // A name that only the run knows may be the one.
        let plan = plan.replace("name: home", "name: \"${iteration}\"");
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        let output = squall(folder.path(), &["check", "plan.yaml"]);
        let is_name = threshold.starts_with("p99(hom)");
        assert_eq!(
            output.status.success(),
            is_name || !threshold.contains("scenario"),
            "{threshold}"
        );
    }
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

/// What a server sends is part of a file's name: it stays below the folder that the plan names.
#[test]
fn a_file_named_by_a_response_stays_in_its_folder() {
    let outside = tempfile::tempdir().expect("a folder");
    let kept = outside.path().join("kept");
    std::fs::write(&kept, "kept").expect("writable");
    let absolute = kept.to_string_lossy().into_owned();
    for (name, is_good) in [
        ("good.bin", true),
        ("inner/good.bin", true),
        (&*absolute, false),
        ("../kept", false),
        ("inner/../../kept", false),
        ("link/kept", false),
        ("a\\u0000b", false),
        ("", false),
    ] {
        let body = format!("{{\"name\": \"{name}\"}}");
        let server = Peer::start("127.0.0.1", move |mut client| {
            while client.request().is_some() {
                client.send(response("200 OK", &body));
            }
        });
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        std::fs::create_dir_all(out.join("inner")).expect("writable");
        std::os::unix::fs::symlink(outside.path(), out.join("link")).expect("writable");
        std::fs::write(folder.path().join("kept"), "kept").expect("writable");
        let setup = "setup: [{get: /, extract: {found: {json: $.name}}}]";
        for (head, variable) in [("", "x"), (setup, "found")] {
            let plan = format!(
                "target: {}\n{head}\nscenarios:\n  a:\n    load: {{users: 1, iterations: 1}}\n    steps:\n      \
                 - {{get: /, extract: {{x: {{json: $.name}}}}}}\n      \
                 - {{get: /, response_body: {{file: 'out/${{{variable}}}'}}}}\n",
                server.url()
            );
            std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
            let (code, expected) = if is_good { (0, "{}") } else { (1, r#"{"render":1}"#) };
            let json = result(folder.path(), &["run", "plan.yaml"], code);
            assert_eq!(kinds(&json), expected, "{name:?} of {variable}: {}", json["log"]);
            assert!(!is_good || out.join(name).is_file(), "{name:?}");
        }
        for file in [&kept, &folder.path().join("kept")] {
            assert_eq!(std::fs::read(file).expect("a file"), b"kept", "{name:?}");
        }
    }
}

/// What is unpacked is bounded before it takes memory. In a process of its own: elsewhere the memory of other tests
/// counts too.
#[test]
fn a_bomb_takes_little_memory() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nscenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{{get: \"/hostile/gzip-bomb?size=2g\", compression: true, check: body == \"\"}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &["run", "plan.yaml", "-w", "1"], 1);
    assert_eq!(kinds(&json), r#"{"body_too_large":1}"#);
    let peak = json["generator"]["peak_rss_bytes"].as_u64().expect("a size");
    assert!(peak < 128 << 20, "{peak} bytes");
}
