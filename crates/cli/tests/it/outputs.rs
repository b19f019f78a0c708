//! Outputs that cannot be opened, hang, or find no room: nothing is sent, or everything else is kept and told.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use squall_target::Server;

use crate::common::{signal, squall, target, until};

/// A folder with a plan of one user who sends so long.
fn folder(server: &Server, length: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!(
        "target: {}\nscenarios: {{a: {{load: {{users: 1, for: {length}}}, steps: [{{get: /}}, {{think: 1ms}}]}}}}\n",
        server.url()
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).expect("writable");
    folder
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(["run", "plan.yaml", "-q"])
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("squall starts")
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

/// Waits until the target has had so many requests.
fn wait_for(server: &Server, child: &mut Child, requests: u64) {
    until(child, || server.stats().requests >= requests);
}

/// Whether a process obeys SIGINT in its own way, and does not just end.
fn has_handler(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    let status = status.expect("a process");
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("a mask");
    u64::from_str_radix(caught.trim(), 16).expect("digits") & 0b10 != 0
}

/// The one folder of a run.
fn run_folder(folder: &Path) -> PathBuf {
    let mut runs = std::fs::read_dir(folder.join("squall-runs")).expect("runs");
    runs.next().expect("a run").expect("an entry").path()
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

fn text(output: &Output) -> String {
    let bytes = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn an_output_that_cannot_be_made_is_bad_input_and_leaves_no_run() {
    let server = target();
    let folder = folder(&server, "1h");
    for output in [
        ["--out", "samples=nowhere/z.csv"],
        ["--json", "nowhere/z"],
        ["--out", "samples=nowhere/z.jsonl"],
        ["--out", "jsonl=nowhere/z"],
        ["--out", "html=nowhere/z"],
    ] {
        let output = squall(folder.path(), &[&["run", "plan.yaml"], &output[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains("nowhere/z"), "{}", text(&output));
        assert!(!folder.path().join("squall-runs").exists(), "{}", text(&output));
    }
    let both = ["run", "plan.yaml", "-o", "samples=same.csv", "--json", "./same.csv"];
    let output = squall(folder.path(), &both);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("--json and --out samples would both write"));
    assert!(!folder.path().join("same.csv").exists());
    assert_eq!(server.stats().requests, 0);
}

/// A pipe is waited for, but not by a user who has asked for the end.
#[test]
fn a_pipe_that_nobody_opens_can_be_interrupted() {
    let server = target();
    for out in ["samples=pipe.csv", "samples=pipe.jsonl", "json=pipe.json"] {
        let folder = folder(&server, "1h");
        let (kind, pipe) = out.split_once('=').expect("a kind");
        make_pipe(&folder.path().join(pipe));
        let flags = if kind == "json" { ["--json", pipe] } else { ["--out", out] };
        let mut child = start(folder.path(), &flags);
        let process = child.id();
        until(&mut child, || has_handler(process));
        // Time to come to the pipe. Where it does not suffice the end was asked for before that.
        std::thread::sleep(Duration::from_millis(500));
        signal(&child, "INT");
        let output = child.wait_with_output().expect("squall ends");
        assert_eq!(output.status.code(), Some(130), "{out}: {}", text(&output));
        assert!(!folder.path().join("squall-runs").exists(), "{out}");
    }
    assert_eq!(server.stats().requests, 0);
}

/// Whoever opens a pipe and does not read it holds up neither the load nor its end.
#[test]
fn a_pipe_that_nobody_reads_is_given_up() {
    let server = target();
    let folder = folder(&server, "1h");
    let pipe = folder.path().join("pipe.jsonl");
    make_pipe(&pipe);
    let _reader = OpenOptions::new().read(true).write(true).open(&pipe).expect("a pipe");
    let mut child = start(folder.path(), &["--out", "samples=pipe.jsonl", "--json", "r.json"]);
    // More than fit into the pipe.
    wait_for(&server, &mut child, 1_000);
    signal(&child, "INT");
    signal(&child, "TERM");
    let output = child.wait_with_output().expect("squall ends");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    let shown = text(&output);
    assert!(
        shown.contains("GET /") && shown.contains("pipe.jsonl: it took nothing for"),
        "{shown}"
    );
    let json = read(&run_folder(folder.path()).join("run.json"));
    assert_eq!((&json["interrupted"], &json["outcome"]["exit_code"]), (&true.into(), &3.into()));
    assert_eq!(json, read(&folder.path().join("r.json")));
}

/// The whole result once: who reads it would take that the pipe is closed for the end.
#[test]
fn a_pipe_gets_the_result_once() {
    let server = target();
    let folder = folder(&server, "1s");
    let pipe = folder.path().join("pipe");
    make_pipe(&pipe);
    for kind in [&["--json", "pipe"][..], &["--out", "json=pipe"]] {
        let child = start(folder.path(), kind);
        let read = std::io::read_to_string(File::open(&pipe).expect("a pipe")).expect("readable");
        let output = child.wait_with_output().expect("squall ends");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let json: Value = serde_json::from_str(&read).expect("one result");
        assert_eq!(json["finished"], true);
    }
}

/// What is lost when the result is written is a part of it, wherever it is read.
#[test]
fn a_page_that_cannot_be_written_is_a_part_of_the_stored_result() {
    let server = target();
    let folder = folder(&server, "1h");
    let mut child = start(folder.path(), &["--json", "r.json"]);
    wait_for(&server, &mut child, 1);
    let run = run_folder(folder.path());
    std::fs::create_dir(run.join("report.html.new")).expect("writable");
    signal(&child, "INT");
    let output = child.wait_with_output().expect("squall ends");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    for stored in [run.clone(), run.join("run.json"), folder.path().join("r.json")] {
        let again = squall(folder.path(), &["report", &stored.display().to_string()]);
        assert_eq!(again.status.code(), Some(3), "{}", text(&again));
        assert!(text(&again).contains("report.html: "), "{}", text(&again));
    }
}

/// On a disk that is full at the end the result is told, and what is stored is whole and says what was lost. It needs the right to
/// mount one, and is nothing where there is none.
#[test]
fn a_disk_that_is_full_at_the_end_takes_nothing_from_the_result() {
    let server = target();
    let folder = folder(&server, "1s");
    std::fs::create_dir(folder.path().join("fs")).expect("writable");
    let squall = env!("CARGO_BIN_EXE_squall");
    let script = format!(
        "mount -t tmpfs -o size=150k none fs || exit 77
        '{squall}' run plan.yaml -q --out fs/runs --out markdown=fs/x.md --out html=fs/page.html
        echo \"run: $?\"
        '{squall}' report fs/runs/* >/dev/null; echo \"report: $?\"; ls -R fs"
    );
    let mut shell = Command::new("unshare");
    let made = shell.args(["-rm", "sh", "-c", &script]).current_dir(folder.path()).output();
    let Ok(output) = made else { return };
    if !text(&output).contains("run: ") {
        return;
    }
    let shown = text(&output);
    assert!(shown.contains("GET /") && shown.contains("No space left"), "{shown}");
    assert!(shown.contains("run: 3\n") && shown.contains("report: 3\n"), "{shown}");
    assert!(!shown.contains(".new\n"), "{shown}");
}
