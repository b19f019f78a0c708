//! Cuts a page into tags, texts and comments (WHATWG HTML, 13.2.5).

use std::ops::Range;

use memchr::{memchr, memmem};

use super::super::super::tree::NameId;
use super::kinds::Kind;
use super::{Mode, Quirks, Reader, Tag, Unusual, references, svg};

/// Attributes of one tag, each of which is compared with those before it.
const USUAL_ATTRIBUTES: usize = 64;

/// How a document type begins, in any case.
const DOCUMENT_TYPE: &[u8] = b"<!doctype";

impl<'h> Reader<'h> {
    pub(super) fn token(&mut self) -> Result<(), Unusual> {
        match self.html.as_bytes()[self.at..] {
            [b'<', b'/', next, ..] if !next.is_ascii_alphabetic() => self.bogus_comment(2),
            [b'<', b'/', ..] => {
                self.at += 2;
                let tag = self.tag_name()?;
                self.skip_space();
                // Attributes of an end tag are an error.
                if self.byte() != Some(b'>') {
                    return Err(Unusual);
                }
                self.at += 1;
                self.skips_line_feed = false;
                match self.in_drawing() {
                    true => self.end_in_drawing(tag),
                    false => self.end_tag(tag),
                }
            }
            [b'<', first, ..] if first.is_ascii_alphabetic() => {
                self.at += 1;
                let tag = self.tag_name()?;
                self.skips_line_feed = false;
                match self.in_drawing() {
                    true => self.start_in_drawing(tag),
                    false => self.start_tag(tag),
                }
            }
            [b'<', b'!', b'-', b'-', ..] => self.comment(),
            [b'<', b'!', ..] if self.begins_document_type() => self.document_type(),
            // In a drawing this is how a text is written.
            [b'<', b'!', b'[', ..] if self.in_drawing() => Err(Unusual),
            [b'<', b'!', ..] => self.bogus_comment(2),
            [b'<', b'?', ..] => self.bogus_comment(1),
            _ => self.text(),
        }
    }

    fn byte(&self) -> Option<u8> {
        self.html.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.byte().is_some_and(is_space) {
            self.at += 1;
        }
    }

    /// Goes on to a byte that ends a word, and gives the number of the word.
    fn word(&mut self, ends: impl Fn(u8) -> bool) -> (&'h str, NameId) {
        let start = self.at;
        let mut upper = false;
        while let Some(byte) = self.byte().filter(|byte| !ends(*byte)) {
            upper |= byte.is_ascii_uppercase();
            self.at += 1;
        }
        let word = &self.html[start..self.at];
        let name = match upper {
            true => self.builder.name(&word.to_ascii_lowercase()),
            false => self.builder.name(word),
        };
        (word, name)
    }

    fn tag_name(&mut self) -> Result<Tag<'h>, Unusual> {
        if !self.byte().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            return Err(Unusual);
        }
        let (written, name) = self.word(|byte| is_space(byte) || matches!(byte, b'/' | b'>'));
        let names = &self.builder.tree.names;
        if self.kinds.len() < names.len() {
            self.kinds.resize(names.len(), Kind::Unknown);
        }
        let kind = &mut self.kinds[name as usize];
        if *kind == Kind::Unknown {
            *kind = Kind::of(&names[name as usize]);
        }
        Ok(Tag { written, name, kind: *kind })
    }

    /// Reads the attributes of the element opened last, to the end of its tag. A slash there, which
    /// says that the element is empty, has no meaning in HTML.
    pub(super) fn attributes(&mut self) -> Result<(), Unusual> {
        let first = self.builder.tree.attributes.len();
        while !self.at_end_of_tag()?.0 {
            let (_, name) = self.attribute_name();
            self.attribute(first, name)?;
        }
        Ok(())
    }

    /// The same for an element of a drawing; whether it is empty.
    pub(super) fn attributes_of_drawing(&mut self) -> Result<bool, Unusual> {
        let first = self.builder.tree.attributes.len();
        loop {
            if let (true, is_empty) = self.at_end_of_tag()? {
                return Ok(is_empty);
            }
            let (written, name) = self.attribute_name();
            let name = svg::attribute(written).map_or(name, |own| self.builder.name(own));
            self.attribute(first, name)?;
        }
    }

    /// Goes on to the next attribute or behind the end of the tag; whether that has come, and
    /// whether there was a slash before it.
    fn at_end_of_tag(&mut self) -> Result<(bool, bool), Unusual> {
        let mut slash = false;
        while let Some(byte) = self.byte().filter(|byte| is_space(*byte) || *byte == b'/') {
            slash = byte == b'/';
            self.at += 1;
        }
        match self.byte() {
            Some(b'>') => {
                self.at += 1;
                Ok((true, slash))
            }
            None | Some(b'=') => Err(Unusual),
            Some(_) => Ok((false, slash)),
        }
    }

    fn attribute_name(&mut self) -> (&'h str, NameId) {
        self.word(|byte| is_space(byte) || matches!(byte, b'/' | b'>' | b'='))
    }

    /// Reads the value of an attribute, and adds it if it is the first of its name. The attributes
    /// of its tag are those from `first` on.
    fn attribute(&mut self, first: usize, name: NameId) -> Result<(), Unusual> {
        self.skip_space();
        let value = match self.byte() {
            Some(b'=') => self.value()?,
            _ => "",
        };
        let attributes = &self.builder.tree.attributes;
        let mut before = first..attributes.len();
        if before.len() >= USUAL_ATTRIBUTES {
            return Err(Unusual);
        }
        if before.any(|at| attributes[at].name == name) {
            return Ok(());
        }
        if memchr(b'&', value.as_bytes()).is_none() {
            self.builder.attribute_named(name, value);
            return Ok(());
        }
        self.decoded.clear();
        references::decode(value, true, &mut self.decoded);
        self.builder.attribute_named(name, &self.decoded);
        Ok(())
    }

    /// Reads the value of an attribute, from its equals sign on.
    fn value(&mut self) -> Result<&'h str, Unusual> {
        self.at += 1;
        self.skip_space();
        let rest = &self.html[self.at..];
        let (value, length) = match self.byte() {
            Some(quote @ (b'"' | b'\'')) => {
                let end = memchr(quote, &rest.as_bytes()[1..]).ok_or(Unusual)?;
                (&rest[1..1 + end], end + 2)
            }
            _ => {
                let ends = |byte: &u8| is_space(*byte) || *byte == b'>';
                let end = rest.bytes().position(|byte| ends(&byte)).ok_or(Unusual)?;
                (&rest[..end], end)
            }
        };
        self.at += length;
        Ok(value)
    }

    fn comment(&mut self) -> Result<(), Unusual> {
        let start = self.at + "<!--".len();
        let rest = &self.html[start..];
        let length = memmem::find(rest.as_bytes(), b"-->").ok_or(Unusual)?;
        let comment = &rest[..length];
        // These end a comment before its end.
        if rest.starts_with('>') || rest.starts_with("->") || comment.contains("--!>") {
            return Err(Unusual);
        }
        self.at = start + length + "-->".len();
        self.add_comment(start..start + length);
        Ok(())
    }

    /// What is a comment because it is nothing else: from `marks` bytes on to the end of what would
    /// be a tag.
    fn bogus_comment(&mut self, marks: usize) -> Result<(), Unusual> {
        let start = self.at + marks;
        let length = memchr(b'>', &self.html.as_bytes()[start..]).ok_or(Unusual)?;
        self.at = start + length + 1;
        self.skips_line_feed = false;
        // `</>` is nothing at all.
        if length > 0 || !self.html[..start].ends_with("</") {
            self.add_comment(start..start + length);
        }
        Ok(())
    }

    fn add_comment(&mut self, place: Range<usize>) {
        self.skips_line_feed = false;
        match self.mode {
            Mode::AfterBody => self.after_body.push(place),
            Mode::AfterAfterBody => self.after_html.push(place),
            _ => self.builder.comment(&self.html[place]),
        }
    }

    fn begins_document_type(&self) -> bool {
        let begin = self.html.as_bytes().get(self.at..self.at + DOCUMENT_TYPE.len());
        begin.is_some_and(|own| own.eq_ignore_ascii_case(DOCUMENT_TYPE))
    }

    fn document_type(&mut self) -> Result<(), Unusual> {
        if self.mode != Mode::Initial {
            return Err(Unusual);
        }
        let rest = &self.html[self.at..];
        let end = memchr(b'>', rest.as_bytes()).ok_or(Unusual)?;
        let named = rest[DOCUMENT_TYPE.len()..end].trim_ascii().eq_ignore_ascii_case("html");
        self.quirks = if named { Quirks::No } else { Quirks::Unknown };
        self.at += end + 1;
        self.mode = Mode::BeforeHtml;
        Ok(())
    }

    fn text(&mut self) -> Result<(), Unusual> {
        let bytes = self.html.as_bytes();
        let start = self.at;
        let mut end = start;
        let end = loop {
            let Some(at) = memchr(b'<', &bytes[end..]) else { break bytes.len() };
            end += at;
            let next = bytes.get(end + 1).copied().unwrap_or_default();
            if next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?') {
                break end;
            }
            end += 1;
        };
        self.at = end;
        self.with_references(&self.html[start..end], Reader::add_text)
    }

    /// Hands on a text with what its references stand for.
    fn with_references(
        &mut self,
        text: &str,
        add: impl Fn(&mut Self, &str) -> Result<(), Unusual>,
    ) -> Result<(), Unusual> {
        let skips = std::mem::take(&mut self.skips_line_feed);
        let (text, skips) = match text.strip_prefix('\n').filter(|_| skips) {
            Some(rest) => (rest, false),
            None => (text, skips),
        };
        if memchr(b'&', text.as_bytes()).is_none() {
            return add(self, text);
        }
        let mut decoded = std::mem::take(&mut self.decoded);
        decoded.clear();
        references::decode(text, false, &mut decoded);
        if skips && decoded.starts_with('\n') {
            // Whether a reference to a line feed is skipped depends on how it is written.
            return Err(Unusual);
        }
        let added = add(self, &decoded);
        self.decoded = decoded;
        added
    }

    /// Reads an element whose content is a text, in which there may be references or not, from
    /// the attributes on.
    pub(super) fn raw_text(&mut self, tag: Tag<'h>, references: bool) -> Result<(), Unusual> {
        self.open_empty(tag.name)?;
        self.attributes()?;
        let (text, behind) = self.raw_content(tag.written)?;
        if tag.kind == Kind::Script && hides_end(text) {
            return Err(Unusual);
        }
        self.skips_line_feed = tag.kind == Kind::TextArea;
        match references {
            true => self.with_references(text, |reader, text| {
                reader.builder.text(text);
                Ok(())
            })?,
            false => self.builder.text(text),
        }
        self.skips_line_feed = false;
        self.builder.close();
        self.at = behind;
        Ok(())
    }

    /// What is before the end tag of an element whose content is a text, and where that ends.
    fn raw_content(&self, name: &str) -> Result<(&'h str, usize), Unusual> {
        let rest = &self.html[self.at..];
        let bytes = rest.as_bytes();
        for at in memmem::find_iter(bytes, b"</") {
            let after = at + 2 + name.len();
            let named = bytes.get(at + 2..after);
            if !named.is_some_and(|own| own.eq_ignore_ascii_case(name.as_bytes())) {
                continue;
            }
            let behind = &bytes[after..];
            let spaces = behind.iter().take_while(|byte| is_space(**byte)).count();
            match behind.get(spaces) {
                Some(b'>') => return Ok((&rest[..at], self.at + after + spaces + 1)),
                None | Some(b'/') => return Err(Unusual),
                Some(_) if spaces > 0 => return Err(Unusual),
                Some(_) => {}
            }
        }
        Err(Unusual)
    }
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\x0C')
}

/// Whether a script has a script in a comment, which keeps the end tag that was found from being
/// its end.
fn hides_end(script: &str) -> bool {
    let script = script.as_bytes();
    let Some(start) = memmem::find(script, b"<!--") else { return false };
    let inner = &script[start..];
    let begins = |at: usize| {
        inner.get(at + 1..at + 7).is_some_and(|name| name.eq_ignore_ascii_case(b"script"))
    };
    memchr::memchr_iter(b'<', inner).any(begins)
}
