mod any_plan;
mod bounds;
mod hints;
mod monitors;

use std::path::Path;

use super::*;
use crate::model::Plan;
use crate::vars::LoadOptions;

const SHOP: &str = r#"
name: shop
target: builtin                    # or https://shop.example.com
vars: {lang: en, token: "abc"}
data:
  people: {csv: people.csv, pick: next, share: all, at_end: cycle}
defaults: {headers: {Accept-Language: "${lang}"}, timeout: 10s}
bandwidth: 1MB/s
scenarios:
  buyer:
    load: {users: 200, ramp: 30s, for: 5m, pacing: 30s}
    bandwidth: {down: 2Mbit/s, up: 64kbit/s}
    steps:
      - get: /
        extract: {csrf: {css: "input[name=csrf]", attr: value}}
      - think: 1s..3s
      - post: /login
        name: login
        form: {user: "${people.name}", csrf: "${csrf}"}
        check: [status == 302, header("location") == "/home"]
      - group: checkout
        steps:
          - repeat: 3
            steps: [{get: "/item/${random(1, 1000)}"}]
          - choose: [{weight: 9, steps: [{post: /pay, json: {id: "${uuid()}"}}]}, {weight: 1, steps: [{get: /cancel}]}]
thresholds: ["p99(login) < 300ms", "error_rate < 0.1%", "rate(checkout) > 100/s"]
"#;

const ALL: &str = r#"
target: https://example.com/api
vars: {place: db}
load: {stages: [{rate: 100/s, over: 30s}, {rate: 10/s, over: 1m}], arrivals: poisson, max_users: 50}
connections:
  reuse: pool
  pool_size: 10
  resolve: {example.com: 127.0.0.1, "b:80": [127.0.0.1, 127.0.0.2]}
  source_addresses: [127.0.0.2, 127.0.0.3]
  proxy: http://proxy:3128
  no_proxy: [127.0.0.1, "*.near.test"]
  tls: {insecure: true, resume: false, server_name: x}
allow_hosts: "*.example.org"
on_error: next_iteration
graceful_stop: 5s
session: per_iteration
max_names: 50
warmup: 30s
feeds:
  - {influxdb: "http://h/write?db=a", token: "abc${place}", tags: {env: "$${x}"}}
  - {influxdb: "http://${place}/write?db=a", jmeter_points: {names: "^a", percentiles: [90, 99.9], scenarios: [a], every: 10s, application: x, measurement: y, title: z, event_tags: t}}
  - {graphite: "h:2003", jmeter_paths: {prefix: p.}}
  - {jsonl: "-"}
  - {remote-write: "http://h:9090/api/v1/write", tags: {a: b}}
samples: [{file: out/all.jtl, form: jtl, append: true}, {file: bad.csv, form: csv, only: errors, scenarios: [a]}]
seed: 7
data: {lines: {jsonl: a.jsonl, pick: random}, more: {csv: b.csv, delimiter: ";", header: [a, b], skip_header: true, quotes: false, ragged: true, charset: gbk, at_end: eof, nodes: copy}, n: {numbers: {from: 5, to: 9, step: 2}, advance: step}}
setup:
  - get: /token
    extract: {key: {json: $.key}}
scenarios:
  a:
    weight: 3
    title: b
    number: 7
    start_after: 1s
    defaults: {default_headers: false, cookies: false, proxy: none, source_address: 127.0.0.4, compression: true, redirects: 2, redirect_headers: Authorization, auth: {bearer: "${key}"}, max_body: 1MiB, max_decompression_ratio: 50, retry_stale: false, trace_context: true, resources: {limit: 3, include: '\.png$', exclude: ads, hosts: all, cache: false}}
    steps:
      - request: {method: purge, url: "/x"}
        query: {q: "a b", n: 5}
        timeout: {pool: 3s, connect: 1s, first_byte: 2s}
        retry_stale: true
        cookies: true
        default_headers: true
        trace_context: false
        extract:
          one: {regex: 'x(\d+)', group: 1, match: 2, default: "none"}
          two: {between: ["<a>", "</a>"], match: all}
          three: {xpath: "//a[@id='${one}']/@href"}
          four: {header: Location}
          five: {cookie: sid}
          six: status
          eight: {regex: x, in: head}
          seven: body_hash
        response_body: {hash: sha256}
        check: {expr: "status == 200", name: good, message: "not ${one}", warn: true}
      - put: /file
        body: {file: a.bin, decompress: true, replace: {"@ONE@": "${one}", two: ""}}
        response_body: {file: "b-${one}.bin"}
        extract: {path: body_file}
        auth: {digest: {user: u, password: p}}
      - post: /form
        charset: gbk
        multipart: {note: hello, f: {file: a.bin, filename: b.bin, content_type: text/plain, transfer_encoding: binary}}
      - think: {normal: {mean: 1s, sd: 200ms}}
      - think: {exponential: 1s}
      - think: 0
      - while: one != "x"
        steps: [{set: {one: x, list: [1, 2.5, true, null, {k: "${two}"}]}}]
      - if: size(two) > 1
        then: [{log: "many ${two}"}]
        else: [{stop: iteration}, {metric: {name: m, kind: trend, value: one, tags: {a: "${one}"}}}]
      - for_each: {item: two}
        steps: [{get: "/${item}"}]
      - clear_cookies: true
      - clear_cookies: admin
      - clear_cache: true
      - clear_cache: pages
      - set_cookie: {name: a, value: b, cookie_jar: admin}
      - {get: /jar, proxy: "http://${user}@proxy:80", source_address: "${one}", cookie_jar: admin, cache: true, cache_name: pages}
      - next_row: n
      - {get: /kept, cache: true, redirect_cookies: false, redirect_to_get: true}
      - {get: /asked, cache: revalidate, resources: {cache: revalidate, headers: true}}
      - set_cookie: {name: a, value: "${one}", domain: example.com, path: /x, secure: true}
      - set_cookie: {name: b, value: "", url: "https://example.com/y"}
      - round_robin: [{steps: [{get: /a}]}, {steps: [{get: /b}]}]
      - shuffle: [{steps: [{get: /a}, {think: 1s}]}, {steps: [{get: /b}]}]
      - passes: {percent: 12.5, of: scenario, steps: [{get: /a}]}
      - passes: {first: int(two), steps: [{get: /a}]}
      - pace: {rate: 80, by: run_in_line, clock: all}
      - {group: quick, think_time: excluded, steps: [{pace: {rate: "double(two) / 60"}}]}
      - repeat: 2
        steps: [{if: last_ok, then: [{stop: pass}], else: [{stop: loop}]}]
      - {if: elapsed > 60, then: [{stop: run_now}]}
      - once_per_user: [{delete: /c, response_body: discard}, {get: /c, response_body: {keep: 64KiB}}, {head: /d}, {options: /e}, {patch: /f, body: x}]
      - {get: /page, resources: true}
      - {get: /plain, resources: false}
      - parallel: [{get: /a}, {group: g, steps: [{get: /b}, {think: 1s}]}]
      - parallel: {limit: 2, steps: [{get: /a}, {parallel: [{get: /b}]}]}
      - tcp: "${one}:7"
        send: "0a${two}"
        form: hex
        until: {length_prefix: 2}
        or_close: true
        connection: close
        reset: true
        timeout: {connect: 1s}
        max_body: 1KiB
        name: bytes
        tags: {a: b}
        counted: false
        extract: {thirteen: body}
        check: size(body) > 1
      - exec: [echo, "${one}"]
        timeout: 5s
        check: body.contains("x")
        counted: false
      - {look: "${one}", status: 404, extract: {whole: body, took: duration}, check: status == 404}
      - {write: out.txt, text: "${one}", append: true}
      - {group: "g ${one}", steps: [{get: /, counted: false}]}
  c: {load: {users: 1, endless: true}, after: [a], fresh_connections: true, on_error: abort_run, steps: [{get: /}]}
  b: {weight: 1, session: per_user, steps: [{repeat: "int(one)", counter: i, steps: [{stop: user}]}]}
teardown: [{post: /done}]
"#;

fn read(text: &str) -> Result<Plan, String> {
    let loaded = load_str("plan.yaml", text, Path::new(""), &LoadOptions::default());
    loaded.map(|loaded| loaded.plan).map_err(|failure| {
        failure.diagnostics.iter().map(|diagnostic| failure.sources.render(diagnostic)).collect()
    })
}

#[test]
fn plans_are_read_printed_and_read_again_as_the_same() {
    for text in [SHOP, ALL] {
        let plan = read(text).unwrap_or_else(|errors| panic!("{errors}"));
        let printed = print(&plan, false);
        let again = read(&printed).unwrap_or_else(|errors| panic!("{errors}\n{printed}"));
        assert_eq!(again, plan, "{printed}");
    }
}

#[test]
fn a_stored_plan_names_its_program_wherever_it_lies() {
    let text = "scenarios:\n  a:\n    load: {users: 1, for: 1s}\n    \
                steps: [{exec: [./prog.sh, ./out]}, {exec: prog.sh}]\n";
    let load = |text: &str, folder: &str| {
        load_str("p", text, Path::new(folder), &LoadOptions::default()).expect("a good plan").plan
    };
    let stored = print(&load(text, "/plans"), false);
    assert!(stored.contains("/plans/./prog.sh"), "{stored}");
    let again = load(&stored, "/runs/1");
    let commands = again.scenarios[0].steps.iter().map(|step| match &step.kind {
        crate::model::StepKind::Exec(exec) => {
            exec.command.iter().map(|part| part.source()).collect::<Vec<_>>().join(" ")
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(commands.collect::<Vec<_>>(), ["/plans/./prog.sh ./out", "prog.sh"]);
}

#[test]
fn secrets_are_masked() {
    let printed = print(&read(SHOP).expect("a good plan"), true);
    assert!(printed.contains("***") && !printed.contains("abc"), "{printed}");
}

#[test]
fn secrets_of_a_stored_plan_are_to_be_given_again() {
    let plan = "vars: {api_token: long-enough, other: x}\nscenarios:\n  a:\n    load: {users: 1, for: 1s}\n    \
                steps: [{get: '/${api_token}'}]\n";
    let stored = print(&read(plan).expect("a good plan"), true);
    let errors = read(&stored).expect_err("its secret is not known").to_string();
    assert!(errors.contains("the value of `api_token` was masked"), "{errors}");
    assert!(errors.contains("--set api_token=") && !errors.contains("other"), "{errors}");
    let set = vec![("api_token".to_owned(), "again-enough".to_owned())];
    let given = LoadOptions { set, ..LoadOptions::default() };
    load_str("p", &stored, Path::new(""), &given).expect("a good plan");
    let plan = "scenarios:\n  a:\n    load: {users: 1, for: 1s}\n    \
                defaults: {auth: {bearer: long-enough}}\n    steps: [{get: /}]\n";
    let stored = print(&read(plan).expect("a good plan"), true);
    let errors = read(&stored).expect_err("its secret is not known").to_string();
    assert!(errors.contains("a password of this plan was masked"), "{errors}");
}

#[test]
fn variables_are_set_from_outside() {
    let set = |name: &str| LoadOptions {
        set: vec![(name.to_owned(), "fr".to_owned())],
        environment: vec![("lang".to_owned(), "es".to_owned())],
        ..LoadOptions::default()
    };
    let plan = load_str("p", SHOP, Path::new(""), &set("lang")).expect("a good plan").plan;
    assert_eq!(plan.vars[0].value, crate::model::Json::Text(crate::template::Template::text("fr")));
    let failure = load_str("p", SHOP, Path::new(""), &set("lnag")).expect_err("no such variable");
    assert_eq!(failure.diagnostics[0].help.as_deref(), Some("did you mean `lang`?"));
}

/// Each wrong plan gives an error at this place with these words.
#[test]
fn what_is_wrong_is_shown() {
    let scenario = |inner: &str| {
        format!("scenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    steps:\n{inner}\n")
    };
    for (text, place, word) in [
        (
            "scenarios:\n  a:\n    load: {usrs: 5, for: 1s}\n    steps: [{get: /}]\n".to_owned(),
            "3:12",
            "did you mean `users`",
        ),
        ("name: x\n".to_owned(), "1:1", "a plan needs `scenarios`"),
        ("scenarios: {}\n".to_owned(), "1:12", "expected at least one name"),
        ("scenarios: {a: {load: {users: 1}, steps: [{get: /}]}}".to_owned(), "1:23", "never ends"),
        (
            "scenarios: {a: {load: {users: 1, for: }, steps: [{get: /}]}}".to_owned(),
            "1:34",
            "`for` is empty",
        ),
        ("scenarios: {a: {steps: [{get: /}]}}".to_owned(), "1:16", "has no load"),
        (
            format!(
                "samples: [{{file: a.csv, form: csv, append: true}}]\n{}",
                scenario("      - get: /")
            ),
            "1:18",
            "`jtl` and `jtl_xml` can go on",
        ),
        (
            format!(
                "samples: [{{file: a, form: jtl, scenarios: [b]}}]\n{}",
                scenario("      - get: /")
            ),
            "1:44",
            "there is no scenario `b`",
        ),
        (
            format!("feeds: [{{graphite: h}}]\n{}", scenario("      - get: /")),
            "1:20",
            "expected graphite=HOST:PORT",
        ),
        (
            format!(
                "feeds: [{{jsonl: a}}, {{jsonl: b}}, {{jsonl: a}}]\n{}",
                scenario("      - get: /")
            ),
            "1:41",
            "another feed goes to `a`",
        ),
        (
            format!("feeds: [{{graphite: 'h:1', token: a}}]\n{}", scenario("      - get: /")),
            "1:27",
            "`token` only applies to `influxdb`",
        ),
        (
            format!(
                "feeds: [{{statsd: 'h:1', tags: {{scenario: a}}}}]\n{}",
                scenario("      - get: /")
            ),
            "1:32",
            "one that squall gives itself",
        ),
        (
            format!(
                "feeds: [{{graphite: 'h:1', jmeter_paths: {{names: '(', percentiles: 0, every: 500ms, scenarios: b}}}}]\n{}",
                scenario("      - get: /")
            ),
            "1:50",
            "invalid pattern: unclosed group, at its character 1",
        ),
        (
            format!(
                "feeds: [{{graphite: 'h:1', jmeter_paths: {{percentiles: 0}}}}]\n{}",
                scenario("      - get: /")
            ),
            "1:55",
            "invalid percentile `0`",
        ),
        (
            format!(
                "feeds: [{{graphite: 'h:1', jmeter_paths: {{every: 500ms}}}}]\n{}",
                scenario("      - get: /")
            ),
            "1:49",
            "expected 1s or more",
        ),
        (scenario("      - gte: /"), "5:9", "did you mean `get`"),
        (scenario("      - think: 5"), "5:16", "invalid duration `5`"),
        (scenario("      - get: /${"), "5:15", "unclosed `${`"),
        (scenario("      - get: /\n        check: 'status = 200'"), "6:24", "write `==`"),
        (scenario("      - get: /\n        name: a\n        name: b"), "7:9", "duplicate key"),
        (
            scenario("      - get: /\n        extract: {1x: status}"),
            "6:19",
            "invalid variable name",
        ),
        (
            scenario("      - get: /\n        extract: {x: {regex: a, css: b}}"),
            "6:22",
            "an extract takes exactly one of",
        ),
        (
            scenario("      - get: /\n        extract: {x: {regex: a, group: 4294967298}}"),
            "6:40",
            "expected a whole number up to 4294967295",
        ),
        (
            scenario("      - get: /\n        extract: {x: {regex: a, match: 4294967297}}"),
            "6:40",
            "expected a whole number from 1 to 4294967295",
        ),
        (
            scenario("      - get: /\n        extract: {x: {regex: a, match: 0}}"),
            "6:40",
            "from 1 to",
        ),
        (scenario("      - clear_cookies: false"), "5:24", "expected `true`, or a name"),
        (scenario("      - set_cookie: {name: a}"), "5:21", "a cookie needs `value`"),
        (
            scenario("      - set_cookie: {name: a, value: b, url: /x, path: /}"),
            "5:50",
            "either `url`, or `domain` and `path`",
        ),
        (
            scenario("      - get: /\n        redirects: 4294967297"),
            "6:20",
            "expected a whole number up to 4294967295",
        ),
        (scenario("      - include: nowhere.yaml"), "5:18", "cannot read"),
        (scenario("      - parallel: {limit: 0, steps: [{get: /}]}"), "5:27", "from 1 to 1000"),
        (scenario("      - parallel: {limit: 2}"), "5:19", "parallel needs `steps`"),
        (scenario("      - parallel: []"), "5:19", "at least one step"),
        (scenario("      - {get: /, resources: {limit: 1001}}"), "5:37", "from 1 to 1000"),
        (scenario("      - {get: /, resources: {hosts: some}}"), "5:37", "same"),
        (scenario("      - parallel: [{gett: /}]"), "5:21", "did you mean `get`"),
        ("a: [1, 2".to_owned(), "2:1", "invalid YAML"),
        (String::new(), "1:1", "empty"),
    ] {
        let errors = read(&text).expect_err(&text);
        assert!(errors.contains(word), "{text}\n{errors}");
        assert!(errors.contains(&format!("plan.yaml:{place}")), "{text}\n{errors}");
    }
}

#[test]
fn several_errors_are_found_at_once() {
    let errors = read("scenarios:\n  a: {load: {usres: 1}, steps: [{gett: /}, {think: x}]}\n")
        .expect_err("wrong");
    assert_eq!(errors.matches("error:").count(), 3, "{errors}");
}

#[test]
fn hostile_yaml_is_an_error() {
    let bomb: String = (0..30)
        .map(|n| format!("a{n}: &a{n} [*a{}, *a{}]\n", n.max(1) - 1, n.max(1) - 1))
        .collect();
    let long = format!("x: &a {}\ny: [{}]\n", "x".repeat(1 << 20), "*a, ".repeat(5_000));
    assert!(read(&long).is_err());
    for text in
        ["[".repeat(100_000), "- ".repeat(5_000), "{a: ".repeat(5_000), format!("x: &a0 1\n{bomb}")]
    {
        assert!(read(&text).is_err());
    }
}

/// Every key that the reader knows is in the schema, and the plans above fit it as far as names go.
#[test]
fn the_schema_knows_what_the_reader_knows() {
    let schema = schema();
    let text = schema.to_string();
    for key in
        ["round_robin", "first_byte", "once_per_user", "max_users", "xpath", "teardown", "2020-12"]
    {
        assert!(text.contains(key), "{key}");
    }
    assert!(schema["properties"]["scenarios"].is_object());
    assert!(schema["$defs"]["request"]["properties"]["multipart"].is_object());
    let definitions = schema["$defs"].as_object().expect("definitions");
    assert!(definitions.values().all(serde_json::Value::is_object));
}

/// The reference in the documentation is that of these keys. With SQUALL_UPDATE_DOCS it is written.
#[test]
fn the_reference_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/plan-reference.md");
    let text = format!(
        "# Every key of a plan\n\nMade from the program: `SQUALL_UPDATE_DOCS=1 cargo test -p squall-plan \
         reference`. [By example](plan.md).\nA key without a default has to be there; `-`: there is \
         none.\n\n{}",
        reference()
    );
    if std::env::var_os("SQUALL_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &text).expect("the file can be written");
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == text, "docs/plan-reference.md is not current: set SQUALL_UPDATE_DOCS=1");
}

#[test]
fn no_text_panics() {
    use proptest::prelude::*;
    proptest!(|(text in "[a-z:{}\\[\\], \n'\"$&*-]{0,80}")| { let _ = read(&text); });
}

/// A feed that does not say where it goes is one error, at its place.
#[test]
fn a_feed_without_a_receiver_is_one_error() {
    for feed in ["{tags: {a: b}}", "{influx: x}", "{}"] {
        let text = format!(
            "feeds: [{feed}]\nscenarios: {{a: {{load: {{users: 1, for: 1s}}, steps: [{{get: /}}]}}}}\n"
        );
        let errors = read(&text).expect_err(feed);
        assert!(errors.starts_with("plan.yaml:1:"), "{feed}\n{errors}");
        let places = errors.lines().filter(|line| line.contains("error:"));
        assert!(
            places.into_iter().all(|line| line.starts_with("plan.yaml:1:")),
            "{feed}\n{errors}"
        );
    }
}

/// Words that a plan no longer has, or that other tools have, are errors which name ours.
#[test]
fn foreign_keys_are_told_ours() {
    let plan = |top: &str, load: &str, steps: &str| {
        format!(
            "{top}\nscenarios: {{a: {{load: {{users: 1, for: 1s{load}}}, steps: [{{{steps}}}]}}}}\n"
        )
    };
    for (text, hint) in [
        (plan("grace: 1s", "", "get: /"), "did you mean `graceful_stop`?"),
        (plan("gracefulStop: 1s", "", "get: /"), "did you mean `graceful_stop`?"),
        (plan("connection: {unix: x}", "", "get: /"), "did you mean `connections`?"),
        (plan("connections: {mode: per_user}", "", "get: /"), "did you mean `reuse`?"),
        (plan("connections: {reuse: shared}", "", "get: /"), "did you mean `pool`?"),
        (plan("connections: {from: 127.0.0.2}", "", "get: /"), "did you mean `source_addresses`?"),
        (plan("speed: 1MB/s", "", "get: /"), "did you mean `bandwidth`?"),
        (plan("", ", pace: 1s", "get: /"), "did you mean `pacing`?"),
        (plan("", ", vus: 1", "get: /"), "did you mean `users`?"),
        (plan("", "", "once: [{get: /}]"), "did you mean `once_per_user`?"),
        (plan("", "", "each_in_turn: [{steps: [{get: /}]}]"), "did you mean `round_robin`?"),
        (plan("", "", "get: /, save: sha256"), "did you mean `response_body`?"),
        (plan("", "", "get: /, response_body: md5"), "did you mean `{hash: md5}`?"),
        (plan("", "", "get: /, response_body: {first: 5}"), "did you mean `keep`?"),
        (plan("", "", "get: /, max_ratio: 5"), "did you mean `max_decompression_ratio`?"),
        (plan("", "", "post: /, body: {file: x, unpack: true}"), "did you mean `decompress`?"),
        (plan("", "", "sleep: 1s"), "did you mean `think`?"),
        (plan("", "", "batch: [{get: /}]"), "did you mean `parallel`?"),
    ] {
        let errors = read(&text).expect_err(&text);
        assert!(errors.contains(hint), "{text}\n{errors}");
        assert_eq!(errors.matches("error:").count(), 1, "{errors}");
    }
}
