//! The attributes of a tag: how they are written.

use super::attributes::{is_script, is_url};
use super::input::{is_name, is_white};
use super::lexer::{Lexer, LexerState};
use super::token::Token;
use super::values::XHTML_NAMESPACE;
use crate::ExtractError;
use crate::markup::ATTRIBUTES_LIMIT;

/// How many ends of lines, `<` and `>` make a value look like one whose end quote is missing.
const ODD_CHARACTERS: usize = 10;

/// An attribute as it is written; code of a server has no name.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) name: Option<String>,
    pub(super) value: Option<String>,
    /// Whether it is `<% %>`, of which no rule says anything.
    pub(super) is_asp: bool,
}

impl Written {
    /// The first attribute of a name.
    pub(super) fn named<'l>(list: &'l [Written], name: &str) -> Option<&'l Written> {
        list.iter().find(|given| given.name.as_deref() == Some(name))
    }
}

/// What stands where the name of an attribute may.
#[derive(Default)]
pub(super) struct Name {
    pub(super) name: Option<String>,
    /// Code of a server: the character behind its `<`.
    server: Option<char>,
}

impl Lexer<'_> {
    /// The attributes of a tag, the last one first.
    pub(super) fn attributes(&mut self, is_empty: &mut bool) -> Result<Vec<Written>, ExtractError> {
        let mut list = Vec::new();
        while !self.input.has_ended() {
            let Name { name, server } = self.attribute_name(is_empty);
            let Some(name) = name else {
                let Some(mark) = server else { break };
                list.push(Written { name: None, value: None, is_asp: mark == '%' });
                continue;
            };
            let value = self.value(&name, is_empty);
            let mut letters = name.chars();
            let is_good =
                letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.all(is_name);
            if is_good {
                list.push(Written { name: Some(name), value, is_asp: false });
            } else {
                self.warn();
            }
            if list.len() > ATTRIBUTES_LIMIT {
                let limit = ATTRIBUTES_LIMIT;
                return Err(ExtractError::TooLarge { what: "attributes in a tag", limit });
            }
        }
        list.reverse();
        Ok(list)
    }

    /// Reads the name of the next attribute, or the end of the tag.
    pub(super) fn attribute_name(&mut self, is_empty: &mut bool) -> Name {
        let first = loop {
            match self.input.read() {
                Some('/') => {
                    if self.input.take('>') {
                        *is_empty = true;
                        return Name::default();
                    }
                    break '/';
                }
                Some('>') => return Name::default(),
                Some('<') => return self.code_or_error(),
                Some('=' | '"' | '\'') => self.warn(),
                None => {
                    self.warn();
                    self.input.put_back(None);
                    return Name::default();
                }
                Some(c) if is_white(c) => {}
                Some(c) => break c,
            }
        };
        let start = self.kept.len();
        let mut c = Some(first);
        let mut last = first;
        while let Some(next) = c {
            if matches!(next, '=' | '>' | '<') {
                break;
            }
            if last == '-' && matches!(next, '"' | '\'') {
                self.drop_last(1);
                break;
            }
            if is_white(next) {
                break;
            }
            last = if self.is_xml { next } else { next.to_ascii_lowercase() };
            self.push(last);
            c = self.input.read();
        }
        if !c.is_some_and(is_white) {
            self.input.put_back(c);
        }
        let start = start.min(self.kept.len());
        let name = String::from_utf8_lossy(&self.kept[start..]).into_owned();
        self.kept.truncate(start);
        Name { name: Some(name).filter(|name| !name.is_empty()), server: None }
    }

    /// Goes on behind a `<` in a tag.
    fn code_or_error(&mut self) -> Name {
        let c = self.input.read();
        if let Some(mark @ ('%' | '?')) = c {
            let is_code = self.server_code(mark);
            return Name { name: None, server: Some(mark).filter(|_| is_code) };
        }
        self.input.put_back(c);
        if self.state != LexerState::Declaration {
            self.input.put_back(Some('<'));
        }
        self.error();
        Name::default()
    }

    /// Goes to the end of code of a server. Whether there is any.
    fn server_code(&mut self, mark: char) -> bool {
        let mut bytes = 0_usize;
        while let Some(c) = self.input.read() {
            bytes += 1;
            if c == mark {
                let Some(c) = self.input.read() else { break };
                bytes += 1;
                if c == '>' {
                    break;
                }
            }
        }
        bytes > 2
    }

    /// Reads the value of an attribute, if it has one.
    pub(super) fn value(&mut self, name: &str, is_empty: &mut bool) -> Option<String> {
        let c = self.next_black();
        if !matches!(c, Some('=' | '"' | '\'')) {
            self.input.put_back(c);
            return None;
        }
        let quote = match self.next_black() {
            quote @ Some('"' | '\'') => quote,
            Some('<') => return self.server_value(),
            other => {
                self.input.put_back(other);
                None
            }
        };
        let start = self.kept.len();
        let is_url = is_url(name);
        let is_odd = match quote {
            Some(quote) => self.quoted_value(name, is_url, quote),
            None => {
                self.bare_value(name, is_url, is_empty);
                false
            }
        };
        let value = self.kept.get(start..).unwrap_or_default();
        let is_markup = is_script(name)
            || is_url && value.starts_with(b"javascript:")
            || value.starts_with(b"<xml ");
        let value = match quote {
            None if value.is_empty() => None,
            _ => Some(String::from_utf8_lossy(trimmed(name, value, start)).into_owned()),
        };
        self.kept.truncate(start);
        if is_odd && !is_markup {
            self.error();
        }
        value
    }

    fn next_black(&mut self) -> Option<char> {
        loop {
            match self.input.read() {
                Some(c) if is_white(c) => {}
                c => return c,
            }
        }
    }

    /// Reads a value up to its quote. Whether it looks as if that were missing.
    fn quoted_value(&mut self, name: &str, is_url: bool, quote: char) -> bool {
        let (mut odd, mut has_gt) = (0, false);
        let mut last = '\0';
        loop {
            let Some(c) = self.input.read() else {
                self.warn();
                self.input.put_back(None);
                break;
            };
            if c == quote {
                break;
            }
            odd += usize::from(matches!(c, '\n' | '<' | '>'));
            has_gt |= c == '>';
            last = self.value_character(name, is_url, c, last);
        }
        odd > ODD_CHARACTERS && has_gt
    }

    /// Reads a value that has no quotes.
    fn bare_value(&mut self, name: &str, is_url: bool, is_empty: &mut bool) {
        let mut last = '\0';
        loop {
            let Some(c) = self.input.read() else {
                self.warn();
                self.input.put_back(None);
                return;
            };
            match c {
                '>' => {
                    self.input.put_back(Some('>'));
                    return;
                }
                '"' | '\'' => {
                    self.warn();
                    if self.input.peek() == Some('>') {
                        self.push(c);
                        return;
                    }
                }
                '<' => {
                    self.input.put_back(Some('<'));
                    self.input.put_back(Some('>'));
                    self.error();
                    return;
                }
                '/' if self.input.peek() == Some('>') && !is_url => {
                    *is_empty = true;
                    return;
                }
                '\\' if self.input.peek() == Some('\n') => {
                    self.input.read();
                    return;
                }
                c if is_white(c) => return,
                _ => {}
            }
            last = self.value_character(name, is_url, c, last);
        }
    }

    /// Keeps a character of a value, or what it stands for. Gives the one that counts as the last one.
    fn value_character(&mut self, name: &str, is_url: bool, c: char, last: char) -> char {
        let mut c = c;
        if c == '&' {
            if name.eq_ignore_ascii_case("id") {
                self.warn();
            } else {
                self.push(c);
                self.entity(false);
            }
            return c;
        }
        if c == '\\' && self.input.take('\n') {
            c = '\n';
        }
        if is_white(c) {
            if c == '\n' && is_url {
                self.warn();
                return c;
            }
            c = ' ';
            if last == ' ' {
                return c;
            }
        }
        self.push(c);
        c
    }

    /// Reads a value that is code of a server.
    fn server_value(&mut self) -> Option<String> {
        let start = self.kept.len();
        self.push('<');
        let first = self.input.read();
        self.push(first.unwrap_or('\0'));
        let is_code = matches!(first, Some('%' | '?' | '@'));
        while let Some(c) = self.input.read() {
            if c == '>' {
                if is_code {
                    self.push(c);
                } else {
                    self.input.put_back(Some(c));
                }
                break;
            }
            if !is_code && is_white(c) {
                break;
            }
            self.push(c);
            if matches!(c, '"' | '\'') && !self.server_string(c) {
                break;
            }
        }
        let value = String::from_utf8_lossy(self.kept.get(start..)?).into_owned();
        self.kept.truncate(start);
        Some(value)
    }

    /// Goes to the end of a string in code of a server. Whether there is one.
    fn server_string(&mut self, quote: char) -> bool {
        loop {
            let c = self.input.read();
            if self.input.has_ended() {
                self.warn();
                self.input.put_back(c);
                return false;
            }
            match c {
                Some('>') => {
                    self.input.put_back(c);
                    self.error();
                    return false;
                }
                Some(c) => {
                    self.push(c);
                    if c == quote {
                        return true;
                    }
                }
                None => return false,
            }
        }
    }

    /// Notes of a tag what the structure of the page depends on.
    pub(super) fn note(&self, token: &mut Token, list: &[Written]) {
        let has = |name: &str| Written::named(list, name).is_some();
        token.given.any = !list.is_empty();
        token.given.id_or_name = has("id") || has("name");
        token.given.src = has("src");
        let namespace = Written::named(list, "xmlns");
        token.given.other_namespace =
            namespace.is_some_and(|given| given.value.as_deref() != Some(XHTML_NAMESPACE));
        let space = Written::named(list, "xml:space");
        if let Some(space) = space {
            token.given.keeps_space = space.value.as_deref() == Some("preserve");
        }
    }
}

/// A value without the white space around it. That in front of it is left where much text stands before the tag.
fn trimmed<'v>(name: &str, value: &'v [u8], start: usize) -> &'v [u8] {
    if ["alt", "title", "value", "prompt"].iter().any(|kept| name.eq_ignore_ascii_case(kept)) {
        return value;
    }
    let mut value = value;
    while let Some((last, rest)) = value.split_last()
        && is_white(char::from(*last))
    {
        value = rest;
    }
    let mut start = start;
    while let Some((first, rest)) = value.split_first()
        && is_white(char::from(*first))
        && start < value.len()
    {
        value = rest;
        start += 1;
    }
    value
}
