//! The languages that modules are written in, and why a module cannot be read: plain data.

use super::edits::Place;

/// Why a module cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    pub message: String,
    /// What helps, if the parser knows.
    pub help: Option<String>,
    pub place: Place,
}

/// The language that a module is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    JavaScript,
    TypeScript,
}

impl Language {
    /// By the end of a file's name.
    pub fn of(file: &str) -> Language {
        let is_typescript = [".ts", ".mts", ".cts"].iter().any(|end| file.ends_with(end));
        if is_typescript { Language::TypeScript } else { Language::JavaScript }
    }
}
