//! Experiments for real: servers that are started and stopped, and what becomes of those that do not behave. Runs last a second.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{signal, squall, until};

const SQUALL: &str = env!("CARGO_BIN_EXE_squall");

/// A port that nobody uses now.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A folder with the file of an experiment: two variants that are equal, each run once, and what `more` says. `SERVER` stands
/// for the built-in target as a command, `PORT` for its port.
fn experiment(more: &str, port: u16) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = format!(
        "
name: tried
plan: {{target: 'http://127.0.0.1:PORT', scenarios: {{a: {{load: {{users: 2, for: 1s}}, steps: [{{get: /}}]}}}}}}
variants: {{one: {{}}, two: {{}}}}
measure: [mean, rate]
retries: 0
seed: 1
{more}
"
    );
    let repeat = if file.contains("repeat:") { "" } else { "repeat: 1" };
    let server = format!("{SQUALL}, target, --listen, '127.0.0.1:PORT'");
    let file = (file + repeat).replace("SERVER", &server).replace("PORT", &port.to_string());
    std::fs::write(folder.path().join("it.yaml"), file).unwrap();
    folder
}

/// What came of an experiment: its exit code, what it said, and its folder.
struct Came {
    code: i32,
    said: String,
    folder: PathBuf,
    /// It goes with this.
    base: TempDir,
}

impl Came {
    fn of(folder: TempDir) -> Came {
        let output = squall(folder.path(), &["experiment", "it.yaml", "--allow-exec"]);
        let said = [output.stdout, output.stderr].map(|own| String::from_utf8(own).unwrap());
        let runs = folder.path().join("squall-runs");
        let own = std::fs::read_dir(&runs).into_iter().flatten().flatten().next();
        Came {
            code: output.status.code().unwrap(),
            said: said.concat(),
            folder: own.map_or(runs, |own| own.path()),
            base: folder,
        }
    }

    fn json(&self) -> Value {
        json(&self.folder)
    }
}

fn json(folder: &Path) -> Value {
    let text = std::fs::read(folder.join("experiment.json")).expect("a result");
    serde_json::from_slice(&text).unwrap()
}

/// The processes that have a word in their command line.
fn processes(word: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|own| std::fs::read(own.path().join("cmdline")).ok());
    let lines = lines.map(|own| String::from_utf8_lossy(&own).replace('\0', " "));
    lines.filter(|own| own.contains(word)).collect()
}

const READY: &str =
    "server: {command: [SERVER], ready: {http: 'http://127.0.0.1:PORT/', within: 20s}}";

#[test]
fn equal_variants_are_run_and_compared() {
    let port = free_port();
    let ready = READY.replace("ready:", "version: [sh, -c, 'echo it is 1.0 >&2'], ready:");
    let more = format!("{ready}\nrepeat: 2\nbefore: [[sh, -c, 'echo before the run']]");
    let came = Came::of(experiment(&more, port));
    assert_eq!(came.code, 0, "{}", came.said);
    assert!(
        came.said.contains("4 runs in 2 blocks") && came.said.contains("; 3 runs left"),
        "{}",
        came.said
    );
    let result = came.json();
    assert_eq!(
        (&result["about"]["finished"], &result["about"]["blocks_done"]),
        (&true.into(), &2.into())
    );
    assert_eq!(result["servers"][0]["version"], "it is 1.0");
    assert_eq!(result["variants"].as_array().unwrap().len(), 2);
    assert_eq!(result["comparisons"].as_array().unwrap().len(), 2);
    for run in result["runs"].as_array().unwrap() {
        assert!(run["values"][0].as_f64().unwrap() > 0.0, "{run}");
        let folder = came.folder.join(run["folder"].as_str().unwrap());
        assert!(folder.join("report.html").exists(), "{folder:?}");
        let made: Value =
            serde_json::from_slice(&std::fs::read(folder.join("run.json")).unwrap()).unwrap();
        let variant = result["variants"][run["variant"].as_u64().unwrap() as usize]["name"].clone();
        assert_eq!(made["meta"]["labels"]["variant"], variant);
    }
    for name in [
        "experiment.yaml",
        "experiment.html",
        "experiment.csv",
        "experiment.md",
        "logs/001-server.log",
    ] {
        assert!(came.folder.join(name).exists(), "{name}");
    }
    let log = std::fs::read_to_string(came.folder.join("logs/001-before.log")).unwrap();
    assert_eq!(log, "before the run\n");
    assert_eq!(
        std::fs::read_dir(came.folder.join("runs")).unwrap().count(),
        4,
        "its runs, and nothing else"
    );
    assert_eq!(processes(&format!("127.0.0.1:{port}")), Vec::<String>::new());
}

#[test]
fn a_server_that_never_gets_ready_is_an_error() {
    let port = free_port();
    let more = "server: {command: [sh, -c, 'echo it waits; exec sleep 61.PORT'], ready: {tcp: '127.0.0.1:PORT', within: 300ms}}\nrepeat: 2";
    let came = Came::of(experiment(more, port));
    assert_eq!(came.code, 3, "{}", came.said);
    for said in [
        "variant `",
        "could not be run",
        "was not ready within 300ms",
        "nothing listens at",
        "it waits",
    ] {
        assert!(came.said.contains(said), "{said}: {}", came.said);
    }
    assert_eq!(processes(&format!("61.{port}")), Vec::<String>::new());
}

#[test]
fn a_server_that_dies_in_the_middle_fails_the_run() {
    let more = "server:
  ready: {http: 'http://127.0.0.1:PORT/', within: 20s}
  command:
    - sh
    - -c
    - '\"$@\" & until ls squall-runs/*/runs/*/*/run.json; do sleep 0.02; done 2> /dev/null; echo broken; exit 7'
    - sh
    - SQUALL
    - target
    - --listen
    - '127.0.0.1:PORT'"
        .replace("SQUALL", SQUALL);
    let came = Came::of(experiment(&more, free_port()));
    assert_eq!(came.code, 3, "{}", came.said);
    let result = came.json();
    let why = result["runs"][0]["failed"].as_str().unwrap();
    assert!(why.contains("ended during the run: it exited with code 7"), "{why}");
    assert!(why.contains("broken"), "{why}");
}

#[test]
fn a_run_that_does_not_end_is_ended_and_has_failed() {
    let more = "run_within: 100ms\nserver: {command: [SERVER], ready: {tcp: '127.0.0.1:PORT'}}";
    let came = Came::of(experiment(more, free_port()));
    assert_eq!(came.code, 3, "{}", came.said);
    let result = came.json();
    for run in result["runs"].as_array().unwrap() {
        let why = run["failed"].as_str().unwrap();
        assert!(why.contains("the run did not end within 100ms, and was ended"), "{why}");
    }
}

#[test]
fn a_child_that_is_left_behind_is_ended_and_named() {
    let port = free_port();
    let more = "server: {command: [sh, -c, 'setsid sleep 62.PORT & exec \"$@\"', sh, SERVER], ready: {http: 'http://127.0.0.1:PORT/', within: 20s}}";
    let came = Came::of(experiment(more, port));
    assert_eq!(came.code, 0, "{}", came.said);
    assert!(came.said.contains("server `server` left behind: sleep (process "), "{}", came.said);
    assert_eq!(processes(&format!("62.{port}")), Vec::<String>::new());
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let came = Came::of(experiment(READY, taken.local_addr().unwrap().port()));
    assert_eq!(came.code, 3, "{}", came.said);
    assert!(came.said.contains("something listens at 127.0.0.1:"), "{}", came.said);
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let more = "server: {command: [no-such-program-here]}\nafter: [[nor-this-one]]";
    let came = Came::of(experiment(more, free_port()));
    assert_eq!(came.code, 2, "{}", came.said);
    let missing = "`nor-this-one` (after), `no-such-program-here` (server `server`) were not found on the PATH";
    assert!(came.said.contains(missing), "{}", came.said);
    assert!(!came.base.path().join("squall-runs").exists(), "nothing was started");
}

#[test]
fn a_build_that_fails_ends_the_experiment_with_its_log() {
    let came =
        Came::of(experiment("prepare: [[sh, -c, 'echo no compiler >&2; exit 3']]", free_port()));
    assert_eq!(came.code, 3, "{}", came.said);
    for said in ["prepare: `sh -c", "exited with code 3", "no compiler", "logs/prepare-"] {
        assert!(came.said.contains(said), "{said}: {}", came.said);
    }
}

#[test]
fn a_check_starts_nothing_and_needs_no_permission() {
    let folder = experiment(&format!("{READY}\nbefore: [[sh, -c, 'touch started']]"), free_port());
    let output = squall(folder.path(), &["experiment", "it.yaml", "--check"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("needs --allow-exec: it starts programs"), "{said}");
    assert!(!folder.path().join("started").exists() && !folder.path().join("squall-runs").exists());
}

#[test]
fn a_factor_that_only_a_command_uses_is_no_variable_of_the_plan() {
    let folder = experiment(&format!("{READY}\nbefore: [[sh, -c, 'echo ${{kind}}']]"), free_port());
    let path = folder.path().join("it.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text.replace("variants: {one: {}, two: {}}", "factors: {kind: [a, b]}");
    std::fs::write(&path, text).unwrap();
    let came = Came::of(folder);
    assert_eq!(came.code, 0, "{}", came.said);
    let log = std::fs::read_to_string(came.folder.join("logs/001-run.log")).unwrap();
    assert!(!log.contains("never used"), "{log}");
    let run = came.json()["runs"][0]["folder"].as_str().unwrap().to_owned();
    let made = std::fs::read_to_string(came.folder.join(run).join("run.json")).unwrap();
    assert!(!made.contains("never used"), "{made}");
}

#[test]
fn a_run_counts_whose_numbers_are_invalid_by_what_is_studied() {
    let tried = |more: &str| {
        let folder = experiment(&format!("{READY}\n{more}"), free_port());
        let path = folder.path().join("it.yaml");
        let text = std::fs::read_to_string(&path).unwrap();
        // One user cannot take a request of 100 ms each 10 ms.
        let text = text.replace("users: 2, for: 1s", "rate: 100/s, max_users: 1, for: 1s");
        std::fs::write(&path, text.replace("get: /}", "get: /delay/100}")).unwrap();
        Came::of(folder)
    };
    let came = tried("");
    assert_eq!(came.code, 3, "{}", came.said);
    let why = came.json()["runs"][0]["failed"].as_str().unwrap().to_owned();
    assert!(why.starts_with("its numbers are invalid: "), "{why}");
    let came = tried("count_invalid: true");
    assert_eq!(came.code, 0, "{}", came.said);
    let result = came.json();
    let run = &result["runs"][0];
    let rules = run["counted_invalid"].as_array().unwrap();
    assert!(rules.contains(&"arrivals_dropped".into()) && run["values"][0].is_number(), "{run}");
    assert_eq!(result["about"]["count_invalid"], serde_json::json!(["all"]));
    assert!(came.said.contains("invalid numbers count, as `count_invalid`"), "{}", came.said);
}

#[test]
fn what_is_wrong_with_the_file_is_found_before_anything_is_started() {
    for (more, place, said) in [
        ("vars: x", "it.yaml:", "unknown key `vars`"),
        ("measure: [mean, 'p99(nothing)']", "it.yaml:", "nothing"),
    ] {
        let folder = experiment("", free_port());
        let path = folder.path().join("it.yaml");
        let text = std::fs::read_to_string(&path).unwrap();
        let text = if more.starts_with("measure") {
            text.replace("measure: [mean, rate]", more)
        } else {
            text + "\n" + more
        };
        std::fs::write(&path, text).unwrap();
        let came = Came::of(folder);
        assert_eq!(came.code, 2, "{}", came.said);
        assert!(came.said.contains(said) && came.said.contains(place), "{}", came.said);
        assert!(!came.base.path().join("squall-runs").exists());
    }
    let folder = experiment("", free_port());
    let path = folder.path().join("it.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("variants: {one: {}, two: {}}", "factors: {kind: [a, b]}"))
        .unwrap();
    let came = Came::of(folder);
    assert!(came.code == 2 && came.said.contains("nothing uses factor `kind`"), "{}", came.said);
}

/// Starts an experiment and waits until it has made a run and makes another one.
fn started(folder: &TempDir, port: u16) -> (Child, PathBuf) {
    let mut child = Command::new(SQUALL)
        .args(["experiment", "it.yaml", "--allow-exec"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("squall starts");
    let runs = folder.path().join("squall-runs");
    let own =
        || std::fs::read_dir(&runs).into_iter().flatten().flatten().next().map(|own| own.path());
    let second = |path: &PathBuf| {
        let state = std::fs::read_to_string(path.join("state.jsonl")).unwrap_or_default();
        state.contains("\"what\":\"run\"") && !processes(&format!("127.0.0.1:{port}")).is_empty()
    };
    until(&mut child, || own().is_some_and(|own| second(&own)));
    (child, own().expect("a folder"))
}

/// Goes on with an experiment and checks that all of its four runs are there.
fn resumed(folder: &TempDir, own: &Path) {
    let output =
        squall(folder.path(), &["experiment", "--allow-exec", "--resume", own.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let result = json(own);
    let numbers: Vec<u64> = result["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [1, 2, 3, 4], "{said}");
    assert_eq!(result["about"]["finished"], true);
}

#[test]
fn when_squall_is_killed_nothing_is_left_and_the_experiment_goes_on() {
    let port = free_port();
    let folder = experiment(&format!("{READY}\nrepeat: 2"), port);
    let (mut child, own) = started(&folder, port);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(json(&own)["about"]["state"], "under way", "what was known when its block began");
    // Its supervisor ends what is left; nothing here waits for it but this.
    while !processes(&folder.path().display().to_string()).is_empty()
        || !processes(&format!("127.0.0.1:{port}")).is_empty()
    {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    resumed(&folder, &own);
}

#[test]
fn an_experiment_that_is_interrupted_says_what_it_has_and_how_it_goes_on() {
    let port = free_port();
    let folder = experiment(&format!("{READY}\nrepeat: 2"), port);
    let (child, own) = started(&folder, port);
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("squall experiment --resume"), "{said}");
    assert_eq!(json(&own)["about"]["state"], "interrupted");
    assert_eq!(processes(&format!("127.0.0.1:{port}")), Vec::<String>::new());
    resumed(&folder, &own);
}

#[test]
fn a_setting_of_the_kernel_is_set_for_a_run_and_put_back() {
    let port = free_port();
    let folder =
        experiment(&format!("{READY}\nbefore: [[sh, -c, 'cat sys/net/core/somaxconn']]"), port);
    let setting = folder.path().join("sys/net/core/somaxconn");
    std::fs::create_dir_all(setting.parent().unwrap()).unwrap();
    std::fs::write(&setting, "4096\n").unwrap();
    let path = folder.path().join("it.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    let carried_out = |factor: &str| {
        std::fs::write(&path, text.replace("variants: {one: {}, two: {}}", factor)).unwrap();
        let output = Command::new(SQUALL)
            .args(["experiment", "it.yaml", "--allow-exec", "--allow-sysctl"])
            .current_dir(folder.path())
            .env("SQUALL_PROC_SYS", folder.path().join("sys"))
            .output()
            .expect("squall runs");
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = carried_out("factors: {queue: {sysctl: net.core.none, values: [1, 2]}}");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`net.core.none`: this kernel has no such setting"), "{said}");
    let (code, said) =
        carried_out("factors: {queue: {sysctl: net.core.somaxconn, values: [1111, 2222]}}");
    assert_eq!(code, Some(0), "{said}");
    let own = std::fs::read_dir(folder.path().join("squall-runs")).unwrap().flatten();
    let own = own.map(|own| own.path()).find(|own| own.join("logs/001-before.log").exists());
    let log =
        |run: &str| std::fs::read_to_string(own.as_ref().unwrap().join("logs").join(run)).unwrap();
    let mut seen = [log("001-before.log"), log("002-before.log")];
    seen.sort();
    assert_eq!(seen, ["1111\n", "2222\n"]);
    assert_eq!(std::fs::read_to_string(&setting).unwrap(), "4096\n");
}
