//! Throwing bytes of a TCP connection away in the kernel: `recv` with MSG_TRUNC counts them and
//! copies nothing (tcp(7)).

use std::cell::RefCell;
use std::io;

use std::os::fd::AsFd;

use rustix::net::{RecvFlags, recv};

/// Most bytes thrown away in one call.
const LENGTH: usize = 1 << 20;

thread_local! {
    /// Room that the call asks for and never writes to: its pages are never touched, so that it
    /// takes no memory.
    static ROOM: RefCell<Vec<u8>> = RefCell::new(vec![0; LENGTH]);
}

/// Throws away up to `most` bytes that have arrived; says how many. 0: the other side has closed.
pub(crate) fn discard(stream: impl AsFd, most: u64) -> io::Result<usize> {
    ROOM.with_borrow_mut(|room| {
        let length = usize::try_from(most).unwrap_or(LENGTH).min(LENGTH);
        let (_, discarded) =
            recv(stream, &mut room[..length], RecvFlags::TRUNC | RecvFlags::DONTWAIT)?;
        Ok(discarded)
    })
}
