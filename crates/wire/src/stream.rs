//! The byte stream under a connection: TCP, a Unix socket, or TLS over one of them.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

use crate::direct::{self, Read};

/// A byte stream.
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<TlsStream<Plain>>),
}

/// What TLS runs over.
pub(crate) enum Plain {
    /// With the age of what was read last, see [`Read::ago_ns`]: TLS does not pass it on.
    Tcp(TcpStream, Option<u64>),
    Unix(UnixStream),
}

impl From<Plain> for Stream {
    fn from(plain: Plain) -> Self {
        match plain {
            Plain::Tcp(stream, _) => Stream::Tcp(stream),
            Plain::Unix(stream) => Stream::Unix(stream),
        }
    }
}

impl Stream {
    /// Reads what there is.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<Read>> {
        match self {
            Stream::Tcp(stream) => direct::poll_read(stream, cx, buffer),
            Stream::Unix(stream) => {
                let bytes = ready!(read(Pin::new(stream), cx, buffer))?;
                Poll::Ready(Ok(Read { bytes, ago_ns: None }))
            }
            Stream::Tls(stream) => {
                stream.get_mut().0.forget_age();
                let bytes = ready!(read(Pin::new(&mut **stream), cx, buffer))?;
                Poll::Ready(Ok(Read { bytes, ago_ns: stream.get_ref().0.age() }))
            }
        }
    }

    /// Writes as much as it takes.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Stream::Tcp(stream) => direct::poll_write(stream, cx, bytes),
            Stream::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Tls(stream) => Pin::new(&mut **stream).poll_write(cx, bytes),
        }
    }

    /// Writes as much as it takes of several pieces.
    pub(crate) fn poll_write_vectored(
        &mut self,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self {
            Stream::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
            Stream::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
            Stream::Tls(stream) => Pin::new(&mut **stream).poll_write_vectored(cx, pieces),
        }
    }

    /// Sends what TLS may still hold back.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Tcp(_) | Stream::Unix(_) => Poll::Ready(Ok(())),
            Stream::Tls(stream) => Pin::new(&mut **stream).poll_flush(cx),
        }
    }

    /// Lets the kernel throw away up to `most` bytes that have arrived. `None`: this stream cannot.
    #[cfg(target_os = "linux")]
    pub(crate) fn poll_discard(
        &mut self,
        cx: &mut Context<'_>,
        most: u64,
    ) -> Poll<Option<io::Result<usize>>> {
        let Stream::Tcp(stream) = self else { return Poll::Ready(None) };
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
    /// How long before it was read the kernel had got what was read last, in ns.
    fn age(&self) -> Option<u64> {
        match self {
            Plain::Tcp(_, age) => *age,
            Plain::Unix(_) => None,
        }
    }

    fn forget_age(&mut self) {
        if let Plain::Tcp(_, age) = self {
            *age = None;
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
            Plain::Tcp(stream, age) => {
                let read = ready!(direct::poll_read(stream, cx, buffer.initialize_unfilled()))?;
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
            Plain::Tcp(stream, _) => Pin::new(stream).poll_write(cx, bytes),
            Plain::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Plain::Tcp(stream, _) => Pin::new(stream).poll_shutdown(cx),
            Plain::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
