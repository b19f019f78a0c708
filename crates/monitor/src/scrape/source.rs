//! Where a text of names and values comes from.

use std::io;

/// Where a text of names and values comes from.
pub(crate) trait TextSource: Send {
    /// The text as it is now.
    ///
    /// # Errors
    /// It cannot be had, in a sentence.
    fn text(&self) -> io::Result<String>;
}
