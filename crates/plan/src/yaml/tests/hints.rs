//! What people write who come from other tools, or who slip, and what they are told.

use super::*;

/// A plan with these steps.
fn steps(steps: &str) -> String {
    format!("scenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    steps:\n{steps}\n")
}

/// A plan with this load.
fn load(load: &str) -> String {
    format!("scenarios: {{a: {{load: {{{load}}}, steps: [{{get: /}}]}}}}")
}

fn warnings(text: &str) -> String {
    let loaded = load_str("plan.yaml", text, Path::new(""), &LoadOptions::default());
    let loaded = loaded.unwrap_or_else(|failure| panic!("{:?}", failure.diagnostics));
    loaded.warnings.iter().map(|warning| loaded.sources.render(warning)).collect()
}

/// A list that is not indented leaves its step empty.
#[test]
fn steps_without_steps_are_errors() {
    for step in [
        "      - repeat: 3\n        steps:\n      - get: /",
        "      - repeat: 3\n      - get: /",
        "      - repeat: 3\n        steps: []",
        "      - group: a\n      - get: /",
        "      - if: 1 == 1\n        then:\n      - get: /",
        "      - if: 1 == 1\n      - get: /",
        "      - if: 1 == 1\n        then: [{get: /}]\n        else:\n      - get: /",
        "      - choose:\n      - get: /",
        "      - choose: [{weight: 1}]",
        "      - while: 1 == 1\n      - get: /",
        "      - for_each: {a: \"[1]\"}\n      - get: /",
        "      - once_per_user:\n      - get: /",
        "      - parallel:\n      - get: /",
        "      - round_robin: [{steps: []}]",
    ] {
        let errors = read(&steps(step)).expect_err(step);
        assert!(
            ["needs `", "at least one step", "is empty"].iter().any(|words| errors.contains(words)),
            "{step}\n{errors}"
        );
        assert!(
            errors.contains("plan.yaml:5:")
                || errors.contains("plan.yaml:6:")
                || errors.contains("plan.yaml:7:"),
            "{errors}"
        );
        assert_eq!(errors.matches("error:").count(), 1, "{step}\n{errors}");
    }
    for step in ["repeat: 3", "parallel:", "choose:", "round_robin:", "shuffle:", "once_per_user:"]
    {
        let errors = read(&steps(&format!("      - {step}\n      - get: /"))).expect_err(step);
        assert!(errors.contains("indented further"), "{step}\n{errors}");
    }
    // A list of branches is no list of steps.
    let errors = "      - choose:\n      - weight: 1\n        steps: [{get: /}]\n      - steps: []";
    let errors = read(&steps(errors)).expect_err("not indented");
    for words in ["`choose` is empty", "unknown step `weight`", "unknown step `steps`"] {
        assert!(errors.contains(words), "{words}\n{errors}");
    }
    assert_eq!(errors.matches("further than that key").count(), 2, "{errors}");
}

#[test]
fn what_has_nothing_behind_it_is_empty() {
    for (step, message) in [
        ("      - get:", "5:9: error: `get` is empty"),
        ("      - {name: x, get: }", "5:19: error: `get` is empty"),
        ("      - request:", "5:9: error: `request` is empty"),
        ("      - group:", "5:9: error: a group needs `steps`, and `group` is empty"),
        ("      - {}", "5:9: error: expected a step, found an empty mapping"),
    ] {
        let errors = read(&steps(step)).expect_err(step);
        assert!(errors.contains(message), "{step}\n{errors}");
        assert_eq!(errors.matches("error:").count(), 1, "{step}\n{errors}");
    }
}

/// Only what is known to be a secret by its place: the plan cannot be read.
#[test]
fn credentials_are_not_quoted_whatever_their_keys() {
    let auth = [
        "{basic: {user: x, pasword: SECRET-1234}}",
        "{digest: \"SECRET-1234\"}",
        "[SECRET-1234]",
        "SECRET-1234",
        "\n    basic:\n      user: x\n      pasword: SECRET-1234",
    ];
    for auth in auth {
        let text = format!("defaults:\n  auth: {auth}\n{}", load("users: 1, for: 1s"));
        let errors = read(&text).expect_err(auth);
        assert!(errors.contains("***") && !errors.contains("SECRET"), "{auth}\n{errors}");
    }
}

/// As a float it would lose digits, and an id with other digits is another one.
#[test]
fn whole_numbers_keep_their_digits_or_are_errors() {
    for number in ["9223372036854775808", "-9223372036854775809", "0xFFFFFFFFFFFFFFFF"] {
        for text in [
            steps(&format!("      - post: /\n        json: {{a: [{number}]}}")),
            format!("vars: {{a: {number}}}\n{}", load("users: 1, for: 1s")),
        ] {
            let errors = read(&text).expect_err(number);
            let message =
                format!("from -9223372036854775808 to 9223372036854775807, found `{number}`");
            assert!(errors.contains(&message), "{errors}");
            assert!(errors.contains("put quotes around it"), "{errors}");
            assert_eq!(errors.matches("error:").count(), 1, "{errors}");
        }
        let quoted = steps(&format!("      - post: /\n        json: {{a: \"{number}\"}}"));
        read(&quoted).unwrap_or_else(|errors| panic!("{errors}"));
    }
}

#[test]
fn tags_of_yaml_are_refused() {
    for value in
        ["!!str 5", "!!int \"5\"", "!!bool \"true\"", "!!null x", "!!seq [1]", "!!map {a: 1}"]
    {
        let text = format!("vars: {{a: {value}}}\n{}", load("users: 1, for: 1s"));
        let errors = read(&text).expect_err(value);
        let tag = value.split(' ').next().unwrap_or_default();
        assert!(errors.contains(&format!("unsupported YAML tag `{tag}`")), "{errors}");
        assert!(errors.contains("leave it out: what stands in quotes is a text"), "{errors}");
    }
}

#[test]
fn a_load_of_nothing_is_an_error() {
    for (text, is_good) in [
        ("users: 0, for: 1s", false),
        ("rate: 0/s, for: 1s", false),
        ("rate: 0/s, stages: [{rate: 0/s, over: 1s}]", false),
        ("users: 0, stages: [{users: 0, over: 1s}]", false),
        ("rate: 0/s, stages: [{rate: 5/s, over: 1s}]", true),
        ("users: 0, stages: [{users: 5, over: 1s}]", true),
    ] {
        match read(&load(text)) {
            Ok(_) => assert!(is_good, "{text}"),
            Err(errors) => assert!(!is_good && errors.contains("does nothing"), "{text}\n{errors}"),
        }
    }
}

#[test]
fn words_of_other_tools_get_a_hint() {
    for (text, hint) in [
        (steps("      - sleep: 1s"), "did you mean `think`?"),
        (steps("      - get: /\n        assert: status == 200"), "did you mean `check`?"),
        (steps("      - assert: status == 200"), "`check` belongs to a request"),
        (steps("      - expect: status == 200"), "`check` belongs to a request"),
        (steps("      - zebra: 1"), "unknown step `zebra`"),
        (steps("      - get: /\n      - check: status == 200"), "`check` belongs to a request"),
        (load("vus: 5, for: 1s"), "did you mean `users`?"),
        (load("users: 5, duration: 1s"), "did you mean `for`?"),
        (load("stages: [{users: 5, for: 1s}]"), "did you mean `over`?"),
        (load("rps: 5/s, for: 1s"), "did you mean `rate`?"),
        (load("rate: 5/s, iterations: 5, for: 1s"), "replace `rate` by `users`"),
        (format!("vus: 5\n{}", load("users: 1, for: 1s")), "`users` belongs to a load"),
        (format!("iterations: 5\n{}", load("users: 1, for: 1s")), "`iterations` belongs to a load"),
        (
            steps("      - get: /\n        check: {status: 204}"),
            "a check is an expression, such as `check: status == 204`",
        ),
        (steps("      - get: /\n        unpack: true"), "`decompress` belongs to a body"),
        (steps("      - get: /\n        grace: 1s"), "`graceful_stop` belongs to the plan itself"),
        (
            steps("      - get: /\n        connection: {size: 1}"),
            "`connections` belongs to the plan itself",
        ),
        (
            steps("      - get: /\n        zebra: 1"),
            "a request has get, post, put, patch, delete, head, options, request, body,",
        ),
        (steps("      - get: {{path}}"), "a variable is written \"${path}\""),
        (steps("      - get: {{a-b}}"), "a variable is written \"${a_b}\""),
        (steps("      - get: &x"), "put quotes around a text that begins with `&` or `#`"),
        (steps("      - get: #x"), "put quotes around a text that begins with `&` or `#`"),
        (steps("      - {get: &x , check: 'true'}"), "begins with `&` or `#`"),
        (steps("      - get: \"a"), "ends with the same quote"),
        (steps("      - get: [a"), "put quotes around a text that begins with `[` or `{`"),
        (steps("      - get: {a"), "put quotes around a text that begins with `[` or `{`"),
        (steps("      - get: {a\n      - get: /\n      - get: /"), "that begins with `[` or `{`"),
        (steps("      - get: - x"), "put quotes around a text that begins with `- `"),
        (steps("      - {get: /, headers: {a: }}"), "write \"\" for an empty one"),
        (steps("      - {post: /, form: {a: ~}}"), "write \"\" for an empty one"),
        (steps("      - {get: /, tags: {a: null}}"), "write \"\" for an empty one"),
    ] {
        let errors = read(&text).expect_err(&text);
        assert!(errors.contains(hint), "{text}\n{errors}");
        assert_eq!(errors.matches("error:").count(), 1, "{errors}");
    }
}

#[test]
fn what_may_not_be_meant_is_a_warning() {
    for (text, words) in [
        (load("users: 5, ramp: 2m, for: 1m"), "the ramp (2m) is longer than the load"),
        (load("rate: 5/s, ramp: 2m, for: 1m"), "`for` includes the ramp"),
        (steps("      - get: /\n        check: status == \"200\""), "in status == 200"),
        (
            steps("      - get: /\n        check: '!(\"200\" == status)'"),
            "compared here with the text",
        ),
        (
            steps("      - get: /\n        check: status == \"2xx\""),
            "write status >= 200 && status < 300",
        ),
        (steps("      - get: /\n        check: status in [\"200\"]"), "as in status == 200"),
        (steps("      - get: /\n        check: body_bytes == \"5\""), "as in body_bytes == 5"),
        (steps("      - get: /\n        check: duration < \"300ms\""), "as in duration < 300ms"),
        (steps("      - get: \"/{{ .id }}\""), "a variable is written \"${id}\""),
        (steps("      - get: \"/{{a-b}}\""), "a variable is written \"${a_b}\""),
        (steps("      - get: /\n        tags: {a: \"{{x}}\"}"), "it stays as it is"),
        (steps("      - get: \"/{{id}}\""), "a variable is written \"${id}\""),
        (steps("      - {post: /, json: {a: \"{{id}}\"}}"), "a variable is written \"${id}\""),
    ] {
        let warnings = warnings(&text);
        assert!(warnings.contains(words), "{text}\n{warnings}");
        assert_eq!(warnings.matches("warning:").count(), 1, "{warnings}");
    }
    for text in [
        load("users: 5, ramp: 1m, for: 1m"),
        steps("      - get: /\n        check: status == 200"),
        steps("      - post: /\n        body: '{\"a\":{\"b\":1}}'"),
    ] {
        assert_eq!(warnings(&text), "", "{text}");
    }
}

/// A wrong value is one error: not also what would be wrong if nothing stood there.
#[test]
fn a_wrong_value_is_said_once() {
    for text in [
        load("users: 5, for: 5 secs"),
        load("users: 5, for: '5'"),
        load("usrs: 5, for: 1s"),
        "scenarios: {a: {load: 5, steps: [{get: /}]}}".to_owned(),
        "load: {users: x, for: 1s}\nscenarios: {a: {weight: 1, steps: [{get: /}]}}".to_owned(),
        steps("      - get: /\n        extract: {x: {regexx: a}}"),
    ] {
        let errors = read(&text).expect_err(&text);
        assert_eq!(errors.matches("error:").count(), 1, "{text}\n{errors}");
    }
}

#[test]
fn texts_that_need_quotes_get_a_hint() {
    for (text, hint) in [
        ("scenarios: {a: {steps: [{get: ${a}}]}}", "put quotes around a text with `${...}`"),
        ("vars: {a: !x}\nscenarios: {}", "put quotes around a text that begins with `!`"),
        ("defaults: {headers: {Accept: */*}}", "put quotes around a text that begins with `*`"),
        (
            "defaults:\n  headers:\n    Accept: */*\n",
            "put quotes around a text that begins with `*`",
        ),
        ("name: a: b\n", "put quotes around a text that holds `: `"),
        ("name: @a\n", "put quotes"),
    ] {
        let errors = read(text).expect_err(text);
        assert!(errors.contains(hint), "{text}\n{errors}");
    }
}

#[test]
fn values_without_quotes_are_those_of_yaml_1_2() {
    use crate::model::Json;
    let plan = read(
        "vars: {a: True, b: 0o10, c: 0x1F, d: 'True', e: yes, f: NULL, g: 1e3}\nscenarios: {s: {load: {users: 0x2, for: 1s}, steps: [{get: /}]}}",
    );
    let plan = plan.unwrap_or_else(|errors| panic!("{errors}"));
    let text = |text: &str| Json::Text(crate::template::Template::text(text));
    let values: Vec<Json> = plan.vars.into_iter().map(|var| var.value).collect();
    let expected = [
        Json::Bool(true),
        Json::Int(8),
        Json::Int(31),
        text("True"),
        text("yes"),
        Json::Null,
        Json::Float(1000.0),
    ];
    assert_eq!(values, expected);
}

#[test]
fn quantities_may_hold_variables() {
    let text = "vars: {n: 5, t: 2s, big: \"${n * 10}\", odd: \"${random(1, 2)}\"}\n".to_owned();
    let good = text.clone()
        + "scenarios: {a: {load: {users: \"${big}\", ramp: \"${t}\", for: \"${n}m\"}, defaults: {timeout: \"${t}\"}, \
           steps: [{think: \"${t}..${n}s\"}, {get: /, timeout: {total: \"${n}s\"}}]}}";
    let set = LoadOptions { set: vec![("n".to_owned(), "7".to_owned())], ..LoadOptions::default() };
    for (options, users, minutes) in [(LoadOptions::default(), 50, 5), (set, 70, 7)] {
        let plan = load_str("p", &good, Path::new(""), &options).expect("a good plan").plan;
        let Some(crate::model::Load::Closed(closed)) =
            plan.scenarios[0].load.clone().map(|load| load.value)
        else {
            panic!("a closed load");
        };
        assert_eq!(closed.users, Some(users));
        assert_eq!(closed.duration, Some(std::time::Duration::from_secs(60 * minutes)));
    }
    for (users, words) in [
        ("${m}", "unknown variable `m`"),
        ("${odd}", "`odd` is not known before the run, or not the same each time"),
        ("${t}", "expected a whole number"),
        ("${n", "unclosed"),
    ] {
        let bad = format!(
            "{text}scenarios: {{a: {{load: {{users: \"{users}\", for: 1s}}, steps: [{{get: /}}]}}}}"
        );
        let errors = read(&bad).expect_err(users);
        assert!(errors.contains(words), "{errors}");
        assert_eq!(errors.matches("error:").count(), 1, "{errors}");
    }
}

#[test]
fn a_scenario_has_variables_of_its_own() {
    let text = "vars: {n: 5, m: 1}\nscenarios:\n  a: {vars: {n: 7, k: \"${n + m}\"}, load: {users: \"${k}\", for: 1s}, steps: [{get: /}]}\n  b: {load: {users: \"${n}\", for: 1s}, steps: [{get: /}]}\n";
    let users = |options: &LoadOptions| -> Vec<Option<u64>> {
        let plan = load_str("p", text, Path::new(""), options).expect("a good plan").plan;
        let loads = plan.scenarios.into_iter().filter_map(|scenario| scenario.load);
        loads
            .map(|load| match load.value {
                crate::model::Load::Closed(closed) => closed.users,
                crate::model::Load::Open(_) => None,
            })
            .collect()
    };
    assert_eq!(users(&LoadOptions::default()), [Some(8), Some(5)]);
    let set = LoadOptions { set: vec![("n".to_owned(), "2".to_owned())], ..LoadOptions::default() };
    assert_eq!(users(&set), [Some(3), Some(2)]);
    let errors =
        read(&text.replace("users: \"${n}\"", "users: \"${k}\"")).expect_err("of another scenario");
    assert!(errors.contains("unknown variable `k`"), "{errors}");
}

#[test]
fn a_list_repeats_a_key() {
    let plan = read(&steps(
        "      - {post: /, query: {id: [1, 2], a: b}, headers: {X: [a, b]}, form: {f: [1, 2]}}\n      - {post: /, multipart: {m: [a, {file: x}]}}",
    ));
    let plan = plan.unwrap_or_else(|errors| panic!("{errors}"));
    let crate::model::StepKind::Request(request) = &plan.scenarios[0].steps[0].kind else {
        panic!()
    };
    let shown = |pairs: &[(crate::template::Template, crate::template::Template)]| -> Vec<String> {
        pairs.iter().map(|(name, value)| format!("{}={}", name.source(), value.source())).collect()
    };
    assert_eq!(shown(&request.query), ["id=1", "id=2", "a=b"]);
    assert_eq!(shown(&request.headers), ["X=a", "X=b"]);
    let again = read(&print(&plan, false)).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(again, plan);
}
