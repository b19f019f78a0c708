mod key_store;
mod looked_at;
mod managers;
mod reached;

use squall_plan::model::StopScope;
use squall_plan::yaml;

use super::*;
use crate::inventory;

/// A plan with one thread group, of 2 threads and 3 loops, and this in it.
fn plan(in_group: &str) -> String {
    format!(
        r#"<jmeterTestPlan><hashTree><TestPlan testname="shop"/><hashTree>
        <ThreadGroup testname="users">
          <stringProp name="ThreadGroup.num_threads">2</stringProp>
          <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
            <stringProp name="LoopController.loops">3</stringProp>
            <boolProp name="LoopController.continue_forever">false</boolProp>
          </elementProp>
        </ThreadGroup><hashTree>{in_group}</hashTree>
        </hashTree></hashTree></jmeterTestPlan>"#
    )
}

/// A request, with these properties and this below it.
fn request(name: &str, properties: &str, below: &str) -> String {
    format!(
        r#"<HTTPSamplerProxy testname="{name}">{properties}</HTTPSamplerProxy><hashTree>{below}</hashTree>"#
    )
}

fn string(name: &str, value: &str) -> String {
    format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
}

const TO_SHOP: &str = r#"<stringProp name="HTTPSampler.domain">shop.test</stringProp>
    <stringProp name="HTTPSampler.path">/cart</stringProp>"#;

/// A plan's translation as YAML from its scenarios on, and its obstacles with the elements' names.
fn translated(text: &str) -> (String, Vec<String>) {
    let tree = Tree::read(text.as_bytes()).expect("a plan");
    let Translation { plan, obstacles, .. } = translate(&tree, TranslationContext::default());
    let named =
        |obstacle: &Obstacle| format!("{}: {}", tree.element(obstacle.element).name, obstacle.what);
    let text = yaml::print(&plan, false);
    // It is a plan that squall reads.
    yaml::load_str("plan.yaml", &text, std::path::Path::new(""), &Default::default())
        .map_err(|errors| format!("{:?}\n{text}", errors.diagnostics))
        .expect("a good plan");
    (quoted(&plan), obstacles.iter().map(named).collect())
}

/// A plan with each value on a line of its own and each text in quotes, so that it does not matter how short ones are written.
fn quoted(plan: &Plan) -> String {
    fn block(out: &mut String, value: &serde_json::Value, depth: usize) {
        let mut entry = |key: String, value: &serde_json::Value| {
            out.push_str(&format!("{}{key}", "  ".repeat(depth)));
            match value {
                serde_json::Value::Object(map) if !map.is_empty() => {}
                serde_json::Value::Array(items) if !items.is_empty() => {}
                other => return out.push_str(&format!(" {other}\n")),
            }
            out.push('\n');
            block(out, value, depth + 1);
        };
        match value {
            serde_json::Value::Object(map) => {
                map.iter()
                    .for_each(|(key, value)| entry(format!("{}:", serde_json::json!(key)), value));
            }
            serde_json::Value::Array(items) => {
                items.iter().for_each(|value| entry("-".to_owned(), value));
            }
            _ => {}
        }
    }
    let mut out = String::new();
    block(&mut out, &yaml::value(plan, false), 0);
    out
}

/// What keeps a request with these properties and this below it from running.
fn obstacles(properties: &str, below: &str) -> Vec<String> {
    translated(&plan(&request("r", &format!("{TO_SHOP}{properties}"), below))).1
}

#[test]
fn a_request_says_all_that_jmeter_would_send() {
    let (text, obstacles) = translated(&plan(&request("home", TO_SHOP, "")));
    assert_eq!(obstacles, [""; 0]);
    for line in [
        r#""target": "http://shop.test""#,
        r#""cookies": false"#,
        r#""default_headers": false"#,
        r#""users": 2"#,
        r#""iterations": 3"#,
        r#""session": "per_user""#,
        r#""get": "/cart""#,
        r#""name": "home""#,
        r#""Connection": "close""#,
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn what_has_no_equal_is_an_obstacle() {
    let flag = |name: &str| format!(r#"<boolProp name="HTTPSampler.{name}">true</boolProp>"#);
    for (properties, expected) in [
        (flag("novel"), "the property `HTTPSampler.novel`"),
        (string("HTTPSampler.method", "BREW"), "the method `BREW`"),
        (
            string("HTTPSampler.path", "/${__XPath(x)}"),
            "the function `__XPath`, as it is used there",
        ),
        ("<novel/>".to_owned(), "the tag `novel`"),
    ] {
        assert_eq!(obstacles(&properties, ""), [format!("r: {expected}")]);
    }
    let timer = |delay: &str| {
        let delay = string("ConstantTimer.delay", delay);
        format!("<ConstantTimer testname=\"t\">{delay}</ConstantTimer><hashTree/>")
    };
    assert_eq!(obstacles("", &timer("1e15")), ["t: `1e15` as a time"]);
    // What is no number is 0.
    assert_eq!(obstacles("", &timer("2*50")), [""; 0]);
}

#[test]
fn what_is_not_known_stops_the_plan_in_the_inventory() {
    let text = plan(&request("r", TO_SHOP, "<com.example.Brew testname=\"b\"/><hashTree/>"));
    let tree = Tree::read(text.as_bytes()).expect("a plan");
    let translation = translate(&tree, TranslationContext::default());
    let found = inventory(&tree, &translation.obstacles, &[]);
    assert_eq!(found.obstacles().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["b"]);
    let text = plan(&request("r", TO_SHOP, ""));
    let tree = Tree::read(text.as_bytes()).expect("a plan");
    assert!(
        inventory(&tree, &translate(&tree, TranslationContext::default()).obstacles, &[])
            .is_whole()
    );
}

#[test]
fn a_class_path_alone_refuses_nothing() {
    let own = string("TestPlan.user_define_classpath", "lib/own.jar");
    let own = format!(r#"<TestPlan testname="shop">{own}</TestPlan>"#);
    let with_class_path =
        |below: &str| translated(&plan(below).replace(r#"<TestPlan testname="shop"/>"#, &own)).1;
    assert_eq!(with_class_path(&request("r", TO_SHOP, "")), [""; 0]);
    let class = string("classname", "com.example.Own");
    let java = format!(r#"<JavaSampler testname="j">{class}</JavaSampler><hashTree/>"#);
    assert_eq!(with_class_path(&java), ["j: the Java class `com.example.Own`"]);
}

#[test]
fn defaults_headers_and_timers_are_those_of_the_scope() {
    let header = |name: &str, value: &str| {
        format!(
            r#"<elementProp name="" elementType="Header"><stringProp name="Header.name">{name}</stringProp>
            <stringProp name="Header.value">{value}</stringProp></elementProp>"#
        )
    };
    let manager = |headers: String| {
        format!(
            r#"<HeaderManager testname="h"><collectionProp name="HeaderManager.headers">{headers}</collectionProp></HeaderManager><hashTree/>"#
        )
    };
    let timer = "<ConstantTimer testname=\"t\"><stringProp name=\"ConstantTimer.delay\">20</stringProp></ConstantTimer><hashTree/>
        <UniformRandomTimer testname=\"t\"><stringProp name=\"ConstantTimer.delay\">5</stringProp><stringProp name=\"RandomTimer.range\">10.0</stringProp></UniformRandomTimer><hashTree/>";
    let defaults = format!(
        r#"<ConfigTestElement guiclass="HttpDefaultsGui" testname="d">{}{}</ConfigTestElement><hashTree/>"#,
        string("HTTPSampler.domain", "other.test"),
        string("HTTPSampler.port", "8080"),
    );
    let outer = manager(header("X-A", "outer") + &header("x-b", "outer") + &header("X-B", "again"));
    let inner = manager(header("x-a", "inner") + &header("x-a", "twice"));
    let (text, obstacles) =
        translated(&plan(&format!("{timer}{defaults}{outer}{}", request("r", TO_SHOP, &inner))));
    assert_eq!(obstacles, [""; 0]);
    for line in
        [r#""target": "http://shop.test:8080""#, r#""think": "25ms..35ms""#, r#""x-b": "outer""#]
    {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("X-A") && !text.contains("again"), "{text}");
    assert!(text.contains("- \"inner\"") && text.contains("- \"twice\""), "{text}");
}

#[test]
fn what_is_extracted_is_a_variable_that_stays_as_written_until_then() {
    let extractor = format!(
        r#"<RegexExtractor testname="x">{}{}{}{}</RegexExtractor><hashTree/>"#,
        string("RegexExtractor.refname", "user.id"),
        string("RegexExtractor.regex", "id=(\\d+)"),
        string("RegexExtractor.template", "$1$"),
        string("RegexExtractor.match_number", "1"),
    );
    let first = request("first", TO_SHOP, &extractor);
    let path = string("HTTPSampler.path", "/${user.id}/x?q=${__UUID}");
    let (text, obstacles) =
        translated(&plan(&(first + &request("second", &format!("{TO_SHOP}{path}"), ""))));
    assert_eq!(obstacles, [""; 0]);
    for line in [
        r#""user_id": "$${user.id}""#,
        r#""get": "/${url_part(user_id, \" \")}/x?q=${uuid()}""#,
        r#""default": "${user_id}""#,
        r#""match": 1"#,
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn the_scope_of_all_samples_has_what_a_page_loads() {
    let of_page = r#"<boolProp name="HTTPSampler.image_parser">true</boolProp>"#;
    let extractor = |number: &str| {
        let list =
            [("refname", "id"), ("regex", "id=(.)"), ("template", "$1$"), ("default", "none")];
        let of = |(name, value): &(&str, &str)| string(&format!("RegexExtractor.{name}"), value);
        let texts: String = list.iter().map(of).collect();
        let number = string("RegexExtractor.match_number", number);
        let scope = string("Sample.scope", "all");
        format!(
            "<RegexExtractor testname=\"id\">{texts}{number}{scope}</RegexExtractor><hashTree/>"
        )
    };
    let assertion = |more: &str| {
        format!(
            r#"<ResponseAssertion testname="is 200">
            <collectionProp name="Asserion.test_strings"><stringProp name="0">200</stringProp></collectionProp>
            <stringProp name="Assertion.test_field">Assertion.response_code</stringProp>
            <intProp name="Assertion.test_type">8</intProp><stringProp name="Assertion.scope">all</stringProp>
            {more}</ResponseAssertion><hashTree/>"#
        )
    };
    let below = extractor("1") + &assertion("");
    let (text, lacks) = translated(&plan(&request("r", &format!("{TO_SHOP}{of_page}"), &below)));
    assert_eq!(lacks, [""; 0]);
    assert_eq!(text.matches(r#""resources": true"#).count(), 3, "{text}");
    assert_eq!(obstacles(of_page, &extractor("-1")), ["id: the scope `all`"]);
    let ignores = assertion(r#"<boolProp name="Assertion.assume_success">true</boolProp>"#);
    assert_eq!(
        obstacles(of_page, &ignores),
        ["is 200: resources of a page whose status is ignored"]
    );
}

#[test]
fn assertions_are_checks() {
    let assertion = |field: &str, kind: &str, pattern: &str| {
        format!(
            r#"<ResponseAssertion testname="a"><collectionProp name="Asserion.test_strings"><stringProp name="1">{pattern}</stringProp></collectionProp>
            {}<intProp name="Assertion.test_type">{kind}</intProp></ResponseAssertion><hashTree/>"#,
            string("Assertion.test_field", field),
        )
    };
    for (field, kind, pattern, expected) in [
        ("response_data", "16", "ok", r#"body.contains(\"ok\")"#),
        ("response_data", "20", "ok", r#"!(body.contains(\"ok\"))"#),
        ("response_data", "2", "a*", r#"(body != \"\" && body.matches(\"a*\"))"#),
        ("response_data", "1", "a", r#"body.matches(\"\\\\A(?:a)\\\\z\")"#),
        ("response_code", "8", "200", r#"string(status) == \"200\""#),
    ] {
        let below = assertion(&format!("Assertion.{field}"), kind, pattern);
        let (text, obstacles) = translated(&plan(&request("r", TO_SHOP, &below)));
        assert_eq!(obstacles, [""; 0]);
        assert!(text.contains(expected), "{expected}\n{text}");
        assert_eq!(text.contains("status < 400"), field == "response_code", "{text}");
    }
    let below = assertion("Assertion.response_data_as_document", "16", "OK");
    assert_eq!(obstacles("", &below), ["a: the field `Assertion.response_data_as_document`"]);
}

/// The line of the request's URL.
fn url(properties: &str) -> String {
    let (text, obstacles) = translated(&plan(&request("r", properties, "")));
    assert_eq!(obstacles, [""; 0], "{properties}");
    let line = text.lines().find(|line| line.contains("\"get\":")).expect("a URL");
    line.trim()
        .trim_start_matches("\"get\": ")
        .trim_start_matches("- ")
        .trim_end_matches(',')
        .to_owned()
}

#[test]
fn urls_are_those_that_jmeter_sends() {
    let part = |name: &str, value: &str| string(&format!("HTTPSampler.{name}"), value);
    let at = |host: &str, path: &str| part("domain", host) + &part("path", path);
    for (properties, expected) in [
        (at("a.test", "//a//b?x=//y"), "/a/b?x=//y"),
        (at("a.test/", "/b"), "/b"),
        (at("a.test", "/a|b"), "${fail("),
        (at("a.test", "/${nobody}"), "${fail("),
        (at("${nobody}", "/a"), "${fail("),
        (part("path", "/a"), "${fail("),
        (at("a.test", "/a") + &part("protocol", "${nobody}"), "${fail("),
        (at("a.test", "/a") + &part("port", "0"), "/a"),
    ] {
        assert!(url(&properties).contains(expected), "{properties}\n{}", url(&properties));
    }
}

#[test]
fn matches_become_lists_and_groups_texts() {
    let regex = |name: &str, number: &str, template: &str, more: &str| {
        let of = |property: &str, value: &str| string(&format!("RegexExtractor.{property}"), value);
        format!(
            r#"<RegexExtractor testname="x">{}{}{}{}{more}</RegexExtractor><hashTree/>"#,
            of("refname", name),
            of("regex", "(a)(b)"),
            of("template", template),
            of("match_number", number)
        )
    };
    let path = string("HTTPSampler.path", "/${all_2}/${all_matchNr}/${two}/${one_g1}/${found_1}");
    let shown = request("s", &(TO_SHOP.to_owned() + &path), "");
    let of_all = string("Sample.scope", "all");
    let found = regex("all", "-1", "$1$", "")
        + &regex("two", "1", "$1$-$2$", "")
        + &regex("one", "2", "$0$", "")
        + &regex("found_1", "1", "$1$", &of_all);
    let follows = r#"<boolProp name="HTTPSampler.follow_redirects">true</boolProp>"#;
    let (text, obstacles) =
        translated(&plan(&(request("r", &(TO_SHOP.to_owned() + follows), &found) + &shown)));
    assert_eq!(obstacles, [""; 0]);
    let plain = text.replace("\\\"", "\"");
    for line in [
        r#""match": "all""#,
        r#""found_1": null"#,
        r#"found_1[1] != null ? string(found_1[1]) : "${all_2}")"#,
        "string(size(found_1))",
        r#""one_g1":"#,
        r#" == null ? "null" : value_"#,
        // A variable of the plan's own never has the name of a hidden one.
        "${_found_1}",
        r#""redirects": true"#,
    ] {
        assert!(plain.contains(line), "{line}\n{text}");
    }
    let any = request("r", TO_SHOP, &regex("two", "0", "$1$-$2$", ""));
    let (text, obstacles) = translated(&plan(&any));
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains("choice(value_") && text.contains("find_all(string("), "{text}");
    // Of several responses none is kept as a whole.
    let any = regex("two", "0", "$1$-$2$", &of_all);
    let any = request("r", &(TO_SHOP.to_owned() + follows), &any);
    let refused = "x: the scope `all`, of several groups or of a pattern with variables";
    assert_eq!(translated(&plan(&any)).1, [refused]);
}

mod backend;
mod controllers;
mod data;
mod functions;
mod groups;
mod json;
mod requests;
mod results;
mod samplers;
mod scripts;
mod tcp;

#[test]
fn what_jmeter_does_not_send_or_look_at_is_not_refused() {
    let file = |kind: &str| {
        format!(
            r#"<stringProp name="HTTPSampler.method">POST</stringProp>
            <elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs"><collectionProp name="HTTPFileArgs.files">
            <elementProp name="a" elementType="HTTPFileArg"><stringProp name="File.path">a</stringProp>
            <stringProp name="File.paramname">f</stringProp><stringProp name="File.mimetype">{kind}</stringProp></elementProp>
            </collectionProp></elementProp>"#
        )
    };
    let sent = |more: &str, below: &str| {
        let whole = plan(&request("r", &format!("{TO_SHOP}{more}"), below));
        let (text, lacks) = translated(&whole);
        assert_eq!(lacks, [""; 0], "{more}");
        text
    };
    assert!(sent(&file(""), "").contains("fail("));
    let java = file("text/plain") + &string("HTTPSampler.implementation", "Java");
    let java = sent(&java, "");
    assert!(java.contains(r#""transfer_encoding": "binary""#), "{java}");
    let headers = |name: &str, value: &str| {
        format!(
            r#"<HeaderManager testname="h"><collectionProp name="HeaderManager.headers">
            <elementProp name="" elementType="Header"><stringProp name="Header.name">{name}</stringProp>
            <stringProp name="Header.value">{value}</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>
            <CounterConfig testname="n"><stringProp name="CounterConfig.name">n</stringProp></CounterConfig><hashTree/>"#
        )
    };
    assert!(sent("", &headers("Host", "${n}.test")).contains(r#""Host": "${n}.test""#));
    let port = string("HTTPSampler.port", "81");
    assert!(sent(&port, &headers("Host", "${n}")).contains(r#"string(n) + \":81\""#));
    assert!(!sent("", &headers("", "nothing")).contains("nothing"));
    let beyond = r#"<RegexExtractor testname="id"><stringProp name="RegexExtractor.refname">id</stringProp>
        <stringProp name="RegexExtractor.regex">id</stringProp><stringProp name="RegexExtractor.template">a$1$</stringProp>
        </RegexExtractor><hashTree/>"#;
    assert!(sent("", beyond).contains(r#"\"anull\""#) || sent("", beyond).contains("null"));
    let assertion = r#"<JSONPathAssertion testname="j"><stringProp name="JSON_PATH"></stringProp></JSONPathAssertion><hashTree/>"#;
    assert!(sent("", assertion).contains(r#""expr": "false""#));
}

#[test]
fn what_is_no_number_of_a_group_is_0() {
    let text = plan(&request("r", TO_SHOP, "")).replace(
        r#"<stringProp name="LoopController.loops">3"#,
        r#"<stringProp name="LoopController.loops">CTRL_LOOPS"#,
    );
    let (_, obstacles) = translated(&text.replace("CTRL_LOOPS", "3").replace(
        "</elementProp>",
        r#"</elementProp><stringProp name="ThreadGroup.ramp_time">RAMPUP_TIME</stringProp>"#,
    ));
    assert_eq!(obstacles, [""; 0]);
    let tree = Tree::read(text.as_bytes()).expect("a plan");
    let Translation { plan, obstacles, .. } = translate(&tree, TranslationContext::default());
    assert_eq!((plan.scenarios.len(), obstacles.len()), (1, 0), "nobody loops: {obstacles:?}");
    assert!(matches!(plan.scenarios[0].steps[0].kind, StepKind::Stop(StopScope::User)));
}
