//! Arbitrary patterns over arbitrary bodies, and a list of nasty ones: everything ends with a
//! value or an error, in bounded time and stack.

use proptest::prelude::*;
use squall_extract::{Body, Documents, ExtractError, Extractor, Found, Limits, MatchChoice, Spec};

const ALL_WHICH: [MatchChoice; 6] = [
    MatchChoice::First,
    MatchChoice::Nth(0),
    MatchChoice::Nth(2),
    MatchChoice::Last,
    MatchChoice::All,
    MatchChoice::Random,
];

/// Every kind of extractor with the same text as its pattern.
fn specs(pattern: &str) -> [Spec<'_>; 7] {
    let (left, right) = pattern.split_at(pattern.floor_char_boundary(pattern.len() / 2));
    [
        Spec::Regex { pattern, group: None },
        Spec::Between { left, right },
        Spec::Between { left: "", right: pattern },
        Spec::Json(pattern),
        Spec::Css { selector: pattern, attr: None },
        Spec::Css { selector: pattern, attr: Some("href") },
        Spec::XPath(pattern),
    ]
}

/// Compiles a pattern and seeks some of its matches; errors must be about a place in the pattern.
fn run(spec: &Spec, documents: &Documents, wanted: &[MatchChoice], random: u64) {
    let extractor = match Extractor::compile(spec) {
        Ok(extractor) => extractor,
        Err(error) => {
            let pattern = match spec {
                Spec::Regex { pattern, .. }
                | Spec::Between { left: pattern, .. }
                | Spec::Json(pattern)
                | Spec::Css { selector: pattern, .. }
                | Spec::XPath(pattern) => pattern,
                Spec::Links => panic!("it needs no pattern: {error}"),
            };
            assert!(error.offset.is_none_or(|at| pattern.is_char_boundary(at)), "{error}");
            assert!(!error.message.is_empty());
            return;
        }
    };
    for which in wanted {
        let found = extractor.find_in(documents, *which, random);
        match (which, found) {
            (MatchChoice::All, Ok(found)) => assert!(!matches!(found, Found::One(_))),
            (_, Ok(found)) => assert!(!matches!(found, Found::Many(_)), "{which:?}"),
            (_, Err(error)) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// Pieces of which patterns are made, so that more of them compile than random text would.
fn pattern() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "b",
        "1",
        "0",
        "-1",
        "*",
        ".",
        "..",
        "$",
        "@",
        "[",
        "]",
        "(",
        ")",
        "?",
        ":",
        "::",
        ",",
        "/",
        "//",
        "|",
        "||",
        "&&",
        "!",
        "=",
        "==",
        "!=",
        "<",
        ">",
        "+",
        "~",
        "#",
        "'",
        "\"",
        "\\",
        " ",
        "n",
        "\u{e9}",
        "and",
        "or",
        "div",
        "not(",
        ":has(",
        ":nth-child(",
        "count(",
        "match(",
        "position()",
        "last()",
        "text()",
        "node()",
        "$.",
        "$..",
        "[?@",
        "[*]",
        "//*",
        "^",
        "{2}",
        "(?i)",
        "\\d",
        "following::",
        "[1]",
        "i]",
    ];
    let piece = prop::sample::select(pieces.to_vec());
    prop_oneof![
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat()),
        any::<String>(),
    ]
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "<a>",
        "</a>",
        "<b href='1'>",
        "</b>",
        "<p>",
        "<table>",
        "<tr><td>",
        "<svg>",
        "<br/>",
        "<!--",
        "-->",
        "<?xml version='1.0'?>",
        "<![CDATA[",
        "]]>",
        "<script>",
        "</script>",
        "<template>",
        "&amp;",
        "&#x41;",
        "&x;",
        "text",
        " ",
        "{",
        "}",
        "[",
        "]",
        "\"a\":",
        "\"a\"",
        ",",
        "1",
        "-1.5e3",
        "true",
        "null",
        "\\",
        "\u{0}",
        "\u{feff}",
        "<",
        ">",
        "'",
        "\"",
        "\n",
    ];
    let piece = prop::sample::select(pieces.to_vec());
    prop_oneof![
        prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat().into_bytes()),
        prop::collection::vec(any::<u8>(), 0..60),
        Just(br#"{"a":[1,{"b":"x"},[true,null,2.5]],"b":{"a":{"a":"b"}}}"#.to_vec()),
        Just(b"<a><b href='1'>x</b><b/>y<!--c--></a><p>1<p>2".to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn arbitrary_patterns_and_bodies(pattern in pattern(), body in body(), random: u64) {
        let documents = Documents::new(&body, Limits::default());
        let xml = Body::new(&body, b"text/xml");
        let xml = Documents::of(&xml, Limits::default());
        for spec in specs(&pattern) {
            run(&spec, &documents, &ALL_WHICH, random);
            run(&spec, &xml, &ALL_WHICH, random);
        }
    }
}

/// Bodies made to hurt, of about a megabyte each.
fn nasty_bodies() -> Vec<String> {
    let n = 100_000;
    let numbered =
        |from: &str, to: &str| -> String { (0..n).map(|i| format!("{from}{i}{to}")).collect() };
    vec![
        "[".repeat(n),
        "[".repeat(n) + &"]".repeat(n),
        "{\"a\":".repeat(n),
        "[".repeat(120) + &"1,".repeat(n) + "1" + &"]".repeat(120),
        format!("[{}1]", "{},".repeat(n)),
        format!("{{{}\"z\":1}}", numbered("\"k", "\":1,")),
        format!("\"{}", "\\u0041".repeat(n)),
        "<div>".repeat(n),
        "<div>".repeat(n) + &"</div>".repeat(n),
        "<b>".repeat(n) + "<p>" + &"</b>".repeat(n),
        "<table><tr><td>".repeat(n),
        "<a><p>".repeat(n),
        "<p>".repeat(n),
        "</p>".repeat(n),
        format!("<p {}>", numbered("a", "=1 ")),
        format!("<p {}>", numbered("a", " ")),
        format!("<p {}", numbered("a", "='1'")),
        numbered("<b a=", "><p>x"),
        numbered("<body a", "=1>"),
        numbered("<x", ">"),
        "<!--".repeat(n),
        "<![CDATA[".repeat(n),
        "<".repeat(n),
        "&".repeat(n),
        "&lt;&notit;&#x110000;".repeat(n / 10),
        "<select><option>".repeat(n),
        "<svg><foreignObject>".repeat(n),
        "<frameset>".repeat(n),
        "<template><table>".repeat(n),
        "\u{0}".repeat(n),
        format!("<?xml version='1.0'?>{}", "<a>".repeat(n)),
        format!("<?xml version='1.0'?><a {}/>", numbered("a", "='1' ")),
        format!("<?xml version='1.0'?><!DOCTYPE a [{}]><a>&e9;</a>", entity_bomb()),
        format!("<?xml version='1.0'?><a>{}</a>", numbered("<b xmlns:p", "='u'/>")),
    ]
}

fn entity_bomb() -> String {
    (1..10).map(|i| format!("<!ENTITY e{i} '{}'>", format!("&e{};", i - 1).repeat(10))).collect()
}

#[test]
fn nasty_bodies_end() {
    let patterns = [
        Spec::Regex { pattern: r"(a+)+$|<(\w+)[^>]*>.*</\w+>", group: Some(1) },
        Spec::Between { left: "<", right: "]" },
        Spec::Json("$..a..*"),
        Spec::Json("$[?@.a == $..z || count(@..*) > 1]"),
        Spec::Css { selector: "div div p ~ p:nth-last-of-type(2), :has(> b + p)", attr: None },
        Spec::Css { selector: "[a1][a99999]", attr: Some("a5") },
        Spec::XPath("//*[last()]/ancestor::*[@a1 = //@a2]"),
        Spec::XPath("string-length(//p[count(preceding::p) > 10])"),
    ];
    for body in nasty_bodies() {
        let documents = Documents::new(body.as_bytes(), Limits::default());
        for spec in &patterns {
            run(spec, &documents, &[MatchChoice::Random], 1);
        }
    }
}

#[test]
fn nesting_is_an_error_of_its_own() {
    let (json, html) = ("[".repeat(100_000), "<div>".repeat(100_000));
    let path = Extractor::compile(&Spec::Json("$[0]")).unwrap();
    let css = Extractor::compile(&Spec::Css { selector: "p", attr: None }).unwrap();
    let xpath = Extractor::compile(&Spec::XPath("//p")).unwrap();
    for (extractor, body) in [(&path, &json), (&css, &html), (&xpath, &html)] {
        let error = extractor.find(body.as_bytes(), MatchChoice::First, 0).unwrap_err();
        assert!(matches!(error, ExtractError::TooDeep { .. }), "{error}");
    }
}

#[test]
fn nasty_patterns_end() {
    let n = 20_000;
    let patterns = [
        "(".repeat(n),
        "[".repeat(n),
        "a[".repeat(n),
        ":not(".repeat(n),
        "-".repeat(n),
        "$[?(".repeat(n),
        "$[?!".repeat(n),
        "$..[?$".repeat(n),
        format!("${}", "..*".repeat(n)),
        format!("${}", "[?$..".repeat(60) + "a" + &"]".repeat(60)),
        format!("/{}", "/*".repeat(n)),
        "a ".repeat(n),
        "a|".repeat(n),
        "1+".repeat(n) + "1",
        format!("{}a{}", "//*[".repeat(60), "]".repeat(60)),
        format!("{}a{}", ":has(".repeat(60), ")".repeat(60)),
        "(?:a{100}){100}".into(),
        "x".repeat(100_000),
    ];
    let bodies: [Vec<u8>; 2] =
        [("[".repeat(120) + "1" + &"]".repeat(120)).into_bytes(), "<div>".repeat(500).into_bytes()];
    for body in &bodies {
        let documents = Documents::new(body, Limits::default());
        for pattern in &patterns {
            for spec in specs(pattern) {
                run(&spec, &documents, &[MatchChoice::All], 0);
            }
        }
    }
}
