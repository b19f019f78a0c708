//! The log of requests.

use serde_json::Value;

use crate::common::{result, squall, target};

const STEPS: &str = "
      - get: /echo?password=${password}
        name: good
        auth: {basic: {user: a, password: '${password}'}}
      - get: /status/500
        name: bad";

/// Runs a plan with this log; returns the result and the lines of the log.
fn logged(flags: &[&str]) -> (Value, Vec<Value>) {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nvars: {{password: hunter2}}\nscenarios:\n  shop:\n    load: {{users: 2, iterations: 10}}\n    steps:{STEPS}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let args = [&["run", "plan.yaml", "-w", "1", "--out", "samples=log.jsonl"], flags].concat();
    // Half of the requests are errors.
    let json = result(folder.path(), &args, 1);
    let text = std::fs::read_to_string(folder.path().join("log.jsonl")).expect("a log");
    assert!(!text.contains("hunter2") && !text.contains("aHVudGVy"), "{text}");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let counted = &json["generator"]["requests_logged"];
    assert_eq!(counted.as_u64(), Some(lines.len() as u64));
    assert_eq!(json["generator"]["requests_not_logged"].as_u64(), Some(0));
    (json, lines)
}

#[test]
fn every_request_has_a_line() {
    let (json, lines) = logged(&[]);
    assert_eq!(lines.len(), 40);
    // The log has fractions of a µs, the largest value of a histogram whole ones.
    let latency = |line: &Value| line["latency_us"].as_f64().expect("a latency") as u64;
    let slowest = lines.iter().map(latency).max();
    assert_eq!(slowest, json["totals"]["latency_us"]["max"].as_f64().map(|us| us as u64));
    let bytes: u64 = lines.iter().filter_map(|line| line["bytes_in"].as_u64()).sum();
    assert_eq!(Some(bytes), json["totals"]["bytes_in"].as_u64());
    let bad: Vec<&Value> = lines.iter().filter(|line| line["name"] == "bad").collect();
    assert_eq!(bad.len(), 20);
    assert_eq!((&bad[0]["status"], &bad[0]["error"]), (&500.into(), &"status".into()));
    assert!(lines.iter().all(|line| line["scenario"] == "shop" && line["request"].is_null()));
    let mut iterations: Vec<_> =
        bad.iter().map(|line| (line["user"].as_u64(), line["iteration"].as_u64())).collect();
    iterations.sort_unstable();
    iterations.dedup();
    assert_eq!(iterations.len(), 20, "two users, ten iterations each");
}

#[test]
fn only_failed_or_one_in_some() {
    let (_, lines) = logged(&["--log-which", "failed"]);
    assert_eq!(lines.len(), 20);
    assert!(lines.iter().all(|line| line["error"] == "status"));
    let (_, lines) = logged(&["--log-which", "1/8"]);
    assert_eq!(lines.len(), 5);
}

#[test]
fn bodies_up_to_a_limit() {
    let (_, lines) = logged(&["--log-bodies", "100B"]);
    let good = lines.iter().find(|line| line["name"] == "good").expect("a line");
    let text = |key: &str| good[key].as_str().unwrap_or_default();
    assert!(text("request").starts_with("GET /echo?password=*** HTTP/1.1\r\n"), "{good}");
    assert!(text("response").starts_with("HTTP/1.1 200"), "{good}");
    assert!(!text("body").is_empty() && text("body").len() <= 100, "{good}");
}

#[test]
fn what_cannot_be_logged_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |args: &[&str], code: i32, word: &str| {
        let output =
            squall(folder.path(), &[&["http://127.0.0.1:9/", "-n", "1", "-q"], args].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(word), "{word}: {text}");
    };
    refused(&["--out", "samples=no/such/log.jsonl"], 2, "no/such/log.jsonl");
    refused(&["--log-which", "all"], 2, "--log-which goes with --out samples=FILE.jsonl");
    refused(&["--log-bodies", "1KiB", "-o", "samples=a.csv"], 2, "--log-bodies goes with");
    refused(&["--out", "samples=a.jsonl", "--log-which", "some"], 2, "one in N");
    // A full disk ends the log, and not the run.
    let server = target();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("full.jsonl")).expect("a link");
    let args = [&server.url(), "-n", "50", "-q", "-o", "samples=full.jsonl", "--json", "-"];
    let output = squall(folder.path(), &args);
    let json: Value = serde_json::from_slice(&output.stdout).expect("a result");
    assert_eq!(json["totals"]["count"].as_u64(), Some(50));
    let reasons = json["outcome"]["reasons"].to_string();
    assert!(reasons.contains("full.jsonl: No space left"), "{reasons}");
}

/// What is copied of a body is all that is in memory of it.
#[test]
fn large_bodies_are_logged_in_little_memory() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nscenarios: {{a: {{load: {{users: 4, iterations: 1}}, steps: [{{get: /bytes/256m}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let args = ["run", "plan.yaml", "--out", "samples=log.jsonl", "--log-bodies", "4KiB"];
    let json = result(folder.path(), &args, 0);
    assert!(json["totals"]["bytes_in"].as_u64() > Some(1 << 30), "{}", json["totals"]);
    let peak = json["generator"]["peak_rss_bytes"].as_u64().expect("a number");
    assert!(peak < 60 << 20, "{peak} bytes");
    let output = squall(folder.path(), &[&args[..5], &["17MiB"]].concat());
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("at most 16MiB of a message can be logged"), "{errors}");
}

/// Setup and teardown are in the result and in the log of requests; teardown goes on after an error, and is
/// run when setup has failed half-way, with what setup had found by then.
#[test]
fn setup_and_teardown_are_logged_too() {
    let server = target();
    let plan = |second: &str| {
        format!(
            "target: {}
setup:
  - get: /echo?made=1
    extract: {{made: {{json: $.query.made}}}}
  - get: {second}
  - get: /echo?never=1
teardown:
  - get: /status/500
  - get: /echo?cleaned=${{made}}
scenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{{get: /}}]}}}}
",
            server.url()
        )
    };
    let folder = tempfile::tempdir().expect("a folder");
    let lines = |flags: &[&str], second: &str| {
        std::fs::write(folder.path().join("plan.yaml"), plan(second)).expect("writable");
        let flags = [&["run", "plan.yaml", "--out", "samples=log.jsonl"], flags].concat();
        let output = squall(folder.path(), &flags);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{errors}");
        let text = std::fs::read_to_string(folder.path().join("log.jsonl")).expect("a log");
        let line = |line: &str| -> Value { serde_json::from_str(line).expect("JSON") };
        let lines: Vec<String> = text
            .lines()
            .map(line)
            .map(|line| format!("{} {} {}", line["run_phase"], line["step"], line["url"]))
            .map(|line| line.replace(&server.url(), "").replace('"', ""))
            .collect();
        (lines, errors)
    };
    let cleaned = ["teardown 1 /status/500", "teardown 2 /echo?cleaned=1"];
    let (all, errors) = lines(&["--json", "result.json"], "/status/200");
    let made = ["setup 1 /echo?made=1", "setup 2 /status/200", "setup 3 /echo?never=1"];
    assert_eq!(all, [&made[..], &["load 1 /"], &cleaned].concat());
    let url = format!("status 500, 4 bytes, GET {}/status/500", server.url());
    assert!(errors.contains("teardown failed: ") && errors.contains(&url), "{errors}");
    let text = std::fs::read_to_string(folder.path().join("result.json")).expect("a result");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    let [setup, _, teardown] = [0, 1, 2].map(|number| &json["run_phases"][number]);
    assert_eq!([&setup["end"], &teardown["end"]], ["done", "failed"]);
    let rows = teardown["rows"].as_array().expect("an array");
    let failed = rows.iter().find(|row| row["name"] == "GET /status/500").expect("a row");
    assert_eq!(failed["errors"], 1);
    assert!(teardown["log"][0].as_str().expect("a line").contains(&url), "{json}");
    assert_eq!(json["generator"]["requests_logged"], 6);

    let (all, errors) = lines(&[], "/status/401");
    assert_eq!(all, [&["setup 1 /echo?made=1", "setup 2 /status/401"][..], &cleaned].concat());
    for part in ["setup failed: ", "status 401, ", "/status/401", "teardown failed: "] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
}
