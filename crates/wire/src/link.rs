//! The byte stream under a connection: a transport, or TLS over one.

use std::fs::File;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::client::TlsStream;

use crate::transport::{TokioIo, Transport};

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
    /// Bytes of which nobody says when they came.
    pub(crate) fn unstamped(bytes: usize) -> Read {
        Read { bytes, stamp_ns: 0 }
    }
}

/// The system's clock, in ns since 1970; 0 before that.
pub(crate) fn system_now_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // 584 years fit.
    now.as_nanos() as u64
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
    /// Nothing has come.
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

/// A byte stream.
pub(crate) enum Link {
    Plain(Transport),
    Tls(Box<TlsStream<TokioIo>>),
}

impl Link {
    /// What carries its bytes.
    fn transport(&self) -> &Transport {
        match self {
            Link::Plain(transport) => transport,
            Link::Tls(stream) => &stream.get_ref().0.transport,
        }
    }

    /// Reads what there is.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<Read>> {
        match self {
            Link::Plain(transport) => transport.poll_read(cx, buffer),
            Link::Tls(stream) => {
                // What TLS has read before, and gives only now, was there when that was.
                let bytes = ready!(read(Pin::new(&mut **stream), cx, buffer))?;
                Poll::Ready(Ok(Read { bytes, stamp_ns: stream.get_ref().0.stamp_ns }))
            }
        }
    }

    /// How many ns ago what was just read could have been read first; see [`crate::arrivals`].
    pub(crate) fn ago_ns(&mut self, read: Read, recent_ns: impl FnOnce() -> u64) -> Option<u64> {
        match self {
            Link::Plain(transport) => transport.ago_ns(read, recent_ns),
            Link::Tls(stream) => stream.get_mut().0.transport.ago_ns(read, recent_ns),
        }
    }

    /// Reads what there is of a large body.
    pub(crate) fn poll_read_large(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<Read>> {
        match self {
            Link::Plain(transport) => transport.poll_read_large(cx, buffer),
            Link::Tls(_) => self.poll_read(cx, buffer),
        }
    }

    /// Lets the kernel throw away up to `most` bytes that have arrived. `None`: this stream cannot.
    pub(crate) fn poll_discard(
        &mut self,
        cx: &mut Context<'_>,
        most: u64,
    ) -> Poll<Option<io::Result<usize>>> {
        match self {
            Link::Plain(transport) => transport.poll_discard(cx, most),
            Link::Tls(_) => Poll::Ready(None),
        }
    }

    /// What is known of it without a system call: what the event loop has seen up to now.
    pub(crate) fn idle(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> io::Result<Idle> {
        if let Link::Plain(transport) = self {
            return transport.idle(buffer);
        }
        Ok(match self.poll_read(cx, buffer) {
            Poll::Pending => Idle::Quiet,
            Poll::Ready(read) => Idle::of(Some(read?.bytes)),
        })
    }

    /// An exchange is over, and nothing is to come before the next one.
    pub(crate) fn rest(&self) {
        // TLS has words of its own to say meanwhile.
        if let Link::Plain(Transport::Ring(socket)) = self {
            socket.rest();
        }
    }

    /// Reads what is known to have arrived, without a system call if nothing has; `None`: nothing, or it is not known.
    pub(crate) fn try_read(&mut self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        match self {
            Link::Plain(transport) => transport.try_read(buffer),
            Link::Tls(_) => None,
        }
    }

    /// Waits, outside of the event loop, until there is something to read in the kernel.
    #[cfg(test)]
    pub(crate) fn await_arrival(&self) {
        use rustix::event::{PollFd, PollFlags, poll};
        match self.transport() {
            Transport::Ring(socket) => socket.await_arrival(),
            Transport::Tcp(tcp) => {
                let mut arrivals = [PollFd::new(tcp.stream(), PollFlags::IN)];
                poll(&mut arrivals, None).expect("it arrives");
            }
            Transport::Unix(_) => {}
        }
    }

    /// Makes its close a reset.
    pub(crate) fn reset_on_close(&self) {
        self.transport().reset_on_close();
    }

    /// Writes as much as it takes.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Link::Plain(transport) => transport.poll_write(cx, bytes),
            Link::Tls(stream) => Pin::new(&mut **stream).poll_write(cx, bytes),
        }
    }

    /// Writes as much as it takes of several pieces.
    pub(crate) fn poll_write_vectored(
        &mut self,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self {
            Link::Plain(transport) => transport.poll_write_vectored(cx, pieces),
            Link::Tls(stream) => Pin::new(&mut **stream).poll_write_vectored(cx, pieces),
        }
    }

    /// Whether several pieces are better written at once than put together first.
    pub(crate) fn is_write_vectored(&self) -> bool {
        matches!(self, Link::Plain(_))
    }

    /// Lets the kernel send up to `most` bytes of a file from where it stands. `None`: this stream needs
    /// to see them.
    pub(crate) fn poll_send_file(
        &mut self,
        cx: &mut Context<'_>,
        file: &File,
        most: u64,
    ) -> Poll<Option<io::Result<usize>>> {
        match self {
            Link::Plain(transport) => transport.poll_send_file(cx, file, most),
            Link::Tls(_) => Poll::Ready(None),
        }
    }

    /// Sends what TLS may still hold back.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Link::Plain(_) => Poll::Ready(Ok(())),
            Link::Tls(stream) => Pin::new(&mut **stream).poll_flush(cx),
        }
    }

    /// Sends no more.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Link::Plain(transport) => transport.poll_shutdown(cx),
            Link::Tls(stream) => Pin::new(&mut **stream).poll_shutdown(cx),
        }
    }

    /// An exchange begins.
    pub(crate) fn begin(&self) {
        self.transport().begin();
    }

    /// When its first byte was really sent, if that was not at once.
    pub(crate) fn sent(&self) -> Option<Sent> {
        self.transport().sent()
    }

    /// Whether [`Link::sent`] will tell when something was sent.
    pub(crate) fn tells_sent(&self) -> bool {
        self.transport().is_in_ring()
    }

    /// Whether it needs tokio's event loop.
    pub(crate) fn needs_tokio(&self) -> bool {
        !self.transport().is_in_ring()
    }

    /// Bytes that it was given to send over TCP, TLS records and all; `None`: it is no TCP connection.
    pub(crate) fn written(&self) -> Option<u64> {
        self.transport().written()
    }

    /// Whether the peer's kernel has acknowledged more than the first `bytes` of what was written;
    /// `None`: this kernel does not tell.
    pub(crate) fn acknowledged_beyond(&self, bytes: u64) -> Option<bool> {
        self.transport().tcp_info().map(|info| info.acknowledged() > bytes)
    }

    /// Segments that were lost and that this side had to send again, beyond the most that there had been before, which are
    /// `before` and are set anew: one that turns out to have been sent again for nothing is counted once at most. 0 where the kernel
    /// does not tell.
    pub(crate) fn newly_retransmitted(&self, before: &mut u32) -> u32 {
        let all = self.transport().tcp_info().map_or(0, |info| info.retransmitted());
        let new = all.saturating_sub(*before);
        *before += new;
        new
    }
}

/// Reads what there is from a stream of tokio's.
pub(crate) fn read(
    stream: Pin<&mut impl AsyncRead>,
    cx: &mut Context<'_>,
    buffer: &mut [u8],
) -> Poll<io::Result<usize>> {
    let mut buffer = ReadBuf::new(buffer);
    ready!(stream.poll_read(cx, &mut buffer))?;
    Poll::Ready(Ok(buffer.filled().len()))
}
