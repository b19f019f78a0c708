//! A TCP connection that tokio's event loop watches.

use std::fs::File;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;
use tokio::net::TcpStream;

use crate::arrivals::{Arrivals, Looks};
use crate::progress::Clock;
use crate::socket_facts::Read;
use crate::sys::{self, TcpInfo};

pub(crate) struct Tcp {
    pub stream: TcpStream,
    /// Bytes that the kernel has taken to send.
    pub written: u64,
    arrivals: Arrivals,
}

impl Tcp {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Tcp { stream, written: 0, arrivals: Arrivals::default() }
    }

    /// See [`crate::arrivals`].
    pub(crate) fn ago_ns(&mut self, read: Read, clock: &Clock, looks: &Looks) -> Option<u64> {
        let inflow = || TcpInfo::of(&self.stream).map(|info| info.inflow());
        let recent_ns = || looks.recent_ns(clock.now());
        self.arrivals.ago_ns(read.stamp_ns, clock.system_ns(), recent_ns, inflow)
    }

    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = ready!(match pieces {
            [piece] => sys::poll_write(&self.stream, cx, piece),
            _ => Pin::new(&mut self.stream).poll_write_vectored(cx, pieces),
        });
        self.written += *sent.as_ref().unwrap_or(&0) as u64;
        Poll::Ready(sent)
    }

    pub(crate) fn poll_send_file(
        &mut self,
        cx: &mut Context<'_>,
        file: &File,
        most: u64,
    ) -> Poll<io::Result<usize>> {
        let sent = ready!(sys::poll_send_file(&self.stream, cx, file, most));
        self.written += *sent.as_ref().unwrap_or(&0) as u64;
        Poll::Ready(sent)
    }
}
