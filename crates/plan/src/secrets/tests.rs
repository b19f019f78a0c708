use proptest::prelude::*;
use serde_json::json;

use super::*;

fn secrets(all: &[&str]) -> Secrets {
    let mut secrets = Secrets::default();
    all.iter().for_each(|secret| secrets.add(secret));
    secrets
}

fn request(secrets: &Secrets, text: &str) -> String {
    secrets.mask_request(Excerpt { bytes: text.as_bytes(), is_cut: false })
}

#[test]
fn a_secret_is_masked_in_all_its_forms() {
    let secrets = secrets(&[
        "a b&\"c~*",
        "a b&\"c~*def",
        "",
        "  ",
        "pa$$!+/%x",
        "line\r\nend",
        "j\u{e4}ger\u{1f600}",
    ]);
    for (text, masked) in [
        ("x a b&\"c~* y", "x *** y"),
        ("?q=a%20b%26%22c~*&r", "?q=***&r"),
        ("?q=a%20b%26%22c%7e%2A&r", "?q=***&r"),
        ("q=a+b%26%22c%7E*", "q=***"),
        (r#"{"q": "a b&\"c~*"}"#, r#"{"q": "***"}"#),
        (r#"{"q": "a b\u0026\u0022c~*"}"#, r#"{"q": "***"}"#),
        (r#"{"body": "{\"q\": \"a b&\\\"c~*\"}"}"#, r#"{"body": "{\"q\": \"***\"}"}"#),
        (r#""\"line\\r\\nend\"""#, r#""\"***\"""#),
        ("<i>a b&amp;&quot;c~*</i>", "<i>***</i>"),
        ("a b&\"c~*def", "***"),
        ("nothing, a b&\"c", "nothing, a b&\"c"),
        // A path keeps what a query encodes.
        ("/x/pa$$!+/%x/y", "/x/***/y"),
        ("/x/pa$$!+%2F%25x/y", "/x/***/y"),
        ("pa%24%24%21%2B%2F%25x", "***"),
        // A header's value has no line ends.
        ("X-A: line  end", "X-A: ***"),
        ("Bearer lineend", "Bearer ***"),
        ("line%0D%0Aend line\\r\\nend", "*** ***"),
        ("j%C3%A4ger%F0%9F%98%80", "***"),
        ("j\\u00e4ger\\ud83d\\uDE00 j\\u00E4ger\\uD83D\\uDE00", "j\\u00e4ger\\ud83d\\uDE00 ***"),
    ] {
        assert_eq!(secrets.mask(text), masked, "{text}");
    }
}

#[test]
fn a_secret_in_latin_1_is_masked() {
    let secrets = secrets(&["p\u{e4}sswort"]);
    assert_eq!(secrets.mask("q=p%E4sswort&r=p%e4sswort"), "q=***&r=***");
    let sent = Excerpt { bytes: b"q=p\xe4sswort", is_cut: false };
    assert_eq!(secrets.mask_request(sent), "q=***");
}

#[test]
fn base64_hides_no_secret() {
    use base64::Engine as _;
    let secrets = secrets(&["hunter2-hunter2"]);
    for before in ["", "a", "ab", "abc", "user:"] {
        for after in ["", "x", "xy", "xyz"] {
            let text = format!("{before}hunter2-hunter2{after}");
            for engine in [
                base64::engine::general_purpose::STANDARD,
                base64::engine::general_purpose::URL_SAFE,
            ] {
                let line = format!("token {} end", engine.encode(&text));
                assert_eq!(secrets.mask(&line), "token *** end", "{text}");
            }
        }
    }
}

#[test]
fn what_was_cut_shows_no_beginning_of_a_secret() {
    let secrets = secrets(&["secret/12345"]);
    for length in 1..12 {
        let text = &"body secret/12345"[..5 + length];
        let cut =
            |text: &str| secrets.mask_response(Excerpt { bytes: text.as_bytes(), is_cut: true });
        assert_eq!(cut(text), "body ***", "{text}");
        assert_eq!(request(&secrets, text), *text, "the whole text");
        assert_eq!(secrets.mask(&format!("{text}\u{2026}")), "body ***\u{2026}", "{text}");
    }
    let cut = secrets.mask_response(Excerpt { bytes: b"q=secret%2", is_cut: true });
    assert_eq!(cut, "q=***");
    let cut = secrets.mask_response(Excerpt { bytes: b"no such thing", is_cut: true });
    assert_eq!(cut, "no such thing");
}

#[test]
fn a_short_secret_is_masked_where_it_was_put() {
    let secrets = secrets(&["1234", "a b"]);
    assert_eq!(secrets.mask("1234 of a b"), "1234 of a b");
    for (text, masked) in [
        ("POST /pin/1234?p=1234&q=12345 HTTP/1.1\r\n", "POST /pin/***?p=***&q=12345 HTTP/1.1\r\n"),
        ("X-Pin: 1234\r\n\r\npin=1234&name=a+b", "X-Pin: ***\r\n\r\npin=***&name=***"),
        (
            r#"{"pin": "1234", "number": 1234, "more": 51234}"#,
            r#"{"pin": "***", "number": ***, "more": 51234}"#,
        ),
        ("/v1234/x1234", "/v1234/x1234"),
    ] {
        assert_eq!(request(&secrets, text), masked);
    }
    let response = Excerpt { bytes: b"pin=1234", is_cut: false };
    assert_eq!(secrets.mask_response(response), "pin=1234");
}

#[test]
fn credentials_of_basic_authentication_are_masked() {
    let secrets = secrets(&["hunter2"]);
    let head = "GET /?p=hunter2 HTTP/1.1\r\nAuthorization: Basic YTpi\r\nX: y\r\n\r\n";
    let expected = "GET /?p=*** HTTP/1.1\r\nAuthorization: Basic ***\r\nX: y\r\n\r\n";
    assert_eq!(request(&secrets, head), expected);
    let other = "authorization: Bearer abc\r\nproxy-authorization: basic x";
    assert_eq!(
        request(&secrets, other),
        "authorization: Bearer abc\r\nproxy-authorization: basic ***"
    );
}

#[test]
fn names_of_secrets() {
    assert!(sounds_secret("DB_PASSWORD") && sounds_secret("tokens"));
    assert!(!sounds_secret("password_prefix"));
}

#[test]
fn secrets_in_the_text_of_a_plan() {
    let text = r#"target: http://user:pw-of-target@h/
vars:
  api_token: {value: "abc, 123", secret: true}
  pin: {secret: true, value: 77, x: 1}
  lang: en
  block:
    secret: true
    value: in-a-block
  password: pass # no word
  my_secret:
    value: nested
  private_key: |
    first line

    second line
  "quoted-api-key": 'it'
  other: {value: shown}
defaults: {auth: {basic: {user: u, password: "${password}"}}, headers: {Authorization: Bearer x.y}}
password_prefix: shown
"#;
    let lines: Vec<&str> = text.lines().collect();
    let found: Vec<&str> =
        in_source(text).into_iter().map(|(line, hit)| &lines[line][hit]).collect();
    let expected = [
        "pw-of-target",
        "abc, 123",
        "77",
        "in-a-block",
        "pass",
        "nested",
        "first line",
        "",
        "second line",
        "it",
        "Bearer x.y",
    ];
    assert_eq!(found, expected);
}

#[test]
fn passwords_in_urls() {
    for (text, shown) in [
        ("`http://u:p@h/x`", "`http://u:***@h/x`"),
        ("//a:b:c@d@h", "//a:***@h"),
        ("http://u@h http://h:80/a@b:c http://u:@h", "http://u@h http://h:80/a@b:c http://u:@h"),
        ("http://u:${pw}@h", "http://u:${pw}@h"),
    ] {
        assert_eq!(replaced(text, &credentials_in_urls(text)), shown);
    }
}

#[test]
fn what_authorizes_to_proxies() {
    for (text, shown) in [
        ("http://load:p/ss#w@rd@proxy:3128", "http://load:***@proxy:3128"),
        ("http://a-token@gate", "http://***@gate"),
        ("http://a-token:@gate", "http://***:@gate"),
        ("http://${user}:pass@gate", "http://${user}:***@gate"),
        ("http://${a ? b : c}@gate", "http://${a ? b : c}@gate"),
        ("http://load:${pass}@gate", "http://load:${pass}@gate"),
        ("http://gate", "http://gate"),
        ("none", "none"),
    ] {
        assert_eq!(replaced(text, credentials_of_proxy(text).as_slice()), shown);
    }
}

#[test]
fn a_plan_is_stored_without_what_authorizes_to_proxies() {
    let text = "target: http://h
vars: {gate: 'http://u:of-a-var@gate', other: [{url: 'http://u:abc@gate'}]}
connections: {proxy: 'http://u:p%2Fss-0123@gate'}
scenarios:
  a:
    load: {users: 1, iterations: 1}
    steps:
      - {get: /, proxy: 'http://load:p/ss-4567@gate'}
      - {get: /, proxy: 'http://tok@gate'}
";
    let plan = crate::yaml::load_str("p", text, std::path::Path::new(""), &Default::default());
    let plan = plan.expect("a plan").plan;
    let stored = crate::yaml::print(&plan, true);
    for secret in ["of-a-var", "abc", "0123", "4567", "tok"] {
        assert!(!stored.contains(secret), "{secret}: {stored}");
    }
    let secrets = plan.secrets();
    let shown = secrets.mask("squall -x http://u:p%2Fss-0123@gate p/ss-0123 of-a-var h");
    assert_eq!(shown, "squall -x http://u:***@gate *** *** h");
}

#[test]
fn what_requests_hold_is_stored_as_it_is_written() {
    let text = "target: http://h
scenarios:
  a:
    load: {users: 1, iterations: 1}
    steps:
      - {set: {token: none}}
      - {post: /, form: {password: in-a-form}, extract: {token: body}}
      - {post: /, json: {bearer: [x], auth: {password: in-json}, proxy: 'a@b'}, query: {token: t}}
";
    let read = |text: &str| {
        let options = Default::default();
        crate::yaml::load_str("p", text, std::path::Path::new(""), &options).expect("a plan").plan
    };
    let plan = read(text);
    let stored = crate::yaml::print(&plan, true);
    assert!(!stored.contains("***"), "{stored}");
    assert_eq!(crate::yaml::print(&read(&stored), true), stored);
}

proptest! {
    #[test]
    fn any_secret_is_masked_in_what_requests_make_of_it(secret in "[ -~\u{e4}\u{20ac}\u{1f600}\n\r\t]{6,20}", before in "[a-z ]{0,4}") {
        prop_assume!(!secret.trim().is_empty());
        let secrets = secrets(&[&secret]);
        let in_json = json!(secret).to_string();
        let in_json = &in_json[1..in_json.len() - 1];
        let percent = percent_encode(&secret);
        for text in [&secret, in_json, &percent, &percent.replace("%20", "+")] {
            let masked = secrets.mask(&format!("{before}|{text}|"));
            prop_assert_eq!(masked, format!("{before}|***|"), "{:?}", text);
        }
    }

    #[test]
    fn any_text_is_survived(secret in "\\PC{0,12}", text in "\\PC{0,60}|([a-z_]{0,8}: ?[\"'{]?[ -~]{0,12}\n){0,6}") {
        let secrets = secrets(&[&secret, &text]);
        let _ = secrets.mask(&text);
        let _ = secrets.mask_request(Excerpt { bytes: text.as_bytes(), is_cut: true });
        for (line, hit) in in_source(&text) {
            let line = text.lines().nth(line).expect("a line");
            prop_assert!(line.get(hit).is_some());
        }
        let hits = credentials_in_urls(&text).into_iter().chain(credentials_of_proxy(&text));
        prop_assert!(hits.into_iter().all(|hit| text.get(hit).is_some()));
    }
}

#[test]
fn credentials_in_headers_are_secrets() {
    let text = "target: http://h
defaults: {headers: {X-Api-Key: key-0123456, Accept: text/plain}}
scenarios:
  a:
    load: {users: 1, iterations: 1}
    steps: [{group: g, steps: [{get: /, headers: {authorization: Bearer tok-0123456}}]}]
";
    let plan = crate::yaml::load_str("p", text, std::path::Path::new(""), &Default::default());
    let secrets = plan.expect("a plan").plan.secrets();
    let shown =
        secrets.mask("squall h -H 'Authorization: Bearer tok-0123456' key-0123456 text/plain");
    assert_eq!(shown, "squall h -H 'Authorization: Bearer ***' *** text/plain");
}

#[test]
fn what_authorizes_to_a_feed_is_masked_in_a_stored_plan() {
    let text = "target: http://h
feeds:
  - {influxdb: 'http://me:pw-1@h/write?db=a&u=me&p=pw-2', token: abc}
  - {graphite: 'h:2003'}
scenarios: {a: {load: {users: 1, iterations: 1}, steps: [{get: /?p=3}]}}
";
    let read = |text: &str| {
        crate::yaml::load_str("p", text, std::path::Path::new(""), &Default::default())
    };
    let stored = crate::yaml::print(&read(text).expect("a plan").plan, true);
    assert!(stored.contains("http://***@h/write?db=a&u=me&p=***"), "{stored}");
    assert!(stored.contains("\"token\": \"***\"") && stored.contains("h:2003"), "{stored}");
    assert!(stored.contains("/?p=3"), "{stored}");
}

#[test]
fn a_plan_in_which_what_authorizes_to_a_feed_was_masked_does_not_run() {
    let read = |text: &str| {
        crate::yaml::load_str("p", text, std::path::Path::new(""), &Default::default())
    };
    // Each alone: one that is noticed hides that others are not.
    for feed in [
        "{influxdb: 'http://me:pw-1@h/write?db=a'}",
        "{influxdb: 'http://me@h/write?db=a'}",
        "{influxdb: 'http://h/write?db=a&u=me&p=pw-2'}",
        "{influxdb: 'http://h/write?db=a', token: abc}",
        "{otlp: 'https://me:pw-1@h/v1/metrics'}",
    ] {
        let text = format!(
            "target: http://h
feeds: [{feed}]
scenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{{get: /}}]}}}}
"
        );
        let stored = crate::yaml::print(&read(&text).expect("a plan").plan, true);
        let errors = read(&stored).expect_err(&stored).diagnostics;
        let is_said = |text: &str| errors.iter().any(|own| own.message.contains(text));
        assert!(is_said("was masked when it was stored"), "{feed}: {errors:?}");
    }
}
