//! Controllers, timers, actions and groups.

use super::*;

fn flag(name: &str, value: bool) -> String {
    format!(r#"<boolProp name="{name}">{value}</boolProp>"#)
}

/// An element with these properties and this below it.
fn element(class: &str, name: &str, properties: &str, below: &str) -> String {
    format!(r#"<{class} testname="{name}">{properties}</{class}><hashTree>{below}</hashTree>"#)
}

/// What a group with this in it is in YAML, from its steps on, without indentation; and its obstacles.
fn steps_of(in_group: &str) -> (String, Vec<String>) {
    let (text, obstacles) = translated(&plan(in_group));
    let steps = text.split_once("\"steps\":").map_or(String::new(), |(_, steps)| steps.to_owned());
    (steps.split_whitespace().collect::<Vec<_>>().join(" "), obstacles)
}

#[test]
fn controllers_are_steps_of_their_kind() {
    let r = request("r", TO_SHOP, "");
    let number = |name: &str, value: &str| format!(r#"<intProp name="{name}">{value}</intProp>"#);
    for (controller, expected) in [
        (
            element(
                "IfController",
                "c",
                &(string("IfController.condition", "true")
                    + &flag("IfController.useExpression", true)),
                &r,
            ),
            r#"- "if": "true" "then": - "get""#,
        ),
        (
            element("WhileController", "c", &string("WhileController.condition", ""), &r),
            r#""while": "((pass_1 || last_ok))" "steps": - "set": "pass_1": "${false}""#,
        ),
        (
            element("LoopController", "c", &string("LoopController.loops", "-1"), &r),
            r#"- "while": "true" "steps""#,
        ),
        (
            element(
                "LoopController",
                "c",
                &string("LoopController.loops", "2"),
                &element("OnceOnlyController", "o", "", &r),
            ),
            r#"- "repeat": "2" "counter": "pass_1" "steps": - "if": "pass_1 == 0""#,
        ),
        (
            element(
                "ThroughputController",
                "c",
                &(number("ThroughputController.style", "1")
                    + &flag("ThroughputController.perThread", false)
                    + "<FloatProperty><name>ThroughputController.percentThroughput</name><value>12.5</value></FloatProperty>"),
                &r,
            ),
            r#"- "passes": "percent": "12.5" "of": "scenario" "steps""#,
        ),
        (
            element("RandomController", "c", &number("InterleaveControl.style", "1"), &r),
            r#"- "choose": - "steps": - "get""#,
        ),
        (element("InterleaveControl", "c", "", &r), r#"- "round_robin": - "steps": - "get""#),
        (element("RandomOrderController", "c", "", &r), r#"- "shuffle": - "steps": - "get""#),
        (
            element(
                "TransactionController",
                "c",
                &flag("TransactionController.includeTimers", false),
                &r,
            ),
            r#"- "group": "c" "think_time": "excluded" "steps""#,
        ),
        (
            element("TransactionController", "c", &flag("TransactionController.parent", true), &r),
            r#"- "group": "c" "samples": "parts" "steps": - "get""#,
        ),
        (
            element("TransactionController", "c", "", ""),
            r#"- "passes": "first": "1" "steps": - "group": "c" "samples": "parts" "steps": - "think""#,
        ),
        (
            element("com.blazemeter.jmeter.controller.ParallelSampler", "c", "", &(r.clone() + &r)),
            r#"- "parallel": "limit": 2 "steps""#,
        ),
        (
            element("RunTime", "c", &string("RunTime.seconds", "3"), &r),
            r#""while": "now_ms() < until_1" "steps": - "if": "now_ms() < until_1""#,
        ),
    ] {
        let (text, obstacles) = steps_of(&controller);
        assert_eq!(obstacles, [""; 0]);
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn what_controllers_cannot_say_is_an_obstacle() {
    let r = request("r", TO_SHOP, "");
    for (controller, expected) in [
        (
            element("IfController", "c", &string("IfController.condition", "a = 1"), &r),
            "c: the name `a` in its condition",
        ),
        (
            element(
                "RandomController",
                "c",
                "",
                &element("WhileController", "w", &string("WhileController.condition", "${x}"), &r),
            ),
            "w: being one of several, and perhaps nothing",
        ),
        (
            element(
                "InterleaveControl",
                "c",
                "",
                &element("TransactionController", "s", "", &(r.clone() + &r)),
            ),
            "s: being left after each sample",
        ),
        (
            element(
                "InterleaveControl",
                "c",
                "",
                &element(
                    "IfController",
                    "s",
                    &string("IfController.condition", "true"),
                    &(r.clone() + &r),
                ),
            ),
            "s: being left after each sample",
        ),
        (
            element(
                "WhileController",
                "c",
                &string("WhileController.condition", "true"),
                &element("OnceOnlyController", "o", "", &r),
            ),
            "o: once within a controller that counts by itself",
        ),
        (element("ModuleController", "m", "", ""), "m: ``, which is not there"),
    ] {
        assert_eq!(steps_of(&(controller + &r)).1, [expected]);
    }
}

#[test]
fn a_loop_begins_while_its_counter_has_no_number() {
    let r = request("r", TO_SHOP, "");
    let of = |condition: &str| {
        let own = string("CounterConfig.start", "1") + &string("CounterConfig.incr", "1");
        let counter =
            element("CounterConfig", "n", &(own + &string("CounterConfig.name", "n")), "");
        let condition = string("WhileController.condition", condition);
        let (steps, obstacles) =
            steps_of(&element("WhileController", "w", &condition, &(counter + &r)));
        assert_eq!(obstacles, [""; 0], "{condition}");
        steps
    };
    let unset = r#"((n == \"${n}\") ? (pass_1 || last_ok) : "#;
    for condition in [
        "${__jexl3(${n} &lt; 3)}",
        "${__javaScript(${n}&lt;=5)}",
        "${__groovy(${n} &lt; 3)}",
        "${__groovy(&quot;${n}&quot; != &quot;3&quot;)}",
        "${__jexl3(&quot;${n}&quot; &lt; 3)}",
    ] {
        let steps = of(condition);
        assert!(steps.contains(unset), "{condition}: {steps}");
        assert!(steps.contains(r#"- "set": "pass_1": "${true}""#), "{condition}: {steps}");
    }
    // A name in a text is a text, but for Groovy in double quotes.
    for condition in [
        "${__javaScript(&quot;${n}&quot; != &quot;3&quot;)}",
        "${__groovy('${n}' != '3')}",
        "${__jexl3(&quot;${n}&quot; == &quot;3&quot;)}",
    ] {
        assert!(!of(condition).contains("pass_1"), "{condition}");
    }
}

#[test]
fn a_switch_takes_a_number_or_a_name() {
    let inner = request("zero", TO_SHOP, "")
        + &request("one", TO_SHOP, "")
        + &request("Default", TO_SHOP, "");
    for (value, expected) in [
        ("", "zero"),
        ("1", "one"),
        ("9", "zero"),
        ("-1", "Default"),
        ("one", "one"),
        ("none", "Default"),
    ] {
        let (text, obstacles) = steps_of(&element(
            "SwitchController",
            "c",
            &string("SwitchController.value", value),
            &inner,
        ));
        assert_eq!(obstacles, [""; 0]);
        assert!(text.contains(&format!(r#""name": "{expected}""#)), "{value}\n{text}");
        assert_eq!(text.matches(r#""get""#).count(), 1, "{value}\n{text}");
    }
    let (text, _) = steps_of(&element(
        "SwitchController",
        "c",
        &string("SwitchController.value", "${__Random(0,2)}"),
        &inner,
    ));
    assert!(text.contains(r#""switch_1": "${string(random(0, 2))}""#), "{text}");
    assert_eq!(text.matches(r#""get""#).count(), 3, "{text}");
}

/// Steps may not be nested so deeply, nor an expression have so many parts.
#[test]
fn a_switch_has_as_many_branches_as_there_are() {
    let names = (0..300).map(|number| format!("name {}", number % 299));
    let inner: String = names.map(|name| request(&name, TO_SHOP, "")).collect();
    let value = string("SwitchController.value", "name ${__Random(0,298)}");
    let (text, obstacles) = steps_of(&element("SwitchController", "c", &value, &inner));
    assert_eq!(obstacles, [""; 0]);
    assert_eq!(text.matches(r#""get""#).count(), 300);
    // Two have the same name: the first is meant.
    assert!(text.contains(r#""name 0": 0"#) && !text.contains(": 299 "), "{text}");
    assert!(text.contains(r#""if": "branch_1 == 299""#), "{text}");
}

#[test]
fn timers_are_one_wait_and_rates_come_before_it() {
    let timer = |class: &str, delay: &str, range: &str| {
        element(
            class,
            "t",
            &(string("ConstantTimer.delay", delay) + &string("RandomTimer.range", range)),
            "",
        )
    };
    let rate = element(
        "ConstantThroughputTimer",
        "ctt",
        "<doubleProp><name>throughput</name><value>90.0</value></doubleProp><stringProp name=\"calcMode\">all active threads in current thread group</stringProp>",
        "",
    );
    for (timers, expected) in [
        (
            timer("ConstantTimer", "20", "") + &timer("ConstantTimer", "5", ""),
            r#"- "think": "25ms""#,
        ),
        (
            timer("GaussianRandomTimer", "300", "100.0"),
            r#"- "think": "${int(abs(random_normal(300, 100)))}ms""#,
        ),
        (
            timer("PoissonRandomTimer", "300", "100") + &timer("ConstantTimer", "1", ""),
            r#"- "think": "${int(random_poisson(round(100)) + 300 + 1)}ms""#,
        ),
        (
            timer("UniformRandomTimer", "0", "10") + &timer("UniformRandomTimer", "5", "10"),
            r#"${int(random_float() * 10 + 5 + random_float() * 10 + 0)}ms"#,
        ),
        (
            rate + &timer("ConstantTimer", "5", ""),
            r#"- "pace": "rate": "1.5" "by": "scenario" "clock": "timer_2" - "think": "5ms" - "get""#,
        ),
    ] {
        let (text, obstacles) = steps_of(&(timers + &request("r", TO_SHOP, "")));
        assert_eq!(obstacles, [""; 0]);
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn actions_end_what_they_say() {
    let action = |number: u32, target: u32| {
        let properties = format!(
            r#"<intProp name="ActionProcessor.action">{number}</intProp><intProp name="ActionProcessor.target">{target}</intProp>{}"#,
            string("ActionProcessor.duration", "30"),
        );
        element("TestAction", "a", &properties, "")
    };
    let looped = |inner: String| {
        element("LoopController", "l", &string("LoopController.loops", "2"), &inner)
    };
    for (steps, expected) in [
        (action(1, 0), r#""think": "30ms""#),
        (action(0, 0), r#""stop": "user""#),
        (action(0, 2), r#""stop": "run""#),
        (action(2, 2), r#""stop": "run_now""#),
        (action(3, 0), r#""stop": "iteration""#),
        (action(4, 0), r#""stop": "iteration""#),
        (action(5, 0), r#""stop": "user""#),
        (looped(action(4, 0)), r#""stop": "pass""#),
        (looped(action(5, 0)), r#""stop": "loop""#),
        (
            request(
                "r",
                TO_SHOP,
                r#"<ResultAction testname="s"><intProp name="OnError.action">1</intProp></ResultAction><hashTree/>"#,
            ),
            r#"- "if": "!last_ok" "then": - "stop": "user""#,
        ),
    ] {
        let (text, obstacles) = steps_of(&(steps + &request("r", TO_SHOP, "")));
        assert_eq!(obstacles, [""; 0]);
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn groups_come_in_their_order() {
    let group = |class: &str, name: &str, more: &str| {
        let control =
            string("LoopController.loops", "1") + &flag("LoopController.continue_forever", false);
        let properties = format!(
            r#"{}<elementProp name="ThreadGroup.main_controller" elementType="LoopController">{control}</elementProp>{more}"#,
            string("ThreadGroup.num_threads", "1"),
        );
        element(class, name, &properties, &request("r", TO_SHOP, ""))
    };
    let test = |in_turn: bool, groups: &str| {
        let flag = flag("TestPlan.serialize_threadgroups", in_turn);
        let (text, obstacles) = translated(&format!(
            r#"<jmeterTestPlan><hashTree><TestPlan testname="p">{flag}</TestPlan><hashTree>{groups}</hashTree></hashTree></jmeterTestPlan>"#
        ));
        assert_eq!(obstacles, [""; 0]);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let groups = group("PostThreadGroup", "down", "")
        + &group("ThreadGroup", "a", "")
        + &group("SetupThreadGroup", "up", "")
        + &group("ThreadGroup", "b", &flag("ThreadGroup.same_user_on_next_iteration", false));
    let text = test(false, &groups);
    assert!(
        text.contains(r#""down": "load": "users": 1 "iterations": 1 "after": - "a" - "b""#),
        "{text}"
    );
    assert_eq!(text.matches(r#""after": - "up""#).count(), 2, "{text}");
    assert_eq!(text.matches(r#""fresh_connections": true"#).count(), 1, "{text}");
    let text = test(true, &groups);
    assert!(text.contains(r#""after": - "b""#) || text.contains(r#""after": - "a""#), "{text}");
}

#[test]
fn a_module_stands_in_the_scope_of_its_controller() {
    let text = format!(
        r#"<jmeterTestPlan><hashTree><TestPlan testname="p"/><hashTree>
        <TestFragmentController testname="login" enabled="false"/><hashTree>{}</hashTree>
        <ThreadGroup testname="users">{}<elementProp name="ThreadGroup.main_controller" elementType="LoopController">{}</elementProp></ThreadGroup>
        <hashTree>
          <ConstantTimer testname="t">{}</ConstantTimer><hashTree/>
          <ModuleController testname="m"><collectionProp name="ModuleController.node_path">
            <stringProp name="1">Test Plan</stringProp><stringProp name="2">p</stringProp><stringProp name="3">login</stringProp>
          </collectionProp></ModuleController><hashTree/>
        </hashTree></hashTree></hashTree></jmeterTestPlan>"#,
        request("in it", TO_SHOP, "") + r#"<com.example.Brew testname="b"/><hashTree/>"#,
        string("ThreadGroup.num_threads", "1"),
        string("LoopController.loops", "1") + &flag("LoopController.continue_forever", false),
        string("ConstantTimer.delay", "7"),
    );
    let (plan, obstacles) = translated(&text);
    assert!(plan.contains(r#""think": "7ms""#) && plan.contains(r#""name": "in it""#), "{plan}");
    assert_eq!(obstacles, ["b: not supported, and part of a module"]);
}

/// Of several elements with the name that a path says the last is meant that leads to its end.
#[test]
fn a_path_leads_through_any_element_of_its_names() {
    let module = |name: &str| {
        format!(
            r#"<ModuleController testname="{name}"><collectionProp name="ModuleController.node_path">
            <stringProp name="1">Test Plan</stringProp><stringProp name="2">p</stringProp><stringProp name="3">users</stringProp>
            <stringProp name="4">login</stringProp></collectionProp></ModuleController><hashTree/>"#
        )
    };
    let group = |enabled: bool, below: &str| {
        let loops =
            string("LoopController.loops", "1") + &flag("LoopController.continue_forever", false);
        let inner = format!(
            r#"{}<elementProp name="ThreadGroup.main_controller" elementType="LoopController">{loops}</elementProp>"#,
            string("ThreadGroup.num_threads", "1"),
        );
        format!(
            r#"<ThreadGroup testname="users" enabled="{enabled}">{inner}</ThreadGroup><hashTree>{below}</hashTree>"#
        )
    };
    let simple = |request: &str| {
        format!(r#"<GenericController testname="login"/><hashTree>{request}</hashTree>"#)
    };
    let two = simple(&request("one", TO_SHOP, "")) + &simple(&request("two", TO_SHOP, ""));
    let text = format!(
        r#"<jmeterTestPlan><hashTree><TestPlan testname="p"/><hashTree>{}{}</hashTree></hashTree></jmeterTestPlan>"#,
        group(false, &two),
        // The module itself has the name, and is not meant.
        group(true, &module("login")),
    );
    let (plan, obstacles) = translated(&text);
    assert_eq!(obstacles, [""; 0]);
    assert!(plan.contains(r#""name": "two""#) && !plan.contains(r#""name": "one""#), "{plan}");
}

/// A Synchronizing Timer of so many threads, which wait so long.
fn synchronizing(size: &str, timeout: &str) -> String {
    let number = |name: &str, value: &str| format!(r#"<intProp name="{name}">{value}</intProp>"#);
    let properties = number("groupSize", size) + &number("timeoutInMs", timeout);
    element("SyncTimer", "meet", &properties, "")
}

#[test]
fn threads_wait_for_each_other() {
    let r = request("r", TO_SHOP, "");
    let section = |lock: &str| {
        element(
            "CriticalSectionController",
            "c",
            &string("CriticalSectionController.lockName", lock),
            &r,
        )
    };
    let first = element("ConstantTimer", "t", &string("ConstantTimer.delay", "5"), "");
    for (inner, expected) in [
        (section("orders"), r#"- "critical_section": "orders" "steps": - "get""#),
        // Without a name there is no lock.
        (section(""), r#"- "get""#),
        // As many as the group has threads.
        (
            first + &synchronizing("0", "0") + &r,
            r#"- "rendezvous": "users": 2 "name": "timer_3" - "think": "5ms" - "get""#,
        ),
        (
            synchronizing("7", "1500") + &r,
            r#"- "rendezvous": "users": 7 "timeout": "1s500ms" "name": "timer_2" - "get""#,
        ),
    ] {
        let (text, obstacles) = steps_of(&inner);
        assert_eq!(obstacles, [""; 0]);
        assert!(text.starts_with(expected), "{expected}\n{text}");
    }
    // A thread that is alone is held up by nobody.
    let alone = plan(&section("orders")).replace(">2<", ">1<");
    assert!(!translated(&alone).0.contains("critical_section"));
    let twice = plan(&(section("orders") + &section("orders"))).replace(">2<", ">1<");
    assert!(translated(&twice).0.contains("critical_section"));
}

#[test]
fn a_precise_timer_has_an_exact_number_of_samples() {
    let timer = |samples: &str| {
        let properties = format!(
            "<doubleProp><name>throughput</name><value>{samples}</value></doubleProp>\
             <intProp name=\"throughputPeriod\">60</intProp><longProp name=\"duration\">600</longProp>\
             <intProp name=\"batchSize\">3</intProp><intProp name=\"exactLimit\">10000</intProp>"
        );
        element("PreciseThroughputTimer", "exact", &properties, "")
    };
    let r = request("r", TO_SHOP, "");
    let (text, obstacles) = steps_of(&(timer("90.0") + &r));
    assert_eq!(obstacles, [""; 0]);
    let expected = r#"- "pace": "rate": "1.5" "by": "scenario_in_line" "clock": "precise_timers" "exact_over": "10m" "batch": 3 - "get""#;
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(steps_of(&(timer("0") + &r)).1, ["exact: `0` as throughput"]);
    let inner = request("s", TO_SHOP, &timer("30"));
    let differs = "exact: another of its kind in the group, which differs";
    assert_eq!(steps_of(&(timer("60") + &inner)).1, [differs, differs]);
}

#[test]
fn what_of_such_waits_has_no_equal_is_an_obstacle() {
    let r = request("r", TO_SHOP, "");
    for (size, timeout, expected) in
        [("-1", "0", "meet: -1 as groupSize"), ("2", "-5", "meet: -5 as timeoutInMs")]
    {
        assert_eq!(steps_of(&(synchronizing(size, timeout) + &r)).1, [expected]);
    }
    let many = plan(&(synchronizing("0", "0") + &r)).replace(">2<", ">${__time()}<");
    let unknown = "meet: waiting for all threads of a group whose number is not known".to_owned();
    assert!(translated(&many).1.contains(&unknown), "{:?}", translated(&many).1);
    let lock = string("CriticalSectionController.lockName", "l");
    let section = element("CriticalSectionController", "c", &lock, &r);
    let parallel = element("com.blazemeter.jmeter.controller.ParallelSampler", "p", "", &section);
    assert_eq!(steps_of(&parallel).1, ["c: flows of one thread that wait for each other"]);
}

#[test]
fn threads_arrive_by_a_free_form() {
    let row = |fields: [&str; 3]| {
        let fields: String = fields.iter().map(|field| string("1", field)).collect();
        format!(r#"<collectionProp name="1">{fields}</collectionProp>"#)
    };
    let group = |rows: &str| {
        let class = "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup";
        let own = format!(r#"<collectionProp name="Schedule">{rows}</collectionProp>"#)
            + &string("Unit", "M")
            + &string("ConcurrencyLimit", "40")
            + &string("LogFilename", "");
        let text = plan(&request("r", TO_SHOP, ""))
            .replace("ThreadGroup testname", &format!("{class} testname"));
        let text = text.replace("</ThreadGroup>", &format!("{own}</{class}>"));
        translated(
            &text.replace(r#"<stringProp name="ThreadGroup.num_threads">2</stringProp>"#, ""),
        )
    };
    let (text, obstacles) = group(&(row(["0", "60", "1"]) + &row(["120", "120", "2"])));
    assert_eq!(obstacles, [""; 0]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let stages = r#""stages": - "rate": "0/s" - "rate": "1/s" "over": "1m" - "rate": "2/s" - "rate": "2/s" "over": "2m""#;
    assert!(text.contains(stages), "{text}");
    assert!(text.contains(r#""max_users": 40"#), "{text}");
}

#[test]
fn a_controller_that_is_left_after_each_sample_goes_on_where_it_was() {
    let named = |name: &str| request(name, TO_SHOP, "");
    let repeat = |count: &str, inner: &str| {
        element("LoopController", "l", &string("LoopController.loops", count), inner)
    };
    let simple = |inner: &str| element("GenericController", "s", "", inner);
    let choice = |inner: &str| steps_of(&element("InterleaveControl", "o", "", inner));
    let inner = element("InterleaveControl", "i", "", &(named("b") + &named("c")));
    let (text, obstacles) =
        choice(&(simple(&(named("a") + &inner + &repeat("2", &named("d")))) + &named("e")));
    assert_eq!(obstacles, [""; 0]);
    let names: Vec<&str> =
        text.split("\"name\": \"").skip(1).filter_map(|rest| rest.get(..1)).collect();
    assert_eq!(names, ["a", "b", "c", "d", "d", "e"], "{text}");
    // That of all, that of the plain controller, and the one in it.
    assert_eq!(text.matches("\"round_robin\"").count(), 3, "{text}");
    // Each pass begins a loop anew.
    let (text, obstacles) = choice(&(repeat("2", &(named("a") + &named("b"))) + &named("c")));
    assert_eq!(obstacles, [""; 0]);
    assert_eq!(text.matches("\"name\"").count(), 2, "{text}");
    let without_end = repeat("-1", &named("b"));
    assert_eq!(
        choice(&simple(&(named("a") + &without_end))).1,
        ["s: being left after each sample"]
    );
}

#[test]
fn threads_may_begin_with_another_branch_each() {
    let both = request("a", TO_SHOP, "") + &request("b", TO_SHOP, "");
    let shifted = flag("InterleaveControl.accrossThreads", true);
    let (text, obstacles) = steps_of(&element("InterleaveControl", "i", &shifted, &both));
    assert_eq!(obstacles, [""; 0]);
    assert!(text.contains("== null ? user % 2 :"), "{text}");
    let (_, obstacles) = steps_of(&element("RandomController", "i", &shifted, &both));
    assert_eq!(obstacles, ["i: a first branch that its thread's number decides"]);
}

#[test]
fn assertions_of_a_transaction_with_a_parent_sample_look_at_its_end() {
    let of = |class: &str, properties: &str, parent: bool| {
        let own = format!(r#"<{class} testname="a">{properties}</{class}><hashTree/>"#);
        let below = request("r", TO_SHOP, "") + &own;
        let parent = flag("TransactionController.parent", parent);
        steps_of(&element("TransactionController", "c", &parent, &below))
    };
    let duration = string("DurationAssertion.duration", "20");
    let (text, lacks) = of("DurationAssertion", &duration, true);
    assert_eq!(lacks, [""; 0]);
    let look = r#"- "look": "" "check": "expr": "duration < 21" "name": "a""#;
    assert!(text.contains(look), "{text}");
    assert!(!of("DurationAssertion", &duration, false).0.contains("look"));
    let code = string("Assertion.test_field", "SizeAssertion.response_code")
        + &string("SizeAssertion.size", "3");
    assert_eq!(of("SizeAssertion", &code, true).1, [""; 0]);
    let size = string("SizeAssertion.size", "3");
    assert_eq!(of("SizeAssertion", &size, true).1, ["c: `a`, which looks at its own sample"]);
    let script = string("BeanShellAssertion.query", "Failure = true;");
    let lacks = of("BeanShellAssertion", &script, true).1;
    assert_eq!(lacks, ["c: `a`, which looks at its own sample"]);
    let ignores = r#"<boolProp name="Assertion.assume_success">true</boolProp>"#;
    let why = "c: an assertion that ignores whether its samples failed";
    assert_eq!(of("ResponseAssertion", ignores, true).1.first().map(String::as_str), Some(why));
}
