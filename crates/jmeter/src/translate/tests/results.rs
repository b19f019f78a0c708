//! What files of samples say: the names of threads.

use super::*;

/// A thread group with a request, of so many threads.
fn group(class: &str, name: &str, threads: &str) -> String {
    let threads = string("ThreadGroup.num_threads", threads);
    let inside = request("r", TO_SHOP, "");
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
    let Translation { plan, obstacles, .. } = translate(&tree, Surroundings::default());
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
