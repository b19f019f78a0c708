//! What can go wrong: a pattern that does not compile, a body that cannot be read. Plain values,
//! no I/O.

use std::fmt;

/// A pattern that cannot be used: what was expected, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileError {
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Byte offset into the pattern at which it went wrong, where that is known.
    pub offset: Option<usize>,
    /// What the author of the plan can do, where there is something to say beyond the message.
    pub help: Option<String>,
}

impl CompileError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        CompileError { message: message.into(), offset: None, help: None }
    }

    pub(crate) fn at(mut self, offset: usize) -> Self {
        self.offset = Some(offset);
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(offset) = self.offset {
            write!(f, " (at byte {offset})")?;
        }
        if let Some(help) = &self.help {
            write!(f, "; {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for CompileError {}

/// A body from which nothing can be taken, because it is not of the right kind or asks for more
/// work than a response may cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtractError {
    /// The body is not JSON.
    NotJson {
        /// What was found instead, with line and column.
        reason: String,
    },
    /// The body is neither HTML nor well-formed XML.
    NotMarkup {
        /// What was found instead.
        reason: String,
    },
    /// The body is nested deeper than `limit` levels.
    TooDeep {
        /// The deepest nesting that is read.
        limit: usize,
    },
    /// The body has more of something than is read.
    TooLarge {
        /// What there is too much of, such as "nodes" or "attributes in one tag".
        what: &'static str,
        /// How many are read at most.
        limit: usize,
    },
    /// The search took more steps in this body than one response may cost.
    TooCostly,
}

impl fmt::Display for ExtractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExtractError::NotJson { reason } => write!(f, "the body is not JSON: {reason}"),
            ExtractError::NotMarkup { reason } => {
                write!(f, "the body is not HTML or XML: {reason}")
            }
            ExtractError::TooDeep { limit } => {
                write!(f, "the body is nested more than {limit} levels deep")
            }
            ExtractError::TooLarge { what, limit } => {
                write!(f, "the body has too many {what} (at most {limit} are read)")
            }
            ExtractError::TooCostly => {
                f.write_str("the search takes too many steps in this body; use a narrower pattern")
            }
        }
    }
}

impl std::error::Error for ExtractError {}
