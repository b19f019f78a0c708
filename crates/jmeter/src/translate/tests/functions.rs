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
            r#""get": "/true/${(property_a == null"#,
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
            r#""get": "/${__jm__my_loop__idx}""#,
            r#""__jm__my_loop__idx": "${\"0\"}""#,
        ],
    );
    assert!(!of(&looped(&path("/a"))).0.contains("__idx"));
    assert_eq!(of(&path("/${__jm__users__idx}")).1, ["r: the variable `__jm__users__idx`"]);
}

#[test]
fn texts_of_the_run_are_looked_up_again() {
    let counter = format!(
        r#"<CounterConfig testname="c">{}</CounterConfig><hashTree/>"#,
        string("CounterConfig.name", "n")
    );
    let (text, obstacles) = of(&(counter + &path("/${__eval(${n})}${__evalVar(n)}")));
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains("fill(value_6") && text.contains("fail("), "{text}");
}

#[test]
fn the_machine_is_known_before_the_run() {
    let text = plan(&path("/${__machineName}/${__machineIP()}"));
    let tree = Tree::read(text.as_bytes()).expect("a plan");
    assert_eq!(translate(&tree, Surroundings::default()).obstacles.len(), 1);
    let machine = Machine {
        name: Some("host".to_owned()),
        address: Some("10.0.0.1".to_owned()),
        ..Machine::default()
    };
    let given = Surroundings { machine, ..Surroundings::default() };
    let Translation { plan, obstacles, .. } = translate(&tree, given);
    assert_eq!(obstacles, []);
    assert!(yaml::print(&plan, false).contains(r#""get": "/host/10.0.0.1""#));
}
