//! Files that a plan names: only regular ones, and texts only up to a size.

use std::path::Path;

/// Most bytes of a plan, or of a file of variables.
const MAX_TEXT: u64 = 16 << 20;

/// Whether a file can be read again and again from its beginning, and ends.
///
/// # Errors
/// It is a folder, a device, a pipe or a socket, or cannot be looked at; in a few words.
pub fn regular(path: &Path) -> Result<std::fs::Metadata, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if metadata.is_file() {
        return Ok(metadata);
    }
    let what = if metadata.is_dir() { "a folder" } else { "a device, a pipe or a socket" };
    Err(format!("it is {what}, and not a file"))
}

/// The text of a plan or of another file that is read as a whole.
///
/// # Errors
/// It is no regular file, larger than 16 MiB, not UTF-8, or cannot be read; in a few words.
pub fn text(path: &Path) -> Result<String, String> {
    let size = regular(path)?.len();
    if size > MAX_TEXT {
        return Err(format!("it has {size} bytes: expected at most {MAX_TEXT}"));
    }
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_read() {
        let folder = std::env::temp_dir();
        assert!(text(&folder).is_err_and(|error| error.contains("a folder")));
        assert!(text(Path::new("/dev/zero")).is_err_and(|error| error.contains("a device")));
        assert!(text(Path::new("/nowhere/at/all")).is_err());
    }
}
