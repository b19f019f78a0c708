//! What is no element and no text: comments, document types, instructions, sections, and the content of scripts.

use super::elements::Tag;
use super::entities;
use super::input::{is_name, is_white};
use super::lexer::{Lexer, LexerState, LexerStep};
use super::token::{Kind, Token};
use super::versions::{FRAMESET, HTML20, HTML32, HTML40_LOOSE, STRICT};
use crate::ExtractError;

impl Lexer<'_> {
    /// Ends what is being read by the characters that close it, of which one is kept.
    fn closed(&mut self, kind: Kind) -> LexerStep {
        self.drop_last(1);
        self.end = self.kept.len();
        self.state = LexerState::Content;
        self.was_white = false;
        LexerStep::Token(self.token(kind))
    }

    pub(super) fn in_comment(&mut self, c: char) -> LexerStep {
        if c != '-' {
            return LexerStep::On;
        }
        let second = self.input.read();
        self.push(second.unwrap_or('\0'));
        if second != Some('-') {
            return LexerStep::On;
        }
        loop {
            let c = self.input.read();
            if c == Some('>') {
                break;
            }
            self.comment_is_bad = true;
            self.push(c.unwrap_or('\0'));
            if c != Some('-') {
                return LexerStep::On;
            }
        }
        if self.comment_is_bad {
            self.warn();
        }
        self.end = self.kept.len().saturating_sub(2);
        self.state = LexerState::Content;
        self.was_white = false;
        let comment = self.token(Kind::Misc);
        self.input.take('\n');
        LexerStep::Token(comment)
    }

    pub(super) fn in_doctype(&mut self, c: char) -> LexerStep {
        if is_white(c) && self.was_white {
            self.drop_last(1);
        }
        self.was_white = is_white(c);
        match (self.in_subset, c) {
            (true, ']') => self.in_subset = false,
            (false, '[') => self.in_subset = true,
            _ => {}
        }
        if self.in_subset || c != '>' {
            return LexerStep::On;
        }
        let step = self.closed(Kind::DocType);
        self.declared = self.declared_version();
        step
    }

    /// The version that the document type that has just been read names, or 0.
    fn declared_version(&mut self) -> u16 {
        let text = self.kept[self.start..self.end].to_vec();
        if !starts_with(&text, b"html ") {
            return 0;
        }
        if !has_good_words(&text) {
            self.warn();
        }
        let rest = &text[5..];
        if starts_with(rest, b"SYSTEM ") {
            return 0;
        }
        if !starts_with(rest, b"PUBLIC ") {
            self.declared_badly = true;
        }
        let Some(quote) = text.iter().position(|byte| *byte == b'"') else { return 0 };
        let name = &text[quote + 1..];
        if let Some(name) = name.strip_prefix(b"-//W3C//DTD ") {
            return match name.split(|byte| *byte == b'/').next().unwrap_or_default() {
                b"HTML 4.0" => STRICT,
                b"HTML 4.01 Transitional" | b"HTML 4.0 Transitional" => HTML40_LOOSE,
                b"HTML 4.01 Frameset" | b"HTML 4.0 Frameset" => FRAMESET,
                b"HTML 3.2" | b"HTML 3.2 Final" | b"HTML 3.2 Draft" => HTML32,
                b"HTML 2.0" => HTML20,
                // It is taken for that of XHTML 1.1, which has less.
                b"HTML 4.01" => super::versions::XHTML11,
                _ => 0,
            };
        }
        match name.strip_prefix(b"-//IETF//DTD ") {
            Some(name) if name.split(|byte| *byte == b'/').next() == Some(b"HTML 4.01") => STRICT,
            _ => 0,
        }
    }

    /// Whether the words of the document type that are upper case are written so.
    pub(super) fn doctype_words_are_good(&self, doctype: &Token) -> bool {
        self.kept.get(doctype.start..doctype.end).is_none_or(has_good_words)
    }

    pub(super) fn in_instruction(&mut self, c: char) -> LexerStep {
        let read = &self.kept[self.start.min(self.kept.len())..];
        if read == b"php" {
            self.state = LexerState::Server('?');
            return LexerStep::On;
        }
        if read.len() == 4 && read.starts_with(b"xml") && is_white(char::from(read[3])) {
            self.state = LexerState::Declaration;
            return LexerStep::On;
        }
        if !self.is_xml {
            return if c == '>' { self.closed(Kind::Misc) } else { LexerStep::On };
        }
        if c != '?' {
            return LexerStep::On;
        }
        let Some(behind) = self.input.read() else {
            self.warn();
            self.input.put_back(None);
            return LexerStep::On;
        };
        self.push(behind);
        if behind == '>' { self.closed(Kind::Misc) } else { LexerStep::On }
    }

    pub(super) fn in_server_code(&mut self, c: char, mark: char) -> LexerStep {
        if c == mark && self.input.take('>') { self.closed(Kind::Misc) } else { LexerStep::On }
    }

    pub(super) fn in_section(&mut self, c: char) -> LexerStep {
        if c == '[' && self.kept[self.start.min(self.kept.len())..] == *b"CDATA[" {
            self.state = LexerState::CData;
            self.drop_last(6);
            return LexerStep::On;
        }
        if c == ']' && self.input.take('>') { self.closed(Kind::Misc) } else { LexerStep::On }
    }

    pub(super) fn in_cdata(&mut self, c: char) -> LexerStep {
        if c == ']' && self.input.take(']') && self.input.take('>') {
            self.closed(Kind::Misc)
        } else {
            LexerStep::On
        }
    }

    pub(super) fn in_declaration(&mut self, c: char) -> Result<LexerStep, ExtractError> {
        if is_white(c) {
            return Ok(LexerStep::On);
        }
        if c != '?' {
            self.input.put_back(Some(c));
            let mut is_empty = false;
            let name = self.attribute_name(&mut is_empty).name;
            self.value(name.as_deref().unwrap_or(""), &mut is_empty);
        }
        if !self.input.take('>') {
            return Ok(LexerStep::On);
        }
        Ok(self.closed(Kind::Misc))
    }

    /// Reads what stands behind `&`, which is kept already, and puts what it stands for in its place.
    pub(super) fn entity(&mut self, is_preformatted: bool) {
        let start = self.kept.len().saturating_sub(1);
        let mut has_end = false;
        let mut is_first = true;
        loop {
            match self.input.read() {
                Some(';') => {
                    has_end = true;
                    break;
                }
                Some(c) if is_name(c) || is_first && c == '#' => self.push(c),
                other => {
                    self.input.put_back(other);
                    break;
                }
            }
            is_first = false;
        }
        let name = String::from_utf8_lossy(&self.kept[start.min(self.kept.len())..]).into_owned();
        let name = name.strip_prefix('&').unwrap_or(&name);
        if name == "apos" && !self.makes_xml {
            self.warn();
        }
        match stands_for(name) {
            // What is beyond Latin-1 needs its `;`.
            Some(c) if has_end || (c as u32) < 256 => {
                if !has_end {
                    self.warn();
                }
                self.kept.truncate(start);
                self.push(if is_preformatted && c == '\u{A0}' { ' ' } else { c });
            }
            _ => {
                self.warn();
                if has_end && !name.is_empty() {
                    self.push(';');
                }
            }
        }
    }

    /// Reads the content of a script or a style sheet up to its end tag. `None`: it has a source and no content, and
    /// another tag follows.
    pub(super) fn raw_text(&mut self, element: Tag, has_source: bool) -> Option<Token> {
        let name = element.element().name.as_bytes();
        self.was_white = false;
        self.start = self.kept.len();
        self.end = self.start;
        let mut raw = Raw { start: 0, is_empty: true, in_tag: InTag::No, nested: 0 };
        let is_ended = loop {
            let Some(c) = self.input.read() else { break false };
            self.push(c);
            match raw.in_tag {
                InTag::No if c == '<' => {
                    if self.raw_tag(&mut raw, has_source && element == Tag::Script) {
                        return None;
                    }
                }
                InTag::No => raw.is_empty &= is_white(c),
                _ if c.is_ascii_alphabetic() => {}
                InTag::Start => {
                    raw.nested += u32::from(self.is_named(raw.start, name));
                    raw.in_tag = InTag::No;
                }
                InTag::End => {
                    if self.raw_end(&mut raw, name) {
                        break true;
                    }
                }
            }
        };
        self.end = self.kept.len();
        if raw.is_empty {
            self.start = self.end;
        }
        if !is_ended {
            self.error();
        }
        Some(self.token(Kind::Text))
    }

    /// Goes on behind `<` in a script. Whether the script is left, as a tag follows where it should end.
    fn raw_tag(&mut self, raw: &mut Raw, has_source: bool) -> bool {
        let c = self.input.read();
        match c {
            Some(letter) if letter.is_ascii_alphabetic() => {
                if has_source && raw.is_empty {
                    self.kept.truncate(self.start);
                    self.input.put_back(c);
                    self.input.put_back(Some('<'));
                    return true;
                }
                self.push(letter);
                raw.start = self.kept.len() - 1;
                raw.in_tag = InTag::Start;
            }
            Some(slash @ ('/' | '\\')) => {
                self.push(slash);
                if slash == '\\' {
                    if !self.input.take('/') {
                        return false;
                    }
                    self.push('/');
                }
                if self.input.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
                    raw.start = self.kept.len();
                    raw.in_tag = InTag::End;
                }
            }
            other => self.input.put_back(other),
        }
        false
    }

    /// Goes on behind the name of an end tag in a script. Whether the script ends.
    fn raw_end(&mut self, raw: &mut Raw, name: &[u8]) -> bool {
        let is_named = self.is_named(raw.start, name);
        let ends = is_named && raw.nested == 0;
        if ends || raw.is_empty && !is_named {
            let tag = String::from_utf8_lossy(&self.kept[raw.start..]).into_owned();
            for c in tag.chars().rev() {
                self.input.put_back(Some(c));
            }
            self.input.put_back(Some('/'));
            self.input.put_back(Some('<'));
            if ends {
                self.kept.truncate(raw.start.saturating_sub(2));
            }
            return true;
        }
        if is_named {
            raw.nested -= 1;
        }
        if self.kept_at(raw.start.wrapping_sub(2)) != b'\\' {
            self.error();
        }
        raw.in_tag = InTag::No;
        false
    }

    /// Whether what is kept from here on starts with a name.
    fn is_named(&self, at: usize, name: &[u8]) -> bool {
        self.kept.get(at..).is_some_and(|rest| starts_with(rest, name))
    }
}

/// Where the reading of a script is.
struct Raw {
    /// Where the name of the tag begins that is being read.
    start: usize,
    is_empty: bool,
    in_tag: InTag,
    /// How many start tags of its own name stand in it.
    nested: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum InTag {
    No,
    Start,
    End,
}

/// Whether a text starts with another, whatever the case.
fn starts_with(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))
}

/// Whether the words of a document type that are upper case are written so.
fn has_good_words(text: &[u8]) -> bool {
    ["SYSTEM", "PUBLIC", "//DTD", "//W3C", "//EN"].iter().all(|word| {
        let word = word.as_bytes();
        // The very end is not looked at.
        let inner = &text[..text.len().saturating_sub(1)];
        let found = inner.windows(word.len()).find(|window| window.eq_ignore_ascii_case(word));
        found.is_none_or(|found| found == word)
    })
}

/// The character that a reference stands for, without `&` and `;`.
fn stands_for(name: &str) -> Option<char> {
    let Some(number) = name.strip_prefix('#') else { return entities::character(name) };
    let code = match number.strip_prefix('x') {
        Some(digits) if !digits.is_empty() => i32::from_str_radix(digits, 16),
        _ => number.parse::<i32>(),
    };
    let code = code.ok().filter(|code| *code > 0)?;
    Some(char::from_u32(code as u32).unwrap_or(char::REPLACEMENT_CHARACTER))
}
