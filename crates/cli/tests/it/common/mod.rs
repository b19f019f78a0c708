//! What the end-to-end tests share: targets, the binary with its result as JSON, what they look at.

#[path = "../../../../runner/tests/it/common/parts.rs"]
mod parts;
// The runner's tests use all of it, these a part.
#[allow(dead_code)]
#[path = "../../../../runner/tests/it/common/peer.rs"]
pub mod peer;

mod perf;
mod processes;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub use parts::*;
pub use perf::*;
pub use processes::*;

/// Runs the binary in a folder.
pub fn squall(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("squall runs")
}

/// The same with a text on its standard input.
pub fn squall_given(folder: &Path, args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_squall"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("squall starts");
    // Dropped at the end of the statement, which is its end.
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("squall reads");
    child.wait_with_output().expect("squall ends")
}

/// Runs the binary in a folder: its exit code, standard output and standard error.
pub fn said(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let done = squall(folder, args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code().unwrap_or(-1), text(&done.stdout), text(&done.stderr))
}

/// A folder with a script of k6, `a.js`.
pub fn with_script(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.js"), text).expect("writable");
    folder
}

/// Runs with the result as JSON; checks the exit code.
pub fn result(folder: &Path, args: &[&str], code: i32) -> Value {
    let output = squall(folder, &[args, &["--quiet", "--json", "-"]].concat());
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{err}");
    by_name(serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}")))
}

impl Steps<'_> {
    /// Runs the plan; checks the exit code.
    pub fn run(&self, code: i32) -> Value {
        result(self.folder().path(), &["run", "plan.yaml", "--allow-exec"], code)
    }
}
