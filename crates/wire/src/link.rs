//! The byte stream under a connection: TCP, a Unix socket, or TLS over one of them.

use std::fs::File;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

use crate::direct::{self, Read};
#[cfg(target_os = "linux")]
use crate::ring::Socket;
#[cfg(target_os = "linux")]
use crate::sys::TcpInfo;

/// A TCP connection in tokio.
pub(crate) struct Tcp {
    stream: TcpStream,
    /// The age of what was read last, see [`Read::ago_ns`]: TLS does not pass it on.
    age: Option<u64>,
    /// Bytes that the kernel has taken to send.
    written: u64,
}

impl Tcp {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Tcp { stream, age: None, written: 0 }
    }

    /// Counts what was written.
    fn count(&mut self, sent: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = sent {
            self.written += bytes as u64;
        }
        sent
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
    /// Nothing has come.
    Quiet,
    /// The other side has closed it.
    Closed,
    /// Unsolicited bytes have arrived.
    Unsolicited,
}

/// A byte stream.
pub(crate) enum Link {
    Tcp(Tcp),
    #[cfg(target_os = "linux")]
    Ring(Socket),
    Unix(UnixStream),
    Tls(Box<TlsStream<Plain>>),
}

/// What TLS runs over.
pub(crate) enum Plain {
    Tcp(Tcp),
    /// With the age of what was read last.
    #[cfg(target_os = "linux")]
    Ring(Socket, Option<u64>),
    Unix(UnixStream),
}

impl From<Plain> for Link {
    fn from(plain: Plain) -> Self {
        match plain {
            Plain::Tcp(tcp) => Link::Tcp(tcp),
            #[cfg(target_os = "linux")]
            Plain::Ring(stream, _) => Link::Ring(stream),
            Plain::Unix(stream) => Link::Unix(stream),
        }
    }
}

impl Link {
    /// Reads what there is.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<Read>> {
        match self {
            Link::Tcp(Tcp { stream, .. }) => direct::poll_read(stream, cx, buffer),
            #[cfg(target_os = "linux")]
            Link::Ring(stream) => stream.poll_read(cx, buffer),
            Link::Unix(stream) => {
                let bytes = ready!(read(Pin::new(stream), cx, buffer))?;
                Poll::Ready(Ok(Read { bytes, ago_ns: None }))
            }
            Link::Tls(stream) => {
                stream.get_mut().0.forget_age();
                let bytes = ready!(read(Pin::new(&mut **stream), cx, buffer))?;
                Poll::Ready(Ok(Read { bytes, ago_ns: stream.get_ref().0.age() }))
            }
        }
    }

    /// Reads what there is of a large body.
    pub(crate) fn poll_read_large(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<Read>> {
        match self {
            #[cfg(target_os = "linux")]
            Link::Ring(stream) => stream.poll_read_large(cx, buffer),
            _ => self.poll_read(cx, buffer),
        }
    }

    /// Writes as much as it takes.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Link::Tcp(tcp) => {
                let Tcp { stream, .. } = tcp;
                let sent = direct::poll_write(stream, cx, bytes);
                tcp.count(sent)
            }
            #[cfg(target_os = "linux")]
            Link::Ring(stream) => stream.poll_write(cx, &[IoSlice::new(bytes)]),
            Link::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
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
            Link::Tcp(tcp) => {
                let sent = Pin::new(&mut tcp.stream).poll_write_vectored(cx, pieces);
                tcp.count(sent)
            }
            #[cfg(target_os = "linux")]
            Link::Ring(stream) => stream.poll_write(cx, pieces),
            Link::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
            Link::Tls(stream) => Pin::new(&mut **stream).poll_write_vectored(cx, pieces),
        }
    }

    /// Whether several pieces are better written at once than put together first.
    pub(crate) fn is_write_vectored(&self) -> bool {
        !matches!(self, Link::Tls(_))
    }

    /// Sends no more.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Link::Tcp(tcp) => Pin::new(&mut tcp.stream).poll_shutdown(cx),
            #[cfg(target_os = "linux")]
            Link::Ring(socket) => Poll::Ready(socket.shutdown()),
            Link::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
            Link::Tls(stream) => Pin::new(&mut **stream).poll_shutdown(cx),
        }
    }

    /// Lets the kernel send up to `most` bytes of a file from where it stands. `None`: this stream needs
    /// to see them.
    #[cfg(target_os = "linux")]
    pub(crate) fn poll_send_file(
        &mut self,
        cx: &mut Context<'_>,
        file: &File,
        most: u64,
    ) -> Poll<Option<io::Result<usize>>> {
        match self {
            Link::Tcp(tcp) => {
                let sent = direct::poll_send_file(&tcp.stream, cx, file, most);
                tcp.count(sent).map(Some)
            }
            Link::Ring(stream) => stream.poll_send_file(cx, file, most).map(Some),
            _ => Poll::Ready(None),
        }
    }

    /// Lets the kernel send up to `most` bytes of a file. `None`: this stream needs to see them.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn poll_send_file(
        &mut self,
        _: &mut Context<'_>,
        _: &File,
        _: u64,
    ) -> Poll<Option<io::Result<usize>>> {
        Poll::Ready(None)
    }

    /// Sends what TLS may still hold back.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Link::Tls(stream) => Pin::new(&mut **stream).poll_flush(cx),
            _ => Poll::Ready(Ok(())),
        }
    }

    /// An exchange begins.
    pub(crate) fn begin(&self) {
        #[cfg(target_os = "linux")]
        match self {
            Link::Ring(stream) => stream.begin(),
            Link::Tls(stream) => {
                if let Plain::Ring(stream, _) = stream.get_ref().0 {
                    stream.begin();
                }
            }
            _ => {}
        }
    }

    /// When its first byte was really sent, if that was not at once.
    pub(crate) fn sent(&self) -> Option<Sent> {
        #[cfg(target_os = "linux")]
        match self {
            Link::Ring(stream) => return stream.sent(),
            Link::Tls(stream) => {
                if let Plain::Ring(stream, _) = stream.get_ref().0 {
                    return stream.sent();
                }
            }
            _ => {}
        }
        None
    }

    /// Whether [`Link::sent`] will tell when something was sent.
    pub(crate) fn tells_sent(&self) -> bool {
        !self.needs_tokio()
    }

    /// What is known of it without a system call: what the event loop has seen up to now.
    pub(crate) fn idle(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> io::Result<Idle> {
        let read = match self {
            #[cfg(target_os = "linux")]
            Link::Ring(stream) => stream.try_read(buffer),
            Link::Tcp(tcp) => match tcp.stream.try_read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
                read => Some(read),
            },
            _ => match self.poll_read(cx, buffer) {
                Poll::Pending => None,
                Poll::Ready(read) => Some(read.map(|read| read.bytes)),
            },
        };
        Ok(match read.transpose()? {
            None => Idle::Quiet,
            Some(0) => Idle::Closed,
            Some(_) => Idle::Unsolicited,
        })
    }

    /// Bytes that it was given to send over TCP, TLS records and all; `None`: it is no TCP connection.
    pub(crate) fn written(&self) -> Option<u64> {
        match self {
            Link::Tcp(tcp) => Some(tcp.written),
            #[cfg(target_os = "linux")]
            Link::Ring(socket) => Some(socket.written()),
            Link::Unix(_) => None,
            Link::Tls(stream) => match stream.get_ref().0 {
                Plain::Tcp(tcp) => Some(tcp.written),
                #[cfg(target_os = "linux")]
                Plain::Ring(socket, _) => Some(socket.written()),
                Plain::Unix(_) => None,
            },
        }
    }

    /// What the kernel knows of the TCP connection; `None`: it is none, or the kernel does not tell.
    #[cfg(target_os = "linux")]
    pub(crate) fn tcp_info(&self) -> Option<TcpInfo> {
        match self {
            Link::Tcp(tcp) => TcpInfo::of(&tcp.stream),
            Link::Ring(socket) => socket.tcp_info(),
            Link::Unix(_) => None,
            Link::Tls(stream) => stream.get_ref().0.tcp_info(),
        }
    }

    /// Whether the peer's kernel has acknowledged more than the first `bytes` of what was written;
    /// `None`: this kernel does not tell.
    pub(crate) fn acknowledged_beyond(&self, bytes: u64) -> Option<bool> {
        #[cfg(target_os = "linux")]
        return self.tcp_info().map(|info| info.bytes_acked > bytes);
        #[cfg(not(target_os = "linux"))]
        {
            let _ = bytes;
            None
        }
    }

    /// Whether it needs tokio's event loop.
    pub(crate) fn needs_tokio(&self) -> bool {
        #[cfg(target_os = "linux")]
        match self {
            Link::Ring(_) => return false,
            Link::Tls(stream) => return !matches!(stream.get_ref().0, Plain::Ring(..)),
            _ => {}
        }
        true
    }

    /// Lets the kernel throw away up to `most` bytes that have arrived. `None`: this stream cannot.
    #[cfg(target_os = "linux")]
    pub(crate) fn poll_discard(
        &mut self,
        cx: &mut Context<'_>,
        most: u64,
    ) -> Poll<Option<io::Result<usize>>> {
        let stream = match self {
            Link::Tcp(tcp) => &tcp.stream,
            Link::Ring(stream) => return stream.poll_discard(cx, most),
            _ => return Poll::Ready(None),
        };
        loop {
            if let Err(error) = ready!(stream.poll_read_ready(cx)) {
                return Poll::Ready(Some(Err(error)));
            }
            let discarded = stream
                .try_io(tokio::io::Interest::READABLE, || crate::discard::discard(stream, most));
            match discarded {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(Some(result)),
            }
        }
    }

    /// Lets the kernel throw away up to `most` bytes that have arrived. `None`: this stream cannot.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn poll_discard(
        &mut self,
        _: &mut Context<'_>,
        _: u64,
    ) -> Poll<Option<io::Result<usize>>> {
        Poll::Ready(None)
    }
}

fn read(
    stream: Pin<&mut impl AsyncRead>,
    cx: &mut Context<'_>,
    buffer: &mut [u8],
) -> Poll<io::Result<usize>> {
    let mut buffer = ReadBuf::new(buffer);
    ready!(stream.poll_read(cx, &mut buffer))?;
    Poll::Ready(Ok(buffer.filled().len()))
}

impl Plain {
    /// As [`Link::tcp_info`].
    #[cfg(target_os = "linux")]
    pub(crate) fn tcp_info(&self) -> Option<TcpInfo> {
        match self {
            Plain::Tcp(tcp) => TcpInfo::of(&tcp.stream),
            Plain::Ring(socket, _) => socket.tcp_info(),
            Plain::Unix(_) => None,
        }
    }

    /// How long before it was read the kernel had got what was read last, in ns.
    fn age(&self) -> Option<u64> {
        match self {
            Plain::Tcp(tcp) => tcp.age,
            #[cfg(target_os = "linux")]
            Plain::Ring(_, age) => *age,
            Plain::Unix(_) => None,
        }
    }

    fn forget_age(&mut self) {
        match self {
            Plain::Tcp(tcp) => tcp.age = None,
            #[cfg(target_os = "linux")]
            Plain::Ring(_, age) => *age = None,
            Plain::Unix(_) => {}
        }
    }
}

impl AsyncRead for Plain {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Plain::Tcp(tcp) => {
                let room = buffer.initialize_unfilled();
                let Tcp { stream, .. } = tcp;
                let read = ready!(direct::poll_read(stream, cx, room))?;
                buffer.advance(read.bytes);
                tcp.age = read.ago_ns;
                Poll::Ready(Ok(()))
            }
            #[cfg(target_os = "linux")]
            Plain::Ring(stream, age) => {
                let read = ready!(stream.poll_read(cx, buffer.initialize_unfilled()))?;
                buffer.advance(read.bytes);
                *age = read.ago_ns;
                Poll::Ready(Ok(()))
            }
            Plain::Unix(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Plain {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Plain::Tcp(tcp) => {
                let sent = Pin::new(&mut tcp.stream).poll_write(cx, bytes);
                tcp.count(sent)
            }
            #[cfg(target_os = "linux")]
            Plain::Ring(stream, _) => stream.poll_write(cx, &[IoSlice::new(bytes)]),
            Plain::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Plain::Tcp(tcp) => Pin::new(&mut tcp.stream).poll_shutdown(cx),
            #[cfg(target_os = "linux")]
            Plain::Ring(stream, _) => Poll::Ready(stream.shutdown()),
            Plain::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
