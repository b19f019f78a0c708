//! What the tests share: targets, runs with their result as JSON, short plans.

mod parts;
pub mod peer;
pub mod proxy;
pub mod scripted;

use std::path::{Path, PathBuf};

use serde_json::Value;
use squall_report::RunDocument;
use squall_runner::{ErrorKind, FinishedRun, Folder, Handle, Options, Sink, check, load, run};
use squall_wire::Io;

use parts::by_name;
pub use parts::{Steps, all_good, counter, folder, kinds, logged, plan, target, target_at};

/// How a run is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Passed,
    Failed,
}

/// A plan may run programs. Which backend reads and writes is said by `SQUALL_IO`, as on the command line.
pub fn options() -> Options {
    let io = match std::env::var("SQUALL_IO").as_deref() {
        Ok("epoll") => Io::Epoll,
        Ok("io_uring") => Io::Uring,
        _ => Io::Auto,
    };
    Options { allow_exec: true, io, ..Options::default() }
}

/// With so many workers.
pub fn workers(workers: u32) -> Options {
    Options { workers: Some(workers), ..options() }
}

/// Runs a plan of this text, which lies in a folder with what it refers to.
pub fn outcome(folder: &Path, options: &Options) -> FinishedRun {
    let plan = load(&folder.join("plan.yaml"), &Default::default());
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&plan, options, Vec::new(), &Handle::default());
    outcome.unwrap_or_else(|error| panic!("{error}"))
}

/// Runs `plan.yaml` of a folder; checks how it ends. The result as JSON.
pub fn result(folder: &Path, options: &Options, end: End) -> Value {
    let run = outcome(folder, options).run;
    assert_eq!(run.incomplete, [] as [&str; 0]);
    let ended = run.outcome();
    assert_eq!(ended.passed(), end == End::Passed, "{ended:?} {:?}", run.log);
    rows_as_read(&squall_report::document(&run))
}

/// Runs `plan.yaml` of a folder, and keeps the run in a folder: the result as JSON, and where it is.
pub fn kept(folder: &Path, options: &Options) -> (Value, PathBuf) {
    let plan = load(&folder.join("plan.yaml"), &Default::default()).expect("a plan");
    let sinks: Vec<(String, Box<dyn Sink>)> =
        vec![("folder".to_owned(), Box::new(Folder::new(folder.join("runs"))))];
    let outcome = run(&plan, options, sinks, &Handle::default()).expect("a run");
    assert!(outcome.run.passed(), "{outcome:?}");
    (rows_as_read(&squall_report::document(&outcome.run)), outcome.folder.expect("a folder"))
}

/// JSON as it is after it was written and read, which rounds its numbers.
pub fn as_read(json: &Value) -> Value {
    serde_json::from_str(&json.to_string()).expect("JSON")
}

/// A result as it is read from its file, its rows by name.
pub fn rows_as_read(run: &RunDocument) -> Value {
    by_name(as_read(&serde_json::to_value(run).expect("JSON")))
}

/// Why a plan is refused.
pub fn refused(folder: &Path, options: &Options) -> String {
    let refused = load(&folder.join("plan.yaml"), &Default::default())
        .and_then(|plan| run(&plan, options, Vec::new(), &Handle::default()));
    let error = refused.expect_err("it is refused");
    assert!(matches!(error.kind, ErrorKind::Plan | ErrorKind::Input), "{error:?}");
    error.text
}

/// The warnings about a plan.
pub fn checked(folder: &Path) -> Vec<String> {
    let plan = load(&folder.join("plan.yaml"), &Default::default()).expect("a plan");
    check(&plan, &options(), &[]).expect("a good plan").warnings
}

impl Steps<'_> {
    /// Runs the plan; checks how it ends.
    pub fn run(&self, end: End) -> Value {
        result(self.folder().path(), &options(), end)
    }
}
