//! `squall limit`, through the binary, against queues whose limits are known.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use common::{squall, target};

/// Four servers that take 20 ms each: n users wait 5 n ms in the mean, from four on.
const PLAN: &str = "scenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: \"/queue?servers=4&mean=20&dist=fixed\"}]}}";

/// A search whose generator was not disturbed: the first of three, or the last. Whoever else uses the
/// machine can starve it, and then it blames nobody.
fn limit(arguments: &[&str], code: i32) -> (Value, tempfile::TempDir) {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    std::fs::write(folder.path().join("plan.yaml"), format!("target: {}\n{PLAN}\n", server.url()))
        .expect("writable");
    let mut all = vec!["limit", "plan.yaml", "--step", "2s", "-q", "--json", "-"];
    all.extend_from_slice(arguments);
    for attempt in 1.. {
        let output = squall(folder.path(), &all);
        let (out, err) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let json: Value =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
        let steps = json["steps"].as_array().expect("steps");
        if attempt < 3 && steps.iter().any(|step| step["outcome"] == "generator") {
            std::fs::remove_dir_all(folder.path().join("squall-runs")).expect("a folder");
            continue;
        }
        assert_eq!(output.status.code(), Some(code), "{out}{err}");
        return (json, folder);
    }
    unreachable!("three attempts were made")
}

#[test]
fn the_highest_number_of_users_is_found() {
    let (json, folder) = limit(&["--require", "mean < 37ms", "--steps", "8", "-w", "1"], 0);
    assert_eq!(json["by"], "users", "{json}");
    assert!(json["end"] == "found" || json["end"] == "out of steps", "{json}");
    let level = json["sustained_maximum"]["level"].as_f64().expect("a level");
    assert!((6.9..8.0).contains(&level), "7 users wait 35 ms: {}", json["sustained_maximum"]);
    let first = json["violated_first"].as_str().expect("words");
    assert!(first.starts_with("mean < 37ms ("), "{first}");
    let highest = json["scaling"]["highest"].as_f64().expect("a law");
    assert!((180.0..225.0).contains(&highest), "4 servers do 200 a second: {highest}");
    assert!(json["recoveries"][0]["seconds"].as_f64().expect("it recovers") < 3.0, "{json}");
    let folder = std::fs::read_dir(folder.path().join("squall-runs")).expect("a folder");
    let folder = folder.map(|entry| entry.expect("readable").path()).next().expect("one");
    let text = std::fs::read_to_string(folder.join("limit.txt")).expect("a text");
    assert!(text.contains("result         ") && text.contains("└──"), "{text}");
    let stored = std::fs::read_to_string(folder.join("limit.json")).expect("a result");
    assert_eq!(serde_json::from_str::<Value>(&stored).expect("JSON"), json);
}

/// The target leaks from the first time that more than 20 users are there at once.
#[test]
fn a_target_that_does_not_recover_is_not_found() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nscenarios: {{a: {{load: {{users: 1, for: 1s}}, steps: [{{get: \"/leak?most=20&each=5\"}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let arguments = ["limit", "plan.yaml", "--step", "2s", "-q", "--json", "-", "-w", "1"];
    let output = squall(folder.path(), &[&arguments[..], &["--require", "mean < 60ms"]].concat());
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    // Whoever else uses the machine can starve the generator: then it blames nobody.
    let disturbed = json["end"] == "generator was the bottleneck";
    assert!(json["end"] == "did not recover" || disturbed, "{json}");
    assert_eq!(output.status.code(), Some(if disturbed { 3 } else { 1 }), "{json}");
    assert!(json["sustained_maximum"].is_null(), "{json}");
}

#[test]
fn a_spike_violates_and_recovers() {
    let spike =
        ["--mode", "spike", "--from", "2", "--to", "40", "--require", "mean < 60ms", "-w", "1"];
    let (json, _folder) = limit(&spike, 1);
    let outcomes: Vec<&Value> =
        json["steps"].as_array().expect("steps").iter().map(|step| &step["outcome"]).collect();
    assert_eq!(outcomes, ["met", "violated", "met"], "{json}");
}

#[test]
fn a_soak_is_one_run_in_windows() {
    let soak = ["--mode", "soak", "--to", "40/s", "--by", "rate", "--steps", "2", "-w", "1"];
    let (json, _folder) = limit(&[&soak[..], &["--require", "p99 < 60ms"]].concat(), 0);
    let steps = json["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 2);
    for step in steps {
        let rate = step["requests"].as_f64().expect("a rate");
        assert!((38.0..42.0).contains(&rate), "{step}");
    }
}

#[test]
fn missing_flags_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plan.yaml"), format!("target: builtin\n{PLAN}\n"))
        .expect("writable");
    for (arguments, words) in [
        (&["limit", "plan.yaml"][..], "no requirements: add --require"),
        (&["limit", "plan.yaml", "--require", "p99 is nice"], "--require 'p99 is nice'"),
        (
            &["limit", "plan.yaml", "--require", "p99 < 1s", "--to", "many"],
            "--to many: expected a number of users",
        ),
        (&["limit", "plan.yaml", "--require", "p99 < 1s", "--mode", "soak"], "--to"),
        (&["limit", "plan.yaml", "--require", "p99 < 1s", "--step", "1s"], "--step"),
    ] {
        let output = squall(folder.path(), arguments);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {err}");
        assert!(err.contains(words), "{arguments:?}: {err}");
    }
}

/// Starts a test in steps of 2 s, and waits until its folder has two of them.
fn two_steps(folder: &Path, mode: &[&str]) -> (Child, PathBuf) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(["limit", "plan.yaml", "--step", "2s", "--steps", "10", "--json", "result.json"])
        .args(["--require", "p99 < 1s", "-w", "1"])
        .args(mode)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("squall starts");
    for _ in 0..1_200 {
        std::thread::sleep(Duration::from_millis(50));
        let Ok(mut runs) = std::fs::read_dir(folder.join("squall-runs")) else { continue };
        let Some(Ok(run)) = runs.next() else { continue };
        if steps(&run.path()) >= 2 {
            return (child, run.path());
        }
    }
    child.kill().expect("it runs");
    let output = child.wait_with_output().expect("squall ends");
    panic!("no steps are on disk: {}", String::from_utf8_lossy(&output.stderr));
}

/// How many steps a folder has.
fn steps(folder: &Path) -> usize {
    let Ok(text) = std::fs::read(folder.join("limit.json")) else { return 0 };
    let json: Value = serde_json::from_slice(&text).expect("JSON");
    json["steps"].as_array().expect("steps").len()
}

fn signal(child: &Child, name: &str) {
    let command = format!("kill -{name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &command]).status().expect("a shell").success());
}

/// What was done before the end is on disk, and printed unless the process was killed.
#[test]
fn a_search_that_is_ended_keeps_its_steps() {
    let stress = ["--mode", "stress", "--from", "1", "--to", "4"];
    let soak = ["--mode", "soak", "--to", "2"];
    for (mode, name) in
        [(stress.as_slice(), "INT"), (&stress, "KILL"), (&soak, "TERM"), (&soak, "KILL")]
    {
        let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
        let plan = format!("target: {}\nteardown: [{{get: /status/204}}]\n{PLAN}\n", server.url());
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        let (child, run) = two_steps(folder.path(), mode);
        signal(&child, name);
        let output: Output = child.wait_with_output().expect("squall ends");
        let text = String::from_utf8_lossy(&output.stdout);
        let json: Value =
            serde_json::from_slice(&std::fs::read(run.join("limit.json")).expect("a result"))
                .expect("JSON");
        let done = json["steps"].as_array().expect("steps").len();
        assert!((2..10).contains(&done), "{json}");
        assert_eq!(json["end"], "interrupted");
        assert!(std::fs::read_to_string(run.join("limit.txt")).expect("a text").contains("met"));
        if name == "KILL" {
            continue;
        }
        assert_eq!(output.status.code(), Some(130), "{text}");
        assert!(text.contains("interrupted") && text.contains("met"), "{text}");
        let written = std::fs::read(folder.path().join("result.json")).expect("a result");
        assert_eq!(serde_json::from_slice::<Value>(&written).expect("JSON"), json);
    }
}
