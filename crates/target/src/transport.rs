//! A client's socket, plain or under TLS: four functions, whatever is below them.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::ServerConnection;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::server::TlsStream;

/// A socket without TLS.
pub(crate) enum Plain {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// What a connection reads from and writes to.
pub(crate) enum Transport {
    Plain(Plain),
    Tls(Box<TlsStream<Plain>>),
}

impl Transport {
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self {
            Transport::Plain(plain) => Pin::new(plain).poll_read(cx, buf),
            Transport::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }

    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Transport::Plain(plain) => Pin::new(plain).poll_write(cx, data),
            Transport::Tls(stream) => Pin::new(stream).poll_write(cx, data),
        }
    }

    /// Sends what TLS still holds; nothing for a plain socket.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Transport::Plain(_) => Poll::Ready(Ok(())),
            Transport::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    /// Says that nothing more will be sent.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Transport::Plain(plain) => Pin::new(plain).poll_shutdown(cx),
            Transport::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }

    /// Makes the close that follows a reset. A Unix socket knows no reset and just closes.
    pub(crate) fn reset_on_close(&self) -> io::Result<()> {
        match self.plain() {
            Plain::Tcp(stream) => SockRef::from(stream).set_linger(Some(Duration::ZERO)),
            Plain::Unix(_) => Ok(()),
        }
    }

    /// The client's address; `None` on a Unix socket.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        match self.plain() {
            Plain::Tcp(stream) => stream.peer_addr().ok(),
            Plain::Unix(_) => None,
        }
    }

    /// The TLS session, if there is one.
    pub(crate) fn tls(&self) -> Option<&ServerConnection> {
        match self {
            Transport::Plain(_) => None,
            Transport::Tls(stream) => Some(stream.get_ref().1),
        }
    }

    fn plain(&self) -> &Plain {
        match self {
            Transport::Plain(plain) => plain,
            Transport::Tls(stream) => stream.get_ref().0,
        }
    }
}

impl AsyncRead for Plain {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Plain::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Plain::Unix(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Plain {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Plain::Tcp(stream) => Pin::new(stream).poll_write(cx, data),
            Plain::Unix(stream) => Pin::new(stream).poll_write(cx, data),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Plain::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Plain::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
