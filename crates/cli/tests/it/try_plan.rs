//! `squall try`: what it shows of requests, in which order, and what it keeps from the terminal.

use std::process::Output;

use crate::common::peer::{Peer, response};
use crate::common::{squall, target};

/// A folder with a plan.
fn folder(plan: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    folder
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The lines of a result's log.
fn json_log(path: &std::path::Path) -> String {
    let text = std::fs::read_to_string(path).expect("a result");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let lines = json["log"].as_array().expect("a log").iter();
    lines.filter_map(serde_json::Value::as_str).collect::<Vec<_>>().join("\n")
}

/// The places of texts, which stand in this order.
fn in_order(text: &str, parts: &[&str]) {
    let mut from = 0;
    for part in parts {
        let at = text[from..].find(part);
        from += at.unwrap_or_else(|| panic!("`{part}` is missing after {from}:\n{text}"));
    }
}

/// What fails a run fails a try: not only requests, but also expressions that cannot be evaluated.
#[test]
fn an_expression_that_cannot_be_evaluated_fails_a_try() {
    let server = target();
    for (step, said) in [
        ("think: '${p}ms'", "\n1 expression could not be evaluated\n"),
        ("log: '${1 / int(zero)}'", "\n1 expression could not be evaluated\n"),
        ("log: a", ""),
    ] {
        let plan = folder(&format!(
            "target: {}
vars: {{p: abc, zero: \"0\"}}
scenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{{set: {{p: abc, zero: \"0\"}}}}, {{{step}}}, {{get: /status/200}}]}}}}
",
            server.url()
        ));
        let output = squall(plan.path(), &["try", "plan.yaml"]);
        let shown = text(&output);
        assert_eq!(output.status.code(), Some(i32::from(!said.is_empty())), "{step}: {shown}");
        assert!(shown.contains(said), "{step}: {shown}");
        assert_eq!(shown.contains("could not be evaluated"), !said.is_empty(), "{step}: {shown}");
    }
}

#[test]
fn each_request_is_shown_with_its_section_scenario_and_step_and_log_lines_where_they_happen() {
    let server = target();
    let plan = folder(&format!(
        "target: {}
setup: [{{log: before}}, {{get: /status/200}}]
teardown: [{{get: /status/201}}]
scenarios:
  buyer:
    load: {{users: 1, iterations: 1}}
    steps:
      - get: /status/202
      - log: between
      - group: g
        steps: [{{log: inner}}, {{get: /status/203}}]
      - if: 1 == 2
        then: [{{get: /no}}]
        else: [{{log: x}}, {{get: /status/204}}]
      - choose: [{{weight: 1, steps: [{{get: /status/206}}]}}]
",
        server.url()
    ));
    let output = squall(plan.path(), &["try", "plan.yaml"]);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    let url = |status: u16| format!("── {}/status/{status}", server.url());
    in_order(
        &shown,
        &[
            "log  before\n",
            "── setup · step 2 · GET /status/200 ",
            &url(200),
            "── buyer · step 1 · ",
            &url(202),
            "log  between\n",
            "log  inner\n",
            "── buyer · step 3.2 · ",
            &url(203),
            "log  x\n",
            "── buyer · step 4.else.2 · ",
            &url(204),
            "── buyer · step 5.1.1 · ",
            &url(206),
            "── teardown · step 1 · ",
            &url(201),
        ],
    );
    let output = squall(plan.path(), &["try", "plan.yaml", "--step", "3"]);
    let shown = text(&output);
    assert!(shown.contains("step 3.2") && !shown.contains("step 1") && !shown.contains("step 4"));
    assert!(!shown.contains("log  x"), "what comes after it is not run: {shown}");
    let output = squall(plan.path(), &["try", "plan.yaml", "--step", "9"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && error.contains("the steps are 1 to 5"), "{error}");
}

#[test]
fn where_it_went_is_shown_of_a_request_without_a_connection_too() {
    let plan = folder(
        "target: http://127.0.0.1:1\nscenarios: {a: {load: {users: 1, iterations: 1}, steps: [{get: '/x?y=z', name: up}]}}\n",
    );
    let output = squall(plan.path(), &["try", "plan.yaml"]);
    let text = text(&output);
    in_order(&text, &["· up ── http://127.0.0.1:1/x?y=z", "FAILED connect_refused"]);
}

/// Thresholds may be about requests of the scenarios and steps that are left out.
#[test]
fn thresholds_do_not_hinder_a_part_of_a_plan() {
    let server = target();
    let plan = folder(&format!(
        "target: {}\nthresholds: ['p99(last) < 1s', 'rate(scenario: b) > 1/s']\nscenarios:\n  a: {{load: {{users: 1, iterations: 1}}, steps: [{{get: /, name: first}}, {{get: /, name: last}}]}}\n  b: {{load: {{users: 1, iterations: 1}}, steps: [{{get: /, name: other}}]}}\n",
        server.url()
    ));
    for (part, shown, left_out) in [
        (["--scenario", "b"], "· other ──", "· first ──"),
        (["--step", "1"], "· first ──", "· last ──"),
    ] {
        let output = squall(plan.path(), &["try", "plan.yaml", part[0], part[1]]);
        let text = text(&output);
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(text.contains(shown) && !text.contains(left_out), "{text}");
    }
}

#[test]
fn every_hop_of_a_redirect_is_shown() {
    let server = target();
    let steps = "[{get: /redirect/2, redirects: 5}]";
    let plan = folder(&format!(
        "target: {}\nscenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: {steps}}}}}\n",
        server.url()
    ));
    let shown = text(&squall(plan.path(), &["try", "plan.yaml"]));
    let then = format!("  then {}/", server.url());
    in_order(
        &shown,
        &["> GET /redirect/2 ", "< HTTP/1.1 302", &then, "> GET ", "302", &then, "> GET ", "200"],
    );
}

#[test]
fn full_shows_all_headers_whole_bodies_and_what_is_streamed() {
    let server = Peer::start("127.0.0.1", |mut client| {
        while client.request().is_some() {
            let fields: String = (0..30).map(|n| format!("X-Field-{n}: {n}\r\n")).collect();
            let body = format!("{}\n{}end", "line\n".repeat(50), "long ".repeat(100));
            client.send(format!(
                "HTTP/1.1 200 OK\r\n{fields}Content-Length: {}\r\n\r\n{body}",
                body.len()
            ));
        }
    });
    let plan = folder(&format!(
        "target: {}\nscenarios:\n  a:\n    load: {{users: 1, iterations: 1}}\n    steps:\n      - post: /\n        multipart: {{note: hello, upload: {{file: up.txt}}}}\n",
        server.url()
    ));
    std::fs::write(plan.path().join("up.txt"), "what the file holds").expect("writable");
    let short = text(&squall(plan.path(), &["try", "plan.yaml", "--out", "full.txt"]));
    let whole = |text: &str| {
        [
            "X-Field-29: 29",
            "long end\n",
            "name=\"note\"",
            "what the file holds",
            "filename=\"up.txt\"",
        ]
        .iter()
        .all(|part| text.contains(part))
    };
    assert!(!whole(&short) && short.contains("more lines"), "{short}");
    let written = std::fs::read_to_string(plan.path().join("full.txt")).expect("a file");
    assert!(whole(&written) && !written.contains("more lines"), "{written}");
    let full = text(&squall(plan.path(), &["try", "plan.yaml", "--full"]));
    assert!(whole(&full), "{full}");
}

#[test]
fn what_a_server_sends_stays_data() {
    let bytes =
        response("200 OK\r\nX-Title: \u{1b}]0;owned\u{7}", "\u{1b}[2Jgone\u{9b}31m\r\nlog  x");
    let server = Peer::start("127.0.0.1", move |mut client| {
        while client.request().is_some() {
            client.send(&bytes);
        }
    });
    let plan = folder(&format!(
        "target: {}
vars: {{secret: {{value: \"hunter2\\nhunter3\", secret: true}}}}
scenarios:
  a:
    load: {{users: 1, iterations: 1}}
    steps:
      - get: /
        extract: {{x: {{regex: '(?s)(.+)'}}}}
        check: x == '1'
      - log: 'got ${{x}} and ${{secret}}'
",
        server.url()
    ));
    let run = ["run", "plan.yaml", "--json", "result.json"];
    for args in [&["try", "plan.yaml"][..], &["try", "plan.yaml", "--full"], &run] {
        let output = squall(plan.path(), args);
        for text in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(text);
            assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{7}']), "{args:?}: {text:?}");
            assert!(!text.contains("hunter"), "{args:?}: {text}");
        }
        let text = match args == run {
            true => json_log(&plan.path().join("result.json")),
            false => text(&output),
        };
        assert!(text.contains(r"got \x1b[2Jgone\u{9b}31m\r\nlog  x and ***"), "{args:?}: {text}");
    }
}

/// A list repeats a header, in the defaults too; a request's own takes the place of all of them.
#[test]
fn default_headers_may_be_lists() {
    let server = target();
    let plan = folder(&format!(
        "target: {}
defaults: {{headers: {{X-A: [one, two], X-B: [three, four]}}}}
scenarios:
  a:
    load: {{users: 1, iterations: 1}}
    defaults: {{headers: {{x-c: [five, six]}}}}
    steps: [{{get: /status/200, headers: {{x-b: [seven, eight]}}}}]
",
        server.url()
    ));
    let shown = text(&squall(plan.path(), &["try", "plan.yaml"]));
    let sent = |line: &str| shown.lines().filter(|own| own.trim() == line).count();
    for line in
        ["> X-A: one", "> X-A: two", "> x-b: seven", "> x-b: eight", "> x-c: five", "> x-c: six"]
    {
        assert_eq!(sent(line), 1, "{line}\n{shown}");
    }
    assert!(!shown.contains("three") && !shown.contains("four"), "{shown}");
}

#[test]
fn why_an_extract_has_its_default_is_shown() {
    let server = Peer::start("127.0.0.1", move |mut client| {
        while client.request().is_some() {
            client.send(response("200 OK", "{\"a\":1,}"));
        }
    });
    let plan = folder(&format!(
        "target: {}
scenarios:
  a:
    load: {{users: 1, iterations: 1}}
    steps:
      - get: /
        extract: {{a: {{json: $.a}}, b: {{json: $.b, default: none}}, c: {{regex: 'x(.)', default: none}}}}
",
        server.url()
    ));
    let output = squall(plan.path(), &["try", "plan.yaml"]);
    let flaw =
        "the body is not JSON: expected the name of a member in double quotes at line 1 column 8";
    let b = format!("  b = none (the default: {flaw})\n");
    in_order(&text(&output), &["  a = 1\n", &b, "  c = none (the default: nothing matched)\n"]);
}
