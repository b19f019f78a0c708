//! One exchange: a request out, a response in. The path of every request, so it is kept short: one
//! write, one read, the response read in place in the worker's buffer.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::task::{Context, Poll, ready};

use crate::body::SourceFailed;
use crate::client::Client;
use crate::error::{Delivery, Error};
use crate::h1::{self, Head, Parsed, ResponseParser};
use crate::intake::Intake;
use crate::link::{Idle, Link};
use crate::message::{Expect, RequestBytes, Response, Times};
use crate::progress::{Phase, Progress};
use crate::throttle::Throttle;

/// Bytes of a streamed body that are read at a time.
const PIECE: usize = 64 << 10;
/// From how many bytes to come the kernel is asked to throw them away: below, the copy costs less.
const DISCARD_FROM: u64 = 64 << 10;

/// An open connection. Between exchanges it holds no buffer.
pub struct Connection {
    pub(crate) stream: Link,
    exchanges: u64,
    /// Segments that were sent again, when it was last looked at.
    retransmitted: u32,
    reusable: bool,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("exchanges", &self.exchanges).finish_non_exhaustive()
    }
}

impl Connection {
    pub(crate) fn new(stream: Link) -> Self {
        Connection { stream, exchanges: 0, retransmitted: 0, reusable: true }
    }

    /// Whether it may carry another request.
    pub fn reusable(&self) -> bool {
        self.reusable
    }

    /// Whether it has carried a request before.
    pub fn used(&self) -> bool {
        self.exchanges > 0
    }

    /// Segments that had to be sent again since this was last asked, those of connecting too; 0 where the
    /// system does not tell. A system call.
    pub fn newly_retransmitted(&mut self) -> u32 {
        let all = self.stream.retransmitted();
        all.saturating_sub(std::mem::replace(&mut self.retransmitted, all))
    }

    /// Sends a request and reads its response, which `done` reads in place.
    ///
    /// Dropping the future leaves the connection unusable.
    ///
    /// # Errors
    /// The connection broke, or what came is no response. [`Error::delivery`] tells how far the request
    /// had got, and [`Error::is_unsolicited`] whether a response to no request had come before it.
    pub async fn exchange<'x, R>(
        &mut self,
        client: &'x Client,
        request: RequestBytes<'x>,
        expect: Expect<'x>,
        progress: &'x Progress,
        done: impl FnOnce(&Response<'_>, Times) -> R,
    ) -> Result<R, Error> {
        self.reusable = false;
        let used = self.used();
        self.exchanges += 1;
        let _in_tokio = self.stream.needs_tokio().then(|| client.in_tokio());
        self.stream.begin();
        let before = self.stream.written();
        let mut exchange = Exchange::new(client, &self.stream, request, expect, progress);
        let mut done = Some(done);
        let result = poll_fn(|cx| exchange.poll(cx, &mut self.stream, &mut done)).await;
        match result {
            Ok((value, reusable)) => {
                self.reusable = reusable;
                Ok(value)
            }
            Err(error) => Err(error.after(exchange.delivery(&self.stream, before), used)),
        }
    }
}

/// State of an exchange.
struct Exchange<'a> {
    client: &'a Client,
    request: RequestBytes<'a>,
    intake: Intake<'a>,
    progress: &'a Progress,
    /// Bytes of the slices that have been written.
    written: usize,
    /// A piece of a streamed body that has been read and not yet written; it begins at the mark.
    piece: Vec<u8>,
    piece_at: usize,
    sending: bool,
    /// Nothing was sent yet: what has come up to now is no response to this request.
    idle: bool,
    parser: ResponseParser,
    /// The head, and the beginning of one that is not complete; empty while all is in one read.
    head: Vec<u8>,
    bytes_in: u64,
    bytes_out: u64,
    /// How often bytes were read: one read has one time.
    reads: u32,
    times: Times,
    /// Whether what came last was thrown away in the kernel.
    discards: bool,
    /// When the kernel last had nothing of a large body to throw away: what comes behind was not complete then.
    emptied_ns: u64,
}

impl<'a> Exchange<'a> {
    fn new(
        client: &'a Client,
        stream: &Link,
        request: RequestBytes<'a>,
        expect: Expect<'a>,
        progress: &'a Progress,
    ) -> Self {
        progress.set(Phase::Send);
        let sent_ns = if stream.tells_sent() { 0 } else { client.clock().now() };
        let times = Times { sent_ns, ..Times::default() };
        Exchange {
            client,
            parser: ResponseParser::new(request.is_head),
            request,
            intake: Intake::new(expect),
            progress,
            written: 0,
            piece: Vec::new(),
            piece_at: 0,
            sending: true,
            idle: true,
            head: Vec::new(),
            bytes_in: 0,
            bytes_out: 0,
            reads: 0,
            times,
            discards: false,
            emptied_ns: 0,
        }
    }

    fn poll<R>(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut Link,
        done: &mut Option<impl FnOnce(&Response<'_>, Times) -> R>,
    ) -> Poll<Result<(R, bool), Error>> {
        if std::mem::take(&mut self.idle) {
            match stream.idle(cx, &mut self.client.buffer()) {
                Ok(Idle::Quiet) => {}
                Ok(Idle::Closed) => return Poll::Ready(Err(Error::closed_idle())),
                Ok(Idle::Unsolicited) => return Poll::Ready(Err(Error::unsolicited())),
                Err(error) => return Poll::Ready(Err(Error::io(&error))),
            }
        }
        if self.sending {
            match self.poll_send(cx, stream) {
                Poll::Ready(Ok(())) => {
                    self.sending = false;
                    self.progress.set(Phase::FirstByte);
                }
                // The other side may have answered and closed before it took everything: its
                // response counts for more than the failed send. Not so if there is nothing more to
                // send: then the other side waits in vain.
                Poll::Ready(Err(error)) if self.bytes_out == 0 || SourceFailed::is(&error) => {
                    return Poll::Ready(Err(Error::io(&error)));
                }
                Poll::Ready(Err(_)) => self.sending = false,
                Poll::Pending => {}
            }
        }
        loop {
            let most = ready!(receive_budget(self.intake.expect.throttle, cx));
            if let Some(result) = ready!(self.poll_discard(cx, stream, most)) {
                result?;
                continue;
            }
            let mut buffer = self.client.buffer();
            let room = most.min(buffer.len());
            let room = &mut buffer[..room];
            let large = self.parser.plain_rest() >= DISCARD_FROM;
            let read = match large {
                true => stream.poll_read_large(cx, room),
                false => stream.poll_read(cx, room),
            };
            let read = match ready!(read) {
                Ok(read) => read,
                Err(error) => return Poll::Ready(Err(Error::io(&error))),
            };
            self.reads += 1;
            self.discards = false;
            self.times.delay_ns = read.ago_ns;
            let read = read.bytes;
            self.on_received(read);
            if self.bytes_in == 0 && read > 0 {
                let sent = stream.sent();
                if let Some(sent) = sent {
                    self.times.sent_ns = sent.submitted_ns;
                }
                self.times.first_byte_ns = self.arrived();
                if let Some(sent) = sent {
                    self.times.sent_ns = sent.sent_ns.min(self.times.first_byte_ns);
                } else if self.times.sent_ns == 0 {
                    // The other side spoke first.
                    self.times.sent_ns = self.times.first_byte_ns;
                }
                self.progress.set(Phase::Body);
            }
            self.bytes_in += read as u64;
            if read == 0 {
                if self.parser.closed() {
                    return Poll::Ready(self.finish(None, 0, done));
                }
                return Poll::Ready(Err(Error::closed(
                    self.bytes_in,
                    self.parser.head().is_some(),
                )));
            }
            if let Some(result) = self.take(&buffer[..read], done)? {
                return Poll::Ready(Ok(result));
            }
        }
    }
}

impl Exchange<'_> {
    /// How far the request had got when the exchange failed; `before`: what had been written on the
    /// connection when it began.
    fn delivery(&self, stream: &Link, before: Option<u64>) -> Delivery {
        let Some(before) = before else {
            return if self.bytes_out == 0 { Delivery::NotSent } else { Delivery::Acknowledged };
        };
        if stream.written() == Some(before) {
            return Delivery::NotSent;
        }
        match self.bytes_in == 0 && stream.acknowledged_beyond(before) == Some(false) {
            true => Delivery::Unacknowledged,
            false => Delivery::Acknowledged,
        }
    }

    /// So many bytes were read.
    fn on_received(&mut self, bytes: usize) {
        self.progress.on_received(bytes);
        if let Some(throttle) = self.intake.expect.throttle {
            throttle.on_received(bytes);
            // They had to wait until they were let in: it does not matter how long they sat there.
            self.times.delay_ns = None;
        }
    }

    /// So many bytes were written.
    fn on_sent(&mut self, bytes: usize) {
        self.bytes_out += bytes as u64;
        self.progress.on_sent(bytes);
        if let Some(throttle) = self.intake.expect.throttle {
            throttle.on_sent(bytes);
        }
    }

    /// When the bytes that were just read had arrived. A stamp from before the request was sent means
    /// that the system clock was set back, and is ignored; so is one from before there was a gap in front of
    /// the bytes, which then waited for a packet that was sent again. Two reads of one packet have one stamp, which
    /// comes out some ns apart each time that it is set against the clock.
    fn arrived(&mut self) -> u64 {
        let now = self.client.clock().now();
        let arrived = self.times.delay_ns.and_then(|delay| now.checked_sub(delay));
        let earliest = self.times.sent_ns.max(self.emptied_ns);
        match arrived.filter(|arrived| *arrived >= earliest) {
            Some(arrived) => arrived.max(self.times.first_byte_ns),
            None => {
                self.times.delay_ns = None;
                now
            }
        }
    }

    /// Reads a response from bytes that have just arrived. `Some`: it is complete.
    fn take<R>(
        &mut self,
        bytes: &[u8],
        done: &mut Option<impl FnOnce(&Response<'_>, Times) -> R>,
    ) -> Result<Option<(R, bool)>, Error> {
        if self.parser.head().is_some() {
            let used = self.take_body(bytes)?;
            if self.parser.is_done() {
                return self.finish(None, bytes.len() - used, done).map(Some);
            }
            return Ok(None);
        }
        if self.head.is_empty() {
            let result = self.take_head(bytes, done)?;
            if self.parser.head().is_none() {
                self.head = bytes.to_vec();
            }
            return Ok(result);
        }
        // The rare case: the head came in more than one piece.
        let mut held = std::mem::take(&mut self.head);
        held.extend_from_slice(bytes);
        let result = self.take_head(&held, done)?;
        if self.parser.head().is_none() {
            self.head = held;
        }
        Ok(result)
    }

    /// Reads the head from `bytes`, all that has arrived so far, and what follows it.
    fn take_head<R>(
        &mut self,
        bytes: &[u8],
        done: &mut Option<impl FnOnce(&Response<'_>, Times) -> R>,
    ) -> Result<Option<(R, bool)>, Error> {
        if is_tls_record(bytes) {
            return Err(Error::speaks_tls());
        }
        // No response of HTTP begins with it: the byte behind it decides.
        if matches!(bytes, [0x15 | 0x16]) {
            return Ok(None);
        }
        // The same request, prepared once, is at the same address each time.
        let request = self.request.slices[0].as_ptr().addr();
        let step = self.client.heads.borrow_mut().feed(&mut self.parser, request, bytes);
        let Parsed::Head { start, end } = step.map_err(Error::malformed)? else {
            return Ok(None);
        };
        let Some(facts) = self.parser.head().copied() else { return Ok(None) };
        if facts.folded {
            // Its header lines are put together: consumers need not know about folding.
            let unfolded = [&h1::unfold(&bytes[start..end]), &bytes[end..]].concat();
            return self.take_behind_head(facts, &unfolded, end - start, done);
        }
        self.take_behind_head(facts, &bytes[start..], end - start, done)
    }

    /// Takes what has come behind the head, which takes up the first `length` of `bytes`.
    fn take_behind_head<R>(
        &mut self,
        facts: Head,
        bytes: &[u8],
        length: usize,
        done: &mut Option<impl FnOnce(&Response<'_>, Times) -> R>,
    ) -> Result<Option<(R, bool)>, Error> {
        let (head, rest) = bytes.split_at(length);
        let plain = self.parser.plain_rest();
        if plain != u64::MAX {
            self.intake.announce(plain)?;
        }
        let undoes = !self.parser.is_done() && self.intake.undoes(&facts.codings);
        // The usual case: the whole body follows the head in the same read, and is used in place.
        if !undoes && plain <= rest.len() as u64 && self.parser.skip_whole() {
            let (body, behind) = rest.split_at(plain as usize);
            let kept = self.intake.take_whole(body)?;
            return self.finish(Some((head, kept)), behind.len(), done).map(Some);
        }
        if undoes {
            let named = |name: &[u8]| name.eq_ignore_ascii_case(b"content-encoding");
            let lines = h1::lines(head).filter(|(name, _)| named(name)).map(|(_, line)| line);
            let lines = lines.collect::<Vec<_>>().join(&b", "[..]);
            self.intake.undo(&facts.codings, &String::from_utf8_lossy(&lines))?;
        }
        let used = self.take_body(rest)?;
        if self.parser.is_done() {
            let body = self.intake.take_kept();
            return self.finish(Some((head, &body)), rest.len() - used, done).map(Some);
        }
        self.head = head.to_vec();
        Ok(None)
    }

    /// Reads from the body; returns how many bytes were used.
    fn take_body(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let Exchange { parser, intake, .. } = self;
        let mut taken = Ok(());
        let step = parser.feed(bytes, &mut |piece| {
            if taken.is_ok() {
                taken = intake.take(piece);
            }
        });
        let step = step.map_err(Error::malformed)?;
        taken?;
        match step {
            Parsed::Body(used) | Parsed::Done(used) => Ok(used),
            _ => Ok(0),
        }
    }

    /// The response is complete: shows it to `done`. `parts`: head and body, where they lie in the
    /// read buffer; `unread`: unsolicited bytes after the response.
    fn finish<R>(
        &mut self,
        parts: Option<(&[u8], &[u8])>,
        unread: usize,
        done: &mut Option<impl FnOnce(&Response<'_>, Times) -> R>,
    ) -> Result<(R, bool), Error> {
        self.times.end_ns = match self.reads {
            1 => self.times.first_byte_ns,
            _ => self.arrived(),
        };
        let (head, body) = parts.unwrap_or((&self.head, self.intake.kept()));
        let Some(facts) = self.parser.head() else {
            return Err(Error::closed(self.bytes_in, false));
        };
        self.intake.finish()?;
        let response = Response {
            status: facts.status,
            head,
            body,
            body_bytes: self.intake.bytes(),
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            sets_cookies: facts.sets_cookies,
            unsolicited_bytes: unread as u64,
        };
        let reusable = facts.keep_alive && unread == 0 && !self.sending;
        self.progress.set(Phase::Idle);
        // `done` is taken once: an exchange is over when it has been called.
        let Some(done) = done.take() else { return Err(Error::closed(0, false)) };
        Ok((done(&response, self.times), reusable))
    }

    /// Sends what is left to send.
    fn poll_send(&mut self, cx: &mut Context<'_>, stream: &mut Link) -> Poll<io::Result<()>> {
        let total: usize = self.request.slices.iter().map(|slice| slice.len()).sum();
        while self.written < total {
            let most = ready!(send_budget(self.intake.expect.throttle, cx));
            let sent = ready!(self.poll_slices(cx, stream, most))?;
            self.written += sent;
            self.on_sent(sent);
        }
        self.poll_stream(cx, stream)
    }

    /// One write of up to `most` bytes of the slices, from where the last one ended.
    fn poll_slices(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut Link,
        mut most: usize,
    ) -> Poll<io::Result<usize>> {
        let [first, second, third] = self.request.slices;
        if second.is_empty() && third.is_empty() {
            let rest = &first[self.written..];
            return stream.poll_write(cx, &rest[..rest.len().min(most)]);
        }
        let mut skip = self.written;
        let mut left = [IoSlice::new(&[]), IoSlice::new(&[]), IoSlice::new(&[])];
        for (slot, slice) in left.iter_mut().zip(self.request.slices) {
            let from = skip.min(slice.len());
            skip -= from;
            let length = (slice.len() - from).min(most);
            most -= length;
            *slot = IoSlice::new(&slice[from..from + length]);
        }
        stream.poll_write_vectored(cx, &left)
    }

    /// Sends a streamed body, a piece at a time.
    fn poll_stream(&mut self, cx: &mut Context<'_>, stream: &mut Link) -> Poll<io::Result<()>> {
        loop {
            let Some(source) = &mut self.request.stream else { return stream.poll_flush(cx) };
            let most = ready!(send_budget(self.intake.expect.throttle, cx));
            if self.piece_at == self.piece.len() {
                if let Some((file, left)) = source.file()
                    && let Some(sent) =
                        ready!(stream.poll_send_file(cx, file, left.min(most as u64)))
                {
                    let sent = sent?;
                    // Nothing: the file has become shorter, which the source says best when it is read.
                    if sent > 0 {
                        source.sent(sent as u64);
                        self.on_sent(sent);
                        continue;
                    }
                }
                self.piece.resize(PIECE, 0);
                let read = source.read(&mut self.piece).map_err(SourceFailed::wrap)?;
                self.piece.truncate(read);
                self.piece_at = 0;
                if read == 0 {
                    return stream.poll_flush(cx);
                }
            }
            let rest = &self.piece[self.piece_at..];
            let sent = ready!(stream.poll_write(cx, &rest[..rest.len().min(most)]))?;
            self.piece_at += sent;
            self.on_sent(sent);
        }
    }

    /// Throws away, in the kernel, up to `most` bytes of a large body that no consumer needs, all but its
    /// last byte: only what is read has a stamp. `None`: there is nothing to be thrown away in this way.
    fn poll_discard(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut Link,
        most: usize,
    ) -> Poll<Option<Result<(), Error>>> {
        let rest = self.parser.plain_rest();
        // Once begun it goes on to the last byte, of the body or of a chunk.
        let least = if self.discards { 2 } else { DISCARD_FROM };
        if self.intake.looks() || rest < least || rest == u64::MAX {
            return Poll::Ready(None);
        }
        let now = self.client.clock().now();
        let discarded = stream.poll_discard(cx, (rest - 1).min(most as u64));
        if self.discards && discarded.is_pending() {
            self.emptied_ns = now;
        }
        let discarded = match ready!(discarded) {
            None => return Poll::Ready(None),
            Some(Err(error)) => return Poll::Ready(Some(Err(Error::io(&error)))),
            Some(Ok(0)) => return Poll::Ready(Some(Err(Error::closed(self.bytes_in, true)))),
            Some(Ok(discarded)) => discarded as u64,
        };
        self.reads += 1;
        self.discards = true;
        self.on_received(discarded as usize);
        self.times.delay_ns = None;
        self.bytes_in += discarded;
        self.intake.skip(discarded);
        self.parser.skip(discarded);
        Poll::Ready(Some(Ok(())))
    }
}

/// How many bytes may be read now.
fn receive_budget(throttle: Option<&dyn Throttle>, cx: &mut Context<'_>) -> Poll<usize> {
    throttle.map_or(Poll::Ready(usize::MAX), |throttle| throttle.poll_receive_budget(cx))
}

/// How many bytes may be written now.
fn send_budget(throttle: Option<&dyn Throttle>, cx: &mut Context<'_>) -> Poll<usize> {
    throttle.map_or(Poll::Ready(usize::MAX), |throttle| throttle.poll_send_budget(cx))
}

/// Whether a response begins as an alert or a handshake of TLS does (RFC 8446, section 5.1): the answer of a
/// server that speaks TLS to a client that does not.
fn is_tls_record(bytes: &[u8]) -> bool {
    matches!(bytes, [0x15 | 0x16, 0x03, ..])
}

#[cfg(test)]
pub(crate) mod tests;
