//! A JSON text that is read where it stands: values are places in the text, and a table of where
//! arrays and objects end lets a search step over them. The table takes eight bytes for each array
//! or object, so that it is never larger than four times the text.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Number, Value};

use super::check::{self, Container};
use crate::error::ExtractError;
use crate::limits::JSON_VALUE_BYTES;

/// A JSON text that has been checked.
#[derive(Debug)]
pub(crate) struct Document<'b> {
    text: &'b str,
    containers: Vec<Container>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Node {
    /// The offset of its first byte.
    at: u32,
    /// The number of the first container that begins here or later.
    container: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean(bool),
    Number,
    String,
    Array,
    Object,
}

impl<'b> Document<'b> {
    /// Checks a text; it may begin with a byte order mark.
    pub(crate) fn new(body: &'b [u8]) -> Result<Self, ExtractError> {
        if u32::try_from(body.len()).is_err() {
            return Err(ExtractError::TooLarge { what: "bytes", limit: u32::MAX as usize });
        }
        let json = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
        let text = std::str::from_utf8(json)
            .map_err(|error| check::not_json(json, error.valid_up_to(), "invalid UTF-8"))?;
        Ok(Document { text, containers: check::check(text)? })
    }

    pub(super) fn root(&self) -> Node {
        Node { at: self.skip_space(0) as u32, container: 0 }
    }

    /// The byte at an offset; behind the end a closing bracket, which ends every loop.
    #[inline]
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(b']')
    }

    #[inline]
    fn skip_space(&self, mut at: usize) -> usize {
        while let b' ' | b'\n' | b'\r' | b'\t' = self.byte(at) {
            at += 1;
        }
        at
    }

    /// The offset behind the string that begins at `at`.
    #[inline]
    fn string_end(&self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = at + 1;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => return at + 1,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        bytes.len()
    }

    /// The offset behind a value, and the first container that begins there or later.
    #[inline]
    fn behind(&self, node: Node) -> (usize, u32) {
        let mut at = node.at as usize;
        match self.byte(at) {
            b'{' | b'[' => match self.containers.get(node.container as usize) {
                Some(container) => (container.end as usize, container.next),
                None => (self.text.len(), node.container),
            },
            b'"' => (self.string_end(at), node.container),
            _ => {
                while !matches!(self.byte(at), b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t') {
                    at += 1;
                }
                (at, node.container)
            }
        }
    }

    pub(super) fn kind(&self, node: Node) -> Kind {
        match self.byte(node.at as usize) {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::String,
            b't' => Kind::Boolean(true),
            b'f' => Kind::Boolean(false),
            b'n' => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// The text of a value as it stands in the document.
    pub(super) fn raw(&self, node: Node) -> &'b str {
        self.text.get(node.at as usize..self.behind(node).0).unwrap_or_default()
    }

    /// The values in an array or object; none in others.
    pub(super) fn children(&self, node: Node) -> Children<'_, 'b> {
        let at = node.at as usize;
        let object = match self.byte(at) {
            b'{' => Some(true),
            b'[' => Some(false),
            _ => None,
        };
        let container = node.container + u32::from(object.is_some());
        // Without an object or array, the offset of the end makes for no children.
        let at = if object.is_some() { at + 1 } else { self.text.len() };
        Children { document: self, at, container, object: object == Some(true), looked_at: 0 }
    }

    /// A string value without its quotes and escapes; `None` if it is another value.
    pub(super) fn string(&self, node: Node) -> Option<Cow<'b, str>> {
        (self.byte(node.at as usize) == b'"').then(|| unquoted(self.raw(node)))
    }

    pub(super) fn number(&self, node: Node) -> Result<Number, ExtractError> {
        serde_json::from_str(self.raw(node))
            .map_err(|error| self.not_representable(node, &error.to_string()))
    }

    /// A value of its own. The caller has counted what it takes, see [`Document::value_bytes`].
    pub(super) fn value(&self, node: Node) -> Result<Value, ExtractError> {
        serde_json::from_str(self.raw(node))
            .map_err(|error| self.not_representable(node, &error.to_string()))
    }

    /// The memory that a value of its own takes, in bytes; never less than it really is.
    pub(super) fn value_bytes(&self, node: Node) -> usize {
        let raw = self.raw(node);
        // All values but the outermost have a comma or an opening bracket in front of them.
        let separators = match self.kind(node) {
            Kind::Array | Kind::Object => {
                raw.bytes().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count()
            }
            _ => 0,
        };
        (1 + separators) * JSON_VALUE_BYTES + raw.len()
    }

    /// What the syntax allows and no number can hold, such as 1e999.
    fn not_representable(&self, node: Node, reason: &str) -> ExtractError {
        let reason = reason.split(" at line ").next().unwrap_or(reason);
        check::not_json(self.text.as_bytes(), node.at as usize, reason)
    }

    /// The members of an object by name; of members with the same name the last.
    pub(super) fn members(&self, node: Node) -> HashMap<Cow<'b, str>, Node> {
        let mut children = self.children(node);
        let mut members = HashMap::new();
        while let Some((name, value)) = children.step() {
            members.insert(unquoted(name), value);
        }
        members
    }
}

/// The values in an array or object, in their order.
pub(super) struct Children<'d, 'b> {
    document: &'d Document<'b>,
    at: usize,
    container: u32,
    object: bool,
    looked_at: usize,
}

impl<'b> Children<'_, 'b> {
    /// How many bytes the last step looked at: white space, names, texts and numbers, but nothing
    /// in an array or object, which is stepped over.
    #[inline]
    pub(super) fn looked_at(&self) -> usize {
        self.looked_at
    }

    /// The next value and, in an object, its name in quotes.
    #[inline]
    pub(super) fn step(&mut self) -> Option<(&'b str, Node)> {
        let document = self.document;
        let start = self.at;
        let mut at = document.skip_space(start);
        match document.byte(at) {
            b']' | b'}' => {
                // It stays here and finds the end again.
                (self.at, self.looked_at) = (at, at - start);
                return None;
            }
            b',' => at = document.skip_space(at + 1),
            _ => {}
        }
        let mut name = "";
        if self.object {
            let end = document.string_end(at);
            name = document.text.get(at..end).unwrap_or_default();
            // Over the colon.
            at = document.skip_space(document.skip_space(end) + 1);
        }
        let node = Node { at: at as u32, container: self.container };
        (self.at, self.container) = document.behind(node);
        let stepped_over = self.container != node.container;
        self.looked_at = if stepped_over { at } else { self.at } - start;
        Some((name, node))
    }
}

/// Whether a name as it stands in the document, in quotes, is `name`.
#[inline]
pub(super) fn is_named(quoted: &str, name: &str) -> bool {
    let raw = quoted.len().saturating_sub(2);
    if raw > name.len() && memchr::memchr(b'\\', quoted.as_bytes()).is_some() {
        return unquoted(quoted) == name;
    }
    // An escape takes more bytes than what it stands for: a text as long as `name` that has one
    // stands for something shorter, so that comparing it finds no match unless `name` itself has
    // a backslash, and then it must not match either.
    raw == name.len()
        && quoted.as_bytes().get(1..=raw) == Some(name.as_bytes())
        && memchr::memchr(b'\\', name.as_bytes()).is_none()
}

/// What a text in quotes stands for.
pub(super) fn unquoted(quoted: &str) -> Cow<'_, str> {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Cow::Borrowed(inner);
    }
    // The document has been checked, so that this does not fail; what is written is the next best.
    serde_json::from_str(quoted).map_or(Cow::Borrowed(inner), Cow::Owned)
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
