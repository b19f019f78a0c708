//! Whether a text is a well-formed XML document, by quick-xml and the rules that it leaves to others. No tree is made.

use std::collections::HashSet;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

const VERSION: XmlVersion = XmlVersion::Implicit1_0;

/// What is not well-formed in a document, if anything is. What a document type declares is not looked at: where there
/// is one, any entity is taken for one that it declares.
pub(crate) fn flaw(text: &[u8]) -> Option<String> {
    let Ok(text) = std::str::from_utf8(text) else { return Some("it is not UTF-8".to_owned()) };
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    if let Some(c) = text.chars().find(|c| !is_character(*c)) {
        return Some(format!("the character `{}`", c.escape_default()));
    }
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_comments = true;
    let mut document = Document::default();
    loop {
        let begins = reader.buffer_position() == 0;
        match reader.read_event() {
            Ok(Event::Eof) => break,
            Ok(event) => {
                if let Err(what) = document.take(&event, begins) {
                    return Some(what);
                }
            }
            Err(error) => return Some(error.to_string()),
        }
    }
    match (document.depth, document.roots) {
        (0, 1) => None,
        (0, _) => Some("there is no root element".to_owned()),
        _ => Some("an element is not closed".to_owned()),
    }
}

#[derive(Default)]
struct Document {
    depth: usize,
    roots: usize,
    /// Whether it has a document type, which may declare entities.
    has_type: bool,
}

impl Document {
    /// Goes on by an event; `begins`: it is the first of the text.
    fn take(&mut self, event: &Event<'_>, begins: bool) -> Result<(), String> {
        match event {
            Event::Start(start) => {
                self.open(start)?;
                self.depth += 1;
            }
            Event::Empty(start) => self.open(start)?,
            // That something is open, and has this name, is checked by the reader.
            Event::End(_) => self.depth -= 1,
            Event::Text(text) => {
                let text = text.xml_content(VERSION);
                if self.depth == 0 && !text.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
                    return Err("there is text outside the root element".to_owned());
                }
                if text.contains("]]>") {
                    return Err("`]]>` in a text".to_owned());
                }
            }
            Event::CData(_) | Event::GeneralRef(_) if self.depth == 0 => {
                return Err("there is text outside the root element".to_owned());
            }
            Event::GeneralRef(reference) => self.refer(reference)?,
            Event::Decl(_) if !begins => return Err("`<?xml` that does not begin it".to_owned()),
            Event::PI(instruction) => {
                let target: &str = instruction.target();
                if target.eq_ignore_ascii_case("xml") || !is_name(target) {
                    return Err(format!("`<?{target}`"));
                }
            }
            Event::DocType(_) if self.has_type || self.roots > 0 => {
                return Err("a document type at a wrong place".to_owned());
            }
            Event::DocType(_) => self.has_type = true,
            Event::CData(_) | Event::Decl(_) | Event::Comment(_) | Event::Eof => {}
        }
        Ok(())
    }

    fn open(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        if self.depth == 0 {
            self.roots += 1;
            if self.roots > 1 {
                return Err("there is a second root element".to_owned());
            }
        }
        let name = start.name();
        if !is_name(name.0) {
            return Err(format!("`{}` as a name", name.0.escape_default()));
        }
        let mut names = HashSet::new();
        // Its own look for duplicates takes quadratic time.
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let name = attribute.key.0;
            if !is_name(name) {
                return Err(format!("`{}` as a name", name.escape_default()));
            }
            if !names.insert(name.to_owned()) {
                return Err(format!("a second attribute `{name}`"));
            }
            let value: &str = &attribute.value;
            if value.contains('<') {
                return Err("`<` in an attribute".to_owned());
            }
            for behind in value.split('&').skip(1) {
                let (reference, _) =
                    behind.split_once(';').ok_or("a `&` that does not begin a reference")?;
                self.refer(reference)?;
            }
        }
        are_apart(start)
    }

    /// That what stands between `&` and `;` stands for something.
    fn refer(&self, reference: &str) -> Result<(), String> {
        let is_good = match reference.strip_prefix('#') {
            Some(number) => {
                let code = match number.strip_prefix('x') {
                    Some(digits) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => {
                        u32::from_str_radix(digits, 16).ok()
                    }
                    None if number.bytes().all(|b| b.is_ascii_digit()) => number.parse().ok(),
                    _ => None,
                };
                code.and_then(char::from_u32).is_some_and(is_character)
            }
            None => {
                matches!(reference, "amp" | "lt" | "gt" | "quot" | "apos")
                    || self.has_type && is_name(reference)
            }
        };
        if is_good { Ok(()) } else { Err(format!("`&{};`", reference.escape_default())) }
    }
}

/// That white space stands before each attribute: behind the value of one there is no other.
fn are_apart(start: &BytesStart<'_>) -> Result<(), String> {
    let mut rest: &str = start.attributes_raw();
    while let Some(at) = rest.find(['"', '\'']) {
        let quote = if rest.as_bytes()[at] == b'"' { '"' } else { '\'' };
        // The reader has found the end of each value.
        let Some((_, behind)) = rest[at + 1..].split_once(quote) else { break };
        if !behind.is_empty() && !behind.starts_with([' ', '\t', '\r', '\n']) {
            return Err("attributes without white space between them".to_owned());
        }
        rest = behind;
    }
    Ok(())
}

/// A character that XML 1.0 allows.
fn is_character(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// A name of XML 1.0, fifth edition.
fn is_name(text: &str) -> bool {
    let begins = |c: char| {
        matches!(c, ':' | '_' | 'A'..='Z' | 'a'..='z' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}'
            | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}'
            | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}'
            | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}'
            | '\u{10000}'..='\u{EFFFF}')
    };
    let goes_on = |c: char| {
        begins(c)
            || matches!(c, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}'
                | '\u{203F}'..='\u{2040}')
    };
    text.starts_with(begins) && text.chars().all(goes_on)
}

#[cfg(test)]
mod tests {
    use super::flaw;

    #[test]
    fn documents_are_well_formed() {
        for text in [
            "<a/>",
            "\u{FEFF}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- - --><a x='1' y=\"&lt;&#65;\">&amp;<b/><![CDATA[<]]></a>\n",
            "<!DOCTYPE a [<!ENTITY e \"x\">]><a>&e;</a>",
            "<?style a?><p:a xmlns:p=\"u\">é</p:a>",
            "<a  x = 'b\"c' />",
        ] {
            assert_eq!(flaw(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn what_is_not_well_formed_is_told() {
        for text in [
            "",
            "text",
            "{\"a\":1}",
            "<a>",
            "<a></b>",
            "<a/><b/>",
            "<a/>text",
            "text<a/>",
            "<a x=1/>",
            "<a x/>",
            "<a x='1' x='2'/>",
            "<a x='1'y='2'/>",
            "<a x='<'/>",
            "<a x='&b'/>",
            "<a>&nbsp;</a>",
            "<a>&#0;</a>",
            "<a>&#x1f;</a>",
            "<a>&#+65;</a>",
            "<a>a & b</a>",
            "<a>]]></a>",
            "<a><!-- -- --></a>",
            "<1/>",
            "<a 1='x'/>",
            " <?xml version=\"1.0\"?><a/>",
            "<a><!DOCTYPE a></a>",
            "<a>\u{1}</a>",
            "<!DOCTYPE html><html><br></html>",
            "&amp;<a/>",
            "<a>",
            "</a>",
        ] {
            assert!(flaw(text.as_bytes()).is_some(), "{text}");
        }
        assert!(flaw(b"<a>\xFF</a>").is_some());
    }
}
