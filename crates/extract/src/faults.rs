//! The faults of a page, by the rules of HTML 4.01: how many errors and warnings there are in it. The rules are those that
//! JTidy judges by (r938, which JMeter has), with what it repairs on the way: an end tag that it adds is a fault, and so
//! is what does not fit behind it. They are applied in one pass, and no tree is made.

mod attributes;
mod block;
mod document;
mod elements;
mod entities;
mod frames;
mod inherited;
mod inline;
mod input;
mod lexer;
mod lists;
mod page;
mod sections;
mod table;
mod tags;
mod token;
mod values;
mod versions;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::fuel::Fuel;
use crate::markup::with_replacements;
use crate::{ExtractError, Limits};
use page::Page;

/// What a text is read as when its faults are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkupFormat {
    /// HTML 4.01.
    Html,
    /// The same, of which XML is to be made.
    Xhtml,
    /// Any elements, each of which has its end tag.
    Xml,
}

impl MarkupFormat {
    /// The format of a name.
    pub fn named(name: &str) -> Option<MarkupFormat> {
        Some(match name {
            "html" => MarkupFormat::Html,
            "xhtml" => MarkupFormat::Xhtml,
            "xml" => MarkupFormat::Xml,
            _ => return None,
        })
    }
}

/// How many faults a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Faults {
    /// What cannot be put right without a guess: elements that HTML 4 does not know, tags that do not end.
    pub errors: u32,
    /// What can: missing end tags, attributes that are unknown or missing, characters that should be references.
    pub warnings: u32,
}

/// Counts the faults of a text.
pub(crate) fn count(text: &[u8], format: MarkupFormat) -> Result<Faults, ExtractError> {
    let text = match std::str::from_utf8(text) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => with_replacements(text)?,
    };
    let mut page = Page::new(&text, format, Fuel::new(text.len(), Limits::default()));
    let read = match format {
        MarkupFormat::Xml => page.read_xml(),
        MarkupFormat::Html | MarkupFormat::Xhtml => page.read_html(),
    };
    read.map_err(|error| match error {
        // What is open goes on in each block that follows, and an end tag is looked for in all that is open.
        ExtractError::TooCostly { budget, .. } => {
            let limit = usize::try_from(budget).unwrap_or(usize::MAX);
            ExtractError::TooLarge { what: "elements in one another", limit }
        }
        error => error,
    })?;
    Ok(Faults { errors: page.lexer.errors, warnings: page.lexer.warnings })
}
