//! Requests of one user at the same time against real sockets.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use serde_json::Value;

use crate::common::peer::{Peer, response};
use crate::common::{End, Steps, all_good, counter, kinds, options, result, target};

/// A peer that answers only when `meet` requests are there at the same time, and the most that it saw.
fn meeting(meet: usize) -> (Peer, Arc<AtomicUsize>) {
    let (now, most) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let (barrier, seen) = (Barrier::new(meet), most.clone());
    let peer = Peer::start("127.0.0.1", move |mut client| {
        while client.request().is_some() {
            seen.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            barrier.wait();
            now.fetch_sub(1, Ordering::SeqCst);
            client.send(response("200 OK", "hello"));
        }
    });
    (peer, most)
}

/// A peer that answers each request, but for those to `/stall`.
fn stalling() -> Peer {
    Peer::start("127.0.0.1", |mut client| {
        while let Some(head) = client.request() {
            if !head.starts_with("GET /stall") {
                client.send(response("200 OK", "hello"));
            }
        }
    })
}

fn gets(count: usize) -> String {
    (0..count).map(|n| format!("{{get: /{n}}}, ")).collect()
}

/// The paths that a peer was asked for.
fn paths(peer: &Peer) -> Vec<String> {
    let path = |head: &str| head.split(' ').nth(1).unwrap_or_default().to_owned();
    peer.seen().iter().map(|seen| path(&seen.head)).collect()
}

fn group<'a>(json: &'a Value, name: &str) -> &'a Value {
    &json["groups"][name]
}

#[test]
fn as_many_as_the_limit_at_the_same_time_and_no_more() {
    for (limit, steps) in [(4, "{limit: 4, steps: [GETS]}"), (6, "[GETS]")] {
        let (peer, most) = meeting(limit);
        let steps = format!("parallel: {}", steps.replace("GETS", &gets(12)));
        let json = Steps { iterations: 3, ..Steps::one(&peer.url(), &steps) }.run(End::Passed);
        all_good(&json, 36);
        assert_eq!(most.load(Ordering::SeqCst), limit);
        assert_eq!(peer.connections(), limit, "they are kept over the iterations");
        assert_eq!(counter(&json, "connections_opened"), limit as u64);
    }
}

#[test]
fn several_in_several_are_as_many_as_both_allow() {
    let (peer, most) = meeting(4);
    let inner = "{parallel: {limit: 2, steps: [{get: /a}, {get: /b}, {get: /c}, {get: /d}]}}";
    let steps = format!("parallel: {{limit: 2, steps: [{inner}, {inner}]}}");
    let json = Steps { iterations: 2, ..Steps::one(&peer.url(), &steps) }.run(End::Passed);
    all_good(&json, 16);
    assert_eq!(most.load(Ordering::SeqCst), 4);
}

#[test]
fn a_pool_that_is_smaller_than_the_limit_lets_them_wait() {
    let (peer, most) = meeting(2);
    let head = "connections: {reuse: pool, pool_size: 2}";
    let steps = format!("parallel: [{}]", gets(10));
    let json = Steps { head, iterations: 2, ..Steps::one(&peer.url(), &steps) }.run(End::Passed);
    all_good(&json, 20);
    assert_eq!((most.load(Ordering::SeqCst), peer.connections()), (2, 2));
}

#[test]
fn each_step_of_the_list_is_a_flow_of_its_own() {
    let server = target();
    let steps = r#"
      - set: {n: 0}
      - parallel:
          - group: g
            steps: [{get: /a}, {think: 1ms}, {get: /b}]
          - repeat: 3
            counter: i
            steps: [{get: "/c/${i}"}]
          - if: n == 0
            then: [{get: "/echo?id=7", extract: {id: {json: $.query.id}}}]
          - for_each: {item: "[1, 2]"}
            steps: [{get: "/d/${item}"}]
          - set: {n: 5}
          - round_robin: [{steps: [{get: /one}]}, {steps: [{get: /two}]}]
      - get: "/last/${id}/${n}"
        name: last"#;
    let steps = steps.replace("$.query.id", "$.path").replace("/echo?id=7", "/echo");
    let json = Steps { iterations: 4, ..Steps::one(&server.url(), &steps) }.run(End::Failed);
    // The target knows few of these paths.
    let count = |name: &str| json["requests"][name]["count"].as_u64();
    assert!(!kinds(&json).contains("extract"), "{}", json["log"]);
    assert_eq!(count("last"), Some(4), "{}", json["requests"]);
    assert_eq!((count("GET /c/{i}"), count("GET /d/{item}")), (Some(12), Some(8)));
    assert_eq!((count("GET /one"), count("GET /two")), (Some(2), Some(2)), "turns go on");
    assert_eq!(group(&json, "g")["count"].as_u64(), Some(4));
}

#[test]
fn a_stalled_branch_holds_up_its_user_and_not_the_others() {
    let peer = stalling();
    let steps = "
      - parallel: {limit: 2, steps: [{get: /stall, timeout: 1s}, {get: /a}, {get: /b}, {get: /c}]}
      - get: /last";
    let json = Steps::one(&peer.url(), steps).run(End::Failed);
    assert_eq!(kinds(&json), r#"{"timeout_first_byte":1}"#);
    let mut asked = paths(&peer);
    assert_eq!(asked.pop().as_deref(), Some("/last"));
    asked.sort();
    assert_eq!(asked, ["/a", "/b", "/c", "/stall"]);
}

#[test]
fn a_branch_that_fails_fails_its_groups_and_those_around() {
    let server = target();
    let steps = r#"
      - group: around
        steps:
          - parallel:
              - {group: good, steps: [{get: /}]}
              - {group: middle, steps: [{parallel: [{group: bad, steps: [{get: /status/500}]}]}]}
          - get: /
      - group: after
        steps: [{get: /}]"#;
    let json = Steps::one(&server.url(), steps).run(End::Failed);
    assert_eq!(kinds(&json), r#"{"status":1}"#);
    let errors = |name: &str| group(&json, name)["errors"].as_u64();
    let all = ["around", "good", "middle", "bad", "after"].map(errors);
    assert_eq!(all, [Some(1), Some(0), Some(1), Some(1), Some(0)], "{}", json["groups"]);
}

#[test]
fn the_end_of_an_iteration_in_a_branch_ends_the_others_in_order() {
    let run = |head: &str, end: &str, how: End| {
        let peer = stalling();
        let steps = format!(
            "
      - parallel: {{limit: 3, steps: [{{think: 1h}}, {{parallel: [{{think: 1h}}]}}, {end}, {{get: /never}}]}}
      - get: /nor-this"
        );
        let json = Steps { head, iterations: 2, ..Steps::one(&peer.url(), &steps) }.run(how);
        (json, paths(&peer))
    };
    let steps = "{group: g, steps: [{get: /a}, {stop: iteration}, {get: /b}]}";
    let (json, asked) = run("", steps, End::Passed);
    assert_eq!(asked, ["/a", "/a"]);
    assert_eq!(group(&json, "g")["count"].as_u64(), Some(2));
    assert_eq!(counter(&json, "iterations_done"), 2);
    let bad = "{repeat: 2, steps: [{get: /a, check: status == 404}, {get: /b}]}";
    assert_eq!(run("on_error: next_iteration", bad, End::Failed).1, ["/a", "/a"]);
    for (head, steps, how) in [
        ("on_error: stop_user", bad, End::Failed),
        ("on_error: stop_run", bad, End::Failed),
        ("", "{repeat: 1, steps: [{get: /a}, {stop: user}]}", End::Passed),
        ("", "{repeat: 1, steps: [{get: /a}, {stop: run}]}", End::Failed),
    ] {
        let (json, asked) = run(head, steps, how);
        assert_eq!(asked, ["/a"], "{head} {steps}");
        assert_eq!(counter(&json, "iterations_done"), 0);
    }
}

#[test]
fn what_is_in_flight_when_a_branch_ends_its_user_is_finished() {
    let server = target();
    let end = "{repeat: 1, steps: [{get: /}, {stop: user}]}";
    let steps =
        format!("parallel: {{limit: 2, steps: [{{get: /delay/200}}, {end}, {{get: /never}}]}}");
    all_good(&Steps::one(&server.url(), &steps).run(End::Passed), 2);
}

#[test]
fn the_end_of_the_load_ends_branches_that_think() {
    let server = target();
    let folder = tempfile::tempdir().expect("a folder");
    for load in ["users: 3, for: 1s", "rate: 50/s, for: 1s", "users: 3, iterations: 1"] {
        let think = if load.contains("for") { "1h" } else { "10ms" };
        let plan = format!(
            "target: {}\ngraceful_stop: 10m\nscenarios: {{a: {{load: {{{load}}}, steps: [{{parallel: [{{get: /}}, {{group: g, steps: [{{think: {think}}}, {{get: /late}}]}}]}}]}}}}\n",
            server.url()
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        // The target does not know the path.
        let end = if load.contains("for") { End::Passed } else { End::Failed };
        let json = result(folder.path(), &options(), end);
        let late = json["requests"]["GET /late"]["count"].as_u64().unwrap_or(0);
        assert_eq!(late, if load.contains("for") { 0 } else { 3 }, "{load}");
    }
}

#[test]
fn what_is_in_flight_has_the_graceful_stop_to_end() {
    let peer = stalling();
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!(
        "target: {}\ngraceful_stop: 200ms\nscenarios: {{a: {{load: {{users: 2, for: 1500ms}}, steps: [{{parallel: {{limit: 3, steps: [{}]}}}}]}}}}\n",
        peer.url(),
        "{get: /stall}, ".repeat(5)
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &options(), End::Failed);
    let totals = &json["totals"];
    let of = |name: &str| totals[name].as_u64();
    assert_eq!((of("cut_off"), of("count"), of("errors")), (Some(6), Some(0), Some(0)), "{totals}");
    assert_eq!(paths(&peer).len(), 6, "no new ones begin");
}

#[test]
fn what_a_branch_draws_does_not_depend_on_the_others() {
    let drawn = |limit: u32| {
        let server = stalling();
        let draw = "{get: '/${random(1, 1000000)}/${random(1, 1000000)}', name: a}";
        let twice = format!("{{repeat: 2, steps: [{draw}]}}, ").repeat(4);
        let steps = format!("parallel: {{limit: {limit}, steps: [{twice}]}}");
        let json = Steps { head: "seed: 5", iterations: 3, ..Steps::one(&server.url(), &steps) }
            .run(End::Passed);
        all_good(&json, 24);
        BTreeSet::from_iter(paths(&server))
    };
    let one = drawn(1);
    assert_eq!(one.len(), 24, "{one:?}");
    assert_eq!(drawn(4), one);
}
