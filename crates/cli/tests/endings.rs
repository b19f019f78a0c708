//! How a run ends when it does not end by itself: signals, a kill, a failing setup; and where its
//! result then is.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use squall_target::{Server, Stats};

use common::{squall, target};

/// A plan that would run for an hour, in a folder of its own.
fn endless(server: &Server, more: &str, step: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!(
        "target: {}\n{more}\nscenarios: {{a: {{load: {{users: 2, for: 1h}}, steps: [{step}, {{think: 5ms}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    folder
}

/// Starts the plan of a folder.
fn start(folder: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(["run", "plan.yaml", "-w", "2", "--json", "result.json"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("squall starts")
}

fn signal(child: &Child, name: &str) {
    let command = format!("kill -{name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &command]).status().expect("a shell").success());
}

/// Waits for the target to have counted so much.
fn wait_for(server: &Server, least: u64, of: impl Fn(Stats) -> u64) {
    for _ in 0..3_000 {
        if of(server.stats()) >= least {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the target counted {:?}, not {least}", server.stats());
}

fn finish(child: Child) -> Output {
    child.wait_with_output().expect("squall ends")
}

/// The one folder of a run.
fn run_folder(folder: &Path) -> PathBuf {
    let mut runs = std::fs::read_dir(folder.join("squall-runs")).expect("runs");
    runs.next().expect("a run").expect("an entry").path()
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

#[test]
fn an_interrupted_run_keeps_its_results() {
    let server = target();
    let folder =
        endless(&server, "thresholds: [count > 0]\nteardown: [{get: /status/204}]", "get: /");
    let child = start(folder.path());
    wait_for(&server, 50, |stats| stats.requests);
    signal(&child, "INT");
    let output = finish(child);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("GET /") && text.contains("threshold   passed"), "{text}");
    let json = read(&folder.path().join("result.json"));
    assert_eq!((&json["finished"], &json["interrupted"]), (&true.into(), &true.into()));
    assert_eq!(json, read(&run_folder(folder.path()).join("run.json")));
    // All that the target saw is in the result; the teardown is not a part of it.
    assert_eq!(json["totals"]["count"].as_u64(), Some(server.stats().requests - 1));
    assert_eq!(json["totals"]["errors"].as_u64(), Some(0), "{json}");
}

#[test]
fn the_second_signal_waits_for_nothing() {
    let server = target();
    let folder = endless(&server, "graceful_stop: 1h", "get: /delay/3600000");
    let child = start(folder.path());
    wait_for(&server, 2, |stats| stats.accepted);
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "TERM");
    assert_eq!(finish(child).status.code(), Some(130));
    let json = read(&folder.path().join("result.json"));
    assert_eq!(json["interrupted"], true);
    assert_eq!(json["totals"]["latency_us"]["count"].as_u64(), Some(0));
}

#[test]
fn an_interrupted_setup_starts_no_load() {
    let server = target();
    let folder = endless(&server, "graceful_stop: 100ms\nsetup: [{get: /delay/3600000}]", "get: /");
    let child = start(folder.path());
    wait_for(&server, 1, |stats| stats.accepted);
    signal(&child, "INT");
    let output = finish(child);
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(server.stats().accepted, 1);
}

#[test]
fn a_killed_run_is_reported_up_to_its_last_second() {
    let server = target();
    let folder = endless(&server, "", "get: /");
    let mut child = start(folder.path());
    let run = loop {
        // The slices of two whole seconds are on disk.
        if folder.path().join("squall-runs").exists() {
            let run = run_folder(folder.path());
            let timeline = std::fs::read_to_string(run.join("timeline.hlog")).unwrap_or_default();
            if timeline.lines().any(|line| line.contains("GET")) {
                break run;
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    child.kill().expect("it runs");
    finish(child);
    let json = read(&run.join("run.json"));
    assert_eq!((&json["finished"], json["totals"]["count"].as_u64()), (&false.into(), Some(0)));
    let path = run.display().to_string();
    let output = squall(folder.path(), &["report", &path, "--json", "-"]);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let count = json["totals"]["count"].as_u64().expect("a count");
    assert!(count > 0 && count <= server.stats().requests, "{count}");
    assert!(json["warnings"].to_string().contains("was killed"), "{}", json["warnings"]);
    let text = squall(folder.path(), &["report", &path]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("GET /"));
}

#[test]
fn a_failed_setup_ends_everything_and_a_failed_teardown_loses_nothing() {
    let server = target();
    let folder = tempfile::tempdir().expect("a folder");
    let run = |part: &str| {
        let plan = format!(
            "target: {}\n{part}: [{{get: /status/500}}]\nscenarios: {{a: {{load: {{users: 1, iterations: 3}}, steps: [{{get: /}}]}}}}\n",
            server.url()
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        let output = squall(folder.path(), &["run", "plan.yaml", "--json", "result.json"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{error}");
        assert!(error.contains(&format!("{part} failed")), "{error}");
    };
    run("setup");
    assert_eq!(server.stats().requests, 1);
    assert!(!folder.path().join("result.json").exists());
    run("teardown");
    let json = read(&folder.path().join("result.json"));
    assert_eq!(json["totals"]["count"].as_u64(), Some(3));
}

#[test]
fn results_go_where_they_are_asked_for() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nscenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{{get: /}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let output = squall(folder.path(), &["run", "plan.yaml", "--out", "kept", "--json", "r.json"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("run folder  kept/"));
    assert_eq!(read(&folder.path().join("r.json"))["totals"]["count"].as_u64(), Some(1));
    assert!(!folder.path().join("squall-runs").exists());
    std::fs::write(folder.path().join("file"), "").expect("writable");
    let output = squall(folder.path(), &["run", "plan.yaml", "--out", "file/below"]);
    assert_eq!(output.status.code(), Some(3), "a run folder that cannot be made");
    assert_eq!(server.stats().requests, 1, "found out before anything was sent");
    let output = squall(folder.path(), &["run", "plan.yaml", "--json", "nowhere/r.json"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("nowhere/r.json"));
}
