//! What is known of an HTTP/2 connection, shared by its driver, its byte stream and its exchanges: one
//! thread, borrowed for no longer than one look.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::task::Waker;

use crate::error::Delivery;

/// Most streams that a connection ever has: their numbers are odd, and end at 2^31.
const MAX_STREAMS: u64 = 1 << 30;

/// Most HEADERS of a response: of 32 interim ones, as in HTTP/1.1, of the response itself, and of what follows its body. The
/// `h2` crate keeps them until somebody asks for them, however many there are.
const MAX_HEADS: u32 = 34;
/// Most bytes of them all, as they are sent. A single one that is too large is an error of its request, and far below.
const MAX_HEAD_BYTES: u64 = 1 << 20;

/// What passed of one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Marks {
    /// When its HEADERS were given to the link, in ns on the client's clock; 0: not yet.
    pub sent_ns: u64,
    /// When a piece of its body was given to the link after that; `None`: all went at once.
    pub written_ns: Option<u64>,
    /// When the first HEADERS of the response had arrived; 0: not yet.
    pub first_byte_ns: u64,
    /// When the frame had arrived that ended the response; 0: not yet.
    pub end_ns: u64,
    /// From the arrival of what was read last until it was read, where the kernel said so.
    pub delay_ns: Option<u64>,
    /// HEADERS of the response, and bytes of these and of what continues them.
    pub heads: u32,
    pub head_bytes: u64,
    /// Bytes of its frames, heads of frames included.
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// What had been written on the connection when its HEADERS were, if the link counts that.
    pub before: Option<u64>,
    /// Whether the other side's kernel had acknowledged some of it when the connection broke.
    pub acknowledged: Option<bool>,
}

impl Marks {
    /// Bytes arrived `delay` ago, which is now. A stamp from before the request was sent means that the
    /// system clock was set back, and is ignored.
    pub(super) fn arrived(&mut self, now: u64, delay: Option<u64>) -> u64 {
        let before = self.sent_ns.max(self.first_byte_ns);
        let stamped = delay.and_then(|delay| now.checked_sub(delay)).filter(|at| *at >= before);
        self.delay_ns = stamped.and(delay);
        stamped.unwrap_or(now)
    }

    /// A frame of a head came, `first` if it begins one. What is wrong if there are too many of them.
    pub(super) fn head_came(&mut self, bytes: u64, first: bool) -> Option<&'static str> {
        self.heads += u32::from(first);
        self.head_bytes += bytes;
        match () {
            () if self.heads > MAX_HEADS => Some("more than 32 interim responses"),
            () if self.head_bytes > MAX_HEAD_BYTES => {
                Some("more than 1 MiB of heads of a response")
            }
            () => None,
        }
    }

    /// How far the request had got when its connection or stream broke.
    pub(super) fn delivery(&self) -> Delivery {
        match (self.sent_ns, self.bytes_in, self.acknowledged) {
            (0, ..) => Delivery::NotSent,
            (_, 0, Some(false)) => Delivery::Unacknowledged,
            _ => Delivery::Acknowledged,
        }
    }
}

#[derive(Default)]
pub(super) struct ConnectionState {
    /// The streams that have an exchange.
    pub streams: RefCell<HashMap<u32, Marks>>,
    /// The other side takes no stream above this one.
    pub last_stream: Cell<Option<u32>>,
    /// Why the other side has said that it takes no more, in words.
    pub farewell: RefCell<Option<Box<str>>>,
    /// Why nothing more is read of what the other side sends.
    pub too_much: Cell<Option<&'static str>>,
    /// The other side has closed.
    pub closed: Cell<bool>,
    /// What comes is HTTP/1.
    pub is_text: Cell<bool>,
    /// The driver has ended: no stream can be begun.
    pub over: Cell<bool>,
    /// Nobody has the session any more.
    pub abandoned: Cell<bool>,
    /// Settings or GOAWAY came that nobody was told of yet.
    pub news: Cell<bool>,
    pub driver: Cell<Option<Waker>>,
    /// Streams begun so far.
    pub begun: Cell<u64>,
    /// When the last response had arrived, in ns on the client's clock; 0: there was none.
    pub answered_ns: Cell<u64>,
    /// Segments that were lost and sent again, and of which nobody was told yet.
    pub retransmitted: Cell<u32>,
    /// Most streams that the other side takes at a time.
    pub capacity: Cell<usize>,
    /// Told when there may be room for another stream, or the connection takes no more.
    pub on_change: OnceCell<Box<dyn Fn(bool)>>,
}

impl ConnectionState {
    /// Whether requests may be begun: it has not ended, the other side has not sent GOAWAY, and numbers
    /// are left.
    pub(super) fn is_open(&self) -> bool {
        !self.over.get() && self.last_stream.get().is_none() && self.begun.get() < MAX_STREAMS
    }

    /// Tells whoever waits for room.
    pub(super) fn changed(&self) {
        if let Some(told) = self.on_change.get() {
            told(self.is_open());
        }
    }

    /// What passed of a stream.
    pub(super) fn marks(&self, stream: u32) -> Marks {
        self.streams.borrow().get(&stream).copied().unwrap_or_default()
    }

    /// Whether the other side has said that it does not take this stream.
    pub(super) fn refuses(&self, stream: u32) -> bool {
        self.last_stream.get().is_some_and(|last| stream > last)
    }
}
