//! One request and its response on the slow path: one that waits, streams, reads a large body, or breaks the protocol. A
//! handler drives its [`Exchange`] in order: read, wait, start, write, finish.

use std::future::poll_fn;
use std::io;
use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::conn::{Conn, Next};
use crate::http::Refusal;
use crate::http::body::BodyDecoder;
use crate::http::head::Head;
use crate::http::response::{Framing, Persistence, Response, is_bodiless};
use crate::site::bounded::ByteShare;
use crate::worker::Worker;

/// Most bytes of a body that a handler gets as a whole; beyond it the response is 413.
pub(crate) const BODY_LIMIT: usize = 1 << 20;

/// Most bytes of such bodies in memory at the same time, over all connections; beyond it the response is
/// 503. What is made of a body (an echo escapes it) is some times as long.
pub(crate) const BODIES_LIMIT: u64 = 64 << 20;

/// A body of which nothing comes for so long is answered with 408, so that bodies that idle do not hold
/// connections for ever. One that keeps coming may be as slow as it likes.
const BODY_IDLE_TIME: Duration =
    if cfg!(test) { Duration::from_secs(4) } else { Duration::from_secs(10) };

/// Small writes are gathered up to this many bytes.
const GATHER: usize = 16 * 1024;

/// Why an exchange ends before its response is complete.
#[derive(Debug)]
pub(crate) enum Fault {
    Io(io::Error),
    /// The request is refused; the client is told so if nothing has been sent yet.
    Refused(Refusal),
    /// The path or the query asks for what the route cannot give: 400, with the reason. Only before anything is sent.
    BadRequest(String),
    /// The handler wants the connection closed now, as it is.
    HangUp,
}

impl From<String> for Fault {
    fn from(reason: String) -> Self {
        Fault::BadRequest(reason)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Io(error)
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Fault::Refused(refusal)
    }
}

/// One request and its answer on the slow path.
pub(crate) struct Exchange<'c> {
    pub(crate) conn: &'c mut Conn,
    body: BodyDecoder,
    /// The client waits for `100 Continue`.
    owes_continue: bool,
    is_head: bool,
    http_10: bool,
    keep_alive: bool,
    progress: Progress,
    /// Gathered bytes that are not sent yet.
    out: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Waiting,
    Started(Framing),
    Finished,
}

impl<'c> Exchange<'c> {
    pub(crate) fn new(conn: &'c mut Conn, head: &Head<'_>) -> Self {
        Exchange {
            conn,
            body: BodyDecoder::new(head.body),
            owes_continue: head.expects_continue,
            is_head: head.method == "HEAD",
            http_10: head.http_10,
            keep_alive: head.keep_alive,
            progress: Progress::Waiting,
            out: Vec::new(),
        }
    }

    pub(crate) fn worker(&self) -> &Worker {
        self.conn.worker()
    }

    /// Whether the connection lives on after the response.
    pub(crate) fn end(&self) -> io::Result<Next> {
        let whole = self.progress == Progress::Finished && self.body.is_done();
        Ok(match (whole, self.keep_alive) {
            (true, true) => Next::Iteration,
            (true, false) => Next::Close,
            // Something of the request is unread.
            (false, _) => Next::Linger,
        })
    }

    pub(crate) async fn refuse(&mut self, refusal: Refusal) -> io::Result<Next> {
        if self.progress != Progress::Waiting {
            return Ok(Next::Close);
        }
        self.out.clear();
        let date = self.worker().date();
        Response::refused(refusal).render(&mut self.out, self.is_head, Persistence::Close, &date);
        self.conn.send(&self.out).await?;
        Ok(Next::Linger)
    }

    /// Reads the request's body to its end, run by run.
    pub(crate) async fn read_body(
        &mut self,
        mut sink: impl FnMut(&[u8]) -> Result<(), Refusal>,
    ) -> Result<(), Fault> {
        const IDLE: Refusal = Refusal::new(408, "the body of the request stopped coming");
        let worker = self.conn.shared_worker();
        let carry = self.conn.take_carry();
        let used = feed(&mut self.body, &carry, &mut sink)?;
        self.conn.store_carry(&carry[used..]);
        while !self.body.is_done() {
            if std::mem::take(&mut self.owes_continue) {
                self.conn.send(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
            }
            let body = &mut self.body;
            let mut look = |conn: &mut Conn, input: &[u8]| {
                if input.is_empty() {
                    return Err(Fault::HangUp);
                }
                let used = feed(body, input, &mut sink)?;
                conn.store_carry(&input[used..]);
                Ok(())
            };
            let read = poll_fn(|cx| self.conn.poll_look(cx, &mut look));
            worker.timers.within(BODY_IDLE_TIME, read).await.ok_or(IDLE)???;
        }
        Ok(())
    }

    /// The request's body as a whole, at most [`BODY_LIMIT`] bytes of it.
    pub(crate) async fn whole_body(&mut self, held: &mut ByteShare<'_>) -> Result<Vec<u8>, Fault> {
        const TOO_MANY: Refusal =
            Refusal::new(503, "bodies of more than 64 MiB are in memory already");
        const TOO_LARGE: Refusal = Refusal::new(413, "this route takes bodies of at most 1 MiB");
        let mut whole = Vec::new();
        if self.body.least_size() > BODY_LIMIT as u64 {
            return Err(TOO_LARGE.into());
        }
        self.read_body(|content| {
            if whole.len() + content.len() > BODY_LIMIT {
                return Err(TOO_LARGE);
            }
            if !held.grow(content.len() as u64, BODIES_LIMIT) {
                return Err(TOO_MANY);
            }
            whole.extend_from_slice(content);
            Ok(())
        })
        .await?;
        Ok(whole)
    }

    pub(crate) async fn sleep_until(&self, deadline: Instant) -> Result<(), Fault> {
        Ok(self.worker().timers.sleep_until(deadline).await?)
    }

    pub(crate) async fn sleep(&self, time: Duration) -> Result<(), Fault> {
        self.sleep_until(Instant::now() + time).await
    }

    pub(crate) async fn respond(&mut self, response: &Response) -> Result<(), Fault> {
        self.start(response, response.own_framing()).await?;
        self.write(&response.body).await?;
        self.finish("").await
    }

    /// Starts a response: its head. Chunks become a body until the close for a client that does
    /// not know them. The head leaves with what follows it, or with [`Exchange::flush`].
    pub(crate) async fn start(
        &mut self,
        response: &Response,
        framing: Framing,
    ) -> Result<(), Fault> {
        self.conn.wait_for_stall().await?;
        let framing = match framing {
            _ if is_bodiless(response.status) => Framing::Bodiless,
            Framing::Chunked if self.http_10 => Framing::UntilClose,
            other => other,
        };
        self.keep_alive &= framing != Framing::UntilClose;
        let date = self.worker().date();
        let persistence = Persistence::of(self.keep_alive, self.http_10);
        response.render_head(&mut self.out, framing, persistence, &date);
        self.progress = Progress::Started(framing);
        Ok(())
    }

    /// Sends a part of the body, framed as was said at the start.
    pub(crate) async fn write(&mut self, data: &[u8]) -> Result<(), Fault> {
        let Progress::Started(framing) = self.progress else { return Ok(()) };
        if self.is_head || framing == Framing::Bodiless || data.is_empty() {
            return Ok(());
        }
        if framing != Framing::Chunked {
            return self.send(data).await;
        }
        // Writing to a vector does not fail.
        let _ = write!(self.out, "{:x}\r\n", data.len());
        self.send(data).await?;
        self.send(b"\r\n").await
    }

    /// Ends the response, with these trailer lines if it is sent in chunks.
    pub(crate) async fn finish(&mut self, trailers: &str) -> Result<(), Fault> {
        if self.progress == Progress::Started(Framing::Chunked) && !self.is_head {
            self.out.extend_from_slice(b"0\r\n");
            self.out.extend_from_slice(trailers.as_bytes());
            self.out.extend_from_slice(b"\r\n");
        }
        self.progress = Progress::Finished;
        self.flush().await
    }

    /// Sends bytes as they are, instead of a response, or after one: for those who break the
    /// protocol.
    pub(crate) async fn raw(&mut self, data: &[u8]) -> Result<(), Fault> {
        self.progress = Progress::Finished;
        self.send(data).await?;
        self.flush().await
    }

    /// Makes the close a reset.
    pub(crate) fn reset_on_close(&self) -> Result<(), Fault> {
        Ok(self.conn.socket().reset_on_close()?)
    }

    pub(crate) async fn flush(&mut self) -> Result<(), Fault> {
        if !self.out.is_empty() {
            self.conn.send(&self.out).await?;
            self.out.clear();
        }
        Ok(())
    }

    async fn send(&mut self, data: &[u8]) -> Result<(), Fault> {
        if self.out.len() + data.len() <= GATHER {
            self.out.extend_from_slice(data);
            return Ok(());
        }
        self.flush().await?;
        if data.len() <= GATHER {
            self.out.extend_from_slice(data);
            return Ok(());
        }
        Ok(self.conn.send(data).await?)
    }
}

/// Decodes what there is of a body in `input`: so many bytes were part of it.
fn feed(
    body: &mut BodyDecoder,
    input: &[u8],
    sink: &mut impl FnMut(&[u8]) -> Result<(), Refusal>,
) -> Result<usize, Refusal> {
    let mut used = 0;
    while used < input.len() && !body.is_done() {
        let piece = body.decode(&input[used..])?;
        used += piece.consumed;
        if !piece.content.is_empty() {
            sink(piece.content)?;
        }
    }
    Ok(used)
}

#[cfg(test)]
mod tests;
