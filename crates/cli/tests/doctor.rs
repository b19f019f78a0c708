//! What a plan needs of the machine, said before anything is sent.

mod common;

use std::process::{Command, Output};

use common::squall;

const PLAN: &str = "target: builtin
connections: {reuse: per_iteration}
scenarios: {a: {load: {rate: 3000/s, for: 1m, max_users: 500}, steps: [{get: /}]}}
";

/// Runs squall in a shell that may have so many files open, and could raise that.
fn with_files(folder: &std::path::Path, files: u32, args: &str) -> Output {
    let command = format!("ulimit -Sn {files}; exec '{}' {args}", env!("CARGO_BIN_EXE_squall"));
    let mut shell = Command::new("sh");
    shell.args(["-c", &command]).current_dir(folder).output().expect("a shell")
}

#[test]
fn the_doctor_looks_at_the_machine() {
    let output = squall(std::path::Path::new("."), &["doctor"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for word in ["CPUs", "files", "ports", "memory", "µs per request", "send delay"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(!text.contains("NOT ENOUGH"), "{text}");
}

#[test]
fn what_a_plan_lacks_is_said_with_what_helps() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plan.yaml"), PLAN).expect("writable");
    for (command, code) in [("check plan.yaml", 0), ("doctor plan.yaml", 1)] {
        let output = with_files(folder.path(), 200, command);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{text}");
        for words in [
            "1,040 open files if all users are busy, 200 allowed in the table of each worker and of the target: NOT ENOUGH",
            "share connections: `connections: {reuse: pool, pool_size: 160}`",
            "`ulimit -n 1040` (now 200; only for this shell)",
            "180,500 local ports toward a host (3,000/s new connections",
            "reuse connections: `connections: {reuse: per_user}`",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}

#[test]
fn a_plan_that_fits_is_told_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = "target: builtin\nscenarios: {a: {load: {users: 10, for: 1m}, steps: [{get: /}]}}\n";
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let output = squall(folder.path(), &["doctor", "plan.yaml"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("60 open files")
            && text.contains("as many requests as the response times allow"),
        "{text}"
    );
}
