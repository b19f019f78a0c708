//! A run on disk, written from its first second: it survives a `kill -9`, and `load.rs` makes a [`Run`] of
//! it.
//!
//! `plan.yaml`, `run.json` (at the start and at the end), `slices.bin` (everything recorded, one
//! record per worker and second), `log.jsonl`, `host.jsonl` (samples of the host), `totals.bin` (what it all came to) and
//! `report.html` (both at the end).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use squall_analysis::Totals;
use squall_base::escape_json;
use squall_metrics::{HostSample, Slice};

use crate::document::RunDocument;
use crate::html::{Details, html};
use crate::json::{document, write_json};
use crate::meta::Meta;
use crate::output::replace_file;
use crate::recording::Recording;
use crate::run::Run;
use crate::totals_file;

/// The folder of a run in progress.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    recording: Recording,
    log: File,
    host: File,
    /// How many writes failed.
    failed: u64,
    /// Why the first of them did.
    error: Option<io::Error>,
}

impl RunFolder {
    /// Creates a folder within `base`, named after the time and the plan.
    ///
    /// # Errors
    /// The folder cannot be created or written.
    pub fn create(base: &Path, meta: &Meta, plan: &str) -> io::Result<RunFolder> {
        let path = new_folder(base, meta.started_unix as u64, &meta.plan)?;
        let folder = RunFolder::begin(&path, meta, plan);
        if folder.is_err() {
            // A part of one would be taken for a run that was killed.
            let _ = fs::remove_dir_all(&path);
        }
        folder
    }

    /// Begins once more in the folder of a run that broke off and is gone on with: all that was recorded is recorded again.
    ///
    /// # Errors
    /// It is not there, or cannot be written.
    pub fn restart(path: &Path, meta: &Meta, plan: &str) -> io::Result<RunFolder> {
        for name in ["slices.bin", "log.jsonl", "host.jsonl"] {
            match fs::remove_file(path.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        RunFolder::begin(path, meta, plan)
    }

    /// Writes what is known before the run into a folder that is empty.
    fn begin(path: &Path, meta: &Meta, plan: &str) -> io::Result<RunFolder> {
        fs::write(path.join("plan.yaml"), plan)?;
        let open = |name: &str| OpenOptions::new().create(true).append(true).open(path.join(name));
        let recording = Recording::create(&path.join("slices.bin"))?;
        let folder = RunFolder {
            recording,
            log: open("log.jsonl")?,
            host: open("host.jsonl")?,
            failed: 0,
            error: None,
            path: path.to_owned(),
        };
        folder.write_result(&document(&Run { meta: meta.clone(), ..Run::default() }))?;
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many writes failed, for example on a full disk; the run continues.
    pub fn failed(&self) -> u64 {
        self.failed + self.recording.failed()
    }

    /// Why the first write that failed did; `None`: none failed.
    pub fn error(&self) -> Option<&io::Error> {
        self.error.as_ref().or(self.recording.error())
    }

    /// Whether what was recorded is where it is looked for.
    ///
    /// # Errors
    /// A file was removed, or another one took its place, while the run went on.
    pub fn is_in_place(&self) -> io::Result<()> {
        let files = [
            ("slices.bin", self.recording.file()),
            ("log.jsonl", &self.log),
            ("host.jsonl", &self.host),
        ];
        match files.into_iter().find(|(name, file)| !is_at(file, &self.path.join(name))) {
            Some((name, _)) => {
                let text = format!(
                    "{name}: it was removed or replaced during the run, and what was written to it is lost"
                );
                Err(io::Error::other(text))
            }
            None => Ok(()),
        }
    }

    /// Adds what a worker recorded in a second.
    pub fn slice(&mut self, slice: &Slice) {
        self.recording.append(slice);
    }

    /// Adds a sample of the host, taken `at_s` seconds after the start.
    pub fn host_sample(&mut self, at_s: f64, sample: &HostSample) {
        let values = sample.gauges().chain(sample.counters());
        let mut line: serde_json::Map<String, serde_json::Value> =
            [("second".to_owned(), at_s.into())].into_iter().collect();
        line.extend(values.map(|(name, value)| (name.to_owned(), value.into())));
        let written = writeln!(self.host, "{}", serde_json::Value::Object(line));
        self.count_failure(written);
    }

    /// Adds a line to the log, with more that is known of it.
    pub fn log(&mut self, second: u32, worker: u32, text: &str, more: serde_json::Value) {
        let mut line = serde_json::json!({"second": second, "worker": worker, "text": text});
        if let (Some(line), serde_json::Value::Object(more)) = (line.as_object_mut(), more) {
            line.extend(more);
        }
        let written = writeln!(self.log, "{}", escape_json(&line.to_string()));
        self.count_failure(written);
    }

    /// Writes the result of the run, in the place of one that is there.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_result(&self, run: &RunDocument) -> io::Result<()> {
        replace_file(&self.path.join("run.json"), |file| write_json(run, file))
    }

    /// Writes what the run came to in all, so that it is read sooner than `slices.bin`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_totals(&self, totals: &Totals) -> io::Result<()> {
        totals_file::write(&self.path, totals, self.recording.length())
    }

    /// Writes `report.html`, of the run with its result, and of what is on disk.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_page(&self, run: &Run, result: &RunDocument) -> io::Result<()> {
        let page = html(result, &Details::of(run, Some(&self.path)));
        replace_file(&self.path.join("report.html"), |mut file| file.write_all(page.as_bytes()))
    }

    fn count_failure(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.failed += 1;
            self.error.get_or_insert(error);
        }
    }
}

/// Whether an open file is the one at a path.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(own), Ok(there)) = (file.metadata(), fs::metadata(path)) else { return false };
    #[cfg(unix)]
    let same = {
        use std::os::unix::fs::MetadataExt as _;
        (own.dev(), own.ino()) == (there.dev(), there.ino())
    };
    #[cfg(not(unix))]
    let same = own.len() == there.len();
    same
}

/// Writes the result into the folder of a run once more, as something was lost after it had been written. Where there is no room,
/// the page and the totals make some: both can be made again, and a result that does not say what is lost is worse than none.
///
/// # Errors
/// It cannot be written; the one before is still there.
pub fn amend_result(folder: &Path, run: &RunDocument) -> io::Result<()> {
    let write = || replace_file(&folder.join("run.json"), |file| write_json(run, file));
    write().or_else(|error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            for name in ["report.html", "totals.bin"] {
                // One that is not there takes no room.
                let _ = fs::remove_file(folder.join(name));
            }
            write()
        }
        _ => Err(error),
    })
}

/// Creates a new folder within `base`, named after a time (seconds since 1970) and a plan, with a number
/// if that name is taken.
///
/// # Errors
/// The folder cannot be created.
pub fn new_folder(base: &Path, started_unix: u64, plan: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(base)?;
    let good = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '-' };
    let plan: String = plan.chars().take(40).map(good).collect();
    let name = format!("{}-{}", stamp(started_unix), plan.trim_matches(['-', '.']));
    for number in 1.. {
        let path =
            if number == 1 { base.join(&name) } else { base.join(format!("{name}-{number}")) };
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 10_000 => {}
            made => return made.map(|()| path),
        }
    }
    Err(io::Error::other("there are too many folders of this name"))
}

/// `2026-11-20T22-17-03` of seconds since 1970, in UTC.
pub(crate) fn stamp(unix: u64) -> String {
    let (days, rest) = (unix / 86_400, unix % 86_400);
    let (year, month, day) = squall_base::calendar::date(days as i64);
    format!("{year}-{month:02}-{day:02}T{:02}-{:02}-{:02}", rest / 3_600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        assert_eq!(stamp(0), "1970-01-01T00-00-00");
        assert_eq!(stamp(951_827_696), "2000-02-29T12-34-56");
        assert_eq!(stamp(1_795_213_023), "2026-11-20T22-17-03");
    }
}
