//! A stall of squall itself is never an error of the target: a real process is stopped (SIGSTOP) for longer than its requests
//! may take, and continued. Its targets are in this process, and go on. When it is stopped follows from what a target has seen,
//! and how long is a lower bound: nothing here depends on how fast this machine is.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::peer::{Peer, response};
use crate::common::{Gate, counter, go_on, signal, stop, target, until};

/// Starts a plan of one scenario with one worker. The folder has to be there until it ends.
fn start(backend: &str, url: &str, scenario: &str) -> (Child, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!("target: {url}\nscenarios:\n  user: {scenario}\n");
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let child = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(["run", "plan.yaml", "-w", "1", "--io", backend, "--quiet", "--json", "-"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("squall starts");
    (child, folder)
}

/// Stops squall for so long at least.
fn stall(child: &Child, ms: u64) {
    stop(child);
    sleep(Duration::from_millis(ms));
    go_on(child);
}

fn result(child: Child) -> Value {
    let output = child.wait_with_output().expect("squall ends");
    serde_json::from_slice(&output.stdout).expect("a result")
}

/// 20 users wait for responses that take 0.2 s and may take 2 s, when squall stands still for 2.5 s.
fn stopped_while_users_wait(backend: &str) {
    let server = target();
    let scenario = "{load: {users: 20, for: 1h}, steps: [{get: /delay/200, timeout: {total: 2s}}]}";
    let (mut child, _folder) = start(backend, &server.url(), scenario);
    // Each has sent one, and waits.
    until(&mut child, || server.stats().requests >= 20);
    stall(&child, 2_500);
    let before = server.stats().requests;
    until(&mut child, || server.stats().requests >= before + 40);
    signal(&child, "INT");
    let json = result(child);
    let totals = &json["totals"];
    assert_eq!(totals["errors"], 0, "{totals}");
    assert!(totals["count"].as_u64().is_some_and(|count| count >= 60), "{totals}");
    let reasons = json["validity_reasons"].as_array().expect("a list");
    let stalled = reasons.iter().find(|reason| reason["rule"] == "stalled");
    let stalled = stalled.unwrap_or_else(|| panic!("{reasons:?}"));
    // Which of the others it is depends on the length of the whole run: the rule has tests of its own.
    assert_ne!(stalled["validity"], "valid", "{reasons:?}");
    assert_ne!(json["validity"], "valid", "{reasons:?}");
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
    let server = target();
    let scenario = "{load: {rate: 1000/s, for: 2s, max_users: 5000}, steps: [{get: /}]}";
    let (mut child, _folder) = start("auto", &server.url(), scenario);
    for (requests, ms) in [(200, 90), (400, 90), (600, 90), (800, 90), (1_000, 1_200)] {
        while server.stats().requests < requests {
            sleep(Duration::from_millis(1));
            // On a slow machine the end of the load has cut off so many that there is nothing left to stop.
            if child.try_wait().expect("a child").is_some() {
                break;
            }
        }
        if child.try_wait().expect("a child").is_none() {
            stall(&child, ms);
        }
    }
    let json = result(child);
    let of = |name: &str| counter(&json, name);
    assert_eq!(of("arrivals_due"), 2_000, "{}", json["counters"]);
    let (dropped, cut_off) = (of("arrivals_dropped"), of("arrivals_cut_off"));
    assert_eq!(of("iterations_started") + dropped + cut_off, 2_000);
    assert_eq!((json["totals"]["count"].as_u64(), dropped), (Some(2_000 - cut_off), 0));
}

/// What became due in a stall goes to users whose responses have come meanwhile: it does not take a new user, with a new
/// connection, for each arrival. 400 users have sent and wait when squall is stopped; their responses come while it stands
/// still, so that all are there when it goes on.
fn stopped_and_behind(backend: &str) {
    let gate = Arc::new(Gate::default());
    let held = gate.clone();
    let peer = Peer::start("127.0.0.1", move |mut client| {
        while client.request().is_some() {
            held.pass();
            client.send(response("200 OK", ""));
        }
    });
    let scenario = "{load: {rate: 200/s, for: 1h, max_users: 2000}, steps: [{get: /}]}";
    let (mut child, _folder) = start(backend, &peer.url(), scenario);
    let mut seen = 0;
    until(&mut child, || {
        seen += peer.seen().len();
        seen >= 400
    });
    stop(&child);
    // Nothing responds before, so that each request is one of a user of its own. What was sent last is still read.
    loop {
        sleep(Duration::from_millis(200));
        match peer.seen().len() {
            0 => break,
            more => seen += more,
        }
    }
    gate.open();
    sleep(Duration::from_millis(600));
    go_on(&child);
    let (waited, mut more) = (seen, 0);
    until(&mut child, || {
        more += peer.seen().len();
        more >= 400
    });
    signal(&child, "INT");
    let json = result(child);
    // A worker that begins all at once opens one for each of the 160 or more that were due when it went on.
    let opened = counter(&json, "connections_opened") as usize;
    assert!((waited..waited + 100).contains(&opened), "{opened} connections, {waited} before");
}

#[test]
fn who_is_behind_takes_what_has_arrived_with_epoll() {
    stopped_and_behind("epoll");
}

#[test]
fn who_is_behind_takes_what_has_arrived_with_io_uring() {
    stopped_and_behind("io_uring");
}
