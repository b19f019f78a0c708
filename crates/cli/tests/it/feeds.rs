//! Feeds of the binary: where they are typed, and what is said of them.

use std::fs;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Gate, go_on, squall, stop};

const PLAN: &str = "
target: builtin
scenarios:
  a:
    load: {users: 2, for: 1200ms}
    steps:
      - {get: /, name: home}
      - {think: 20ms}
      - {metric: {name: paid, kind: counter, value: 0.1, tags: {plan: free}}}
";

/// A receiver that is not there costs a warning and its points, and its password is shown nowhere.
#[test]
fn a_run_with_feeds_passes_whatever_becomes_of_them() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("plan.yaml"), PLAN).expect("written");
    // Port 1 is nobody's.
    let influxdb = "influxdb=http://me:hidden-word@127.0.0.1:1/write?db=x&p=hidden-word";
    let args =
        ["run", "plan.yaml", "--out", "jsonl=out.jsonl", "--out", influxdb, "--tag", "env=ci"];
    let output = squall(folder.path(), &[&args[..], &["--out", "runs"]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let path = fs::read_dir(folder.path().join("runs")).expect("a folder").next();
    let path = path.expect("a run").expect("a readable entry").path();
    let text = fs::read_to_string(path.join("run.json")).expect("a result");
    let run: Value = serde_json::from_str(&text).expect("JSON");
    let [file, receiver] = &run["feeds"].as_array().expect("a list")[..] else { panic!("{run}") };
    assert_eq!(file["name"], "jsonl=out.jsonl");
    assert_eq!((&file["points_lost"], &file["error"]), (&json!(0), &Value::Null));
    assert_eq!(receiver["points_sent"], json!(0));
    assert_eq!(receiver["points_lost"], file["points_sent"]);
    assert!(run["warnings"].to_string().contains("points were lost"), "{}", run["warnings"]);
    assert!(run["meta"]["command"].to_string().contains("influxdb=http://***@127.0.0.1:1"));
    // What is in the file is what the run counted.
    let lines = fs::read_to_string(folder.path().join("out.jsonl")).expect("a file");
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let rows: Vec<Value> = lines.filter(|line| line["measurement"] == "squall_requests").collect();
    let sum = |name: &str| rows.iter().filter_map(|row| row["fields"][name].as_u64()).sum::<u64>();
    for name in ["count", "errors", "bytes_in", "bytes_out"] {
        assert_eq!(Some(sum(name)), run["totals"][name].as_u64(), "{name}");
    }
    assert!(rows.iter().all(|row| row["tags"]["env"] == "ci" && row["tags"]["name"] == "home"));
    // So are the plan's own metrics.
    let paid = &run["metrics"][0];
    let text = fs::read_to_string(folder.path().join("out.jsonl")).expect("a file");
    let metrics = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let metrics = metrics.filter(|line| line["measurement"] == "squall_metrics");
    // Those of the host have no scenario.
    let (metrics, of_host): (Vec<Value>, Vec<Value>) =
        metrics.partition(|line| line["tags"]["name"] == "paid");
    assert!(metrics.iter().all(|own| own["tags"]["plan"] == "free"));
    let is_of_host = |own: &Value| own["tags"].get("scenario").is_none_or(|own| own == "");
    assert!(!of_host.is_empty() && of_host.iter().all(is_of_host), "{of_host:?}");
    let count: u64 = metrics.iter().filter_map(|own| own["fields"]["count"].as_u64()).sum();
    let sum: f64 = metrics.iter().filter_map(|own| own["fields"]["sum"].as_f64()).sum();
    assert_eq!(Some(count), paid["count"].as_u64());
    let wanted = paid["sum"].as_f64().expect("a sum");
    assert!(wanted > 0.0 && (sum - wanted).abs() < 1e-6 * wanted, "{sum} is not {wanted}");
    // The result that is made of the folder again says the same.
    let again = squall(folder.path(), &["report", path.to_str().expect("text")]);
    // Long lines are broken between words.
    let shown = [&output.stdout, &output.stderr, &again.stdout].map(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        text.split_whitespace().collect::<Vec<&str>>().join(" ")
    });
    assert!(
        shown[0].contains("points were lost") && shown[2].contains("points were lost"),
        "{shown:?}"
    );
    for file in fs::read_dir(&path).expect("a folder") {
        let file = file.expect("a readable entry").path();
        let bytes = fs::read(&file).expect("readable");
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("hidden-word"), "{}", file.display());
    }
    assert!(shown.iter().all(|text| !text.contains("hidden-word")), "{shown:?}");
}

/// A receiver of Graphite's plain text has everything, and squall waits for its end, when it is stopped and goes on.
#[test]
fn a_feed_survives_that_squall_is_stopped() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let to = format!("graphite={}", listener.local_addr().expect("an address"));
    let (gate, (say, told)) = (Arc::new(Gate::default()), channel());
    let held = gate.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let read = std::io::copy(&mut stream, &mut std::io::sink()).expect("text");
            say.send(read).expect("the test waits");
            held.pass();
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    let plan =
        "target: builtin\nscenarios: {a: {load: {users: 1, iterations: 1}, steps: [{get: /}]}}\n";
    fs::write(folder.path().join("plan.yaml"), plan).expect("written");
    let child = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(["run", "plan.yaml", "-q", "--json", "-", "--out", &to])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("squall starts");
    assert!(told.recv().expect("a connection") > 0);
    std::thread::sleep(Duration::from_millis(200));
    stop(&child);
    go_on(&child);
    gate.open();
    let output = child.wait_with_output().expect("squall ends");
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let feed = &run["feeds"][0];
    assert_eq!((&feed["points_lost"], &feed["error"]), (&json!(0), &Value::Null), "{feed}");
}

/// A file that the user asks for as well is written once, with the user's tags.
#[test]
fn a_file_that_two_feeds_name_is_written_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!(
        "feeds: [{{jsonl: out.jsonl}}, {{jsonl: ./own.jsonl}}, {{jsonl: own.jsonl}}]{PLAN}"
    );
    fs::write(folder.path().join("plan.yaml"), plan).expect("written");
    let args = ["run", "plan.yaml", "--out", "jsonl=./out.jsonl", "--json", "-"];
    let output = squall(folder.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let run: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let names = run["feeds"].as_array().expect("a list").iter().map(|feed| &feed["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["jsonl=./out.jsonl", "jsonl=./own.jsonl"]);
    for name in ["out.jsonl", "own.jsonl"] {
        let lines = fs::read_to_string(folder.path().join(name)).expect("a file");
        let points = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        assert_eq!(Some(points.count() as u64), run["feeds"][0]["points_sent"].as_u64(), "{name}");
    }
}

#[test]
fn a_feed_that_makes_no_sense_is_said_before_anything_is_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("plan.yaml"), PLAN).expect("written");
    for (args, word) in [
        (&["--out", "influxdb=http://me:hidden-word@h:8086/"][..], "that takes writes"),
        (&["--out", "graphite=h"][..], "HOST:PORT"),
        (&["--out", "statsd=h"][..], "HOST:PORT"),
        (&["--out", "prometheus=h"][..], "prometheus=PORT"),
        (&["--out", "remote-write=http://h:9090"][..], "/api/v1/write"),
        (&["--out", "otlp=h:4318"][..], "expected a URL"),
        (&["--out", "otlp-grpc=http://h:4317/v1/metrics"][..], "only a server"),
        (&["--out", "jsonl=nowhere/out.jsonl"][..], "nowhere/out.jsonl"),
        (&["--out", "xml=a"][..], "feeds: jsonl"),
        (&["--tag", "scenario=a"][..], "gives itself"),
        (&["--tag", "le=a"][..], "gives itself"),
        (&["--tag", "env=a"][..], "goes with a feed"),
    ] {
        let output = squall(folder.path(), &[&["run", "plan.yaml"], args].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_ne!(output.status.code(), Some(0), "{args:?}");
        assert!(said.contains(word) && !said.contains("hidden-word"), "{args:?}: {said}");
    }
}
