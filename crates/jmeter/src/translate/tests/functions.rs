//! Functions that do something, look back, or look things up again.

use super::*;

/// The translation of a group with this in it, with what has no equal.
fn of(in_group: &str) -> (String, Vec<String>) {
    translated(&plan(in_group))
}

/// A request with a text as its path.
fn path(text: &str) -> String {
    request("r", &(TO_SHOP.to_owned() + &string("HTTPSampler.path", text)), "")
}

/// That there are these lines, in this order.
fn in_order(text: &str, lines: &[&str]) {
    let mut rest = text;
    for line in lines {
        let found = rest.split_once(line);
        rest = found.unwrap_or_else(|| panic!("{line}\n{text}")).1;
    }
}

#[test]
fn what_functions_do_comes_before_the_step() {
    let (text, obstacles) =
        of(&path("/${__setProperty(a,b)}${__StringToFile(out.txt,x\\n,false)}/${__P(a,none)}"));
    assert_eq!(obstacles, [""; 0]);
    in_order(
        &text,
        &[
            r#""property_a": "${\"b\"}""#,
            r#""write": "out.txt""#,
            r#""text": "x\n""#,
            r#""get": "/true/${url_part((property_a == null"#,
        ],
    );
    assert_eq!(text.matches(r#""write":"#).count(), 1, "{text}");
    let (text, obstacles) = of(&path("/${__setProperty(a,b,true)}"));
    assert_eq!(obstacles, [""; 0]);
    in_order(&text, &["property_a == null ? \\\"null\\\"", r#""property_a": "${\"b\"}""#]);
    for unknown in ["/${__setProperty(a)}", "/${__StringToFile(f,x,true,UTF-16)}"] {
        assert_eq!(of(&path(unknown)).1.len(), 1, "{unknown}");
    }
}

#[test]
fn a_property_is_defined_once_the_run_has_set_it() {
    let texts = "/${__setProperty(a,b)}/${__isPropDefined(a)}/${__isPropDefined(c)}";
    let (text, obstacles) = of(&path(texts));
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains(r#""get": "/${url_part(property_a != null, \" \")}/false""#), "{text}");
}

#[test]
fn the_response_before_is_kept_if_something_looks_at_it() {
    let (text, obstacles) = of(&path("/${__regexFunction(id=(.),$1$,,,none,id)}/${id_matchNr}"));
    assert_eq!(obstacles, [""; 0]);
    in_order(&text, &["find_all((reply_9 == null", r#""id_matchNr":"#, r#""id":"#]);
    in_order(&text, &[r#""extract":"#, r#""reply_9":"#]);
    let (text, obstacles) = of(&path("/a"));
    assert!(obstacles.is_empty() && !text.contains("reply_9"));
    let pattern = string("a", "${__regexFunction(id,$0$)}");
    let below = format!(
        r#"<ResponseAssertion testname="a"><collectionProp name="Asserion.test_strings">{pattern}</collectionProp>
        {}<intProp name="Assertion.test_type">16</intProp></ResponseAssertion><hashTree/>"#,
        string("Assertion.test_field", "Assertion.response_data"),
    );
    let (_, obstacles) = of(&request("r", TO_SHOP, &below));
    assert_eq!(obstacles, ["a: `__regexFunction` where there is no response before"]);
    for unknown in ["(?=x)", "x,$0$,0", "x,$0$,0.5"] {
        let (_, obstacles) = of(&path(&format!("/${{__regexFunction({unknown},$0$)}}")));
        assert_eq!(obstacles.len(), 1, "{unknown}");
    }
}

#[test]
fn loops_have_the_number_of_their_pass() {
    let looped = |below: &str| {
        let loops = string("LoopController.loops", "2");
        format!(
            r#"<LoopController testname="my loop">{loops}</LoopController><hashTree>{below}</hashTree>"#
        )
    };
    let (text, obstacles) = of(&looped(&path("/${__jm__my loop__idx}")));
    assert_eq!(obstacles, [""; 0]);
    in_order(
        &text,
        &[
            r#""__jm__my_loop__idx": "${\"0\"}""#,
            r#""repeat": "2""#,
            r#""__jm__my_loop__idx": "${string(turn_"#,
            r#""get": "/${url_part(__jm__my_loop__idx, \" \")}""#,
            r#""__jm__my_loop__idx": "${\"0\"}""#,
        ],
    );
    assert!(!of(&looped(&path("/a"))).0.contains("__idx"));
    assert_eq!(of(&path("/${__jm__users__idx}")).1, ["r: the variable `__jm__users__idx`"]);
}

#[test]
fn what_counts_passes_is_nothing_elses() {
    let flag = |name: &str| format!(r#"<boolProp name="CounterConfig.{name}">true</boolProp>"#);
    let counter = format!(
        r#"<CounterConfig testname="c">{}{}{}</CounterConfig><hashTree/>"#,
        string("CounterConfig.name", "n"),
        flag("per_user"),
        flag("reset_on_tg_iteration"),
    );
    let looped = format!(
        r#"<LoopController testname="l">{}</LoopController><hashTree>{}</hashTree>"#,
        string("LoopController.loops", "2"),
        path("/${__jm__l__idx}/${n}"),
    );
    let (text, obstacles) = of(&(counter + &path("/a") + &looped));
    assert_eq!(obstacles, [""; 0]);
    // That of the loop, and two of the counter.
    let hidden = ["turn_1", "turn_2", "turn_3"];
    let is_there = |name: &&str| text.contains(&format!("\"{name}\": null"));
    assert_eq!(hidden.iter().filter(|name| is_there(name)).count(), 3, "{text}");
}

#[test]
fn the_start_of_the_run_is_known_by_jmeters_names() {
    let defines = r#"<Arguments testname="v"><collectionProp name="Arguments.arguments">
        <elementProp name="u" elementType="Argument"><stringProp name="Argument.name">u</stringProp>
        <stringProp name="Argument.value">at ${START.MS}</stringProp></elementProp></collectionProp></Arguments><hashTree/>"#;
    let texts = "/${START.MS}/${START.YMD}-${__P(START.HMS)}/${__isPropDefined(TESTSTART.MS)}/${u}";
    let (text, obstacles) = of(&(defines.to_owned() + &path(texts)));
    assert_eq!(obstacles, [""; 0]);
    for part in [
        r#"/${url_part(START_MS, \" \")}/${url_part(START_YMD, \" \")}-${url_part(START_HMS, \" \")}/true/${url_part(u, \" \")}""#,
        r#""${now_ms()}""#,
        "%Y%m%d",
        "%H%M%S",
        r#""at ${START_MS}""#,
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!of(&path("/a")).0.contains("START"));
}

#[test]
fn texts_of_the_run_are_looked_up_again() {
    let counter = format!(
        r#"<CounterConfig testname="c">{}</CounterConfig><hashTree/>"#,
        string("CounterConfig.name", "n")
    );
    let (text, obstacles) = of(&(counter + &path("/${__eval(${n})}${__evalVar(n)}")));
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains("fill(each_6") && text.contains("fail("), "{text}");
}

#[test]
fn the_machine_is_known_before_the_run() {
    let text = plan(&path("/${__machineName}/${__machineIP()}"));
    let tree = Tree::read(text.as_bytes()).expect("a plan");
    assert_eq!(translate(&tree, TranslationContext::default()).obstacles.len(), 1);
    let machine = Machine {
        name: Some("host".to_owned()),
        address: Some("10.0.0.1".to_owned()),
        ..Machine::default()
    };
    let given = TranslationContext { machine, ..TranslationContext::default() };
    let Translation { plan, obstacles, .. } = translate(&tree, given);
    assert_eq!(obstacles, []);
    assert!(quoted(&plan).contains(r#""get": "/host/10.0.0.1""#));
}

#[test]
fn functions_become_expressions() {
    for (source, expected) in [
        ("${__urlencode(a b)}", r#"form_encode(\"a b\")"#),
        ("${__RandomString(4,ab)}", r#"random_string(4, \"ab\")"#),
        ("${__time(yyyy)}", r#"date(now_ms(), \"%Y\", \"local\")"#),
        ("${__digest(SHA-384,a)}", r#"sha384(\"a\")"#),
        ("${__changeCase(a,LOWER)}", r#"lower(\"a\")"#),
        ("${__intSum(1,2,3)}", "1 + 2 + 3"),
        ("${__char(65,0x42)}", "/AB"),
        ("${__eval(x)}${__threadNum}", "/x${user + 1}"),
    ] {
        let path = string("HTTPSampler.path", &format!("/{source}"));
        let (text, obstacles) = translated(&plan(&request("r", &(TO_SHOP.to_owned() + &path), "")));
        assert_eq!(obstacles, [""; 0], "{source}");
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    for source in ["${__digest(MD2,a)}", "${__time(QQQ)}", "${__XPath(a,b)}"] {
        let path = string("HTTPSampler.path", &format!("/{source}"));
        assert_eq!(obstacles(&path, "").len(), 1, "{source}");
    }
}

/// A request that sends a text, with these elements beside it.
fn sends(text: &str, beside: &str) -> (String, Vec<String>) {
    let body = format!(
        r#"{TO_SHOP}<stringProp name="HTTPSampler.method">POST</stringProp><boolProp name="HTTPSampler.postBodyRaw">true</boolProp>
        <elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
        <elementProp name="" elementType="HTTPArgument"><stringProp name="Argument.value">{text}</stringProp></elementProp>
        </collectionProp></elementProp>"#
    );
    translated(&plan(&(request("r", &body, "") + beside)))
}

#[test]
fn functions_set_variables_before_the_step_that_calls_them() {
    let (text, lacks) = sends("${__Random(1,9,x)} ${x} ${__time(/1000, t)}", "");
    assert_eq!(lacks, [""; 0]);
    let place = |line: &str| text.find(line).unwrap_or_else(|| panic!("{line}: {text}"));
    let places = [
        place(r#""x": "${string(random(1, 9))}""#),
        place(r#""t": "${string(now())}""#),
        place(r#""body": "${x} ${x} ${t}""#),
    ];
    assert!(places.is_sorted(), "{text}");
    let (text, lacks) = sends("${__counter(TRUE)} ${__split(a;;b,p,;)} ${p_1} ${p_n} ${p_9}", "");
    assert_eq!(lacks, [""; 0]);
    for part in [
        r#""advance": "step""#,
        r#""next_row": "turn_1""#,
        r#""p": "${string(\"a;;b\")}""#,
        r#"split(p, \";\").map(each_0, each_0 == \"\" ? \"?\" : each_0)"#,
        r#""body": "${turn_1.number} ${p} ${(found_1"#,
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let late = r#"<RegexExtractor testname="id"><stringProp name="RegexExtractor.refname">id</stringProp>
        <stringProp name="RegexExtractor.regex">(.)</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp>
        <stringProp name="RegexExtractor.default">${__Random(1,9,x)}</stringProp></RegexExtractor><hashTree/>"#;
    assert_eq!(obstacles("", late), ["id: the variable `x`, which a function sets there"]);
}

#[test]
fn rows_that_are_alike_are_known_and_main_threads_have_the_first() {
    let file = std::env::temp_dir().join(format!("squall-rows-{}.csv", std::process::id()));
    std::fs::write(&file, "2,1,x\n3,1,x\n\nnever,read\n").expect("a temporary file");
    let name = file.display().to_string();
    let (text, lacks) = sends(&format!("a${{__CSVRead({name},2)}}b${{__CSVRead({name},9)}}c"), "");
    assert_eq!(lacks, [""; 0]);
    assert!(text.contains(r#""body": "axbc""#), "{text}");
    let (text, lacks) = sends("a${__CSVRead(/never/there.csv,0)}b", "");
    assert!(lacks.is_empty() && text.contains(r#""body": "ab""#), "{lacks:?} {text}");
    let next = format!("${{__CSVRead({name},0)}}${{__CSVRead({name},next)}}");
    let (text, lacks) = sends(&next, "");
    assert_eq!(lacks, [""; 0]);
    assert!(text.contains(r#""if": "row_1 == null""#), "{text}");
    assert!(text.contains("(turn_1.number - 1) % 2"), "{text}");
    let of_threads = r#"<stringProp name="ThreadGroup.num_threads">"#;
    let whole = plan(&request("r", TO_SHOP, ""));
    let whole =
        whole.replace(&format!("{of_threads}2"), &format!("{of_threads}${{__CSVRead({name},0)}}"));
    let (text, lacks) = translated(&whole);
    assert!(lacks.is_empty() && text.contains(r#""users": 2"#), "{lacks:?} {text}");
    let (_, lacks) = translated(&whole.replace("/cart", &next));
    assert_eq!(lacks, ["r: the function `__CSVRead`, as it is used there"]);
    let _ = std::fs::remove_file(&file);
}

#[test]
fn nodes_of_a_file_are_dealt_out() {
    let file = std::env::temp_dir().join(format!("squall-nodes-{}.xml", std::process::id()));
    std::fs::write(&file, "<r><a>1</a><a>2</a></r>").expect("a temporary file");
    let name = file.display().to_string();
    let (text, lacks) = sends(&format!("a${{__XPath({name},//a)}}b${{__XPath({name}, //a)}}"), "");
    assert_eq!(lacks, [""; 0]);
    for line in [
        r#""if": "row_1 == null""#,
        r#""look": "<?xml version=\"1.0\"?><r><a>1</a><a>2</a></r>""#,
        r#""xpath": "//a""#,
        r#""next_row": "turn_1""#,
        "(turn_1.number - 1) % size(row_1)",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert_eq!(text.matches(r#""next_row""#).count(), 2, "{text}");
    assert!(!text.contains("turn_2"), "{text}");
    let _ = std::fs::remove_file(&file);
    let (_, lacks) = sends("${__XPath(/never/there.xml,//a)}", "");
    assert!(lacks.len() == 1 && lacks[0].contains("`__XPath` of /never/there.xml"), "{lacks:?}");
}

#[test]
fn variables_are_found_by_names_that_the_run_makes() {
    let beside = r#"<CounterConfig testname="n"><stringProp name="CounterConfig.start">1</stringProp>
        <stringProp name="CounterConfig.incr">1</stringProp><stringProp name="CounterConfig.name">n</stringProp></CounterConfig><hashTree/>
        <Arguments testname="v"><collectionProp name="Arguments.arguments">
        <elementProp name="d1" elementType="Argument"><stringProp name="Argument.name">d1</stringProp><stringProp name="Argument.value">5</stringProp></elementProp>
        <elementProp name="d2" elementType="Argument"><stringProp name="Argument.name">d2</stringProp><stringProp name="Argument.value"></stringProp></elementProp>
        </collectionProp></Arguments><hashTree/>"#;
    let sent = |text: &str| {
        let (plan, lacks) = sends(text, beside);
        assert_eq!(lacks, [""; 0], "{text}");
        let body = plan.lines().find(|line| line.contains(r#""body":"#)).expect("a body");
        body.trim().trim_start_matches(r#""body": "#).trim_end_matches(',').to_owned()
    };
    let by_name = sent("${__V(d${n})}");
    assert!(by_name.contains(r#"{\"d1\": \"5\", \"d2\": \"\"}"#), "{by_name}");
    assert_eq!(sent("${__V(d1)} ${__V(d3)} ${__V(d3,x)}"), r#""5 d3 x""#);
    assert_eq!(sent("${__isVarDefined(d2)} ${__isVarDefined(d3)}"), r#""true false""#);
    assert!(sent("${__RandomFromMultipleVars(d1|d2)}").contains(r#"[[\"5\"]]"#));
    assert_eq!(sent("a${__RandomFromMultipleVars(d2|d3)}"), r#""a""#);
    assert_eq!(sent("${__P(none,${n})}"), r#""${string(n)}""#);
}

#[test]
fn a_function_that_counts_is_called_before_a_condition_or_a_choice() {
    let within = request("r", TO_SHOP, "");
    let element = |class: &str, name: &str, own: &str| {
        format!(r#"<{class} testname="{name}">{own}</{class}><hashTree>{within}</hashTree>"#)
    };
    let condition = |more: &str| {
        let own = string("IfController.condition", "${__counter(TRUE,n)} == 2");
        element("IfController", "c", &(own + more))
    };
    let choice = string("SwitchController.value", "${__counter(TRUE,n)}");
    for below in [condition(""), element("SwitchController", "s", &choice)] {
        let (text, obstacles) = translated(&plan(&below));
        assert_eq!(obstacles, [""; 0]);
        let next = text.find("next_row").expect("the next number");
        assert!(next < text.find("\"if\"").expect("a condition"), "{text}");
    }
    // Before each sample there is nothing that could set it.
    let all = r#"<boolProp name="IfController.evaluateAll">true</boolProp>"#;
    let (_, obstacles) = translated(&plan(&condition(all)));
    assert_eq!(obstacles, ["c: a function that sets or counts something there"]);
}
