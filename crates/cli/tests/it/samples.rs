//! Samples: a row for each request.

use serde_json::Value;

use crate::common::{result, squall, target};

/// Runs a plan with setup and teardown; returns the result, and the rows of the samples.
fn sampled(name: &str) -> (Value, Vec<Vec<String>>) {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nvars: {{password: hunter2}}\nsetup: [{{get: /echo}}]\nteardown: [{{get: /status/200}}]\nscenarios:\n  \
         shop:\n    title: store\n    load: {{users: 3, for: 2500ms}}\n    steps:\n      - {{get: '/echo?password=${{password}}', name: good}}\n      \
         - {{get: /status/500, name: bad}}\n      - think: 100ms\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    // Half of the requests are errors.
    let json = result(folder.path(), &["run", "plan.yaml", "--out", &format!("samples={name}")], 1);
    let text = std::fs::read_to_string(folder.path().join(name)).expect("samples");
    assert!(!text.contains("hunter2"), "{text}");
    let rows: Vec<Vec<String>> =
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{text}");
    let count = json["totals"]["count"].as_u64().expect("a count");
    assert_eq!(rows.len() as u64, 1 + count + 2, "a head, and setup and teardown");
    (json, rows)
}

/// The cells of a column.
fn column<'r>(rows: &'r [Vec<String>], name: &str) -> Vec<&'r str> {
    let at = rows[0].iter().position(|own| own == name).expect(name);
    rows[1..].iter().map(|row| row[at].as_str()).collect()
}

fn sum(cells: &[&str]) -> u64 {
    cells.iter().map(|cell| cell.parse::<u64>().expect("a number")).sum()
}

#[test]
fn every_request_has_a_row() {
    let (json, rows) = sampled("all.csv");
    let phases = column(&rows, "run_phase");
    assert_eq!((phases[0], phases[phases.len() - 1]), ("setup", "teardown"));
    let load = &rows[2..rows.len() - 1];
    let load: Vec<Vec<String>> = std::iter::once(&rows[0]).chain(load).cloned().collect();
    assert_eq!(Some(sum(&column(&load, "bytes_in"))), json["totals"]["bytes_in"].as_u64());
    let errors = column(&load, "error").into_iter().filter(|error| !error.is_empty()).count();
    assert_eq!(Some(errors as u64), json["totals"]["errors"].as_u64());
    // Whole µs in the result, fractions here.
    let latencies = column(&load, "latency_us").into_iter();
    let slowest = latencies.map(|us| us.parse::<f64>().expect("a latency") as u64).max();
    assert_eq!(slowest, json["totals"]["latency_us"]["max"].as_f64().map(|us| us as u64));
    assert!(column(&load, "users_active").contains(&"3"), "from the second second on");
    // Times go on from phase to phase, and all lie within the run.
    let began = json["meta"]["started_unix"].as_f64().expect("a time") * 1e6;
    let times = column(&rows, "at_unix_us");
    let at = |index: usize| times[index].parse::<f64>().expect("a time") - began;
    let (setup, first, teardown) = (at(0), at(1), at(times.len() - 1));
    assert!(-1.0 <= setup && setup < first && first < teardown, "{setup} {first} {teardown}");
    assert!(teardown - setup >= 2.5e6, "{setup} {teardown}");
}

#[test]
fn jmeters_columns() {
    let (json, rows) = sampled("all.jtl");
    assert_eq!(rows[0][..5], ["timeStamp", "elapsed", "label", "responseCode", "responseMessage"]);
    let failed = column(&rows, "success").into_iter().filter(|own| *own == "false").count();
    assert_eq!(Some(failed as u64), json["totals"]["errors"].as_u64());
    assert!(column(&rows, "threadName").contains(&"store 1-3"), "{rows:?}");
    assert!(column(&rows, "grpThreads").contains(&"3"), "{rows:?}");
    let bad = rows.iter().find(|row| row[2] == "bad").expect("a row");
    assert_eq!((bad[3].as_str(), bad[4].as_str()), ("500", "Internal Server Error"));
}

/// In several forms at once, each by the ending of its name.
#[test]
fn samples_have_the_form_that_their_name_says() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let (url, files) = (server.url(), ["--out", "samples=all.csv", "-o", "samples=rows.jtl"]);
    let output = squall(folder.path(), &[&[url.as_str(), "-n", "5", "-q"], &files[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let rows = |file: &str| -> Vec<String> {
        let text = std::fs::read_to_string(folder.path().join(file)).expect("samples");
        text.lines().map(str::to_owned).collect()
    };
    let jtl = rows("rows.jtl");
    assert!(jtl[0].starts_with("timeStamp,elapsed,label,"), "{jtl:?}");
    assert_eq!((jtl.len(), rows("all.csv").len()), (1 + 5, 1 + 5));
}

#[test]
fn a_file_that_cannot_be_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |file: &str, code: i32, word: &str| {
        let args = ["http://127.0.0.1:9/", "-n", "1", "-q", "--out", &format!("samples={file}")];
        let output = squall(folder.path(), &args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(word), "{word}: {text}");
    };
    refused("samples.bin", 2, ".csv, .jtl, .parquet or .jsonl");
    refused("no/such/folder.csv", 2, "no/such/folder.csv");
    for (before, now) in [
        (["--samples", "a.csv"], "--out samples=FILE"),
        (["--log-requests", "a"], "--out samples=FILE.jsonl"),
        (["--out", "jtl=a"], "samples=FILE.jtl"),
    ] {
        let output = squall(folder.path(), &[&["http://127.0.0.1:9/", "-q"], &before[..]].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{before:?}: {text}");
        assert!(text.contains(now), "{before:?}: {text}");
    }
}

#[test]
fn a_group_that_is_one_sample_comes_before_its_parts() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nscenarios:\n  shop:\n    load: {{users: 1, iterations: 1}}\n    steps:\n      \
         - group: outer\n        samples: parts\n        steps:\n          - {{get: /echo, name: a}}\n          \
         - {{group: apart, steps: [{{get: /echo, name: b}}]}}\n          \
         - parallel: [{{group: inner, samples: parts, steps: [{{get: /status/404, name: c}}]}}]\n      \
         - {{get: /echo, name: d}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &["run", "plan.yaml", "--out", "samples=all.jtl"], 1);
    assert_eq!(json["totals"]["count"], 4);
    let text = std::fs::read_to_string(folder.path().join("all.jtl")).expect("samples");
    let labels: Vec<[&str; 2]> = text
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            [cells[2], cells[3]]
        })
        .collect();
    let expected = [
        ["apart", "200"],
        ["outer", "404"],
        ["a", "200"],
        ["b", "200"],
        ["inner", "404"],
        ["c", "404"],
        ["d", "200"],
    ];
    assert_eq!(labels, expected);
    let outer = text.lines().find(|line| line.contains(",outer,")).expect("a row");
    // The two requests, and the group that is one sample.
    assert!(outer.contains("in transaction : 3, number of failing samples : 1"), "{outer}");
}

/// Whatever is in it, and only of it itself.
#[test]
fn a_group_that_is_one_sample_says_why_it_failed() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nscenarios:\n  shop:\n    load: {{users: 1, iterations: 1}}\n    steps:\n      \
         - group: late\n        samples: parts\n        steps:\n          - {{get: /echo, name: a}}\n          \
         - {{look: '', check: {{expr: 'duration < 0', message: too long}}}}\n      \
         - group: outer\n        samples: parts\n        steps:\n          \
         - {{group: own, steps: [{{look: '', check: {{expr: 'false', message: of it}}}}]}}\n          - {{get: /echo, name: b}}\n      \
         - {{group: apart, steps: [{{get: /echo, name: c}}, {{look: '', check: {{expr: 'false', message: not said}}}}]}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    result(folder.path(), &["run", "plan.yaml", "--out", "samples=all.jtl"], 1);
    let text = std::fs::read_to_string(folder.path().join("all.jtl")).expect("samples");
    // The message of a transaction has a comma of its own.
    let cells = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let at = if line.contains("in transaction") { 9 } else { 8 };
        [cells[2], cells[3], cells[at - 1], cells[at]].map(str::to_owned)
    };
    let rows: Vec<[String; 4]> = text.lines().skip(1).map(cells).collect();
    let expected = [
        ["late", "200", "false", "too long"],
        ["a", "200", "true", ""],
        ["outer", "200", "false", ""],
        ["own", "200", "false", "of it"],
        ["b", "200", "true", ""],
        ["c", "200", "true", ""],
        ["apart", "", "false", ""],
    ];
    assert_eq!(rows, expected.map(|row| row.map(str::to_owned)));
}

#[test]
fn what_a_plan_says_of_a_sample_is_in_its_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = "scenarios:\n  own:\n    load: {users: 1, iterations: 1}\n    steps:\n      \
         - {group: said, steps: [{look: a, status: '\"x1\"', reason: not good, check: {expr: 'false'}}]}\n      \
         - {group: plain, steps: [{look: a}]}\n      \
         - {group: none, steps: [{set: {a: 1}}]}\n      \
         - {group: around, steps: [{look: a, status: 201}, {exec: ['true'], name: 'p ${a}', reason: 'fine ${status}'}]}\n";
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let args = ["run", "plan.yaml", "--allow-exec", "--out", "samples=all.jtl"];
    result(folder.path(), &args, 1);
    let text = std::fs::read_to_string(folder.path().join("all.jtl")).expect("samples");
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|row| row.split(',').collect()).collect();
    let rows: Vec<[&str; 3]> = rows.iter().map(|row| [row[2], row[3], row[4]]).collect();
    let expected = [
        ["said", "x1", "not good"],
        ["plain", "200", "OK"],
        ["none", "200", "OK"],
        ["p 1", "0", "fine 0"],
        ["around", "200", "\"Number of samples in transaction : 1"],
    ];
    assert_eq!(rows, expected);
}
