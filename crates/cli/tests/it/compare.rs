//! `squall history`, `compare`, `trend` and `baseline` on real runs.

use std::path::Path;

use serde_json::Value;

use crate::common::{folder, squall};

const PLAN: &str = "name: pair\ntarget: builtin\nscenarios:\n  s:\n    load: {rate: 100/s, for: 7s}\n    steps:\n      - {get: /, name: home}\n      - {get: /delay/5, name: five}\n";

/// The standard output of a command that ends with a code.
fn printed(folder: &Path, args: &[&str], code: i32) -> String {
    let output = squall(folder, args);
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{err}");
    out
}

fn json(folder: &Path, args: &[&str], code: i32) -> Value {
    let text = printed(folder, args, code);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn runs_are_listed_compared_and_kept() {
    // What changes is what no other program on this machine can change: whether it fails.
    let broken = PLAN.replace("/delay/5", "/status/503");
    let folder = folder(&[("plan.yaml", PLAN), ("broken.yaml", broken.as_str())]);
    let at = folder.path();
    for (plan, branch, code) in [("plan.yaml", "main", 0), ("broken.yaml", "broken", 1)] {
        let label = format!("branch={branch}");
        printed(
            at,
            &["run", plan, "-w", "1", "--quiet", "--label", &label, "--label", "commit=0123456789"],
            code,
        );
    }

    let history = json(at, &["history", "--json"], 0);
    let branches: Vec<&Value> = history["runs"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|run| &run["meta"]["labels"]["branch"])
        .collect();
    assert_eq!(branches, ["main", "broken"]);
    let found = json(at, &["history", "--label", "branch=broken", "--commit", "0123", "--json"], 0);
    assert_eq!(found["runs"].as_array().map(Vec::len), Some(1));
    let listed = |args: &[&str]| printed(at, &[&["history"], args].concat(), 0);
    assert!(listed(&["--outcome", "failed"]).contains("1 run\n"));
    assert!(listed(&["--outcome", "failed", "--outcome", "passed"]).contains("2 runs\n"));
    assert!(listed(&["--outcome", "incomplete"]).contains("0 runs\n"));
    assert!(listed(&["--validity", "none"]).contains("0 runs\n"));

    // By labels; the last run with it is meant.
    let found = json(at, &["compare", "main", "branch=broken", "--json"], 0);
    let five = found["pairs"][0]["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .find(|row| row["name"] == "five");
    let values = five.expect("the request")["values"].as_array().expect("values");
    let result = |measure: &str| {
        let own = values.iter().find(|own| own["measure"] == measure).expect("a measure");
        own["result"].as_str().expect("a word").to_owned()
    };
    assert_eq!(result("error_rate"), "changed", "{values:?}");
    assert_ne!(result("rate"), "changed", "{values:?}");
    let text = printed(at, &["compare", "main", "broken"], 0);
    assert!(text.contains("plan's text differs") && text.contains("more errors (+100"), "{text}");

    // Gates, and the other outputs.
    let gate = |gate: &str, code: i32| {
        printed(at, &["compare", "main", "broken", "--fail-if", gate], code)
    };
    assert!(gate("error_rate +10%", 1).contains("FAILED error_rate +10%"));
    assert!(gate("rate(five) -90%", 0).contains("passed rate(five) -90%"));
    printed(at, &["compare", "main", "broken", "--markdown", "a.md", "--html", "a.html"], 0);
    let read = |name: &str| std::fs::read_to_string(at.join(name)).expect("it was written");
    assert!(read("a.md").contains("| five | rate |") && read("a.html").ends_with("</html>\n"));

    // A baseline says what its run says, and a run.json less.
    printed(at, &["baseline", "save", "main", "base.gz"], 0);
    let kept = json(at, &["compare", "base.gz", "broken", "--json"], 0);
    let results = |json: &Value| -> Vec<Value> {
        let rows = json["pairs"][0]["rows"].as_array().expect("rows").iter();
        let values = rows.flat_map(|row| row["values"].as_array().expect("values"));
        // A baseline rounds sums to µs: a mean's result may then turn on a hair.
        values.filter(|own| own["measure"] != "mean").map(|own| own["result"].clone()).collect()
    };
    assert_eq!(results(&kept), results(&found));
    let run = at.join(history["runs"][0]["folder"].as_str().expect("a folder")).join("run.json");
    let alone = printed(at, &["compare", run.to_str().expect("UTF-8"), "broken"], 0);
    assert!(alone.contains("is a run.json alone"), "{alone}");

    let trend = json(at, &["trend", "--measure", "p50(five)", "--json"], 0);
    assert_eq!(trend["runs"].as_array().map(Vec::len), Some(2));
    assert!(printed(at, &["trend"], 0).contains("at least 8 runs are needed to detect a step"));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let folder = folder(&[("text", "no run"), ("half.gz", "\u{1f}")]);
    std::fs::write(folder.path().join("half.gz"), [0x1f, 0x8b, 8, 0]).expect("writable");
    let refused = |args: &[&str], words: &[&str]| {
        let output = squall(folder.path(), args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        words.iter().for_each(|word| assert!(text.contains(word), "{word}: {text}"));
    };
    refused(&["compare", "a"], &["required"]);
    refused(&["compare", "a", "b"], &["a: no such run"]);
    refused(&["compare", "text", "text"], &["text:"]);
    refused(&["compare", "half.gz", "text"], &["not a baseline"]);
    refused(
        &["compare", "a", "b", "--fail-if", "p97 +1%"],
        &["column 1", "unknown measure `p97`", "\n  ^"],
    );
    refused(
        &["compare", "a", "b", "--fail-if", "p95 10%"],
        &["column 5", "expected + or -", "\n      ^"],
    );
    refused(&["compare", ".", "."], &["this is not the folder of a run"]);
    refused(&["compare", "text", "text"], &["this is not the result of a run"]);
    refused(
        &["compare", "a", "b", "--json", "-", "--markdown", "-"],
        &["only one of --json, --markdown and --html"],
    );
    refused(&["trend", "--measure", "p95(x"], &["column 4", "closing parenthesis"]);
    refused(&["history", "nowhere"], &["nowhere"]);
    refused(&["history", "--label", "main"], &["NAME=VALUE"]);
    refused(&["history", "--outcome", "broken"], &["passed, failed, incomplete"]);
    refused(
        &["trend", "--measure", "p95", "--validity", "good"],
        &["valid, questionable, invalid, none"],
    );
    refused(&["baseline", "save", "nothing", "file"], &["nothing: no such run"]);
    refused(&["run", "text", "--label", "a b=c"], &["the name `a b`"]);
}
