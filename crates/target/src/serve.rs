//! The loop of a connection. Its fast path: one read, every request in it answered into one buffer, one write. Its slow
//! path: one [`Exchange`] after the other.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use crate::conn::{Conn, Next};
use crate::exchange::{Exchange, Fault};
use crate::home::HomePage;
use crate::http::Refusal;
use crate::http::head::{self, BodyLength, Head, Parsed};
use crate::http::response::{Persistence, Response};
use crate::routes::{self, Call, Handler};
use crate::worker::{Scratch, Worker};

/// Responses to pipelined requests are sent once they amount to this many bytes.
const OUT_LIMIT: usize = 256 * 1024;

/// A head that has begun is answered with 408 if it is not complete by then, so that heads that idle do not
/// hold connections for ever. A connection between two requests may wait as long as it likes.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long, and for how many bytes, we listen to a client whom we have told that we close.
const LINGER_TIME: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 16 << 20;

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
            Ok(Next::Exchange) => Box::pin(answer_slowly(&mut conn)).await,
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
    fn answer_all(&mut self, home: &mut HomePage) -> Next {
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
        let (handler, call) = routes::find(head, self.worker);
        self.response.clear();
        match handler {
            Handler::Head(handle) => handle(&call, self.response),
            Handler::Body(handle) => handle(&call, body, self.response),
            Handler::Stream(_) | Handler::Raw(_) => return None,
        }
        let persistence = Persistence::of(head.keep_alive, head.http_10);
        self.response.render(self.out, head.method == "HEAD", persistence, date);
        Some(body.len())
    }
}

/// Answers the request at the start of the connection's carry.
async fn answer_slowly(conn: &mut Conn) -> io::Result<Next> {
    let raw = conn.take_carry();
    // The fast path has parsed these bytes already.
    let Ok(Parsed::Complete(head, length)) = head::parse(&raw) else { return Ok(Next::Close) };
    conn.store_carry(&raw[length..]);
    conn.requests += 1;
    conn.worker().counters().requests.add(1);
    let worker = conn.shared_worker();
    let (handler, call) = routes::find(&head, &worker);
    let mut exchange = Exchange::new(conn, &head);
    let mut done = handle(handler, &call, &mut exchange).await;
    if let Err(Fault::BadRequest(reason)) = &done {
        let mut response = Response::default();
        response.error(400, format_args!("{reason}"));
        done = exchange.respond(&response).await;
    }
    match done {
        Ok(()) => exchange.end(),
        Err(Fault::Io(error)) => Err(error),
        Err(Fault::HangUp | Fault::BadRequest(_)) => Ok(Next::Close),
        Err(Fault::Refused(refusal)) => exchange.refuse(refusal).await,
    }
}

async fn handle(
    handler: Handler,
    call: &Call<'_>,
    exchange: &mut Exchange<'_>,
) -> Result<(), Fault> {
    let mut response = Response::new(200);
    match handler {
        Handler::Head(handle) => {
            exchange.read_body(|_| Ok(())).await?;
            handle(call, &mut response);
        }
        Handler::Body(handle) => {
            // Until the response is sent, which may be as large.
            let mut held = call.worker.site.hold_bodies();
            let body = exchange.whole_body(&mut held).await?;
            handle(call, &body, &mut response);
            drop(body);
            return exchange.respond(&response).await;
        }
        Handler::Stream(handle) => {
            exchange.read_body(|_| Ok(())).await?;
            return handle(call, exchange).await;
        }
        Handler::Raw(handle) => return handle(call, exchange).await,
    }
    exchange.respond(&response).await
}

/// Whether this is the request that most benchmarks send, whose response is prepared.
fn is_plain_home(head: &Head<'_>) -> bool {
    head.path == "/" && head.method == "GET" && head.keep_alive && !head.http_10 && !head.has_body()
}
