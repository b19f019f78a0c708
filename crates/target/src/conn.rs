//! A client's connection: what is read from it and written to it. While it waits it holds no buffer.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::io::ReadBuf;

use crate::transport::Transport;
use crate::worker::{Open, READ_SIZE, Worker};

pub(crate) struct Conn {
    pub(crate) socket: Transport,
    open: Rc<Open>,
    /// Counts the connections of the server, from 1.
    pub(crate) id: u64,
    /// Requests answered, or being answered, on this connection.
    pub(crate) requests: u64,
    /// Bytes read and not yet dealt with; at most [`READ_SIZE`].
    pub(crate) carry: Vec<u8>,
    /// The carry has not been examined since it was stored.
    pub(crate) carry_is_fresh: bool,
    /// Until when the head in the carry has to be complete, if it has begun.
    pub(crate) head_due: Option<Instant>,
    /// Responses that the socket would not accept at once; empty when TLS has them all and only has
    /// to be flushed.
    pub(crate) unsent: Option<Vec<u8>>,
}

/// What follows an iteration of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Iteration,
    /// The request at the start of the carry waits, streams or misbehaves.
    Exchange,
    /// Nothing is answered before the stall is over.
    Stall,
    Close,
    /// The connection is over, but the client may still be sending.
    Linger,
}

impl Conn {
    pub(crate) fn new(socket: Transport, open: Rc<Open>, id: u64) -> Self {
        Conn {
            socket,
            open,
            id,
            requests: 0,
            carry: Vec::new(),
            carry_is_fresh: false,
            head_due: None,
            unsent: None,
        }
    }

    pub(crate) fn worker(&self) -> &Worker {
        &self.open.0
    }

    /// The worker, for longer than a borrow of the connection.
    pub(crate) fn shared_worker(&self) -> Rc<Worker> {
        self.open.0.clone()
    }

    pub(crate) fn socket(&self) -> &Transport {
        &self.socket
    }

    /// Puts what is there to be dealt with at the start of `read`: its length, 0 when the client
    /// has closed.
    pub(crate) fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        read: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let carried = self.carry.len();
        if self.carry_is_fresh {
            read[..carried].copy_from_slice(&self.take_carry());
            return Poll::Ready(Ok(carried));
        }
        let mut buf = ReadBuf::new(&mut read[carried..]);
        ready!(self.socket.poll_read(cx, &mut buf))?;
        let count = buf.filled().len();
        if count == 0 {
            return Poll::Ready(Ok(0));
        }
        self.worker().counters().bytes_in.add(count as u64);
        if carried > 0 {
            read[..carried].copy_from_slice(&self.take_carry());
        }
        Poll::Ready(Ok(carried + count))
    }

    /// Takes the bytes that were read and not dealt with.
    pub(crate) fn take_carry(&mut self) -> Vec<u8> {
        self.carry_is_fresh = false;
        std::mem::take(&mut self.carry)
    }

    /// Stores bytes that were read and not dealt with.
    pub(crate) fn store_carry(&mut self, rest: &[u8]) {
        debug_assert!(self.carry.is_empty() && rest.len() <= READ_SIZE);
        if !rest.is_empty() {
            self.carry = rest.to_vec();
            self.carry_is_fresh = true;
        }
    }

    /// Writes what the socket takes at once, and keeps the rest in `unsent`.
    pub(crate) fn send_now(&mut self, cx: &mut Context<'_>, mut data: &[u8]) -> io::Result<()> {
        while !data.is_empty() {
            match self.poll_send(cx, data) {
                Poll::Ready(written) => data = &data[written?..],
                Poll::Pending => {
                    self.unsent = Some(data.to_vec());
                    return Ok(());
                }
            }
        }
        match self.socket.poll_flush(cx) {
            Poll::Ready(flushed) => flushed,
            Poll::Pending => {
                self.unsent = Some(Vec::new());
                Ok(())
            }
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(self.socket.poll_write(cx, data))?;
        if written == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        self.worker().counters().bytes_out.add(written as u64);
        Poll::Ready(Ok(written))
    }

    pub(crate) async fn send_unsent(&mut self) -> io::Result<()> {
        let unsent = self.unsent.take().unwrap_or_default();
        self.send(&unsent).await
    }

    pub(crate) async fn send(&mut self, mut data: &[u8]) -> io::Result<()> {
        while !data.is_empty() {
            let written = poll_fn(|cx| self.poll_send(cx, data)).await?;
            data = &data[written..];
        }
        poll_fn(|cx| self.socket.poll_flush(cx)).await
    }

    /// Reads once into the shared buffer and lets `look` see it: an empty slice at the end.
    pub(crate) fn poll_look<T>(
        &mut self,
        cx: &mut Context<'_>,
        mut look: impl FnMut(&mut Self, &[u8]) -> T,
    ) -> Poll<io::Result<T>> {
        let worker = self.shared_worker();
        let mut scratch = worker.scratch.borrow_mut();
        let mut buf = ReadBuf::new(&mut scratch.read);
        ready!(self.socket.poll_read(cx, &mut buf))?;
        worker.counters().bytes_in.add(buf.filled().len() as u64);
        Poll::Ready(Ok(look(self, buf.filled())))
    }

    /// Reads and discards until the client closes or `limit` bytes have come.
    pub(crate) async fn discard(&mut self, limit: usize) -> io::Result<()> {
        self.take_carry();
        let mut left = limit;
        while left > 0 {
            match poll_fn(|cx| self.poll_look(cx, |_, input| input.len())).await? {
                0 => break,
                count => left = left.saturating_sub(count),
            }
        }
        Ok(())
    }

    pub(crate) async fn wait_for_stall(&mut self) -> io::Result<()> {
        while let Some(until) = self.worker().site.stall() {
            self.worker().timers.sleep_until(until).await?;
        }
        Ok(())
    }
}
