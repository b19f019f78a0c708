//! Profiles of the target: what a plan may ask for, and what comes of it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::common::{PERF, perf_on};

/// A folder with a plan of two seconds whose profile is of this process, and programs on a PATH of their own.
fn folder(profile: &str, perf: Option<&str>) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = format!(
        "target: builtin\nmonitor: {{server: {{pid: {}}}, here: {{host: local}}}}\nprofile: {profile}\n\
         scenarios: {{a: {{load: {{users: 1, for: 2s}}, steps: [{{get: /}}, {{think: 10ms}}]}}}}\n",
        std::process::id()
    );
    fs::write(folder.path().join("plan.yaml"), plan).expect("written");
    perf_on(folder.path(), perf);
    folder
}

fn run(folder: &TempDir, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(["run", "plan.yaml", "--out", "runs"])
        .args(more)
        .current_dir(folder.path())
        .env("PATH", folder.path().join("bin"))
        .env("PERF_CALLS", folder.path().join("calls"))
        .output()
        .expect("squall runs")
}

/// The folder of the only run.
fn only_run(folder: &TempDir) -> PathBuf {
    let mut all = fs::read_dir(folder.path().join("runs")).expect("runs");
    all.next().expect("a run").expect("a readable entry").path()
}

#[test]
fn a_profile_stands_in_the_report_and_in_the_folder() {
    let folder = folder("{process: server, at: 0s, for: 500ms}", Some(PERF));
    let output = run(&folder, &["--allow-exec"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let run = only_run(&folder);
    let read = |name: &str| fs::read_to_string(run.join(name)).expect(name);
    assert_eq!(read("profile.folded"), "main;shop::hash 1\n", "{output:?}");
    assert!(read("profile.svg").contains("shop::hash: 1 samples, 100%"));
    assert!(read("report.html").contains("\"hottest\":[{\"name\":\"shop::hash\",\"own\":1"));
    let result: serde_json::Value = serde_json::from_str(&read("run.json")).expect("JSON");
    let profile = &result["profile"];
    assert_eq!(profile["process"], "server", "{profile}");
    assert_eq!((&profile["tool"], &profile["samples"]), (&"perf".into(), &1.into()), "{profile}");
    assert_eq!(profile["file"], "profile.folded", "{profile}");
    let calls = fs::read_to_string(folder.path().join("calls")).expect("calls");
    assert!(calls.contains(&format!("-p {}", std::process::id())), "{calls}");
    // A report that is made again has it, too.
    let args = ["report", run.to_str().expect("text"), "--out", "html=again.html"];
    assert_eq!(crate::common::squall(folder.path(), &args).status.code(), Some(0));
    let again = fs::read_to_string(folder.path().join("again.html")).expect("a page");
    assert!(again.contains("shop::hash"));
}

#[test]
fn what_cannot_be_profiled_is_a_warning() {
    let failing = "#!/bin/sh\necho 'access is limited: check perf_event_paranoid'\nexit 255\n";
    for (when, perf, said) in [
        (
            "at: 0s",
            None,
            "`perf` was not found on the PATH: on Debian it is in the package linux-perf",
        ),
        ("at: 0s", Some(failing), "kernel.perf_event_paranoid"),
        ("at: 5m", Some(PERF), "the load ended before 300 s"),
        ("when: p99 > 1h", Some(PERF), "there was no second with `p99 > 1h`"),
    ] {
        let folder = folder(&format!("{{process: server, {when}}}"), perf);
        let output = run(&folder, &["--allow-exec"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let run = fs::read_to_string(only_run(&folder).join("run.json")).expect("a result");
        let run: serde_json::Value = serde_json::from_str(&run).expect("JSON");
        let warnings = run["warnings"].to_string();
        assert!(
            warnings.contains("there is no profile of server: ") && warnings.contains(said),
            "{warnings}"
        );
    }
}

#[test]
fn what_is_wrong_with_a_profile_is_found_before_anything_is_sent() {
    for (profile, more, said) in [
        ("{process: server, at: 1s}", &[][..], "add --allow-exec"),
        ("{process: other, at: 1s}", &["--allow-exec"], "there is no monitor `other`"),
        ("{process: here, at: 1s}", &["--allow-exec"], "something other than processes"),
        ("{process: server, when: p99 >}", &["--allow-exec"], "plan.yaml:3:"),
    ] {
        let folder = folder(profile, Some(PERF));
        let output = run(&folder, more);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(said) && text.contains("plan.yaml:3:"), "{profile}: {text}");
        assert!(!folder.path().join("runs").exists());
    }
}
