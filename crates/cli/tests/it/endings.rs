//! How a run ends when it does not end by itself: signals, a kill, a failing setup; and where its
//! result then is.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use squall_target::Server;

use crate::common::{signal, squall, target, until};

/// A plan that would run for an hour, in a folder of its own.
fn endless(server: &Server, more: &str, step: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!(
        "target: {}\n{more}\nscenarios: {{a: {{load: {{users: 2, for: 1h}}, steps: [{step}, {{think: 5ms}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    folder
}

/// Starts the plan of a folder.
fn start(folder: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(["run", "plan.yaml", "-w", "2", "--json", "result.json"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("squall starts")
}

/// Waits for the target to have begun to answer so many requests.
fn wait_for(server: &Server, child: &mut Child, least: u64) {
    until(child, || server.stats().requests >= least);
}

fn finish(child: Child) -> Output {
    child.wait_with_output().expect("squall ends")
}

/// The one folder of a run.
fn run_folder(folder: &Path) -> PathBuf {
    let mut runs = std::fs::read_dir(folder.join("squall-runs")).expect("runs");
    runs.next().expect("a run").expect("an entry").path()
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

/// The folder of a run and its result are reported as the run itself was, with the same exit code.
fn assert_reported_alike(folder: &Path, run: &Output) {
    let own = run_folder(folder);
    let text = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines = text.lines().filter(|line| !line.starts_with(" run folder"));
        lines.map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    for path in [own.clone(), own.join("run.json")] {
        let again = squall(folder, &["report", &path.display().to_string()]);
        assert_eq!(text(&again), text(run));
        assert_eq!(again.status.code(), run.status.code());
    }
}

#[test]
fn an_interrupted_run_keeps_its_results() {
    let server = target();
    let folder =
        endless(&server, "thresholds: [count > 0]\nteardown: [{get: /status/204}]", "get: /");
    let mut child = start(folder.path());
    wait_for(&server, &mut child, 50);
    signal(&child, "INT");
    let output = finish(child);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("GET /") && text.contains("threshold   passed"), "{text}");
    let first = text.lines().next().unwrap_or_default();
    assert!(first.contains("INTERRUPTED: up to then the run passed"), "{text}");
    let json = read(&folder.path().join("result.json"));
    assert_eq!((&json["finished"], &json["interrupted"]), (&true.into(), &true.into()));
    assert_eq!(json, read(&run_folder(folder.path()).join("run.json")));
    // All that the target saw is in the result; the teardown is not a part of it.
    assert_eq!(json["totals"]["count"].as_u64(), Some(server.stats().requests - 1));
    assert_eq!(json["totals"]["errors"].as_u64(), Some(0), "{json}");
}

#[test]
fn a_signal_is_obeyed_whoever_reads_the_messages() {
    let names = ["INT", "TERM", "HUP"].into_iter();
    for name in names.filter(|name| *name != "HUP" || !hangup_is_ignored()) {
        let server = target();
        let folder = endless(&server, "", "get: /");
        let mut child = start(folder.path());
        drop((child.stdout.take(), child.stderr.take()));
        wait_for(&server, &mut child, 50);
        signal(&child, name);
        assert_eq!(finish(child).status.code(), Some(130), "SIG{name}");
        let json = read(&run_folder(folder.path()).join("run.json"));
        assert_eq!((&json["finished"], &json["interrupted"]), (&true.into(), &true.into()));
    }
}

/// Whether these tests were started with `nohup`, or something like it: then what they start ignores it too.
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 1 != 0)
}

/// A message that nobody can read changes nothing about the exit code.
#[test]
fn errors_have_their_exit_code_whoever_reads_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let squall = env!("CARGO_BIN_EXE_squall");
    for ending in [">/dev/full 2>/dev/full", ">&- 2>&-", "2>&1 | true"] {
        let command = format!("set -o pipefail; '{squall}' run nowhere.yaml {ending}");
        let status =
            Command::new("bash").args(["-c", &command]).current_dir(folder.path()).status();
        assert_eq!(status.expect("a shell").code(), Some(2), "{ending}");
    }
}

/// What `nohup` starts goes on when its terminal closes.
#[test]
fn an_ignored_hangup_stays_ignored() {
    let server = target();
    let folder = endless(&server, "", "get: /");
    let command = format!("trap '' HUP; exec '{}' run plan.yaml", env!("CARGO_BIN_EXE_squall"));
    let mut shell = Command::new("sh");
    shell.args(["-c", &command]).current_dir(folder.path());
    let mut child = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell");
    wait_for(&server, &mut child, 50);
    signal(&child, "HUP");
    let before = server.stats().requests;
    wait_for(&server, &mut child, before + 50);
    signal(&child, "INT");
    assert_eq!(finish(child).status.code(), Some(130));
}

#[test]
fn the_second_signal_waits_for_nothing() {
    let server = target();
    let folder = endless(&server, "graceful_stop: 1h\nteardown: [{get: /}]", "get: /delay/3600000");
    let mut child = start(folder.path());
    wait_for(&server, &mut child, 2);
    // Two of a kind would be one if the first had not been seen yet.
    signal(&child, "INT");
    signal(&child, "TERM");
    let output = finish(child);
    assert_eq!(output.status.code(), Some(130));
    let json = read(&folder.path().join("result.json"));
    assert_eq!(json["interrupted"], true);
    assert_eq!(json["totals"]["latency_us"]["count"].as_u64(), Some(0));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("the teardown was not run"), "{errors}");
    let reasons = json["outcome"]["reasons"].as_array().expect("reasons");
    let last = reasons.last().expect("a reason");
    assert_eq!(last["kind"], "teardown_lost", "{reasons:?}");
    assert_reported_alike(folder.path(), &output);
    assert_eq!(server.stats().requests, 2);
}

/// The result is there while the teardown goes on, and a signal ends that as well.
#[test]
fn an_interrupted_teardown_takes_nothing_from_the_result() {
    for signals in [&["INT"][..], &["INT", "TERM"]] {
        let server = target();
        let folder = tempfile::tempdir().expect("a folder");
        let graceful_stop = if signals.len() == 1 { "100ms" } else { "1h" };
        let plan = format!(
            "target: {}\ngraceful_stop: {graceful_stop}\nteardown: [{{get: /delay/3600000}}]\nscenarios: {{a: {{load: {{users: 1, iterations: 3}}, steps: [{{get: /}}]}}}}\n",
            server.url()
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        let mut child = start(folder.path());
        // The last is that of the teardown, which does not end. Files are written beside it, by threads of their own.
        wait_for(&server, &mut child, 4);
        let run = run_folder(folder.path()).join("run.json");
        for path in [&run, &folder.path().join("result.json")] {
            let is_written = |text: Vec<u8>| {
                serde_json::from_slice(&text).is_ok_and(|json: Value| json["finished"] == true)
            };
            until(&mut child, || std::fs::read(path).is_ok_and(is_written));
        }
        let json = read(&run);
        assert_eq!((&json["finished"], json["totals"]["count"].as_u64()), (&true.into(), Some(3)));
        assert_eq!(json, read(&folder.path().join("result.json")));
        for name in signals {
            signal(&child, name);
        }
        let output = finish(child);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{errors}");
        assert!(errors.contains("the teardown was interrupted"), "{errors}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("GET /"), "{text}");
        let first = " run         INTERRUPTED: up to then the run passed, but the teardown was interrupted\n";
        assert!(text.starts_with(first), "{text}");
    }
}

#[test]
fn an_interrupted_setup_starts_no_load() {
    let server = target();
    let folder = endless(&server, "graceful_stop: 100ms\nsetup: [{get: /delay/3600000}]", "get: /");
    let mut child = start(folder.path());
    wait_for(&server, &mut child, 1);
    signal(&child, "INT");
    let output = finish(child);
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(server.stats().accepted, 1);
}

#[test]
fn a_killed_run_is_reported_up_to_its_last_second() {
    let server = target();
    let folder = endless(&server, "", "get: /");
    let mut child = start(folder.path());
    wait_for(&server, &mut child, 1);
    let run = run_folder(folder.path());
    // The slices of two whole seconds are on disk.
    until(&mut child, || {
        let samples = std::fs::read_to_string(run.join("host.jsonl")).unwrap_or_default();
        samples.lines().count() > 3
    });
    child.kill().expect("it runs");
    finish(child);
    let json = read(&run.join("run.json"));
    assert_eq!((&json["finished"], json["totals"]["count"].as_u64()), (&false.into(), Some(0)));
    let path = run.display().to_string();
    let output = squall(folder.path(), &["report", &path, "--json", "-"]);
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let count = json["totals"]["count"].as_u64().expect("a count");
    assert!(count > 0 && count <= server.stats().requests, "{count}");
    assert_eq!(json["outcome"]["reasons"][0]["kind"], "incomplete", "{}", json["outcome"]);
    let text = squall(folder.path(), &["report", &path]);
    let shown = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(shown.contains("GET /") && shown.contains("FAILED: the run did not finish"), "{shown}");
    assert_eq!(text.status.code(), Some(3));
    let listed = squall(folder.path(), &["history", "--outcome", "incomplete"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains(" incomplete") && listed.contains("1 run\n"), "{listed}");
    // Its result as it was left says the same.
    let left = squall(folder.path(), &["report", &run.join("run.json").display().to_string()]);
    assert_eq!(left.status.code(), Some(3));
}

#[test]
fn a_failed_setup_ends_everything_and_a_failed_teardown_loses_nothing() {
    let server = target();
    let folder = tempfile::tempdir().expect("a folder");
    let run = |part: &str| {
        let plan = format!(
            "target: {}\n{part}: [{{get: /status/500}}]\nthresholds: [error_rate < 90%]\nscenarios: {{a: {{load: {{users: 1, iterations: 3}}, steps: [{{get: /}}]}}}}\n",
            server.url()
        );
        std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
        let output = squall(folder.path(), &["run", "plan.yaml", "--json", "result.json"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{error}");
        assert!(error.contains(&format!("{part} failed")), "{error}");
        output
    };
    let output = run("setup");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in ["no load ran", "1 request, 1 error, failed", "GET /status/500", "FAILED: setup"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(server.stats().requests, 1);
    let json = read(&folder.path().join("result.json"));
    assert_eq!(json["totals"]["count"].as_u64(), Some(0));
    assert_reported_alike(folder.path(), &output);
    assert_eq!(incomplete(&json, "setup failed: "), 3);
    run("teardown");
    let json = read(&folder.path().join("result.json"));
    assert_eq!(json["totals"]["count"].as_u64(), Some(3));
    assert_eq!(incomplete(&json, "teardown failed: "), 3);
}

/// The exit code that a result says for itself; checks that it failed since it is incomplete, for a reason that
/// begins so.
fn incomplete(json: &Value, begin: &str) -> u64 {
    let outcome = &json["outcome"];
    assert_eq!(
        (&outcome["passed"], &outcome["reasons"][0]["kind"]),
        (&false.into(), &"incomplete".into())
    );
    assert!(
        outcome["reasons"][0]["text"].as_str().is_some_and(|text| text.starts_with(begin)),
        "{outcome}"
    );
    outcome["exit_code"].as_u64().expect("a code")
}

#[test]
fn a_result_that_could_not_be_written_fails_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan =
        "target: builtin\nscenarios: {a: {load: {users: 1, iterations: 1}, steps: [{get: /}]}}\n";
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    for lost in [&["--json", "/dev/full"][..], &["--out", "markdown=/dev/full"]] {
        let output = squall(folder.path(), &[&["run", "plan.yaml", "-o", "runs"], lost].concat());
        assert_eq!(output.status.code(), Some(3), "{lost:?}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!text.contains("run passed") && text.contains("/dev/full"), "{text}");
        // The folder's own copy knows of it, and so does its page.
        let runs = folder.path().join("runs");
        let own = std::fs::read_dir(&runs).expect("a folder").next().expect("a run");
        let own = own.expect("a run").path();
        assert_eq!(incomplete(&read(&own.join("run.json")), "/dev/full: No space left"), 3);
        let page = std::fs::read_to_string(own.join("report.html")).expect("a page");
        assert!(page.contains("/dev/full: No space left"), "{lost:?}");
        std::fs::remove_dir_all(&runs).expect("it can be removed");
    }
}

#[test]
fn the_teardown_knows_what_setup_found() {
    let server = target();
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!(
        "target: {}\nsetup: [{{set: {{code: '${{200 + 4}}'}}}}]\nteardown: [{{get: '/status/${{code}}', check: status == 204}}]\nthresholds: [p99 < 1m]\nscenarios: {{a: {{load: {{users: 2, for: 1s}}, steps: [{{get: /delay/20}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let search = ["limit", "plan.yaml", "--to", "1", "--step", "2s", "--steps", "1"];
    for arguments in [&["run", "plan.yaml"][..], &search] {
        let output = squall(folder.path(), arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!errors.contains("teardown failed"), "{arguments:?}: {errors}");
        // What a search found depends on the machine; this is about its end.
        let done = arguments[0] == "limit" || output.status.code() == Some(0);
        assert!(done && !output.stdout.is_empty(), "{arguments:?}: {errors}");
    }
}

#[test]
fn results_go_where_they_are_asked_for() {
    let (server, folder) = (target(), tempfile::tempdir().expect("a folder"));
    let plan = format!(
        "target: {}\nscenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{{get: /}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    let output = squall(folder.path(), &["run", "plan.yaml", "--out", "kept", "--json", "r.json"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("run folder  kept/"));
    assert_eq!(read(&folder.path().join("r.json"))["totals"]["count"].as_u64(), Some(1));
    assert!(!folder.path().join("squall-runs").exists());
    std::fs::write(folder.path().join("file"), "").expect("writable");
    let output = squall(folder.path(), &["run", "plan.yaml", "--out", "file/below"]);
    assert_eq!(output.status.code(), Some(2), "a run folder that cannot be made");
    assert_eq!(server.stats().requests, 1, "found out before anything was sent");
    let output = squall(folder.path(), &["run", "plan.yaml", "--json", "nowhere/r.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("nowhere/r.json"));
}

/// A plan that runs for a second.
fn short(server: &Server) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!(
        "target: {}\nscenarios: {{a: {{load: {{users: 1, for: 1s}}, steps: [{{get: /}}, {{think: 5ms}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    folder
}

#[test]
fn a_result_that_cannot_be_written_is_no_success() {
    let server = target();
    let folder = short(&server);
    std::os::unix::fs::symlink("/dev/full", folder.path().join("full.jsonl")).expect("a link");
    for (arguments, reason) in [
        (&["--json", "/dev/full"][..], "/dev/full: No space left on device"),
        (&["--out", "samples=full.jsonl"], "full.jsonl: No space left on device"),
    ] {
        let all = [&["run", "plan.yaml"], arguments].concat();
        let output = squall(folder.path(), &all);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {errors}");
        assert!(errors.contains(reason), "{arguments:?}: {errors}");
        // All else that can be told is told.
        assert!(String::from_utf8_lossy(&output.stdout).contains("run folder"), "{arguments:?}");
    }
    for json in [false, true] {
        let full = std::fs::File::create("/dev/full").expect("the device");
        let mut command = Command::new(env!("CARGO_BIN_EXE_squall"));
        command.args(["run", "plan.yaml", "-q"]).args(json.then_some("--json"));
        let output = command.current_dir(folder.path()).stdout(full).output().expect("it runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{errors}");
        assert!(errors.contains("the standard output could not be written"), "{errors}");
    }
}

/// The run's folder is gone at the end of the run.
#[test]
fn a_run_folder_that_cannot_be_written_is_no_success() {
    let server = target();
    let folder = endless(&server, "", "get: /");
    let mut child = start(folder.path());
    wait_for(&server, &mut child, 1);
    std::fs::remove_dir_all(run_folder(folder.path())).expect("it is there");
    signal(&child, "INT");
    let output = finish(child);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert!(errors.contains("run.json: No such file or directory"), "{errors}");
    assert!(folder.path().join("result.json").exists());
}

/// What was recorded is on disk, and nowhere else.
#[test]
fn a_recording_that_is_removed_during_the_run_is_no_success() {
    let server = target();
    let folder = endless(&server, "", "get: /");
    let mut child = start(folder.path());
    wait_for(&server, &mut child, 1);
    let own = run_folder(folder.path());
    std::fs::remove_file(own.join("slices.bin")).expect("it is there");
    signal(&child, "INT");
    let output = finish(child);
    let (text, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{text}{errors}");
    assert!(errors.contains("slices.bin: it was removed or replaced"), "{errors}");
    assert!(!text.contains("run passed"), "{text}");
    // The folder's own copy knows of it.
    let stored = read(&own.join("run.json"));
    assert!(stored["outcome"].to_string().contains("slices.bin: it was removed"), "{stored}");
}

/// With files that may have 20 KiB at most: the result and the page are larger.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_may_not_grow_costs_neither_the_result_nor_the_teardown() {
    let server = target();
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!(
        "target: {}\nteardown: [{{get: /status/200}}]\n\
         scenarios: {{a: {{load: {{users: 1, iterations: 3}}, steps: [{{get: /status/204}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    // The shell's units are 512 bytes, or 1,024.
    let line = format!("ulimit -f 20 && exec {} run plan.yaml", env!("CARGO_BIN_EXE_squall"));
    let output = Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output();
    let output = output.expect("a shell");
    let (text, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{text}{errors}");
    assert!(errors.contains("run.json: File too large"), "{errors}");
    assert!(text.contains("GET /status/204"), "{text}");
    assert_eq!(server.stats().requests, 4, "the load's and the teardown's");
}

/// With so few open files that the workers' event loops can be made, and the workers cannot.
#[test]
fn a_worker_that_breaks_off_is_told_and_loses_nothing() {
    let server = target();
    let folder = tempfile::tempdir().expect("a folder");
    for files in 10..60 {
        let command = format!(
            "ulimit -n {files}; exec '{}' {} -c 2 -w 2 -d 1h -o runs-{files} --json result.json",
            env!("CARGO_BIN_EXE_squall"),
            server.url()
        );
        let mut shell = Command::new("sh");
        let output =
            shell.args(["-c", &command]).current_dir(folder.path()).output().expect("a shell");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{files}: {errors}");
        if errors.contains("worker 0: ") || errors.contains("worker 1: ") {
            assert!(errors.contains("Too many open files"), "{errors}");
            let mut runs = std::fs::read_dir(folder.path().join(format!("runs-{files}")))
                .expect("the run's folder");
            let run = runs.next().expect("a run").expect("an entry").path();
            let json = read(&run.join("run.json"));
            assert_eq!(json["finished"], true);
            assert_eq!(json, read(&folder.path().join("result.json")));
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(text.contains("run folder"), "{text}");
            return;
        }
    }
    panic!("no worker broke off");
}

/// What is prepared may take long: here, a file of a tebibyte in which markers are counted.
#[test]
fn the_first_signal_ends_the_preparation() {
    let server = target();
    let folder = endless(&server, "", "{post: /, body: {file: big, replace: {'@': '1'}}}");
    let big = std::fs::File::create(folder.path().join("big")).expect("writable");
    big.set_len(1 << 40).expect("a hole");
    let mut child = start(folder.path());
    let opened = || {
        let files = std::fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten();
        files
            .flatten()
            .any(|file| std::fs::read_link(file.path()).is_ok_and(|path| path.ends_with("big")))
    };
    while !opened() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    signal(&child, "INT");
    assert_eq!(child.wait().expect("squall ends").code(), Some(130));
    assert_eq!(server.stats().requests, 0);
}
