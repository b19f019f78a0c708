//! Lines of cells under one another: a name, and numbers at the right edge of their columns. A column is as wide as
//! what is in it needs, for which the names give way.

use std::fmt::Write as _;

use super::width::{pad, shorten, text_width};

const MAX_NAME: usize = 70;
/// Columns that a name has at least, where the numbers are wider than any terminal.
const MIN_NAME: usize = 6;

/// Lines of a table, all with the same columns.
pub(super) struct Columns {
    /// Columns of the terminal that may be used.
    width: usize,
    /// The usual width of each column of numbers.
    usual: Vec<usize>,
    lines: Vec<Line>,
}

enum Line {
    /// A name and what is in each column; columns that are missing are empty.
    Cells(String, Vec<String>),
    /// A text over all columns.
    Across(String),
}

impl Columns {
    /// Without lines, for a terminal of `width` columns, with columns of numbers of this width as a rule.
    pub(super) fn new(width: usize, usual: Vec<usize>) -> Columns {
        Columns { width, usual, lines: Vec::new() }
    }

    /// Adds a line of a name and numbers.
    pub(super) fn cells(&mut self, name: impl Into<String>, cells: Vec<String>) {
        self.lines.push(Line::Cells(name.into(), cells));
    }

    /// Adds a text over all columns; empty: an empty line.
    pub(super) fn across(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Across(text.into()));
    }

    /// The width of each column of numbers: the usual one, unless something is wider. Then each is as narrow as it can
    /// be, since there is little room for names anyway.
    fn widths(&self) -> Vec<usize> {
        let mut needed = vec![0; self.usual.len()];
        for line in &self.lines {
            let Line::Cells(_, cells) = line else { continue };
            for (width, cell) in needed.iter_mut().zip(cells) {
                *width = text_width(cell).max(*width);
            }
        }
        let is_wider = needed.iter().zip(&self.usual).any(|(needed, usual)| needed > usual);
        if is_wider { needed } else { self.usual.clone() }
    }

    pub(super) fn write(&self, out: &mut String) {
        let widths = self.widths();
        let numbers: usize = widths.iter().map(|width| width + 1).sum();
        let name = (self.width - 1).saturating_sub(numbers).clamp(MIN_NAME, MAX_NAME);
        for line in &self.lines {
            match line {
                Line::Across(text) if text.is_empty() => {}
                Line::Across(text) => {
                    let _ = write!(out, " {}", shorten(text, self.width - 1));
                }
                Line::Cells(label, cells) => {
                    let _ = write!(out, " {}", pad(&shorten(label, name), name));
                    for (cell, width) in cells.iter().zip(&widths) {
                        let gap = width - text_width(cell).min(*width);
                        let _ = write!(out, " {}{cell}", " ".repeat(gap));
                    }
                }
            }
            out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(width: usize, numbers: [&str; 2]) -> String {
        let mut columns = Columns::new(width, vec![6, 6]);
        columns.cells("name", ["count", "rate"].map(str::to_owned).to_vec());
        columns.across("over all");
        columns.cells("a name that is long", numbers.map(str::to_owned).to_vec());
        let mut out = String::new();
        columns.write(&mut out);
        out
    }

    #[test]
    fn columns_are_as_wide_as_what_is_in_them_and_names_give_way() {
        let usual = " name       count   rate\n over all\n a na…long      7    8/s\n";
        assert_eq!(written(24, ["7", "8/s"]), usual);
        let wide = " name      count    rate\n over all\n a n…ong 1234567 1,234/s\n";
        assert_eq!(written(24, ["1234567", "1,234/s"]), wide);
    }
}
