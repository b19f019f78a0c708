//! XML into a tree, by quick-xml. Entities are never expanded beyond the five predefined ones and
//! character references, so that a body cannot grow while it is read; others stay as written.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::builder::Builder;
use super::dialect::Dialect;
use super::limits::{ATTRIBUTES_LIMIT, DEPTH_LIMIT};
use super::tree::Tree;
use crate::error::ExtractError;

const VERSION: XmlVersion = XmlVersion::Implicit1_0;

/// Reads an XML document; an error says in which line it is not well-formed.
pub(super) fn parse(xml: &str) -> Result<Tree, ExtractError> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().allow_dangling_amp = true;
    let mut document = Document { tree: Builder::new(Dialect::Xml, xml.len()), roots: 0 };
    loop {
        let read = reader.read_event();
        let event =
            read.map_err(|error| malformed(xml, reader.error_position(), &error.to_string()))?;
        if let Event::Eof = event {
            break;
        }
        document.take(event).map_err(|problem| match problem {
            Problem::Malformed(reason) => malformed(xml, reader.buffer_position(), &reason),
            Problem::Limit(error) => error,
        })?;
        document.tree.check()?;
    }
    let end = xml.len() as u64;
    match (document.tree.depth(), document.roots) {
        (0, 1) => document.tree.finish(),
        (0, _) => Err(malformed(xml, end, "there is no root element")),
        _ => Err(malformed(xml, end, "an element is not closed")),
    }
}

fn malformed(xml: &str, position: u64, reason: &str) -> ExtractError {
    let before = xml.as_bytes().get(..position as usize).unwrap_or(xml.as_bytes());
    let line = 1 + memchr::memchr_iter(b'\n', before).count();
    ExtractError::NotMarkup { reason: format!("malformed XML at line {line}: {reason}") }
}

/// Why a document cannot be read.
enum Problem {
    Malformed(String),
    Limit(ExtractError),
}

struct Document {
    tree: Builder,
    /// How many root elements there were: one, in a well-formed document.
    roots: usize,
}

impl Document {
    fn take(&mut self, event: Event<'_>) -> Result<(), Problem> {
        match event {
            Event::Start(start) => self.open(&start)?,
            Event::Empty(start) => {
                self.open(&start)?;
                self.tree.close();
            }
            // That names match is checked by the reader.
            Event::End(_) => self.tree.close(),
            Event::Text(text) => self.text(&text.xml_content(VERSION))?,
            Event::CData(text) => self.text(&text.xml_content(VERSION))?,
            Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                Ok(Some(character)) => self.text(character.encode_utf8(&mut [0; 4]))?,
                Ok(None) | Err(_) => match quick_xml::escape::resolve_predefined_entity(&reference)
                {
                    Some(text) => self.text(text)?,
                    None => self.text(&format!("&{};", &*reference))?,
                },
            },
            Event::Comment(text) => self.tree.comment(&text.xml_content(VERSION)),
            Event::PI(instruction) => {
                self.tree.instruction(instruction.target(), instruction.content().trim_start());
            }
            Event::Decl(_) | Event::DocType(_) | Event::Eof => {}
        }
        Ok(())
    }

    fn open(&mut self, start: &BytesStart<'_>) -> Result<(), Problem> {
        match self.tree.depth() {
            0 if self.roots > 0 => {
                return Err(Problem::Malformed("there is a second root element".into()));
            }
            0 => self.roots = 1,
            DEPTH_LIMIT => {
                return Err(Problem::Limit(ExtractError::TooDeep { limit: DEPTH_LIMIT }));
            }
            _ => {}
        }
        self.tree.open(start.name().0);
        // Duplicates are not looked for: that would take quadratic time.
        for (count, attribute) in start.attributes().with_checks(false).enumerate() {
            if count >= ATTRIBUTES_LIMIT {
                let what = "attributes in one tag";
                return Err(Problem::Limit(ExtractError::TooLarge {
                    what,
                    limit: ATTRIBUTES_LIMIT,
                }));
            }
            let attribute = attribute.map_err(|error| Problem::Malformed(error.to_string()))?;
            let value = attribute.normalized_value(VERSION);
            self.tree.attribute(attribute.key.0, value.as_ref().unwrap_or(&attribute.value));
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Problem> {
        if self.tree.depth() > 0 {
            self.tree.text(text);
        } else if !text.trim_start_matches('\u{FEFF}').trim_ascii().is_empty() {
            return Err(Problem::Malformed("there is text outside the root element".into()));
        }
        Ok(())
    }
}
