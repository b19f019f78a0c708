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
