//! Reading and writing a TCP socket with nothing between the program and the system call.
//!
//! On Linux the calls are made without the C library, whose `send` and `recv` are points at which a
//! thread can be cancelled and pay for that at each call: about 3 % of a request. Elsewhere tokio's
//! own are used.

use std::io;
use std::task::{Context, Poll};

use tokio::net::TcpStream;

#[cfg(target_os = "linux")]
use std::{fs::File, os::fd::AsFd, task::ready};

/// Bytes that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Read {
    /// How many; 0: the other side has closed.
    pub bytes: usize,
    /// How long before, in ns, the kernel had got the last of them, if it said so.
    pub ago_ns: Option<u64>,
}

/// Reads what there is.
#[cfg(target_os = "linux")]
pub(crate) fn poll_read(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    buffer: &mut [u8],
) -> Poll<io::Result<Read>> {
    loop {
        ready!(stream.poll_read_ready(cx))?;
        let mut partial = None;
        let tried = stream.try_io(tokio::io::Interest::READABLE, || {
            let (bytes, ago_ns) = crate::stamp::recv(stream, buffer)?;
            let read = Read { bytes, ago_ns };
            if bytes == 0 || bytes == buffer.len() {
                return Ok(read);
            }
            // A read that does not fill the buffer has emptied the socket: as its events come at
            // edges (epoll(7), question 9), the next read need not be tried before the next event.
            partial = Some(read);
            Err(io::ErrorKind::WouldBlock.into())
        });
        match (partial, tried) {
            (Some(read), _) => return Poll::Ready(Ok(read)),
            (None, Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            (None, result) => return Poll::Ready(result),
        }
    }
}

/// Writes as much as it takes.
#[cfg(target_os = "linux")]
pub(crate) fn poll_write(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    bytes: &[u8],
) -> Poll<io::Result<usize>> {
    use rustix::net::{SendFlags, send};
    loop {
        ready!(stream.poll_write_ready(cx))?;
        let sent = stream.try_io(tokio::io::Interest::WRITABLE, || {
            Ok(send(stream, bytes, SendFlags::NOSIGNAL)?)
        });
        match sent {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            result => return Poll::Ready(result),
        }
    }
}

/// Lets the kernel send up to `most` bytes of a file from where it stands (sendfile(2)).
#[cfg(target_os = "linux")]
pub(crate) fn poll_send_file(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    file: &File,
    most: u64,
) -> Poll<io::Result<usize>> {
    loop {
        ready!(stream.poll_write_ready(cx))?;
        let sent = stream.try_io(tokio::io::Interest::WRITABLE, || send_file(stream, file, most));
        match sent {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            result => return Poll::Ready(result),
        }
    }
}

/// Sends a part of a file on a socket that does not block.
#[cfg(target_os = "linux")]
pub(crate) fn send_file(socket: impl AsFd, file: &File, most: u64) -> io::Result<usize> {
    /// So much at a time, so that one user does not keep its worker from the others.
    const PART: u64 = 1 << 20;
    Ok(rustix::fs::sendfile(socket, file, None, most.min(PART) as usize)?)
}

/// Reads what there is.
#[cfg(not(target_os = "linux"))]
pub(crate) fn poll_read(
    stream: &mut TcpStream,
    cx: &mut Context<'_>,
    buffer: &mut [u8],
) -> Poll<io::Result<Read>> {
    use tokio::io::{AsyncRead, ReadBuf};
    let mut buffer = ReadBuf::new(buffer);
    let read = std::pin::Pin::new(stream).poll_read(cx, &mut buffer);
    read.map_ok(|()| Read { bytes: buffer.filled().len(), ago_ns: None })
}

/// Writes as much as it takes.
#[cfg(not(target_os = "linux"))]
pub(crate) fn poll_write(
    stream: &mut TcpStream,
    cx: &mut Context<'_>,
    bytes: &[u8],
) -> Poll<io::Result<usize>> {
    tokio::io::AsyncWrite::poll_write(std::pin::Pin::new(stream), cx, bytes)
}
