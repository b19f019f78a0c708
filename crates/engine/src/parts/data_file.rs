//! A data file, read row by row from any place in it: CSV and JSON lines, from memory or from disk.
//! However long a line of the file is, no more of it is read than a row may have.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use squall_plan::model::DataFormat;
use squall_plan::value::Value;

/// Most bytes of a row.
const MAX_ROW: u64 = 1 << 20;
/// Bytes that are read at a time.
const BUFFER: usize = 8 << 10;

/// A row: a value a column.
#[derive(Debug, PartialEq)]
pub(crate) struct Row(pub(super) Vec<Value>);

/// The bytes of a file.
#[derive(Debug)]
pub(super) enum Input {
    Memory(io::Cursor<Arc<[u8]>>),
    Disk(File),
}

impl Input {
    pub(super) fn memory(bytes: &Arc<[u8]>) -> Input {
        Input::Memory(io::Cursor::new(bytes.clone()))
    }

    pub(super) fn disk(path: &Path) -> io::Result<Input> {
        Ok(Input::Disk(File::open(path)?))
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Input::Memory(bytes) => bytes.read(buffer),
            Input::Disk(file) => file.read(buffer),
        }
    }
}

impl Seek for Input {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Input::Memory(bytes) => bytes.seek(to),
            Input::Disk(file) => file.seek(to),
        }
    }
}

/// An input that is read up to a limit, beyond which it fails.
#[derive(Debug)]
pub(super) struct Limited {
    input: Input,
    /// Place of the next byte, and of the first that must not be read.
    at: u64,
    limit: u64,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.limit {
            return Err(too_long());
        }
        let read = self.input.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Limited {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = self.input.seek(to)?;
        Ok(self.at)
    }
}

fn too_long() -> io::Error {
    io::Error::other("the row is longer than 1 MiB; is a quote or a line end missing?")
}

/// Reads a file row by row.
pub(super) enum Rows {
    Csv {
        reader: Box<csv::Reader<Limited>>,
        given: Option<Vec<String>>,
        /// The row that was read last.
        record: csv::StringRecord,
    },
    JsonLines {
        reader: BufReader<Input>,
        /// Place of the next line, and how many lines were read before it.
        at: u64,
        line: u64,
        text: Vec<u8>,
        object: serde_json::Map<String, serde_json::Value>,
    },
}

impl Rows {
    pub(super) fn new(input: Input, format: &DataFormat) -> Rows {
        match format {
            DataFormat::Csv { delimiter, columns } => Rows::Csv {
                reader: Box::new(
                    csv::ReaderBuilder::new()
                        .delimiter(*delimiter)
                        .has_headers(columns.is_none())
                        .buffer_capacity(BUFFER)
                        .from_reader(Limited { input, at: 0, limit: MAX_ROW + BUFFER as u64 }),
                ),
                given: columns.clone(),
                record: csv::StringRecord::new(),
            },
            DataFormat::JsonLines => Rows::JsonLines {
                reader: BufReader::with_capacity(BUFFER, input),
                at: 0,
                line: 0,
                text: Vec::new(),
                object: serde_json::Map::new(),
            },
        }
    }

    /// Names of the columns: given, of the header, or of the first object. Asked before the first row.
    pub(super) fn columns(&mut self) -> Result<Vec<String>, String> {
        match self {
            Rows::Csv { given: Some(given), .. } => Ok(given.clone()),
            Rows::Csv { reader, .. } => {
                let names = reader.headers().map_err(|error| csv_error(error, 1))?;
                let clean = |name: &str| name.trim_start_matches('\u{feff}').trim().to_owned();
                Ok(names.iter().map(clean).collect())
            }
            Rows::JsonLines { .. } => {
                let found = self.next()?;
                let Rows::JsonLines { object, .. } = self else { return Ok(Vec::new()) };
                let names = object.keys().filter(|_| found).cloned().collect();
                self.seek(0)?;
                Ok(names)
            }
        }
    }

    /// Where the next row begins, in bytes.
    pub(super) fn place(&self) -> u64 {
        match self {
            Rows::Csv { reader, .. } => reader.position().byte(),
            Rows::JsonLines { at, .. } => *at,
        }
    }

    /// Goes to a place that [`Rows::place`] has given. Lines are counted from there on.
    pub(super) fn seek(&mut self, place: u64) -> Result<(), String> {
        match self {
            Rows::Csv { reader, .. } => {
                let mut position = csv::Position::new();
                position.set_byte(place);
                reader.seek(position).map_err(|error| csv_error(error, 1))
            }
            Rows::JsonLines { reader, at, line, .. } => {
                reader.seek(SeekFrom::Start(place)).map_err(|error| error.to_string())?;
                (*at, *line) = (place, 0);
                Ok(())
            }
        }
    }

    /// Reads the next row; `false`: there is none. Empty lines are passed over.
    pub(super) fn next(&mut self) -> Result<bool, String> {
        match self {
            Rows::Csv { reader, given, record } => {
                let (begin, line) = (reader.position().byte(), reader.position().line());
                reader.get_mut().limit = begin + MAX_ROW + BUFFER as u64;
                let found = reader.read_record(record).map_err(|error| csv_error(error, line))?;
                if reader.position().byte() - begin > MAX_ROW {
                    return Err(format!("line {line}: {}", too_long()));
                }
                let expected = given.as_ref().map_or(record.len(), Vec::len);
                if found && record.len() != expected {
                    return Err(fields(record.position(), line, record.len(), expected));
                }
                Ok(found)
            }
            Rows::JsonLines { reader, at, line, text, object } => loop {
                text.clear();
                let read = reader.take(MAX_ROW + 1).read_until(b'\n', text);
                let read = read.map_err(|error| format!("line {}: {error}", *line + 1))? as u64;
                if read == 0 {
                    return Ok(false);
                }
                *at += read;
                *line += 1;
                if read > MAX_ROW {
                    return Err(format!("line {line}: {}", too_long()));
                }
                let json = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
                if json.trim_ascii().is_empty() {
                    continue;
                }
                *object = serde_json::from_slice(json).map_err(|error| {
                    format!("line {line}: expected a JSON object, such as {{\"name\": \"ada\"}}: {error}")
                })?;
                return Ok(true);
            },
        }
    }

    /// The row that was read last.
    pub(super) fn row(&self, columns: &[String]) -> Row {
        match self {
            Rows::Csv { record, .. } => Row(record.iter().map(Value::text).collect()),
            Rows::JsonLines { object, .. } => {
                let value = |name: &String| object.get(name).map_or(Value::Null, Value::from_json);
                Row(columns.iter().map(value).collect())
            }
        }
    }
}

/// What is wrong with a row of CSV that began on a line.
fn csv_error(error: csv::Error, line: u64) -> String {
    match error.into_kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            fields(pos.as_ref(), line, len as usize, expected_len as usize)
        }
        csv::ErrorKind::Utf8 { pos, .. } => {
            let line = pos.map_or(line, |place| place.line());
            format!("line {line}: the row is not UTF-8; convert the file, for instance with iconv")
        }
        csv::ErrorKind::Io(error) => format!("line {line}: {error}"),
        other => format!("line {line}: {other:?}"),
    }
}

fn fields(place: Option<&csv::Position>, line: u64, found: usize, expected: usize) -> String {
    let line = place.map_or(line, csv::Position::line);
    let many = if found == 1 { "1 field".to_owned() } else { format!("{found} fields") };
    format!("line {line}: {many}, where there should be {expected}")
}
