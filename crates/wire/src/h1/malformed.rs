//! Why bytes are no response.

use std::fmt;

use crate::error::Error;

/// What is wrong with a response, in a few words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl From<Malformed> for Error {
    fn from(malformed: Malformed) -> Self {
        Error::malformed(malformed.0)
    }
}
