//! Where variables get their values, and what becomes of a request whose variable has none: against a
//! peer that notes what it was sent.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::peer::{Peer, header, response};
use crate::common::{Steps, all_good, counter, kinds, result, signal, squall, until};

/// A peer that answers `/login` with a session's token and number, and anything else with `ok`.
fn shop() -> Peer {
    Peer::start("127.0.0.1", |mut client| {
        while let Some(head) = client.request() {
            let body =
                if head.contains(" /login ") { r#"{"token": "t0k", "id": 42}"# } else { "ok" };
            client.send(response("200 OK", body));
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
    let mut child = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(["run", "plan.yaml", "-q"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("squall starts");
    until(&mut child, || peer.seen().iter().any(|seen| seen.head.starts_with("GET /records/")));
    signal(&child, "INT");
    let output = child.wait_with_output().expect("squall ends");
    assert_eq!(output.status.code(), Some(130));
    let heads = heads(&peer);
    let last = heads.last().expect("teardown is sent");
    assert!(last.starts_with("DELETE /records/42 "), "{last}");
    assert_eq!(header(last, "authorization"), Some("Bearer t0k"));
}

/// Runs one step against a peer that would answer it, and returns the result and what the peer was sent.
fn sent(head: &str, steps: &str, code: i32) -> (Value, Vec<String>) {
    let peer = shop();
    let json = Steps { head, ..Steps::one(&peer.url(), steps) }.run(code);
    (json, heads(&peer))
}

/// `missing` is set in a branch that is never taken.
const NEVER: &str = "
      - if: 'false'
        then: [{set: {missing: x}}]
";

#[test]
fn a_request_that_needs_a_variable_without_a_value_is_not_sent() {
    for step in [
        "{delete: '/users/${missing}/records'}",
        "{get: '${missing}'}",
        "{get: /, query: {q: '${missing}'}}",
        "{get: /, headers: {X-A: 'a ${missing}'}}",
        "{get: /, auth: {bearer: '${missing}'}}",
        "{get: /, auth: {basic: {user: a, password: '${missing}'}}}",
        "{post: /, body: 'a=${missing}'}",
        "{post: /, form: {a: '${missing}'}}",
        "{post: /, multipart: {a: '${missing}'}}",
        "{post: /, json: {a: '${missing}'}}",
        "{post: /, json: {a: ['b ${missing}']}}",
        "{get: '/${missing + 1}'}",
        "{get: '/${url_encode(missing)}'}",
        "{exec: [echo, '${missing}']}",
    ] {
        let (json, heads) = sent("", &format!("{NEVER}      - {step}"), 1);
        assert_eq!(kinds(&json), r#"{"variable":1}"#, "{step}: {}", json["log"]);
        assert_eq!(heads, Vec::<String>::new(), "{step}");
        let log = json["log"][0].as_str().expect("a line");
        for word in ["variable `missing` has no value", "vars: {x: \"\"}", "default: \"\""] {
            assert!(log.contains(word), "{step}: {log}");
        }
    }
}

#[test]
fn null_is_a_value_of_json_and_no_text() {
    let vars = "vars: {nil: null}";
    let null = |request: &str| request.contains(r#"{"a":null}"#);
    let step = "{post: '/echo', json: {a: '${nil}'}, check: 'true'}";
    let peer = Peer::start("127.0.0.1", move |mut client| {
        while let Some(head) = client.head() {
            let mut body =
                vec![0; header(&head, "content-length").map_or(0, |n| n.parse().expect("digits"))];
            std::io::Read::read_exact(&mut client.stream, &mut body).expect("a body");
            let good = null(&String::from_utf8_lossy(&body));
            client.send(response(if good { "200 OK" } else { "400 Bad Request" }, ""));
        }
    });
    let steps = format!(
        "\n      - {step}\n      - set: {{again: '${{nil}}'}}\n      - {{post: /, json: {{a: '${{again}}'}}}}"
    );
    let json = Steps { head: vars, ..Steps::one(&peer.url(), &steps) }.run(0);
    all_good(&json, 2);
    for step in
        ["{get: '/a/${nil}'}", "{post: /, json: {a: 'b${nil}'}}", "{post: /, form: {a: '${nil}'}}"]
    {
        let (json, heads) = sent(vars, step, 1);
        assert_eq!(kinds(&json), r#"{"variable":1}"#, "{step}");
        assert_eq!(heads.len(), 0, "{step}");
        assert!(json["log"][0].as_str().expect("a line").contains("`nil` is null"), "{step}");
    }
}

#[test]
fn a_variable_without_a_value_can_be_asked_for_and_logged() {
    let steps = format!(
        "{NEVER}      - get: \"/${{missing == null ? 'a' : 'b'}}/${{has(missing) ? missing : 'c'}}\"
      - log: 'it is ${{missing}}'
      - set: {{copy: '${{missing}}'}}
      - if: has(copy)
        then: [{{get: /wrong}}]
      - set: {{missing: d}}
      - get: '/${{missing}}'"
    );
    let (json, heads) = sent("", &steps, 1);
    all_good(&json, 2);
    assert_eq!(lines(&heads), ["GET /a/c", "GET /d"]);
    let log = json["log"].to_string();
    assert!(log.contains("it is null") && log.contains("variable `missing` has no value"), "{log}");
    assert_eq!(counter(&json, "expressions_failed"), 2, "the line, and the copy");
}

#[test]
fn what_an_extract_leaves_empty_by_default_is_sent() {
    let extract = "
      - get: /
        extract: {word: {regex: 'nowhere (x)', default: ''}}
      - get: '/search?q=${word}'";
    let (json, heads) = sent("", extract, 0);
    all_good(&json, 2);
    assert_eq!(lines(&heads), ["GET /", "GET /search?q="]);
}

#[test]
fn a_default_takes_the_place_of_a_null_that_is_found() {
    let extract = "
      - get: /
        extract:
          a: {json: $.n, of: '{\"n\": null}', default: none}
          b: {json: $.n, of: '{\"n\": null}'}
      - get: '/${a}/${has(b)}'";
    let (json, heads) = sent("", extract, 0);
    all_good(&json, 2);
    assert_eq!(lines(&heads), ["GET /", "GET /none/false"]);
}

#[test]
fn a_url_may_be_a_variable() {
    let other = shop();
    let url = other.url();
    let setup = |more: &str| {
        format!(
            "setup: [{{post: /login, extract: {{u: {{json: $.u, default: '{url}/setup'}}}}}}]\n{more}"
        )
    };
    let extracted = format!(
        "\n      - get: /\n        extract: {{u: {{regex: nowhere, default: '{url}/extracted'}}}}\n      - get: '${{u}}'"
    );
    let list = "\n      - for_each: {u: urls}\n        steps: [{get: '${u}'}]";
    let set = "\n      - get: '${u}'\n      - set: {u: /path}\n      - get: '${u}'";
    for (head, steps, to_other) in [
        // Known before the run, whole and in part, and a path.
        (format!("vars: {{u: '{url}/vars'}}"), "{get: '${u}'}", vec!["GET /vars"]),
        (format!("vars: {{u: '{url}'}}"), "{get: '${u}/vars?a=1'}", vec!["GET /vars?a=1"]),
        ("vars: {u: /path}".to_owned(), "{get: '${u}'}", vec![]),
        // Named by the plan, and set at run time.
        (format!("vars: {{urls: ['{url}/a', '{url}/b']}}"), list, vec!["GET /a", "GET /b"]),
        (format!("vars: {{u: '{url}/vars'}}"), set, vec!["GET /vars"]),
        // Found by setup or in a response: allowed.
        (
            setup(&format!("allow_hosts: ['{}']", other.address)),
            "{get: '${u}'}",
            vec!["GET /setup"],
        ),
        (setup("allow_hosts: 127.0.0.1"), "{get: '${u}/more'}", vec!["GET /setup/more"]),
        (format!("allow_hosts: ['{}']", other.address), &extracted, vec!["GET /extracted"]),
    ] {
        let (json, _) = sent(&head, steps, 0);
        assert_eq!(kinds(&json), "{}", "{head}{steps}: {}", json["log"]);
        assert_eq!(lines(&heads(&other)), to_other, "{head}{steps}");
    }
    // Not allowed: nothing is sent there, and the error says what to do.
    let in_part = "{get: 'http://${host}/x'}";
    let host = format!("setup: [{{set: {{host: '{}'}}}}]", other.address);
    for (head, steps) in [
        (setup(""), "{get: '${u}'}"),
        (setup(""), "{get: '${u}/more'}"),
        (host, in_part),
        (String::new(), &extracted),
    ] {
        let (json, _) = sent(&head, steps, 1);
        assert_eq!(kinds(&json), r#"{"host_not_allowed":1}"#, "{head}{steps}: {}", json["log"]);
        assert!(json["log"].to_string().contains("allow_hosts"), "{}", json["log"]);
        assert_eq!(heads(&other).len(), 0, "{head}{steps}");
    }
}
