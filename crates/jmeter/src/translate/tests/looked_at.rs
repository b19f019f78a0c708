//! What extractors and assertions look at.

use super::*;

/// An element, with these properties.
fn element(tag: &str, name: &str, properties: &str) -> String {
    format!(r#"<{tag} testname="{name}">{properties}</{tag}><hashTree/>"#)
}

fn flag(name: &str, value: bool) -> String {
    format!(r#"<boolProp name="{name}">{value}</boolProp>"#)
}

fn of_variable(scope: &str, name: &str) -> String {
    string(scope, "variable") + &string("Scope.variable", name)
}

fn by_regex(name: &str, template: &str, more: &str) -> String {
    let own = string("RegexExtractor.refname", name)
        + &string("RegexExtractor.regex", "(.)(.)")
        + &string("RegexExtractor.template", template)
        + &string("RegexExtractor.match_number", "1");
    element("RegexExtractor", &format!("regex {name}"), &(own + more))
}

fn assertion(more: &str) -> String {
    let patterns = r#"<collectionProp name="Asserion.test_strings"><stringProp name="0">ok</stringProp></collectionProp>"#;
    let kind = r#"<intProp name="Assertion.test_type">16</intProp>"#;
    element("ResponseAssertion", "a", &format!("{patterns}{kind}{more}"))
}

#[test]
fn a_variable_is_looked_at_in_the_place_of_the_body() {
    let below = by_regex("x", "$1$", "")
        + &by_regex("y", "$1$", &of_variable("Sample.scope", "x"))
        + &assertion(&of_variable("Assertion.scope", "y"));
    let (text, obstacles) = translated(&plan(&request("r", TO_SHOP, &below)));
    assert_eq!(obstacles, [""; 0]);
    for line in
        [r#""of": "${(x == \"${x}\" ? \"\" : x)}""#, r#""of": "${(y == \"${y}\" ? \"\" : y)}""#]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn a_variable_that_is_made_after_the_request_is_none_to_look_at() {
    let made_later = by_regex("x", "$1$-$2$", "");
    let looks = assertion(&of_variable("Assertion.scope", "x"));
    let script = element(
        "BeanShellPostProcessor",
        "s",
        &string("script", "vars.put(&quot;x&quot;, &quot;1&quot;);"),
    );
    for before in [made_later, script] {
        assert_eq!(
            obstacles("", &(before + &looks)),
            ["a: `x`, which gets its value after the request"]
        );
    }
    // One that an earlier request made is there.
    let first = request("first", TO_SHOP, &by_regex("x", "$1$-$2$", ""));
    let (_, none) = translated(&plan(&(first + &request("second", TO_SHOP, &looks))));
    assert_eq!(none, [""; 0]);
}

#[test]
fn what_was_sent_is_a_field() {
    let field = |name: &str| assertion(&string("Assertion.test_field", name));
    for (name, expected) in [
        ("Assertion.request_headers", r#"sent_headers.contains(\"ok\")"#),
        ("Assertion.sample_label", r#"sent_url.contains(\"ok\")"#),
        ("Assertion.request_data", r#"sent_cookies) + \"\\n\").contains(\"ok\")"#),
    ] {
        let (text, obstacles) = translated(&plan(&request("r", TO_SHOP, &field(name))));
        assert_eq!(obstacles, [""; 0]);
        assert!(text.contains(expected), "{name}: {text}");
    }
    let as_document = field("Assertion.response_data_as_document");
    assert_eq!(obstacles("", &as_document), ["a: the field `Assertion.response_data_as_document`"]);
    let document = by_regex("x", "$1$", &string("RegexExtractor.useHeaders", "as_document"));
    assert_eq!(obstacles("", &document), ["regex x: the field `as_document`"]);
    for (field, of) in [("URL", "sent_url"), ("unescaped", "html_decode(body)")] {
        let extractor = by_regex("x", "$1$", &string("RegexExtractor.useHeaders", field));
        let (text, none) = translated(&plan(&request("r", TO_SHOP, &extractor)));
        assert_eq!(none, [""; 0]);
        assert!(text.contains(&format!(r#""of": "${{{of}}}""#)), "{text}");
    }
}

#[test]
fn a_sample_timeout_holds_for_a_request_and_a_pause() {
    let timeout =
        |time: &str| element("SampleTimeout", "t", &string("InterruptTimer.timeout", time));
    let pause = string("ActionProcessor.duration", "5000")
        + r#"<intProp name="ActionProcessor.action">1</intProp>"#;
    let pause = element("TestAction", "p", &pause);
    let inner =
        timeout("700") + &timeout("300") + &timeout("0") + &request("r", TO_SHOP, "") + &pause;
    let (text, none) = translated(&plan(&inner));
    assert_eq!(none, [""; 0]);
    for line in [r#""all": "300ms""#, r#""think": "300ms""#] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(obstacles("", &timeout("${__UUID()}")).len(), 1);
}

#[test]
fn a_path_of_jmespath_is_compared() {
    let asserts = |path: &str, expected: &str, more: &str| {
        let own = string("JMES_PATH", path)
            + &string("EXPECTED_VALUE", expected)
            + &flag("JSONVALIDATION", true)
            + more;
        element("JMESPathAssertion", "j", &own)
    };
    let (text, none) = translated(&plan(&request("r", TO_SHOP, &asserts("a.b", "x", ""))));
    assert_eq!(none, [""; 0]);
    assert!(text.contains("$['a']['b']"), "{text}");
    assert_eq!(
        obstacles("", &asserts("a[*].b", "x", "")),
        ["j: a path that leads to several values"]
    );
    assert_eq!(obstacles("", &asserts("length(a)", "1", "")), ["j: the JMESPath `length(a)`"]);
}

#[test]
fn a_session_goes_where_it_can() {
    let rewriting = |in_path: bool| {
        let own = string("argument_name", "sid") + &flag("path_extension", in_path);
        element("URLRewritingModifier", "u", &own)
    };
    assert_eq!(obstacles("", &rewriting(true)), [""; 0]);
    assert_eq!(obstacles("", &rewriting(false)), [""; 0]);
    let with_query =
        string("HTTPSampler.domain", "shop.test") + &string("HTTPSampler.path", "/cart?a=b");
    let (_, refused) = translated(&plan(&request("r", &with_query, &rewriting(true))));
    assert_eq!(refused, ["u: a path with a query"]);
    let parts = string("HTTPSampler.method", "POST") + &flag("HTTPSampler.DO_MULTIPART_POST", true);
    assert_eq!(
        obstacles(&parts, &rewriting(false)),
        ["u: an argument of a request whose body is a text, or has parts"]
    );
}

#[test]
fn a_request_follows_a_link_of_the_page_before() {
    let parser = element("AnchorModifier", "l", "");
    let (text, none) = translated(&plan(&request("r", TO_SHOP, &parser)));
    assert_eq!(none, [""; 0]);
    for part in [
        r#""reply_8": "links""#,
        r#"each_8.scheme == \"http\""#,
        r#"each_8.host == \"shop.test\""#,
        "(?:/*/cart)",
        r#"null ? \"http://shop.test/cart\""#,
        r#""allow_hosts""#,
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (before, request_itself) = text.split_once("\"get\":").expect("a request");
    assert!(before.contains("choice(each_10)") && request_itself.contains("\"reply_8\""), "{text}");
    // Without one nothing is kept.
    assert!(!translated(&plan(&request("r", TO_SHOP, ""))).0.contains("links"));
    for (properties, below, expected) in [
        (
            flag("HTTPSampler.postBodyRaw", true) + &string("HTTPSampler.method", "POST"),
            parser.clone(),
            "r: an HTML Link Parser, as its body is a text, or has parts",
        ),
        (String::new(), parser.clone() + &parser, "l: several of them for one request"),
        (
            String::new(),
            parser.clone() + &element("URLRewritingModifier", "u", &string("argument_name", "s")),
            "l: an HTTP URL Re-writing Modifier beside it",
        ),
    ] {
        assert_eq!(obstacles(&properties, &below), [expected]);
    }
}

#[test]
fn a_duration_is_one_of_whole_milliseconds_and_0_is_no_limit() {
    let asserted = |limit: &str| {
        let own = string("DurationAssertion.duration", limit);
        let below = element("DurationAssertion", "d", &own);
        let (text, obstacles) = translated(&plan(&request("r", TO_SHOP, &below)));
        assert_eq!(obstacles, [""; 0]);
        text
    };
    assert!(asserted("500").contains(r#""expr": "duration < 501""#));
    assert!(!asserted("0").contains("duration <"));
}

#[test]
fn an_xpath_of_the_second_kind_is_asserted() {
    let below =
        |more: &str| element("XPath2Assertion", "x", &(string("XPath.xpath", "//a") + more));
    let (text, none) =
        translated(&plan(&request("r", TO_SHOP, &below(&flag("XPath.negate", true)))));
    assert_eq!(none, [""; 0]);
    assert!(text.contains(r#"xpath(\"boolean(//a)\") == false"#), "{text}");
    let own = string("XPath.namespaces", "a=http://a.test");
    assert_eq!(obstacles("", &below(&own)), ["x: namespaces of its own"]);
}
