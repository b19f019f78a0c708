//! What a result holds: rows by identity, what was tested, whether the run passed, and how it is read again.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{squall, target};

/// One name of a request, a program and a group, and of requests in two scenarios.
const PLAN: &str = r#"
thresholds:
  - count(login) == 7
  - "count(login, scenario: guest) == 4"
  - "count(login, kind: program) == 3"
  - "max(login, kind: group, scenario: buyer) >= 0ms"
  - "error_rate(fast enough, kind: check) == 100%"
  - "count(kind: iteration, scenario: buyer) == 3"
  - "count(bought, tag.country: at) == 3"
data: {people: {csv: people.csv}}
scenarios:
  buyer:
    load: {users: 1, iterations: 3}
    steps:
      - group: login
        steps:
          - get: "/echo?name=${people.name}"
            name: login
            check: [status == 200, {expr: "false", name: fast enough}]
          - exec: ["true"]
            name: login
      - metric: {name: bought, kind: counter, value: 1, tags: {country: at}}
  guest:
    load: {users: 2, iterations: 2}
    steps:
      - get: /
        name: login
      - get: /status/204
      - get: "/status/${200 + 2 * 2}"
"#;

fn folder(plan: &str, url: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plan.yaml"), format!("target: {url}\n{plan}"))
        .expect("writable");
    std::fs::write(folder.path().join("people.csv"), "name\nann\nbob\n").expect("writable");
    folder
}

fn run_folder(folder: &Path) -> PathBuf {
    let mut runs = std::fs::read_dir(folder.join("squall-runs")).expect("runs");
    runs.next().expect("a run").expect("an entry").path()
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

fn text(output: &std::process::Output) -> String {
    let bytes = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn a_row_is_more_than_its_name() {
    let server = target();
    let folder = folder(PLAN, &server.url());
    let output = squall(folder.path(), &["run", "plan.yaml", "--allow-exec"]);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("`login` is the name of a"), "{shown}");
    let json = read(&run_folder(folder.path()).join("run.json"));
    let rows = |key: &str| -> Vec<(String, String, String, String, u64)> {
        let rows = json[key].as_array().expect("rows").iter();
        let text = |row: &Value, key: &str| row[key].as_str().unwrap_or("").to_owned();
        let mut rows: Vec<_> = rows
            .map(|row| {
                let group = row["group"][0].as_str().unwrap_or("").to_owned();
                let count = row["count"].as_u64().expect("a count");
                (text(row, "kind"), text(row, "scenario"), group, text(row, "name"), count)
            })
            .collect();
        rows.sort();
        rows
    };
    let row = |kind: &str, scenario: &str, group: &str, name: &str, count| {
        (kind.to_owned(), scenario.to_owned(), group.to_owned(), name.to_owned(), count)
    };
    assert_eq!(
        rows("requests"),
        [
            row("program", "buyer", "login", "login", 3),
            row("request", "buyer", "login", "login", 3),
            row("request", "guest", "", "GET /status/204", 4),
            row("request", "guest", "", "GET /status/{200 + 2 * 2}", 4),
            row("request", "guest", "", "login", 4),
        ]
    );
    assert_eq!(rows("names"), [row("request", "", "", "login", 7)]);
    assert_eq!(rows("groups"), [row("group", "buyer", "", "login", 3)]);
    assert_eq!(json["groups"][0]["status"]["200"].as_u64(), Some(3), "{}", json["groups"]);
    assert_eq!(
        rows("iterations"),
        [
            row("iteration", "buyer", "", "iteration", 3),
            row("iteration", "guest", "", "iteration", 4)
        ]
    );
    let checks = json["checks"].as_array().expect("checks");
    let failed = checks.iter().find(|check| check["name"] == "fast enough").expect("a check");
    assert_eq!((&failed["passed"], &failed["failed"]), (&0.into(), &3.into()));
    let thresholds = json["thresholds"].as_array().expect("thresholds");
    assert!(thresholds.iter().all(|own| own["passed"] == true), "{thresholds:?}");
    assert_eq!(thresholds[0]["op"], "==");
    assert_eq!(json["metrics"][0]["scenario"], "buyer");
}

#[test]
fn a_result_says_what_was_tested_and_the_stored_plan_runs_again() {
    let (server, other) = (target(), target());
    let folder = folder(PLAN, &server.url());
    let args = ["run", "plan.yaml", "--allow-exec", "--target", &other.url()];
    let output = squall(folder.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let run = run_folder(folder.path());
    let json = read(&run.join("run.json"));
    let meta = &json["meta"];
    assert_eq!(meta["target"], other.url());
    assert_eq!(meta["command"][3], "--allow-exec");
    assert_eq!(meta["scenarios"][1]["load"], "2 virtual users, 2 iterations each");
    for text in [&meta["nodes"][0]["host"], &meta["nodes"][0]["os"], &meta["squall"]] {
        assert!(text.as_str().is_some_and(|text| !text.is_empty()), "{meta}");
    }
    assert!(meta["digests"]["plan"].is_string() && meta["digests"]["data people"].is_string());
    // Nothing of the plan's own folder is needed but its data, and the target is the one that it had.
    std::fs::remove_file(folder.path().join("plan.yaml")).expect("it is there");
    let before = other.stats().requests;
    let elsewhere = tempfile::tempdir().expect("a folder");
    let plan = run.join("plan.yaml").display().to_string();
    let again = squall(elsewhere.path(), &["run", &plan, "--allow-exec"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again));
    assert!(other.stats().requests > before);
}

#[test]
fn a_result_is_read_again_from_its_folder_and_from_its_json_alone() {
    let server = target();
    let folder = folder(PLAN, &server.url());
    let output = squall(folder.path(), &["run", "plan.yaml", "--allow-exec", "--quiet"]);
    let run = run_folder(folder.path());
    let of = |path: &Path| squall(folder.path(), &["report", &path.display().to_string()]);
    let (from_folder, shown) = (of(&run), String::from_utf8_lossy(&output.stdout).into_owned());
    let report = String::from_utf8_lossy(&from_folder.stdout).into_owned();
    assert!(shown.starts_with(&report), "{shown}\n{report}");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let copy = elsewhere.path().join("result.json");
    std::fs::copy(run.join("run.json"), &copy).expect("writable");
    let alone = of(&copy);
    assert_eq!(String::from_utf8_lossy(&alone.stdout), report);
    assert_eq!((from_folder.status.code(), alone.status.code()), (Some(0), Some(0)));
    for (format, expected) in [
        ("csv", "request,guest,,login,"),
        ("jsonl", "\"kind\":\"check\""),
        ("hlog", "Tag=program/buyer"),
    ] {
        let path = run.display().to_string();
        let exported = squall(folder.path(), &["export", &path, "--format", format]);
        assert!(text(&exported).contains(expected), "{format}: {}", text(&exported));
    }
    let schema = squall(folder.path(), &["schema", "--run"]);
    let schema: Value = serde_json::from_slice(&schema.stdout).expect("JSON");
    let json = read(&run.join("run.json"));
    for key in schema["required"].as_array().expect("keys") {
        assert!(json.get(key.as_str().expect("a key")).is_some(), "{key}");
    }
}

/// A plan of one scenario with these steps and thresholds; the exit code, and the kinds of reasons.
fn ends(head: &str, steps: &str) -> (Option<i32>, Vec<String>) {
    let server = target();
    let plan = format!(
        "{head}\nscenarios: {{a: {{load: {{users: 1, iterations: 4}}, steps: [{steps}]}}}}\n"
    );
    let folder = folder(&plan, &server.url());
    let output = squall(folder.path(), &["run", "plan.yaml", "--quiet"]);
    let run = run_folder(folder.path());
    let json = read(&run.join("run.json"));
    let again = squall(folder.path(), &["report", &run.display().to_string()]);
    assert_eq!(again.status.code(), output.status.code(), "{}", text(&output));
    let first = text(&output);
    let first = first.lines().next().expect("the outcome");
    let passed = json["outcome"]["passed"] == true;
    assert_eq!(first.starts_with(" run         passed"), passed, "{first}");
    let reasons = json["outcome"]["reasons"].as_array().expect("reasons");
    let kinds = reasons.iter().map(|own| own["kind"].as_str().expect("a kind").to_owned());
    (output.status.code(), kinds.collect())
}

#[test]
fn a_run_passes_or_fails_and_says_why() {
    let ends = |head: &str, steps: &str| {
        let (code, kinds) = ends(head, steps);
        (code.expect("a code"), kinds.join(" "))
    };
    let is = |code: i32, kinds: &str| (code, kinds.to_owned());
    let half = "{get: /}, {get: /status/500}";
    assert_eq!(ends("", "{get: /}"), is(0, ""));
    assert_eq!(ends("", half), is(1, "errors"));
    assert_eq!(ends("thresholds: [error_rate <= 50%]", half), is(0, ""));
    assert_eq!(ends("thresholds: [error_rate < 50%]", half), is(1, "threshold"));
    assert_eq!(ends("", "{get: /status/500}"), is(1, "every_request"));
    assert_eq!(ends("thresholds: [count > 0]", "{get: /status/500}"), is(1, "every_request"));
    let checks = "{get: /, check: {expr: iteration > 0, name: later}}";
    assert_eq!(ends("", checks), is(1, "check errors"));
    assert_eq!(ends("thresholds: [checks_failed <= 1]", checks), is(0, ""));
    let missing = "{get: /}, {if: iteration > 99, then: [{set: {x: 1}}]}, {set: {y: \"${x}\"}}";
    assert_eq!(ends("", missing), is(1, "expressions"));
    assert_eq!(ends("teardown: [{get: /status/500}]", "{get: /}"), is(3, "incomplete"));
}

/// A run leaves its page, and makes files of other kinds; so does a report of it, or of its result alone.
#[test]
fn a_result_is_written_in_other_forms() {
    let server = target();
    let folder = folder(PLAN, &server.url());
    let path = folder.path();
    let outs = ["html=a.html", "json=a.json", "csv=a.csv", "markdown=a.md", "junit=a.xml"];
    let more = ["gitlab=a.gitlab.json", "openmetrics=a.txt", "hlog=a.hlog", "github=-"];
    let flags: Vec<&str> = outs.iter().chain(&more).flat_map(|out| ["--out", *out]).collect();
    let run = ["run", "plan.yaml", "--allow-exec", "--quiet"];
    let output = squall(path, &[&run[..], &flags].concat());
    assert!(text(&output).contains("::notice title=plan"), "{}", text(&output));
    let made = run_folder(path);
    let whole = |name: &str| std::fs::read_to_string(path.join(name)).expect(name);
    assert_eq!(whole("a.html"), std::fs::read_to_string(made.join("report.html")).expect("a page"));
    assert_eq!(read(&path.join("a.json")), read(&made.join("run.json")));
    for (name, begins) in
        [("a.csv", "kind,"), ("a.md", "## "), ("a.xml", "<?xml"), ("a.hlog", "#[Histogram")]
    {
        assert!(whole(name).starts_with(begins), "{name}: {}", whole(name));
    }
    assert!(whole("a.txt").ends_with("# EOF\n") && read(&path.join("a.gitlab.json")).is_array());
    let from = |source: &Path| {
        let source = source.to_string_lossy().into_owned();
        let output =
            squall(path, &["report", &source, "--out", "html=b.html", "-o", "markdown=b.md"]);
        assert_eq!(text(&output), "", "files alone are written");
        (whole("b.html"), whole("b.md"))
    };
    assert_eq!(from(&made), (whole("a.html"), whole("a.md")));
    assert_eq!(from(&made.join("run.json")).1, whole("a.md"));
}

/// Without a folder there is a page nevertheless; what cannot be made is known before anything is sent.
#[test]
fn a_run_without_a_folder_has_a_page() {
    let server = target();
    let folder = tempfile::tempdir().expect("a folder");
    let run = |out: &str| squall(folder.path(), &[&server.url(), "-n", "5", "-q", "--out", out]);
    assert_eq!(run("html=quick.html").status.code(), Some(0));
    let page = std::fs::read_to_string(folder.path().join("quick.html")).expect("a page");
    assert!(page.contains("\"curves\":{\"seconds\":1,"), "{page}");
    let before = server.stats().requests;
    for (out, reason) in [
        ("hlog=a.hlog", "add `--out DIR`"),
        ("xml=a.xml", "unknown kind of file `xml`"),
        ("jtl=-", "samples=FILE.jtl"),
        ("samples=-", ".jsonl"),
        ("csv=nowhere/a.csv", "nowhere/a.csv"),
    ] {
        let output = run(out);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{out}: {said}");
        assert!(said.contains(reason), "{out}: {said}");
    }
    assert_eq!(server.stats().requests, before);
}

/// A check that several requests share has a row for each of them, in the report as well, and a threshold about it is about all.
#[test]
fn a_check_has_a_row_for_each_request_that_it_judged() {
    let server = target();
    let plan = "thresholds: ['error_rate(status == 200, kind: check) == 50%']\n\
        scenarios: {a: {load: {users: 1, iterations: 2}, steps: [{get: /, check: status == 200}, \
        {group: g, steps: [{get: /status/500, name: broken, check: status == 200}]}]}}\n";
    let folder = folder(plan, &server.url());
    let output = squall(folder.path(), &["run", "plan.yaml", "-q", "--full"]);
    let json = read(&run_folder(folder.path()).join("run.json"));
    let rows: Vec<_> = json["checks"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| (row["group"].to_string(), row["passed"].as_u64(), row["failed"].as_u64()))
        .collect();
    let expected = [(r#"["GET /"]"#, 2, 0), (r#"["g","broken"]"#, 0, 2)];
    let expected =
        expected.map(|(place, passed, failed)| (place.to_owned(), Some(passed), Some(failed)));
    assert_eq!(rows, expected);
    let shown = text(&output);
    for line in
        [" GET /: status == 200 ", " g / broken: status == 200 ", "passed error_rate(status == 200"]
    {
        assert!(shown.contains(line), "{line}: {shown}");
    }
}
