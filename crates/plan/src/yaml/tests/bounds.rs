//! Plans that are too large, or no files: an error that says so. No test looks at the time, which on a busy machine says nothing:
//! work that grew with the square of such a plan, or doubled with each of its variables, would take minutes or never end, and
//! whoever runs the tests ends one that hangs.

use super::*;

/// What is said of a plan.
fn refused(text: &str) -> String {
    read(text).expect_err("too large")
}

fn plan(steps: &str) -> String {
    format!("scenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    steps:\n{steps}")
}

#[test]
fn the_number_of_steps_is_bounded() {
    let steps: String = (0..100_000).map(|n| format!("    - get: /{n}\n")).collect();
    assert!(refused(&plan(&steps)).contains("more than 50000 steps"));
}

#[test]
fn aliases_are_bounded() {
    let aliases: String =
        (0..100_000).map(|n| format!("  a{n}: &a{n} [x, y]\n  b{n}: *a{n}\n")).collect();
    let errors = refused(&format!("vars:\n{aliases}"));
    assert!(errors.contains("more than 400000 values"), "{errors}");
}

#[test]
fn errors_are_bounded() {
    let keys: String = (0..50_000).map(|n| format!("userz{n}: 1\n")).collect();
    let errors = refused(&keys);
    assert!(errors.matches("error:").count() <= 100);
}

/// Warnings have a bound of their own: an error behind many of them is still one.
#[test]
fn warnings_hide_no_errors() {
    let steps: String = (0..300).map(|n| format!("    - get: \"/{{{{id{n}}}}}\"\n")).collect();
    let errors = refused(&plan(&format!("{steps}    - gett: /\n")));
    assert!(errors.contains("did you mean `get`?"), "{errors}");
    assert_eq!(errors.matches("error:").count(), 1, "{errors}");
}

#[test]
fn variables_that_double_each_other_are_bounded() {
    let text: String =
        (1..60).map(|n| format!("  a{n}: \"${{a{}}}${{a{}}}\"\n", n - 1, n - 1)).collect();
    let list: String =
        (1..60).map(|n| format!("  b{n}: [\"${{b{}}}\", \"${{b{}}}\"]\n", n - 1, n - 1)).collect();
    for vars in [format!("  a0: xxxxxxxx\n{text}"), format!("  b0: xxxxxxxx\n{list}")] {
        let text = format!(
            "vars:\n{vars}scenarios: {{a: {{load: {{users: \"${{{}}}\", for: 1s}}, steps: [{{get: /}}]}}}}",
            if vars.contains("a0") { "a59" } else { "b59" }
        );
        let errors = refused(&text);
        assert!(errors.contains("error:"), "{errors}");
    }
}

#[test]
fn only_files_are_plans() {
    let errors = read(&plan("    - include: /dev/zero\n")).expect_err("a device");
    assert!(errors.contains("a device, a pipe or a socket"), "{errors}");
}
