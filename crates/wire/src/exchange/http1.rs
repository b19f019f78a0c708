//! State of an exchange of HTTP/1.1: what it sends and reads next.

use std::task::{Context, Poll, ready};

use crate::body::SourceFailed;
use crate::client::Client;
use crate::error::{Delivery, Error};
use crate::h1::ResponseParser;
use crate::intake::Intake;
use crate::link::Link;
use crate::message::{Expect, RequestBytes, Response, Times};
use crate::progress::{Phase, Progress};
use crate::socket_facts::{Idle, Read};
use crate::throttle::receive_budget;

/// From how many bytes to come the kernel is asked to throw them away: below, the copy costs less.
pub(super) const DISCARD_FROM: u64 = 64 << 10;

pub(super) struct Exchange<'a> {
    pub client: &'a Client,
    pub request: RequestBytes<'a>,
    pub intake: Intake<'a>,
    pub progress: &'a Progress,
    /// Bytes of the slices that have been written.
    pub written: usize,
    /// A piece of a streamed body that has been read and not yet written; it begins at the mark.
    pub piece: Vec<u8>,
    pub piece_at: usize,
    pub sending: bool,
    /// Whether all of the request was sent.
    pub is_sent: bool,
    /// Nothing was sent yet: what has come up to now is no response to this request.
    pub idle: bool,
    pub parser: ResponseParser,
    /// The head, and the beginning of one that is not complete; empty while all is in one read.
    pub head: Vec<u8>,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// How often bytes were read: one read has one time.
    pub reads: u32,
    pub times: Times,
    /// When it began, by the system's clock, in ns since 1970.
    pub began_system_ns: u64,
    /// The response is complete and its body has to be decompressed: so many unsolicited bytes came after it.
    pub complete: Option<usize>,
    /// Whether what came last was thrown away in the kernel.
    pub discards: bool,
}

impl<'a> Exchange<'a> {
    pub(super) fn new(
        client: &'a Client,
        stream: &Link,
        request: RequestBytes<'a>,
        expect: Expect<'a>,
        progress: &'a Progress,
    ) -> Self {
        progress.set(Phase::Send);
        // Before the time of sending, so that less has never passed since then on the system's clock, unless that is set back.
        let began_system_ns = client.clock().system_ns();
        let sent_ns = if stream.is_in_ring() { 0 } else { client.clock().now() };
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
            is_sent: false,
            idle: true,
            head: Vec::new(),
            bytes_in: 0,
            bytes_out: 0,
            reads: 0,
            times,
            began_system_ns,
            complete: None,
            discards: false,
        }
    }

    /// What `done` made of the response, and whether the connection can be used again; `None`: the response is complete,
    /// and its body has to be decompressed.
    pub(super) fn poll<R>(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut Link,
        done: &mut Option<impl FnOnce(&Response<'_>, Times) -> R>,
    ) -> Poll<Result<Option<(R, bool)>, Error>> {
        if std::mem::take(&mut self.idle) {
            self.look_back(cx, stream)?;
        }
        if self.sending {
            self.send_on(cx, stream)?;
        }
        loop {
            let most = ready!(receive_budget(self.intake.expect.throttle, cx));
            if let Some(result) = ready!(self.poll_discard(cx, stream, most)) {
                result?;
                continue;
            }
            let mut buffer = self.client.buffer();
            let room = most.min(buffer.len());
            let is_large = self.parser.plain_rest() >= DISCARD_FROM;
            let read = ready!(stream.poll_read(cx, &mut buffer[..room], is_large));
            let read = read.map_err(|error| Error::io(&error))?;
            self.note_read(read, stream)?;
            if read.bytes == 0 {
                if self.parser.closed() {
                    return Poll::Ready(self.finish(None, 0, done));
                }
                let has_head = self.parser.head().is_some();
                return Poll::Ready(Err(Error::closed(self.bytes_in, has_head)));
            }
            let result = self.take(&buffer[..read.bytes], done)?;
            if result.is_some() || self.complete.is_some() {
                return Poll::Ready(Ok(result));
            }
        }
    }

    /// Nothing was sent yet: what has come up to now is no response.
    fn look_back(&self, cx: &mut Context<'_>, stream: &mut Link) -> Result<(), Error> {
        match stream.idle(cx, &mut self.client.buffer()) {
            Ok(Idle::Quiet) => Ok(()),
            Ok(Idle::Closed) => Err(Error::closed_idle()),
            Ok(Idle::Unsolicited) => Err(Error::unsolicited()),
            Err(error) => Err(Error::io(&error)),
        }
    }

    /// Sends as much as goes now.
    fn send_on(&mut self, cx: &mut Context<'_>, stream: &mut Link) -> Result<(), Error> {
        match self.poll_send(cx, stream) {
            Poll::Ready(Ok(())) => {
                (self.sending, self.is_sent) = (false, true);
                if let Some(written_ns) = &mut self.times.written_ns {
                    *written_ns = self.client.clock().now();
                }
                // A response may have begun before all was sent.
                if self.bytes_in == 0 {
                    self.progress.set(Phase::FirstByte);
                }
            }
            // The other side may have answered and closed before it took everything: its
            // response counts for more than the failed send. Not so if there is nothing more to
            // send: then the other side waits in vain.
            Poll::Ready(Err(error)) if self.bytes_out == 0 || SourceFailed::is(&error) => {
                return Err(Error::io(&error));
            }
            Poll::Ready(Err(_)) => self.sending = false,
            // It takes more than one write: when the last of them was is read from the clock.
            Poll::Pending => self.times.written_ns = Some(self.times.sent_ns),
        }
        Ok(())
    }

    /// Notes what was read just now: how much, and when it had arrived.
    fn note_read(&mut self, read: Read, stream: &mut Link) -> Result<(), Error> {
        self.reads += 1;
        self.discards = false;
        self.times.delay_ns = match self.intake.expect.throttle {
            None => stream.ago_ns(read, self.client.clock(), &self.client.looks),
            // They had to wait until they were let in: it does not matter how long they sat there.
            Some(_) => None,
        };
        self.on_received(read.bytes);
        if self.bytes_in == 0 && read.bytes > 0 {
            let sent = stream.sent();
            if let Some(sent) = sent {
                self.times.sent_ns = sent.submitted_ns;
            }
            if self.came_before(read.stamp_ns) {
                return Err(Error::unsolicited());
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
        self.bytes_in += read.bytes as u64;
        Ok(())
    }

    /// How far the request had got when the exchange failed; `before`: what had been written on the
    /// connection when it began.
    pub(super) fn delivery(&self, stream: &Link, before: Option<u64>) -> Delivery {
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
    pub(super) fn on_received(&mut self, bytes: usize) {
        self.progress.on_received(bytes);
        if let Some(throttle) = self.intake.expect.throttle {
            throttle.on_received(bytes);
        }
    }

    /// So many bytes were written.
    pub(super) fn on_sent(&mut self, bytes: usize) {
        self.bytes_out += bytes as u64;
        self.progress.on_sent(bytes);
        if let Some(throttle) = self.intake.expect.throttle {
            throttle.on_sent(bytes);
        }
    }

    /// Whether the first bytes, with their stamp, were in the kernel before the exchange began: they are no response to it. Not if the
    /// system clock was set back meanwhile. Where they are more than a segment the kernel puts those into one, with the stamp of
    /// the last: one that came behind the request hides the others.
    fn came_before(&self, stamp_ns: u64) -> bool {
        let sent_ns = self.times.sent_ns;
        if self.bytes_out == 0 || sent_ns == 0 {
            return self.bytes_out > 0;
        }
        if stamp_ns == 0 || stamp_ns >= self.began_system_ns {
            return false;
        }
        let since = self.client.clock().now().saturating_sub(sent_ns);
        self.client.clock().system_ns() >= self.began_system_ns + since
    }

    /// When the bytes that were just read had arrived. A stamp from before the request was sent means
    /// that the system clock was set back, and is ignored. Two reads of one packet have one stamp, which
    /// comes out some ns apart each time that it is set against the clock.
    pub(super) fn arrived(&mut self) -> u64 {
        let now = self.client.clock().now();
        let arrived = self.times.delay_ns.and_then(|delay| now.checked_sub(delay));
        match arrived.filter(|arrived| *arrived >= self.times.sent_ns) {
            Some(arrived) => arrived.max(self.times.first_byte_ns),
            None => {
                self.times.delay_ns = None;
                now
            }
        }
    }
}
