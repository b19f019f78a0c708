//! Setup and teardown: what ends them, and what makes them fail beside requests.

use squall_runner::{FinishedRun, PhaseEnd};

use crate::common::{End, Steps, options, outcome, target};

/// Runs a plan with these sections around one request, and tells how many requests the target has seen.
fn run(sections: &str) -> (FinishedRun, u64) {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let load = "scenarios: {a: {load: {users: 1, iterations: 1}, steps: [{get: /}]}}";
    let plan = format!("target: {}\nvars: {{q: x}}\n{sections}\n{load}\n", server.url());
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let outcome = outcome(folder.path(), &options());
    (outcome, server.stats().requests)
}

#[test]
fn an_expression_that_fails_ends_the_setup() {
    for step in ["set: {z: '${int(q)}'}", "log: '${int(q)}'", "if: int(q) == 1, then: [{get: /}]"] {
        let (outcome, requests) = run(&format!("setup: [{{{step}}}, {{get: /never}}]"));
        assert_eq!(requests, 0, "{step}");
        let PhaseEnd::Failed(reason) = &outcome.phases[0].end else { panic!("{outcome:?}") };
        assert!(reason.contains("`x` is not a number"), "{reason}");
        assert!(!outcome.run.passed() && !outcome.has_load, "{step}");
    }
}

#[test]
fn an_expression_or_a_look_that_fails_makes_a_teardown_fail_which_goes_on() {
    for step in [
        "set: {z: '${int(q)}'}",
        "look: abc, check: body == '1'",
        "look: abc, extract: {z: {regex: 'nothing(.)'}}",
    ] {
        let (outcome, requests) = run(&format!("teardown: [{{{step}}}, {{get: /after}}]"));
        assert_eq!(requests, 2, "{step}");
        let down = outcome.phases.last().expect("a teardown");
        assert!(matches!(&down.end, PhaseEnd::Failed(_)), "{step}: {down:?}");
        assert!(!outcome.run.passed(), "{step}");
    }
}

#[test]
fn a_look_that_fails_says_why_a_setup_failed() {
    let check = r#"{look: abc, check: {expr: 'body == "1"', name: is one}}"#;
    let (outcome, requests) = run(&format!("setup: [{check}, {{get: /never}}]"));
    assert_eq!(requests, 0);
    let PhaseEnd::Failed(reason) = &outcome.phases[0].end else { panic!("{outcome:?}") };
    assert!(reason.contains("look: ") && reason.contains("is one"), "{reason}");
}

/// The load has ended: there is nothing more to stop.
#[test]
fn a_teardown_may_stop_the_run() {
    let (outcome, requests) = run("teardown: [{stop: run}, {get: /never}]");
    assert_eq!(requests, 1);
    assert_eq!(outcome.phases.last().map(|down| &down.end), Some(&PhaseEnd::Done));
    assert!(outcome.run.passed());
}

/// On one of many machines: the setup has run on another, where the teardown will.
#[test]
fn what_a_setup_elsewhere_has_found_is_the_loads() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nsetup: [{{get: /status/500, extract: {{page: {{regex: '(.)'}}}}}}, {{exec: [missing, program]}}]\nteardown: [{{get: /status/500}}]\nscenarios: {{a: {{load: {{users: 1, iterations: 3}}, steps: [{{get: '/status/${{page}}'}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let given = vec![("page".to_owned(), squall_plan::value::Value::Int(204))];
    let options = squall_runner::Options { given: Some(given), allow_exec: false, ..options() };
    let outcome = outcome(folder.path(), &options);
    assert_eq!(outcome.phases.len(), 1, "{:?}", outcome.phases);
    assert_eq!(server.stats().requests, 3);
    let all = outcome.run.totals.all();
    assert_eq!((all.count, all.errors), (3, 0), "{:?}", outcome.run.log);
}

/// A host that only a response names is refused when it is connected to, a known one before anything is sent.
#[test]
fn requests_go_to_allowed_hosts_alone() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nallow_hosts: ['*']\nvars: {{other: 127.0.0.2}}\nscenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{{get: /}}, {{set: {{host: '${{lower(other)}}'}}}}, {{get: 'http://${{host}}:1/'}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let allowed = |hosts: &[&str]| {
        let list = squall_base::AllowList::read(hosts).expect("patterns");
        squall_runner::Options { allowed: Some(list.into()), ..options() }
    };
    let outcome = outcome(folder.path(), &allowed(&["127.0.0.1", "shop.test"]));
    let kinds: Vec<_> = outcome.run.totals.all().error_kinds.clone();
    assert_eq!(server.stats().requests, 1);
    assert_eq!(kinds, [(squall_metrics::ErrorKind::HostNotAllowed, 1)], "{:?}", outcome.run.log);
    let plan = squall_runner::load(&folder.path().join("plan.yaml"), &Default::default());
    let handle = squall_runner::Handle::default();
    let refused =
        squall_runner::run(&plan.expect("a plan"), &allowed(&["shop.test"]), Vec::new(), &handle);
    let text = refused.expect_err("not its host").text;
    assert!(text.contains("--allow-hosts 127.0.0.1"), "{text}");
    assert_eq!(server.stats().requests, 1);
}

#[test]
fn a_look_that_finds_nothing_fails_a_run() {
    let steps = "\n      - get: /\n      - {look: abc, extract: {z: {regex: 'nothing(.)'}}}";
    let json = Steps::one(&target().url(), steps).run(End::Failed);
    assert_eq!(json["outcome"]["reasons"][0]["kind"], "expressions", "{}", json["outcome"]);
}
