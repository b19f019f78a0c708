//! What is known of each socket of a ring. No system calls.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::task::Waker;

use super::outbox::Address;
use crate::arrivals::Arrivals;

/// With more unread bytes than this a socket is not received from: TCP then slows the other side down.
const MOST_ASIDE: usize = 16 << 10;
/// The same in pieces, while they are in the kernel's buffers.
const MOST_PIECES: usize = 64;

/// A socket as its ring sees it.
pub(super) struct Slot {
    pub fd: OwnedFd,
    /// The task that waits for something to arrive, or for a connection.
    pub reader: Option<Waker>,
    /// The task that waits until something can be sent.
    pub writer: Option<Waker>,
    /// What has arrived, was not read yet, and was taken out of the kernel's buffers; before `arrived`.
    pub aside: Option<Box<Aside>>,
    /// What has arrived and was not read yet.
    pub arrived: VecDeque<BufferSpan>,
    /// When what was read had arrived.
    pub arrivals: Arrivals,
    /// The end of what arrives: closed by the other side, or broken.
    pub end: Option<End>,
    /// How connecting ended, until it is read.
    pub connected: Option<Result<(), i32>>,
    pub address: Option<Box<Address>>,
    /// A receive is armed in the kernel, ...
    pub receiving: bool,
    /// ... and has been called off, ...
    pub cancelling: bool,
    /// ... or will be armed once there is a buffer again.
    pub starved: bool,
    /// Nothing is to arrive: the connection waits for its next request.
    pub rests: bool,
    /// Something arrived all the same.
    pub unsolicited: bool,
    /// The other side takes nothing more.
    pub refused: bool,
    /// Something large was sent: the socket may be full, and what follows in the same exchange is not
    /// batched, as the kernel might not complete it at once.
    pub direct: bool,
    /// Where in the outbox something small is that is on its way out, ...
    pub sending: Option<u32>,
    /// ... or a poll for room to send something large is armed.
    pub polling_out: bool,
    /// A poll for bytes to discard is armed.
    pub polling_in: bool,
    /// What the kernel has yet to complete; only then the slot is free again.
    pub pending: u16,
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

/// Bytes that arrived and are kept until somebody reads them.
#[derive(Debug, Default)]
pub(super) struct Aside {
    bytes: Vec<u8>,
    /// How many of them have been read.
    read: usize,
    /// When the last of them arrived, in ns since 1970; 0: the kernel did not say.
    stamp_ns: u64,
}

impl Aside {
    pub(super) fn put(&mut self, bytes: &[u8], stamp_ns: u64) {
        self.bytes.drain(..std::mem::take(&mut self.read));
        self.bytes.extend_from_slice(bytes);
        self.stamp_ns = stamp_ns;
    }

    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.read
    }

    /// Reads as many as there is room for; how many that are, and their stamp.
    pub(super) fn take(&mut self, buffer: &mut [u8]) -> (usize, u64) {
        let length = self.left().min(buffer.len());
        buffer[..length].copy_from_slice(&self.bytes[self.read..self.read + length]);
        self.read += length;
        (length, self.stamp_ns)
    }
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
            aside: None,
            arrived: VecDeque::new(),
            arrivals: Arrivals::default(),
            end: None,
            connected: None,
            address: None,
            receiving: false,
            cancelling: false,
            starved: false,
            rests: false,
            unsolicited: false,
            refused: false,
            direct: false,
            sending: None,
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

    /// Whether something has arrived that was not read yet.
    pub(super) fn holds_bytes(&self) -> bool {
        self.aside.is_some() || !self.arrived.is_empty()
    }

    /// Whether what arrives has to wait in the kernel: nobody reads it.
    pub(super) fn is_full(&self) -> bool {
        self.aside.as_ref().is_some_and(|aside| aside.left() > MOST_ASIDE)
            || self.arrived.len() >= MOST_PIECES
    }

    /// The end as a read says it.
    pub(super) fn end(&self) -> Option<io::Result<usize>> {
        self.end.map(|end| match end {
            End::Closed => Ok(0),
            End::Broken(code) => Err(io::Error::from_raw_os_error(code)),
        })
    }
}
