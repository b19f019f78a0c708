//! What a plan needs of the machine, said before anything is sent.

use std::process::{Command, Output};

use crate::common::squall;

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
    let words = ["CPUs", "files", "ports", "memory", "busy", "µs per request", "send delay"];
    for word in words.iter().chain(&["fit to generate load now"]) {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(!text.contains("NOT ENOUGH"), "{text}");
}

/// Each with what it does, what is needed and what others advise; without `--settings` only what has to change.
#[test]
fn kernel_settings_are_explained() {
    let here = std::path::Path::new(".");
    let text = |args: &[&str]| String::from_utf8_lossy(&squall(here, args).stdout).into_owned();
    let all = text(&["doctor", "--settings"]);
    let names = ["ip_local_port_range", "tcp_tw_recycle: not there", "fs.file-max", "tcp_wmem"];
    let words = ["needed  depends on the plan", "advice  300000 (Gatling's guide before)"];
    for word in names.iter().chain(&words).chain(&["has no effect", "https://docs.gatling.io"]) {
        assert!(all.contains(word), "{word}: {all}");
    }
    let short = text(&["doctor"]);
    assert!(short.contains("\nkernel settings\n") && !short.contains("tcp_wmem:"), "{short}");
    let output = squall(here, &["doctor", "--settings", "--nodes", "2"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_a_plan_lacks_is_said_with_what_helps() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plan.yaml"), PLAN).expect("writable");
    for (command, code) in [("check plan.yaml", 0), ("doctor plan.yaml", 1)] {
        let output = with_files(folder.path(), 200, command);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{text}");
        let cpus = std::thread::available_parallelism().expect("a number").get();
        // 1,000 connections, 24 files of the run, 8 of each worker, 4 and 5 a thread of the target.
        let needed = 1_000 + 24 + 8 * cpus + 4 + 5 * cpus;
        for words in [
            &format!(
                "{},{:03} open files if all users are busy, 200 allowed in the table of each worker and of the target: NOT ENOUGH",
                needed / 1_000,
                needed % 1_000
            ),
            &format!(
                "share connections: `connections: {{reuse: pool, pool_size: {}}}`",
                200 - 24 - 4 - 10 * cpus
            ),
            &format!("`ulimit -n {needed}` (now 200; only for this shell)"),
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
    let cpus = std::thread::available_parallelism().expect("a number").get();
    assert!(
        text.contains(&format!("{} open files", 20 + 24 + 4 + 13 * cpus))
            && text.contains("as many requests as the response times allow"),
        "{text}"
    );
}

/// As many open files as `check` says are enough for a run, in one table, with all that it has besides its
/// connections.
#[test]
fn what_is_said_to_be_enough_is_enough() {
    let server = crate::common::target();
    let folder = tempfile::tempdir().expect("a folder");
    let cpus = std::thread::available_parallelism().expect("a number").get();
    for target in ["builtin", &server.url()] {
        let plan = format!(
            "target: {target}\nscenarios: {{a: {{load: {{users: 50, iterations: 6}}, steps: [{{get: /delay/300}}]}}}}\n"
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        let output = squall(folder.path(), &["check", "plan.yaml"]);
        let text = String::from_utf8_lossy(&output.stdout);
        let files =
            text.lines().find_map(|line| line.trim().strip_prefix("files")).expect("a line");
        let needed = files.split_whitespace().next().and_then(|word| word.parse().ok());
        let needed: u32 = needed.unwrap_or_else(|| panic!("{text}"));
        let run = format!("run plan.yaml -w {cpus} --out samples=log.jsonl --json -");
        let output = with_files(folder.path(), needed, &run);
        let json: serde_json::Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(crate::common::kinds(&json), "{}", "{needed} files");
        assert_eq!(json["totals"]["count"], 300);
        // Hardly more than what was open is asked for.
        let open = json["nodes"][0]["host_metrics"]["open_files"].as_u64().expect("a number");
        assert!(u64::from(needed) < open + 30, "{open} of {needed}");
    }
}

#[test]
fn what_this_machine_can_never_hold_is_refused() {
    let (server, folder) = (crate::common::target(), tempfile::tempdir().expect("a folder"));
    for (connections, need) in [("{}", "files"), ("{reuse: pool, pool_size: 10}", "memory")] {
        let plan = format!(
            "target: {}\nconnections: {connections}\nscenarios: {{a: {{load: {{users: 1000000000, for: 1h}}, steps: [{{get: /}}]}}}}\n",
            server.url()
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        let output = with_files(folder.path(), 1_000, "run plan.yaml");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(need) && text.contains("NOT ENOUGH"), "{text}");
    }
    assert_eq!(server.stats().accepted, 0);
}

#[test]
fn a_plan_may_be_about_a_monitor_that_is_typed() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = "target: builtin\nprofile: {process: server, at: 0s}\nthresholds: [cpu(server) < 80%]\n\
                scenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: /}]}}\n";
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let told = |more: &[&str]| {
        let output = squall(folder.path(), &[&["doctor"], more].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = told(&["plan.yaml", "--allow-exec"]);
    assert!(code == Some(2) && said.contains("there is no monitor `server`"), "{said}");
    let (code, said) = told(&["plan.yaml", "--allow-exec", "--monitor", "server=port:8080"]);
    assert!(code != Some(2), "{said}");
    let (code, said) = told(&["--monitor", "server=port:8080"]);
    assert!(code == Some(2) && said.contains("--monitor goes with a plan"), "{said}");
}
