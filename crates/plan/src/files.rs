//! Files that a plan names, and those of runs: only regular ones, and as a whole only up to a size.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

/// Most bytes of a plan, or of a file of variables.
pub const MAX_TEXT: u64 = 16 << 20;
/// Most bytes of a line that is read by itself.
const MAX_LINE: u64 = 64 << 10;

/// Whether a file can be read again and again from its beginning, and ends.
///
/// # Errors
/// It is a folder, a device, a pipe or a socket, or cannot be looked at; in a few words.
pub fn regular(path: &Path) -> Result<Metadata, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    is_regular(&metadata).map(|()| metadata)
}

fn is_regular(metadata: &Metadata) -> Result<(), String> {
    let what = match metadata.is_dir() {
        _ if metadata.is_file() => return Ok(()),
        true => "a folder",
        false => "a device, a pipe or a socket",
    };
    Err(format!("it is {what}, and not a file"))
}

/// Opens a regular file to be read. Neither that nor to read it waits: a pipe waits for its other end, and some of those that the
/// system makes up for what is to come. What may take the file's place meanwhile is looked at once it is open.
///
/// # Errors
/// It is a folder, a device, a pipe or a socket, or cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    is_regular(&file.metadata()?).map_err(io::Error::other)?;
    Ok(file)
}

/// All bytes of a regular file, if they are not more than `most`.
///
/// # Errors
/// As of [`open`]; it is larger, or cannot be read.
pub fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(io::Error::other(format!("it has more than {most} bytes, which is the most"))),
        false => Ok(bytes),
    }
}

/// The text of a plan or of another file that is read as a whole.
///
/// # Errors
/// It is no regular file, larger than 16 MiB, not UTF-8, or cannot be read; in a few words.
pub fn text(path: &Path) -> Result<String, String> {
    let (file, size) = sized(path)?;
    if size > MAX_TEXT {
        return Err(format!("it has {size} bytes: expected at most {MAX_TEXT}"));
    }
    let mut text = String::new();
    let read = file.take(MAX_TEXT + 1).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    if text.len() as u64 > MAX_TEXT {
        return Err(format!("it has more than {MAX_TEXT} bytes, which is the most"));
    }
    made_up(size, &text)?;
    Ok(text)
}

/// Opens a regular file, and says how many bytes it has.
fn sized(path: &Path) -> Result<(File, u64), String> {
    let sized = open(path).and_then(|file| file.metadata().map(|own| (file, own.len())));
    sized.map_err(|error| error.to_string())
}

/// Refuses what the system makes up when it is read, such as what is in /proc: it need not end.
fn made_up(size: u64, text: &str) -> Result<(), String> {
    match size == 0 && !text.is_empty() {
        true => {
            Err("its size is 0, but there is something in it: expected a file on a disk".to_owned())
        }
        false => Ok(()),
    }
}

/// The first line of a file, without its end and without a mark of the byte order.
///
/// # Errors
/// It is no regular file, the line is longer than 64 KiB or not UTF-8, or it cannot be read; in a few words.
pub fn first_line(path: &Path) -> Result<String, String> {
    let (file, size) = sized(path)?;
    let mut line = String::new();
    let read = BufReader::new(file.take(MAX_LINE)).read_line(&mut line);
    let read = read.map_err(|error| error.to_string())? as u64;
    made_up(size, &line)?;
    match read {
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
        assert!(
            open(Path::new("/dev/zero")).is_err_and(|own| own.to_string().contains("a device"))
        );
        assert!(bytes(&folder, 1).is_err_and(|own| own.to_string().contains("a folder")));
    }

    #[test]
    fn no_more_is_read_than_may_be() {
        let path = std::env::temp_dir().join(format!("squall-bytes-{}", std::process::id()));
        std::fs::write(&path, "abc").expect("a temporary file");
        assert_eq!(bytes(&path, 3).expect("it fits"), b"abc");
        assert!(bytes(&path, 2).is_err_and(|own| own.to_string().contains("more than 2 bytes")));
        let _ = std::fs::remove_file(&path);
    }

    /// They are regular by name, have no size, and some of them have no end.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_the_system_makes_up_is_no_file() {
        let path = Path::new("/proc/self/status");
        for read in [text(path), first_line(path)] {
            assert!(read.as_ref().is_err_and(|error| error.contains("its size is 0")), "{read:?}");
        }
        // Who may open this one would wait for the next message of the kernel.
        assert!(text(Path::new("/proc/kmsg")).is_err());
    }

    #[test]
    fn an_empty_file_and_a_large_one() {
        let path = std::env::temp_dir().join(format!("squall-text-{}", std::process::id()));
        std::fs::write(&path, "").expect("a temporary file");
        assert_eq!(text(&path).as_deref(), Ok(""));
        std::fs::write(&path, "x".repeat((16 << 20) + 1)).expect("a temporary file");
        assert!(text(&path).is_err_and(|error| error.contains("expected at most 16777216")));
        let _ = std::fs::remove_file(&path);
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
