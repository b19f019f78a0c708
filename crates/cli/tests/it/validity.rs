//! Validity: what makes numbers questionable or invalid is provoked for real, and must be found. What needs
//! a machine of its own (a busy CPU, a small range of ports, lost packets) is in
//! `interop/test_validity.py`.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::common::peer::{Peer, response};
use crate::common::{Gate, go_on, kinds, result, signal, squall, stop, target, until};

/// The reason of a rule, if the run has it.
fn reason<'a>(json: &'a Value, rule: &str) -> Option<&'a Value> {
    json["validity_reasons"].as_array()?.iter().find(|reason| reason["rule"] == rule)
}

/// The response to its first request is sent while it stands still, and read a second later.
#[test]
fn a_stopped_generator_says_so_and_does_not_blame_the_target() {
    let gate = Arc::new(Gate::default());
    let held = gate.clone();
    let (say, sent) = channel();
    let peer = Peer::start("127.0.0.1", move |mut client| {
        while client.request().is_some() {
            held.pass();
            client.send(response("200 OK", ""));
            say.send(()).expect("the test listens");
        }
    });
    let mut child = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args([&peer.url(), "-c", "1", "-n", "2", "-q", "--json", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("squall starts");
    until(&mut child, || !peer.seen().is_empty());
    stop(&child);
    sleep(Duration::from_millis(300));
    gate.open();
    sent.recv().expect("a response");
    sleep(Duration::from_secs(1));
    go_on(&child);
    let output = child.wait_with_output().expect("squall ends");
    let json: Value = serde_json::from_slice(&output.stdout).expect("a result");
    let stalled =
        reason(&json, "stalled").unwrap_or_else(|| panic!("{}", json["validity_reasons"]));
    // Which of the others it is depends on the length of the whole run: the rule has tests of its own.
    assert_ne!((&stalled["validity"], &json["validity"]), (&"valid".into(), &"valid".into()));
    assert_eq!((kinds(&json).as_str(), &json["totals"]["count"]), ("{}", &2.into()));
    let delay = json["generator"]["receive_delay_us"]["max"].as_f64().expect("a stamp");
    let latency = json["totals"]["latency_us"]["max"].as_f64().expect("a response");
    let elapsed = json["elapsed_s"].as_f64().expect("a length") * 1e6;
    assert!(delay >= 990_000.0, "{delay}");
    assert!(latency >= 299_000.0 && latency + delay <= elapsed, "{latency} {delay} {elapsed}");
}

/// More connections than a process may have files: each worker has a table of its own, and there are as
/// many workers as that takes.
#[test]
fn one_table_of_files_is_not_the_limit() {
    let server = target();
    let command = format!(
        "ulimit -n 80; exec '{}' {}/delay/200 -c 100 -n 400 -q --json -",
        env!("CARGO_BIN_EXE_squall"),
        server.url()
    );
    let output = Command::new("sh").args(["-c", &command]).output().expect("a shell");
    let json: Value = serde_json::from_slice(&output.stdout).expect("a result");
    assert_eq!((kinds(&json).as_str(), &json["totals"]["count"]), ("{}", &400.into()));
    assert_eq!(json["counters"]["connections_opened"], 100);
    let workers = json["meta"]["nodes"][0]["workers"].as_u64().expect("a number");
    assert!(workers >= 3, "{workers}");
    let open = json["nodes"][0]["host_metrics"]["open_files"].as_u64().expect("a number");
    assert!(open <= 80, "of the fullest table: {open}");
}

#[test]
fn too_few_files_are_squalls_own_limit() {
    let server = target();
    let command = format!(
        "ulimit -n 40; exec '{}' {}/delay/200 -c 100 -n 200 -w 1 -q --json - --strict",
        env!("CARGO_BIN_EXE_squall"),
        server.url()
    );
    let output = Command::new("sh").args(["-c", &command]).output().expect("a shell");
    let json: Value = serde_json::from_slice(&output.stdout).expect("a result");
    assert!(kinds(&json).contains("too_many_open_files"), "{}", kinds(&json));
    let files = reason(&json, "files").unwrap_or_else(|| panic!("{}", json["validity_reasons"]));
    assert_eq!((&files["validity"], output.status.code()), (&"invalid".into(), Some(3)));
    assert!(files["observed"].to_string().contains("limit of open files (40)"), "{files}");
}

#[test]
fn a_percentile_needs_enough_responses() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let short = |iterations: u32| {
        let plan = format!(
            "target: {}\nthresholds: [p99.9 < 1m, mean < 1m]\nscenarios: {{a: {{load: {{users: 1, iterations: {iterations}}}, steps: [{{get: /}}]}}}}\n",
            server.url()
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        let json = result(folder.path(), &["run", "plan.yaml"], 0);
        reason(&json, "too_short").map(|reason| reason["observed"].to_string())
    };
    let seen = short(3_687).expect("too few responses");
    assert!(seen.contains("is based on 3,687 responses; p99.9 needs at least 3,688"), "{seen}");
    assert_eq!(short(3_688), None);
}

#[test]
fn only_strict_fails_for_an_invalid_run() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let url = format!("{}/delay/300", server.url());
    let args = [url.as_str(), "-r", "100/s", "-c", "2", "-d", "2s"];
    let json = result(folder.path(), &args, 0);
    assert_eq!(
        reason(&json, "arrivals_dropped").map(|reason| &reason["validity"]),
        Some(&"invalid".into())
    );
    result(folder.path(), &[&args[..], &["--strict"]].concat(), 3);
    let shown = |more: &[&str]| {
        let text = squall(folder.path(), &[&args[..], more].concat()).stdout;
        String::from_utf8_lossy(&text).into_owned()
    };
    let (brief, full) = (shown(&["-q"]), shown(&["-q", "--full"]));
    assert!(brief.contains("validity    INVALID: ") && !brief.contains("hint:"), "{brief}");
    assert!(full.contains("validity    INVALID") && full.contains("hint:"), "{full}");
    for text in [brief, full] {
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}

#[test]
fn a_killed_run_is_evaluated_too() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nscenarios: {{a: {{load: {{users: 1, iterations: 5}}, steps: [{{get: /}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let first = result(folder.path(), &["run", "plan.yaml", "--out", "runs"], 0);
    let run = std::fs::read_dir(folder.path().join("runs")).expect("runs").next().expect("a run");
    let run = run.expect("an entry").path().display().to_string();
    let output = squall(folder.path(), &["report", &run, "--json", "-"]);
    let again: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(again["nodes"][0]["host_metrics"], first["nodes"][0]["host_metrics"]);
    assert_eq!(again["validity_reasons"], first["validity_reasons"]);
    assert!(again["nodes"][0]["host_metrics"]["open_files_limit"].as_u64() > Some(0));
}

/// Pauses that are too short to be a stall each cost a closed load a part of its requests.
#[test]
fn pauses_of_squall_are_a_share_of_the_users_time() {
    let server = target();
    let url = format!("{}/delay/5", server.url());
    let mut child = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args([&url, "-c", "20", "-d", "1h", "-q", "--json", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("squall starts");
    // For longer than a second in all: a shorter run has no throughput to be doubted.
    for _ in 0..20 {
        // All have gone on since the pause before.
        let before = server.stats().requests;
        until(&mut child, || server.stats().requests >= before + 40);
        stop(&child);
        sleep(Duration::from_millis(70));
        go_on(&child);
    }
    signal(&child, "INT");
    let output = child.wait_with_output().expect("squall ends");
    let json: Value = serde_json::from_slice(&output.stdout).expect("a result");
    let share =
        reason(&json, "generator_time").unwrap_or_else(|| panic!("{}", json["validity_reasons"]));
    let effect = share["effect"]["rate"].as_f64().expect("a share");
    assert!(effect > 0.0 && effect < 1.0, "{share}");
    // How large it is depends on what the machine did between the pauses.
    assert_eq!(share["validity"] == "valid", effect <= 0.05, "{share}");
}

/// Percentiles above the share of what was given up are lower bounds, and no threshold below them holds.
#[test]
fn what_never_came_is_not_fast() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\ndefaults: {{timeout: {{first_byte: 2s}}}}\nthresholds: [p99 < 10m, p50 < 10m]\n\
         scenarios: {{a: {{load: {{users: 10, iterations: 1}}, steps: [\
         {{repeat: 9, steps: [{{get: /}}]}}, {{get: /hostile/never-answers}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &["run", "plan.yaml"], 1);
    let passed: Vec<_> = json["thresholds"].as_array().expect("two").iter().collect();
    assert_eq!((&passed[0]["passed"], &passed[1]["passed"]), (&false.into(), &true.into()));
    assert!(passed[0]["shown"].as_str().is_some_and(|shown| shown.starts_with("at least 2")));
    let bounds = &json["totals"]["latency_with_timeouts_us"];
    assert_eq!((&bounds["count"], &bounds["given_up"]), (&100.into(), &10.into()));
    assert_eq!(bounds["at_least"], serde_json::json!(["mean", "p95", "p99", "p999", "max"]));
    let noted = reason(&json, "timeouts").unwrap_or_else(|| panic!("{}", json["validity_reasons"]));
    assert!(noted["observed"].to_string().contains("percentiles above p90"), "{noted}");
}

/// A user's first request has no moment at which it was due. How late those are that are all due at one moment is decided by the
/// engine's `bursts.rs`, which has tests on virtual time.
#[test]
fn a_first_request_is_never_late() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nscenarios: {{a: {{load: {{stages: [{{users: 200, over: 0s}}], for: 1h, iterations: 2, pacing: 300ms}}, steps: [{{get: /}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &["run", "plan.yaml", "-w", "1"], 0);
    assert_eq!(json["totals"]["count"], 400);
    let delay = &json["generator"]["send_delay_us"];
    assert_eq!(delay["count"], 200, "{delay}");
}
