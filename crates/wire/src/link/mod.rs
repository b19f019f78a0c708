//! The byte stream under a connection: TCP in tokio or in the ring, a Unix socket, or TLS over one of them.

mod tcp;

use std::fs::File;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio_rustls::client::TlsStream;

use crate::arrivals::Looks;
use crate::peer::Peer;
use crate::progress::Clock;
use crate::ring::Socket;
use crate::socket_facts::{Idle, Read, Sent};
use crate::sys::{self, TcpInfo};
#[cfg(test)]
use crate::virtual_network::VirtualSocket;

pub(crate) use self::tcp::Tcp;

pub(crate) enum Link {
    Tcp(Tcp),
    Ring(Socket),
    Unix(UnixStream),
    Tls(Box<TlsStream<TokioIo>>),
    #[cfg(test)]
    Virtual(VirtualSocket),
}

impl Link {
    /// What carries its bytes: itself, or what is below its TLS.
    fn carrier(&self) -> &Link {
        match self {
            Link::Tls(stream) => &stream.get_ref().0.link,
            _ => self,
        }
    }

    /// Reads what there is; of a large body, in the way that copies it least.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
        is_large: bool,
    ) -> Poll<io::Result<Read>> {
        match self {
            Link::Tcp(tcp) => sys::poll_read(&tcp.stream, cx, buffer),
            Link::Ring(socket) if is_large => socket.poll_read_large(cx, buffer),
            Link::Ring(socket) => socket.poll_read(cx, buffer),
            Link::Unix(stream) => read(Pin::new(stream), cx, buffer).map_ok(Read::unstamped),
            #[cfg(test)]
            Link::Virtual(socket) => socket.poll_read(cx, buffer),
            Link::Tls(stream) => {
                // What TLS has read before, and gives only now, was there when that was.
                let bytes = ready!(read(Pin::new(&mut **stream), cx, buffer))?;
                let stamp_ns = if bytes > 0 { stream.get_ref().0.stamp_ns } else { 0 };
                Poll::Ready(Ok(Read { bytes, stamp_ns }))
            }
        }
    }

    /// How many ns ago what was just read could have been read first; `None`: the kernel did not say when it came. See
    /// [`crate::arrivals`].
    pub(crate) fn ago_ns(&mut self, read: Read, clock: &Clock, looks: &Looks) -> Option<u64> {
        match self {
            Link::Tcp(tcp) => tcp.ago_ns(read, clock, looks),
            Link::Ring(socket) => socket.ago_ns(read, looks),
            Link::Unix(_) => None,
            #[cfg(test)]
            Link::Virtual(socket) => socket.ago_ns(read, clock, looks),
            Link::Tls(stream) => stream.get_mut().0.link.ago_ns(read, clock, looks),
        }
    }

    /// Lets the kernel throw away up to `most` bytes that have arrived. `None`: they have to be read.
    pub(crate) fn poll_discard(
        &mut self,
        cx: &mut Context<'_>,
        most: u64,
    ) -> Poll<Option<io::Result<usize>>> {
        match self {
            Link::Tcp(tcp) => sys::poll_discard(&tcp.stream, cx, most).map(Some),
            Link::Ring(socket) => socket.poll_discard(cx, most),
            #[cfg(test)]
            Link::Virtual(socket) => socket.poll_discard(cx, most).map(Some),
            Link::Unix(_) | Link::Tls(_) => Poll::Ready(None),
        }
    }

    /// What is known of it without a system call: what the event loop has seen up to now.
    pub(crate) fn idle(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> io::Result<Idle> {
        let read = match self {
            Link::Ring(socket) => return socket.idle(buffer),
            Link::Tls(_) => match self.poll_read(cx, buffer, false) {
                Poll::Pending => None,
                Poll::Ready(read) => Some(read?.bytes),
            },
            _ => self.try_read(buffer).transpose()?,
        };
        Ok(Idle::of(read))
    }

    /// An exchange is over, and nothing is to come before the next one.
    pub(crate) fn rest(&self) {
        // TLS has words of its own to say meanwhile.
        if let Link::Ring(socket) = self {
            socket.rest();
        }
    }

    /// Reads what is known to have arrived, without a system call if nothing has; `None`: nothing, or it is not known.
    pub(crate) fn try_read(&mut self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        let read = match self {
            Link::Tcp(tcp) => tcp.stream.try_read(buffer),
            Link::Ring(socket) => return socket.try_read(buffer),
            Link::Unix(stream) => stream.try_read(buffer),
            #[cfg(test)]
            Link::Virtual(socket) => socket.try_read(buffer),
            Link::Tls(_) => return None,
        };
        match read {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            read => Some(read),
        }
    }

    /// Waits, outside of the event loop, until there is something to read in the kernel.
    #[cfg(test)]
    pub(crate) fn await_arrival(&self) {
        use rustix::event::{PollFd, PollFlags, poll};
        match self.carrier() {
            Link::Ring(socket) => socket.await_arrival(),
            Link::Tcp(tcp) => {
                let mut arrivals = [PollFd::new(&tcp.stream, PollFlags::IN)];
                poll(&mut arrivals, None).expect("it arrives");
            }
            _ => {}
        }
    }

    /// Makes its close a reset, which keeps no port in TIME_WAIT. A socket that cannot be set so closes as others do.
    pub(crate) fn reset_on_close(&self) {
        let _ = match self.carrier() {
            Link::Tcp(tcp) => tcp.stream.set_zero_linger(),
            Link::Ring(socket) => socket.reset_on_close(),
            _ => Ok(()),
        };
    }

    /// Writes as much of some pieces as it takes.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self {
            Link::Tcp(tcp) => tcp.poll_write(cx, pieces),
            Link::Ring(socket) => socket.poll_write(cx, pieces),
            Link::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
            Link::Tls(stream) => Pin::new(&mut **stream).poll_write_vectored(cx, pieces),
            #[cfg(test)]
            Link::Virtual(socket) => socket.poll_write(cx, pieces),
        }
    }

    /// Whether several pieces are better written at once than put together first.
    pub(crate) fn is_write_vectored(&self) -> bool {
        !matches!(self, Link::Tls(_))
    }

    /// Lets the kernel send up to `most` bytes of a file from where it stands. `None`: they have to be read.
    pub(crate) fn poll_send_file(
        &mut self,
        cx: &mut Context<'_>,
        file: &File,
        most: u64,
    ) -> Poll<Option<io::Result<usize>>> {
        match self {
            Link::Tcp(tcp) => tcp.poll_send_file(cx, file, most).map(Some),
            Link::Ring(socket) => socket.poll_send_file(cx, file, most).map(Some),
            _ => Poll::Ready(None),
        }
    }

    /// Sends what TLS may still hold back.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Link::Tls(stream) => Pin::new(&mut **stream).poll_flush(cx),
            _ => Poll::Ready(Ok(())),
        }
    }

    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Link::Tcp(tcp) => Pin::new(&mut tcp.stream).poll_shutdown(cx),
            Link::Ring(socket) => Poll::Ready(socket.shutdown()),
            Link::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
            Link::Tls(stream) => Pin::new(&mut **stream).poll_shutdown(cx),
            #[cfg(test)]
            Link::Virtual(_) => Poll::Ready(Ok(())),
        }
    }

    /// An exchange begins: what is sent next is its first byte.
    pub(crate) fn begin(&self) {
        match self.carrier() {
            Link::Ring(socket) => socket.begin(),
            #[cfg(test)]
            Link::Virtual(socket) => socket.begin(),
            _ => {}
        }
    }

    /// When the exchange's first byte was really sent, if that was not at once.
    pub(crate) fn sent(&self) -> Option<Sent> {
        match self.carrier() {
            Link::Ring(socket) => socket.sent(),
            #[cfg(test)]
            Link::Virtual(socket) => socket.sent(),
            _ => None,
        }
    }

    /// Whether it waits in the ring, which tells by [`Link::sent`] when something was sent; or else in tokio.
    pub(crate) fn is_in_ring(&self) -> bool {
        match self.carrier() {
            Link::Ring(_) => true,
            #[cfg(test)]
            Link::Virtual(socket) => socket.is_in_ring(),
            _ => false,
        }
    }

    /// Bytes that it was given to send over TCP, TLS records and all; `None`: it is no TCP connection.
    pub(crate) fn written(&self) -> Option<u64> {
        match self.carrier() {
            Link::Tcp(tcp) => Some(tcp.written),
            Link::Ring(socket) => Some(socket.written()),
            #[cfg(test)]
            Link::Virtual(socket) => Some(socket.written()),
            _ => None,
        }
    }

    /// What the kernel knows of the TCP connection; `None`: it is none, or the kernel does not tell.
    pub(crate) fn tcp_info(&self) -> Option<TcpInfo> {
        match self.carrier() {
            Link::Tcp(tcp) => TcpInfo::of(&tcp.stream),
            Link::Ring(socket) => socket.tcp_info(),
            #[cfg(test)]
            Link::Virtual(socket) => Some(socket.tcp_info()),
            _ => None,
        }
    }

    /// Its own address; `None`: it is not TCP, or the kernel does not tell.
    pub(crate) fn local_address(&self) -> Option<SocketAddr> {
        match self.carrier() {
            Link::Tcp(tcp) => tcp.stream.local_addr().ok(),
            Link::Ring(socket) => socket.local_address(),
            _ => None,
        }
    }

    /// Who is at the other end. A system call.
    pub(crate) fn peer(&self) -> Peer {
        let address = match self.carrier() {
            Link::Tcp(tcp) => tcp.stream.peer_addr().ok(),
            Link::Ring(socket) => socket.peer_address(),
            _ => None,
        };
        let peer = Peer { address, ..Peer::default() };
        match self {
            Link::Tls(stream) => peer.secured(stream.get_ref().1),
            _ => peer,
        }
    }

    /// Whether the peer's kernel has acknowledged more than the first `bytes` of what was written;
    /// `None`: this kernel does not tell.
    pub(crate) fn acknowledged_beyond(&self, bytes: u64) -> Option<bool> {
        self.tcp_info().map(|info| info.acknowledged() > bytes)
    }

    /// Segments that were lost and that this side had to send again, beyond the most that there had been before, which are
    /// `before` and are set anew: one that turns out to have been sent again for nothing is counted once at most. 0 where the kernel
    /// does not tell.
    pub(crate) fn newly_retransmitted(&self, before: &mut u32) -> u32 {
        let all = self.tcp_info().map_or(0, |info| info.retransmitted());
        let new = all.saturating_sub(*before);
        *before += new;
        new
    }
}

/// Reads what there is from a stream of tokio's.
fn read(
    stream: Pin<&mut impl AsyncRead>,
    cx: &mut Context<'_>,
    buffer: &mut [u8],
) -> Poll<io::Result<usize>> {
    let mut buffer = ReadBuf::new(buffer);
    ready!(stream.poll_read(cx, &mut buffer))?;
    Poll::Ready(Ok(buffer.filled().len()))
}

/// A link with tokio's traits, as the TLS library wants it. They do not pass on how old bytes are.
pub(crate) struct TokioIo {
    link: Link,
    /// When the kernel had got the bytes that were read last, in ns since 1970; 0: it did not say.
    stamp_ns: u64,
}

impl From<Link> for TokioIo {
    fn from(link: Link) -> Self {
        TokioIo { link, stamp_ns: 0 }
    }
}

impl AsyncRead for TokioIo {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let TokioIo { link, stamp_ns } = self.get_mut();
        let read = ready!(link.poll_read(cx, buffer.initialize_unfilled(), false))?;
        buffer.advance(read.bytes);
        // The end may come with the last bytes that TLS has to give, and has no stamp.
        if read.bytes > 0 {
            *stamp_ns = read.stamp_ns;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for TokioIo {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().link.poll_write(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().link.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().link.poll_shutdown(cx)
    }
}
