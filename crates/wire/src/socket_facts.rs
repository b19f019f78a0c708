//! What a socket of any kind tells of its bytes.

/// How long a response takes at least for which a segment was sent again, in ns: Linux probes after twice the round trip, at
/// least some 10 ms, and repeats after 200 ms (RFC 8985; TCP_RTO_MIN). To ask costs a system call.
pub const MAY_BE_RETRANSMITTED_NS: u64 = 20_000_000;

/// Bytes that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Read {
    /// How many; 0: the other side has closed.
    pub bytes: usize,
    /// When the kernel had got the last of them, in ns since 1970; 0: it did not say.
    pub stamp_ns: u64,
}

impl Read {
    /// Bytes without a stamp.
    pub(crate) fn unstamped(bytes: usize) -> Read {
        Read { bytes, stamp_ns: 0 }
    }
}

/// When the first byte of an exchange was sent, in ns on the client's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent {
    /// When the system call began that sent it.
    pub submitted_ns: u64,
    /// When, within that, it was its turn.
    pub sent_ns: u64,
}

/// What is known of a connection between two exchanges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Idle {
    Quiet,
    /// The other side has closed it.
    Closed,
    /// Unsolicited bytes have arrived.
    Unsolicited,
}

impl Idle {
    /// What it means that so many bytes were read; `None`: there is nothing to read.
    pub(crate) fn of(read: Option<usize>) -> Idle {
        match read {
            None => Idle::Quiet,
            Some(0) => Idle::Closed,
            Some(_) => Idle::Unsolicited,
        }
    }
}
