//! Rows of data files: CSV and JSON lines. Small files are kept; of large ones only the places of some
//! rows are, and rows are read when they are needed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use squall_plan::model::{AtEnd, DataFormat, Pick, Share};
use squall_plan::value::{Value, ValueRef};

/// Files up to this size are kept in memory as rows.
const KEPT: u64 = 8 << 20;
/// Of larger files the place of each of so many rows is kept.
const STRIDE: u64 = 64;

/// A row: a value a column.
#[derive(Debug, PartialEq)]
pub(crate) struct Row(Vec<Value>);

impl Row {
    pub(crate) fn cell(&self, column: usize) -> ValueRef<'_> {
        self.0.get(column).map_or(ValueRef::Null, Value::as_ref)
    }
}

/// A data file that has been looked through once.
#[derive(Debug)]
pub(crate) struct Source {
    path: PathBuf,
    format: DataFormat,
    columns: Vec<String>,
    rows: u64,
    kept: Vec<Arc<Row>>,
    /// Place of row 0, of row [`STRIDE`], and so on.
    index: Vec<csv::Position>,
}

impl Source {
    /// Opens a file, counts its rows and finds its columns.
    pub(crate) fn open(path: &Path, format: &DataFormat) -> Result<Source, String> {
        let show = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let size = std::fs::metadata(path).map_err(|error| show(&error))?.len();
        let mut source = Source {
            path: path.to_owned(),
            format: format.clone(),
            columns: Vec::new(),
            rows: 0,
            kept: Vec::new(),
            index: Vec::new(),
        };
        let mut cursor = Cursor::open(path, format).map_err(|error| show(&error))?;
        source.columns = cursor.columns().map_err(|error| show(&error))?;
        loop {
            let place = cursor.place();
            let Some(row) = cursor.next(&source.columns).map_err(|error| show(&error))? else {
                break;
            };
            if source.rows.is_multiple_of(STRIDE) {
                source.index.push(place);
            }
            if size <= KEPT {
                source.kept.push(Arc::new(row));
            }
            source.rows += 1;
        }
        if source.rows == 0 {
            return Err(format!("{}: there is no row in it", path.display()));
        }
        Ok(source)
    }

    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }
}

/// One worker's way to the rows of a source.
pub(crate) struct Reader {
    source: Arc<Source>,
    /// Of large files: an open file, and the number of the row that it gives next.
    open: Option<(Cursor, u64)>,
}

impl Reader {
    pub(crate) fn new(source: &Arc<Source>) -> Reader {
        Reader { source: source.clone(), open: None }
    }

    /// A row by its number.
    pub(crate) fn row(&mut self, number: u64) -> io::Result<Arc<Row>> {
        let source = &self.source;
        if let Some(row) = source.kept.get(number as usize) {
            return Ok(row.clone());
        }
        let (mut cursor, mut at) = match self.open.take() {
            Some(open) => open,
            None => (Cursor::open(&source.path, &source.format)?, u64::MAX),
        };
        // Going on costs less than seeking while the row is near.
        if number < at || number - at > STRIDE {
            let Some(place) = source.index.get((number / STRIDE) as usize) else {
                return Err(io::Error::other("there is no such row"));
            };
            cursor.seek(place)?;
            at = number / STRIDE * STRIDE;
        }
        let mut found = None;
        while at <= number {
            found = cursor.next(&source.columns)?;
            at += 1;
        }
        self.open = Some((cursor, at));
        found
            .map(Arc::new)
            .ok_or_else(|| io::Error::other("the file became shorter while it was read"))
    }
}

/// Reads a file row by row.
enum Cursor {
    Csv { reader: Box<csv::Reader<File>>, given: Option<Vec<String>> },
    Lines { reader: BufReader<File>, at: u64, line: u64 },
}

impl Cursor {
    fn open(path: &Path, format: &DataFormat) -> io::Result<Cursor> {
        let file = File::open(path)?;
        Ok(match format {
            DataFormat::Csv { delimiter, columns } => Cursor::Csv {
                reader: Box::new(
                    csv::ReaderBuilder::new()
                        .delimiter(*delimiter)
                        .has_headers(columns.is_none())
                        .from_reader(file),
                ),
                given: columns.clone(),
            },
            DataFormat::JsonLines => Cursor::Lines { reader: BufReader::new(file), at: 0, line: 0 },
        })
    }

    /// Names of the columns: given, of the header, or of the first object.
    fn columns(&mut self) -> io::Result<Vec<String>> {
        match self {
            Cursor::Csv { given: Some(given), .. } => Ok(given.clone()),
            Cursor::Csv { reader, .. } => {
                let names = reader.headers().map_err(io::Error::other)?;
                let clean = |name: &str| name.trim_start_matches('\u{feff}').trim().to_owned();
                Ok(names.iter().map(clean).collect())
            }
            Cursor::Lines { .. } => {
                let first = self.object()?;
                self.seek(&csv::Position::new())?;
                Ok(first.map(|object| object.keys().cloned().collect()).unwrap_or_default())
            }
        }
    }

    fn place(&self) -> csv::Position {
        match self {
            Cursor::Csv { reader, .. } => reader.position().clone(),
            Cursor::Lines { at, line, .. } => {
                let mut place = csv::Position::new();
                place.set_byte(*at).set_line(line + 1);
                place
            }
        }
    }

    fn seek(&mut self, place: &csv::Position) -> io::Result<()> {
        match self {
            Cursor::Csv { reader, .. } => reader.seek(place.clone()).map_err(io::Error::other),
            Cursor::Lines { reader, at, line } => {
                reader.seek(SeekFrom::Start(place.byte()))?;
                (*at, *line) = (place.byte(), place.line().saturating_sub(1));
                Ok(())
            }
        }
    }

    fn next(&mut self, columns: &[String]) -> io::Result<Option<Row>> {
        if let Cursor::Csv { reader, given } = self {
            let mut record = csv::StringRecord::new();
            if !reader.read_record(&mut record).map_err(io::Error::other)? {
                return Ok(None);
            }
            if given.is_some() && record.len() != columns.len() {
                let line = record.position().map_or(0, csv::Position::line);
                let message =
                    format!("line {line} has {} fields, not {}", record.len(), columns.len());
                return Err(io::Error::other(message));
            }
            return Ok(Some(Row(record.iter().map(Value::text).collect())));
        }
        let Some(object) = self.object()? else { return Ok(None) };
        let value = |column: &String| object.get(column).map_or(Value::Null, Value::from_json);
        Ok(Some(Row(columns.iter().map(value).collect())))
    }

    /// The next object of a file of JSON lines; empty lines are passed over.
    fn object(&mut self) -> io::Result<Option<serde_json::Map<String, serde_json::Value>>> {
        let Cursor::Lines { reader, at, line } = self else { return Ok(None) };
        let mut text = String::new();
        loop {
            text.clear();
            let read = reader.read_line(&mut text)?;
            if read == 0 {
                return Ok(None);
            }
            *at += read as u64;
            *line += 1;
            if !text.trim().is_empty() {
                break;
            }
        }
        match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
            Ok(object) => Ok(Some(object)),
            Err(error) => Err(io::Error::other(format!("line {line} is no JSON object: {error}"))),
        }
    }
}

/// How rows are taken, and how many there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taking {
    pub pick: Pick,
    pub share: Share,
    pub at_end: AtEnd,
    pub rows: u64,
    /// Which worker this is, of how many.
    pub worker: u64,
    pub of: u64,
}

/// The number of the row that a user gets, or `None` when there are no more. `by_user` and
/// `by_worker` count the rows taken so far by the user itself and by this worker for all who share.
pub(crate) fn row_number(
    taking: Taking,
    user: u64,
    by_user: &mut u64,
    by_worker: &mut u64,
    chance: u64,
) -> Option<u64> {
    let Taking { rows, worker, of, .. } = taking;
    let sequence = match (taking.pick, taking.share) {
        (Pick::Random, _) => return Some(((u128::from(chance) * u128::from(rows)) >> 64) as u64),
        (Pick::OncePerUser, _) => user,
        (Pick::Next, Share::User) => {
            *by_user += 1;
            *by_user - 1
        }
        // Row number i belongs to worker i mod W: nothing is taken twice, and nobody has to ask.
        (Pick::Next, Share::All | Share::Scenario) => {
            *by_worker += 1;
            (*by_worker - 1) * of + worker
        }
    };
    match taking.at_end {
        AtEnd::Stop if sequence >= rows => None,
        _ => Some(sequence % rows),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str, text: &str) -> Temporary {
            let path =
                std::env::temp_dir().join(format!("squall-data-{}-{name}", std::process::id()));
            std::fs::write(&path, text).expect("a temporary file");
            Temporary(path)
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    const CSV: DataFormat = DataFormat::Csv { delimiter: b',', columns: None };

    fn cells(row: &Row) -> Vec<String> {
        row.0.iter().map(Value::to_string).collect()
    }

    #[test]
    fn csv_with_header_quotes_and_line_ends() {
        let file =
            Temporary::new("a.csv", "\u{feff}name,note\r\nada,\"a, \"\"b\"\"\nc\"\r\ngrace,\r\n");
        let source = Arc::new(Source::open(&file.0, &CSV).expect("a good file"));
        assert_eq!(
            (source.columns(), source.rows()),
            (["name".to_owned(), "note".to_owned()].as_slice(), 2)
        );
        let row = Reader::new(&source).row(0).expect("a row");
        assert_eq!(cells(&row), ["ada", "a, \"b\"\nc"]);
    }

    #[test]
    fn large_files_are_read_where_they_are_needed() {
        let text: String = (0..1_000_000).map(|n| format!("{n},x{n}\n")).collect();
        let file = Temporary::new("large.csv", &format!("n,x\n{text}"));
        let source = Arc::new(Source::open(&file.0, &CSV).expect("a good file"));
        assert!(source.kept.is_empty() && source.rows() == 1_000_000);
        let mut reader = Reader::new(&source);
        for number in [0, 1, 2, 999_999, 5, 64, 63, 500_000, 500_001, 500_070] {
            let row = reader.row(number).expect("a row");
            assert_eq!(cells(&row), [number.to_string(), format!("x{number}")]);
        }
    }

    #[test]
    fn json_lines_keep_their_types() {
        let file = Temporary::new("a.jsonl", "{\"a\":1,\"b\":\"x\"}\n\n{\"b\":null,\"a\":[2]}\n");
        let source = Arc::new(Source::open(&file.0, &DataFormat::JsonLines).expect("a good file"));
        let mut reader = Reader::new(&source);
        assert_eq!(reader.row(0).expect("a row").0[0], Value::Int(1));
        assert_eq!(cells(&reader.row(1).expect("a row")), ["[2]", ""]);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let ragged = Temporary::new("b.csv", "a,b\n1,2\n3\n");
        assert!(Source::open(&ragged.0, &CSV).expect_err("ragged").contains("line: 3"));
        let broken = Temporary::new("b.jsonl", "{}\n[1]\n");
        assert!(
            Source::open(&broken.0, &DataFormat::JsonLines)
                .expect_err("no object")
                .contains("line 2")
        );
        let empty = Temporary::new("c.csv", "a,b\n");
        assert!(Source::open(&empty.0, &CSV).expect_err("empty").contains("no row"));
        assert!(Source::open(Path::new("/nowhere.csv"), &CSV).is_err());
    }

    #[test]
    fn workers_take_each_row_once() {
        let taking = |worker| Taking {
            pick: Pick::Next,
            share: Share::All,
            at_end: AtEnd::Stop,
            rows: 7,
            worker,
            of: 3,
        };
        let mut all = Vec::new();
        for worker in 0..3 {
            let (mut by_user, mut by_worker) = (0, 0);
            while let Some(row) = row_number(taking(worker), 0, &mut by_user, &mut by_worker, 0) {
                all.push(row);
            }
        }
        all.sort_unstable();
        assert_eq!(all, (0..7).collect::<Vec<_>>());
    }

    #[test]
    fn few_rows_are_enough_for_many_workers() {
        let taking = Taking {
            pick: Pick::Next,
            share: Share::All,
            at_end: AtEnd::Cycle,
            rows: 2,
            worker: 5,
            of: 8,
        };
        assert_eq!(row_number(taking, 0, &mut 0, &mut 0, 0), Some(1));
        let per_user = Taking { pick: Pick::OncePerUser, ..taking };
        assert_eq!(row_number(per_user, 9, &mut 0, &mut 0, 0), Some(1));
        let random = Taking { pick: Pick::Random, rows: 10, ..taking };
        assert_eq!(row_number(random, 0, &mut 0, &mut 0, u64::MAX), Some(9));
    }
}
