//! Reading and writing a TCP socket with nothing between the program and the system call.
//!
//! The calls are made without the C library, whose `send` and `recv` are points at which a thread can be
//! cancelled and pay for that at each call: about 3 % of a request.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::task::{Context, Poll, ready};

use rustix::net::{SendFlags, send};
use tokio::io::Interest;
use tokio::net::TcpStream;

use super::{discard, stamp};
use crate::socket_facts::Read;

pub(crate) fn poll_read(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    buffer: &mut [u8],
) -> Poll<io::Result<Read>> {
    loop {
        ready!(stream.poll_read_ready(cx))?;
        let mut partial = None;
        let tried = stream.try_io(Interest::READABLE, || {
            let read = stamp::recv(stream, buffer)?;
            if read.bytes == 0 || read.bytes == buffer.len() {
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

pub(crate) fn poll_write(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    bytes: &[u8],
) -> Poll<io::Result<usize>> {
    when_writable(stream, cx, || Ok(send(stream, bytes, SendFlags::NOSIGNAL)?))
}

/// Lets the kernel send up to `most` bytes of a file from where it stands (sendfile(2)).
pub(crate) fn poll_send_file(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    file: &File,
    most: u64,
) -> Poll<io::Result<usize>> {
    when_writable(stream, cx, || send_file(stream, file, most))
}

/// What a system call returns that is made once the socket takes bytes.
#[inline]
fn when_writable(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    mut call: impl FnMut() -> io::Result<usize>,
) -> Poll<io::Result<usize>> {
    loop {
        ready!(stream.poll_write_ready(cx))?;
        match stream.try_io(Interest::WRITABLE, &mut call) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            result => return Poll::Ready(result),
        }
    }
}

/// Lets the kernel throw away up to `most` bytes that have arrived.
pub(crate) fn poll_discard(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    most: u64,
) -> Poll<io::Result<usize>> {
    loop {
        ready!(stream.poll_read_ready(cx))?;
        match stream.try_io(Interest::READABLE, || discard(stream, most)) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            result => return Poll::Ready(result),
        }
    }
}

/// Sends a part of a file on a socket that does not block.
pub(crate) fn send_file(socket: impl AsFd, file: &File, most: u64) -> io::Result<usize> {
    /// So much at a time, so that one user does not keep its worker from the others.
    const PART: u64 = 1 << 20;
    Ok(rustix::fs::sendfile(socket, file, None, most.min(PART) as usize)?)
}
