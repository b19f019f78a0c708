//! Where a piece of a plan stands in its file, and texts that show it.

/// A place in a source file: line and column from 1, in characters.
#[derive(Debug, Clone, Copy, Default, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Index into [`Sources`]; 0 is the plan itself, others are its includes.
    pub file: u16,
    /// Line, from 1; 0: nowhere (a value made by a flag or a default).
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
}

/// Positions are no part of a plan's meaning: all spans are equal.
impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

/// A value and where it stands.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub span: Span,
}
