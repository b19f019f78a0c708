//! A data file, read row by row from any place in it: CSV and JSON lines, from memory or from disk.
//! However long a line of the file is, no more of it is read than a row may have.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use squall_plan::model::{Csv, DataFormat};
use squall_plan::value::Value;

use super::quoting::Quoting;

/// Most bytes of a row.
const MAX_ROW: u64 = 1 << 20;
/// What helps where quotes do not fit together.
const QUOTES: &str =
    "write a quote within quotes twice, or take all quotes as they are with `quotes: false`";
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
    /// Looks at the quotes of a file that is read from its beginning.
    quoting: Option<Quoting>,
}

impl Limited {
    /// What is wrong with the quotes of the rows before a line.
    fn fault(&self, before: u64) -> Option<String> {
        let fault = self.quoting.as_ref()?.fault().filter(|fault| fault.line < before)?;
        Some(format!("line {}: {}; {QUOTES}", fault.line, fault.what))
    }
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.limit {
            return Err(too_long());
        }
        let read = self.input.read(buffer)?;
        self.at += read as u64;
        if let Some(quoting) = &mut self.quoting {
            quoting.look(&buffer[..read]);
        }
        Ok(read)
    }
}

impl Seek for Limited {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.quoting = None;
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
        form: Csv,
        /// The row that was read last.
        record: csv::StringRecord,
    },
    Plain {
        lines: Lines,
        form: Csv,
        fields: Vec<String>,
    },
    JsonLines {
        lines: Lines,
        object: serde_json::Map<String, serde_json::Value>,
    },
}

impl Rows {
    pub(super) fn new(input: Input, format: &DataFormat) -> Rows {
        match format {
            DataFormat::Csv(form) if form.quotes => Rows::Csv {
                reader: Box::new(
                    csv::ReaderBuilder::new()
                        .delimiter(form.delimiter)
                        .has_headers(form.columns.is_none() || form.skip_header)
                        .flexible(form.ragged)
                        .buffer_capacity(BUFFER)
                        .from_reader(Limited {
                            input,
                            at: 0,
                            limit: MAX_ROW + BUFFER as u64,
                            quoting: Some(Quoting::new(form.delimiter)),
                        }),
                ),
                form: form.clone(),
                record: csv::StringRecord::new(),
            },
            DataFormat::Csv(form) => {
                Rows::Plain { lines: Lines::new(input), form: form.clone(), fields: Vec::new() }
            }
            // Numbers have no file.
            DataFormat::JsonLines | DataFormat::Numbers(_) => {
                Rows::JsonLines { lines: Lines::new(input), object: serde_json::Map::new() }
            }
        }
    }

    /// Names of the columns: given, of the header, or of the first object. Asked before the first row.
    pub(super) fn columns(&mut self) -> Result<Vec<String>, String> {
        let clean = |name: &str| name.trim_start_matches('\u{feff}').trim().to_owned();
        match self {
            Rows::Csv { form: Csv { columns: Some(given), skip_header: false, .. }, .. } => {
                Ok(given.clone())
            }
            Rows::Csv { reader, form, .. } => {
                let names = reader.headers().map_err(|error| csv_error(error, 1))?;
                Ok(form.columns.clone().unwrap_or_else(|| names.iter().map(clean).collect()))
            }
            Rows::Plain { form: Csv { columns: Some(given), skip_header: false, .. }, .. } => {
                Ok(given.clone())
            }
            Rows::Plain { lines, form, fields } => {
                if lines.next()? {
                    *fields = split(lines.text()?, form.delimiter);
                }
                let names = || fields.iter().map(|name| clean(name)).collect();
                Ok(form.columns.clone().unwrap_or_else(names))
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
            Rows::Plain { lines, .. } | Rows::JsonLines { lines, .. } => lines.at,
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
            Rows::Plain { lines, .. } | Rows::JsonLines { lines, .. } => lines.seek(place),
        }
    }

    /// Reads the next row; `false`: there is none. Empty lines are passed over, but for those of fields without
    /// quotes: they are rows without fields.
    pub(super) fn next(&mut self) -> Result<bool, String> {
        match self {
            Rows::Csv { reader, form, record } => {
                let (begin, line) = (reader.position().byte(), reader.position().line());
                reader.get_mut().limit = begin + MAX_ROW + BUFFER as u64;
                let found = reader.read_record(record);
                // What is wrong with quotes comes first: the rest may only follow from it.
                if let Some(fault) = reader.get_ref().fault(reader.position().line() + 1) {
                    return Err(fault);
                }
                let found = found.map_err(|error| csv_error(error, line))?;
                if reader.position().byte() - begin > MAX_ROW {
                    return Err(format!("line {line}: {}", too_long()));
                }
                let expected = form.columns.as_ref().map_or(record.len(), Vec::len);
                if found && !form.ragged && record.len() != expected {
                    return Err(fields(record.position(), line, record.len(), expected));
                }
                Ok(found)
            }
            Rows::Plain { lines, form, fields: found } => {
                if !lines.next()? {
                    return Ok(false);
                }
                *found = split(lines.text()?, form.delimiter);
                let expected = form.columns.as_ref().map_or(found.len(), Vec::len);
                if !form.ragged && found.len() != expected {
                    return Err(fields(None, lines.line, found.len(), expected));
                }
                Ok(true)
            }
            Rows::JsonLines { lines, object } => loop {
                if !lines.next()? {
                    return Ok(false);
                }
                if lines.bytes().trim_ascii().is_empty() {
                    continue;
                }
                *object = serde_json::from_slice(lines.bytes()).map_err(|error| {
                    format!(
                        "line {}: expected a JSON object, such as {{\"name\": \"ada\"}}: {error}",
                        lines.line
                    )
                })?;
                return Ok(true);
            },
        }
    }

    /// The row that was read last.
    pub(super) fn row(&self, columns: &[String]) -> Row {
        match self {
            Rows::Csv { record, .. } => Row(record.iter().map(Value::text).collect()),
            Rows::Plain { fields, .. } => {
                Row(fields.iter().map(|field| Value::text(field.as_str())).collect())
            }
            Rows::JsonLines { object, .. } => {
                let value = |name: &String| object.get(name).map_or(Value::Null, Value::from_json);
                Row(columns.iter().map(value).collect())
            }
        }
    }
}

/// Reads an input line by line.
#[derive(Debug)]
pub(super) struct Lines {
    reader: BufReader<Input>,
    /// Place of the next line, and how many lines were read before it.
    at: u64,
    line: u64,
    /// The line that was read last, with its end.
    text: Vec<u8>,
}

impl Lines {
    fn new(input: Input) -> Lines {
        let reader = BufReader::with_capacity(BUFFER, input);
        Lines { reader, at: 0, line: 0, text: Vec::new() }
    }

    fn seek(&mut self, place: u64) -> Result<(), String> {
        self.reader.seek(SeekFrom::Start(place)).map_err(|error| error.to_string())?;
        (self.at, self.line) = (place, 0);
        Ok(())
    }

    /// Reads the next line; `false`: there is none.
    fn next(&mut self) -> Result<bool, String> {
        self.text.clear();
        let read = (&mut self.reader).take(MAX_ROW + 1).read_until(b'\n', &mut self.text);
        let read = read.map_err(|error| format!("line {}: {error}", self.line + 1))? as u64;
        if read == 0 {
            return Ok(false);
        }
        self.at += read;
        self.line += 1;
        if read > MAX_ROW {
            return Err(format!("line {}: {}", self.line, too_long()));
        }
        Ok(true)
    }

    /// The line without its end, and without a mark of the byte order.
    fn bytes(&self) -> &[u8] {
        let text = self.text.strip_suffix(b"\n").unwrap_or(&self.text);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text)
    }

    fn text(&self) -> Result<&str, String> {
        std::str::from_utf8(self.bytes()).map_err(|_| not_utf8(self.line))
    }
}

/// Reads a file to its end or its first fault, and each row once more from its place, which must give the same.
pub(crate) fn read_again_and_again(file: &[u8], form: Csv) {
    let format = DataFormat::Csv(form);
    let bytes: Arc<[u8]> = file.into();
    let open = || {
        let mut rows = Rows::new(Input::memory(&bytes), &format);
        rows.columns().map(|columns| (rows, columns))
    };
    let (Ok((mut rows, columns)), Ok((mut again, _))) = (open(), open()) else { return };
    // The second reader has passed over the header, as a seek expects.
    loop {
        let place = rows.place();
        let Ok(true) = rows.next() else { return };
        let found = again.seek(place).and_then(|()| again.next());
        assert_eq!(found, Ok(true), "at {place}");
        let of = |rows: &Rows| {
            let row = rows.row(&columns);
            (0..columns.len()).map(|column| format!("{:?}", row.cell(column))).collect::<Vec<_>>()
        };
        assert_eq!(of(&again), of(&rows), "at {place}");
    }
}

/// The fields of a line without quotes; none of an empty one.
fn split(line: &str, delimiter: u8) -> Vec<String> {
    if line.is_empty() {
        return Vec::new();
    }
    line.split(char::from(delimiter)).map(str::to_owned).collect()
}

fn not_utf8(line: u64) -> String {
    format!(
        "line {line}: the row is not UTF-8; name the file's encoding, such as `charset: windows-1252`"
    )
}

/// What is wrong with a row of CSV that began on a line.
fn csv_error(error: csv::Error, line: u64) -> String {
    match error.into_kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            fields(pos.as_ref(), line, len as usize, expected_len as usize)
        }
        csv::ErrorKind::Utf8 { pos, .. } => not_utf8(pos.map_or(line, |place| place.line())),
        csv::ErrorKind::Io(error) => format!("line {line}: {error}"),
        other => format!("line {line}: {other:?}"),
    }
}

fn fields(place: Option<&csv::Position>, line: u64, found: usize, expected: usize) -> String {
    let line = place.map_or(line, csv::Position::line);
    let many = if found == 1 { "1 field".to_owned() } else { format!("{found} fields") };
    let which = match found.checked_sub(expected) {
        None | Some(0) => String::new(),
        Some(1) => format!(": field {found} is too many"),
        Some(_) => format!(": fields {} to {found} are too many", expected + 1),
    };
    format!("line {line}: {many}, where there should be {expected}{which}")
}
