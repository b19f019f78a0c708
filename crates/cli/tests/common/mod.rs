//! What the end-to-end tests share: targets, the binary with its result as JSON, short plans.
//!
//! Each test binary uses a part of it.
#![allow(dead_code)]

pub mod peer;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use squall_target::{Options, Server, TlsOptions};

/// A target on a port of its own.
pub fn target() -> Server {
    target_at("127.0.0.1:0", None)
}

/// A target that listens on an address (`unix:/path` too), with TLS or without.
pub fn target_at(listen: &str, tls: Option<TlsOptions>) -> Server {
    Server::start(Options { listen: vec![listen.to_owned()], tls, threads: 1, seed: None })
        .expect("a target")
}

/// Runs the binary in a folder.
pub fn squall(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("squall runs")
}

/// Runs with the result as JSON; checks the exit code.
pub fn result(folder: &Path, args: &[&str], code: i32) -> Value {
    let output = squall(folder, &[args, &["--quiet", "--json", "-"]].concat());
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let json: Result<Value, _> = serde_json::from_str(&out);
    let failed = json.as_ref().is_ok_and(only_requests_failed);
    let code = if code == 0 && failed { 1 } else { code };
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{err}");
    by_name(json.unwrap_or_else(|error| panic!("{error}: {out}\n{err}")))
}

/// Whether a run failed because of requests that were errors and of nothing else: tests that look at these
/// themselves expect the code 0.
fn only_requests_failed(json: &Value) -> bool {
    let reasons = json["outcome"]["reasons"].as_array().expect("reasons");
    let of_requests = |own: &Value| own["kind"] == "errors" || own["kind"] == "every_request";
    !reasons.is_empty() && reasons.iter().all(of_requests)
}

/// A result with its requests, programs and groups by name, for tests whose names are of one scenario.
pub fn by_name(mut json: Value) -> Value {
    let (requests, groups) = (json["requests"].take(), json["groups"].take());
    for (key, rows, kinds) in [
        ("requests", &requests, &["request", "resource"][..]),
        ("programs", &requests, &["program"][..]),
        ("groups", &groups, &["group"][..]),
    ] {
        let rows = rows.as_array().into_iter().flatten();
        let named = rows.filter(|row| kinds.iter().any(|kind| row["kind"] == *kind));
        let name = |row: &Value| (row["name"].as_str().expect("a name").to_owned(), row.clone());
        json[key] = Value::Object(named.map(name).collect());
    }
    json
}

/// A plan of one user with one scenario, which runs in a folder of its own.
pub struct Steps<'a> {
    /// The plan's `target`.
    pub url: &'a str,
    /// Lines of the plan before its scenarios.
    pub head: &'a str,
    pub users: u32,
    /// Of each user.
    pub iterations: u32,
    /// The list of steps, indented by 6.
    pub steps: &'a str,
    /// Names and contents of files that lie beside the plan.
    pub files: &'a [(&'a str, &'a [u8])],
}

impl<'a> Steps<'a> {
    /// One step, given as YAML on one line, once by one user.
    pub fn one(url: &'a str, step: &'a str) -> Self {
        Steps { url, head: "", users: 1, iterations: 1, steps: step, files: &[] }
    }

    /// Runs the plan; checks the exit code.
    pub fn run(&self, code: i32) -> Value {
        let Steps { url, head, users, iterations, .. } = self;
        let folder = tempfile::tempdir().expect("a folder");
        let steps = match self.steps.starts_with('\n') {
            true => self.steps.to_owned(),
            false => format!("      - {}", self.steps),
        };
        let load = format!("{{users: {users}, iterations: {iterations}}}");
        let plan = format!(
            "target: {url}\n{head}\nscenarios:\n  user:\n    load: {load}\n    steps:\n{steps}\n"
        );
        for (name, content) in self.files.iter().chain([&("plan.yaml", plan.as_bytes())]) {
            std::fs::write(folder.path().join(name), content).expect("writable");
        }
        result(folder.path(), &["run", "plan.yaml", "--allow-exec"], code)
    }
}

/// The errors of a run, by kind.
pub fn kinds(result: &Value) -> String {
    result["totals"]["error_kinds"].to_string()
}

/// A counter of a run.
pub fn counter(result: &Value, name: &str) -> u64 {
    result["counters"][name].as_u64().unwrap_or_else(|| panic!("no counter {name}: {result}"))
}

/// Checks that a run made so many requests, each with a good response.
pub fn all_good(result: &Value, count: u64) {
    assert_eq!(kinds(result), "{}", "{}", result["log"]);
    assert_eq!(result["totals"]["count"].as_u64(), Some(count), "{result}");
}
