//! The servers of an experiment as monitors of its plan: thresholds are about them, and profiles are taken of them.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::{PERF, perf_on};

/// Carries out an experiment of one run a variant, whose plan has these lines more; its exit code, and what it said.
fn carried_out(folder: &Path, more: &str) -> (Option<i32>, String) {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("one").port();
    let squall = env!("CARGO_BIN_EXE_squall");
    let experiment = format!(
        "name: servers
plan:
  target: http://127.0.0.1:{port}
  scenarios: {{a: {{load: {{users: 2, for: 2s}}, steps: [{{get: /}}]}}}}
  {more}
server: {{command: [{squall}, target, --listen, '127.0.0.1:{port}'], ready: {{http: 'http://127.0.0.1:{port}/', within: 20s}}}}
variants: {{one: {{}}, two: {{}}}}
measure: [mean, cpu(server)]
repeat: 1
retries: 0
"
    );
    fs::write(folder.join("it.yaml"), experiment).expect("written");
    let output = Command::new(squall)
        .args(["experiment", "it.yaml", "--allow-exec", "--out", "own"])
        .current_dir(folder)
        .env("PATH", perf_on(folder, Some(PERF)))
        .env("PERF_CALLS", folder.join("calls"))
        .output()
        .expect("squall runs");
    let said = [output.stdout, output.stderr].map(|own| String::from_utf8_lossy(&own).into_owned());
    (output.status.code(), said.concat())
}

/// The results of its runs.
fn runs(folder: &Path, more: &str) -> Vec<Value> {
    let (code, said) = carried_out(folder, more);
    assert_eq!(code, Some(0), "{said}");
    let own = fs::read_dir(folder.join("own")).expect(&said).flatten().next().expect("its folder");
    let runs = fs::read_dir(own.path().join("runs")).expect("runs").flatten();
    let read = |run: fs::DirEntry| fs::read(run.path().join("run.json")).expect("a result");
    runs.map(|run| serde_json::from_slice(&read(run)).expect("JSON")).collect()
}

#[test]
fn a_threshold_may_be_about_a_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs =
        runs(folder.path(), "thresholds: ['cpu(server) < 10000%', 'rss(server) > 1000000000000']");
    assert_eq!(runs.len(), 2);
    for run in &runs {
        let [cpu, rss] = [0, 1].map(|at| &run["thresholds"][at]);
        assert!(cpu["value"].as_f64().is_some_and(|cpu| cpu > 0.0), "{cpu}");
        assert_eq!((&cpu["passed"], &rss["passed"]), (&true.into(), &false.into()), "{rss}");
        assert!(rss["value"].as_f64().is_some_and(|rss| rss > 1e6), "{rss}");
    }
}

#[test]
fn a_profile_may_be_of_a_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = runs(folder.path(), "profile: {process: server, at: 0s, for: 500ms}");
    assert_eq!(runs.len(), 2);
    for run in &runs {
        assert_eq!(run["profile"]["process"], "server", "{}", run["warnings"]);
        assert_eq!(run["profile"]["samples"], 1);
    }
    let calls = fs::read_to_string(folder.path().join("calls")).expect("calls");
    let of: Vec<&str> = calls.lines().filter(|call| call.starts_with("record")).collect();
    assert!(of.len() == 2 && of[0] != of[1], "each is of the server of its run: {calls}");
}

/// The server is no part of what is wrong.
#[test]
fn a_threshold_that_is_wrong_is_told_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, said) =
        carried_out(folder.path(), "thresholds: ['cpu(server) < 80%', 'p99 > > 1s']");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("it.yaml:5:") && !said.contains("no monitor"), "{said}");
    let (code, said) = carried_out(folder.path(), "thresholds: ['cpu(servre) < 80%']");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no monitor `servre`"), "{said}");
}
