//! What files of samples say: the names of threads, and why a sample failed; and which files a plan writes.

use squall_plan::model::{SampleForm, WhichSamples};

use super::*;

/// A thread group with a request, of so many threads.
fn group(class: &str, name: &str, threads: &str) -> String {
    group_with(class, name, threads, "")
}

/// The same with this in it besides.
fn group_with(class: &str, name: &str, threads: &str, besides: &str) -> String {
    let threads = string("ThreadGroup.num_threads", threads);
    let inside = request("r", TO_SHOP, "") + besides;
    format!(
        r#"<{class} testname="{name}">{threads}
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
          <stringProp name="LoopController.loops">1</stringProp>
          <boolProp name="LoopController.continue_forever">false</boolProp>
        </elementProp></{class}><hashTree>{inside}</hashTree>"#
    )
}

/// The plan that these groups become.
fn of_groups(groups: &str) -> Plan {
    let text = format!(
        r#"<jmeterTestPlan><hashTree><TestPlan testname="p"/><hashTree>{groups}</hashTree></hashTree></jmeterTestPlan>"#
    );
    let tree = Tree::read(text.as_bytes()).expect("a plan");
    let Translation { plan, obstacles, .. } = translate(&tree, TranslationContext::default());
    assert_eq!(obstacles, []);
    plan
}

#[test]
fn groups_are_numbered_by_kind_with_those_that_do_nothing() {
    let numbers = |groups: &str| {
        let plan = of_groups(groups);
        let numbers: Vec<_> =
            plan.scenarios.iter().map(|own| (own.name.value.clone(), own.number)).collect();
        numbers
    };
    let found = numbers(
        &(group("SetupThreadGroup", "up", "1")
            + &group("ThreadGroup", "none", "0")
            + &group("ThreadGroup", "a", "1")
            + &group("ThreadGroup", "b", "1")
            + &group("PostThreadGroup", "down", "1")),
    );
    let named = |name: &str, number| (name.to_owned(), number);
    // Their place is 1, 2, 3 and 4.
    let expected = [named("up", None), named("a", None), named("b", None), named("down", Some(1))];
    assert_eq!(found, expected);
    let found = numbers(
        &(group("SetupThreadGroup", "up", "1")
            + &group("ThreadGroup", "a", "1")
            + &group("ThreadGroup", "b", "1")),
    );
    assert_eq!(found, [named("up", None), named("a", Some(1)), named("b", Some(2))]);
}

/// What is said where a Response Assertion of some patterns fails, which is one of a kind, with a message of its own.
fn said(kind: &str, patterns: &[&str], own: &str) -> Vec<String> {
    let patterns: String = patterns.iter().map(|pattern| string("0", pattern)).collect();
    let properties = string("Assertion.test_field", "Assertion.response_data")
        + &string("Assertion.test_type", kind)
        + &string("Assertion.custom_message", own);
    let below = format!(
        r#"<ResponseAssertion testname="a"><collectionProp name="Asserion.test_strings">{patterns}</collectionProp>
        {properties}</ResponseAssertion><hashTree/>"#
    );
    let (text, obstacles) = translated(&plan(&request("r", TO_SHOP, &below)));
    assert_eq!(obstacles, [""; 0]);
    let messages = text.lines().filter(|line| line.contains("\"message\""));
    messages
        .map(|line| line.trim().trim_start_matches("\"message\": ").trim_end_matches(','))
        .map(|text| serde_json::from_str::<String>(text).expect("a text"))
        .collect()
}

#[test]
fn an_assertion_says_what_jmeter_says_of_a_failure() {
    let of_body = |words: &str| format!(r#"${{body == "" ? "Response was null" : "{words}"}}"#);
    let all = said("16", &["a", "b"], "");
    let expected = [
        of_body("Test failed: text expected to contain /a/"),
        of_body("Test failed: text expected to contain /b/"),
    ];
    assert_eq!(all, expected);
    // Of nothing it passes.
    let not = said("5", &["a.*"], "");
    assert_eq!(not, ["Test failed: text expected not to match /a.*/"]);
    assert_eq!(said("16", &["a"], "no ${nobody}"), [of_body("no ${nobody}")]);
    let equal = said("8", &["a"], "");
    assert!(equal[0].contains("****** received  : "), "{equal:?}");
    assert_eq!(said("2", &[], ""), [of_body("")]);
    let either = said("34", &["a", "b"], "");
    let one = |pattern: &str| format!("Test failed: text expected something using /{pattern}/");
    assert_eq!(either, [of_body(&format!("{}\\t{}\\t", one("a"), one("b")))]);
}

#[test]
fn what_is_said_of_a_failure_keeps_no_plan_from_running() {
    // As long as a test of it can be.
    for length in [6_000, 16_000] {
        let long = format!("{}b", "a".repeat(length));
        let told = said("8", &[&long], "");
        // A hundred characters are shown of it.
        let shown = format!("[[[{}...]]]", "a".repeat(100));
        assert!(told[0].contains(&shown) && told[0].len() < 1_000, "{told:?}");
    }
    // Of one that only the run knows, too.
    let told = said("8", &[&format!("${{__time()}}{}", "a".repeat(10_000))], "");
    assert_eq!(told.len(), 1);
    let told = |count: usize| {
        let texts: Vec<String> = (0..count).map(|number| format!("{number} of some")).collect();
        said("40", &texts.iter().map(String::as_str).collect::<Vec<_>>(), "")
    };
    assert!(told(2)[0].contains("startsWith"), "marks");
    let of_ten = told(10);
    assert!(!of_ten[0].contains("startsWith"), "{of_ten:?}");
    assert!(of_ten[0].contains("[[[9 of some]]]"), "{of_ten:?}");
    // Its name is what is said.
    assert_eq!(told(60), [""; 0]);
    assert_eq!(said("2", &[&"a".repeat(16_350)], ""), [""; 0]);
}

/// A listener with a file; `more` are further properties.
fn listener(file: &str, more: &str) -> String {
    let file = string("filename", file);
    format!(r#"<ResultCollector testname="l">{file}{more}</ResultCollector><hashTree/>"#)
}

#[test]
fn listeners_with_a_file_write_it() {
    let flag = |name: &str| format!(r#"<boolProp name="ResultCollector.{name}">true</boolProp>"#);
    let saves = |xml: bool| {
        format!(
            r#"<objProp><name>saveConfig</name><value class="SampleSaveConfiguration"><time>true</time><xml>{xml}</xml></value></objProp>"#
        )
    };
    let in_controller = format!(
        r#"<GenericController testname="c"/><hashTree>{}</hashTree>"#,
        listener("never.jtl", "")
    );
    let elements = listener("all.xml", &saves(true))
        + &listener("", "")
        + &listener("${__P(none,dir)}/errors.jtl", &(saves(false) + &flag("error_logging")))
        + &group_with("ThreadGroup", "a", "1", &listener("own.jtl", &flag("success_only_logging")))
        + &group_with("ThreadGroup", "b", "1", &(listener("own.jtl", "") + &in_controller))
        + &group_with("ThreadGroup", "c", "1", &listener("all.xml", ""))
        + &group_with("ThreadGroup", "d", "0", &listener("nobody.jtl", ""))
        + &listener("${__time()}.jtl", "");
    let plan = of_groups(&elements);
    let found: Vec<_> = plan
        .samples
        .iter()
        .map(|own| {
            let scenarios: Vec<&str> =
                own.scenarios.iter().map(|name| name.value.as_str()).collect();
            assert!(own.append);
            (own.file.value.as_str(), own.form, own.only, scenarios)
        })
        .collect();
    let expected = [
        ("all.xml", SampleForm::JtlXml, WhichSamples::All, vec![]),
        ("dir/errors.jtl", SampleForm::Jtl, WhichSamples::Errors, vec![]),
        ("own.jtl", SampleForm::Jtl, WhichSamples::All, vec!["a", "b"]),
    ];
    assert_eq!(found, expected);
}

/// Groups whose numbers nobody reads as the main thread does come right behind such a listener.
#[test]
fn a_listener_without_a_file_changes_nothing() {
    let schedule = string("OpenModelThreadGroup.schedule", "rate(1/sec) random_arrivals(10 sec)");
    let path = string("HTTPSampler.path", "/${__counter(TRUE,own)}/${own}");
    let inside = request("r", &(TO_SHOP.to_owned() + &path), "");
    let group = format!(
        r#"<OpenModelThreadGroup testname="g">{schedule}</OpenModelThreadGroup><hashTree>{inside}</hashTree>"#
    );
    assert_eq!(of_groups(&(listener("", "") + &group)), of_groups(&group));
}
