//! What extracts and checks look at beside the response: texts in its place, and what was sent.

use crate::common::{End, Steps, kinds, target};

/// One user goes through these steps once.
fn run(steps: &str, end: End) -> String {
    kinds(&Steps::one(&target().url(), steps).run(end))
}

#[test]
fn a_text_is_looked_at_in_the_place_of_the_body() {
    let steps = r#"
      - set: {known: "<r><a>1</a></r>"}
      - get: /echo?part=%7B%22id%22:7%7D
        extract:
          part: {json: $.query.part}
          id: {json: $.id, of: "${part}"}
          letter: {between: ['{"', '"'], of: "${part}"}
          code: {regex: "2(..)", of: "${status}"}
          none: {json: $.id, of: "${known}", default: 0}
        check:
          - id == 7 && letter == "id" && code == "00" && none == 0
          - {expr: 'json("$.id") == 7 && body_bytes == 8 && status == 200', of: "${part}"}
          - {expr: 'is_xml() && !is_json() && xpath("//a") == "1"', of: "${known}"}
          - is_json() && !is_xml()
"#;
    assert_eq!(run(steps, End::Passed), "{}");
    let failing = "{get: /, check: {expr: 'body == \"b\"', of: a}}";
    assert_eq!(run(failing, End::Failed), r#"{"check":1}"#);
    let unknown = "{get: /, extract: {x: {json: $.id, of: '{}'}}}";
    assert_eq!(run(unknown, End::Failed), r#"{"extract":1}"#);
}

/// A check that reads the status judges it; what is looked at in the place of the body does not.
#[test]
fn a_text_of_the_status_is_no_judgement_of_it() {
    for looks in [
        "extract: {code: {regex: '(.+)', of: '${status}'}}",
        "check: {expr: 'body == \"404\"', of: '${status}'}",
    ] {
        let step = format!("{{get: /status/404, {looks}}}");
        assert_eq!(run(&step, End::Failed), r#"{"status":1}"#, "{looks}");
    }
}

#[test]
fn what_was_sent_is_known() {
    let steps = r#"
      - post: /echo?a=b
        headers: {X-Own: one, Cookie: "c=d"}
        body: "the body"
        check:
          - sent_method == "POST" && sent_url.endsWith("/echo?a=b") && sent_url.startsWith("http://")
          - 'sent_headers.contains("\nX-Own: one\n") && !lower(sent_headers).contains("cookie")'
          - sent_cookies == "c=d" && string(sent_body) == "the body"
      - get: /redirect/2
        redirects: 5
        check: ['!sent_url.contains("/redirect/2") && sent_method == "GET" && string(sent_body) == ""']
      - look: "a text"
        check: sent_url == "" && string(raw_body) == "a text"
"#;
    assert_eq!(run(steps, End::Passed), "{}");
}

#[test]
fn a_pair_without_a_name_is_left_out() {
    let steps = r#"
      - get: /echo
        query: {a: 1, '${iteration == 0 ? "" : "b"}': 2, c: 3}
        check: sent_url.endsWith("/echo?a=1&c=3")
      - get: /echo
        query: {'${iteration == 0 ? "" : "b"}': 2}
        check: sent_url.endsWith("/echo")
      - post: /echo
        form: {'${iteration == 0 ? "" : "b"}': 2, c: 3}
        check: string(sent_body) == "c=3"
"#;
    assert_eq!(run(steps, End::Passed), "{}");
}

#[test]
fn a_time_limit_may_hold_for_all_redirects() {
    let late = "{get: /delay/5000, timeout: {all: 50ms}}";
    assert_eq!(run(late, End::Failed), r#"{"timeout_first_byte":1}"#);
    let in_time = "{get: /redirect/3, redirects: 5, timeout: {all: 20s}}";
    assert_eq!(run(in_time, End::Passed), "{}");
}
