//! `squall limit`: its flags, and what is there of a search that a signal ends.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::common::{signal, squall, target, until};

/// Four servers that take 20 ms each: n users wait 5 n ms in the mean, from four on.
const PLAN: &str = "scenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: \"/queue?servers=4&mean=20&dist=fixed\"}]}}";

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
        (&["limit", "plan.yaml", "--require", "p99 < 1s", "--mode", "soak"], "`stages`"),
        (&["limit", "plan.yaml", "--require", "p99 < 1s", "--step", "1s"], "--step"),
        (
            &["limit", "plan.yaml", "--require", "p99 < 1s", "--from", "10", "--to", "5"],
            "invalid --from `10`: expected at most the level of --to, `5`",
        ),
        (
            &["limit", "plan.yaml", "--require", "p99(nosuch) < 1s"],
            "--require 'p99(nosuch) < 1s': no request",
        ),
        // Before the first step, not after the last one.
        (
            &["limit", "plan.yaml", "--require", "p99 < 1s", "--json", "/nonexistent/x.json"],
            "--json /nonexistent/x.json: ",
        ),
    ] {
        let output = squall(folder.path(), arguments);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {err}");
        assert!(err.contains(words), "{arguments:?}: {err}");
    }
}

/// Starts a search in steps of 2 s, and waits until its folder has two of them.
fn two_steps(folder: &Path) -> (Child, PathBuf) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(["limit", "plan.yaml", "--step", "2s", "--steps", "10", "--json", "result.json"])
        .args(["--require", "p99 < 1h", "-w", "1"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("squall starts");
    let run = || {
        let mut runs = std::fs::read_dir(folder.join("squall-runs")).ok()?;
        runs.next()?.ok().map(|run| run.path())
    };
    until(&mut child, || run().is_some_and(|run| steps(&run) >= 2));
    (child, run().expect("it has steps"))
}

/// How many steps a folder has.
fn steps(folder: &Path) -> usize {
    let Ok(text) = std::fs::read(folder.join("limit.json")) else { return 0 };
    let json: Value = serde_json::from_slice(&text).expect("JSON");
    json["steps"].as_array().expect("steps").len()
}

/// What was done before the end is on disk, and printed unless the process was killed.
#[test]
fn a_search_that_is_ended_keeps_its_steps() {
    for name in ["INT", "TERM", "KILL"] {
        let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
        let plan = format!("target: {}\nteardown: [{{get: /status/204}}]\n{PLAN}\n", server.url());
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        let (child, run) = two_steps(folder.path());
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

/// Thresholds of a script are about k6's metrics and its own, with tags.
#[test]
fn a_script_is_searched_by_its_thresholds() {
    let server = target();
    let text = format!(
        "import http from 'k6/http';
import {{ Trend }} from 'k6/metrics';
const size = new Trend('size');
export const options = {{ vus: 1, duration: '1s', thresholds: {{ size: ['min>0'] }} }};
export default function () {{
  const response = http.get('{}/', {{ tags: {{ of: 'page' }} }});
  size.add(response.body.length, {{ of: 'page' }});
}}",
        server.url()
    );
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.js"), text).expect("writable");
    let line = ["limit", "a.js", "--to", "1", "--step", "2s", "--steps", "1", "--json", "-"];
    for more in [&[][..], &["--require", "max(size, of: page) > 0", "--require", "p99 < 1h"]] {
        let output = squall(folder.path(), &[&line, more].concat());
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{more:?}: {err}");
        let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(result["steps"][0]["outcome"], "met", "{result}");
    }
}
