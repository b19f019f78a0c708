//! The run's folder: on disk from the first second on.

use std::io;
use std::path::PathBuf;

use serde_json::{Value, json};
use squall_engine::ErrorExample;
use squall_plan::model::Plan;
use squall_report::{Run, RunDocument, RunFolder, amend_result, document};

use super::event::{Event, EventKind};
use super::interface::{Sink, Start, Wanted};
use super::second::Second;

/// Keeps the run in a folder of its own (`docs/run.md`).
#[derive(Debug)]
pub struct Folder {
    base: PathBuf,
    /// Whether that is the run's folder itself, in which it goes on.
    goes_on: bool,
    /// Once it was made.
    folder: Option<RunFolder>,
    /// Writes that have failed and are reported.
    reported: u64,
    /// Whether the page was written.
    has_page: bool,
}

impl Folder {
    /// Makes the run's folder within `base`, named after the time and the plan, when the run starts.
    pub fn new(base: impl Into<PathBuf>) -> Folder {
        let base = base.into();
        Folder { base, goes_on: false, folder: None, reported: 0, has_page: false }
    }

    /// The folder of a run that broke off, all of whose seconds come again.
    pub fn again(folder: impl Into<PathBuf>) -> Folder {
        Folder { goes_on: true, ..Folder::new(folder) }
    }

    fn write_result(&self, run: &RunDocument) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        folder.write_result(run).map_err(wrong("run.json"))
    }

    /// Does something with the folder, and reports the writes that have failed since the last time.
    fn with(&mut self, write: impl FnOnce(&mut RunFolder)) -> io::Result<()> {
        // There is one since the start.
        let Some(folder) = &mut self.folder else { return Ok(()) };
        write(folder);
        let failed = folder.failed();
        match std::mem::replace(&mut self.reported, failed) == failed {
            true => Ok(()),
            false => {
                let first = folder.error().map_or("a write failed".to_owned(), ToString::to_string);
                Err(io::Error::other(first))
            }
        }
    }
}

impl Sink for Folder {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        let plan = Plan { seed: Some(start.meta.seed), ..start.plan.clone() };
        let plan = squall_plan::yaml::print(&plan, true);
        let folder = match self.goes_on {
            true => RunFolder::restart(&self.base, &start.meta, &plan)?,
            false => RunFolder::create(&self.base, &start.meta, &plan)?,
        };
        let path = folder.path().to_owned();
        self.folder = Some(folder);
        Ok(Wanted { folder: Some(path), ..Wanted::default() })
    }

    fn second(&mut self, second: &Second) -> io::Result<()> {
        self.with(|folder| {
            second.slices.iter().for_each(|slice| folder.slice(slice));
            second.host.iter().for_each(|(at_s, sample)| folder.host_sample(*at_s, sample));
        })
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::Log { phase: _, worker, second, text, example } => {
                let more = example.as_ref().map_or(Value::Null, details);
                self.with(|folder| folder.log(*second, *worker, text, more))
            }
            EventKind::Evaluated(run) => self.write_result(&document(run)),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, run: &Run) -> io::Result<()> {
        let result = document(run);
        self.write_result(&result)?;
        let Some(folder) = &self.folder else { return Ok(()) };
        folder.write_totals(&run.totals).map_err(wrong("totals.bin"))?;
        if let Some(profile) = &run.profile {
            profile.write(folder.path()).map_err(wrong("profile"))?;
        }
        folder.write_page(run, &result).map_err(wrong("report.html"))?;
        self.has_page = true;
        folder.is_in_place()
    }

    fn amend(&mut self, run: &Run) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let result = document(run);
        amend_result(folder.path(), &result).map_err(wrong("run.json"))?;
        // One that could not be written was missed already.
        match self.has_page && folder.path().join("report.html").exists() {
            true => folder.write_page(run, &result).map_err(wrong("report.html")),
            false => Ok(()),
        }
    }
}

/// An error of the file with this name.
fn wrong(name: &'static str) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::other(format!("{name}: {error}"))
}

/// What is known of an error besides its text.
fn details(example: &ErrorExample) -> Value {
    json!({
        "scenario": example.scenario, "name": example.name, "error": example.kind.label(),
        "status": example.status, "number": example.number, "excerpt": example.excerpt,
    })
}
