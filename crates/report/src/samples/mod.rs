//! Samples: a row for each request of a run, as other programs read them. Written while the run goes on, in memory that
//! does not grow with it.

mod columns;
mod java_errors;
mod jtl;
mod jtl_xml;
mod listened;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use squall_metrics::{ErrorKind, Phases};

use self::columns::{COLUMNS, cells};
pub use self::listened::ListenedSample;
use crate::cell::Cell;
use crate::csv::quoted;
use crate::parquet::Table;

/// A request, a resource of a page or a program, and what came of it. Its texts hold no secrets any more.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RequestSample<'s> {
    /// When it began, in µs since 1970 (UTC).
    pub unix_us: u64,
    /// `setup`, `load` or `teardown`.
    pub run_phase: &'static str,
    /// Its scenario; `setup` and `teardown` in those.
    pub scenario: &'s str,
    /// The number of its step.
    pub step: &'s str,
    /// The worker that made it.
    pub worker: u32,
    /// Its user's number, from 0.
    pub user: u64,
    /// The user's iteration, from 0.
    pub iteration: u64,
    /// The trace that it belongs to; empty: it carries no trace context.
    pub trace_id: String,
    /// The name under which it is counted.
    pub name: Cow<'s, str>,
    /// Where the last request of it went; empty for a program, and where nothing was sent.
    pub url: String,
    /// Requests before that, which redirects and challenges took.
    pub redirects: u64,
    /// Status code, a program's exit code; 0: no response came.
    pub status: i64,
    /// What the plan itself says beside that; only JTL has it.
    pub reason: Option<Cow<'s, str>>,
    /// The kind of error, if it is one, and the detail.
    pub error: Option<(ErrorKind, Cow<'s, str>)>,
    /// From its start to the last byte, in ns.
    pub latency_ns: u64,
    /// Where that time went, and its wait for the plan's own pool before.
    pub phases: Phases,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Whether its connection had been used before.
    pub reused: bool,
    /// Users that were active in the last whole second: of its scenario, and of all.
    pub users: (u64, u64),
    /// The number of its scenario, from 1.
    pub scenario_number: u64,
    /// The requests that it took, if redirects took several: only JTL has them.
    pub parts: Vec<SamplePart>,
    /// What it loaded besides, if it is a page that names something: only JTL has that.
    pub page: Option<LoadedPage<'s>>,
}

impl RequestSample<'_> {
    /// Whether it failed, or something of what it loaded did.
    fn has_failed(&self) -> bool {
        let mut loaded = self.page.iter().flat_map(|page| &page.resources);
        self.error.is_some() || loaded.any(RequestSample::has_failed)
    }

    /// Whether nothing came, or what says that it is not there. What came and is not as it should be, is not lost.
    fn is_lost(&self) -> bool {
        let is_judged =
            |(kind, _): &(ErrorKind, _)| matches!(kind, ErrorKind::Check | ErrorKind::Extract);
        self.error.as_ref().is_some_and(|error| !is_judged(error)) || self.status >= 400
    }
}

/// What a page loaded besides itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoadedPage<'s> {
    /// From the start of the page to the end of the last, in ns.
    pub duration_ns: u64,
    /// What was loaded, in order.
    pub resources: Vec<RequestSample<'s>>,
}

/// One of the requests of a sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SamplePart {
    /// When it was sent, in µs since 1970 (UTC).
    pub unix_us: u64,
    /// From then to the first byte of its response, in µs, and to the last.
    pub first_byte_us: u64,
    /// From then to the last byte of its response, in µs.
    pub latency_us: u64,
    /// Where it went.
    pub url: String,
    /// Status code; 0: no response came.
    pub status: u16,
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
}

/// A group that a user has gone through. Its texts hold no secrets any more.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupSample<'s> {
    /// When it began, in µs since 1970 (UTC).
    pub unix_us: u64,
    /// How long it took, in ns.
    pub duration_ns: u64,
    /// Its scenario.
    pub scenario: &'s str,
    /// The number of that, from 1.
    pub scenario_number: u64,
    /// Its user's number, from 0.
    pub user: u64,
    /// Its name.
    pub name: Cow<'s, str>,
    /// Whether something in it failed.
    pub failed: bool,
    /// How many samples were in it, and how many of those failed.
    pub samples: (u64, u64),
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Users that were active in the last whole second: of its scenario, and of all.
    pub users: (u64, u64),
    /// Whether its user left it before its end.
    pub is_left: bool,
    /// What the plan says that it came to, if it is a sample that sent nothing. Of one sample with its parts, what it says of
    /// its failure counts alone.
    pub answer: Option<PlanAnswer<'s>>,
    /// What is in it, in order, if it is one sample.
    pub parts: Option<Vec<GroupPart<'s>>>,
}

/// What a plan says that a sample of its own came to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlanAnswer<'s> {
    /// Its status: a number, or another text.
    pub status: Cow<'s, str>,
    /// What is said beside that.
    pub reason: Cow<'s, str>,
    /// What is said of what it failed; empty: it failed nothing.
    pub failure: Cow<'s, str>,
}

/// A part of a group that is one sample.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupPart<'s> {
    /// A request or a program.
    Request(Box<RequestSample<'s>>),
    /// Another group.
    Group(Box<GroupSample<'s>>),
}

impl GroupPart<'_> {
    /// Whether it failed.
    pub fn has_failed(&self) -> bool {
        match self {
            GroupPart::Request(sample) => sample.has_failed(),
            GroupPart::Group(group) => group.failed,
        }
    }
}

/// A form of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleFormat {
    /// Comma-separated values with a head.
    Csv,
    /// The same with the columns of JMeter's results.
    Jtl,
    /// JMeter's results as XML.
    JtlXml,
    /// The columns of CSV, as Parquet.
    Parquet,
}

impl SampleFormat {
    /// The form that the ending of a file's name says.
    pub fn of(path: &Path) -> Option<SampleFormat> {
        match path.extension()?.to_str()? {
            "csv" => Some(SampleFormat::Csv),
            "jtl" => Some(SampleFormat::Jtl),
            "parquet" => Some(SampleFormat::Parquet),
            _ => None,
        }
    }

    /// What stands at the end of a file of this form, and has to go before more is written.
    pub fn end(self) -> &'static str {
        match self {
            SampleFormat::JtlXml => jtl_xml::TAIL,
            SampleFormat::Csv | SampleFormat::Jtl | SampleFormat::Parquet => "",
        }
    }
}

/// Writes samples.
pub struct SampleWriter<W: Write + Send> {
    form: Form<W>,
    /// Whether the parts of a sample are written where the form has any.
    with_parts: bool,
}

enum Form<W: Write + Send> {
    Csv(W),
    Jtl(W),
    JtlXml(W),
    Parquet(Box<Table<W>>),
}

impl<W: Write + Send> std::fmt::Debug for SampleWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SampleWriter").finish_non_exhaustive()
    }
}

impl<W: Write + Send> SampleWriter<W> {
    /// Begins to write.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(format: SampleFormat, mut to: W) -> io::Result<SampleWriter<W>> {
        match format {
            SampleFormat::Jtl => writeln!(to, "{}", jtl::HEAD)?,
            SampleFormat::JtlXml => write!(to, "{}", jtl_xml::HEAD)?,
            SampleFormat::Csv | SampleFormat::Parquet => {}
        }
        SampleWriter::going_on(format, to)
    }

    /// Goes on with a file of a form that has samples already; only JTL is made so, as XML without its end
    /// ([`SampleFormat::end`]).
    ///
    /// # Errors
    /// It cannot be written.
    pub fn going_on(format: SampleFormat, mut to: W) -> io::Result<SampleWriter<W>> {
        let form = match format {
            SampleFormat::Csv => {
                let names = COLUMNS.map(|(name, _)| name);
                writeln!(to, "{}", names.join(","))?;
                Form::Csv(to)
            }
            SampleFormat::Jtl => Form::Jtl(to),
            SampleFormat::JtlXml => Form::JtlXml(to),
            SampleFormat::Parquet => Form::Parquet(Box::new(Table::new(to, &COLUMNS)?)),
        };
        Ok(SampleWriter { form, with_parts: true })
    }

    /// The same without the parts of samples: redirects, and what is in a group that is one sample.
    pub fn without_parts(self) -> SampleWriter<W> {
        SampleWriter { with_parts: false, ..self }
    }

    /// Writes a sample.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&mut self, sample: &RequestSample<'_>) -> io::Result<()> {
        match &mut self.form {
            Form::Csv(to) => line(to, &cells(sample)),
            Form::Jtl(to) => lines(to, &jtl::request(sample).limited(self.with_parts)),
            Form::JtlXml(to) => jtl_xml::write(to, &jtl::request(sample).limited(self.with_parts)),
            Form::Parquet(table) => table.add(cells(sample)),
        }
    }

    /// Writes a group, in the forms that have groups: those of JTL.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_group(&mut self, group: &GroupSample<'_>) -> io::Result<()> {
        match &mut self.form {
            Form::Jtl(to) => lines(to, &jtl::group(group).limited(self.with_parts)),
            Form::JtlXml(to) => jtl_xml::write(to, &jtl::group(group).limited(self.with_parts)),
            Form::Csv(_) | Form::Parquet(_) => Ok(()),
        }
    }

    /// Hands everything on that was kept for later, where the form allows that: a Parquet file is whole at its end only.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        match &mut self.form {
            Form::Csv(to) | Form::Jtl(to) | Form::JtlXml(to) => to.flush(),
            Form::Parquet(_) => Ok(()),
        }
    }

    /// Ends it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(self) -> io::Result<()> {
        match self.form {
            Form::Csv(mut to) | Form::Jtl(mut to) => to.flush(),
            Form::JtlXml(mut to) => {
                to.write_all(jtl_xml::TAIL.as_bytes())?;
                to.flush()
            }
            Form::Parquet(table) => table.finish(),
        }
    }
}

/// Writes a row of JTL, and its parts behind it.
fn lines(to: &mut impl Write, row: &jtl::Row<'_>) -> io::Result<()> {
    line(to, &row.cells)?;
    row.parts.iter().try_for_each(|part| lines(to, part))
}

/// Writes a line of CSV (RFC 4180). Control characters are escaped, so that a sample is one line, and no terminal obeys
/// what a server sent.
fn line(to: &mut impl Write, cells: &[Cell<'_>]) -> io::Result<()> {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            to.write_all(b",")?;
        }
        match cell {
            Cell::Empty => {}
            Cell::Count(count) => to.write_all(itoa::Buffer::new().format(*count).as_bytes())?,
            Cell::Number(number) => write!(to, "{number}")?,
            Cell::Text(text) => {
                to.write_all(quoted(&squall_base::escape_control(text)).as_bytes())?;
            }
        }
    }
    to.write_all(b"\n")
}
