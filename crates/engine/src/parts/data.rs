//! Rows of data files. Of a file with few values the rows are kept, of a small one its bytes, and of a
//! large one nothing but the places of some rows: memory has a limit, however many rows there are.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use squall_plan::model::{Csv, DataFormat, Numbers};
use squall_plan::value::{Value, ValueRef};

pub(crate) use super::data_file::Row;
use super::data_file::{Input, Rows};

/// Most values of a file whose rows are kept as they are used.
const MAX_VALUES: u64 = 64 << 10;
/// Files up to this size are kept in memory.
const MAX_BYTES: u64 = 8 << 20;
/// Most places of rows that are kept: 16 MiB.
const MAX_PLACES: usize = 2 << 20;
/// One row in so many has its place kept, unless that would be too many places.
const STRIDE: u64 = 16;

impl Row {
    pub(crate) fn cell(&self, column: usize) -> ValueRef<'_> {
        self.0.get(column).map_or(ValueRef::Null, Value::as_ref)
    }

    /// Whether it has no fields at all: in place of a row the file has an end there.
    pub(crate) fn is_end(&self) -> bool {
        self.0.is_empty()
    }
}

/// What each column holds behind the end of a file, if the plan goes on there.
const EOF: &str = "<EOF>";

/// A data source; a file that has been read through once.
#[derive(Debug)]
pub(crate) struct Source {
    path: PathBuf,
    format: DataFormat,
    columns: Vec<String>,
    rows: u64,
    stored: Stored,
    places: Places,
    /// The row behind the end.
    eof: Arc<Row>,
}

/// What of a file is in memory, beside the places of its rows.
#[derive(Debug)]
enum Stored {
    Rows(Vec<Arc<Row>>),
    Bytes(Arc<[u8]>),
    Nothing,
}

/// The places of row 0, of row `stride`, and so on.
#[derive(Debug)]
struct Places {
    stride: u64,
    places: Vec<u64>,
    most: usize,
}

impl Places {
    fn new(most: usize) -> Places {
        Places { stride: STRIDE, places: Vec::new(), most }
    }

    /// Notes the place of the row that comes after those noted before.
    fn note(&mut self, row: u64, place: u64) {
        if !row.is_multiple_of(self.stride) {
            return;
        }
        if self.places.len() >= self.most {
            let mut index = 0;
            self.places.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.stride *= 2;
            if !row.is_multiple_of(self.stride) {
                return;
            }
        }
        self.places.push(place);
    }

    /// The last row at or before `row` whose place is known.
    fn before(&self, row: u64) -> Option<(u64, u64)> {
        let index = row / self.stride;
        self.places.get(index as usize).map(|place| (index * self.stride, *place))
    }
}

impl Source {
    /// Opens a file, counts its rows and finds its columns.
    ///
    /// # Errors
    /// A text that names the file, and the line where one is at fault.
    pub(crate) fn open(path: &Path, format: &DataFormat) -> Result<Source, String> {
        if let DataFormat::Numbers(numbers) = format {
            return Source::of_numbers(*numbers);
        }
        Source::read(path, format).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// A source of numbers, which needs no file.
    fn of_numbers(numbers: Numbers) -> Result<Source, String> {
        if numbers.count() == 0 {
            let to = numbers.to.unwrap_or(i64::MAX as u64);
            return Err(format!(
                "there are no numbers: `to` ({to}) is below `from` ({})",
                numbers.from
            ));
        }
        Ok(Source {
            path: PathBuf::new(),
            format: DataFormat::Numbers(numbers),
            columns: vec!["number".to_owned()],
            rows: numbers.count(),
            stored: Stored::Nothing,
            places: Places::new(0),
            eof: Arc::new(Row(vec![Value::text(EOF)])),
        })
    }

    fn read(path: &Path, format: &DataFormat) -> Result<Source, String> {
        squall_plan::files::regular(path)?;
        let bytes = match (small(path)?, format) {
            (bytes, DataFormat::Csv(Csv { charset: Some(charset), .. })) => {
                Some(decoded(bytes, charset)?)
            }
            (bytes, _) => bytes,
        };
        let input = match &bytes {
            Some(bytes) => Input::memory(bytes),
            None => Input::disk(path).map_err(|error| error.to_string())?,
        };
        let mut rows = Rows::new(input, format);
        let columns = rows.columns()?;
        if let Some(name) = columns.iter().find(|name| name.contains('\0')) {
            let name = name.escape_default();
            let help = "name its encoding, such as `charset: utf-16le`";
            return Err(format!("the column `{name}` has a NUL in its name, as in UTF-16: {help}"));
        }
        if let Some(twice) = twice(&columns) {
            return Err(format!(
                "the column `{twice}` is there twice: which one is meant? Name the columns with `header: [...]` and `skip_header: true`"
            ));
        }
        let mut kept = bytes.is_some().then(Vec::new);
        let (mut places, mut count) = (Places::new(MAX_PLACES), 0);
        loop {
            let place = rows.place();
            if !rows.next()? {
                break;
            }
            places.note(count, place);
            count += 1;
            if count * (columns.len() as u64).max(1) > MAX_VALUES {
                kept = None;
            }
            if let Some(kept) = &mut kept {
                kept.push(Arc::new(rows.row(&columns)));
            }
        }
        if count == 0 {
            return Err("it has no rows; a CSV file needs one below its header, unless `header: [...]` names its columns".to_owned());
        }
        let stored = match (kept, bytes) {
            (Some(kept), _) => Stored::Rows(kept),
            (None, Some(bytes)) => Stored::Bytes(bytes),
            (None, None) => Stored::Nothing,
        };
        let (path, format) = (path.to_owned(), format.clone());
        let eof = Arc::new(Row(columns.iter().map(|_| Value::text(EOF)).collect()));
        Ok(Source { path, format, columns, rows: count, stored, places, eof })
    }

    /// The row behind the end: each column holds `<EOF>`.
    pub(crate) fn eof(&self) -> Arc<Row> {
        self.eof.clone()
    }

    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    fn open_rows(&self) -> Result<Rows, String> {
        let input = match &self.stored {
            Stored::Bytes(bytes) => Input::memory(bytes),
            _ => Input::disk(&self.path).map_err(|error| error.to_string())?,
        };
        Ok(Rows::new(input, &self.format))
    }
}

/// The bytes of a small file as UTF-8; what stands for no character in its encoding is U+FFFD.
fn decoded(bytes: Option<Arc<[u8]>>, charset: &str) -> Result<Arc<[u8]>, String> {
    let Some(bytes) = bytes else {
        return Err(format!("it is larger than 8 MiB: convert it from {charset} to UTF-8"));
    };
    let text = squall_extract::decoded(&bytes, charset);
    let text = text.ok_or_else(|| {
        format!(
            "unknown encoding `{charset}`: expected one such as windows-1252, shift_jis or utf-16"
        )
    })?;
    Ok(text.as_bytes().into())
}

/// The bytes of a file, if it is small.
fn small(path: &Path) -> Result<Option<Arc<[u8]>>, String> {
    let show = |error: std::io::Error| error.to_string();
    let metadata = fs::metadata(path).map_err(show)?;
    if !metadata.is_file() {
        return Err("expected a file, found a directory or a device".to_owned());
    }
    if metadata.len() > MAX_BYTES {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize + 1);
    // It may grow meanwhile.
    File::open(path).map_err(show)?.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(show)?;
    Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= MAX_BYTES).map(Arc::from))
}

/// One worker's access to the rows of a source.
pub(crate) struct Reader {
    source: Arc<Source>,
    /// Where rows are not kept: the open file, and the number of the row that it gives next.
    open: Option<(Rows, u64)>,
}

impl Reader {
    pub(crate) fn new(source: &Arc<Source>) -> Reader {
        Reader { source: source.clone(), open: None }
    }

    /// A row by its number.
    ///
    /// # Errors
    /// The file cannot be read any more, or is not what it was.
    pub(crate) fn row(&mut self, number: u64) -> Result<Arc<Row>, String> {
        if let DataFormat::Numbers(numbers) = &self.source.format {
            let number = numbers.nth(number).map_or(Value::Null, Value::Int);
            return Ok(Arc::new(Row(vec![number])));
        }
        if let Stored::Rows(rows) = &self.source.stored
            && let Some(row) = rows.get(number as usize)
        {
            return Ok(row.clone());
        }
        self.read(number)
            .map_err(|error| format!("{}, row {number}: {error}", self.source.path.display()))
    }

    fn read(&mut self, number: u64) -> Result<Arc<Row>, String> {
        let changed = || "the file has changed since the run began".to_owned();
        let (mut rows, mut at) = match self.open.take() {
            Some(open) => open,
            None => (self.source.open_rows()?, u64::MAX),
        };
        // Going on costs less than seeking while the row is near.
        if number < at || number - at > self.source.places.stride {
            let (first, place) = self.source.places.before(number).ok_or_else(changed)?;
            rows.seek(place)?;
            at = first;
        }
        while at <= number {
            // Lines are counted from a row before this one: they would mislead.
            let wrong = |error: String| {
                format!(
                    "{}: {}",
                    changed(),
                    error.split_once(": ").map_or(&*error, |(_, what)| what)
                )
            };
            if !rows.next().map_err(wrong)? {
                return Err(changed());
            }
            at += 1;
        }
        let row = rows.row(&self.source.columns);
        self.open = Some((rows, at));
        Ok(Arc::new(row))
    }
}

/// A name that several columns have.
fn twice(columns: &[String]) -> Option<&str> {
    let mut seen = HashSet::new();
    columns.iter().find(|name| !name.is_empty() && !seen.insert(name.as_str())).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use squall_plan::model::Csv;

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

    fn of_form(form: Csv) -> DataFormat {
        DataFormat::Csv(form)
    }

    fn cells(row: &Row) -> Vec<String> {
        row.0.iter().map(Value::to_string).collect()
    }

    #[test]
    fn a_column_is_there_once() {
        let file = Temporary::new("twice.csv", "a,b,a,,\n1,2,3,,\n");
        let error = Source::open(&file.0, &of_form(Csv::default())).expect_err("`a` twice");
        assert!(error.contains("the column `a` is there twice"), "{error}");
        // Columns without a name cannot be asked for.
        let file = Temporary::new("unnamed.csv", "a,,\n1,,\n");
        assert!(Source::open(&file.0, &of_form(Csv::default())).is_ok());
        let columns = Some(vec!["x".into(), "x".into()]);
        assert!(Source::open(&file.0, &of_form(Csv { columns, ..Csv::default() })).is_err());
    }

    #[test]
    fn csv_with_header_quotes_and_line_ends() {
        let file =
            Temporary::new("a.csv", "\u{feff}name,note\r\nada,\"a, \"\"b\"\"\nc\"\r\ngrace,\r\n");
        let source =
            Arc::new(Source::open(&file.0, &of_form(Csv::default())).expect("a good file"));
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
        let source =
            Arc::new(Source::open(&file.0, &of_form(Csv::default())).expect("a good file"));
        assert!(matches!(source.stored, Stored::Nothing) && source.rows() == 1_000_000);
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
        let of_no_column = Csv { columns: Some(Vec::new()), ..Csv::default() };
        let error = Source::open(&ragged.0, &of_form(of_no_column)).expect_err("no columns");
        assert!(error.ends_with("fields 1 to 2 are too many"), "{error}");
        assert!(
            Source::open(&ragged.0, &of_form(Csv::default()))
                .expect_err("ragged")
                .contains("line 3: 1 field, where there should be 2")
        );
        let unclosed = Temporary::new("d.csv", "a,b\n1,\"ada\n2,bob\n3,carl\n");
        let error = Source::open(&unclosed.0, &of_form(Csv::default())).expect_err("a quote");
        assert!(
            error.contains("line 2: the quote that opens a field here is never closed; write"),
            "{error}"
        );
        let doubled = Temporary::new("e.csv", "a,b\n1,\"ada\n2,\"bob\"\n3,carl\n4,\"\"\n");
        let error = Source::open(&doubled.0, &of_form(Csv::default())).expect_err("a quote");
        assert!(error.contains("line 3: there is text behind the closing quote"), "{error}");
        let of_utf_16 = Temporary::new("f.csv", "a\0,\0b\0\n\0x\0,\0y\0\n");
        let error = Source::open(&of_utf_16.0, &of_form(Csv::default())).expect_err("UTF-16");
        assert!(error.contains("`charset: utf-16le`"), "{error}");
        let broken = Temporary::new("b.jsonl", "{}\n[1]\n");
        assert!(
            Source::open(&broken.0, &DataFormat::JsonLines)
                .expect_err("no object")
                .contains("line 2")
        );
        let empty = Temporary::new("c.csv", "a,b\n");
        assert!(
            Source::open(&empty.0, &of_form(Csv::default()))
                .expect_err("empty")
                .contains("no rows")
        );
        assert!(Source::open(Path::new("/nowhere.csv"), &of_form(Csv::default())).is_err());
    }

    #[test]
    fn a_row_has_an_end() {
        let csv = Temporary::new("sparse.csv", "a\n1\n\"x");
        // A hole of 5 GB: a row that does not end, and that nobody should wait for.
        File::options()
            .write(true)
            .open(&csv.0)
            .and_then(|file| file.set_len(5 << 30))
            .expect("a hole");
        let error = Source::open(&csv.0, &of_form(Csv::default())).expect_err("too long");
        assert!(error.contains("sparse.csv: line 3: the row is longer than 1 MiB"), "{error}");
        let json = Temporary::new("sparse.jsonl", "{}\n");
        File::options()
            .write(true)
            .open(&json.0)
            .and_then(|file| file.set_len(5 << 30))
            .expect("a hole");
        let error = Source::open(&json.0, &DataFormat::JsonLines).expect_err("too long");
        assert!(error.contains("sparse.jsonl: line 2: the row is longer than 1 MiB"), "{error}");
        let long = format!("a\n1\n{}\n", "x".repeat((1 << 20) - 1));
        assert!(
            Source::open(&Temporary::new("long.csv", &long).0, &of_form(Csv::default())).is_ok()
        );
        let longer = format!("a\n1\n{}\n", "x".repeat(1 << 20));
        assert!(
            Source::open(&Temporary::new("longer.csv", &longer).0, &of_form(Csv::default()))
                .is_err()
        );
    }

    #[test]
    fn the_number_of_places_has_a_limit() {
        let mut places = Places::new(8);
        for row in 0..10_000 {
            places.note(row, row * 3);
            assert!(places.places.len() <= 8);
        }
        for row in [0, 1, 15, 16, 1_000, 5_555, 9_999] {
            let (first, place) = places.before(row).expect("a row that was noted");
            assert!(first <= row && row - first < places.stride && place == first * 3, "{row}");
        }
    }

    /// Rows from memory, where there are too many to be kept.
    #[test]
    fn many_rows_of_a_small_file_are_read_from_its_bytes() {
        let csv: String = (0..100_000).map(|n| format!("\"{n}\n\",{n}\n")).collect();
        let json: String =
            (0..100_000).map(|n| format!("{{\"a\":\"{n}\\n\",\"b\":{n}}}\n\n")).collect();
        let given = of_form(Csv { columns: Some(vec!["a".into(), "b".into()]), ..Csv::default() });
        for (name, text, format) in
            [("m.csv", &csv, given), ("m.jsonl", &json, DataFormat::JsonLines)]
        {
            let source = Source::open(&Temporary::new(name, text).0, &format).expect("a good file");
            assert!(matches!(source.stored, Stored::Bytes(_)) && source.rows() == 100_000);
            let mut reader = Reader::new(&Arc::new(source));
            for number in [5, 99_999, 0, 1, 2, 70_000, 70_017, 16, 15] {
                let row = reader.row(number).expect("a row");
                assert_eq!(cells(&row), [format!("{number}\n"), number.to_string()], "{name}");
            }
            assert!(reader.row(100_000).is_err());
        }
    }

    #[test]
    fn without_quotes_a_line_is_a_row() {
        let text = "\u{feff}x;y\r\n\"a;b\";c\nd\n\n;\n";
        let file = Temporary::new("plain.csv", text);
        let columns = Some(vec!["a".into(), "b".into()]);
        let form = Csv { delimiter: b';', columns, quotes: false, ..Csv::default() };
        let read = |form: &Csv| {
            let source = Source::open(&file.0, &of_form(form.clone()))?;
            let rows = source.rows();
            let mut reader = Reader::new(&Arc::new(source));
            (0..rows)
                .map(|row| reader.row(row).map(|row| cells(&row)))
                .collect::<Result<Vec<_>, _>>()
        };
        let error = read(&form).expect_err("ragged");
        assert!(
            error.ends_with("line 2: 3 fields, where there should be 2: field 3 is too many"),
            "{error}"
        );
        let ragged = Csv { ragged: true, ..form };
        let rows: &[&[&str]] = &[&["x", "y"], &["\"a", "b\"", "c"], &["d"], &[], &["", ""]];
        assert_eq!(read(&ragged).expect("rows"), rows);
        let skipped = Csv { skip_header: true, ..ragged };
        assert_eq!(read(&skipped).expect("rows"), rows[1..]);
        let quoted = Csv { quotes: true, ..skipped };
        assert_eq!(read(&quoted).expect("rows"), [vec!["a;b", "c"], vec!["d"], vec!["", ""]]);
    }

    #[test]
    fn numbers_need_no_file() {
        let numbers = |from, to, step| DataFormat::Numbers(Numbers { from, to, step });
        let open = |format: &DataFormat| Source::open(Path::new(""), format);
        let source = Arc::new(open(&numbers(5, Some(12), 3)).expect("numbers"));
        let mut reader = Reader::new(&source);
        let all = (0..source.rows()).map(|row| cells(&reader.row(row).expect("a row")));
        assert_eq!(all.collect::<Vec<_>>(), [["5"], ["8"], ["11"]]);
        assert_eq!(open(&numbers(0, None, 1)).expect("numbers").rows(), 1 << 63);
        assert!(
            open(&numbers(2, Some(1), 1))
                .expect_err("none")
                .contains("`to` (1) is below `from` (2)")
        );
    }

    #[test]
    fn only_files_are_data_files() {
        for path in ["/", "/dev/zero"] {
            let error =
                Source::open(Path::new(path), &of_form(Csv::default())).expect_err("no file");
            assert!(error.contains("not a file"), "{error}");
        }
    }
}
