//! The runs of a folder: their list, and their reports. Nothing else of the disk can be read: a run is named by one part of
//! a path, and neither it nor its report may be a link.

use std::fs::File;
use std::io;
use std::path::Path;

use percent_encoding::percent_decode_str;
use rustix::fs::{Mode, OFlags, open, openat};
use serde_json::{Value, json};
use squall_report::{Filter, HistoryRun, history};

/// The page of a run, in its folder.
pub const REPORT: &str = "report.html";
/// Its result.
const RESULT: &str = "run.json";

/// The runs of a folder as JSON, the latest first. A folder that is not there yet has none.
///
/// # Errors
/// It cannot be read, in a sentence.
pub fn list(folder: &Path) -> Result<Value, String> {
    if !folder.exists() {
        return Ok(json!({"folder": folder.display().to_string(), "runs": [], "unread": []}));
    }
    let document = history(folder, &Filter::default()).map_err(|error| error.to_string())?;
    let runs: Vec<Value> = document.runs.iter().rev().filter_map(|run| of(folder, run)).collect();
    Ok(json!({
        "folder": folder.display().to_string(), "runs": runs, "unread": document.unread.len(),
    }))
}

/// A run in the list; `None`: it is not of this folder.
fn of(folder: &Path, run: &HistoryRun) -> Option<Value> {
    let name = Path::new(&run.folder).file_name()?.to_str()?;
    find(folder, name, RESULT).ok()?;
    let totals = &run.totals;
    Some(json!({
        "name": name,
        "plan": run.meta.plan,
        "target": run.meta.target,
        "started_unix": run.meta.started_unix,
        "elapsed_s": run.elapsed_s,
        "finished": run.finished,
        "passed": run.outcome.passed,
        "validity": run.validity,
        "requests": totals.count,
        "rate": totals.rate,
        "error_rate": totals.error_rate,
        "p50_us": totals.latency_us.p50,
        "p99_us": totals.latency_us.p99,
        "labels": run.meta.labels,
        "report": find(folder, name, REPORT).is_ok(),
    }))
}

/// The report that a path names: `NAME/report.html`, as it stands in a request.
///
/// # Errors
/// There is none, or it is not one of this folder.
pub fn report(folder: &Path, path: &str) -> io::Result<File> {
    let none = || io::Error::from(io::ErrorKind::NotFound);
    let (name, file) = path.split_once('/').ok_or_else(none)?;
    let name = percent_decode_str(name).decode_utf8().map_err(|_| none())?;
    if file != REPORT {
        return Err(none());
    }
    find(folder, &name, REPORT)
}

/// Opens a plain file in a folder within `base`, through no link.
fn find(base: &Path, name: &str, file: &str) -> io::Result<File> {
    let is_part = !name.is_empty() && name != "." && name != "..";
    if !is_part || name.chars().any(|c| c == '/' || c == '\\' || c.is_control()) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    // Where the runs are is the user's to say, by a link too.
    let base = open(base, flags | OFlags::DIRECTORY, Mode::empty())?;
    let folder = openat(&base, name, flags | OFlags::DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
    // A pipe would wait for its other end.
    let file = openat(&folder, file, flags | OFlags::NOFOLLOW | OFlags::NONBLOCK, Mode::empty())?;
    let file = File::from(file);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_file_outside_the_folder_is_read() {
        let outside = tempfile::tempdir().expect("a folder");
        let base = outside.path().join("runs");
        let make = |path: &str| {
            fs::create_dir_all(outside.path().join(path)).expect("a folder");
            fs::write(outside.path().join(path).join(REPORT), path).expect("written");
        };
        ["runs/a run", "runs/é", "runs/a run/deep", "elsewhere"].into_iter().for_each(make);
        fs::write(outside.path().join("runs").join(REPORT), "of the folder").expect("written");
        fs::write(base.join("a run").join("plan.yaml"), "a plan").expect("written");
        symlink("../elsewhere", base.join("linked")).expect("a link");
        fs::create_dir(base.join("inner")).expect("a folder");
        symlink("../../elsewhere/report.html", base.join("inner").join(REPORT)).expect("a link");
        fs::create_dir_all(base.join("odd").join(REPORT)).expect("a folder");
        let read = |path: &str| -> Option<String> {
            let mut text = String::new();
            report(&base, path).ok()?.read_to_string(&mut text).ok()?;
            Some(text)
        };
        assert_eq!(read("a run/report.html").as_deref(), Some("runs/a run"));
        assert_eq!(read("a%20run/report.html").as_deref(), Some("runs/a run"));
        assert_eq!(read("%C3%A9/report.html").as_deref(), Some("runs/é"));
        for path in [
            "",
            "report.html",
            "/report.html",
            "./report.html",
            "../report.html",
            "../elsewhere/report.html",
            "..%2felsewhere/report.html",
            "%2e%2e/report.html",
            "%2e%2e%2felsewhere/report.html",
            "..%5celsewhere/report.html",
            "a%20run%2fdeep/report.html",
            "a run/deep/report.html",
            "a run/plan.yaml",
            "a run/../../elsewhere/report.html",
            "a%20run%00/report.html",
            "%ff/report.html",
            "linked/report.html",
            "inner/report.html",
            "odd/report.html",
            "none/report.html",
            "a run/report%2ehtml",
        ] {
            assert_eq!(read(path), None, "{path}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_runs() {
        let runs = list(Path::new("/nowhere/at-all")).expect("a list");
        assert_eq!(runs["runs"], json!([]));
    }
}
