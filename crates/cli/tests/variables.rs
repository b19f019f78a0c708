//! Where variables get their values, and what becomes of a request whose variable has none: against a
//! peer that notes what it was sent.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::peer::{Peer, answer, header};
use common::{all_good, result, squall};

/// A peer that answers `/login` with a session's token and number, and anything else with `ok`.
fn shop() -> Peer {
    Peer::start("127.0.0.1", |mut client| {
        while let Some(head) = client.request() {
            let body =
                if head.contains(" /login ") { r#"{"token": "t0k", "id": 42}"# } else { "ok" };
            client.send(answer("200 OK", body));
        }
    })
}

/// Method and path of requests, each once.
fn lines(heads: &[String]) -> Vec<&str> {
    let mut lines: Vec<&str> = Vec::new();
    for head in heads {
        let line = head.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1");
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn heads(peer: &Peer) -> Vec<String> {
    peer.seen().into_iter().map(|seen| seen.head).collect()
}

/// A plan that logs in before its load and cleans up after it.
fn with_setup(peer: &Peer, load: &str, folder: &Path) {
    let text = format!(
        r#"
target: {}
setup:
  - post: /login
    extract: {{token: {{json: $.token}}, id: {{json: $.id}}}}
  - set: {{note: "made by ${{id}}"}}
scenarios:
  a:
    load: {load}
    steps:
      - get: "/records/${{id}}"
        headers: {{Authorization: "Bearer ${{token}}"}}
      - think: 5ms
teardown:
  - delete: "/records/${{id}}"
    headers: {{Authorization: "Bearer ${{token}}", X-Note: "${{note}}"}}
"#,
        peer.url()
    );
    std::fs::write(folder.join("plan.yaml"), text).expect("writable");
}

/// Checks that teardown was sent with the values that setup has found.
fn torn_down(peer: &Peer) {
    let heads = heads(peer);
    assert_eq!(lines(&heads), ["POST /login", "GET /records/42", "DELETE /records/42"]);
    let last = heads.last().expect("requests");
    assert_eq!(header(last, "authorization"), Some("Bearer t0k"));
    assert_eq!(header(last, "x-note"), Some("made by 42"));
}

#[test]
fn teardown_knows_what_setup_has_found() {
    let (peer, folder) = (shop(), tempfile::tempdir().expect("a folder"));
    with_setup(&peer, "{users: 1, iterations: 2}", folder.path());
    all_good(&result(folder.path(), &["run", "plan.yaml"], 0), 2);
    torn_down(&peer);
}

#[test]
fn teardown_of_a_search_for_the_limit_knows_what_setup_has_found() {
    let (peer, folder) = (shop(), tempfile::tempdir().expect("a folder"));
    with_setup(&peer, "{users: 1, for: 1s}", folder.path());
    let flags = ["--step", "2s", "--steps", "1", "--require", "error_rate < 1%", "-q", "-w", "1"];
    let output = squall(folder.path(), &[&["limit", "plan.yaml"], &flags[..]].concat());
    assert!(output.status.code().is_some(), "it ends");
    torn_down(&peer);
}

#[test]
fn teardown_after_an_interrupted_load_knows_what_setup_has_found() {
    let (peer, folder) = (shop(), tempfile::tempdir().expect("a folder"));
    with_setup(&peer, "{users: 1, for: 1h}", folder.path());
    let child = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(["run", "plan.yaml", "-q"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("squall starts");
    let mut seen = Vec::new();
    for _ in 0..3_000 {
        seen.extend(peer.seen());
        if seen.iter().any(|seen| seen.head.starts_with("GET /records/")) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let command = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &command]).status().expect("a shell").success());
    let output = child.wait_with_output().expect("squall ends");
    assert_eq!(output.status.code(), Some(130));
    let heads = heads(&peer);
    let last = heads.last().expect("teardown is sent");
    assert!(last.starts_with("DELETE /records/42 "), "{last}");
    assert_eq!(header(last, "authorization"), Some("Bearer t0k"));
}
