//! The rows of JTL as JMeter writes them in XML (`SampleResultConverter` of Apache JMeter 5.6.3): what the columns are
//! called there, and what is an element of its own.

use std::borrow::Cow;
use std::io::{self, Write};

use super::jtl::{FAILURE, Row, URL};
use crate::cell::Cell;
use crate::junit::escaped;

/// What comes before all samples.
pub(super) const HEAD: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n";
/// What comes behind them.
pub const TAIL: &str = "\n</testResults>\n";

/// The columns that are attributes, in their order there.
const ATTRIBUTES: [(&str, usize); 15] = [
    ("t", 1),
    ("it", 15),
    ("lt", 14),
    ("ct", 16),
    ("ts", 0),
    ("s", 7),
    ("lb", 2),
    ("rc", 3),
    ("rm", 4),
    ("tn", 5),
    ("dt", 6),
    ("by", 9),
    ("sby", 10),
    ("ng", 11),
    ("na", 12),
];

/// Writes a row, with those in it that are parts of it.
pub(super) fn write(to: &mut impl Write, row: &Row<'_>) -> io::Result<()> {
    element(to, row, "")
}

fn element(to: &mut impl Write, row: &Row<'_>, indent: &str) -> io::Result<()> {
    let Row { cells: row, parts, .. } = row;
    let url = text(&row[URL]);
    // What went nowhere is a sample of another kind than HTTP.
    let tag = if url == "null" { "sample" } else { "httpSample" };
    write!(to, "{indent}<{tag}")?;
    for (name, column) in ATTRIBUTES {
        write!(to, " {name}=\"{}\"", text(&row[column]))?;
    }
    let failure = text(&row[FAILURE]);
    if url == "null" && failure.is_empty() && parts.is_empty() {
        return writeln!(to, "/>");
    }
    writeln!(to, ">")?;
    if !failure.is_empty() {
        let (name, _) = failure.split_once(':').unwrap_or((&*failure, ""));
        writeln!(to, "{indent}  <assertionResult>")?;
        writeln!(to, "{indent}    <name>{name}</name>")?;
        writeln!(to, "{indent}    <failure>true</failure>")?;
        writeln!(to, "{indent}    <error>false</error>")?;
        writeln!(to, "{indent}    <failureMessage>{failure}</failureMessage>")?;
        writeln!(to, "{indent}  </assertionResult>")?;
    }
    for part in parts {
        element(to, part, &format!("{indent}  "))?;
    }
    if url != "null" {
        writeln!(to, "{indent}  <java.net.URL>{url}</java.net.URL>")?;
    }
    writeln!(to, "{indent}</{tag}>")
}

/// The text of a cell within XML.
fn text<'c>(cell: &'c Cell<'_>) -> Cow<'c, str> {
    match cell {
        Cell::Empty => Cow::Borrowed(""),
        Cell::Count(count) => count.to_string().into(),
        Cell::Number(number) => number.to_string().into(),
        Cell::Text(text) => escaped(text).into(),
    }
}
