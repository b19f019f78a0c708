//! Rows of files as the function `__CSVRead` has them, as far as they are known before the run. Files are read.

use super::Translator;
use super::texts::Piece;

/// The property that says what is between fields.
const DELIMITER: &str = "csvread.delimiter";

impl Translator<'_> {
    /// The field of a column, from 0, in the row that a thread has: each takes the next one when it first asks, the
    /// main thread before all others. `None`: which row that is only the run decides.
    pub(super) fn field_of_row(&self, file: &str, column: &str) -> Option<Piece> {
        // A name that is given to a file is one more file, with rows of its own.
        if file.is_empty() || file.starts_with('*') || column.starts_with('*') {
            return None;
        }
        let nothing = Some(Piece::Text(String::new()));
        if matches!(column, "next" | "next()") {
            // Of a row that is like all others there is no next one.
            let rows = self.rows(file)?;
            return nothing.filter(|_| rows.windows(2).all(|two| two[0] == two[1]));
        }
        let Ok(column) = column.parse::<i32>() else { return nothing };
        let fields: Vec<String> = self.rows(file)?.iter().map(|row| at(row, column)).collect();
        let first = fields.first().cloned().unwrap_or_default();
        let is_known = self.in_main_thread.get() || fields.iter().all(|field| *field == first);
        is_known.then_some(Piece::Text(first))
    }

    /// The rows of a file, up to the first empty line; none of one that is not there. As in JMeter its name is
    /// relative to where the program was started, or else to the plan.
    fn rows(&self, name: &str) -> Option<Vec<Vec<String>>> {
        let started = std::path::PathBuf::from(name);
        let file = if started.exists() { started } else { self.folder.join(name) };
        if !file.exists() {
            return Some(Vec::new());
        }
        let delimiter = self.constants.property("__P", &[DELIMITER, ","])?;
        let delimiter = Some(delimiter).filter(|text| text.chars().count() == 1)?;
        let text = squall_plan::files::text(&file).ok()?;
        let lines = text.lines().take_while(|line| !line.is_empty());
        Some(lines.map(|line| line.split(&*delimiter).map(str::to_owned).collect()).collect())
    }
}

/// A field of a row; nothing where it has no such field.
fn at(row: &[String], column: i32) -> String {
    let field = usize::try_from(column).ok().and_then(|column| row.get(column));
    field.cloned().unwrap_or_default()
}
