//! What `sys/` does on Linux, for systems that do not have it: with the libraries' own means, or not at all.

use std::fs::File;
use std::io;
use std::task::{Context, Poll, ready};

use tokio::net::{TcpSocket, TcpStream};

use crate::arrivals::Inflow;
use crate::link::Read;

/// Leaves it to `bind` to choose a port.
pub(crate) fn leave_port_to_connect(_: &TcpSocket) -> io::Result<()> {
    Ok(())
}

/// The system takes local ports in its own order.
pub(crate) fn ports_in_turn(_: &TcpSocket, _: (u16, u16)) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Arrivals have no stamps.
pub(crate) fn stamp_arrivals(_: &TcpSocket) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Bounds the window that a socket offers, before it is connected, by the size of its buffer.
pub(crate) fn bound_window(socket: &TcpSocket, bytes: u32) -> io::Result<()> {
    socket.set_recv_buffer_size(bytes)
}

/// What the kernel knows of a TCP connection: it does not tell.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TcpInfo {}

impl TcpInfo {
    pub(crate) fn of(_: &TcpStream) -> Option<TcpInfo> {
        None
    }

    pub(crate) fn handshake_ns(&self, _: u64) -> u64 {
        match *self {}
    }

    pub(crate) fn retransmitted(&self) -> u32 {
        match *self {}
    }

    pub(crate) fn inflow(&self) -> Inflow {
        match *self {}
    }

    pub(crate) fn acknowledged(&self) -> u64 {
        match *self {}
    }
}

/// Reads what there is.
pub(crate) fn poll_read(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    buffer: &mut [u8],
) -> Poll<io::Result<Read>> {
    loop {
        ready!(stream.poll_read_ready(cx))?;
        match stream.try_read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            result => return Poll::Ready(result.map(Read::unstamped)),
        }
    }
}

/// Writes as much as it takes.
pub(crate) fn poll_write(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    bytes: &[u8],
) -> Poll<io::Result<usize>> {
    loop {
        ready!(stream.poll_write_ready(cx))?;
        match stream.try_write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            result => return Poll::Ready(result),
        }
    }
}

/// The program has to read files itself.
pub(crate) fn poll_send_file(
    _: &TcpStream,
    _: &mut Context<'_>,
    _: &File,
    _: u64,
) -> Poll<Option<io::Result<usize>>> {
    Poll::Ready(None)
}

/// The program has to read what it throws away.
pub(crate) fn poll_discard(
    _: &TcpStream,
    _: &mut Context<'_>,
    _: u64,
) -> Poll<Option<io::Result<usize>>> {
    Poll::Ready(None)
}
