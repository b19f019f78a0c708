//! Where a piece of a plan stands in its file.

use std::hash::{Hash, Hasher};

/// A place in a source file: line and column from 1, in characters.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// Index into the sources; 0 is the plan itself, others are its includes.
    pub file: u16,
    /// Line, from 1; 0: nowhere (a value made by a flag or a default).
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
}

impl Span {
    /// Whether it is a place in a file, and not nowhere.
    pub fn is_known(self) -> bool {
        self.line > 0
    }

    /// This place, or another if it is nowhere.
    pub fn or(self, other: Span) -> Span {
        if self.is_known() { self } else { other }
    }

    /// A place so many characters later on the same line.
    pub fn later(self, characters: usize) -> Span {
        Span { column: self.column + characters as u32, ..self }
    }
}

/// Positions are no part of a plan's meaning: all spans are equal.
impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl Eq for Span {}

impl Hash for Span {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// A value and where it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    pub value: T,
    pub span: Span,
}

impl<T> Spanned<T> {
    /// A value that stands there.
    pub fn new(value: T, span: Span) -> Spanned<T> {
        Spanned { value, span }
    }
}

impl From<&str> for Spanned<String> {
    fn from(text: &str) -> Self {
        Spanned::new(text.to_owned(), Span::default())
    }
}
