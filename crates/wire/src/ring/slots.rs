//! What is known of each socket of a ring. No system calls.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::task::Waker;

use super::outbox::Address;

/// A socket as its ring sees it.
pub(super) struct Slot {
    pub fd: OwnedFd,
    /// The task that waits for something to arrive, or for a connection.
    pub reader: Option<Waker>,
    /// The task that waits until something can be sent.
    pub writer: Option<Waker>,
    /// What has arrived and was not read yet.
    pub arrived: VecDeque<BufferSpan>,
    /// The end of what arrives: closed by the other side, or broken.
    pub end: Option<End>,
    /// How connecting ended, until it is read.
    pub connected: Option<Result<(), i32>>,
    /// Where it connects to.
    pub address: Option<Box<Address>>,
    /// A receive is armed in the kernel.
    pub receiving: bool,
    /// The other side takes nothing more.
    pub refused: bool,
    /// Something large was sent: the socket may be full, and what follows in the same exchange is not
    /// batched, as the kernel might not complete it at once.
    pub direct: bool,
    /// Something small is on its way out, ...
    pub sending: bool,
    /// ... or a poll for room to send something large is armed.
    pub polling_out: bool,
    /// A poll for bytes to discard is armed.
    pub polling_in: bool,
    /// What the kernel has yet to complete; only then the slot is free again.
    pub pending: u16,
    /// The socket was dropped.
    pub dropped: bool,
    /// When the first thing of an exchange was sent (or the connecting begun), in ns on the client's
    /// clock; 0: not yet.
    pub sent_ns: u64,
    /// When the system call began that sent it.
    pub submitted_ns: u64,
    /// Bytes that were given to the kernel to send.
    pub written: u64,
}

/// Bytes in one of the kernel's buffers.
#[derive(Debug, Clone, Copy)]
pub(super) struct BufferSpan {
    pub buffer: u16,
    /// Where they begin in it, and end.
    pub from: u16,
    pub to: u16,
    /// When they arrived, in ns since 1970; 0: the kernel did not say.
    pub stamp_ns: u64,
}

/// Why nothing more will arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The other side has closed.
    Closed,
    /// An error of the system.
    Broken(i32),
}

impl Slot {
    pub(super) fn new(fd: OwnedFd) -> Slot {
        Slot {
            fd,
            reader: None,
            writer: None,
            arrived: VecDeque::new(),
            end: None,
            connected: None,
            address: None,
            receiving: false,
            refused: false,
            direct: false,
            sending: false,
            polling_out: false,
            polling_in: false,
            pending: 0,
            dropped: false,
            sent_ns: 0,
            submitted_ns: 0,
            written: 0,
        }
    }

    /// Something has arrived. Most sockets never hold more than one piece: room for more is made when it is
    /// needed.
    pub(super) fn take_in(&mut self, piece: BufferSpan) {
        if self.arrived.capacity() == 0 {
            self.arrived.reserve_exact(1);
        }
        self.arrived.push_back(piece);
    }

    /// The end as a read says it.
    pub(super) fn end(&self) -> Option<io::Result<usize>> {
        self.end.map(|end| match end {
            End::Closed => Ok(0),
            End::Broken(code) => Err(io::Error::from_raw_os_error(code)),
        })
    }
}
