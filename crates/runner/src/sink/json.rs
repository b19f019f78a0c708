//! The result as JSON, in a file.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use squall_report::{Run, write_json};

use super::{Event, EventKind, Second, Sink, Start, Wanted};

/// Writes the result to a file, as soon as the load is evaluated and again at the end.
#[derive(Debug)]
pub struct Json(PathBuf);

impl Json {
    /// To this file, which is overwritten.
    pub fn new(path: impl Into<PathBuf>) -> Json {
        Json(path.into())
    }
}

impl Sink for Json {
    fn start(&mut self, _: &Start) -> io::Result<Wanted> {
        // It is better to know before the run that there will be no result.
        File::create(&self.0).map(|_| Wanted::default())
    }

    fn second(&mut self, _: &Second) -> io::Result<()> {
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::Evaluated(run) => self.finish(run),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, run: &Run) -> io::Result<()> {
        write_json(run, File::create(&self.0)?)
    }
}
