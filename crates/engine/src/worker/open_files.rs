//! A worker's own table of open files.

use std::io;

/// Gives the calling thread a table of open files of its own, a copy of the one that it shared: then the
/// limit of open files counts what this thread opens, and not what the whole process does. Threads that
/// it starts share it.
///
/// Other threads know this one's event loop by numbers of their own tables: it has to be made before, and
/// closed by one of them.
///
/// # Errors
/// The system is out of memory.
pub(super) fn own_table() -> io::Result<()> {
    use rustix::thread::{UnshareFlags, unshare_unsafe};
    // SAFETY: what is open now stays open under the same number in both tables: no descriptor that
    // anybody holds loses its meaning. What this thread opens from now on it also uses and closes by
    // itself, for a worker hands no descriptor to another thread: records, log lines and the end go
    // through channels in memory. What others open afterwards they do not hand to it either. The one
    // descriptor that others write to, the waker of the event loop, was made before; the copies in this
    // table go with it when the thread ends.
    unsafe { unshare_unsafe(UnshareFlags::FILES) }?;
    Ok(())
}
