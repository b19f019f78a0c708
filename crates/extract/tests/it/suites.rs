//! Cases that others wrote: the JSONPath Compliance Test Suite, and what soupsieve's tests say of CSS
//! selectors (both in `suites/`, with their licences). What passes stays so: a case that fails and is not
//! listed here with its reason fails the test, and so does a listed one that passes.

use std::collections::BTreeSet;
use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::Value;
use squall_extract::{Body, Documents, Extractor, Found, Item, Limits, MatchChoice, Spec};

/// Flags of CSS cases that are read as XML (XHTML and XML).
const XML_FLAGS: u64 = 0x4 | 0x8;

fn unpacked(file: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("a file of this repository");
    text
}

/// All values found, as JSON; `None`: an error.
fn values(extractor: &Extractor, documents: &Documents<'_>) -> Option<Vec<Value>> {
    let value = |item: Item<'_>| match item {
        Item::Json(value) => value,
        Item::Bytes(bytes) => String::from_utf8_lossy(&bytes).into(),
    };
    Some(match extractor.find_in(documents, MatchChoice::All, 0).ok()? {
        Found::None => Vec::new(),
        Found::One(item) => vec![value(item)],
        Found::Many(items) => items.into_iter().map(value).collect(),
    })
}

#[test]
fn json_paths() {
    let text = unpacked(include_bytes!("suites/jsonpath-cts.json.gz"));
    let suite: Value = serde_json::from_str(&text).expect("JSON");
    let cases = suite["tests"].as_array().expect("a list of cases");
    assert_eq!(cases.len(), 703);
    let failed: Vec<&Value> = cases.iter().filter(|case| !json_path_passes(case)).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

fn json_path_passes(case: &Value) -> bool {
    let selector = case["selector"].as_str().expect("a selector");
    let extractor = Extractor::compile(&Spec::Json(selector));
    if case["invalid_selector"] == true {
        return extractor.is_err();
    }
    let body = case["document"].to_string();
    let documents = Documents::new(body.as_bytes(), Limits::default());
    let found = extractor.ok().and_then(|extractor| values(&extractor, &documents));
    let one_of = match &case["results"] {
        Value::Array(results) => results.clone(),
        _ => vec![case["result"].clone()],
    };
    found.is_some_and(|found| one_of.contains(&Value::Array(found)))
}

#[test]
fn css_selectors() {
    let text = unpacked(include_bytes!("suites/css-soupsieve.jsonl.gz"));
    let cases: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(cases.len(), 385);
    let name = |case: &Value| {
        let test = case["test"].as_str().expect("a name");
        let test = test.rsplit("::").next().unwrap_or_default();
        format!("{test}: {}", case["sel"].as_str().expect("a selector"))
    };
    let failed: BTreeSet<String> =
        cases.iter().filter(|case| !css_passes(case)).map(name).collect();
    let mut listed = BTreeSet::new();
    for (reason, cases) in NOT_OURS {
        for case in cases.iter() {
            assert!(listed.insert((*case).to_owned()), "{case} is listed twice: {reason}");
        }
    }
    let broken: Vec<&String> = failed.difference(&listed).collect();
    let mended: Vec<&String> = listed.difference(&failed).collect();
    assert!(
        broken.is_empty() && mended.is_empty(),
        "fail: {broken:#?}\npass, but listed: {mended:#?}"
    );
}

/// CSS cases that are read in another way here, and why.
const NOT_OURS: [(&str, &[&str]); 8] = [
    (
        "soupsieve lets its caller define pseudo-classes; a plan cannot",
        &[
            "test_bad_custom_syntax: div",
            "test_custom_collision: div",
            "test_custom_dependency: :--parent-paragraph",
            "test_custom_dependency_out_of_order: :--parent-paragraph",
            r"test_custom_escapes: :--\HeaderS",
            "test_custom_selectors: :--headers",
            "test_custom_selectors: :--headers:nth-child(2)",
            "test_custom_selectors: p:--parent",
            "test_custom_selectors_exotic: :--",
            "test_pseudo_class_collision: div",
        ],
    ),
    (
        "Python's parser reads what is in <iframe> as elements; in HTML it is text",
        &[
            "test_contains_iframe: div:-soup-contains(\"iframe\")",
            "test_contains_iframe: span:-soup-contains(\"iframe\")",
            "test_iframe: :default",
            "test_iframe: :indeterminate",
            "test_iframe: div:dir(rtl)",
            "test_iframe: p:lang(en)",
            "test_no_iframe: :root > body > div",
            "test_no_iframe: :root div",
            "test_root_iframe: :root",
        ],
    ),
    (
        "libxml2 ends a <legend> at a <fieldset>; in HTML it does not",
        &[
            "test_disabled_lxml: :disabled",
            "test_disabled_with_nested_disabled_form_lxml: :disabled",
            "test_enable_lxml: :enabled",
            "test_enable_with_nested_disabled_form_lxml: :enabled",
        ],
    ),
    (
        "libxml2 mends malformed XML; here it is an error, or read as HTML if it has <html>",
        &[
            "test_dir_xml: div:dir(ltr)",
            "test_namespace: foo|title",
            "test_namespace_case: FOO|title",
            "test_namespace_case: foo|title",
            "test_namespace_inherit: e4",
            "test_namespace_inherit: other|e4",
            "test_namespace_no_default: e3",
            "test_namespace_with_default: e3",
            "test_namespace_with_default: head",
            "test_namespace_with_universal_tag: bar|*",
            "test_no_namespace: |head",
            "test_undefined_namespace: ns1|el, ns2|el",
            "test_universal_namespace: *|e2",
        ],
    ),
    ("no browser takes an element with white space in it for :empty", &["test_empty: body :empty"]),
    (
        "text within MathML counts for dir=auto (WHATWG HTML, 3.2.6.4)",
        &["test_xml_in_html: div:dir(ltr)", "test_xml_in_html: div:dir(rtl)"],
    ),
    (
        "in XHTML xml:lang counts (WHATWG HTML, 3.2.6.2)",
        &["test_language_in_xhtml_without_html_style_lang: p:lang(de-DE)"],
    ),
    (
        "a backslash at the end is taken for a slip, not for U+FFFD",
        &[r"test_type_and_class_escaped_eof: span.foo\"],
    ),
];

/// Whether the elements found are those that are expected; in which order does not matter.
fn css_passes(case: &Value) -> bool {
    let selector = case["sel"].as_str().expect("a selector");
    let extractor = Extractor::compile(&Spec::Css { selector, attr: Some("id") });
    let Some(expected) = case["ids"].as_array() else { return extractor.is_err() };
    let xml = case["flags"].as_u64().expect("flags") & XML_FLAGS != 0;
    let content_type: &[u8] = if xml { b"text/xml" } else { b"text/html" };
    let body = case["markup"].as_str().expect("markup").trim_start().as_bytes();
    let body = Body::new(body, content_type);
    let documents = Documents::of(&body, Limits::default());
    let Some(found) = extractor.ok().and_then(|e| values(&e, &documents)) else { return false };
    let sorted = |values: &[Value]| {
        let mut texts: Vec<String> = values.iter().map(Value::to_string).collect();
        texts.sort();
        texts
    };
    sorted(&found) == sorted(expected)
}
