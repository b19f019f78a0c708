//! What people write who know other tools, or who slip, and the remedy that `squall check` names, in squall's own form.

use crate::common::*;

/// A plan of these steps, which may use the variable `id`.
fn of_steps(steps: &str) -> String {
    format!(
        "target: http://127.0.0.1:1\nvars: {{id: 5}}\nscenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    \
         steps:\n      - get: /${{id}}\n      - {steps}\n"
    )
}

fn of_check(check: &str) -> String {
    of_steps(&format!("{{get: /, check: '{check}'}}"))
}

fn of_plan(head: &str) -> String {
    format!("{head}\n{}", of_steps("get: /"))
}

#[test]
fn mistakes_name_the_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    for (plan, remedy) in [
        (of_steps("get: \"/items/#{id}\""), "a variable is written \"${id}\""),
        (of_steps("get: \"/items/$id\""), "a variable is written \"${id}\""),
        (of_steps("{post: /, json: {a: \"$id\"}}"), "a variable is written \"${id}\""),
        (of_steps("think: 1-3s"), "write a range as 1s..3s"),
        (of_steps("{get: /, extract: {v: \"href=...\"}}"), "{regex: 'href=...'}"),
        (of_steps("{get: /, extract: {v: \"$.id\"}}"), "{json: '$.id'}"),
        (of_steps("{get: /, extract: {v: \"//a\"}}"), "{xpath: '//a'}"),
        (
            of_steps("{if: status == 200, then: [{get: /}]}"),
            "extract it from the request before, `extract: {code: status}`, and write `code == 200`",
        ),
        (of_check("body contains \"ok\""), "write `body.contains(\"ok\")`"),
        (of_check("status == 200 and body_bytes > 1"), "write `&&`"),
        (of_check("status.is(200)"), "as in `status == 200`"),
        (of_check("body.includes(\"ok\")"), "as in `body.contains(\"ok\")`"),
        (of_check("$.id == 5"), "`json(\"$.id\")`"),
        (of_check("$id == 5"), "its name alone: `id`"),
        (of_check("json.id == 5"), "`json(\"$.id\")`"),
        (of_check("headers[\"x\"] == \"a\""), "`header(\"x\")`"),
        (of_check("response.status == 200"), "did you mean `status`?"),
        (of_check("response.json.id == 200"), "`json(\"$.id\")`"),
        (of_steps("get: \"/${__Random(1, 5)}\""), "as in `random(1, 5)`"),
        (of_plan("thresholds: {p95: 300ms}"), "write `- p95 < 300ms`"),
        (of_plan("thresholds: {p95: < 300ms}"), "write `- p95 < 300ms`"),
        (of_plan("thresholds: {http_req_duration: [\"p(95)<300\"]}"), "such as `- p95 < 300ms`"),
        (of_plan("thresholds: [p95 < 300]"), "write 300ms, or 300s"),
        (of_plan("data: {u: users.csv}"), "write `{csv: users.csv}`"),
    ] {
        std::fs::write(folder.path().join("plan.yaml"), &plan).expect("writable");
        let output = squall(folder.path(), &["check", "plan.yaml"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let hints = said.lines().filter(|line| line.trim_start().starts_with("hint:"));
        let hints: Vec<&str> = hints.collect();
        assert_eq!(hints.len(), 1, "{plan}{said}");
        assert!(hints[0].contains(remedy), "{remedy}\n{plan}{said}");
        assert!(hints[0].len() < 200, "{said}");
    }
}

/// Words that begin with a `$` in what other systems read are no mistakes.
#[test]
fn a_dollar_alone_is_none() {
    let folder = tempfile::tempdir().expect("a folder");
    for steps in [
        "get: \"/items?$filter=a&$top=5\"",
        "{post: /, body: '{\"$set\": {\"price\": \"5$\"}}'}",
        "get: \"/a#{}\"",
    ] {
        std::fs::write(folder.path().join("plan.yaml"), of_steps(steps)).expect("writable");
        let output = squall(folder.path(), &["check", "plan.yaml"]);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{steps}");
    }
}

/// A plan of another tool, or a description of an API, is named for what it is.
#[test]
fn files_of_other_tools_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text, words) in [
        ("locustfile.py", "from locust import HttpUser\n", "a script of Locust"),
        ("a.scala", "class A extends Simulation {}\n", "a simulation of Gatling"),
        (
            "a.har",
            "{\"log\": {\"version\": \"1.2\", \"entries\": []}}",
            "a recording of a browser (HAR)",
        ),
        (
            "a.json",
            "{\"log\": {\"version\": \"1.2\", \"entries\": []}}",
            "a recording of a browser (HAR)",
        ),
        (
            "api.json",
            "{\"openapi\": \"3.0.0\", \"paths\": {}}",
            "a description of an API (OpenAPI)",
        ),
        ("api.yaml", "openapi: 3.0.0\npaths: {}\n", "a description of an API (OpenAPI)"),
        ("swagger.yaml", "swagger: '2.0'\npaths: {}\n", "a description of an API (OpenAPI)"),
        (
            "c.json",
            "{\"info\": {\"_postman_id\": \"1\", \"schema\": \"https://schema.getpostman.com/json/collection/v2.1.0/\"}, \"item\": []}",
            "a collection of Postman",
        ),
        (
            "artillery.yml",
            "config:\n  target: http://a\n  phases: []\nscenarios: []\n",
            "a script of Artillery",
        ),
        (
            "k6.yaml",
            "import { check } from \"k6\";\n",
            "a script of k6: squall runs it as a script if",
        ),
        ("saved.yaml", "<!doctype html>\n<html></html>\n", "a web page (HTML)"),
    ] {
        std::fs::write(folder.path().join(name), text).expect("writable");
        let output = squall(folder.path(), &["check", name]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains(words), "{name}: {said}");
        assert_eq!(said.trim().lines().count(), 1, "{name}: {said}");
    }
}

/// A plan may come from the standard input.
#[test]
fn a_plan_is_read_from_the_standard_input() {
    let server = target();
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!(
        "target: {}\nscenarios: {{a: {{load: {{users: 1, iterations: 2}}, steps: [{{get: /}}]}}}}\n",
        server.url()
    );
    let given = |args: &[&str], text: &str| squall_given(folder.path(), args, text);
    let checked = given(&["check", "-"], &plan);
    assert_eq!(checked.status.code(), Some(0), "{}", String::from_utf8_lossy(&checked.stderr));
    assert!(String::from_utf8_lossy(&checked.stdout).starts_with("stdin: plan OK"));
    assert_eq!(given(&["run", "-", "-q"], &plan).status.code(), Some(0));
    assert_eq!(given(&["try", "-"], &plan).status.code(), Some(0));
    let wrong = given(&["check", "-"], "targt: http://a\n");
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(said.contains("stdin:1:1: error: unknown key `targt`"), "{said}");
    assert_eq!(wrong.status.code(), Some(2));
}

/// What data sources hold is said where their rows are counted.
#[test]
fn a_check_counts_rows_and_columns() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("people.csv"), "name,mail\nada,a@x\nbob,b@x\n")
        .expect("writable");
    let plan = of_plan("data: {people: {csv: people.csv}, order: {numbers: {from: 1, to: 9}}}")
        .replace("/${id}", "/${people.name}/${order.number}/${id}");
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let output = squall(folder.path(), &["check", "plan.yaml"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("people.csv: 2 rows, columns name and mail"), "{said}");
    assert!(said.contains("order: 9 rows, column number"), "{said}");
}

/// The plan that `squall init` writes is a good one, and runs; what is there stays.
#[test]
fn a_plan_to_start_from() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let first = squall(path, &["init"]);
    assert_eq!(first.status.code(), Some(0), "{}", String::from_utf8_lossy(&first.stderr));
    let plan = std::fs::read_to_string(path.join("plan.yaml")).expect("a plan");
    assert!(plan.starts_with("# yaml-language-server: $schema=squall.schema.json\n"), "{plan}");
    let schema = std::fs::read(path.join("squall.schema.json")).expect("a schema");
    serde_json::from_slice::<serde_json::Value>(&schema).expect("JSON");
    let checked = squall(path, &["check", "plan.yaml"]);
    assert_eq!(String::from_utf8_lossy(&checked.stderr), "");
    let run = ["run", "plan.yaml", "--users", "2", "--ramp", "0s", "--iterations", "2", "-q"];
    let ran = squall(path, &run);
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(text.contains(" an item "), "{text}");
    assert!(text.contains("threshold   passed error_rate < 1%"), "{text}");
    std::fs::write(path.join("plan.yaml"), "mine").expect("writable");
    let again = squall(path, &["init", "plan.yaml"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("plan.yaml is there already"));
    assert_eq!(std::fs::read_to_string(path.join("plan.yaml")).expect("a plan"), "mine");
}

/// The help of squall itself fits on two screens, and that of a command has what it leaves out.
#[test]
fn the_help_is_short() {
    let folder = tempfile::tempdir().expect("a folder");
    let said =
        |args: &[&str]| String::from_utf8_lossy(&squall(folder.path(), args).stdout).into_owned();
    let help = said(&["--help"]);
    assert!(help.lines().count() <= 80, "{}: {help}", help.lines().count());
    assert_eq!(help, said(&["help"]));
    for part in ["  init ", "  run ", "--rate", "squall run --help"] {
        assert!(help.contains(part), "{part}: {help}");
    }
    let whole = said(&["run", "--help"]);
    assert!(
        whole.contains("--log-which")
            && whole.contains("samples=FILE")
            && whole.contains("otlp-grpc=URL"),
        "{whole}"
    );
}
