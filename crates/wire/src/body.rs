//! Bodies that are not held in memory: sources to send from, sinks to receive into.

use std::fs::File;
use std::io;

/// A body that is read while it is sent.
pub trait BodySource {
    /// Reads the next bytes into `buffer`; 0: there are no more.
    ///
    /// # Errors
    /// The source cannot be read.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// The file that comes next from where it stands, and how much of it: the kernel can send it
    /// without its being read. `None`: what comes next has to be read.
    fn file(&mut self) -> Option<(&File, u64)> {
        None
    }

    /// So much of that file was sent, and it stands behind that.
    fn sent(&mut self, _bytes: u64) {}
}

/// Bytes of a body that are read at a time.
const PIECE: usize = 64 << 10;

/// Fills `piece` with what comes next of a body, however little the source gives at a time, but not into a file that the kernel can
/// send. Nothing: there is no more.
///
/// # Errors
/// The source cannot be read.
pub(crate) fn read_piece(source: &mut dyn BodySource, piece: &mut Vec<u8>) -> io::Result<()> {
    piece.resize(PIECE, 0);
    let mut filled = 0;
    while filled < PIECE && (filled == 0 || source.file().is_none()) {
        match source.read(&mut piece[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    piece.truncate(filled);
    Ok(())
}

/// The error of a [`BodySource`], on its way through code whose errors are those of a socket.
#[derive(Debug)]
pub(crate) struct SourceFailed(io::Error);

impl SourceFailed {
    pub(crate) fn wrap(error: io::Error) -> io::Error {
        io::Error::other(SourceFailed(error))
    }

    pub(crate) fn is(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<SourceFailed>())
    }
}

impl std::fmt::Display for SourceFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for SourceFailed {}

/// Where a body goes as it comes.
pub trait BodySink {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// They cannot be taken (a full disk).
    fn write(&mut self, piece: &[u8]) -> io::Result<()>;
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _, Write as _};

    use super::*;

    /// Gives a byte at a time, and then a file.
    struct Drops {
        left: usize,
        file: File,
    }

    impl BodySource for Drops {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.left == 0 {
                return self.file.read(buffer);
            }
            self.left -= 1;
            buffer[0] = b'.';
            Ok(1)
        }

        fn file(&mut self) -> Option<(&File, u64)> {
            (self.left == 0).then_some((&self.file, 4))
        }
    }

    #[test]
    fn a_piece_is_full_unless_a_file_or_the_end_comes() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"file").expect("writable");
        file.rewind().expect("a file");
        let (mut source, mut piece) = (Drops { left: PIECE + 3, file }, Vec::new());
        let mut next = || {
            read_piece(&mut source, &mut piece).expect("readable");
            piece.clone()
        };
        assert_eq!(next(), [b'.'; PIECE]);
        assert_eq!(next(), b"...");
        assert_eq!(next(), b"file");
        assert_eq!(next(), b"");
    }
}
