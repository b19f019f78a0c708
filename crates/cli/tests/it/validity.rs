//! Validity: what makes numbers questionable or invalid is provoked for real, and must be found. What needs
//! a machine of its own (a busy CPU, a small range of ports, lost packets) is in
//! `interop/test_validity.py`.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::{kinds, result, squall, target};

/// The reason of a rule, if the run has it.
fn reason<'a>(json: &'a Value, rule: &str) -> Option<&'a Value> {
    json["validity_reasons"].as_array()?.iter().find(|reason| reason["rule"] == rule)
}

fn signal(child: &Child, name: &str) {
    let command = format!("kill -{name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &command]).status().expect("a shell").success());
}

#[test]
fn a_stopped_generator_says_so_and_does_not_blame_the_target() {
    let server = target();
    let child = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args([&format!("{}/delay/300", server.url()), "-c", "1", "-n", "2", "-q", "--json", "-"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("squall starts");
    while server.stats().accepted == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    signal(&child, "STOP");
    std::thread::sleep(Duration::from_millis(1_500));
    signal(&child, "CONT");
    let output = child.wait_with_output().expect("squall ends");
    let json: Value = serde_json::from_slice(&output.stdout).expect("a result");
    let stalled =
        reason(&json, "stalled").unwrap_or_else(|| panic!("{}", json["validity_reasons"]));
    // More than half of the run was lost.
    assert_eq!(
        (&stalled["validity"], &json["validity"]),
        (&"invalid".into(), &"invalid".into()),
        "{stalled}"
    );
    let delay = json["generator"]["receive_delay_us"]["max"].as_f64().expect("a stamp");
    let latency = json["totals"]["latency_us"]["max"].as_f64().expect("a response");
    let elapsed = json["elapsed_s"].as_f64().expect("a length") * 1e6;
    assert!(delay >= 500_000.0, "{delay}");
    assert!(latency >= 299_000.0 && latency + delay <= elapsed, "{latency} {delay} {elapsed}");
}

/// More connections than a process may have files: each worker has a table of its own, and there are as
/// many workers as that takes.
#[test]
fn one_table_of_files_is_not_the_limit() {
    let server = target();
    let command = format!(
        "ulimit -n 80; exec '{}' {}/delay/200 -c 100 -n 400 -q --json -",
        env!("CARGO_BIN_EXE_squall"),
        server.url()
    );
    let output = Command::new("sh").args(["-c", &command]).output().expect("a shell");
    let json: Value = serde_json::from_slice(&output.stdout).expect("a result");
    assert_eq!((kinds(&json).as_str(), &json["totals"]["count"]), ("{}", &400.into()));
    assert_eq!(json["counters"]["connections_opened"], 100);
    let workers = json["meta"]["workers"].as_u64().expect("a number");
    assert!(workers >= 3, "{workers}");
    let open = json["host_metrics"]["open_files"].as_u64().expect("a number");
    assert!(open <= 80, "of the fullest table: {open}");
}

#[test]
fn too_few_files_are_squalls_own_limit() {
    let server = target();
    let command = format!(
        "ulimit -n 40; exec '{}' {}/delay/200 -c 100 -n 200 -w 1 -q --json - --strict",
        env!("CARGO_BIN_EXE_squall"),
        server.url()
    );
    let output = Command::new("sh").args(["-c", &command]).output().expect("a shell");
    let json: Value = serde_json::from_slice(&output.stdout).expect("a result");
    assert!(kinds(&json).contains("too_many_open_files"), "{}", kinds(&json));
    let files = reason(&json, "files").unwrap_or_else(|| panic!("{}", json["validity_reasons"]));
    assert_eq!((&files["validity"], output.status.code()), (&"invalid".into(), Some(3)));
    assert!(files["observed"].to_string().contains("limit of open files (40)"), "{files}");
}

#[test]
fn a_percentile_needs_enough_responses() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let short = |iterations: u32| {
        let plan = format!(
            "target: {}\nthresholds: [p99.9 < 1m, mean < 1m]\nscenarios: {{a: {{load: {{users: 1, iterations: {iterations}}}, steps: [{{get: /}}]}}}}\n",
            server.url()
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        let json = result(folder.path(), &["run", "plan.yaml"], 0);
        reason(&json, "too_short").map(|reason| reason["observed"].to_string())
    };
    let seen = short(3_687).expect("too few responses");
    assert!(seen.contains("is based on 3,687 responses; p99.9 needs at least 3,688"), "{seen}");
    assert_eq!(short(3_688), None);
}

#[test]
fn only_strict_fails_for_an_invalid_run() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let url = format!("{}/delay/300", server.url());
    let args = [url.as_str(), "-r", "100/s", "-c", "2", "-d", "500ms"];
    let json = result(folder.path(), &args, 0);
    assert_eq!(
        reason(&json, "arrivals_dropped").map(|reason| &reason["validity"]),
        Some(&"invalid".into())
    );
    result(folder.path(), &[&args[..], &["--strict"]].concat(), 3);
    let text = squall(folder.path(), &[&args[..], &["-q"]].concat()).stdout;
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains("validity    INVALID") && text.contains("hint:"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn a_killed_run_is_evaluated_too() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nscenarios: {{a: {{load: {{users: 1, iterations: 5}}, steps: [{{get: /}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let first = result(folder.path(), &["run", "plan.yaml", "--out", "runs"], 0);
    let run = std::fs::read_dir(folder.path().join("runs")).expect("runs").next().expect("a run");
    let run = run.expect("an entry").path().display().to_string();
    let output = squall(folder.path(), &["report", &run, "--json", "-"]);
    let again: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(again["host_metrics"], first["host_metrics"]);
    assert_eq!(again["validity_reasons"], first["validity_reasons"]);
    assert!(again["host_metrics"]["open_files_limit"].as_u64() > Some(0));
}

#[test]
fn a_target_that_gets_slower_and_slower_is_not_steady() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan =
        "scenarios: {a: {load: {users: 1, for: 12s}, steps: [{get: \"/delay/${iteration}\"}]}}";
    let plan = format!("target: {}\nwarmup: none\n{plan}\n", server.url());
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &["run", "plan.yaml"], 0);
    let unsteady =
        reason(&json, "unsteady").unwrap_or_else(|| panic!("{}", json["validity_reasons"]));
    let seen = unsteady["observed"].as_str().expect("words");
    // All of them do, and the report names the one that changed most.
    let told =
        ["the rate kept falling", "the mean latency kept rising", "the median latency kept rising"];
    let of_all = |told: &&str| seen.starts_with(&format!("{told} from second 0 to 12, by"));
    assert!(told.iter().any(of_all), "{seen}");
    assert_eq!(json["steady"]["found"], false);
}

/// Pauses that are too short to be a stall each cost a closed load a part of its requests.
#[test]
fn pauses_of_squall_are_a_share_of_the_users_time() {
    let server = target();
    let url = format!("{}/delay/5", server.url());
    let child = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args([&url, "-c", "20", "-d", "2s", "-q", "--json", "-"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("squall starts");
    while server.stats().accepted == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    for _ in 0..12 {
        signal(&child, "STOP");
        std::thread::sleep(Duration::from_millis(70));
        signal(&child, "CONT");
        std::thread::sleep(Duration::from_millis(70));
    }
    let output = child.wait_with_output().expect("squall ends");
    let json: Value = serde_json::from_slice(&output.stdout).expect("a result");
    let share =
        reason(&json, "generator_time").unwrap_or_else(|| panic!("{}", json["validity_reasons"]));
    let effect = share["effect"]["rate"].as_f64().expect("a share");
    assert!((0.1..0.95).contains(&effect), "{share}");
    assert_ne!(json["validity"], "valid");
}

/// Percentiles above the share of what was given up are lower bounds, and no threshold below them holds.
#[test]
fn what_never_came_is_not_fast() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\ndefaults: {{timeout: {{first_byte: 200ms}}}}\nthresholds: [p99 < 10s, p50 < 10s]\n\
         scenarios: {{a: {{load: {{users: 1, iterations: 10}}, steps: [\
         {{repeat: 9, steps: [{{get: /}}]}}, {{get: /hostile/never-answers}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let json = result(folder.path(), &["run", "plan.yaml"], 1);
    let passed: Vec<_> = json["thresholds"].as_array().expect("two").iter().collect();
    assert_eq!((&passed[0]["passed"], &passed[1]["passed"]), (&false.into(), &true.into()));
    assert!(passed[0]["shown"].as_str().is_some_and(|shown| shown.starts_with("at least 2")));
    let bounds = &json["totals"]["latency_with_timeouts_us"];
    assert_eq!((&bounds["count"], &bounds["given_up"]), (&100.into(), &10.into()));
    assert_eq!(bounds["at_least"], serde_json::json!(["mean", "p95", "p99", "p999", "max"]));
    let noted = reason(&json, "timeouts").unwrap_or_else(|| panic!("{}", json["validity_reasons"]));
    assert!(noted["observed"].to_string().contains("percentiles above p90"), "{noted}");
}

/// Two hundred users that are all due in the same moment: no generator sends all of them in it.
#[test]
fn a_burst_that_the_plan_asks_for_is_not_squalls_delay() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nscenarios: {{a: {{load: {{stages: [{{users: 200, over: 0s}}], for: 2s, iterations: 2, pacing: 300ms}}, steps: [{{get: /}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    // Sent one after the other, nine of ten would be late by nearly twice as much as the one in the middle. A
    // neighbour that takes the processor meanwhile does the same, but not each time.
    let is_even = |_| {
        let json = result(folder.path(), &["run", "plan.yaml", "-w", "1"], 0);
        let delay = &json["generator"]["send_delay_us"];
        // The first request of a user has no moment at which it was due.
        assert_eq!(delay["count"].as_u64(), Some(200), "{delay}");
        let (p50, p90) = (delay["p50"].as_f64(), delay["p90"].as_f64());
        p50.zip(p90).is_some_and(|(p50, p90)| p90 <= 1.1 * p50 + 1.0)
    };
    assert!((0..10).any(is_even), "in none of ten runs");
}
