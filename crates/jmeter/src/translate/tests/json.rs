//! JSON paths in extractors and assertions, of JMeter and of the plug-in, and XPaths that variables decide.

use super::super::json::{JSON_PATH_ASSERTION, JSON_PATH_EXTRACTOR};
use super::*;

fn element(tag: &str, properties: &[(&str, &str)]) -> String {
    let own = |(name, value): &(&str, &str)| string(name, value);
    let own: String = properties.iter().map(own).collect();
    format!(r#"<{tag} testname="e">{own}</{tag}><hashTree/>"#)
}

/// The translation of a request with this below it, without backslashes before quotes, and what has no equal.
fn of(below: &str) -> (String, Vec<String>) {
    let after =
        request("s", &(TO_SHOP.to_owned() + &string("HTTPSampler.path", "/${x_2}${x}")), "");
    let (text, lacks) = translated(&plan(&(request("r", TO_SHOP, below) + &after)));
    (text.replace("\\\"", "\""), lacks)
}

fn extractor(path: &str, number: &str) -> String {
    let path = path.replace('&', "&amp;").replace('<', "&lt;");
    element(
        "JSONPostProcessor",
        &[
            ("JSONPostProcessor.referenceNames", "x"),
            ("JSONPostProcessor.jsonPathExprs", &path),
            ("JSONPostProcessor.match_numbers", number),
            ("JSONPostProcessor.defaultValues", "D"),
        ],
    )
}

#[test]
fn extractors_have_paths_with_filters() {
    let (text, lacks) = of(&extractor("$.a[?(@.b == 'x' && @.c < 2)].d", "-1"));
    assert_eq!(lacks, [""; 0]);
    assert!(text.contains("$['a'][??(@['b'] == 'x' && @['c'] < 2)]['d']"), "{text}");
    // What JMeter cannot evaluate there is the default.
    let (text, lacks) = of(&extractor("$.a.length()", "1"));
    assert_eq!(lacks, [""; 0]);
    assert!(text.contains(r#""x": "${"D"}""#) && !text.contains(r#""json""#), "{text}");
    let (_, lacks) = of(&extractor("$.a[?(@.b subsetof ['x'])]", "1"));
    assert_eq!(lacks, ["e: the JSONPath `$.a[?(@.b subsetof ['x'])]`"]);
}

#[test]
fn the_plug_in_has_a_list_and_each_of_its_elements() {
    let take = |path: &str, more: &[(&str, &str)]| {
        let own = [("VAR", "x"), ("JSONPATH", path), ("DEFAULT", "D"), ("SUBJECT", "BODY")];
        of(&element(JSON_PATH_EXTRACTOR, &[&own[..], more].concat()))
    };
    let (text, lacks) = take("$.a[*].b", &[]);
    assert_eq!(lacks, [""; 0]);
    for part in [r#""json": "$['a'][*]['b']""#, r#""match": "all""#, r#""D" : (value_"#, "found_1"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let (_, lacks) = take("$.a", &[("INPUT_FORMAT", "YAML")]);
    assert_eq!(lacks, ["e: the format YAML"]);
}

#[test]
fn assertions_look_at_all_that_a_path_leads_to() {
    let check = |tag: &str, path: &str, more: &[(&str, &str)]| {
        let (text, lacks) = of(&element(tag, &[&[("JSON_PATH", path)], more].concat()));
        assert_eq!(lacks, [""; 0], "{path}");
        text
    };
    let compares = [("JSONVALIDATION", "true"), ("EXPECTED_VALUE", "8"), ("ISREGEX", "false")];
    let text = check("JSONPathAssertion", "$.a[*].id", &compares);
    assert!(
        text.contains(r#"[json_all("$['a'][*]['id']")].exists(each_4, list(each_4)"#),
        "{text}"
    );
    let text = check("JSONPathAssertion", "$.id", &compares);
    assert!(text.contains(r#"json_all("$['id']").exists(each_4, list(each_4)"#), "{text}");
    let null = [&compares[..], &[("EXPECT_NULL", "true")]].concat();
    let text = check("JSONPathAssertion", "$.id", &null);
    assert!(text.contains("each_5 == null || "), "{text}");
    let text = check("JSONPathAssertion", "$.a[*]", &[]);
    assert!(text.contains(r#"json_all("$['a'][*]") != []"#), "{text}");
    assert!(check(JSON_PATH_ASSERTION, "$.a[*]", &[]).contains(r#""expr": "is_json()""#));
    let text = check("JSONPathAssertion", "$.a.length()", &compares);
    assert!(
        text.contains(r#"json_all("$['a']").map(each_5, size(json_all("$['a'][*]"))).exists("#),
        "{text}"
    );
    let (_, lacks) = of(&element("JSONPathAssertion", &[("JSON_PATH", "$.a.median()")]));
    assert_eq!(lacks, ["e: the function `median` of a JSONPath"]);
}

#[test]
fn variables_decide_xpaths() {
    let find = element(
        "XPathExtractor",
        &[
            ("XPathExtractor.refname", "x"),
            ("XPathExtractor.xpathQuery", "//a[@id='${n}']"),
            ("XPathExtractor.matchNumber", "1"),
        ],
    );
    let counter = element("CounterConfig", &[("CounterConfig.name", "n")]);
    let (text, lacks) = translated(&plan(&(counter + &request("r", TO_SHOP, &find))));
    assert_eq!(lacks, [""; 0]);
    assert!(text.contains(r#""xpath": "//a[@id='${n}']""#), "{text}");
}

#[test]
fn requests_are_sent_in_their_charset() {
    let sent = |charset: &str, method: &str| {
        let own =
            string("HTTPSampler.contentEncoding", charset) + &string("HTTPSampler.method", method);
        let list = r#"<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
            <elementProp name="" elementType="HTTPArgument"><boolProp name="HTTPArgument.always_encode">true</boolProp>
            <stringProp name="Argument.name">a</stringProp><stringProp name="Argument.value">é</stringProp>
            <stringProp name="Argument.metadata">=</stringProp></elementProp></collectionProp></elementProp>"#;
        translated(&plan(&request("r", &format!("{TO_SHOP}{own}{list}"), "")))
    };
    let (text, lacks) = sent("Windows-1251", "POST");
    assert_eq!(lacks, [""; 0]);
    assert!(text.contains(r#""charset": "windows-1251""#), "{text}");
    assert!(text.contains("x-www-form-urlencoded; charset=windows-1251"), "{text}");
    assert!(!sent("UTF8", "POST").0.contains(r#""charset""#));
    assert_eq!(sent("klingon", "POST").1, ["r: the content encoding `klingon`"]);
    assert_eq!(sent("UTF-16", "GET").1, ["r: the content encoding `UTF-16` of no raw body"]);
}

#[test]
fn groups_of_one_name_have_it_as_their_title() {
    let one = plan(&request("r", TO_SHOP, ""));
    let begin = one.find("<ThreadGroup").expect("a group");
    let end = one.find("</hashTree></jmeterTestPlan>").expect("an end");
    let group = &one[begin..end];
    let group = &group[..group.rfind("</hashTree>").expect("an end")];
    let (text, lacks) = translated(&one.replacen(group, &group.repeat(2), 1));
    assert_eq!(lacks, [""; 0]);
    assert!(text.contains("\"users (2)\":\n    \"title\": \"users\""), "{text}");
}

#[test]
fn the_number_of_an_iteration_is_that_of_the_loop_of_a_group() {
    let sent = |name: &str, index: &str| {
        let path = string("HTTPSampler.path", &format!("/${{{index}}}"));
        let text = plan(&request("r", &(TO_SHOP.to_owned() + &path), ""));
        let main = r#"name="ThreadGroup.main_controller""#;
        translated(&text.replace(main, &format!("{main} {name}")))
    };
    for (name, index) in [("", "__jm____idx"), (r#"testname="x""#, "__jm__users__idx")] {
        let (text, lacks) = sent(name, index);
        assert_eq!(lacks, [""; 0]);
        assert!(text.contains(r#"": "${string(iteration)}""#), "{text}");
    }
    assert_eq!(sent("", "__jm__users__idx").1, ["r: the variable `__jm__users__idx`"]);
}

#[test]
fn all_matches_may_be_one_text() {
    let of_all = |more: &str| {
        let own = string("JSONPostProcessor.referenceNames", "x")
            + &string("JSONPostProcessor.jsonPathExprs", "$.a[*]")
            + &string("JSONPostProcessor.match_numbers", "-1")
            + &string("JSONPostProcessor.defaultValues", "D")
            + more;
        let below =
            format!(r#"<JSONPostProcessor testname="e">{own}</JSONPostProcessor><hashTree/>"#);
        let path =
            string("HTTPSampler.domain", "shop.test") + &string("HTTPSampler.path", "/${x_ALL}");
        translated(&plan(&(request("r", TO_SHOP, &below) + &request("s", &path, ""))))
    };
    let flag = r#"<boolProp name="JSONPostProcessor.compute_concat">true</boolProp>"#;
    let (text, lacks) = of_all(flag);
    assert_eq!(lacks, [""; 0]);
    assert!(text.contains("join(found_1.map("), "{text}");
    // Nobody makes it.
    assert_eq!(of_all("").1, ["s: the variable `x_ALL`"]);
}
