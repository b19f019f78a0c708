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
fn what_was_cut_within_a_character_shows_no_beginning_of_a_secret() {
    let secrets = secrets(&["geheim\u{142}aski12345"]);
    let body = "body geheim\u{142}aski12345".as_bytes();
    for end in 6..body.len() {
        let cut = Excerpt { bytes: &body[..end], is_cut: true };
        assert_eq!(secrets.mask_response(cut), "body ***", "{end}");
        assert_eq!(secrets.mask_request(cut), "body ***", "{end}");
    }
}

/// The first byte of a text in windows-1252 for each character that it has, `?` for the others.
fn windows_1252(text: &str) -> Vec<u8> {
    let byte = |c: char| match c {
        '\u{20ac}' => 0x80,
        c => u8::try_from(c).unwrap_or(b'?'),
    };
    text.chars().map(byte).collect()
}

fn utf_16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn a_secret_in_another_encoding_is_masked() {
    for secret in ["pass\u{20ac}word1", "has\u{142}oMa\u{15b}lane", "a \"b\"/\u{20ac}&c"] {
        let mut secrets = secrets(&["of-before", secret]);
        secrets.add_encoded(1, "windows-1252", &windows_1252);
        secrets.add_encoded(1, "utf-16le", &utf_16);
        for encode in [windows_1252, utf_16] {
            let escaped = json!(secret).to_string();
            let raw = encode(secret);
            let mut in_form = Vec::new();
            squall_base::form::encode(&raw, &mut in_form);
            let in_json = encode(&escaped[1..escaped.len() - 1]);
            let mut in_percent = Vec::new();
            raw.iter().for_each(|byte| squall_base::form::percent(*byte, &mut in_percent));
            let echoed = json!(String::from_utf8_lossy(&raw)).to_string();
            let echoed = echoed.as_bytes()[1..echoed.len() - 1].to_vec();
            for sent in [raw, in_form, in_json, in_percent, echoed] {
                let bytes = [b"a: ", &sent[..], b" b"].concat();
                let shown = secrets.mask_request(Excerpt { bytes: &bytes, is_cut: false });
                assert_eq!(shown, "a: *** b", "{secret}: {:?}", String::from_utf8_lossy(&bytes));
                // Cut anywhere, within a character too: another may seem to begin there.
                for end in 4..3 + sent.len() {
                    let cut = Excerpt { bytes: &bytes[..end], is_cut: true };
                    let shown = secrets.mask_response(cut);
                    // Of the last one the second byte says nothing.
                    let rest = shown.replace("***", "");
                    assert_eq!(
                        rest.trim_end_matches(['%', '\\', 'u', '0', '\0']),
                        "a: ",
                        "{secret}: {end}"
                    );
                }
            }
        }
        assert_eq!(secrets.mask_own("of-before"), "***");
    }
}

#[test]
fn a_secret_in_small_letters_is_masked_unless_it_may_be_a_name() {
    let secrets = secrets(&["SeCrEtVaLuE99", "Password"]);
    assert_eq!(secrets.mask("its host is secretvalue99.invalid:80"), "its host is ***.invalid:80");
    assert_eq!(secrets.mask("password: Password"), "password: ***");
}

/// The time to know and to look for secrets grows with their number, and they take up little more than their text.
#[test]
fn many_secrets_and_long_ones_are_known_soon() {
    let mut many = Secrets::default();
    (0..MAX_SECRETS).for_each(|number| many.add(&format!("secret-{number}")));
    (0..MAX_SECRETS).for_each(|number| many.add(&format!("secret-{number}")));
    assert_eq!((many.texts().len(), many.too_many()), (MAX_SECRETS, None));
    let mut more = Secrets::default();
    (0..10).for_each(|_| more.extend(&many));
    assert_eq!(more.texts().len(), MAX_SECRETS);
    assert_eq!(more.mask("x secret-9999"), "x ***");
    many.add("one-more");
    let error = many.too_many().expect("too many");
    let expected = "too many secrets: expected at most 10,000 that come to at most 8 MiB";
    assert_eq!(error.message, expected);
    let mut long = Secrets::default();
    (0..40).for_each(|number| long.add(&format!("{number}{}", "x".repeat(200_000))));
    assert_eq!(long.too_many(), None);
    assert_eq!(long.mask(&format!("7{}", "x".repeat(200_000))), "***");
    (40..60).for_each(|number| long.add(&format!("{number}{}", "x".repeat(200_000))));
    assert_eq!(long.too_many().map(|error| error.message).as_deref(), Some(expected));
}

#[test]
fn a_plan_with_too_many_secrets_is_told_what_to_do() {
    let vars: String =
        (0..50_000).map(|number| format!("  v{number}_password: hunter2-{number}\n")).collect();
    let text = format!(
        "target: http://h\nvars:\n{vars}scenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{{get: /}}]}}}}\n"
    );
    let read = crate::yaml::load_str("p", &text, std::path::Path::new(""), &Default::default());
    let failure = read.expect_err("too many secrets");
    let errors: Vec<String> =
        failure.diagnostics.iter().map(|own| failure.sources.render(own)).collect();
    assert_eq!(
        errors,
        [
            "error: too many secrets: expected at most 10,000 that come to at most 8 MiB\n   hint: read credentials \
          of many users from a file with `data`, or write `{value: …, secret: false}` for variables that are none\n"
        ]
    );
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

/// Whatever its length: a short one is masked where it was put.
#[test]
fn credentials_in_headers_and_queries_are_masked_in_a_stored_plan() {
    let text = "target: http://h/?access_token=tok-0123456&page=2
defaults: {headers: {X-Session: x, Accept: text/plain, Authorization: Basic y}}
scenarios:
  a:
    load: {users: 1, iterations: 1}
    steps: [{get: '/a?api_key=key-0123456', headers: {Cookie: sid=cook-0123456, X-Auth: '${user}'}}]
";
    let read = |text: &str| {
        crate::yaml::load_str("p", text, std::path::Path::new(""), &Default::default())
    };
    let plan = read(text).expect("a plan").plan;
    let stored = crate::yaml::print(&plan, true);
    for part in [
        "http://h/?access_token=***&page=2",
        "/a?api_key=***",
        "X-Session: \"***\"",
        "Accept: text/plain",
        "Authorization: \"Basic ***\"",
        "Cookie: \"***\"",
        "X-Auth: \"${user}\"",
    ] {
        assert!(stored.contains(part), "{part}: {stored}");
    }
    assert_eq!(plan.secrets().mask("cook-0123456"), "***", "a session in a cookie is one");
    let errors = read(&stored).expect_err("it was masked").diagnostics;
    assert!(errors.iter().any(|own| own.message.contains("was masked when it was stored")));
}

#[test]
fn a_secret_that_another_took_the_place_of_stays_one() {
    let text = "target: http://h
vars: {a_token: of-the-plan, pin_token: none, lang: english}
scenarios: {a: {load: {users: 1, iterations: 1}, steps: [{get: /of-the-plan}]}}
";
    let set =
        ["a_token", "pin_token", "lang"].map(|name| (name.to_owned(), "typed-value".to_owned()));
    let options = crate::vars::LoadOptions { set: set.to_vec(), ..Default::default() };
    let plan = crate::yaml::load_str("p", text, std::path::Path::new(""), &options);
    let plan = plan.expect("a plan").plan;
    let stored = crate::yaml::print(&plan, true);
    assert!(!stored.contains("of-the-plan") && !stored.contains("typed-value"), "{stored}");
    assert_eq!(plan.secrets().mask("none english"), "none english");
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
    assert!(stored.contains("token: \"***\"") && stored.contains("h:2003"), "{stored}");
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

/// A `tcp` step has its bytes in hexadecimal.
#[test]
fn a_secret_is_known_in_hexadecimal_and_out_of_it() {
    let mut secrets = Secrets::default();
    ["hunter2hunter2", "7365637265742d776f7264"].iter().for_each(|own| secrets.add(own));
    for text in ["68756e7465723268756e74657232", "68756E7465723268756E74657232", "secret-word"] {
        assert_eq!(secrets.mask(&format!("a {text} b")), "a *** b");
    }
}
