//! Samples: a row for each request, in a file of the form that its name says.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use squall_plan::model::{SampleFile, SampleForm, WhichSamples};
use squall_report::{GroupPart, Run, SampleFormat, SampleWriter};

use super::event::{Event, EventKind};
use super::interface::{Sink, Start, Wanted};
use super::sampled::Sampled;
use super::second::Second;

/// Writes a row for each request, with its secrets masked.
#[derive(Debug)]
pub struct Samples {
    path: PathBuf,
    sampled: Sampled,
    rows: Rows,
    /// Whether the file has the parts of samples, where its form has any.
    with_parts: bool,
    /// Whether it goes on with what is in the file.
    goes_on: bool,
}

/// The rows of the file.
#[derive(Debug)]
struct Rows {
    format: SampleFormat,
    /// Which samples have one.
    only: WhichSamples,
    /// Once the file was created, until it is whole.
    out: Option<SampleWriter<BufWriter<File>>>,
}

impl Rows {
    fn write(&mut self, part: &GroupPart<'_>) -> io::Result<()> {
        let Some(out) = &mut self.out else { return Ok(()) };
        match (part, self.only) {
            (part, WhichSamples::Errors) if !part.has_failed() => Ok(()),
            (part, WhichSamples::Successes) if part.has_failed() => Ok(()),
            (GroupPart::Request(sample), _) => out.write(sample),
            (GroupPart::Group(group), _) => out.write_group(group),
        }
    }
}

/// Whether a form has groups and parts.
fn has_groups(format: SampleFormat) -> bool {
    matches!(format, SampleFormat::Jtl | SampleFormat::JtlXml)
}

impl Samples {
    /// A form of JTL, to a file in which stays what is there already. Without parts a sample is written without what is
    /// in it.
    pub fn added_to(path: impl Into<PathBuf>, format: SampleFormat, with_parts: bool) -> Samples {
        Samples { with_parts, goes_on: true, ..Samples::new(path, format) }
    }

    /// To this file, which is overwritten. The forms of JTL have groups, and the parts of samples behind these or in
    /// them.
    pub fn new(path: impl Into<PathBuf>, format: SampleFormat) -> Samples {
        Samples {
            path: path.into(),
            sampled: Sampled::new(has_groups(format), []),
            rows: Rows { format, only: WhichSamples::All, out: None },
            with_parts: true,
            goes_on: false,
        }
    }

    /// A file that a plan asks for.
    pub fn of_plan(file: &SampleFile) -> Samples {
        let format = match file.form {
            SampleForm::Csv => SampleFormat::Csv,
            SampleForm::Jtl => SampleFormat::Jtl,
            SampleForm::JtlXml => SampleFormat::JtlXml,
            SampleForm::Parquet => SampleFormat::Parquet,
        };
        let scenarios = file.scenarios.iter().map(|name| name.value.clone());
        Samples {
            goes_on: file.append,
            sampled: Sampled::new(has_groups(format), scenarios),
            rows: Rows { format, only: file.only, out: None },
            ..Samples::new(&file.file.value, format)
        }
    }
}

/// A file that goes on where what is in it ended, without what stands at its end.
fn reopened(path: &Path, end: &str) -> io::Result<File> {
    let mut file = File::options().append(true).read(true).create(true).open(path)?;
    let length = file.metadata()?.len();
    if let Some(rest) = length.checked_sub(end.len() as u64).filter(|_| !end.is_empty()) {
        let mut last = vec![0; end.len()];
        file.seek(SeekFrom::Start(rest))?;
        file.read_exact(&mut last)?;
        if last == end.as_bytes() {
            file.set_len(rest)?;
        }
    }
    Ok(file)
}

impl Sink for Samples {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        let format = self.rows.format;
        let file = match self.goes_on {
            true => reopened(&self.path, format.end())?,
            false => File::create(&self.path)?,
        };
        let is_new = file.metadata()?.len() == 0;
        let file = BufWriter::with_capacity(1 << 20, file);
        let out = match is_new {
            true => SampleWriter::new(format, file)?,
            false => SampleWriter::going_on(format, file)?,
        };
        self.rows.out = Some(if self.with_parts { out } else { out.without_parts() });
        Ok(self.sampled.start(start))
    }

    fn second(&mut self, second: &Second) -> io::Result<()> {
        self.sampled.second(second);
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.sampled.event(event, &mut |part| self.rows.write(&part))?;
        match &event.kind {
            EventKind::Evaluated(_) => self.rows.out.as_mut().map_or(Ok(()), SampleWriter::flush),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        self.sampled.rest(&mut |part| self.rows.write(&part))?;
        self.rows.out.take().map_or(Ok(()), SampleWriter::finish)
    }
}
