//! Samplers that send nothing over HTTP: what they come to, and what looks at that.

use super::*;

/// A response assertion about a field: that it contains a text.
fn asserts(field: &str, text: &str) -> String {
    let field = string("Assertion.test_field", &format!("Assertion.{field}"));
    format!(
        r#"<ResponseAssertion testname="a"><collectionProp name="Asserion.test_strings"><stringProp name="0">{text}</stringProp>
        </collectionProp><intProp name="Assertion.test_type">16</intProp>{field}</ResponseAssertion><hashTree/>"#
    )
}

/// A sampler, and a counter that gives `n` its values.
fn with_counter(tag: &str, own: &str, below: &str) -> String {
    let counter = string("CounterConfig.name", "n");
    format!(
        r#"<CounterConfig testname="n">{counter}</CounterConfig><hashTree/>
        <{tag} testname="s ${{n}}">{own}</{tag}><hashTree>{below}</hashTree>"#
    )
}

fn arguments(name: &str, pairs: &[(&str, &str)]) -> String {
    let of_pair = |(name, value): &(&str, &str)| {
        let inner = string("Argument.name", name) + &string("Argument.value", value);
        format!(r#"<elementProp name="" elementType="Argument">{inner}</elementProp>"#)
    };
    let inner: String = pairs.iter().map(of_pair).collect();
    format!(
        r#"<elementProp name="{name}" elementType="Arguments"><collectionProp name="Arguments.arguments">{inner}</collectionProp></elementProp>"#
    )
}

#[test]
fn a_program_says_where_it_runs_and_what_its_code_means() {
    let sampler = |more: &str| {
        let own = string("SystemSampler.command", "sh")
            + &arguments("SystemSampler.arguments", &[("", "-c"), ("", "exit ${__threadNum}")])
            + &arguments("SystemSampler.environment", &[("A", "b")])
            + &string("SystemSampler.directory", "/tmp")
            + &string("SystemSampler.stdout", "out")
            + more;
        plan(&format!(r#"<SystemSampler testname="sh">{own}</SystemSampler><hashTree/>"#))
    };
    let (text, obstacles) = translated(&sampler(""));
    assert_eq!(obstacles, [""; 0]);
    for part in [
        r#""-c""#,
        "exit ${user + 1}",
        r#""A": "b""#,
        r#""directory": "/tmp""#,
        r#""stdout": "out""#,
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(text.contains(r#""true""#), "its code is not looked at: {text}");
    let checked = r#"<boolProp name="SystemSampler.checkReturnCode">true</boolProp>
        <stringProp name="SystemSampler.expectedReturnCode">3</stringProp>"#;
    let (text, _) = translated(&sampler(checked));
    assert!(text.contains(r#""string(status) == \"3\"""#), "{text}");
    assert!(text.contains("Unexpected return code.  Expected ["), "{text}");
}

/// Java seeks it from the folder that it runs in, wherever the plan lies.
#[test]
fn a_program_named_by_a_path_is_sought_from_where_it_runs() {
    for (command, directory, expected) in [
        ("./run.sh", "", "/work/./run.sh"),
        ("bin/run", "sub", "/work/sub/bin/run"),
        ("bin/run", "/opt", "/opt/bin/run"),
        ("run", "sub", "run"),
        ("/bin/run", "sub", "/bin/run"),
    ] {
        let own = string("SystemSampler.command", command)
            + &string("SystemSampler.directory", directory);
        let text =
            plan(&format!(r#"<SystemSampler testname="s">{own}</SystemSampler><hashTree/>"#));
        let tree = Tree::read(text.as_bytes()).expect("a plan");
        let properties = [("user.dir".to_owned(), "/work".to_owned())].into();
        let machine = crate::Machine { properties, ..crate::Machine::default() };
        let given = TranslationContext { machine, ..TranslationContext::default() };
        let made = quoted(&translate(&tree, given).plan);
        assert!(made.contains(&format!("\"{expected}\"")), "{expected}: {made}");
    }
}

#[test]
fn a_java_request_waits_or_is_refused() {
    let sampler = |class: &str, pairs: &[(&str, &str)]| {
        let class = format!("org.apache.jmeter.protocol.java.test.{class}");
        let own = arguments("arguments", pairs) + &string("classname", &class);
        translated(&plan(&format!(r#"<JavaSampler testname="j">{own}</JavaSampler><hashTree/>"#)))
    };
    let (text, obstacles) = sampler("JavaTest", &[("Sleep_Time", "7"), ("Label", "own")]);
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains("${7 + now_ms() % 255}ms") && text.contains(r#""own""#), "{text}");
    assert!(sampler("SleepTest", &[("SleepMask", "0")]).0.contains("${1000}ms"));
    let (text, obstacles) = sampler("JavaTest", &[("Status", "KO"), ("ResultData", "abc")]);
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains(r#""look": "abc""#) && text.contains(r#""expr": "false""#), "{text}");
    let (_, obstacles) = sampler("Other", &[]);
    assert!(obstacles.iter().any(|what| what.contains("the Java class")), "{obstacles:?}");
}

#[test]
fn a_java_request_has_defaults() {
    let class = string("classname", "org.apache.jmeter.protocol.java.test.JavaTest");
    let near = arguments("arguments", &[("Sleep_Time", "7"), ("ResultData", "near")]) + &class;
    let far = arguments("arguments", &[("ResultData", "far"), ("ResponseCode", "999")]);
    let text = format!(
        r#"<JavaConfig testname="d">{far}</JavaConfig><hashTree/>
        <JavaSampler testname="j">{near}</JavaSampler><hashTree/>"#
    );
    let (text, obstacles) = translated(&plan(&text));
    assert_eq!(obstacles, [""; 0]);
    for part in [r#""look": "near""#, r#""status": "999""#, "${7 + now_ms()"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_java_request_comes_to_what_its_arguments_say() {
    let own = |pairs: &[(&str, &str)]| {
        arguments("arguments", pairs)
            + &string("classname", "org.apache.jmeter.protocol.java.test.JavaTest")
    };
    let pairs = [
        ("Label", "J ${n}"),
        ("ResponseCode", "x1"),
        ("ResponseMessage", "said ${n}"),
        ("SamplerData", "sent"),
        ("Status", ""),
    ];
    let below = asserts("response_message", "said")
        + &asserts("request_data", "sent")
        + &asserts("response_headers", "none");
    let (text, obstacles) = translated(&plan(&with_counter("JavaSampler", &own(&pairs), &below)));
    assert_eq!(obstacles, [""; 0]);
    for part in [
        r#""group": "J ${n}""#,
        r#""status": "\"x1\"""#,
        r#""reason": "said ${n}""#,
        r#""sent": "sent""#,
        r#""expr": "false""#,
        r#"reason.contains(\"said\")"#,
        r#"string(sent_body).contains(\"sent\")"#,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    // Without a label it has its own name, and without a code none.
    let only = own(&[("Label", "${n}"), ("Status", "ok")]);
    let (text, obstacles) = translated(&plan(&with_counter("JavaSampler", &only, "")));
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains(r#"${string(n) == \"\" ? \"s \" + string(n) : string(n)}"#), "{text}");
    assert!(text.contains(r#""status": "\"\"""#) && text.contains(r#""reason": """#), "{text}");
    assert!(!text.contains("\"expr\"") && !text.contains("\"sent\""), "{text}");
}

#[test]
fn a_debug_sampler_that_shows_nothing_is_looked_at() {
    let shows = r#"<boolProp name="displayJMeterVariables">true</boolProp>"#;
    for (field, own, expected) in [
        ("response_data", "", None),
        ("response_data", shows, Some("s ${n}: `a`, which looks at it")),
        ("request_data", shows, None),
        ("response_code", shows, None),
    ] {
        let below = asserts(field, "x");
        let (_, obstacles) = translated(&plan(&with_counter("DebugSampler", own, &below)));
        assert_eq!(obstacles.first().map(String::as_str), expected, "{field} {own}");
    }
}

#[test]
fn a_program_that_takes_too_long_has_a_code() {
    let own = string("SystemSampler.command", "sleep")
        + &arguments("SystemSampler.arguments", &[("", "3")])
        + &arguments("SystemSampler.environment", &[("A", "b")])
        + &string("SystemSampler.timeout", "1000");
    let ignores =
        r#"<boolProp name="Assertion.assume_success">true</boolProp></ResponseAssertion>"#;
    let late = asserts("response_message", "reached after 1000 milliseconds");
    let (text, obstacles) = translated(&plan(&with_counter("SystemSampler", &own, &late)));
    assert_eq!(obstacles, [""; 0]);
    for part in [
        r#""name": "s ${n}""#,
        r#""timeout_status": 500"#,
        "Process timeout reached after 1000 milliseconds",
        r#""status != 500 && true""#,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let late = late.replace("</ResponseAssertion>", ignores);
    let (text, _) = translated(&plan(&with_counter("SystemSampler", &own, &late)));
    assert!(!text.contains("status != 500") && text.contains(r#""true""#), "{text}");
    // Where it was started nobody has said.
    let told = asserts("request_data", "A=b");
    let (_, obstacles) = translated(&plan(&with_counter("SystemSampler", &own, &told)));
    assert_eq!(obstacles, ["s ${n}: `a`, which looks at it"]);
}

#[test]
fn a_dummy_sampler_is_what_it_says() {
    let dummy = |waits: bool, below: &str| {
        let own = format!(r#"<boolProp name="WAITING">{waits}</boolProp>"#)
            + r#"<boolProp name="SUCCESFULL">false</boolProp>"#
            + &string("RESPONSE_TIME", "50")
            + &string("RESPONSE_CODE", "418")
            + &string("RESPONSE_MESSAGE", "teapot")
            + &string("RESPONSE_DATA", "id=7");
        let tag = "kg.apc.jmeter.samplers.DummySampler";
        let own = format!(r#"<{tag} testname="dummy">{own}</{tag}><hashTree>{below}</hashTree>"#);
        translated(&plan(&own))
    };
    let (text, obstacles) = dummy(true, &asserts("response_data", "7"));
    assert_eq!(obstacles, [""; 0]);
    for part in [
        r#""group": "dummy""#,
        r#""think": "50ms""#,
        r#""look": "id=7""#,
        r#""status": "418""#,
        r#""reason": "teapot""#,
        r#""false""#,
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(dummy(false, "").1, ["dummy: a time that is not waited for"]);
    let looks = asserts("response_headers", "x");
    assert_eq!(dummy(true, &looks).1, ["dummy: `a`, which looks at it"]);
}

#[test]
fn a_debug_post_processor_changes_nothing() {
    let below = r#"<DebugPostProcessor testname="d"><boolProp name="displayJMeterVariables">true</boolProp></DebugPostProcessor><hashTree/>"#;
    let (with, obstacles) = translated(&plan(&request("r", TO_SHOP, below)));
    assert_eq!(obstacles, [""; 0]);
    assert_eq!(with, translated(&plan(&request("r", TO_SHOP, ""))).0);
}
