//! `squall check`: everything that is wrong with a plan at once, soon, whatever the plan.

mod common;

use std::time::{Duration, Instant};

use common::squall;

/// What `squall check` says of a plan, and its exit code.
fn check(plan: &str) -> (String, Option<i32>) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let output = squall(folder.path(), &["check", "plan.yaml"]);
    (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code())
}

#[test]
fn all_errors_of_a_plan_come_at_once() {
    let (errors, code) = check(
        "target: http://127.0.0.1:9\nvars: {a: 1}\nsaed: 5\ndata: {people: {csv: nowhere.csv}}\n\
         thresholds: [\"p99 < 5\", \"avg < 1s\", \"error_rate < 1%\"]\nscenarios:\n  a:\n    \
         load: {users: 5, for: 5 secs}\n    steps:\n    - {get: \"/${b}\", timeout: 1}\n    \
         - {get: \"/${a}\", check: \"status = 200\"}\n    - {get: /, extract: {x: {regex: \"(\"}}}\n    \
         - {get: \"/${x}${undefined(1)}\"}\n    - {get: /, extract: {y: {regexx: a}}}\n    - {get: \"/${y}\"}\n",
    );
    assert_eq!(code, Some(2), "{errors}");
    for (place, words) in [
        ("3:1", "did you mean `seed`"),
        ("4:", "nowhere.csv"),
        ("5:", "p99 < 5"),
        ("5:", "unknown metric `avg`"),
        ("8:", "invalid duration `5 secs`"),
        ("10:", "unknown variable `b`"),
        ("10:", "invalid duration `1`"),
        ("11:", "write `==`"),
        ("12:", "unclosed group"),
        ("13:", "unknown function `undefined()`"),
        ("14:", "did you mean `regex`"),
    ] {
        assert!(errors.contains(words), "{words}\n{errors}");
        assert!(errors.contains(&format!("plan.yaml:{place}")), "{place}\n{errors}");
    }
    // `y` is not unknown because what takes it is wrong, and the load does end.
    assert!(!errors.contains("`y`") && !errors.contains("never ends"), "{errors}");
    assert_eq!(errors.matches("error:").count(), 11, "{errors}");
}

#[test]
fn a_bad_target_is_one_error_whatever_goes_by_it() {
    let (errors, code) = check(
        "target: ftp://a\nscenarios:\n  a:\n    load: {users: 1, for: 1s}\n    steps:\n    - get: /a\n    \
         - set_cookie: {name: b, value: c}\n    - get: /d\n",
    );
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("plan.yaml:1:9: error: invalid target `ftp://a`"), "{errors}");
    assert_eq!(errors.matches("error:").count(), 1, "{errors}");
}

/// Larger than any plan, each in its own way: what is said of it, and that it is said soon. In a release
/// build it takes 2 s at most.
#[test]
fn large_plans_are_refused_soon() {
    let most = Duration::from_secs(20);
    let plan = |more: &str, steps: &str| {
        format!(
            "target: http://127.0.0.1:9\n{more}scenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    steps:\n{steps}"
        )
    };
    let many =
        |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let get = "    - get: /\n";
    let doubled =
        |form: &dyn Fn(usize) -> String| format!("vars:\n  a0: xxxxxxxx\n{}", many(60, form));
    for (text, words) in [
        (plan("", &many(100_000, &|n| format!("    - get: /{n}\n"))), "more than 50000 steps"),
        (
            plan(
                &format!(
                    "vars:\n{}",
                    many(100_000, &|n| format!("  a{n}: &a{n} [x, y]\n  b{n}: *a{n}\n"))
                ),
                get,
            ),
            "more than 400000 values",
        ),
        (plan(&many(50_000, &|n| format!("key{n}: 1\n")), get), "100 errors or more"),
        (
            plan(&doubled(&|n| format!("  a{}: \"${{a{n}}}${{a{n}}}\"\n", n + 1)), get),
            "come to more than 16 MiB",
        ),
        (
            plan(&doubled(&|n| format!("  a{}: [\"${{a{n}}}\", \"${{a{n}}}\"]\n", n + 1)), get),
            "come to more than 16 MiB",
        ),
        (plan("", &many(19_000, &|n| format!("    - get: \"/${{b{n}}}\"\n"))), "19000 errors"),
    ] {
        let start = Instant::now();
        let (errors, code) = check(&text);
        assert_eq!(code, Some(2), "{words}");
        assert!(errors.contains(words), "{words}\n{}", &errors[..errors.len().min(2_000)]);
        assert!(start.elapsed() < most, "{words}: {:?}", start.elapsed());
    }
    let variables = many(100_000, &|n| format!("  v{n}: {n}\n"));
    let steps = many(1_000, &|n| format!("    - get: \"/${{v{n}}}\"\n"));
    let start = Instant::now();
    let (errors, code) = check(&plan(&format!("vars:\n{variables}"), &steps));
    assert_eq!(code, Some(0), "{errors}");
    assert!(start.elapsed() < most, "100,000 variables: {:?}", start.elapsed());
}

/// A variable in a quantity has a use; one of a scenario is known there alone.
#[test]
fn scenarios_have_variables_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = common::target();
    let plan = format!(
        "target: {}\nvars: {{n: 2, name: plan}}\nscenarios:\n  a:\n    vars: {{n: 3, name: own}}\n    \
         load: {{users: \"${{n}}\", iterations: 1}}\n    steps: [{{get: \"/?${{name}}\", name: \"${{name}}\"}}, \
         {{set: {{name: changed}}}}, {{get: /, name: \"${{name}}\"}}]\n  b:\n    \
         load: {{users: \"${{n}}\", iterations: 1}}\n    steps: [{{get: /, name: \"b ${{name}}\"}}]\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let output = squall(folder.path(), &["check", "plan.yaml"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let requests = common::result(folder.path(), &["run", "plan.yaml"], 0)["requests"].to_string();
    for name in ["own", "changed", "b plan"] {
        assert!(requests.contains(&format!("\"{name}\"")), "{name}: {requests}");
    }
    // Three users of `a` with two requests, two of `b` with one.
    assert_eq!(server.stats().requests, 3 + 3 + 2);
}

#[test]
fn a_data_file_that_is_not_there_is_one_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = "target: builtin\ndata: {rows: {csv: nowhere.csv, advance: step}, more: {csv: rows.csv}}\nscenarios: {a: {load: \
                {users: 1, iterations: 1}, steps: [{next_row: rows}, {get: '/${rows.id}', check: rows.id == 1}, {get: '/${moer.id}'}]}}\n";
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    std::fs::write(folder.path().join("rows.csv"), "id\n1\n").expect("writable");
    let output = squall(folder.path(), &["check", "plan.yaml"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("plan.yaml:2:20: error: ") && text.contains("nowhere.csv"), "{text}");
    assert!(text.contains("unknown variable `moer`") && text.contains("2 errors"), "{text}");
}

#[test]
fn devices_and_folders_are_no_plans_and_no_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = squall(folder.path(), &["check", "/dev/zero"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("a device, a pipe or a socket"));
    for file in ["/dev/zero", "/"] {
        let (errors, code) = check(&format!(
            "target: http://127.0.0.1:9\ndata: {{d: {{csv: {file}}}}}\nscenarios: {{a: {{load: {{users: 1, for: 1s}}, \
             steps: [{{get: \"/${{d.x}}\"}}]}}}}\n"
        ));
        assert_eq!(code, Some(2), "{errors}");
        assert!(errors.contains("and not a file"), "{errors}");
    }
}

/// A bare word is a command that was mistyped: it is not loaded as a host.
#[test]
fn a_mistyped_command_is_no_url() {
    let folder = tempfile::tempdir().expect("a folder");
    for (word, hint) in [
        ("version", "--version"),
        ("chek", "did you mean `check`"),
        ("rnu", "did you mean `run`"),
        ("zebra", "http://zebra/"),
    ] {
        let output = squall(folder.path(), &[word]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(hint), "{errors}");
    }
}
