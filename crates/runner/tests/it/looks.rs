//! What extracts and checks look at beside the response: texts in its place, and what was sent.

use crate::common::{End, Steps, kinds, options, refused, result, target};

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

/// In a list of mappings a name may come again: what is found later counts, and what is not may be what was found before.
#[test]
fn a_later_extract_of_the_same_variable_counts() {
    let steps = r#"
      - get: /echo?a=1&b=2
        extract:
          - {x: {json: $.query.a}, y: {json: $.query.c, default: none}, z: {json: $.query.a}}
          - {x: {json: $.query.b}, y: {json: $.query.b}}
          - {z: {json: $.query.c, default: "${z}"}}
        check: x == "2" && y == "2" && z == "1"
"#;
    assert_eq!(run(steps, End::Passed), "{}");
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
fn a_look_and_a_program_say_what_they_came_to() {
    let steps = r#"
      - set: {word: "Not good"}
      - look: "a"
        check: status == 200 && reason == "OK" && string(sent_body) == ""
      - look: "a"
        status: '"x1"'
        reason: "${word}!"
        sent: "what ${word}"
        extract: {code: status, why: reason}
        check: [status == "x1", reason == "Not good!", string(sent_body) == "what Not good"]
      - look: "a"
        status: '"404"'
        check: code == "x1" && why == "Not good!" && status == 404
      - exec: [sh, -c, "exit 3"]
        name: "program ${word}"
        reason: "it ended with ${status}"
        sent: "sh"
        check: reason == "it ended with 3" && string(sent_body) == "sh"
      - exec: [sleep, "600"]
        timeout: 50ms
        timeout_status: 124
        check: status == 124 && string(body) == "" && reason == ""
"#;
    assert_eq!(run(steps, End::Passed), "{}");
    let late = "{exec: [sleep, '600'], timeout: 50ms, timeout_status: 124}";
    assert_eq!(run(late, End::Failed), r#"{"exec":1}"#);
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
    let late = "{get: /delay/3600000, timeout: {all: 1s}}";
    assert_eq!(run(late, End::Failed), r#"{"timeout_first_byte":1}"#);
    let in_time = "{get: /redirect/3, redirects: 5, timeout: {all: 20s}}";
    assert_eq!(run(in_time, End::Passed), "{}");
}

#[test]
fn texts_are_sent_in_the_encoding_that_is_asked_for() {
    let steps = r#"
      - set: {word: "é€Ж"}
      - post: /echo
        charset: windows-1252
        form: {"é": "a ${word}"}
        check: 'json("$.body") == "%E9=a+%E9%80%3F"'
      - get: /echo
        charset: iso-8859-1
        query: {q: "${word}"}
        check: 'json("$.target") == "/echo?q=%E9%3F%3F"'
      - {post: /echo, charset: utf-16le, body: "a${word}", check: 'json("$.body_bytes") == 8'}
      - {post: /echo, charset: windows-1251, body: known Ж, check: 'json("$.body_bytes") == 7'}
      - post: /echo
        charset: gbk
        multipart: {part: "中文"}
        check: ['!json("$.body").contains("中")', 'json("$.body").contains("name=\"part\"")']
"#;
    assert_eq!(run(steps, End::Passed), "{}");
    let unknown = Steps::one("http://127.0.0.1:1", "{post: /, charset: klingon, body: a}");
    let text = refused(unknown.folder().path(), &options());
    assert!(text.contains("unknown encoding `klingon`"), "{text}");
}

#[test]
fn variables_may_decide_what_an_xpath_selects() {
    let steps = r#"
      - set: {n: 2, open: "'"}
      - look: "<div><p id='1'>x</p><p id='2'>y</p><p id='2'>z</p></div>"
        extract:
          one: {xpath: "//p[@id='${n}']"}
          all: {xpath: "//p[@id='${n}']", match: all}
          by_it: {xpath: "//p[text()='${one}']/@id", match: last}
          none: {xpath: "//p[@id='${n + 1}']", default: D}
          bad: {xpath: "//p[${open}", default: D}
        check: one == "y" && all == ["y", "z"] && by_it == "2" && none == "D" && bad == "D"
      - get: /
"#;
    assert_eq!(run(steps, End::Passed), "{}");
}

#[test]
fn all_that_a_path_selects_is_a_list() {
    let steps = r#"
      - look: '{"a": [{"id": 7, "v": 1}, {"id": 8}], "b": {"id": 7, "v": null}}'
        check:
          - json_all("$.a[*].id") == [7, 8] && json_all("$.none") == []
          - json_all("$..[??@.id == 7].v") == [1, null] && json_all("$.b[??@.id == 8]") == []
      - get: /
"#;
    assert_eq!(run(steps, End::Passed), "{}");
}

/// Two scenarios may be called the same by those who see them.
#[test]
fn a_scenario_is_called_by_its_title() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let step = "load: {users: 1, iterations: 1}, steps: [{get: /, check: scenario == 'shop'}]";
    let plan = format!(
        "target: {}\nscenarios: {{shop: {{{step}}}, 'shop (2)': {{title: shop, {step}}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    assert_eq!(kinds(&result(folder.path(), &options(), End::Passed)), "{}");
}
