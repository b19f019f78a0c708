//! What carries bytes as they are: TCP in tokio or in the ring, or a Unix socket. Each operation is here
//! once; what of it differs between systems is behind [`crate::sys`] and [`crate::ring`].

use std::fs::File;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use crate::arrivals::Arrivals;
use crate::link::{Idle, Read, Sent, read, system_now_ns};
use crate::ring::Socket;
use crate::sys::{self, TcpInfo};

/// A TCP connection in tokio.
pub(crate) struct Tcp {
    stream: TcpStream,
    /// Bytes that the kernel has taken to send.
    written: u64,
    arrivals: Arrivals,
}

impl Tcp {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Tcp { stream, written: 0, arrivals: Arrivals::default() }
    }

    #[cfg(test)]
    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Counts what was written.
    fn count(&mut self, sent: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = sent {
            self.written += bytes as u64;
        }
        sent
    }
}

/// A byte stream without TLS.
pub(crate) enum Transport {
    Tcp(Tcp),
    Ring(Socket),
    Unix(UnixStream),
}

impl Transport {
    /// Reads what there is.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<Read>> {
        match self {
            Transport::Tcp(tcp) => sys::poll_read(&tcp.stream, cx, buffer),
            Transport::Ring(socket) => socket.poll_read(cx, buffer),
            Transport::Unix(stream) => {
                let bytes = ready!(read(Pin::new(stream), cx, buffer))?;
                Poll::Ready(Ok(Read::unstamped(bytes)))
            }
        }
    }

    /// How many ns ago what was just read could have been read first; `None`: the kernel did not say when it came.
    /// `recent_ns`: see [`Arrivals::ago_ns`].
    pub(crate) fn ago_ns(&mut self, read: Read, recent_ns: impl FnOnce() -> u64) -> Option<u64> {
        match self {
            Transport::Tcp(tcp) => {
                let inflow = || TcpInfo::of(&tcp.stream).map(|info| info.inflow());
                tcp.arrivals.ago_ns(read.stamp_ns, system_now_ns(), recent_ns, inflow)
            }
            Transport::Ring(socket) => socket.ago_ns(read, recent_ns),
            Transport::Unix(_) => None,
        }
    }

    /// Reads what there is of a large body.
    pub(crate) fn poll_read_large(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<Read>> {
        match self {
            Transport::Ring(socket) => socket.poll_read_large(cx, buffer),
            _ => self.poll_read(cx, buffer),
        }
    }

    /// Reads what is known to have arrived, without a system call if nothing has; `None`: nothing.
    pub(crate) fn try_read(&mut self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        let read = match self {
            Transport::Ring(socket) => return socket.try_read(buffer),
            Transport::Tcp(tcp) => tcp.stream.try_read(buffer),
            Transport::Unix(stream) => stream.try_read(buffer),
        };
        match read {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            read => Some(read),
        }
    }

    /// What is known of it between two exchanges.
    pub(crate) fn idle(&mut self, buffer: &mut [u8]) -> io::Result<Idle> {
        match self {
            Transport::Ring(socket) => socket.idle(buffer),
            _ => Ok(Idle::of(self.try_read(buffer).transpose()?)),
        }
    }

    /// Lets the kernel throw away up to `most` bytes that have arrived. `None`: this stream cannot.
    pub(crate) fn poll_discard(
        &mut self,
        cx: &mut Context<'_>,
        most: u64,
    ) -> Poll<Option<io::Result<usize>>> {
        match self {
            Transport::Tcp(tcp) => sys::poll_discard(&tcp.stream, cx, most),
            Transport::Ring(socket) => socket.poll_discard(cx, most),
            Transport::Unix(_) => Poll::Ready(None),
        }
    }

    /// Writes as much as it takes.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Transport::Tcp(tcp) => {
                let sent = sys::poll_write(&tcp.stream, cx, bytes);
                tcp.count(sent)
            }
            Transport::Ring(socket) => socket.poll_write(cx, &[IoSlice::new(bytes)]),
            Transport::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    /// Writes as much as it takes of several pieces.
    pub(crate) fn poll_write_vectored(
        &mut self,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [piece] = pieces {
            return self.poll_write(cx, piece);
        }
        match self {
            Transport::Tcp(tcp) => {
                let sent = Pin::new(&mut tcp.stream).poll_write_vectored(cx, pieces);
                tcp.count(sent)
            }
            Transport::Ring(socket) => socket.poll_write(cx, pieces),
            Transport::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
        }
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
            Transport::Tcp(tcp) => {
                let sent = ready!(sys::poll_send_file(&tcp.stream, cx, file, most));
                if let Some(Ok(bytes)) = sent {
                    tcp.written += bytes as u64;
                }
                Poll::Ready(sent)
            }
            Transport::Ring(socket) => socket.poll_send_file(cx, file, most).map(Some),
            Transport::Unix(_) => Poll::Ready(None),
        }
    }

    /// Sends no more.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Transport::Tcp(tcp) => Pin::new(&mut tcp.stream).poll_shutdown(cx),
            Transport::Ring(socket) => Poll::Ready(socket.shutdown()),
            Transport::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }

    /// An exchange begins: what is sent next is its first byte.
    pub(crate) fn begin(&self) {
        if let Transport::Ring(socket) = self {
            socket.begin();
        }
    }

    /// When the exchange's first byte was really sent, if that was not at once.
    pub(crate) fn sent(&self) -> Option<Sent> {
        match self {
            Transport::Ring(socket) => socket.sent(),
            _ => None,
        }
    }

    /// Bytes that it was given to send over TCP; `None`: it is no TCP connection.
    pub(crate) fn written(&self) -> Option<u64> {
        match self {
            Transport::Tcp(tcp) => Some(tcp.written),
            Transport::Ring(socket) => Some(socket.written()),
            Transport::Unix(_) => None,
        }
    }

    /// What the kernel knows of the TCP connection; `None`: it is none, or the kernel does not tell.
    pub(crate) fn tcp_info(&self) -> Option<TcpInfo> {
        match self {
            Transport::Tcp(tcp) => TcpInfo::of(&tcp.stream),
            Transport::Ring(socket) => socket.tcp_info(),
            Transport::Unix(_) => None,
        }
    }

    /// Its own address; `None`: it is not TCP, or the kernel does not tell.
    pub(crate) fn local_address(&self) -> Option<SocketAddr> {
        match self {
            Transport::Tcp(tcp) => tcp.stream.local_addr().ok(),
            Transport::Ring(socket) => socket.local_address(),
            Transport::Unix(_) => None,
        }
    }

    /// Makes the close a reset, which keeps no port in TIME_WAIT. A socket that cannot be set so closes as
    /// others do.
    pub(crate) fn reset_on_close(&self) {
        let _ = match self {
            Transport::Tcp(tcp) => tcp.stream.set_zero_linger(),
            Transport::Ring(socket) => socket.reset_on_close(),
            Transport::Unix(_) => Ok(()),
        };
    }

    /// Whether it waits in the ring, and not in tokio.
    pub(crate) fn is_in_ring(&self) -> bool {
        matches!(self, Transport::Ring(_))
    }
}

/// A transport with tokio's traits, as the TLS library wants it. They do not pass on how old bytes are.
pub(crate) struct TokioIo {
    pub transport: Transport,
    /// When the kernel had got what was read last, in ns since 1970; 0: it did not say.
    pub stamp_ns: u64,
}

impl From<Transport> for TokioIo {
    fn from(transport: Transport) -> Self {
        TokioIo { transport, stamp_ns: 0 }
    }
}

impl AsyncRead for TokioIo {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let TokioIo { transport, stamp_ns } = self.get_mut();
        let read = ready!(transport.poll_read(cx, buffer.initialize_unfilled()))?;
        buffer.advance(read.bytes);
        *stamp_ns = read.stamp_ns;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for TokioIo {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().transport.poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().transport.poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().transport.poll_shutdown(cx)
    }
}
