//! Patterns and bodies whose search is super-linear if done plainly: each ends with a value, or
//! with an error that says that it costs too much and names the pattern. Budgets count steps, so
//! that these tests do not depend on the speed of the machine; without budgets they would take
//! minutes to years.

use squall_extract::{ExtractError, Extractor, Found, Limits, MatchChoice, Spec};

fn find(spec: Spec, body: &str) -> Result<Found<'static>, ExtractError> {
    let extractor = Extractor::compile(&spec).unwrap_or_else(|error| panic!("{spec:?}: {error}"));
    extractor.find(body.as_bytes(), MatchChoice::Last, 0).map(Found::into_owned)
}

/// Searches that take linear time: they end with a value or with none.
fn check_linear(specs: &[Spec], bodies: &[String]) {
    for body in bodies {
        for spec in specs {
            let found = find(*spec, body);
            assert!(found.is_ok(), "{spec:?} in {:.40}: {found:?}", body);
        }
    }
}

/// Searches that would take more than linear time: they end with an error that names the pattern.
fn check_bounded(specs: &[Spec], body: &str) {
    for spec in specs {
        let (Spec::Json(pattern)
        | Spec::XPath(pattern)
        | Spec::Regex { pattern, .. }
        | Spec::Between { left: pattern, .. }
        | Spec::Css { selector: pattern, .. }) = *spec
        else {
            panic!("it has no pattern")
        };
        let error = find(*spec, body).expect_err(pattern);
        assert!(
            matches!(error, ExtractError::TooCostly { .. } | ExtractError::ScannedTooMuch { .. }),
            "{pattern}: {error}"
        );
        assert!(error.to_string().contains(pattern), "{error}");
    }
}

fn css(selector: &str) -> Spec<'_> {
    Spec::Css { selector, attr: None }
}

/// Elements next to each other.
fn wide() -> String {
    "<p class='a b'>x</p>".repeat(20_000)
}

/// Elements in each other, again and again.
fn deep() -> String {
    format!("{}{}", "<div>".repeat(60), "</div>".repeat(60)).repeat(300)
}

#[test]
fn css_selectors() {
    let descendants = "div ".repeat(50) + "b";
    let children = "div > ".repeat(50) + "b";
    check_linear(
        &[
            css(&descendants),
            css(&children),
            css("p + p + p"),
            css("p ~ p"),
            css("p:nth-child(2n+1)"),
            css("p:nth-last-child(3)"),
            css("p:nth-of-type(2n):nth-last-of-type(3n)"),
            css("p:only-of-type"),
            css("p:nth-child(2 of .a)"),
            css(".a.b:not(.c)"),
            css("[class~=b]"),
            css(":empty"),
            css("div:has(div div div b)"),
        ],
        &[wide(), deep()],
    );
    check_bounded(
        &[css("b ~ p"), css("p:has(~ b)"), css("p:has(~ p ~ b)"), css("p:not(:has(~ b))")],
        &wide(),
    );
    check_bounded(&[css("div:has(div:has(div:has(b)))")], &deep());
}

#[test]
fn xpath_expressions() {
    check_linear(
        &[
            Spec::XPath("//p[1]"),
            Spec::XPath("//p[position() = 3]"),
            Spec::XPath("//p[last()]"),
            Spec::XPath("count(//p)"),
            Spec::XPath("//p/following-sibling::p[1]"),
            Spec::XPath("//p = //p"),
            Spec::XPath("string-length(//p)"),
            Spec::XPath("normalize-space(/)"),
            Spec::XPath("//p/preceding::p"),
            Spec::XPath("//p/following::p"),
            Spec::XPath("//p/following-sibling::p/preceding-sibling::p"),
            Spec::XPath("//div//div//div//div//b"),
            Spec::XPath("//*/ancestor::*/descendant::node()/ancestor-or-self::div"),
        ],
        &[wide(), deep()],
    );
    check_bounded(
        &[
            Spec::XPath("//p/preceding::p[last()]"),
            Spec::XPath("//p/following::p[last()]"),
            Spec::XPath("//p/following-sibling::p[last()]"),
            Spec::XPath("//p[count(preceding::p) > 5]"),
            Spec::XPath("//p[. = //p[last()]]"),
            Spec::XPath("//p[contains(/, 'nothing')]"),
        ],
        &wide(),
    );
    check_bounded(&[Spec::XPath("//div[.//div[.//div[.//b]]]")], &deep());
    // Each namespace or language is looked for up to the root: at most 512 levels.
    check_bounded(&[Spec::XPath("//*[//*[namespace-uri() = 'x' or lang('y')]]")], &deep());
}

#[test]
fn json_paths() {
    let flat = format!("[{}1]", "1,".repeat(100_000));
    let objects = format!("[{}1]", "{\"a\":1},".repeat(50_000));
    let deep = format!("[{}1]", format!("{}{},", "[".repeat(100), "]".repeat(100)).repeat(300));
    let text = format!("[\"{}\",{}1]", "x".repeat(200_000), "\"y\",".repeat(50_000));
    check_linear(
        &[
            Spec::Json("$..x"),
            Spec::Json("$[-1]"),
            Spec::Json("$[::-1]"),
            Spec::Json("$[?@.a == 1]"),
            Spec::Json("$[?@.a == $[99]]"),
            Spec::Json("$[?@ == 2 || @ == 'z']"),
        ],
        &[flat.clone(), objects, deep.clone(), text.clone()],
    );
    check_bounded(
        &[
            Spec::Json("$[?length($) == 1]"),
            Spec::Json("$[?count($[*]) == 1]"),
            Spec::Json("$[?value($..x) == 1]"),
            Spec::Json("$[?$[?@ == 7]]"),
        ],
        &flat,
    );
    check_bounded(&[Spec::Json("$..[*]..[*]..[*]..x")], &deep);
    check_bounded(
        &[
            Spec::Json("$[?length($[0]) == 1]"),
            Spec::Json("$[?search($[0], 'z')]"),
            Spec::Json("$[?$[0] > @]"),
        ],
        &text,
    );
    // White space is paid for like all that is looked at.
    let space = " ".repeat(200_000);
    for gap in ["{space}", "[]{space}", "{space}[]", "1{space},{space}[]"] {
        let gap = gap.replace("{space}", &space);
        let list = "1,".repeat(50_000);
        let body = format!("{{\"list\":[{list}1],\"w\":[{gap}]}}");
        check_bounded(&[Spec::Json("$.list[?count($.w[*]) == 9]")], &body);
    }
    // Patterns in the document are compiled for each value.
    check_bounded(&[Spec::Json("$[?match(@, $[1])]")], &text);
}

#[test]
fn regular_expressions_and_boundaries() {
    let body = "<".repeat(100_000);
    let regex = |pattern| Spec::Regex { pattern, group: None };
    check_bounded(&[regex("(?s)<.*>|<"), regex("<(?:[^>]*>)?")], &body);
    check_linear(
        &[
            regex("<[^>]*>"),
            regex("(<+)+$"),
            regex("<"),
            Spec::Between { left: "<", right: "<" },
            Spec::Between { left: "<<<<<<<<<<<<<<<<>", right: ">" },
            Spec::Between { left: "<", right: "<<<<<<<<<<<<<<<<<<<<<<>" },
        ],
        &[body],
    );
}

#[test]
fn pages_that_make_the_parser_look_around() {
    let attributes = (0..4000).map(|number| format!("a{number} ")).collect::<String>();
    let formatting = (0..60).map(|number| format!("<b a={number}>")).collect::<String>();
    for body in [
        format!("<object>{}{}", "<div>".repeat(400), "</p>".repeat(200_000)),
        format!("<b {attributes}>").repeat(100),
        format!("<p {attributes}>").repeat(100),
        format!("<p>{formatting}{}", "<p>x".repeat(100_000)),
        "<table>".to_owned() + &"<td>x".repeat(600_000),
    ] {
        let error = find(css("x"), &body).expect_err(&body[..40]);
        assert!(matches!(error, ExtractError::TooLarge { .. }), "{:.40}: {error}", body);
    }
    // What is long but needs no look around is read.
    for body in [
        "<p>x".repeat(100_000),
        // Of what is not open at all the end is found at once.
        format!("{}{}", "<div>".repeat(400), "</p>".repeat(200_000)),
        "&lt;&amp;&nbsp;&notit;&#65;".repeat(50_000),
        format!("<!--{}-->", "x ".repeat(1_000_000)),
        format!("<script>{}</script>", "a<b ".repeat(500_000)),
        format!("<p title=\"{}\">", "word".repeat(500_000)),
        format!("<textarea>{}", "<b>".repeat(500_000)),
    ] {
        let found = find(css("nothing"), &body);
        assert_eq!(found, Ok(Found::None), "{:.40}", body);
    }
}

#[test]
fn errors_say_what_helps() {
    let long = "x".repeat(Limits::default().body_bytes + 1);
    let error = find(Spec::Between { left: "a", right: "b" }, &long).unwrap_err().to_string();
    assert_eq!(
        error,
        "the body has 16777217 bytes and extractors read at most 16777216; request less data in \
         one response, or raise the limit"
    );
    let error = find(css("b ~ p"), &wide()).unwrap_err().to_string();
    assert!(error.starts_with("`b ~ p` takes more than"), "{error}");
    assert!(error.contains("use a narrower pattern"), "{error}");
    let regex = Spec::Regex { pattern: "(?s)<.*>|<", group: None };
    let error = find(regex, &"<".repeat(100_000)).unwrap_err().to_string();
    assert!(error.starts_with("the regular expression `(?s)<.*>|<` scanned"), "{error}");
    assert!(error.contains("take the first match, use boundaries"), "{error}");
}
