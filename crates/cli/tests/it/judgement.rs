//! What a response is judged by first, and what is said of an error: request, URL, status, expression.

use serde_json::Value;

use crate::common::peer::{Peer, response};
use crate::common::{Steps, kinds, target};

/// Runs one step against a response; returns the kinds of errors, and the first line of the log.
fn judged(status: &str, body: &str, step: &str, code: i32) -> (String, String) {
    let bytes = response(status, body);
    let server = Peer::start("127.0.0.1", move |mut client| {
        while client.request().is_some() {
            client.send(&bytes);
        }
    });
    let json = Steps::one(&server.url(), step).run(code);
    (kinds(&json), line(&json).replace(&server.url(), "URL"))
}

#[test]
fn a_run_that_measured_nothing_fails_whatever_its_thresholds_say() {
    let json = Steps::one("http://127.0.0.1:1", "{log: x}").run(1);
    let reason = &json["outcome"]["reasons"][0];
    assert_eq!(reason["kind"], "nothing_measured", "{reason}");
    let step = "{if: 1 == 2, then: [{get: /}]}";
    let steps =
        Steps { head: "thresholds: [error_rate < 1%]\n", ..Steps::one("http://127.0.0.1:1", step) };
    let json = steps.run(1);
    assert_eq!(json["thresholds"][0]["passed"], false, "{json}");
    assert_eq!(json["outcome"]["reasons"][0]["kind"], "nothing_measured", "{json}");
    let json = Steps::one("http://127.0.0.1:1", "{exec: [sh, -c, 'exit 0']}").run(0);
    assert_eq!(json["totals"]["count"], 1, "a program is measured");
}

/// The first line of a run's log.
fn line(json: &Value) -> String {
    json["log"][0].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_status_is_judged_before_what_the_response_holds() {
    let step = "{get: '/login?a=b', name: login, extract: {token: {json: $.token}}}";
    let (kinds, line) = judged("401 Unauthorized", "{}", step, 1);
    assert_eq!(kinds, r#"{"status":1}"#);
    assert_eq!(line, "login: status: status 401, 2 bytes, GET URL/login?a=b");
    // A check that does not look at it comes later, too.
    let step = "{get: /login, extract: {token: {json: $.token}}, check: body_bytes > 100}";
    let (kinds, _) = judged("500 No", "{}", step, 1);
    assert_eq!(kinds, r#"{"status":1}"#);
}

#[test]
fn a_failed_check_decides_before_an_extract_that_found_nothing() {
    let step = "{get: /a, extract: {token: {json: $.token}}, check: status == 200}";
    let (kinds, line) = judged("401 Unauthorized", "{}", step, 1);
    assert_eq!(kinds, r#"{"check":1}"#);
    assert_eq!(line, "GET /a: check: status == 200 (status 401, 2 bytes, GET URL/a)");
    let step =
        "{get: /a, extract: {token: {regex: 'x(.)'}}, check: [{expr: status == 200, name: ok}]}";
    let (_, line) = judged("403 No", "", step, 1);
    assert_eq!(line, "GET /a: check: ok: status == 200 (status 403, 0 bytes, GET URL/a)");
}

#[test]
fn an_extract_that_found_nothing_decides_before_checks_of_its_value() {
    let step = "{get: /a, extract: {token: {json: $.token}}, check: token == 'x'}";
    let (kinds, line) = judged("200 OK", "{}", step, 1);
    assert_eq!(kinds, r#"{"extract":1}"#);
    let expected =
        "GET /a: extract: token = json $.token: nothing matched (status 200, 2 bytes, GET URL/a)";
    assert_eq!(line, expected);
    // One that is only a warning is no error.
    let step =
        "{get: /a, extract: {token: {json: $.token}}, check: [{expr: status == 1, warn: true}]}";
    let (kinds, _) = judged("200 OK", "{}", step, 1);
    assert_eq!(kinds, r#"{"extract":1}"#);
}

#[test]
fn errors_without_a_response_name_the_url_too() {
    let json = Steps::one("http://127.0.0.1:1", "{get: /a?b=c, name: x}").run(1);
    let line = line(&json);
    assert!(line.starts_with("x: connect_refused: "), "{line}");
    assert!(line.ends_with(" (GET http://127.0.0.1:1/a?b=c)"), "{line}");
}

#[test]
fn a_cookie_that_is_none_says_why() {
    let server = target();
    for (cookie, said) in [
        ("{name: '', value: b}", "set_cookie: cookie ``: its name is empty"),
        ("{name: 'a=', value: b}", "set_cookie: cookie `a=`: its name has a `=` or a `;`"),
        (
            "{name: a, value: b, path: c}",
            "set_cookie: cookie `a`: its path does not begin with `/`",
        ),
    ] {
        let json = Steps::one(
            &server.url(),
            &format!("{{group: g, steps: [{{set_cookie: {cookie}}}, {{get: /status/200}}]}}"),
        )
        .run(1);
        assert!(line(&json).contains(said), "{}", line(&json));
    }
}

#[test]
fn after_redirects_the_last_url_is_named() {
    let server = target();
    let step = "{get: '/redirect/2', redirects: 5, check: status == 404}";
    let json = Steps::one(&server.url(), step).run(1);
    let line = line(&json);
    assert!(line.contains("check: status == 404 (status 200,"), "{line}");
    assert!(!line.ends_with("/redirect/2)"), "{line}");
}

#[test]
fn an_exit_code_is_judged_before_the_output() {
    let step = "{exec: [sh, -c, 'echo a; exit 3'], extract: {token: {json: $.token}}}";
    let json = Steps::one("http://127.0.0.1:1", step).run(1);
    assert_eq!(kinds(&json), r#"{"exec":1}"#);
    assert_eq!(line(&json), "sh: exec: exit code 3 (status 3, 2 bytes, sh -c echo a; exit 3)");
    let step = "{exec: [sh, -c, 'echo oh >&2; exit 3']}";
    let json = Steps::one("http://127.0.0.1:1", step).run(1);
    assert!(line(&json).starts_with("sh: exec: exit code 3: oh (status 3,"), "{}", line(&json));
    let step = "{exec: [sh, -c, 'echo a; exit 3'], check: status == 0}";
    let json = Steps::one("http://127.0.0.1:1", step).run(1);
    let expected = "sh: check: status == 0 (status 3, 2 bytes, sh -c echo a; exit 3)";
    assert_eq!(line(&json), expected);
}
