//! A place in a pattern that is being read, shared by the readers of JSON paths, CSS selectors and
//! XPath expressions.

use crate::error::CompileError;

/// How deep the parts of a pattern may be nested in each other.
const NESTING_LIMIT: usize = 64;

/// The largest size that regular expressions within one pattern compile to, together, in bytes.
const COMPILED_LIMIT: usize = 10 << 20;

/// A pattern, how far it has been read, and how deep in brackets.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'p> {
    text: &'p str,
    at: usize,
    nesting: usize,
    /// What the regular expressions in it take so far, in bytes.
    compiled: usize,
}

impl<'p> Cursor<'p> {
    pub(crate) fn new(text: &'p str) -> Self {
        Cursor { text, at: 0, nesting: 0, compiled: 0 }
    }

    /// Counts what a regular expression in the pattern takes, in bytes.
    pub(crate) fn add_compiled(&mut self, bytes: usize) -> Result<(), CompileError> {
        self.compiled += bytes;
        if self.compiled <= COMPILED_LIMIT {
            return Ok(());
        }
        let message = format!(
            "the regular expressions in it are too large: compiled, more than {COMPILED_LIMIT} bytes"
        );
        Err(CompileError::new(message).at(self.at))
    }

    /// What the regular expressions in it take so far, in bytes.
    pub(crate) fn compiled(&self) -> usize {
        self.compiled
    }

    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    pub(crate) fn rest(&self) -> &'p str {
        // `at` only moves by whole characters.
        &self.text[self.at..]
    }

    pub(crate) fn at_end(&self) -> bool {
        self.at == self.text.len()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    pub(crate) fn starts_with(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Reads `text` if it is next.
    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Reads `text`, which must be next.
    pub(crate) fn expect(&mut self, text: &str) -> Result<(), CompileError> {
        if self.eat(text) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    pub(crate) fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'p str {
        let rest = self.rest();
        let taken = rest.split_once(|c| !accept(c)).map_or(rest, |(taken, _)| taken);
        self.at += taken.len();
        taken
    }

    /// Skips white space and says whether there was any.
    pub(crate) fn skip_space(&mut self) -> bool {
        !self.take_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0C')).is_empty()
    }

    /// Goes back to an offset read before.
    pub(crate) fn rewind(&mut self, offset: usize) {
        self.at = offset;
    }

    /// Reads a nested part. The limit on nesting bounds the recursion of the readers, and of all
    /// that later walks what they have read.
    pub(crate) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, CompileError>,
    ) -> Result<T, CompileError> {
        if self.nesting == NESTING_LIMIT {
            let message = format!("the pattern is nested more than {NESTING_LIMIT} levels deep");
            return Err(self.error(message));
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    /// An error at this place.
    pub(crate) fn error(&self, message: impl Into<String>) -> CompileError {
        CompileError::new(message).at(self.at)
    }

    /// An error that says what should have been here and what is.
    pub(crate) fn expected(&self, what: &str) -> CompileError {
        match self.peek() {
            Some(found) => self.error(format!("expected {what}, found `{found}`")),
            None => self.error(format!("expected {what}, found the end")),
        }
    }
}
