//! Files of samples that a plan asks for.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use squall_plan::model::Plan;
use squall_runner::{Samples, Sink};

use crate::{files, out};

/// The files of samples of a plan, but for those that its user asks for. One that cannot be written is said, and the plan runs
/// without it: it is of no use to have its author's folders, and its results are elsewhere too.
pub fn of_plan(plan: &Plan, asked: &[PathBuf]) -> Vec<(String, Box<dyn Sink>)> {
    let asked: Vec<PathBuf> =
        asked.iter().filter_map(|path| std::path::absolute(path).ok()).collect();
    let mut sinks: Vec<(String, Box<dyn Sink>)> = Vec::new();
    for file in &plan.samples {
        let path = Path::new(&file.file.value);
        if std::path::absolute(path).is_ok_and(|path| asked.contains(&path)) {
            continue;
        }
        match prepare(path) {
            Ok(()) => sinks.push((file.file.value.clone(), Box::new(Samples::of_plan(file)))),
            Err(error) => {
                let name = squall_base::escape_control(&file.file.value);
                out::message(&format!(
                    "squall: {name}: {error}: the plan asks for samples in this file, which is left out\n"
                ));
            }
        }
    }
    sinks
}

/// Makes the folders of a file, and looks whether it can be written.
fn prepare(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    if files::is_pipe(path) {
        // To open it would wait for somebody who reads it.
        return Ok(());
    }
    OpenOptions::new().append(true).create(true).open(path).map(|_| ())
}
