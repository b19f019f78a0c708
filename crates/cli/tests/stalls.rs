//! A stall of squall itself is never an error of the target: a real process is stopped (SIGSTOP) for longer
//! than its requests may take, and continued. The target is a process of its own, and goes on.

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// The built-in target as a process, ended when it is dropped.
struct Target {
    process: Child,
    url: String,
}

impl Target {
    fn start() -> Target {
        let mut process = Command::new(env!("CARGO_BIN_EXE_squall"))
            .args(["target", "-l", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a target");
        let output = process.stdout.take().expect("a pipe");
        let line = BufReader::new(output).lines().next().expect("a line").expect("text");
        let at = line.find("http://").unwrap_or_else(|| panic!("no address in {line:?}"));
        let url = line[at..].split_whitespace().next().expect("an address").to_owned();
        Target { process, url }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // Ended already: then there is nothing to do.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn signal(child: &Child, name: &str) {
    let command = format!("kill -{name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &command]).status().expect("a shell").success());
}

/// 20 users wait for responses that take 0.2 s and may take 1 s, when squall stands still for 1.6 s.
fn stopped_while_users_wait(backend: &str) {
    let target = Target::start();
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!(
        "target: {}\nscenarios:\n  user:\n    load: {{users: 20, for: 4s}}\n    steps:\n      \
         - {{get: /delay/200, timeout: {{total: 1s}}}}\n",
        target.url
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let child = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(["run", "plan.yaml", "--io", backend, "--quiet", "--json", "-"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("squall starts");
    std::thread::sleep(Duration::from_millis(1_500));
    signal(&child, "STOP");
    std::thread::sleep(Duration::from_millis(1_600));
    signal(&child, "CONT");
    let output = child.wait_with_output().expect("squall ends");
    let json: Value = serde_json::from_slice(&output.stdout).expect("a result");
    let totals = &json["totals"];
    assert_eq!(totals["errors"], 0, "{totals}");
    assert!(totals["count"].as_u64().is_some_and(|count| count >= 20), "{totals}");
    let reasons = json["validity_reasons"].as_array().expect("a list");
    let stalled = reasons.iter().find(|reason| reason["rule"] == "stalled");
    let stalled = stalled.unwrap_or_else(|| panic!("{reasons:?}"));
    assert_eq!(stalled["validity"], "questionable", "{reasons:?}");
}

#[test]
fn a_stall_is_no_error_of_the_target_with_epoll() {
    stopped_while_users_wait("epoll");
}

#[test]
fn a_stall_is_no_error_of_the_target_with_io_uring() {
    stopped_while_users_wait("io_uring");
}
