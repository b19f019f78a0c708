//! Monitors in a plan: mistakes with their places, and secrets.

use std::path::Path;

use super::super::*;
use crate::vars::LoadOptions;

#[test]
fn a_plan_is_told_where_it_is_wrong_and_keeps_its_secrets() {
    let read = |monitor: &str| {
        let plan = format!(
            "target: http://127.0.0.1:1\nmonitor:\n  db: {{{monitor}}}\nscenarios: {{a: {{load: {{users: 1, for: 4s}}, steps: [{{get: /}}]}}}}\n"
        );
        load_str("plan", &plan, Path::new("/"), &LoadOptions::default())
    };
    let wrong = read(r#"prometheus: "http://h/metrics", metrics: [up, "up{a}"]"#);
    let wrong = wrong.expect_err("a wrong selector").diagnostics;
    assert!(wrong[0].message.contains("expected `=`, `!=`, `=~` or `!~`"), "{wrong:?}");
    assert_eq!(wrong[0].span.line, 3);
    let good = read(r#"postgres: "postgres://me:s3cretpass@db/shop""#).expect("a plan");
    assert_eq!(good.plan.secrets().mask("x s3cretpass y"), "x *** y");
    let printed = print(&good.plan, true);
    assert!(!printed.contains("s3cretpass") && printed.contains("***@db/shop"), "{printed}");
}

#[test]
fn a_command_is_found_beside_its_plan() {
    let plan = "target: http://127.0.0.1:1\nvars: {host: db1}\nmonitor: {db: {command: [./numbers, \"${host}\"]}}\nscenarios: {a: {load: {users: 1, for: 4s}, steps: [{get: /}]}}\n";
    let own = load_str("plan", plan, Path::new("/plans"), &LoadOptions::default()).expect("a plan");
    assert_eq!(own.plan.monitor[0].shown(), "command /plans/./numbers db1");
}
