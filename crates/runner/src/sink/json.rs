//! The result as JSON, in a file.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use squall_report::{Run, document, rewrite_file, write_json};

use super::event::{Event, EventKind};
use super::interface::{Sink, Start, Wanted};
use super::second::Second;

/// Writes the result to a file, as soon as the load is evaluated and again at the end; to a pipe or a device at the end alone.
#[derive(Debug)]
pub struct Json {
    path: PathBuf,
    /// What takes the result once, until it has it: no file that another could take the place of.
    stream: Option<File>,
    /// Whether it is such a file.
    is_file: bool,
}

impl Json {
    /// To this file, which is overwritten.
    pub fn new(path: impl Into<PathBuf>) -> Json {
        Json { path: path.into(), stream: None, is_file: false }
    }

    /// Writes the file once more: whoever reads it sees a whole one.
    fn rewrite(&self, run: &Run) -> io::Result<()> {
        let document = document(run);
        rewrite_file(&self.path, |file| write_json(&document, file))
    }
}

impl Sink for Json {
    fn start(&mut self, _: &Start) -> io::Result<Wanted> {
        // It is better to know before the run that there will be no result.
        let file = File::create(&self.path)?;
        self.is_file = file.metadata()?.is_file();
        // Who reads a pipe would take that it is closed for the end.
        self.stream = Some(file).filter(|_| !self.is_file);
        Ok(Wanted::default())
    }

    fn second(&mut self, _: &Second) -> io::Result<()> {
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::Evaluated(run) if self.is_file => self.rewrite(run),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, run: &Run) -> io::Result<()> {
        match self.stream.take() {
            Some(stream) => write_json(&document(run), stream),
            None => self.rewrite(run),
        }
    }

    fn amend(&mut self, run: &Run) -> io::Result<()> {
        if self.is_file { self.rewrite(run) } else { Ok(()) }
    }
}
