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

/// Why nothing can be taken out of a body: it is not of the right kind, or asks for more work or
/// memory than a response may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtractError {
    /// The body is longer than extractors read.
    BodyTooLong {
        /// Its length in bytes.
        bytes: usize,
        /// [`Limits::body_bytes`](crate::Limits::body_bytes).
        limit: usize,
    },
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
    /// More values match than one extraction gives.
    TooManyResults {
        /// [`Limits::results`](crate::Limits::results).
        limit: usize,
    },
    /// The values that match take more memory than one extraction may keep.
    ResultsTooLarge {
        /// [`Limits::result_bytes`](crate::Limits::result_bytes).
        limit: usize,
    },
    /// The search takes more steps in this body than one response may cost.
    TooCostly {
        pattern: String,
        /// The steps that were taken, some nanoseconds each.
        budget: u64,
    },
    /// A regular expression looks at the body again and again to find its matches.
    ScannedTooMuch {
        pattern: String,
        /// Matches found until then.
        matches: usize,
        /// Bytes that the searches looked at, many of them several times.
        scanned: u64,
        /// Length of the body in bytes.
        body_bytes: usize,
    },
}

impl ExtractError {
    /// The same error, with the pattern that it is about.
    pub(crate) fn with_pattern(mut self, source: &str) -> Self {
        if let ExtractError::TooCostly { pattern, .. }
        | ExtractError::ScannedTooMuch { pattern, .. } = &mut self
        {
            *pattern = abbreviated(source);
        }
        self
    }
}

/// The beginning of a pattern, short enough for a message.
fn abbreviated(pattern: &str) -> String {
    const SHOWN: usize = 200;
    match pattern.get(pattern.floor_char_boundary(SHOWN)..) {
        Some("") | None => pattern.to_owned(),
        Some(rest) => format!("{}…", &pattern[..pattern.len() - rest.len()]),
    }
}

impl fmt::Display for ExtractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExtractError::BodyTooLong { bytes, limit } => write!(
                f,
                "the body has {bytes} bytes and extractors read at most {limit}; request less \
                 data in one response, or raise the limit"
            ),
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
            ExtractError::TooManyResults { limit } => write!(
                f,
                "more than {limit} values match; use a narrower pattern, or take the first, last \
                 or a random match instead of all"
            ),
            ExtractError::ResultsTooLarge { limit } => write!(
                f,
                "the matching values take more than {limit} bytes of memory; use a pattern that \
                 selects smaller parts of the body"
            ),
            ExtractError::TooCostly { pattern, budget } => write!(
                f,
                "`{pattern}` takes more than {budget} steps in this body; use a narrower pattern, \
                 with fewer `..`, `//`, `~` or `:has()`"
            ),
            ExtractError::ScannedTooMuch { pattern, matches, scanned, body_bytes } => write!(
                f,
                "the regular expression `{pattern}` scanned {scanned} bytes of a body of \
                 {body_bytes} to find {matches} matches and has not reached the end, because it \
                 looks far beyond each match; take the first match, use boundaries (left and \
                 right), or bound what it repeats, such as [^\"]{{0,100}} in place of .*"
            ),
        }
    }
}

impl std::error::Error for ExtractError {}
