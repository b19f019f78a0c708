//! Samples: a row for each request of a run, as other programs read them. Written while the run goes on, in memory that
//! does not grow with it.

mod columns;
mod java_errors;
mod jtl;
mod jtl_xml;
mod listened;
mod sample;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::path::Path;

use self::columns::{COLUMNS, cells};
pub use self::listened::ListenedSample;
pub use self::sample::{GroupPart, GroupSample, LoadedPage, PlanAnswer, RequestSample, SamplePart};
use crate::cell::Cell;
use crate::csv::quoted;
use crate::parquet::Table;

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
