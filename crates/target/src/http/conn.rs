//! A connection's loop and its fast path: one read, every request in it answered into one buffer,
//! one write. While a connection waits it holds no buffer.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::ReadBuf;

use super::head::{self, BodyLength, Head, Parsed};
use super::response::{Persistence, Response};
use super::{Refusal, exchange};
use crate::routes::{Call, Handler};
use crate::transport::Transport;
use crate::worker::{Open, READ_SIZE, Scratch, Worker};

/// Responses to pipelined requests are sent once they amount to this many bytes.
const OUT_LIMIT: usize = 256 * 1024;

/// A head that has begun is answered with 408 if it is not complete by then, so that heads that idle do not
/// hold connections for ever. A connection between two requests may wait as long as it likes.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long, and for how many bytes, we listen to a client whom we have told that we close.
const LINGER_TIME: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 16 << 20;

/// A client's connection.
pub(crate) struct Conn {
    socket: Transport,
    open: Rc<Open>,
    /// Counts the connections of the server, from 1.
    pub(crate) id: u64,
    /// Requests answered, or being answered, on this connection.
    pub(crate) requests: u64,
    /// Bytes read and not yet dealt with; at most [`READ_SIZE`].
    carry: Vec<u8>,
    /// The carry has not been examined since it was stored.
    carry_is_fresh: bool,
    /// Until when the head in the carry has to be complete, if it has begun.
    head_due: Option<Instant>,
    /// Responses that the socket would not accept at once; empty when TLS has them all and only has
    /// to be flushed.
    unsent: Option<Vec<u8>>,
}

/// What follows an iteration of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another iteration.
    Iteration,
    /// The request at the start of the carry waits, streams or misbehaves.
    Exchange,
    /// Nothing is answered before the stall is over.
    Stall,
    /// The connection is over.
    Close,
    /// The connection is over, but the client may still be sending.
    Linger,
}

/// Serves a connection until it ends. I/O errors end it silently: nobody could be told.
pub(crate) async fn serve(mut conn: Conn) {
    loop {
        let next = match conn.head_due {
            None => poll_fn(|cx| conn.poll_once(cx)).await,
            Some(due) => Box::pin(conn.rest_of_head(due)).await,
        };
        let next = match next {
            Ok(next) if conn.unsent.is_some() => conn.send_unsent().await.map(|()| next),
            other => other,
        };
        // The rare ways are boxed, so that a connection that waits is small.
        let next = match next {
            Ok(Next::Exchange) => Box::pin(exchange::run(&mut conn)).await,
            Ok(Next::Stall) => Box::pin(conn.wait_for_stall()).await.map(|()| Next::Iteration),
            other => other,
        };
        match next {
            Ok(Next::Iteration) => {}
            Ok(Next::Linger) => return Box::pin(conn.linger()).await,
            _ => return,
        }
    }
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

    /// The fast path: reads once, answers, writes once.
    fn poll_once(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Next>> {
        let worker = self.shared_worker();
        let mut scratch = worker.scratch.borrow_mut();
        let Scratch { read, out, response, home } = &mut *scratch;
        let filled = ready!(self.poll_fill(cx, read))?;
        if filled == 0 {
            return Poll::Ready(Ok(Next::Close));
        }
        // Both places of `poll_fill` fill at most the buffer.
        let input = &read[..filled];
        if worker.site.stall().is_some() {
            self.store_carry(input);
            return Poll::Ready(Ok(Next::Stall));
        }
        out.clear();
        let mut iteration = Iteration { worker: &worker, input, at: 0, out, response, answered: 0 };
        let next = iteration.answer_all(home);
        let (at, answered) = (iteration.at, iteration.answered);
        self.requests += answered;
        worker.counters().requests.add(answered);
        self.store_carry(&input[at..]);
        // Half a head need not be looked at again before more of it has come.
        self.carry_is_fresh &= next != Next::Iteration || out.len() > OUT_LIMIT;
        self.head_due = match self.carry.is_empty() || self.carry_is_fresh {
            true => None,
            false => self.head_due.filter(|_| answered == 0).or(Some(Instant::now() + HEAD_TIME)),
        };
        self.send_now(cx, out)?;
        out.shrink_to(2 * OUT_LIMIT);
        Poll::Ready(Ok(next))
    }

    /// An iteration while a head is incomplete, which is refused once it is late.
    async fn rest_of_head(&mut self, due: Instant) -> io::Result<Next> {
        const LATE: Refusal = Refusal::new(408, "the head of the request took too long");
        let worker = self.shared_worker();
        let left = due.saturating_duration_since(Instant::now());
        let iteration = poll_fn(|cx| self.poll_once(cx));
        if let Some(next) = worker.timers.within(left, iteration).await {
            return next;
        }
        let mut out = Vec::new();
        Response::refused(LATE).render(&mut out, false, Persistence::Close, &worker.date());
        self.send(&out).await?;
        Ok(Next::Linger)
    }

    /// Puts what is there to be dealt with at the start of `read`: its length, 0 when the client
    /// has closed.
    fn poll_fill(&mut self, cx: &mut Context<'_>, read: &mut [u8]) -> Poll<io::Result<usize>> {
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
    fn send_now(&mut self, cx: &mut Context<'_>, mut data: &[u8]) -> io::Result<()> {
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

    async fn send_unsent(&mut self) -> io::Result<()> {
        let unsent = self.unsent.take().unwrap_or_default();
        self.send(&unsent).await
    }

    /// Writes all of `data`.
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

    /// Waits until nothing is stalled.
    pub(crate) async fn wait_for_stall(&mut self) -> io::Result<()> {
        while let Some(until) = self.worker().site.stall() {
            self.worker().timers.sleep_until(until).await?;
        }
        Ok(())
    }

    /// Closes in such a way that a client that is still sending can read the response: a socket
    /// that is closed with bytes unread is reset, and the response is lost (RFC 9112, 9.6).
    async fn linger(mut self) {
        let worker = self.shared_worker();
        let goodbye = async {
            poll_fn(|cx| self.socket.poll_shutdown(cx)).await?;
            self.discard(LINGER_BYTES).await
        };
        // Whether it took its leave or not, the connection is over.
        let _ = worker.timers.within(LINGER_TIME, goodbye).await;
    }
}

/// One pass over what was read.
struct Iteration<'t> {
    worker: &'t Worker,
    input: &'t [u8],
    /// Up to here the input is dealt with.
    at: usize,
    out: &'t mut Vec<u8>,
    response: &'t mut Response,
    answered: u64,
}

impl Iteration<'_> {
    /// Answers request after request, as far as they are there and the fast path can.
    fn answer_all(&mut self, home: &mut crate::worker::HomePage) -> Next {
        let date = self.worker.date();
        while self.at < self.input.len() && self.out.len() <= OUT_LIMIT {
            let (head, length) = match head::parse(&self.input[self.at..]) {
                Ok(Parsed::Complete(head, length)) => (head, length),
                Ok(Parsed::Partial) => break,
                Err(refusal) => {
                    let response = Response::refused(refusal);
                    response.render(self.out, false, Persistence::Close, &date);
                    self.answered += 1;
                    self.at = self.input.len();
                    return Next::Linger;
                }
            };
            // A head ends within the input that it was parsed from.
            let rest = &self.input[self.at + length..];
            if is_plain_home(&head) {
                home.render(self.out, &date);
                self.at += length;
            } else if let Some(body) = self.answer(&head, rest, &date) {
                self.at += length + body;
            } else {
                return Next::Exchange;
            }
            self.answered += 1;
            if !head.keep_alive {
                self.at = self.input.len();
                return Next::Close;
            }
        }
        Next::Iteration
    }

    /// Answers one request if that can be done at once: the length of its body.
    fn answer(&mut self, head: &Head<'_>, rest: &[u8], date: &[u8]) -> Option<usize> {
        let BodyLength::Known(length) = head.body else { return None };
        let body = rest.get(..usize::try_from(length).ok()?)?;
        let call = Call::find(head, self.worker);
        self.response.clear();
        match call.route.handler {
            Handler::Head(handle) => handle(&call, self.response),
            Handler::Body(handle) => handle(&call, body, self.response),
            Handler::Stream(_) | Handler::Raw(_) => return None,
        }
        let persistence = Persistence::of(head.keep_alive, head.http_10);
        self.response.render(self.out, head.method == "HEAD", persistence, date);
        Some(body.len())
    }
}

/// Whether this is the request that most benchmarks send, whose response is prepared.
fn is_plain_home(head: &Head<'_>) -> bool {
    head.path == "/" && head.method == "GET" && head.keep_alive && !head.http_10 && !head.has_body()
}
