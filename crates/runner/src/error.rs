//! Why something could not be done, and whose fault it is.

use std::fmt::{self, Display, Formatter};

/// What kind of error it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The plan is wrong: the text shows each error with its place in the file.
    Plan,
    /// An option, or a file that one names, is wrong.
    Input,
    /// The input was right, but the work could not be done.
    Incomplete,
    /// It was stopped before there was a result.
    Interrupted,
}

/// Why something could not be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What kind of error it is.
    pub kind: ErrorKind,
    /// What a person is told.
    pub text: String,
}

impl Error {
    /// Errors of a plan, already rendered with their places.
    pub(crate) fn plan(text: String) -> Error {
        Error { kind: ErrorKind::Plan, text }
    }

    pub(crate) fn input(text: impl Display) -> Error {
        Error { kind: ErrorKind::Input, text: text.to_string() }
    }

    pub(crate) fn incomplete(text: impl Display) -> Error {
        Error { kind: ErrorKind::Incomplete, text: text.to_string() }
    }

    pub(crate) fn interrupted(text: impl Display) -> Error {
        Error { kind: ErrorKind::Interrupted, text: text.to_string() }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}
