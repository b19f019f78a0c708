//! Elements with scripts, samples that send nothing, and properties that one group sets for others.

use super::*;

fn script(class: &str, text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let name = match class {
        "BeanShellSampler" | "BeanShellAssertion" => format!("{class}.query"),
        _ => "script".to_owned(),
    };
    format!(r#"<{class} testname="{class}">{}</{class}><hashTree/>"#, string(&name, &text))
}

#[test]
fn scripts_are_steps_around_a_request() {
    let below = [
        script("BeanShellPreProcessor", "vars.put(\"before\", \"a\" + vars.get(\"after\"));"),
        script(
            "JSR223PostProcessor",
            "vars.put('after', prev.getResponseDataAsString())\nlog.info 'done'",
        ),
    ];
    let (text, obstacles) = translated(&plan(&request(
        "r",
        &format!("{TO_SHOP}{}", string("HTTPSampler.method", "GET")),
        &below.concat(),
    )));
    assert_eq!(obstacles, [""; 0]);
    for part in [
        r#""reply_1": "body""#,
        r#""if": "reply_1 != null""#,
        r#""after": "${string(reply_1)}""#,
        r#""log": "${\"done\"}""#,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let places = ["\"before\": \"${", "\"reply_1\": null", "\"get\"", "\"if\": \"reply_1"];
    let places: Vec<usize> = places
        .iter()
        .map(|part| text.rfind(part).unwrap_or_else(|| panic!("{part} in {text}")))
        .collect();
    assert!(places.is_sorted(), "{places:?} in {text}");
}

#[test]
fn scripts_see_what_was_there_before_later_extractors() {
    let own = |name: &str, value: &str| string(&format!("RegexExtractor.{name}"), value);
    let properties = own("refname", "id") + &own("regex", "(a)") + &own("template", "$1$");
    let extractor = format!(
        "<RegexExtractor testname=\"x\">{properties}{}</RegexExtractor><hashTree/>",
        own("match_number", "1")
    );
    let with = |source: &str| {
        let below = script("JSR223PostProcessor", source) + &extractor;
        translated(&plan(&request("r", TO_SHOP, &below)))
    };
    let (text, obstacles) = with("vars.put('seen', 'was ' + vars.get('id'))");
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains("\"of\": \"${id}\"") && text.contains("value_"), "{text}");
    // What it sets the extractor would have to set again.
    let (_, obstacles) = with("vars.put('id', 'x')");
    assert_eq!(obstacles.len(), 1, "{obstacles:?}");
    assert!(obstacles[0].ends_with("`id`, which an extractor after it sets"), "{obstacles:?}");
}

/// A later extractor sets a variable again; a text with several groups is put together when all extractors are done.
#[test]
fn two_extractors_may_set_the_same_variable() {
    let with = |templates: [&str; 2]| {
        let own = |name: &str, value: &str| string(&format!("RegexExtractor.{name}"), value);
        let extractors = templates.map(|template| {
            let properties = own("refname", "id") + &own("regex", "(a)(b)");
            let properties = properties + &own("template", template) + &own("match_number", "1");
            format!("<RegexExtractor testname=\"x\">{properties}</RegexExtractor><hashTree/>")
        });
        let used = request("${id_g1}", TO_SHOP, "");
        translated(&plan(&(request("r", TO_SHOP, &extractors.concat()) + &used)))
    };
    let (text, obstacles) = with(["$1$", "$2$"]);
    assert_eq!(obstacles, [""; 0]);
    let first = text.find("\"group\": 1");
    let later = ["\"group\": 2", "\"default\": \"${id}\""].map(|part| text.rfind(part));
    let places = [first, later[0], later[1]];
    assert!(places.iter().all(Option::is_some), "{text}");
    assert!(places.is_sorted(), "{places:?} in {text}");
    let (_, obstacles) = with(["$1$$2$", "$2$$1$"]);
    assert_eq!(obstacles.len(), 1, "{obstacles:?}");
    assert!(obstacles[0].contains("another extractor of the same request"), "{obstacles:?}");
}

#[test]
fn scripts_judge_requests() {
    let below = script(
        "BeanShellAssertion",
        "if (ResponseCode.equals(\"404\")) { Failure = true; FailureMessage = \"x\"; }",
    );
    let (text, obstacles) = translated(&plan(&request("r", TO_SHOP, &below)));
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains(r#"!((string(status) == \"404\"))"#), "{text}");
    let below = script("JSR223PostProcessor", "prev.setIgnore()");
    let (text, obstacles) = translated(&plan(&request("r", TO_SHOP, &below)));
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains(r#""counted": false"#), "{text}");
}

#[test]
fn scripts_that_are_more_are_refused_with_what_they_ask_for() {
    for (class, text, expected) in [
        ("BeanShellPostProcessor", "\nnew File(\"a\").delete();", "line 2: `new` as a statement"),
        ("JSR223PostProcessor", "def x = vars.get('a') as File", "line 1: `as File`"),
        (
            "JSR223PreProcessor",
            "vars.put('a', '${found}')",
            "a variable in a script that is compiled once",
        ),
    ] {
        let find = r#"<RegexExtractor testname="x"><stringProp name="RegexExtractor.refname">found</stringProp>
            <stringProp name="RegexExtractor.regex">(a)</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp>
            <stringProp name="RegexExtractor.match_number">1</stringProp></RegexExtractor><hashTree/>"#;
        let below = format!("{find}{}", script(class, text));
        let (_, obstacles) = translated(&plan(&request("r", TO_SHOP, &below)));
        assert_eq!(obstacles, [format!("{class}: {expected}")], "{text}");
    }
}

#[test]
fn scripts_are_samples() {
    let text = "SampleResult.setResponseCode(\"500\");\nSampleResult.setSuccessful(false);\nreturn \"id=\" + vars.get(\"x\");";
    let (text, obstacles) = translated(&plan(&script("BeanShellSampler", text)));
    assert_eq!(obstacles, [""; 0]);
    for part in [
        r#""group": "BeanShellSampler""#,
        r#""look": "${"#,
        r#""status": "500""#,
        r#""expr": "false""#,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let (text, obstacles) =
        translated(&plan(&script("JSR223Sampler", "SampleResult.setIgnore()\nvars.put('a', 'b')")));
    assert_eq!(obstacles, [""; 0]);
    assert!(!text.contains("group") && text.contains(r#""a": "${\"b\"}""#), "{text}");
}

#[test]
fn a_script_names_its_sample_and_says_what_came_of_it() {
    let text = "SampleResult.setSampleLabel(\"n ${__threadNum}\");\nResponseMessage = \"fine\";";
    let (text, obstacles) = translated(&plan(&script("BeanShellSampler", text)));
    assert_eq!(obstacles, [""; 0]);
    for part in [r#""group": "${"#, r#"\"n \" + string(user + 1)"#, r#""reason": "fine""#] {
        assert!(text.contains(part), "{part} in {text}");
    }
    // What is said on a condition is that or the other.
    let text = "if (vars.get(\"x\") == \"1\") { SampleResult.setResponseMessage(\"one\") }";
    let first = script("JSR223Sampler", "vars.put('x', '1')");
    let both = format!("{first}{}", script("JSR223Sampler", text));
    let (text, obstacles) = translated(&plan(&both));
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains(r#"? \"one\" : \"OK\""#), "{text}");
    let language = string("scriptLanguage", "Jexl2");
    for (class, language) in [("BSFSampler", ""), ("JSR223Sampler", &*language)] {
        let own =
            script(class, "11*11").replace("</stringProp>", &format!("</stringProp>{language}"));
        let (text, obstacles) = translated(&plan(&own));
        assert_eq!(obstacles, [""; 0], "{class}");
        assert!(text.contains("11 * 11"), "{text}");
    }
    let within = script("JSR223Sampler", "if (true) { 1 }");
    assert_eq!(translated(&plan(&within)).1, ["JSR223Sampler: line 1: `1`"]);
}

#[test]
fn properties_that_scripts_set_are_seen_by_all() {
    let set =
        request("login", TO_SHOP, &script("BeanShellAssertion", "${__setProperty(token,${id})};"));
    let used = request("use", &format!("{TO_SHOP}{}", string("HTTPSampler.method", "GET")), "");
    let used = used.replace("/cart", "/cart/${__P(token,none)}");
    let (text, obstacles) = translated(&plan(&format!("{set}{used}")));
    assert_eq!(obstacles, [""; 0]);
    let part = "\"property_token\":\n    \"value\": null\n    \"shared\": true\n";
    assert!(text.contains(part), "{text}");
    assert!(text.contains(r#"(property_token == null ? \"none\" : property_token)"#), "{text}");
}

#[test]
fn a_schedule_begins_with_the_first_sample_of_all() {
    let timer = r#"<kg.apc.jmeter.timers.VariableThroughputTimer testname="shape"><collectionProp name="load_profile">
        <collectionProp name="1"><stringProp name="a">1</stringProp><stringProp name="b">1</stringProp><stringProp name="c">60</stringProp></collectionProp>
        </collectionProp></kg.apc.jmeter.timers.VariableThroughputTimer><hashTree/>"#;
    let (text, obstacles) = translated(&plan(&request("r", TO_SHOP, timer)));
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains(" == null\""), "{text}");
    assert!(text.contains(r#""shared": true"#), "{text}");
}

#[test]
fn threads_that_arrive_are_an_open_workload() {
    let text = plan(&request("r", TO_SHOP, ""))
        .replace("ThreadGroup testname", "OpenModelThreadGroup testname");
    let text = text.replace(
        "</ThreadGroup>",
        &format!(
            "{}</OpenModelThreadGroup>",
            string("OpenModelThreadGroup.schedule", "rate(60/min) random_arrivals(10 s)")
        ),
    );
    let text = text.replace(r#"<stringProp name="ThreadGroup.num_threads">2</stringProp>"#, "");
    let (text, obstacles) = translated(&text);
    assert_eq!(obstacles, [""; 0]);
    for part in [r#""arrivals": "poisson""#, r#""session": "per_iteration""#] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_script_that_is_a_call_writes_a_file() {
    let below =
        script("BeanShellPostProcessor", "${__StringToFile(ids.csv,${__threadNum}\\n,true,)}");
    let (text, obstacles) = translated(&plan(&request("r", TO_SHOP, &below)));
    assert_eq!(obstacles, [""; 0]);
    for part in [r#""write": "ids.csv""#, r#""text": "${user + 1}\n""#, r#""append": true"#] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let below = script("BeanShellPostProcessor", "${__StringToFile(${__UUID},x)}");
    let (_, obstacles) = translated(&plan(&request("r", TO_SHOP, &below)));
    assert_eq!(
        obstacles,
        ["BeanShellPostProcessor: the function `__StringToFile`, as it is used there"]
    );
}
