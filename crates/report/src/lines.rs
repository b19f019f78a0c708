//! Lines of a file one at a time, so that memory does not grow with the file.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::ops::ControlFlow;

/// Longest line, in bytes with its end; longer ones are passed by.
const MAX_LINE: usize = 1 << 20;
/// Most bytes of a file that are read: a sample of the host each second of a week.
const MAX_BYTES: u64 = 1 << 30;

/// Calls `each` with one line after the other, as bytes with the end of the line, until it breaks off. A generator that was
/// killed may leave a part of a line, or of a character, at the end.
///
/// # Errors
/// The file cannot be read, or not to its end: it is larger than 1 GiB.
pub(crate) fn each_line(file: File, each: impl FnMut(&[u8]) -> ControlFlow<()>) -> io::Result<()> {
    each_line_of(file, MAX_BYTES, each)
}

fn each_line_of(
    file: File,
    most: u64,
    mut each: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<()> {
    let is_larger = file.metadata()?.len() > most;
    let (mut file, mut line) = (BufReader::new(file.take(most)), Vec::new());
    loop {
        line.clear();
        file.by_ref().take(MAX_LINE as u64).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            let shown = squall_base::units::bytes(most);
            return match is_larger {
                true => Err(io::Error::other(format!("only its first {shown} were read"))),
                false => Ok(()),
            };
        }
        if line.len() == MAX_LINE && !line.ends_with(b"\n") {
            file.skip_until(b'\n')?;
            // One such line should not cost its memory to the end.
            line = Vec::new();
        } else if each(&line).is_break() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use super::*;

    fn lines(bytes: &[u8], most: usize) -> Vec<Vec<u8>> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).and_then(|()| file.rewind()).expect("writable");
        let mut lines = Vec::new();
        each_line_of(file, MAX_BYTES, |line| {
            lines.push(line.to_vec());
            if lines.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .expect("readable");
        lines
    }

    #[test]
    fn lines_come_one_by_one_up_to_what_was_cut() {
        let cut = &"ä".as_bytes()[..1];
        assert_eq!(lines(&[b"a\n\nb\n", cut].concat(), 9), [&b"a\n"[..], b"\n", b"b\n", cut]);
        assert_eq!(lines(b"a\nb\nc\n", 2), [b"a\n", b"b\n"]);
        assert!(lines(b"", 9).is_empty());
    }

    #[test]
    fn a_file_that_is_too_large_is_read_to_a_bound() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"a\nb\nc\n").and_then(|()| file.rewind()).expect("writable");
        let mut lines = 0;
        let read = each_line_of(file, 4, |_| {
            lines += 1;
            ControlFlow::Continue(())
        });
        assert!(read.is_err_and(|error| error.to_string().contains("its first 4 B")));
        assert_eq!(lines, 2);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_by() {
        let long = [vec![b'x'; 3 * MAX_LINE], b"\nb\n".to_vec()].concat();
        assert_eq!(lines(&long, 9), [b"b\n"]);
        let fits = [vec![b'x'; MAX_LINE - 1], b"\nb\n".to_vec()].concat();
        assert_eq!(lines(&fits, 9).len(), 2);
    }
}
