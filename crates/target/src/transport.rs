//! A client's socket, plain or under TLS, or a stream of an HTTP/2 connection: four functions, whatever is below them.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::server::TlsStream;

pub(crate) enum Plain {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// What a connection reads from and writes to.
pub(crate) enum Transport {
    Plain(Plain),
    Tls(Box<TlsStream<Plain>>),
    /// The site's end of a pipe: one stream of a client that speaks HTTP/2.
    Piped(DuplexStream, Rc<Client>),
}

/// What is known of a client.
pub(crate) struct Client {
    /// Its address; `None` on a Unix socket.
    pub(crate) peer: Option<SocketAddr>,
    /// Its TLS session, if it has one.
    pub(crate) tls: Option<TlsSession>,
}

/// What is known of a TLS session.
#[derive(Clone)]
pub(crate) struct TlsSession {
    /// As in `TLSv1_3`.
    pub(crate) version: Option<String>,
    /// Whether an earlier session was resumed.
    pub(crate) resumed: bool,
    /// The server's name as the client said it.
    pub(crate) server_name: Option<String>,
    /// Length of the client's chain.
    pub(crate) client_certificates: usize,
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
            Transport::Piped(stream, _) => Pin::new(stream).poll_read(cx, buf),
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
            Transport::Piped(stream, _) => Pin::new(stream).poll_write(cx, data),
        }
    }

    /// Sends what TLS still holds; nothing for a plain socket.
    pub(crate) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Transport::Plain(_) | Transport::Piped(..) => Poll::Ready(Ok(())),
            Transport::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    /// Says that nothing more will be sent.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Transport::Plain(plain) => Pin::new(plain).poll_shutdown(cx),
            Transport::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
            Transport::Piped(stream, _) => Pin::new(stream).poll_shutdown(cx),
        }
    }

    /// Makes the close that follows a reset. A Unix socket and a stream of HTTP/2 know none and just close.
    pub(crate) fn reset_on_close(&self) -> io::Result<()> {
        match self.plain() {
            Some(Plain::Tcp(stream)) => SockRef::from(stream).set_linger(Some(Duration::ZERO)),
            Some(Plain::Unix(_)) | None => Ok(()),
        }
    }

    /// The client's address; `None` on a Unix socket.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        match self {
            Transport::Piped(_, client) => client.peer,
            _ => match self.plain()? {
                Plain::Tcp(stream) => stream.peer_addr().ok(),
                Plain::Unix(_) => None,
            },
        }
    }

    /// The TLS session, if there is one.
    pub(crate) fn tls(&self) -> Option<TlsSession> {
        match self {
            Transport::Plain(_) => None,
            Transport::Piped(_, client) => client.tls.clone(),
            Transport::Tls(stream) => {
                let tls = stream.get_ref().1;
                Some(TlsSession {
                    version: tls.protocol_version().map(|version| format!("{version:?}")),
                    resumed: tls.handshake_kind() == Some(rustls::HandshakeKind::Resumed),
                    server_name: tls.server_name().map(str::to_owned),
                    client_certificates: tls.peer_certificates().map_or(0, <[_]>::len),
                })
            }
        }
    }

    fn plain(&self) -> Option<&Plain> {
        match self {
            Transport::Plain(plain) => Some(plain),
            Transport::Tls(stream) => Some(stream.get_ref().0),
            Transport::Piped(..) => None,
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
