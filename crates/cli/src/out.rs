//! Printing to the standard output. A reader that has gone away (`squall ... | head`) is not an error.

use std::io::Write;

/// Prints a text as it is.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
