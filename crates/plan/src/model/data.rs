//! Data files: feeders, parameterisation.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::keys::{
    self, At, Form, Key, Keys, Listed, Maybe, Named, Shape, Text, Union, record, words,
};
use crate::span::Spanned;
use crate::yaml::{Node, Reader};

record! {
    /// A file of rows, each row known to a user under the source's name: `${people.name}`.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct DataSource as "a data source" {
        /// Name under which the row is known.
        #[key(no)]
        pub name: Spanned<String>,
        /// The file, relative paths already joined to the folder of the plan.
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
    }
    first(this, keys) {
        let mut rows = match this.format.clone() {
            DataFormat::Csv { delimiter, columns } => {
                Rows::Csv { file: this.file.clone(), delimiter, columns }
            }
            DataFormat::JsonLines => Rows::JsonLines { file: this.file.clone() },
        };
        keys.union(&mut rows, true);
        (this.file, this.format) = match rows {
            Rows::Csv { file, delimiter, columns } => (file, DataFormat::Csv { delimiter, columns }),
            Rows::JsonLines { file } => (file, DataFormat::JsonLines),
        };
    }
}

impl Named for DataSource {
    const VARIABLES: bool = true;
    fn set_name(&mut self, name: Spanned<String>, _: &mut Reader) {
        self.name = name;
    }
    fn name(&self) -> &str {
        &self.name.value
    }
}

/// The form of a data file.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum DataFormat {
    /// Comma separated values, RFC 4180 quoting.
    Csv {
        /// One byte between fields, `,` unless given.
        delimiter: u8,
        /// Column names where the file has no header line; `None`: the first line is the header.
        columns: Option<Vec<String>>,
    },
    /// One JSON object a line.
    #[default]
    JsonLines,
}

/// A file with its form, as the keys have it.
#[derive(Clone)]
enum Rows {
    Csv { file: Spanned<PathBuf>, delimiter: u8, columns: Option<Vec<String>> },
    JsonLines { file: Spanned<PathBuf> },
}

impl Union for Rows {
    fn variants() -> Vec<Rows> {
        let file = Spanned::<PathBuf>::default();
        let csv = Rows::Csv { file: file.clone(), delimiter: b',', columns: None };
        vec![csv, Rows::JsonLines { file }]
    }

    fn keys(&mut self, keys: &mut Keys<'_>) {
        match self {
            Rows::Csv { file, delimiter, columns } => {
                keys.key::<At<keys::Path>>(file, Key::required("csv", "A CSV file (RFC 4180)."));
                let about = "What is between fields, a single ASCII character.";
                keys.key::<Delimiter>(delimiter, Key::new("delimiter", about));
                let about = "Names of the columns, where the file has no header line.";
                let key = Key { default: Some("the first line"), ..Key::new("header", about) };
                keys.key::<Maybe<Listed<Text>>>(columns, key);
            }
            Rows::JsonLines { file } => {
                let about = "A file of JSON objects, one a line.";
                keys.key::<At<keys::Path>>(file, Key::required("jsonl", about));
            }
        }
    }
}

/// What is between the fields of a CSV file.
struct Delimiter;

impl Form for Delimiter {
    type Value = u8;
    fn shape() -> Shape {
        Shape::Pattern("a character", r"^([\x00-\x7f]|\\t)$")
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
    }
}
