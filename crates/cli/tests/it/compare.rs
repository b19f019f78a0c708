//! `squall history`, `compare`, `trend` and `baseline`, on real runs and on made-up ones.

use std::path::Path;

use serde_json::Value;
use squall_analysis::Totals;
use squall_base::random::Random;
use squall_metrics::{NameId, RowKey, RowKind, Sample, Slice};
use squall_report::{Meta, Recording, Run, RunFolder, document};

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

    // The other outputs.
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

/// Makes up a run of so many seconds at 100/s in `squall-runs`, whose latencies are longer by a factor; returns its folder.
fn made_up(at: &Path, branch: &str, number: u64, seconds: u32, slower: f64) -> String {
    let meta = Meta {
        plan: "pair".to_owned(),
        labels: [("branch".to_owned(), branch.to_owned())].into_iter().collect(),
        started_unix: 1_795_213_023.0 + number as f64 * 600.0,
        warmup: "none".to_owned(),
        constant_s: Some((0.0, None)),
        seed: number,
        ..Meta::default()
    };
    let mut folder =
        RunFolder::create(&at.join("squall-runs"), &meta, "name: pair\n").expect("writable");
    let (mut totals, mut random) = (Totals::new(), Random::of(number, 1, 2, 3));
    for second in 0..seconds {
        let mut slice = Slice::new(0, second);
        if second == 0 {
            slice.announce(NameId(0), RowKey::new(RowKind::Request, "s", "home"));
        }
        for _ in 0..100 {
            let us = 12_000.0 * slower * random.normal(0.0, 0.3).exp();
            slice.record(NameId(0), &Sample { latency_ns: (us * 1e3) as u64, ..Sample::ok(0) });
        }
        folder.slice(&slice);
        assert!(totals.add(&slice));
    }
    let mut run = Run {
        meta,
        elapsed_s: f64::from(seconds),
        finished: true,
        totals: totals.into(),
        ..Run::default()
    };
    let mut recording = Recording::open(&folder.path().join("slices.bin")).expect("it was written");
    run.evaluate(&mut recording).expect("readable");
    folder.write_result(&document(&run)).expect("writable");
    let name = folder.path().file_name().expect("a name").to_string_lossy();
    format!("squall-runs/{name}")
}

/// The runs of each side of a comparison.
fn sides(comparison: &Value) -> Vec<Vec<&str>> {
    let runs = comparison["runs"].as_array().expect("runs");
    let side = |side: &Value| -> Vec<&str> {
        let positions = side["runs"].as_array().expect("positions").iter();
        let names = positions.map(|at| &runs[at.as_u64().expect("a number") as usize]["name"]);
        names.map(|name| name.as_str().expect("a name")).collect()
    };
    comparison["sides"].as_array().expect("sides").iter().map(side).collect()
}

#[test]
fn a_gate_has_three_outcomes() {
    let folder = folder(&[]);
    let at = folder.path();
    for (branch, seconds, slower) in
        [("main", 40, 1.0), ("same", 40, 1.0), ("slow", 40, 1.5), ("short", 6, 1.12)]
    {
        made_up(at, branch, seconds.into(), seconds, slower);
    }
    let gated = |more: &[&str], code: i32| {
        let output = squall(at, &[&["compare", "main"], more].concat());
        let (out, errors) = (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        );
        assert_eq!(output.status.code(), Some(code), "{more:?}\n{out}\n{errors}");
        (out, errors)
    };
    let gate = ["--fail-if", "p99 +10%"];
    let (out, errors) = gated(&[&["same"], &gate[..]].concat(), 0);
    assert!(
        out.contains("not worse p99 +10%: home") || out.contains("not worse p99 +10%: all"),
        "{out}"
    );
    assert_eq!(errors, "");
    let (out, _) = gated(&[&["slow"], &gate[..]].concat(), 1);
    assert!(out.contains("WORSE p99 +10%") && out.contains("the gate failed: p99 +10%"), "{out}");
    // It could be anything: a build does not fail for that, unless it is to.
    let narrow = ["--fail-if", "p99 +5%"];
    let (out, errors) = gated(&[&["short"], &narrow[..]].concat(), 0);
    assert!(out.contains("cannot tell p99 +5%") && out.contains("would tell"), "{out}");
    assert!(errors.contains("warning: --fail-if cannot tell"), "{errors}");
    gated(&[&["short"], &narrow[..], &["--strict"]].concat(), 3);
    gated(&[&["slow"], &gate[..], &["--strict"]].concat(), 1);
    // Runs that are left over are no candidates.
    let (_, errors) = gated(&[&["same", "short"], &gate[..]].concat(), 2);
    assert!(errors.contains("2 were given: name the one that is meant"), "{errors}");
    gated(&["same", "short"], 0);
}

#[test]
fn several_runs_of_a_side_are_taken_together() {
    let folder = folder(&[]);
    let at = folder.path();
    let main: Vec<String> = (0..4).map(|number| made_up(at, "main", number, 12, 1.0)).collect();
    let new: Vec<String> = (4..7).map(|number| made_up(at, "new", number, 12, 1.06)).collect();
    let name = |folder: &String| folder.trim_start_matches("squall-runs/").to_owned();
    let named = |folders: &[String]| folders.iter().map(name).collect::<Vec<_>>();

    // Labels mean the last runs that have them.
    let found = json(at, &["compare", "main", "new", "--last", "3", "--json"], 0);
    assert_eq!(sides(&found), [named(&main[1..]), named(&new)]);
    let one = json(at, &["compare", "main", "new", "--json"], 0);
    assert_eq!(sides(&one), [["main"], ["new"]]);
    // Three tell what one does not: their interval is narrower.
    let width = |found: &Value| {
        let values = found["pairs"][0]["rows"][0]["values"].as_array().expect("values");
        let mean = values.iter().find(|own| own["measure"] == "mean").expect("a mean");
        mean["high"].as_f64().expect("known") - mean["low"].as_f64().expect("known")
    };
    assert!(width(&found) < 0.8 * width(&one), "{} {}", width(&found), width(&one));

    // Runs that are named, and the last ones of the folder, whatever they are called.
    let named_runs =
        ["compare", "--before", &main[0], &main[1], "--after", &new[0], &new[2], "--json"];
    assert_eq!(sides(&json(at, &named_runs, 0))[1], [name(&new[0]), name(&new[2])]);
    let last = json(at, &["compare", "main", "--last", "1", "--json"], 0);
    assert_eq!(sides(&last)[1], [name(&new[2])]);
    // A run that is the last one itself is not compared with itself, however it is named.
    let result = format!("{}/run.json", new[2]);
    let absolute = at.join(&new[2]);
    let ways = ["new", new[2].as_str(), result.as_str(), absolute.to_str().expect("UTF-8")];
    for way in ways {
        let last = json(at, &["compare", way, "--last", "1", "--json"], 0);
        assert_eq!(sides(&last)[1], [name(&new[1])], "{way}");
    }

    // A baseline of several keeps them.
    let saved = printed(at, &["baseline", "save", "main", "base.gz", "--last", "4"], 0);
    assert!(saved.starts_with("base.gz: 4 runs, 2 rows, "), "{saved}");
    let folders =
        [["compare", "--before"].as_slice(), &main.iter().map(String::as_str).collect::<Vec<_>>()]
            .concat();
    let whole = json(at, &[folders.as_slice(), &["--after", "new", "--json"]].concat(), 0);
    let kept = json(at, &["compare", "base.gz", "new", "--json"], 0);
    let results = |found: &Value| -> Vec<Value> {
        let values = found["pairs"][0]["rows"][0]["values"].as_array().expect("values");
        values.iter().map(|own| own["result"].clone()).collect()
    };
    assert_eq!(results(&kept), results(&whole));
    let text = printed(at, &["compare", "base.gz", "new"], 0);
    assert!(text.contains(" base.gz: 4 runs\n") && text.contains(" base.gz (4)  2026-"), "{text}");
    // A result alone cannot be one of several.
    let result = format!("{}/run.json", main[0]);
    let output = squall(at, &["compare", "--before", &result, &main[1], "--after", "new"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(2) && errors.contains("name the run's folder"),
        "{errors}"
    );
}

#[test]
fn lists_and_trends_show_what_runs_came_to() {
    let folder = folder(&[]);
    let at = folder.path();
    let path = made_up(at, "main", 1, 12, 1.0);
    made_up(at, "main", 2, 12, 1.0);
    // One of the two is made invalid, and failed.
    let file = at.join(&path).join("run.json");
    let mut result: Value =
        serde_json::from_slice(&std::fs::read(&file).expect("readable")).expect("JSON");
    result["validity"] = "invalid".into();
    result["outcome"]["passed"] = false.into();
    std::fs::write(&file, result.to_string()).expect("writable");
    let trend = printed(at, &["trend", "--measure", "p95"], 0);
    let bar = trend.lines().find(|line| line.contains("FAILED, invalid")).expect("it is said");
    assert!(bar.contains("ms ▬"), "{trend}");
    let history = printed(at, &["history"], 0);
    assert!(history.contains("FAILED  invalid branch"), "{history}");
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
    refused(&["compare"], &["required"]);
    refused(&["compare", "text"], &["take the last ones with `--last N`"]);
    refused(&["compare", "--before", "a"], &["--after"]);
    refused(&["compare", "text", "text", "--strict"], &["--fail-if"]);
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
