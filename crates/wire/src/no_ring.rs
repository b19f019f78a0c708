//! What `ring/` is on Linux, for systems without io_uring: types that have no values, so that whoever asks
//! for a ring is told that there is none, and all that follows from having one is never reached.

use std::fs::File;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::net::TcpSocket;
use tokio::runtime::Runtime;

use crate::client::Client;
use crate::event_loop::LoopOwner;
use crate::link::{Idle, Read, Sent};
use crate::progress::Clock;
use crate::sys::TcpInfo;

/// Wakes an event loop: tokio's own waker serves.
#[derive(Debug)]
pub struct LoopWaker(());

impl LoopWaker {
    /// A waker for one loop.
    ///
    /// # Errors
    /// None here.
    pub fn new() -> io::Result<Arc<LoopWaker>> {
        Ok(Arc::new(LoopWaker(())))
    }
}

/// A ring: there is none.
pub(crate) enum Ring {}

impl Ring {
    pub(crate) fn new(_: Clock, _: Option<Arc<LoopWaker>>) -> io::Result<Ring> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[cfg(test)]
    pub(crate) fn submit(&self) {
        match *self {}
    }

    pub(crate) fn wake_next_turn(&self, _: &Waker) {
        match *self {}
    }

    pub(crate) fn release_closed(&self) -> bool {
        match *self {}
    }
}

/// A worker's event loop in a ring.
pub(crate) fn run_loop<F: Future>(
    _: &Runtime,
    _: &Client,
    ring: &Rc<Ring>,
    _: &Arc<LoopWaker>,
    _: &impl LoopOwner,
    _: F,
) -> F::Output {
    match **ring {}
}

/// A socket of a ring.
pub(crate) enum Socket {}

impl Socket {
    pub(crate) async fn connect(
        ring: &Rc<Ring>,
        _: TcpSocket,
        _: SocketAddr,
    ) -> io::Result<Socket> {
        match **ring {}
    }

    pub(crate) fn begin(&self) {
        match *self {}
    }

    pub(crate) fn rest(&self) {
        match *self {}
    }

    #[cfg(test)]
    pub(crate) fn await_arrival(&self) {
        match *self {}
    }

    pub(crate) fn idle(&self, _: &mut [u8]) -> io::Result<Idle> {
        match *self {}
    }

    pub(crate) fn sent(&self) -> Option<Sent> {
        match *self {}
    }

    pub(crate) fn poll_read(&self, _: &mut Context<'_>, _: &mut [u8]) -> Poll<io::Result<Read>> {
        match *self {}
    }

    pub(crate) fn ago_ns(&self, _: Read, _: u64) -> Option<u64> {
        match *self {}
    }

    pub(crate) fn poll_read_large(
        &self,
        _: &mut Context<'_>,
        _: &mut [u8],
    ) -> Poll<io::Result<Read>> {
        match *self {}
    }

    pub(crate) fn try_read(&self, _: &mut [u8]) -> Option<io::Result<usize>> {
        match *self {}
    }

    pub(crate) fn poll_write(
        &self,
        _: &mut Context<'_>,
        _: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match *self {}
    }

    pub(crate) fn written(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn tcp_info(&self) -> Option<TcpInfo> {
        match *self {}
    }

    pub(crate) fn poll_send_file(
        &self,
        _: &mut Context<'_>,
        _: &File,
        _: u64,
    ) -> Poll<io::Result<usize>> {
        match *self {}
    }

    pub(crate) fn poll_discard(
        &self,
        _: &mut Context<'_>,
        _: u64,
    ) -> Poll<Option<io::Result<usize>>> {
        match *self {}
    }

    pub(crate) fn local_address(&self) -> Option<SocketAddr> {
        match *self {}
    }

    pub(crate) fn reset_on_close(&self) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn shutdown(&self) -> io::Result<()> {
        match *self {}
    }
}
