//! What a plan may hold beside its loads and connections: variables, data, credentials, other files,
//! names, and what is done about errors.

use std::path::Path;

use serde_json::Value;
use squall_runner::{Folder, Handle, Options, Sink};

use crate::common::{
    End, Steps, all_good, checked, counter, folder, kept, kinds, logged, options, outcome, plan,
    refused, result, rows_as_read, target, workers,
};

#[test]
fn rows_are_shared_over_workers_without_gap_or_repeat() {
    let server = target();
    let rows: String = (0..40).map(|n| format!("{n};name {n}\n")).collect();
    let data_of = |iterations: u32, at_end: &str, share: &str, pick: &str| {
        let plan = format!(
            "target: {}
data: {{rows: {{csv: rows.csv, delimiter: ';', header: [id, name], at_end: {at_end}, share: {share}, pick: {pick}}}}}
scenarios: {{a: {{load: {{users: 8, iterations: {iterations}}}, steps: [{{get: '/status/200?${{rows.id}}', name: 'row ${{rows.id}}'}}]}}}}
",
            server.url()
        );
        let folder = folder(&[("plan.yaml", &plan), ("rows.csv", &rows)]);
        let json = result(folder.path(), &workers(2), End::Passed);
        let requests = json["requests"].as_object().expect("requests").clone();
        let counts = requests.values().map(|row| row["count"].as_u64().expect("a count"));
        (json.clone(), counts.collect::<Vec<_>>())
    };
    // No user alone can use all.
    let (json, counts) = data_of(41, "stop", "all", "next");
    assert_eq!(counts, [1; 40], "each row once: {json}");
    assert_eq!(counter(&json, "data_exhausted"), 8);
    let data = |at_end: &str, share: &str, pick: &str| data_of(10, at_end, share, pick);
    let (_, counts) = data("cycle", "all", "next");
    assert_eq!(counts, [2; 40], "each row twice");
    let (_, counts) = data("cycle", "user", "next");
    assert_eq!(counts, [8; 10], "each user reads the first ten rows");
    let (_, counts) = data("cycle", "all", "once_per_user");
    assert_eq!(counts, [10; 8], "a row a user, kept for all its iterations");
    let (_, counts) = data("cycle", "all", "random");
    assert_eq!(counts.iter().sum::<u64>(), 80);
}

#[test]
fn json_lines_keep_their_types() {
    let steps = "
      - get: /
        check: ['rows.n + 1 == 8', 'rows.tags[1] == \"b\"', 'rows.ok', 'rows.none == null']";
    let rows = br#"{"n": 7, "tags": ["a", "b"], "ok": true, "none": null}"#;
    let json = Steps {
        head: "data: {rows: {jsonl: rows.jsonl}}",
        files: &[("rows.jsonl", rows)],
        ..Steps::one(&target().url(), steps)
    }
    .run(End::Passed);
    all_good(&json, 1);
}

#[test]
fn credentials_are_shown_as_the_server_wants_them() {
    let steps = "
      - {get: /auth/basic, auth: {basic: {user: ada, password: '${word}'}}, check: status == 200}
      - {get: /auth/digest, auth: {digest: {user: ada, password: '${word}'}}, check: status == 200}
      - {get: /auth/digest, name: wrong, auth: {digest: {user: ada, password: no}}, check: status == 401}
      - {get: /echo, auth: {bearer: 'to-${word}'}, check: 'body.contains(\"Bearer to-\")'}
      - {get: /echo, name: none, check: '!body.contains(\"uthorization\")'}";
    let head = "vars: {word: secret-ada}";
    let json = Steps { head, iterations: 2, ..Steps::one(&target().url(), steps) }.run(End::Passed);
    assert_eq!(kinds(&json), "{}", "{}", json["log"]);
}

/// A value that setup has found means what it would mean in the load: at worst it is an error of a request.
#[test]
fn what_setup_finds_is_no_error_of_the_plan() {
    let server = target();
    for (found, url, errors) in [
        ("/status/204", "/${x}", "{}"),
        ("status/204", "/${x}", "{}"),
        ("status/204", "${x}", "{}"),
        ("mailto:a@b", "${x}", r#"{"render":1}"#),
        ("http://127.0.0.1:99999/", "${x}", r#"{"render":1}"#),
        ("//other.test/", "${x}", r#"{"host_not_allowed":1}"#),
        ("99999", "http://127.0.0.1:${x}/", r#"{"render":1}"#),
    ] {
        let text = format!(
            "target: {}\nsetup: [{{get: /echo, query: {{x: '{found}'}}, extract: {{x: {{json: $.query.x}}}}}}]\n\
             scenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{{get: '{url}', status_errors: false}}]}}}}\n",
            server.url()
        );
        let folder = folder(&[("plan.yaml", &text)]);
        let end = if errors == "{}" { End::Passed } else { End::Failed };
        let json = result(folder.path(), &options(), end);
        assert_eq!(kinds(&json), errors, "{found} {url}");
    }
}

#[test]
fn included_steps_stand_in_their_place_and_keep_their_places_in_errors() {
    let server = target();
    let main =
        plan(&server.url(), "vars: {x: 1}", "{include: sub/login.yaml}, {get: /, name: after}");
    let folder = folder(&[("plan.yaml", &main)]);
    std::fs::create_dir(folder.path().join("sub")).expect("a folder");
    let sub = folder.path().join("sub/login.yaml");
    std::fs::write(&sub, "- get: /\n  name: inner ${x}\n").expect("writable");
    let json = result(folder.path(), &options(), End::Passed);
    assert_eq!(json["requests"]["inner 1"]["count"].as_u64(), Some(1), "{json}");
    all_good(&json, 2);
    std::fs::write(&sub, "- get: /\n  nmae: x\n").expect("writable");
    let text = refused(folder.path(), &options());
    assert!(text.contains("login.yaml:2:3: error"), "{text}");
    std::fs::write(&sub, "- include: login.yaml\n").expect("writable");
    assert!(!refused(folder.path(), &options()).is_empty(), "a circle");
}

#[test]
fn an_error_ends_what_the_plan_says() {
    let server = target();
    let after = |on_error: &str| {
        let text = format!(
            "target: {}
on_error: {on_error}
scenarios:
  a:
    load: {{users: 2, iterations: 3}}
    steps: [{{get: /status/500, name: bad}}, {{get: /, name: good}}]
",
            server.url()
        );
        let folder = folder(&[("plan.yaml", &text)]);
        let json = result(folder.path(), &workers(1), End::Failed);
        let count = |name: &str| json["requests"][name]["count"].as_u64().unwrap_or(0);
        (count("bad"), count("good"))
    };
    assert_eq!(after("continue"), (6, 6));
    assert_eq!(after("next_iteration"), (6, 0));
    assert_eq!(after("stop_user"), (2, 0));
    let (bad, good) = after("stop_run");
    assert!((1..=2).contains(&bad) && good == 0, "{bad} {good}");
}

#[test]
fn names_stay_few() {
    let steps = "
      - repeat: 1100
        counter: i
        steps: [{get: '/status/200?${i}', name: 'name ${i}'}]
      - {get: '/item/${random(1, 1000)}'}
      - {get: '/status/200?x=${random(1, 1000)}'}";
    let json = Steps::one(&target().url(), steps).run(End::Passed);
    all_good(&json, 1_102);
    let requests = json["requests"].as_object().expect("requests");
    assert!(requests.len() <= 1_001, "{}", requests.len());
    let others = requests["other"]["count"].as_u64().expect("a count");
    assert_eq!(others as usize + requests.len() - 1, 1_102);
    assert!(
        json["warnings"].to_string().contains("102 requests count under `other`"),
        "{}",
        json["warnings"]
    );
    let steps = "
      - {get: '/item/${random(1, 1000)}'}
      - {get: '/status/200?x=${random(1, 1000)}'}";
    let json = Steps { iterations: 5, ..Steps::one(&target().url(), steps) }.run(End::Passed);
    let names: Vec<&String> = json["requests"].as_object().expect("requests").keys().collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn programs_run_only_where_they_are_allowed() {
    let folder = folder(&[]);
    let made = folder.path().join("made").display().to_string();
    let text = plan("http://127.0.0.1:9", "", &format!("exec: [touch, '{made}']"));
    std::fs::write(folder.path().join("plan.yaml"), text).expect("writable");
    let error = refused(folder.path(), &Options::default());
    assert!(error.contains("--allow-exec"), "{error}");
    assert!(!Path::new(&folder.path().join("made")).exists());
    let json = result(folder.path(), &options(), End::Passed);
    all_good(&json, 1);
    assert!(folder.path().join("made").exists());
}

#[test]
fn thresholds_judge_names_groups_and_counters() {
    let server = target();
    let text = plan(
        &server.url(),
        "thresholds: ['count(a) == 2', 'rate(g) > 0/s', 'p99.9(a) < 1h', 'errors_status(b) == 1', 'error_rate(b) == 100%', 'checks_passed == 1']",
        "{group: g, steps: [{get: /, name: a}, {get: /, name: a, check: status == 200}]}, {get: /status/503, name: b}",
    );
    let folder = folder(&[("plan.yaml", &text)]);
    let json = result(folder.path(), &options(), End::Passed);
    let judged = json["thresholds"].as_array().expect("thresholds");
    assert_eq!(judged.len(), 6);
    assert!(judged.iter().all(|one| one["passed"] == true), "{judged:?}");
}

/// Count of each name of a run.
fn names(json: &Value) -> Vec<(String, u64)> {
    let requests = json["requests"].as_object().expect("requests");
    requests
        .iter()
        .map(|(name, row)| (name.clone(), row["count"].as_u64().expect("a count")))
        .collect()
}

/// Each of 8 users, on 2 workers, makes 40 names, in an order of its own. A name counts by itself
/// wherever it is made, or nowhere.
#[test]
fn workers_agree_which_names_are_too_many() {
    let server = target();
    let plan = format!(
        "target: {}
max_names: 10
scenarios: {{a: {{load: {{users: 8, iterations: 40}}, steps: [{{get: /, name: 'page ${{(user * 7 + iteration * 3) % 40}}'}}]}}}}
",
        server.url()
    );
    let folder = folder(&[("plan.yaml", &plan)]);
    let (json, kept) = kept(folder.path(), &workers(2));
    all_good(&json, 320);
    let names = names(&json);
    assert_eq!(names.len(), 11, "{names:?}");
    for (name, count) in &names {
        assert_eq!(*count, if name == "other" { 30 * 8 } else { 8 }, "{names:?}");
    }
    assert_eq!(counter(&json, "names_beyond_limit"), 240);
    assert!(json["warnings"].to_string().contains("max_names"), "{}", json["warnings"]);
    let again = rows_as_read(&squall_report::load(&kept).expect("a run"));
    assert_eq!(again["requests"], json["requests"], "as read from the slices on disk");
}

#[test]
fn names_that_are_known_before_the_run_all_count_by_themselves() {
    let server = target();
    let steps: String =
        (0..1_326).map(|n| format!("\n      - {{get: /, name: sampler {n}}}")).collect();
    let steps = format!("{steps}\n      - {{get: /, name: 'made at run time ${{user}}'}}");
    let json = Steps::one(&server.url(), &steps).run(End::Passed);
    assert_eq!(json["totals"]["count"].as_u64(), Some(1_327));
    let names = names(&json);
    assert_eq!(names.len(), 1_327, "and one `other`");
    assert_eq!(names.iter().filter(|(name, _)| name.starts_with("sampler ")).count(), 1_326);
    assert_eq!(counter(&json, "names_beyond_limit"), 1);
    let text = plan(&server.url(), "max_names: 100001", "{get: /}");
    let folder = folder(&[("plan.yaml", &text)]);
    let text = refused(folder.path(), &options());
    assert!(text.contains("plan.yaml:2:12") && text.contains("from 1 to 100000"), "{text}");
}

#[test]
fn plans_record_metrics_of_their_own() {
    let server = target();
    let steps = "
      {get: /, check: status == 200},
      {repeat: 10, counter: i, steps: [
        {metric: {name: bought, kind: counter, value: 'i * 0.5', tags: {to: '${i % 2}', at: shop}}},
        {metric: {name: visits, kind: counter}},
        {metric: {name: stock, kind: gauge, value: '5 - i'}},
        {metric: {name: cached, kind: rate, value: i < 9}},
        {metric: {name: render, kind: trend, value: i + 0.25}}]},
      {metric: {name: stock, kind: gauge, value: '\"much\"'}}";
    let thresholds = "thresholds: ['count(bought) == 45', 'count(bought{at=shop,to=1}) == 25', 'count(visits) == 20', \
        'last(stock) == -4', 'rate(cached) >= 90%', 'p95(render) < 10ms', 'max(render) == 9.25']";
    let text = plan(&server.url(), thresholds, steps).replace("users: 1", "users: 2");
    let folder = folder(&[("plan.yaml", &text)]);
    let (json, kept) = kept(folder.path(), &workers(2));
    let metrics = json["metrics"].as_array().expect("metrics").iter();
    // Those of the host have no scenario.
    let metrics: Vec<&Value> = metrics.filter(|metric| metric["scenario"] == "a").collect();
    let of = |name: &str| metrics.iter().find(|metric| metric["name"] == name).expect("there");
    assert_eq!(metrics.len(), 6, "{metrics:?}");
    assert_eq!(of("bought")["tags"], serde_json::json!({"at": "shop", "to": "0"}));
    assert_eq!((of("stock")["min"].as_f64(), of("stock")["max"].as_f64()), (Some(-4.0), Some(5.0)));
    assert_eq!(
        (of("cached")["trues"].as_u64(), of("cached")["count"].as_u64()),
        (Some(18), Some(20))
    );
    assert_eq!(
        (of("render")["min"].as_f64(), of("render")["max"].as_f64()),
        (Some(0.25), Some(9.25))
    );
    assert_eq!(json["counters"]["warnings"].as_u64(), Some(2));
    assert!(logged(&json).iter().any(|line| line.contains("a gauge cannot take")), "{json}");

    // What is read from the folder is what the run said.
    let again = rows_as_read(&squall_report::load(&kept).expect("a run"));
    assert_eq!(again, json);
}

#[test]
fn metrics_that_mean_nothing_are_refused() {
    let refused = |text: &str, word: &str| {
        let folder = folder(&[("plan.yaml", text)]);
        let said = refused(folder.path(), &options());
        assert!(said.contains(word), "{said}");
    };
    let with = |more: &str, steps: &str| plan("http://127.0.0.1:9", more, steps);
    let counter = "{metric: {name: n, kind: counter}}";
    refused(
        &with("", &format!("{counter}, {{metric: {{name: n, kind: rate, value: 1}}}}")),
        "another kind",
    );
    refused(&with(&format!("setup: [{counter}]"), counter), "would be lost");
    refused(&with("thresholds: ['p99(login) < 5']", counter), "records no metric `login`");
    refused(&with("", "{metric: {name: n, kind: gauge}}"), "a metric needs `value`");
    refused(&with("", "{metric: {name: n, kind: sum, value: 1}}"), "counter, gauge, rate, trend");
    refused(&with("", "{metric: {name: n, kind: gauge, valeu: 1}}"), "did you mean `value`");
}

/// A plan whose rows have tags of every level, with these thresholds.
fn tagged(url: &str, thresholds: &str) -> String {
    format!(
        "target: {url}
vars: {{team: blue}}
thresholds: [{thresholds}]
defaults: {{tags: {{team: '${{team}}', level: defaults}}}}
scenarios:
  a:
    tags: {{level: scenario}}
    load: {{users: 1, iterations: 2}}
    steps:
      - {{get: /, name: plain}}
      - {{get: /, name: own, tags: {{team: red}}, check: status == 200}}
      - group: g
        tags: {{level: group}}
        steps:
          - {{get: /, name: own}}
          - {{metric: {{name: bought, kind: counter, tags: {{to: '${{user}}'}}}}}}
"
    )
}

/// A library runs a plan of JMeter as any other, whatever its file is called.
#[test]
fn a_plan_of_jmeter_runs_as_any_other() {
    let plan = r#"<jmeterTestPlan><hashTree><TestPlan testname="shop"/><hashTree>
        <ThreadGroup testname="users"><stringProp name="ThreadGroup.num_threads">${__P(users)}</stringProp>
          <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
            <stringProp name="LoopController.loops">2</stringProp>
            <boolProp name="LoopController.continue_forever">false</boolProp></elementProp></ThreadGroup><hashTree>
        <HTTPSamplerProxy testname="home"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
          <stringProp name="HTTPSampler.port">${__P(port)}</stringProp>
          <stringProp name="HTTPSampler.path">/status/200</stringProp></HTTPSamplerProxy><hashTree/>
        </hashTree></hashTree></hashTree></jmeterTestPlan>"#;
    let server = target();
    let folder = folder(&[("plan", plan)]);
    let mut values = squall_runner::Values::default();
    let port = server.url().rsplit(':').next().unwrap_or_default().to_owned();
    for text in ["users=3".to_owned(), format!("port={port}")] {
        values.give(&text).expect("NAME=VALUE");
    }
    let plan = squall_runner::load(&folder.path().join("plan"), &values).expect("a plan");
    let outcome = squall_runner::run(&plan, &options(), Vec::new(), &Handle::default());
    let run = outcome.expect("a run").run;
    assert_eq!((run.totals.all().count, run.totals.all().errors), (6, 0));
}

#[test]
fn rows_have_the_tags_of_what_is_around_them() {
    let server = target();
    let thresholds = "'count(team: red) == 2', 'count(own) == 4', 'count(own, team: blue) == 2', \
        'count(level: scenario) == 4', 'count(own, level: group, scenario: a) == 2', 'max(g, level: group) < 1m', \
        'count(bought, level: group) == 2', 'count(bought, to: 0) == 2', 'p99(own, team: red, phase: first_byte) < 1m', \
        'errors(status == 200, team: red) == 0', 'count(kind: iteration, tag.level: scenario) == 2'";
    let folder = folder(&[("plan.yaml", &tagged(&server.url(), thresholds))]);
    let plan =
        squall_runner::load(&folder.path().join("plan.yaml"), &Default::default()).expect("a plan");
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("folder".to_owned(), Box::new(Folder::new(folder.path().join("runs"))))];
    let outcome = squall_runner::run(&plan, &options(), sinks, &Handle::default());
    let outcome = outcome.expect("a run");
    let json = squall_report::document(&outcome.run);
    let failed: Vec<_> = json.thresholds.iter().filter(|own| !own.passed).collect();
    assert!(json.outcome.passed && failed.is_empty() && json.thresholds.len() == 11, "{failed:?}");
    let tags = |rows: &[squall_report::Row]| -> Vec<String> {
        let shown = |row: &squall_report::Row| {
            let tags: Vec<String> =
                row.tags.iter().map(|(tag, own)| format!("{tag}={own}")).collect();
            format!("{} {}", row.name, tags.join(","))
        };
        rows.iter().map(shown).collect()
    };
    let blue = "level=scenario,team=blue";
    let requests = [
        format!("plain {blue}"),
        "own level=scenario,team=red".to_owned(),
        "own level=group,team=blue".to_owned(),
    ];
    assert_eq!(tags(&json.requests), requests);
    assert_eq!(tags(&json.groups), ["g level=group,team=blue"]);
    assert_eq!(tags(&json.iterations), [format!("iteration {blue}")]);
    assert_eq!(json.checks[0].tags["team"], "red");
    assert_eq!(json.metrics[0].tags["level"], "group");
    // Read from the folder again they are the same.
    let again = squall_report::load(&outcome.folder.expect("a folder")).expect("a run");
    assert_eq!(tags(&again.requests), requests);
}

#[test]
fn thresholds_of_tags_and_phases_that_nothing_has_are_refused() {
    let refused = |threshold: &str, words: [&str; 2]| {
        let text = tagged("http://127.0.0.1:9", &format!("'{threshold}'"));
        let folder = folder(&[("plan.yaml", &text)]);
        let said = refused(folder.path(), &options());
        assert!(said.contains("plan.yaml:3:"), "{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    };
    refused("p99(own, teem: red) < 1s", ["nothing in this plan has the tag `teem`", "`team`"]);
    refused("p99(own: fast) < 1s", ["the tag `own`", "p99(\"own: fast\")"]);
    refused("p99(team: green) < 1s", ["with the value `green`", "its values are blue, red"]);
    refused("p99(g, phase: body) < 1s", ["groups have no phase `body`", "first_byte"]);
    refused("max(bought, phase: body) < 1s", ["metrics have no phase `body`", "first_byte"]);
    refused("p99(kind: iteration, phase: body) < 1s", ["iterations have no phase", "first_byte"]);
    refused("p99(own, phase: boddy) < 1s", ["unknown phase `boddy`", "first_byte"]);
    refused("error_rate(own, phase: body) < 1%", ["has no phases", "only latencies do"]);
}

#[test]
fn tags_whose_values_only_the_run_knows_are_refused() {
    let refused = |steps: &str| {
        let folder = folder(&[("plan.yaml", &plan("http://127.0.0.1:9", "", steps))]);
        refused(folder.path(), &options())
    };
    let said = refused("{get: /, tags: {id: '${user}'}}");
    assert!(said.contains("the tag `id` must be known before the run"), "{said}");
    assert!(said.contains("tags of a `metric` step"), "{said}");
    let said = refused("{set: {x: 1}}, {group: g, tags: {id: 'a ${x}'}, steps: [{get: /}]}");
    assert!(said.contains("the tag `id` must be known before the run"), "{said}");
    assert!(refused("{get: /, tags: {a-b: 1}}").contains("a-b"));
}

/// What stands in a plan often is looked up, not searched for: this would take minutes otherwise.
#[test]
fn a_plan_may_have_many_names_and_variables() {
    let vars: String = (0..10_000).map(|n| format!("v{n}: {n}, ")).collect();
    let set: String = (0..10_000).map(|n| format!("w{n}: '${{v{n}}}', ")).collect();
    let steps: String = (0..19_000).map(|n| format!(", {{get: /p{n}q}}")).collect();
    let head = format!("max_names: 100000\nvars: {{{vars}z: 1}}");
    let text = plan("http://127.0.0.1:9", &head, &format!("{{set: {{{set}y: 1}}}}{steps}"));
    let folder = folder(&[("plan.yaml", &text)]);
    // The last of the variables closes the list, and is used nowhere.
    let warnings = checked(folder.path());
    assert!(warnings.len() == 1 && warnings[0].contains("`z` is never used"), "{warnings:?}");
}

/// The same path of two hosts is two requests, and each has its own row.
#[test]
fn another_host_than_the_targets_is_a_part_of_the_name() {
    let (server, other) = (target(), target());
    let host = other.url().replace("http://", "");
    let steps = format!(
        "
      - {{get: /echo}}
      - {{get: 'http://{host}/echo?x=1'}}
      - {{get: 'http://{host}/status/20${{user}}'}}
      - {{get: '{}/echo'}}",
        server.url()
    );
    let json = Steps::one(&server.url(), &steps).run(End::Passed);
    let mut names: Vec<&String> = json["requests"].as_object().expect("rows").keys().collect();
    names.sort();
    let expected = [
        "GET /echo".to_owned(),
        format!("GET {host}/echo"),
        format!("GET {host}/status/20{{user}}"),
    ];
    assert_eq!(names, expected.iter().collect::<Vec<_>>());
    assert_eq!(json["requests"]["GET /echo"]["count"].as_u64(), Some(2));
}

/// A data file that becomes shorter while the run goes on: what was measured is not what the plan means.
#[test]
fn a_run_without_its_data_is_incomplete() {
    let server = target();
    let folder = tempfile::tempdir().expect("a folder");
    let rows = folder.path().join("rows.csv");
    let text: String = (0..1_500_000).map(|n| format!("{n}\n")).collect();
    std::fs::write(&rows, format!("n\n{text}")).expect("writable");
    let plan = format!(
        "target: {}\ndata: {{rows: {{csv: rows.csv}}}}\nsetup: [{{exec: [truncate, -s, '20', '{}']}}]\n\
         scenarios: {{a: {{load: {{users: 1, iterations: 1000}}, steps: [{{get: '/status/200?${{rows.n}}', name: it}}]}}}}\n",
        server.url(),
        rows.display()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let run = outcome(folder.path(), &options()).run;
    let said = run.incomplete.join("\n");
    assert!(
        said.contains("data `rows`: ") && said.contains("has changed since the run began"),
        "{said}"
    );
    assert!(!run.outcome().passed());
}
