//! Targets, short plans in folders of their own, and what tests look at in results. The binary's tests share it.

use serde_json::Value;
use squall_target::{Options, Server, TlsOptions};
use tempfile::TempDir;

/// A target on a port of its own.
pub fn target() -> Server {
    target_at("127.0.0.1:0", None)
}

/// A target that listens on an address (`unix:/path` too), with TLS or without.
pub fn target_at(listen: &str, tls: Option<TlsOptions>) -> Server {
    Server::start(Options { listen: vec![listen.to_owned()], tls, threads: 1, seed: None })
        .expect("a target")
}

/// Writes texts into a folder of their own.
pub fn folder(files: &[(&str, &str)]) -> TempDir {
    let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    folder_of(&files)
}

fn folder_of(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).expect("writable");
    }
    folder
}

/// A plan of one user and one iteration, `more` lines before its scenario.
pub fn plan(url: &str, more: &str, steps: &str) -> String {
    format!(
        "target: {url}\n{more}\nscenarios: {{a: {{load: {{users: 1, iterations: 1}}, steps: [{steps}]}}}}\n"
    )
}

/// A plan of one user with one scenario, which runs in a folder of its own.
pub struct Steps<'a> {
    /// The plan's `target`.
    pub url: &'a str,
    /// Lines of the plan before its scenarios.
    pub head: &'a str,
    pub users: u32,
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

    /// The folder with the plan and its files.
    pub fn folder(&self) -> TempDir {
        let Steps { url, head, users, iterations, .. } = self;
        let steps = match self.steps.starts_with('\n') {
            true => self.steps.to_owned(),
            false => format!("      - {}", self.steps),
        };
        let load = format!("{{users: {users}, iterations: {iterations}}}");
        let plan = format!(
            "target: {url}\n{head}\nscenarios:\n  user:\n    load: {load}\n    steps:\n{steps}\n"
        );
        folder_of(&[self.files, &[("plan.yaml", plan.as_bytes())]].concat())
    }
}

/// The texts that a run logged.
pub fn logged(result: &Value) -> Vec<&str> {
    result["log"].as_array().expect("a log").iter().filter_map(Value::as_str).collect()
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
