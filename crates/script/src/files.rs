//! Files that scripts are read from, and that they read.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// What reads files: those of a script, or what a test has.
pub trait Files {
    /// What is in a file.
    ///
    /// # Errors
    /// It is not there, or cannot be read, in a sentence.
    fn bytes(&self, path: &Path) -> Result<Vec<u8>, String>;

    /// Whether there is such a file.
    fn has(&self, path: &Path) -> bool;

    /// A module that a URL has given before.
    ///
    /// # Errors
    /// It has not, or what is there is not what it has given, in words that follow the URL.
    fn fetched(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("no modules of URLs are at hand here".to_owned())
    }

    /// The text of a file.
    ///
    /// # Errors
    /// As [`Files::bytes`], or it is not UTF-8.
    fn read(&self, path: &Path) -> Result<String, String> {
        text(path, self.bytes(path)?)
    }
}

/// What is in a file, as text.
pub(crate) fn text(path: &Path, bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let (path, at) = (path.display(), error.utf8_error().valid_up_to());
        format!("{path} is not text: its byte {at} does not belong to UTF-8")
    })
}

/// The files that a script may open; by default none.
#[derive(Clone, Default)]
pub struct OpenFiles(pub Option<Arc<dyn Files + Send + Sync>>);

impl std::fmt::Debug for OpenFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "OpenFiles(..)" } else { "OpenFiles(none)" })
    }
}

/// A path without `.` and `..`.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}
