//! Data files: feeders, parameterisation.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::keys::{
    self, At, Bool, Form, Key, Keys, Like, Listed, Looks, Maybe, NotEmpty, Of, Shape, Text, Union,
    record, words,
};
use crate::node_files;
use crate::nodes::{Node, Reader};
use crate::span::Spanned;

record! {
    /// Rows of a file, or numbers; a user knows its row under the source's name: `${people.name}`.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct DataSource as "a data source" {
        /// Name under which the row is known.
        #[key(no)]
        pub name: Spanned<String>,
        /// The file, relative paths already joined to the folder of the plan; numbers have none. See [`DataSource::of_node`].
        #[key(no)]
        pub file: Spanned<PathBuf>,
        /// Its form.
        #[key(no)]
        pub format: DataFormat,
        /// Which row an iteration gets.
        pub pick: Pick,
        /// Who shares the place in the file.
        pub share: Share,
        /// What happens after the last row.
        pub at_end: AtEnd,
        /// When a user goes on to its next row.
        pub advance: Advance,
        /// How the nodes of a fleet divide the rows.
        pub nodes: AmongNodes,
    }
    named(name variable)
    first(this, keys) {
        let mut rows = Rows { file: this.file.clone(), format: this.format.clone() };
        keys.union(&mut rows, true);
        (this.file, this.format) = (rows.file, rows.format);
    }
}

impl DataSource {
    /// What it is on a node of a fleet, by its number from 1. Where each has a file of its own, its rows are the node's alone.
    pub fn of_node(&self, node: u32) -> DataSource {
        let mut own = self.clone();
        if node_files::is_by_node(&self.file.value) {
            own.file.value = node_files::of_node(&self.file.value, node);
            own.nodes = AmongNodes::Copy;
        }
        own
    }
}

/// The form of a data source.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum DataFormat {
    /// Comma separated values.
    Csv(Csv),
    /// One JSON object a line.
    #[default]
    JsonLines,
    /// Whole numbers, in the one column `number`; there is no file.
    Numbers(Numbers),
}

/// The form of a file of comma separated values.
#[derive(Debug, Clone, PartialEq)]
pub struct Csv {
    /// One byte between fields.
    pub delimiter: u8,
    /// Column names where the file has no header line; `None`: the first line is the header.
    pub columns: Option<Vec<String>>,
    /// Whether the file has a header line beside `columns`, which is passed over.
    pub skip_header: bool,
    /// Whether fields may be in quotes (RFC 4180); otherwise a line is a row, with all quotes in it.
    pub quotes: bool,
    /// Whether rows may have more fields than there are columns, which are left out, or fewer, of which the
    /// others are null. A line without anything in it is then an end of the file.
    pub ragged: bool,
    /// The encoding of the file, by a label of the WHATWG Encoding Standard; `None`: UTF-8.
    pub charset: Option<String>,
}

impl Default for Csv {
    fn default() -> Self {
        let (columns, charset) = (None, None);
        Csv { delimiter: b',', columns, skip_header: false, quotes: true, ragged: false, charset }
    }
}

record! {
    /// Whole numbers from the first up to the last, one after the other: `${order.number}`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Numbers as "numbers" {
        /// The first.
        pub from: u64,
        /// The upper bound.
        #[key([Maybe<keys::Int>] default "9223372036854775807")]
        pub to: Option<u64>,
        /// The increment from one to the next, at least 1.
        #[key([keys::Positive])]
        pub step: u64,
    }
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers { from: 1, to: None, step: 1 }
    }
}

impl Numbers {
    /// How many there are.
    pub fn count(&self) -> u64 {
        let most = i64::MAX as u64;
        let width = self.to.unwrap_or(most).min(most).checked_sub(self.from);
        width.map_or(0, |width| width / self.step.max(1) + 1)
    }

    /// The one at a place, from 0, if there are so many.
    pub fn nth(&self, place: u64) -> Option<i64> {
        let number = self.from.checked_add(self.step.checked_mul(place)?)?;
        i64::try_from(number).ok()
    }
}

/// Rows with their form, as the keys have them.
#[derive(Clone)]
struct Rows {
    file: Spanned<PathBuf>,
    format: DataFormat,
}

impl Union for Rows {
    fn variants() -> Vec<Rows> {
        let of = |format| Rows { file: Spanned::default(), format };
        vec![
            of(DataFormat::Csv(Csv::default())),
            of(DataFormat::JsonLines),
            of(DataFormat::Numbers(Numbers::default())),
        ]
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        match &mut self.format {
            DataFormat::Csv(csv) => {
                let about = "A CSV file (RFC 4180); with `${node}` in its path, each node of a fleet reads its own.";
                keys.key::<At<keys::NodePath>>(&mut self.file, Key::required("csv", about));
                csv.keys(keys);
            }
            DataFormat::JsonLines => {
                let about = "A file of JSON objects, one per line; with `${node}` in its path, each node of a fleet reads its own.";
                keys.key::<At<keys::NodePath>>(&mut self.file, Key::required("jsonl", about));
            }
            DataFormat::Numbers(numbers) => {
                let about = "Whole numbers in place of a file, known as `${NAME.number}`.";
                keys.key::<Of<Numbers>>(numbers, Key::required("numbers", about));
            }
        }
    }
}

impl Csv {
    /// The keys beside the file.
    fn keys(&mut self, keys: &mut Keys<'_>) {
        let about = "The field separator, a single ASCII character.";
        keys.key::<Delimiter>(&mut self.delimiter, Key::new("delimiter", about));
        let about = "Names of the columns, where the file has no header line.";
        let key = Key { default: Some("the first line"), ..Key::new("header", about) };
        keys.key::<Maybe<Listed<Text>>>(&mut self.columns, key);
        let about = "Whether the file has a header line though `header` names its columns.";
        keys.key::<Bool>(&mut self.skip_header, Key::new("skip_header", about));
        let about = "Whether fields may be in quotes; otherwise a line is a row, quotes and all.";
        keys.key::<Bool>(&mut self.quotes, Key::new("quotes", about));
        let about = "Whether rows may have more fields than there are columns, which are left out, or fewer, in which case the others are null; an empty line is then the end of the file.";
        keys.key::<Bool>(&mut self.ragged, Key::new("ragged", about));
        let about = "The encoding of the file, such as `gbk` or `iso-8859-1` (a label of the WHATWG Encoding Standard); \
                     with one it has at most 8 MiB.";
        let key = Key { default: Some("utf-8"), ..Key::new("charset", about) };
        keys.key::<Maybe<Like<Text, NotEmpty>>>(&mut self.charset, key);
    }
}

/// What is between the fields of a CSV file.
struct Delimiter;

impl Form for Delimiter {
    type Value = u8;
    fn shape() -> Shape {
        Shape::Pattern(Looks {
            name: "a character",
            pattern: r"^([\x00-\x7f]|\\t)$",
            numbers: Some((0, 9)),
        })
    }
    fn read(reader: &mut Reader, node: &Node) -> Option<u8> {
        let text = reader.text(node)?;
        match text.value.as_bytes() {
            [byte] => Some(*byte),
            br"\t" => Some(b'\t'),
            _ => {
                let message = format!(
                    "invalid delimiter `{}`: expected a single ASCII character",
                    text.value
                );
                reader.error(text.span, message, "such as `,`, `;` or \"\\t\"");
                None
            }
        }
    }
    fn print(value: &u8) -> Value {
        json!(char::from(*value).to_string())
    }
}

words! {
    /// Which row of a data source an iteration gets.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Pick {
        /// The next one, in the order of the file.
        #[default]
        Next = "next",
        /// Any one, from the run's seed.
        Random = "random",
        /// A user keeps the row it got first.
        OncePerUser = "once_per_user",
    }
}

words! {
    /// Who advances together through a data source.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Share {
        /// All users of all scenarios.
        #[default]
        All = "all",
        /// The users of one scenario.
        Scenario = "scenario",
        /// Each user on its own, from the first row.
        User = "user",
    }
}

words! {
    /// What happens when a data source has no more rows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum AtEnd {
        /// From the first row again.
        #[default]
        Cycle = "cycle",
            /// The user that finds no row stops.
        Stop = "stop",
        /// Each column holds the text `<EOF>` from then on.
        Eof = "eof",
    }
}

words! {
    /// How the nodes of a fleet divide the rows of a data source.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum AmongNodes {
        /// Each node has rows of its own: no two use the same one.
        #[default]
        Split = "split",
        /// Each node goes through all rows by itself.
        Copy = "copy",
    }
}

words! {
    /// When a user goes on to its next row of a data source.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Advance {
        /// With each iteration.
        #[default]
        Iteration = "iteration",
        /// At each step `next_row` that names it.
        Step = "step",
    }
}
