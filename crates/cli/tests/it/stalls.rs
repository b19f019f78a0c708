//! A stall of squall itself is never an error of the target: a real process is stopped (SIGSTOP) for longer
//! than its requests may take, and continued. The target is a process of its own, and goes on.

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

/// The result of a run of a scenario that is stopped at a time after its start, for a time, so often.
fn stopped(backend: &str, scenario: &str, at_ms: u64, for_ms: u64, times: u32) -> Value {
    let target = Target::start();
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!("target: {}\nscenarios:\n  user: {scenario}\n", target.url);
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let child = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(["run", "plan.yaml", "--io", backend, "--quiet", "--json", "-"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("squall starts");
    std::thread::sleep(Duration::from_millis(at_ms));
    for _ in 0..times {
        signal(&child, "STOP");
        std::thread::sleep(Duration::from_millis(for_ms));
        signal(&child, "CONT");
        std::thread::sleep(Duration::from_millis(for_ms));
    }
    let output = child.wait_with_output().expect("squall ends");
    serde_json::from_slice(&output.stdout).expect("a result")
}

/// 20 users wait for responses that take 0.2 s and may take 1 s, when squall stands still for 1.6 s.
fn stopped_while_users_wait(backend: &str) {
    let scenario = "{load: {users: 20, for: 4s}, steps: [{get: /delay/200, timeout: {total: 1s}}]}";
    let json = stopped(backend, scenario, 1_500, 1_600, 1);
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

/// Stalls, one of them over the end of the load: every arrival of the plan is sent, dropped or cut off.
#[test]
fn no_arrival_is_lost_in_a_stall() {
    let scenario = "{load: {rate: 1000/s, for: 2s, max_users: 5000}, steps: [{get: /}]}";
    let json = stopped("auto", scenario, 500, 90, 9);
    let counter = |name: &str| json["counters"][name].as_u64().expect("a counter");
    assert_eq!(counter("arrivals_due"), 2_000, "{}", json["counters"]);
    let (dropped, cut_off) = (counter("arrivals_dropped"), counter("arrivals_cut_off"));
    assert_eq!(counter("iterations_started") + dropped + cut_off, 2_000);
    assert_eq!((json["totals"]["count"].as_u64(), dropped), (Some(2_000 - cut_off), 0));
}

/// What became due in a stall goes to users whose responses have come meanwhile: it does not take a new user, with a new
/// connection, for each arrival. Where another program takes the processor from the target, no response may come in time:
/// one of twelve runs has to show it. A worker that begins all at once shows it in none.
fn stopped_and_behind(backend: &str) {
    let scenario = "{load: {rate: 1000/s, for: 1.5s, max_users: 2000}, steps: [{get: /}]}";
    let mut opened = Vec::new();
    let shown = (0..12).any(|_| {
        let json = stopped(backend, scenario, 700, 300, 1);
        let connections = json["counters"]["connections_opened"].as_u64().expect("a counter");
        opened.push(connections);
        connections < 150
    });
    assert!(shown, "connections for some 300 arrivals: {opened:?}");
}

#[test]
fn who_is_behind_takes_what_has_arrived_with_epoll() {
    stopped_and_behind("epoll");
}

#[test]
fn who_is_behind_takes_what_has_arrived_with_io_uring() {
    stopped_and_behind("io_uring");
}
