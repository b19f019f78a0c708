//! Rows of files as the function `__CSVRead` has them, and nodes as `__XPath` has them. Files are read before the run.

use squall_plan::model::{
    Advance, DataFormat, DataSource, Extract, Extractor, Json, Look, Match, Numbers, Share, Step,
    StepKind,
};
use squall_plan::span::{Span, Spanned};
use squall_plan::template::Template;

use super::texts::{TextPiece, quoted};
use super::{Translator, step};
use crate::elements::Role;
use crate::tree::ElementId;

/// The property that says what is between fields.
const DELIMITER: &str = "csvread.delimiter";

/// Most rows of a file of which each thread has another: they stand in the plan.
const MOST_ROWS: usize = 1_000;

/// Most bytes of a file whose nodes are dealt out: it stands in the plan.
const MOST_XML: usize = 256 << 10;

impl Translator<'_> {
    /// The field of a column, from 0, in the row that a thread has: each takes the next one when it first asks, the
    /// main thread before all others. `None`: which row that is only the run decides.
    pub(super) fn field_of_row(&self, file: &str, column: &str) -> Option<TextPiece> {
        // A name that is given to a file is one more file, with rows of its own.
        if file.is_empty() || file.starts_with('*') || column.starts_with('*') {
            return None;
        }
        let nothing = Some(TextPiece::Text(String::new()));
        if matches!(column, "next" | "next()") {
            // Of a row that is like all others there is no next one.
            let rows = self.rows(file)?;
            return nothing.filter(|_| rows.windows(2).all(|two| two[0] == two[1]));
        }
        let Ok(column) = column.parse::<i32>() else { return nothing };
        let fields: Vec<String> = self.rows(file)?.iter().map(|row| at(row, column)).collect();
        let first = fields.first().cloned().unwrap_or_default();
        let is_known = self.in_main_thread.get() || fields.iter().all(|field| *field == first);
        is_known.then_some(TextPiece::Text(first))
    }

    /// The field of a column in the row that a thread has, where rows differ: it takes the next one of all threads when it has
    /// none, and `next` takes it from it. `None`: the main thread may have taken some, or there are too many.
    pub(super) fn field_of_own_row(&self, file: &str, column: &str) -> Option<TextPiece> {
        if file.is_empty() || file.starts_with('*') || column.starts_with('*') {
            return None;
        }
        let rows = self.rows(file).filter(|rows| rows.len() <= MOST_ROWS)?;
        if self.in_main_thread.get() || self.has_rows_of_main_thread() {
            return None;
        }
        let (source, row) = self.dealt_out(file);
        if matches!(column, "next" | "next()") {
            self.add_setting(|root| self.set(root, &row, "null")).ok()?;
            return Some(TextPiece::Text(String::new()));
        }
        let fields = rows.iter().map(|row| {
            let fields: Vec<String> = row.iter().map(|field| quoted(field)).collect();
            format!("[{}]", fields.join(", "))
        });
        let fields: Vec<String> = fields.collect();
        let taken = format!("[{}][({source}.number - 1) % {}]", fields.join(", "), rows.len());
        let next = StepKind::NextRow(Spanned::new(source, Span::default()));
        self.add_setting(|root| {
            self.if_none(root, &row, vec![step(next), step(self.set(root, &row, &taken))])
        })
        .ok()?;
        // The row may be another before the text is made.
        let own = self.held_by_call("value");
        let column: usize = column.parse().ok()?;
        let value = format!("size({row}) > {column} ? {row}[{column}] : \"\"");
        self.add_setting(|root| self.set(root, &own, &value)).ok()?;
        Some(TextPiece::Expr(own))
    }

    /// The next node of an XML file, over all threads: after the last one the first comes again.
    pub(super) fn next_node(&self, file: &str, path: &str) -> Result<TextPiece, String> {
        let bad = |why: &str| format!("`__XPath` of {file}: {why}");
        let text = squall_plan::files::text(std::path::Path::new(file)).map_err(|e| bad(&e))?;
        if self.in_main_thread.get() {
            return Err(bad("before the threads begin"));
        }
        if text.len() > MOST_XML {
            return Err(bad("a file of more than 256 KiB"));
        }
        // What does not say that it is XML is read as HTML.
        let is_plain = !text.trim_start().starts_with("<?xml");
        let declared = if is_plain { format!("<?xml version=\"1.0\"?>{text}") } else { text };
        let (source, nodes) = self.dealt_out(&format!("{file} {path}"));
        let spanned = |text: &str| Spanned::new(text.to_owned(), Span::default());
        let extract = Extract {
            variable: spanned(&nodes),
            from: Extractor::XPath(Template::text(path)),
            which: Match::All,
            default: Some(Json::List(Vec::new())),
            ..Extract::default()
        };
        self.add_setting(|root| {
            let look = Look {
                text: Template::text(declared.trim_start()),
                status: self.expression(root, "200").unwrap_or_default(),
                extract: vec![extract],
                ..Look::default()
            };
            self.if_none(root, &nodes, vec![step(StepKind::Look(Box::new(look)))])
        })?;
        self.add_setting(|_| StepKind::NextRow(Spanned::new(source.clone(), Span::default())))?;
        let one = format!("string({nodes}[({source}.number - 1) % size({nodes})])");
        Ok(TextPiece::Expr(format!("({nodes} == [] ? \"\" : {one})")))
    }

    /// Whether numbers of a thread group are fields of rows, which the main thread then takes.
    fn has_rows_of_main_thread(&self) -> bool {
        let mut groups =
            self.tree.iter().filter(|(id, _)| self.role(*id) == Some(Role::ThreadGroup));
        groups.any(|(_, group)| group.properties.mention("__CSVRead"))
    }

    /// Steps for a thread that has nothing yet in a hidden variable.
    fn if_none(&self, root: ElementId, variable: &str, then: Vec<Step>) -> StepKind {
        let steps = self.only_if(root, &format!("{variable} == null"), then);
        // A condition that can be read is one step.
        steps.into_iter().next().unwrap_or_else(|| self.set(root, variable, variable))
    }

    /// The data source that deals out the numbers of a file's rows, over all threads, and the hidden variable for what a
    /// thread has of them.
    fn dealt_out(&self, file: &str) -> (String, String) {
        if let Some(known) = self.row_files.borrow().get(file) {
            return known.clone();
        }
        let both = (self.names.hidden("turn"), self.held_by_call("row"));
        self.made_sources.borrow_mut().push(DataSource {
            name: Spanned::new(both.0.clone(), Span::default()),
            format: DataFormat::Numbers(Numbers::default()),
            share: Share::All,
            advance: Advance::Step,
            ..DataSource::default()
        });
        self.row_files.borrow_mut().insert(file.to_owned(), both.clone());
        both
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
