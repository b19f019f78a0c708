//! `squall check` of plans in which many steps have a lot in common: what is said of them, and that it is said soon.
//! In a release build it takes 2 s and 512 MB at most. No test looks at the time: what each step inherits multiplies the work and
//! the memory by thousands where it is not bounded, and whoever runs the tests ends one that hangs.

use crate::common::squall;

/// A plan with these lines before its one scenario, and these steps.
fn plan(more: &str, steps: &str) -> String {
    format!(
        "target: http://127.0.0.1:9\n{more}scenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    steps:\n{steps}"
    )
}

/// So many texts, each made of its number.
fn many(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect()
}

/// Expects what is said of a plan; nothing: it is a good one.
fn expect(text: &str, words: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plan.yaml"), text).expect("writable");
    let output = squall(folder.path(), &["check", "plan.yaml"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    let start = &text[..text.len().min(200)];
    assert_eq!(
        output.status.code(),
        Some(if words.is_empty() { 0 } else { 2 }),
        "{start}\n{errors}"
    );
    assert!(errors.contains(words), "{start}\n{errors}");
    if !words.is_empty() {
        assert_eq!(errors.matches("error:").count(), 1, "{start}\n{errors}");
    }
}

/// What all steps inherit counts for each of them.
#[test]
fn what_steps_inherit_is_bounded() {
    let too_much =
        "the default headers, tags and credentials of all steps come to more than 64 MiB";
    let get = |count: usize| many(count, |_| "    - get: /\n".to_owned());
    let tags = |count: usize| {
        format!("defaults: {{tags: {{{}}}}}\n", many(count, |n| format!("t{n}: x,")))
    };
    for count in [10_000, 50_000] {
        expect(&plan(&tags(count), &get(10_000)), too_much);
    }
    let steps = get(10_000) + "thresholds: [\"p99(t1: y) < 1s\"]\n";
    expect(&plan(&tags(10_000), &steps), too_much);
    let headers = |count: usize, value: &str| {
        let all = many(count, |n| format!("h{n}: \"{value}{n}\","));
        format!("vars: {{a: b}}\ndefaults: {{headers: {{{all}}}}}\n")
    };
    expect(&plan(&headers(50_000, ""), &get(10_000)), too_much);
    expect(&plan(&headers(5_000, "${a}"), &get(40_000)), too_much);
    let long = "x".repeat(1_000_000);
    for defaults in [format!("headers: {{x: {long}}}"), format!("auth: {{bearer: {long}}}")] {
        expect(&plan(&format!("defaults: {{{defaults}}}\n"), &get(10_000)), too_much);
    }
    // Scenarios with defaults of their own have those of the plan beside them.
    let scenario = |n: usize| {
        format!("  s{n}: {{weight: 1, defaults: {{redirects: 1}}, steps: [{{get: /}}]}}\n")
    };
    let load = "load: {users: 1, for: 1s}\n";
    let scenarios = format!("{load}scenarios:\n{}", many(10_000, scenario));
    expect(&format!("target: http://127.0.0.1:9\n{}{scenarios}", headers(5_000, "")), too_much);
}

/// As much as plans have, and more: one request has many headers, many steps have some.
#[test]
fn what_plans_inherit_is_no_problem() {
    let get = many(40_000, |_| "    - get: /\n".to_owned());
    let headers = many(10, |n| format!("x-header-{n}: value {n},"));
    let tags = many(5, |n| format!("tag{n}: value {n},"));
    let defaults = format!("defaults: {{headers: {{{headers}}}, tags: {{{tags}}}}}\n");
    expect(&plan(&defaults, &get), "");
    let headers = many(50_000, |n| format!("h{n}: x,"));
    expect(&plan(&format!("defaults: {{headers: {{{headers}}}}}\n"), "    - get: /\n"), "");
    let tags = many(50_000, |n| format!("t{n}: x,"));
    expect(&plan(&format!("defaults: {{tags: {{{tags}}}}}\n"), "    - get: /\n"), "");
}

/// Names are looked up, not searched for: of jars, places, lines, hosts, data and secrets.
#[test]
fn many_names_are_found_soon() {
    let jars =
        |n: usize| format!("    - {{get: /, name: x, cookie_jar: j{n}, cache_name: c{n}}}\n");
    expect(&plan("", &many(40_000, jars)), "");
    let hosts = format!("allow_hosts: [{}]\n", many(60_000, |n| format!("\"*.h{n}.example\",")));
    let urls = |n: usize| format!("    - {{get: \"http://a.h{n}.example/\", name: x}}\n");
    expect(&plan(&hosts, &many(40_000, urls)), "");
    let meet = |n: usize| format!("    - rendezvous: {{users: 1, name: r{n}}}\n");
    expect(&plan("", &(many(40_000, meet) + "    - get: /\n")), "");
    let vars = format!("vars:\n{}", many(30_000, |n| format!("  v{n}: x\n")));
    let headers = |n: usize| format!("    - {{get: /, name: x, headers: {{h: \"${{v{n}}}\"}}}}\n");
    expect(&plan(&vars, &many(30_000, headers)), "");
}
