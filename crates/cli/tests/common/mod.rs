//! What the end-to-end tests share: targets, the binary with its result as JSON, what they look at.
//!
//! Each test binary uses a part of it.
#![allow(dead_code, unused_imports)]

#[path = "../../../runner/tests/it/common/parts.rs"]
mod parts;
#[path = "../../../runner/tests/it/common/peer.rs"]
pub mod peer;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

pub use parts::*;

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
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{err}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"))
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
