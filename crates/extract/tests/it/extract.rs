//! The public interface: compile once, search many bodies, on any thread.

use std::borrow::Cow;

use serde_json::json;
use squall_extract::{
    Body, CompileError, Documents, ExtractError, Extractor, Found, Item, Limits, MatchChoice, Spec,
};

fn extractor(spec: Spec) -> Extractor {
    Extractor::compile(&spec).unwrap()
}

fn assert_shared<T: Send + Sync + Clone>(_: &T) {}

fn assert_send<T: Send>(_: &T) {}

#[test]
fn one_body_serves_all_kinds() {
    let page = br#"<form><input name="csrf" value="t1"></form>{"id": 7}"#;
    let documents = Documents::new(page, Limits::default());
    assert_send(&documents);
    for (spec, expected) in [
        (Spec::Regex { pattern: r#""id": (\d+)"#, group: Some(1) }, "7"),
        (Spec::Between { left: "value=\"", right: "\"" }, "t1"),
        (Spec::Css { selector: "input[name=csrf]", attr: Some("value") }, "t1"),
        (Spec::XPath("//input/@value"), "t1"),
    ] {
        let extractor = extractor(spec);
        assert_shared(&extractor);
        let found = extractor.find_in(&documents, MatchChoice::First, 0).unwrap();
        let Found::One(item) = &found else { panic!("{spec:?}: {found:?}") };
        assert_eq!(item.to_text(), expected.as_bytes(), "{spec:?}");
        assert_eq!(extractor.find(page, MatchChoice::First, 0).unwrap(), found, "{spec:?}");
    }
    let error =
        extractor(Spec::Json("$.id")).find_in(&documents, MatchChoice::First, 0).unwrap_err();
    assert!(matches!(error, ExtractError::NotJson { .. }), "{error}");
}

#[test]
fn text_of_the_body_is_borrowed() {
    let body = b"token=abc;token=def;".to_vec();
    for spec in [
        Spec::Regex { pattern: "token=([^;]*)", group: None },
        Spec::Between { left: "token=", right: ";" },
    ] {
        let extractor = extractor(spec);
        for (which, expected) in [(MatchChoice::First, "abc"), (MatchChoice::Last, "def")] {
            let found = extractor.find(&body, which, 0).unwrap();
            let Found::One(Item::Bytes(Cow::Borrowed(bytes))) = found else { panic!("{found:?}") };
            assert_eq!(bytes, expected.as_bytes());
        }
        let Found::Many(all) = extractor.find(&body, MatchChoice::All, 0).unwrap() else {
            panic!()
        };
        assert!(all.iter().all(|item| matches!(item, Item::Bytes(Cow::Borrowed(_)))));
    }
}

#[test]
fn the_found_value_outlives_the_parsed_documents() {
    let body = br#"{"a": "x"}"#.to_vec();
    let extractor = extractor(Spec::Json("$.a"));
    let found = {
        let documents = Documents::new(&body, Limits::default());
        extractor.find_in(&documents, MatchChoice::First, 0).unwrap()
    };
    assert_eq!(found, Found::One(Item::Bytes(b"x".into())));
}

#[test]
fn json_keeps_types_and_checks_share_the_value() {
    let documents =
        Documents::new(br#"{"n": 1, "list": [true, null, 2.5, "s"]}"#, Limits::default());
    let found =
        extractor(Spec::Json("$.list[*]")).find_in(&documents, MatchChoice::All, 0).unwrap();
    let expected = vec![
        Item::Json(json!(true)),
        Item::Json(json!(null)),
        Item::Json(json!(2.5)),
        Item::Bytes(b"s".into()),
    ];
    assert_eq!(found, Found::Many(expected));
    assert_eq!(documents.json().unwrap()["n"], 1);
}

#[test]
fn limits_bound_bodies_and_results() {
    let limits = Limits { body_bytes: 1000, results: 10, result_bytes: 4000 };
    let find = |spec, body: &str, which| {
        let documents = Documents::new(body.as_bytes(), limits);
        extractor(spec).find_in(&documents, which, 0).map(Found::into_owned)
    };
    let specs = [
        Spec::Regex { pattern: "a", group: None },
        Spec::Between { left: "<", right: ">" },
        Spec::Json("$[*]"),
        Spec::Css { selector: "a", attr: None },
        Spec::XPath("//a"),
    ];
    for spec in specs {
        let error = find(spec, &"a".repeat(1001), MatchChoice::First).unwrap_err();
        assert_eq!(error, ExtractError::BodyTooLong { bytes: 1001, limit: 1000 }, "{spec:?}");
        let body = match spec {
            Spec::Json(_) => format!("[{}1]", "1,".repeat(10)),
            _ => "<a>x</a>".repeat(11),
        };
        let error = find(spec, &body, MatchChoice::All).unwrap_err();
        assert_eq!(error, ExtractError::TooManyResults { limit: 10 }, "{spec:?}");
        for which in
            [MatchChoice::First, MatchChoice::Last, MatchChoice::Random, MatchChoice::Nth(11)]
        {
            assert!(matches!(find(spec, &body, which), Ok(Found::One(_))), "{spec:?} {which:?}");
        }
    }
    // Results that overlap, of a body that is short enough.
    let text = "x".repeat(500);
    for (spec, body) in [
        (Spec::XPath("//b | //b/..  | //b/../.. | //b/../../.. | //b/text()"), {
            format!("<i><i><i><i><i><b>{text}")
        }),
        (Spec::Css { selector: "body, i, b", attr: None }, format!("<i><i><i><i><i><i><b>{text}")),
        (Spec::Json("$..*"), format!("[[[[[[[[{}1]]]]]]]]", "1,".repeat(100))),
        (Spec::Json("$"), format!("[{}1]", "1,".repeat(100))),
    ] {
        let tight = Limits { result_bytes: 2000, ..limits };
        let documents = Documents::new(body.as_bytes(), tight);
        let error = extractor(spec).find_in(&documents, MatchChoice::All, 0).unwrap_err();
        assert!(
            matches!(
                error,
                ExtractError::ResultsTooLarge { limit: 2000 } | ExtractError::TooManyResults { .. }
            ),
            "{spec:?}: {error}"
        );
    }
}

/// The first match in a body with the value of its `content-type` header, as text.
fn first_in(spec: Spec, body: &[u8], content_type: &str) -> Option<String> {
    let body = Body::new(body, content_type.as_bytes());
    let documents = Documents::of(&body, Limits::default());
    match extractor(spec).find_in(&documents, MatchChoice::First, 0).unwrap() {
        Found::One(item) => Some(String::from_utf8(item.to_text().into_owned()).unwrap()),
        _ => None,
    }
}

#[test]
fn the_content_type_says_how_markup_is_read() {
    let feed = b"<rss><channel><item><link>u</link></item></channel></rss>";
    let soap = b"<s:Envelope xmlns:s='e'><s:Body/></s:Envelope>";
    let page = b"<?xml version='1.0'?><!DOCTYPE html><HTML><body><p>1<p>&nbsp;";
    for (expression, body, content_type, expected) in [
        ("//item/link", &feed[..], "application/rss+xml; charset=utf-8", Some("u")),
        ("//item/link", feed, "application/XML", Some("u")),
        // In HTML, <link> has no content.
        ("//item/link", feed, "text/html", Some("")),
        ("name(/*)", soap, "text/xml", Some("s:Envelope")),
        ("name(/*)", soap, "application/soap+xml;action=x", Some("s:Envelope")),
        ("name(/*)", soap, "", Some("html")),
        ("name(/*)", b"<?xml version='1.0'?><a/>", "text/plain", Some("a")),
        ("name(/*)", b"<?xml version='1.0'?><a/>", "text/html", Some("a")),
        ("count(//p)", page, "text/html", Some("2")),
    ] {
        let found = first_in(Spec::XPath(expression), body, content_type);
        assert_eq!(found.as_deref(), expected, "{expression} in {content_type}");
    }
    let broken = Body::new(b"<a><b></a>", b"text/xml");
    let broken = Documents::of(&broken, Limits::default());
    let error = extractor(Spec::XPath("//b")).find_in(&broken, MatchChoice::First, 0).unwrap_err();
    assert!(error.to_string().contains("malformed XML at line 1"), "{error}");
}

#[test]
fn text_in_other_encodings_is_decoded_for_every_extractor() {
    let all = [
        Spec::Css { selector: "i", attr: None },
        Spec::XPath("//i"),
        Spec::Between { left: "<i>", right: "</i>" },
        Spec::Regex { pattern: "<i>(.*?)</i>", group: None },
    ];
    let utf_16 = |text: &str| -> Vec<u8> {
        "\u{FEFF}".chars().chain(text.chars()).flat_map(|c| (c as u16).to_le_bytes()).collect()
    };
    for (body, content_type, expected) in [
        (b"<i>caf\xE9 \x80</i>".to_vec(), "text/html; charset=iso-8859-1", "café €"),
        (b"<meta charset=shift_jis><i>\x93\xFA\x96{</i>".to_vec(), "text/html", "日本"),
        (
            b"<?xml version='1.0' encoding='ISO-8859-1'?><i>\xFC</i>".to_vec(),
            "application/xml",
            "ü",
        ),
        (utf_16("<i>zażółć</i>"), "text/html; charset=latin1", "zażółć"),
        (utf_16("<?xml version='1.0' encoding='utf-16'?><i>ü</i>"), "text/xml", "ü"),
        ("\u{FEFF}<i>ü</i>".into(), "text/html; charset=latin1", "ü"),
        ("<i>ü</i>".into(), "text/html", "ü"),
    ] {
        for spec in all {
            let found = first_in(spec, &body, content_type);
            assert_eq!(found.as_deref(), Some(expected), "{spec:?} in {content_type}");
        }
    }
    let found = first_in(Spec::Json("$.a"), b"{\"a\":\"\xE9\"}", "application/json;charset=latin1");
    assert_eq!(found.as_deref(), Some("é"));
}

#[test]
fn utf_8_and_ascii_are_not_copied() {
    for (bytes, content_type) in [
        ("é".as_bytes(), "text/plain; charset=utf-8"),
        (b"\xFF broken", "text/html"),
        (b"ascii", "text/html; charset=shift_jis"),
    ] {
        let body = Body::new(bytes, content_type.as_bytes());
        assert!(std::ptr::eq(body.text(), bytes), "{content_type}");
    }
}

#[test]
fn decoded_text_is_bounded_like_the_body() {
    let bytes = [0xE9; 600];
    let body = Body::new(&bytes, b"text/plain; charset=latin1");
    let documents = Documents::of(&body, Limits { body_bytes: 1000, ..Limits::default() });
    let between = extractor(Spec::Between { left: "a", right: "b" });
    let error = between.find_in(&documents, MatchChoice::First, 0).unwrap_err();
    assert_eq!(error, ExtractError::BodyTooLong { bytes: 1200, limit: 1000 });
}

#[test]
fn items_become_text() {
    for (item, text) in [
        (Item::Bytes(b"x\xFF"[..].into()), &b"x\xFF"[..]),
        (Item::Json(json!(1.5)), b"1.5"),
        (Item::Json(json!({"b": 1, "a": [null]})), br#"{"b":1,"a":[null]}"#),
    ] {
        assert_eq!(item.to_text(), text);
        assert_eq!(item.clone().into_owned(), item);
    }
}

#[test]
fn errors_read_well() {
    let error = |spec| -> CompileError { Extractor::compile(&spec).unwrap_err() };
    let long = "x".repeat(100_000);
    for (error, text) in [
        (error(Spec::Regex { pattern: "a(", group: None }), "unclosed group (at byte 1)"),
        (error(Spec::Between { left: &long, right: "" }), "the pattern is longer than 65536 bytes"),
        (error(Spec::Between { left: "", right: &long }), "the pattern is longer than 65536 bytes"),
        (
            error(Spec::XPath("//a[")),
            "expected a name, `*`, `@`, `.` or a value, found the end (at byte 4)",
        ),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn what_can_be_read_of_a_body_that_is_nearly_json_is_read() {
    let id = extractor(Spec::Json("$.id"));
    for body in [
        &b"\xEF\xBB\xBF{\"id\":7}"[..],
        b"{\"id\":7,}",
        b"{\"id\":7}\n<!-- rendered in 3 ms -->",
        b"{\"ratio\":NaN,\"id\":7}",
        b"{\"name\":\"Andr\xE9\",\"id\":7}",
        b"{\"name\":\"a\tb\",\"id\":7}",
        b"{\"id\":7,\"items\":[{\"a\":1},{\"a",
    ] {
        let body = Body::new(body, b"application/json");
        let documents = Documents::of(&body, Limits::default());
        let found = id.find_in(&documents, MatchChoice::First, 0);
        let Ok(Found::One(item)) = &found else { panic!("{found:?} in {body:?}") };
        assert_eq!(item.to_text(), b"7".as_slice(), "{body:?}");
        // Where nothing is found, the reason may be what is wrong with it.
        let other = extractor(Spec::Json("$.other"));
        let found = other.find_in(&documents, MatchChoice::First, 0);
        match documents.is_json() {
            true => assert_eq!(found, Ok(Found::None)),
            false => assert!(matches!(found, Err(ExtractError::NotJson { .. })), "{found:?}"),
        }
    }
}
