//! `squall check`: everything that is wrong with a plan at once, soon, whatever the plan.

use crate::common::squall;

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

/// What only the compiler finds has its place and a hint that helps.
#[test]
fn what_is_found_late_has_a_place_and_a_hint() {
    let plan = |top: &str, step: &str| {
        format!(
            "target: http://127.0.0.1:9\n{top}\nscenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{step}]}}}}\n"
        )
    };
    for (top, step, place, words) in [
        ("", "{next_row: x}", "3:", "hint: the plan has no `data`: add a source"),
        (
            "data: {p: {numbers: {from: 5, to: 1}}}",
            "{get: /}",
            "2:8",
            "`to` (1) is below `from` (5)",
        ),
        ("allow_hosts: 'http://x'", "{get: /}", "2:", "it is written without a scheme"),
        ("connections: {proxy: 'http://x:1/path'}", "{get: /}", "2:", "a proxy has no path"),
        ("", "{get: /, extract: {a: {css: 'a['}}}", "3:", "invalid CSS selector: expected a name"),
        (
            "",
            "{repeat: -1, steps: [{get: /}]}",
            "3:",
            "expected a whole number, 0 or more, found `-1`",
        ),
        ("", "{repeat: '1.5', steps: [{get: /}]}", "3:", "0 or more, found `1.5`"),
        ("", "{for_each: {x: '5'}, steps: [{get: /}]}", "3:", "expected a list, found `5`"),
        ("", "{if: '5', then: [{get: /}]}", "3:", "expected true or false, found `5`"),
        ("", "{while: '\"true\"', steps: [{get: /}]}", "3:", "expected true or false"),
        ("", "{get: /, timeout: 0s}", "3:", "a timeout of `0s` is over before anything is done"),
        (
            "data: {p: {csv: 'data/${user}.csv'}}",
            "{get: /}",
            "2:18",
            "a path without variables is expected here, found `data/${user}.csv`",
        ),
        (
            "",
            "{post: /, body: hello, headers: {Content-Length: '507'}}",
            "3:",
            "`Content-Length: 507` is wrong: the body has 5 bytes",
        ),
        ("", "{get: /, headers: {content-length: 3}}", "3:", "is wrong: the body has 0 bytes"),
        (
            "",
            "{post: /, body: '${user}', headers: {Content-Length: '1'}}",
            "3:",
            "nobody can tell before the run whether `Content-Length: 1` is right",
        ),
        (
            "",
            "{post: /, form: {a: b}, headers: {Content-Length: ['3', '3']}}",
            "3:",
            "`Content-Length` is given twice",
        ),
        (
            "",
            "{post: /, body: x, headers: {Transfer-Encoding: chunked}}",
            "3:",
            "`Transfer-Encoding: chunked` cannot be sent: every body is sent with its length",
        ),
        (
            "",
            "{post: /, multipart: {a: b}, headers: {Content-Type: application/json}}",
            "3:",
            "`Content-Type: application/json` does not fit a multipart body",
        ),
        (
            "",
            "{post: /, multipart: {a: b}, headers: {Content-Type: 'multipart/form-data; boundary=\"ä\"'}}",
            "3:",
            "invalid boundary `ä`",
        ),
    ] {
        let (errors, code) = check(&plan(top, step));
        assert_eq!(code, Some(2), "{errors}");
        assert!(errors.contains(&format!("plan.yaml:{place}")), "{place}\n{errors}");
        assert!(errors.contains(words), "{words}\n{errors}");
        assert_eq!(errors.matches("error:").count(), 1, "{errors}");
    }
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

#[test]
fn a_bad_url_of_the_one_line_command_is_one_error() {
    let folder = tempfile::tempdir().expect("a folder");
    for (url, says) in [
        (
            "http://127.0.0.1:99999/",
            "error: invalid target `http://127.0.0.1:99999/`: its port must be",
        ),
        ("http://", "error: invalid target `http://`: it has no host"),
        ("ftp://127.0.0.1/", "error: invalid target `ftp://127.0.0.1/`: its scheme is `ftp`"),
        ("https:127.0.0.1", "did you mean `https://127.0.0.1`?"),
        ("http:/127.0.0.1:1/", "did you mean `http://127.0.0.1:1/`?"),
        ("http//127.0.0.1:1", "did you mean `http://127.0.0.1:1`?"),
    ] {
        let output = squall(folder.path(), &[url, "-n", "1"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{url}: {errors}");
        assert!(errors.contains(says), "{url}: {errors}");
        assert_eq!(errors.matches("error:").count(), 1, "{url}: {errors}");
    }
}

// No test looks at the time that the largest plans take: on a busy machine it says nothing. Work that doubles with each variable, or
// that each step multiplies, would not end before whoever runs the tests ends it; that of constants is counted in units.

/// A plan with these lines before its one scenario, and these steps.
fn plan(more: &str, steps: &str) -> String {
    format!(
        "target: http://127.0.0.1:9\n{more}scenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    steps:\n{steps}"
    )
}

/// So many lines, each made of its number.
fn many(count: usize, line: &dyn Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// Larger than any plan, each in its own way: what is said of it, and that it is said soon. In a release
/// build it takes 2 s at most.
#[test]
fn large_plans_are_refused_soon() {
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
        let (errors, code) = check(&text);
        assert_eq!(code, Some(2), "{words}");
        assert!(errors.contains(words), "{words}\n{}", &errors[..errors.len().min(2_000)]);
    }
    let variables = many(100_000, &|n| format!("  v{n}: {n}\n"));
    let steps = many(1_000, &|n| format!("    - get: \"/${{v{n}}}\"\n"));
    let (errors, code) = check(&plan(&format!("vars:\n{variables}"), &steps));
    assert_eq!(code, Some(0), "{errors}");
}

/// What is constant is evaluated before the run, all of it within one bound of work and one of memory; what is
/// beyond is evaluated in the run, and that is said. In a release build it takes 2 s and 512 MB at most.
#[test]
fn constants_are_evaluated_within_bounds() {
    let big = format!("vars: {{big: \"{}\"}}\n", "x".repeat(8_000_000));
    let list = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0]";
    let nested = ["a", "b", "c", "d", "e"]
        .iter()
        .rev()
        .fold(format!("{list}.all(f, f > -1)"), |inner, name| {
            format!("{list}.all({name}, {inner})")
        });
    for (text, code, words) in [
        (
            plan(&big, &many(400, &|n| format!("    - {{post: /, body: \"a${{big}}{n}\"}}\n"))),
            0,
            "warning: the constants of the plan come to more than 64 MiB",
        ),
        (plan(&big, &many(400, &|_| "    - {post: /, body: \"${big}\"}\n".to_owned())), 0, ""),
        (
            plan(&big, &many(400, &|n| format!("    - set: {{v{n}: \"a${{big}}{n}\"}}\n"))),
            0,
            "warning: the constants of the plan come to more than 64 MiB",
        ),
        (
            plan(&big, &many(400, &|n| format!("    - get: \"/{n}?${{sha512(big)}}\"\n"))),
            0,
            "warning: the constants of the plan come to more than 2,500,000 units of work",
        ),
        (
            plan(
                &big,
                &many(400, &|n| format!("    - {{get: /, check: 'md5(big + \"{n}\") != \"\"'}}\n")),
            ),
            0,
            "warning: the constants of the plan come to more than ",
        ),
        (
            plan(
                &big,
                &many(400, &|n| format!("    - {{get: /, tags: {{t: \"${{big}}{n}\"}}}}\n")),
            ),
            2,
            "tags and credentials of all steps come to more than 64 MiB",
        ),
        (
            plan(
                &format!("vars:\n{}", many(20, &|n| format!("  v{n}: \"${{{nested}}}\"\n"))),
                "    - get: /\n",
            ),
            2,
            "the variables up to this one come to more than 2,500,000 units of work",
        ),
    ] {
        let (said, exit) = check(&text);
        assert_eq!(exit, Some(code), "{words}\n{}", &said[..said.len().min(2_000)]);
        assert!(said.contains(words), "{words}\n{}", &said[..said.len().min(2_000)]);
    }
}

/// As many metrics, thresholds and scenarios as a plan may have: each is found without a look at all others. Looks at all others
/// would be billions, and show in how long this takes; there is no count of them to assert.
#[test]
fn many_of_a_kind_are_checked_soon() {
    let plan = |steps: &str, more: &str| plan("max_names: 100000\n", &format!("{steps}{more}"));
    let named = many(20_000, &|n| format!("    - {{get: /, name: n{n}}}\n"));
    let thresholds = |name: &str| {
        format!("thresholds:\n{}", many(20_000, &|n| format!("- p99({name}{n}) < 5ms\n")))
    };
    let chain = many(19_999, &|n| {
        let load = "load: {users: 1, iterations: 1}, steps: [{get: /}]";
        format!("  s{}: {{after: s{n}, {load}}}\n", n + 1)
    });
    for (what, text, code) in [
        (
            "metrics",
            plan(&many(40_000, &|n| format!("    - metric: {{name: m{n}, kind: counter}}\n")), ""),
            0,
        ),
        ("known names", plan(&named, &thresholds("n")), 0),
        ("unknown names", plan(&named, &thresholds("m")), 2),
        (
            "scenarios in turn",
            format!(
                "target: http://127.0.0.1:9\nscenarios:\n  s0: {{load: {{users: 1, iterations: 1}}, steps: \
                 [{{get: /}}]}}\n{chain}"
            ),
            0,
        ),
    ] {
        let (said, exit) = check(&text);
        assert_eq!(exit, Some(code), "{what}\n{}", &said[..said.len().min(2_000)]);
    }
}

#[test]
fn names_are_judged_with_all_other_errors() {
    let plan = |more: &str, step: &str, threshold: &str| {
        format!(
            "target: http://127.0.0.1:9\n{more}scenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    steps:\n    \
             - {{get: /, name: login}}\n    - {step}\nthresholds: [\"{threshold}\"]\n"
        )
    };
    let unknown = "no request or group is named `nope`";
    for step in [
        "{get: \"/${unk}\"}",
        "{exec: [echo]}",
        "{get: /, tags: {a: \"${user}\"}}",
        "{repeat: unk, steps: [{get: /inner}]}",
        "{group: \"${unk}\", steps: [{get: /}]}",
    ] {
        let (errors, code) = check(&plan("", step, "p99(nope) < 5ms"));
        // A group whose name is not known may have that one.
        let judged = !step.contains("group");
        assert_eq!((code, errors.contains(unknown)), (Some(2), judged), "{step}\n{errors}");
    }
    // What an error stands in has its name all the same, ...
    for (step, name) in [
        ("{get: \"/${unk}\"}", "GET /{unk}"),
        ("{get: \"/${unk}\", name: second}", "second"),
        ("{exec: [echo], name: shown}", "shown"),
        ("{exec: [/bin/echo]}", "echo"),
        ("{get: /, tags: {a: \"${user}\"}}", "a: b"),
        ("{repeat: unk, steps: [{get: /inner}]}", "GET /inner"),
        ("{if: unk, then: [{get: /inner}], else: [{get: /other}]}", "GET /other"),
    ] {
        let (errors, code) = check(&plan("", step, &format!("p99({name}) < 5ms")));
        assert_eq!((code, errors.matches("error:").count()), (Some(2), 1), "{step}\n{errors}");
    }
    // ... and so it is where the plan could be read, and is wrong as a whole.
    let (errors, code) =
        check(&plan("", "{get: /}", "p99(nope) < 5ms").replace("users: 1", "users: 0"));
    assert!(errors.contains(unknown) && errors.contains("0 users"), "{errors}");
    assert_eq!((code, errors.matches("error:").count()), (Some(2), 2), "{errors}");
    // What was not read has a name that is not known.
    let (errors, _) = check(&plan("", "{gett: /, name: nope}", "p99(nope) < 5ms"));
    assert!(errors.contains("did you mean `get`") && !errors.contains(unknown), "{errors}");
}

#[test]
fn warnings_stay_beside_errors_of_reading() {
    let (said, code) = check(
        "target: http://127.0.0.1:9\nscenarios:\n  a:\n    load: {users: 1, for: 1s}\n    steps:\n    \
         - get: \"/{{id}}\"\n    - {gett: /}\n",
    );
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("plan.yaml:6:13: warning: "), "{said}");
    assert!(said.contains("did you mean `get`?") && said.ends_with("1 error\n"), "{said}");
}

#[test]
fn constants_that_always_fail_are_warned_of() {
    let step = |text: &str| {
        check(&format!(
            "target: http://127.0.0.1:9\nscenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    steps:\n    - get: \"{text}\"\n"
        ))
    };
    for (text, why) in [
        ("/${hmac('sha3', 'k', 't')}", "unknown algorithm `sha3`"),
        ("/${sha256('a', 'b64')}", "unknown format `b64`"),
        ("/${ {1: 'a', 1.0: 'b'} }", "the map has the key `1` twice"),
    ] {
        let (said, code) = step(text);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("plan.yaml:6:"), "{said}");
        let warning = format!("warning: this fails whenever it is evaluated: {why}");
        assert!(said.contains(&warning), "{said}");
    }
    let (said, _) = step("/${false ? sha256('a', 'b64') : 'c'}");
    assert_eq!(said, "");
}

#[test]
fn files_of_certificates_are_read() {
    let plan = |tls: &str| {
        format!(
            "target: https://127.0.0.1:9\nconnections:\n  tls: {tls}\nscenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    \
             steps: [{{get: \"/${{unk}}\"}}]\n"
        )
    };
    for (tls, place, why) in [
        ("{ca: nosuch.pem}", "3:13", "nosuch.pem: No such file"),
        ("{ca: /dev/zero}", "3:13", "/dev/zero: expected a regular file"),
        ("{ca: plan.yaml}", "3:13", "no certificate in it (PEM is expected)"),
        ("{cert: /dev/zero, key: nosuch.key}", "3:15", "/dev/zero: expected a regular file"),
        ("{cert: a.pem}", "3:15", "a client certificate needs both `cert` and `key`"),
        (
            "{client_certs: {me: {cert: nosuch.pem, key: nosuch.key}}}",
            "3:24",
            "nosuch.pem: No such",
        ),
        (
            "{key_store: {file: /dev/zero, password: pw}}",
            "3:27",
            "/dev/zero: expected a regular file",
        ),
        ("{key_store: {file: nosuch.p12}}", "3:27", "nosuch.p12: No such file"),
        ("{min: 1.3, max: 1.2}", "3:14", "`min` is a later version of TLS than `max`"),
    ] {
        let (errors, code) = check(&plan(tls));
        assert_eq!((code, errors.matches("error:").count()), (Some(2), 2), "{tls}\n{errors}");
        assert!(errors.contains(&format!("plan.yaml:{place}")), "{place}\n{errors}");
        assert!(errors.contains(why) && errors.contains("`unk`"), "{why}\n{errors}");
    }
    // Who accepts any certificate asks for no authority.
    let (errors, _) = check(&plan("{ca: nosuch.pem, insecure: true}"));
    assert!(!errors.contains("nosuch.pem: "), "{errors}");
}

/// A variable in a quantity has a use; one of a scenario is known there alone.
#[test]
fn scenarios_have_variables_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = crate::common::target();
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
    let requests =
        crate::common::result(folder.path(), &["run", "plan.yaml"], 0)["requests"].to_string();
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

/// Of a data file by node this machine reads that of node 1; what others lack is said.
#[test]
fn a_data_file_by_node_is_looked_for_under_each_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("writable");
    };
    write(
        "plan.yaml",
        "target: http://127.0.0.1:9\ndata: {people: {csv: 'users.${node}.csv'}}\nscenarios:\n  \
         a: {load: {users: 1, iterations: 1}, steps: [{get: '/${people.name}'}]}\n",
    );
    let check = || {
        let output = squall(folder.path(), &["check", "plan.yaml"]);
        let text = [output.stdout, output.stderr].concat();
        (String::from_utf8_lossy(&text).into_owned(), output.status.code())
    };
    write("users.2.csv", "name\nbob\n");
    let (text, code) = check();
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("users.1.csv: No such file") && text.contains("file of node 1"),
        "{text}"
    );
    write("users.1.csv", "name\nann\neve\n");
    write("users.4.csv", "name\ndan\n");
    let (text, code) = check();
    assert_eq!(code, Some(0), "{text}");
    let at = |name: &str| folder.path().join(name).display().to_string();
    for line in [
        format!("  data       people: {}: 2 rows, column name\n", at("users.1.csv")),
        format!(
            "  in a fleet people: each node reads its own file: those of nodes 1 to 4 are here, without {}\n",
            at("users.3.csv")
        ),
    ] {
        assert!(text.contains(&line), "{line}\n{text}");
    }
}

#[test]
fn devices_and_folders_are_no_plans_and_no_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = squall(folder.path(), &["check", "/dev/zero"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("a device, a pipe or a socket"));
    // They are regular by name, and their size is 0.
    let output = squall(folder.path(), &["check", "/proc/self/status"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("its size is 0"));
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

/// A key store as `openssl pkcs12 -nodes` writes it, for a hundred years from 2026.
const KEY_STORE: &str = "\
-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIFXNmLDOS7p7X9GTOpLDcSREnj0n/YXI4N8RWsvIDWhu
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBLjCB4aADAgECAhRRzwT60pNJ7sArEn7BJXK6J7jWJjAFBgMrZXAwDDEKMAgG
A1UEAwwBYzAgFw0yNjExMjcwMDM2MTlaGA8yMTI2MTEwMzAwMzYxOVowDDEKMAgG
A1UEAwwBYzAqMAUGAytlcAMhABarsIxbRPyBSreZGgdwr0dq7C0mQVWN1J9rydB5
2teSo1MwUTAdBgNVHQ4EFgQUr64uEhCkqZHrxFcMVjPOJyZ4WmEwHwYDVR0jBBgw
FoAUr64uEhCkqZHrxFcMVjPOJyZ4WmEwDwYDVR0TAQH/BAUwAwEB/zAFBgMrZXAD
QQA5Vazq/Ob+15hK3TCI1fku4aHMUuubpD6INIVn6d66oLlmqDMovItVEfWYaSGV
Lqr+n1qTnF0EO/s9QWiI4XUN
-----END CERTIFICATE-----
";

#[test]
fn a_key_store_in_pem_needs_no_password() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("own.pem"), KEY_STORE).expect("writable");
    for password in ["", ", password: pw"] {
        let plan = format!(
            "target: https://127.0.0.1:9\nconnections:\n  tls: {{key_store: {{file: own.pem{password}}}}}\nscenarios:\n  a:\n    \
             load: {{users: 1, for: 1s}}\n    steps: [{{get: /}}]\n"
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        let output = squall(folder.path(), &["check", "plan.yaml"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{errors}");
    }
}

#[test]
fn a_load_of_no_time_is_refused() {
    for load in ["users: 1, for: 0s", "rate: 5/s, for: 0s"] {
        let (errors, code) = check(&format!(
            "target: http://127.0.0.1:9\nscenarios: {{a: {{load: {{{load}}}, steps: [{{get: /}}]}}}}\n"
        ));
        assert_eq!(code, Some(2), "{load}: {errors}");
        assert!(errors.contains("plan.yaml:2:23: error: a load of 0s is over"), "{load}: {errors}");
    }
}

/// Columns that no expression can name are shown with what helps.
#[test]
fn columns_with_odd_names_need_others() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("rows.csv"), "first name,e-mail\nada,a@b\n")
        .expect("writable");
    let plan = "target: builtin\ndata: {d: {csv: rows.csv}}\nscenarios: {a: {load: {users: 1, iterations: 1}, steps: [{get: '/${d.e-mail}'}]}}\n";
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let output = squall(folder.path(), &["check", "plan.yaml"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("its columns are `first name`, `e-mail`"), "{errors}");
    assert!(errors.contains("`header: [...]` gives them, with `skip_header: true`"), "{errors}");
}
