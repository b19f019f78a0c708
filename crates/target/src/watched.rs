//! A descriptor of ours that the event loop watches: a timer or a listening socket.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use tokio::io::unix::{AsyncFd, AsyncFdReadyGuard};

/// A descriptor registered with the event loop of this thread.
pub(crate) struct Watched(AsyncFd<OwnedFd>);

impl Watched {
    pub(crate) fn new(fd: OwnedFd) -> io::Result<Self> {
        // SAFETY: `register` wants a descriptor that is valid and stays the same until it is
        // deregistered. An `OwnedFd` is valid while it lives; it lives inside the `AsyncFd`, which
        // deregisters before it drops it; and this type gives it out by shared borrow only, so
        // nobody can put another one in its place.
        let registered = unsafe { AsyncFd::register(fd) };
        Ok(Watched(registered?))
    }

    pub(crate) async fn readable(&self) -> io::Result<AsyncFdReadyGuard<'_, OwnedFd>> {
        self.0.readable().await
    }
}

impl AsFd for Watched {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.get_ref().as_fd()
    }
}
