//! Files that a plan names: only regular ones, and texts only up to a size.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

/// Most bytes of a plan, or of a file of variables.
pub const MAX_TEXT: u64 = 16 << 20;
/// Most bytes of a line that is read by itself.
const MAX_LINE: u64 = 64 << 10;

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

/// The first line of a file, without its end and without a mark of the byte order.
///
/// # Errors
/// It is no regular file, the line is longer than 64 KiB or not UTF-8, or it cannot be read; in a few words.
pub fn first_line(path: &Path) -> Result<String, String> {
    regular(path)?;
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut line = String::new();
    let read = BufReader::new(file.take(MAX_LINE)).read_line(&mut line);
    match read.map_err(|error| error.to_string())? as u64 {
        MAX_LINE => Err("its first line is longer than 64 KiB".to_owned()),
        _ => Ok(line.trim_start_matches('\u{feff}').trim_end_matches(['\r', '\n']).to_owned()),
    }
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

    #[test]
    fn a_first_line_ends() {
        let path = std::env::temp_dir().join(format!("squall-first-line-{}", std::process::id()));
        std::fs::write(&path, "\u{feff}a,b\r\n1,2\n").expect("a temporary file");
        assert_eq!(first_line(&path).as_deref(), Ok("a,b"));
        std::fs::write(&path, "x".repeat(70_000)).expect("a temporary file");
        assert!(first_line(&path).is_err_and(|error| error.contains("longer than 64 KiB")));
        let _ = std::fs::remove_file(&path);
        assert!(first_line(&path).is_err());
    }
}
