//! An exchange without a protocol of its own: bytes out, and bytes in up to an end that the caller names.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::task::{Context, Poll, ready};

use super::connection::Connection;
use super::framing::{BytesEnd, Framed, Framing};
use crate::client::Client;
use crate::error::{Delivery, Error};
use crate::intake::Intake;
use crate::link::Link;
use crate::message::{Expect, Response, Times};
use crate::progress::{Phase, Progress};
use crate::throttle::{receive_budget, send_budget};

/// What is sent, and what comes back.
#[derive(Debug, Clone, Copy)]
pub struct BytesOut<'a> {
    /// What is sent; maybe nothing.
    pub bytes: &'a [u8],
    /// Where what comes ends.
    pub end: BytesEnd,
    /// Whether what comes also ends where the other side closes; otherwise that is too early.
    pub ends_with_close: bool,
}

/// State of such an exchange.
struct Exchange<'a> {
    client: &'a Client,
    out: BytesOut<'a>,
    intake: Intake<'a>,
    progress: &'a Progress,
    /// How many bytes have been sent.
    written: usize,
    /// How many have come.
    received: u64,
    framing: Framing,
    /// Whether bytes that came before are looked for, which only a connection that was used can have.
    looks_back: bool,
    reads: u32,
    times: Times,
}

impl Connection {
    /// Sends bytes, and reads what comes up to its end, which `done` sees as a response of status 200 without a head. What
    /// had come before on the connection is the beginning of what is read.
    ///
    /// Dropping the future leaves the connection unusable.
    ///
    /// # Errors
    /// The connection broke, the other side closed it too early, or more came than may come. [`Error::delivery`] tells whether
    /// anything was sent.
    pub async fn exchange_bytes<'x, R>(
        &mut self,
        client: &'x Client,
        out: BytesOut<'x>,
        expect: Expect<'x>,
        progress: &'x Progress,
        done: impl FnOnce(&Response<'_>, Times) -> R,
    ) -> Result<R, Error> {
        let begin_ns = client.clock().now();
        let rested = self.begin(begin_ns);
        let _in_tokio = (!self.stream.is_in_ring()).then(|| client.in_tokio());
        self.stream.begin();
        progress.set(Phase::Send);
        let times = Times { sent_ns: begin_ns, ..Times::default() };
        let mut exchange = Exchange {
            client,
            out,
            intake: Intake::new(expect),
            progress,
            written: 0,
            received: 0,
            framing: Framing::new(out.end),
            looks_back: rested.is_some(),
            reads: 0,
            times,
        };
        let stream = &mut self.stream;
        let result = poll_fn(|cx| exchange.poll(cx, stream)).await;
        if let Err(error) = result {
            let delivery = match exchange.written {
                0 if exchange.received == 0 => Delivery::NotSent,
                _ => Delivery::Acknowledged,
            };
            return Err(error.after(delivery, rested));
        }
        self.end(exchange.times.end_ns, !exchange.framing.is_closed());
        progress.set(Phase::Idle);
        let response = Response {
            status: 200,
            head: b"",
            body: exchange.intake.kept(),
            body_bytes: exchange.intake.bytes(),
            body_length: exchange.intake.length(),
            bytes_in: exchange.received,
            bytes_out: exchange.written as u64,
            trailers: b"",
            sets_cookies: false,
            unsolicited_bytes: 0,
        };
        Ok(done(&response, exchange.times))
    }
}

impl Exchange<'_> {
    fn poll(&mut self, cx: &mut Context<'_>, stream: &mut Link) -> Poll<Result<(), Error>> {
        if std::mem::take(&mut self.looks_back) {
            self.look_back(stream)?;
        }
        match self.poll_send(cx, stream) {
            Poll::Ready(Ok(())) => {
                if self.progress.phase() == Phase::Send {
                    self.progress.set(Phase::FirstByte);
                }
            }
            Poll::Ready(Err(error)) => return Poll::Ready(Err(Error::io(&error))),
            Poll::Pending => {}
        }
        loop {
            if self.written == self.out.bytes.len() && self.framing.has_ended() {
                self.finish(stream);
                return Poll::Ready(Ok(()));
            }
            if self.framing.has_ended() {
                return Poll::Pending; // until the rest is sent
            }
            let most = ready!(receive_budget(self.intake.expect.throttle, cx));
            let client = self.client;
            let mut buffer = client.buffer();
            let room = self.framing.room().min(most).min(buffer.len());
            let read = ready!(stream.poll_read(cx, &mut buffer[..room], false));
            let read = read.map_err(|error| Error::io(&error))?;
            let ago = match self.intake.expect.throttle {
                None => stream.ago_ns(read, client.clock(), &client.looks),
                Some(_) => None,
            };
            self.take(ago, &buffer[..read.bytes], stream)?;
        }
    }

    /// Takes what has come since the last exchange on the connection.
    fn look_back(&mut self, stream: &mut Link) -> Result<(), Error> {
        let client = self.client;
        let mut buffer = client.buffer();
        let room = self.framing.room().min(buffer.len());
        if room == 0 {
            return Ok(());
        }
        match stream.try_read(&mut buffer[..room]) {
            None => Ok(()),
            Some(Ok(0)) => Err(Error::closed_idle()),
            Some(Ok(bytes)) => self.take(None, &buffer[..bytes], stream),
            Some(Err(error)) => Err(Error::io(&error)),
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, stream: &mut Link) -> Poll<io::Result<()>> {
        while self.written < self.out.bytes.len() {
            let most = ready!(send_budget(self.intake.expect.throttle, cx));
            let rest = &self.out.bytes[self.written..];
            let rest = IoSlice::new(&rest[..rest.len().min(most)]);
            let sent = ready!(stream.poll_write(cx, &[rest]))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.written += sent;
            self.progress.on_sent(sent);
            if let Some(throttle) = self.intake.expect.throttle {
                throttle.on_sent(sent);
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Takes what was read, `ago` ns after it had arrived, not beyond the end; nothing, if the other side has closed.
    fn take(&mut self, ago: Option<u64>, bytes: &[u8], stream: &Link) -> Result<(), Error> {
        self.stamp(ago, stream);
        if bytes.is_empty() {
            if self.out.end != BytesEnd::Close && !self.out.ends_with_close {
                return Err(Error::closed(self.received, true));
            }
            self.framing.close();
            return Ok(());
        }
        self.received += bytes.len() as u64;
        self.progress.on_received(bytes.len());
        self.progress.set(Phase::Body);
        if let Some(throttle) = self.intake.expect.throttle {
            throttle.on_received(bytes.len());
        }
        match self.framing.take(bytes) {
            Framed::Prefix => Ok(()),
            Framed::Announced(length) => self.intake.announce(length),
            Framed::Body => self.intake.take(bytes),
        }
    }

    /// Notes when what was read had arrived: by the kernel's stamp, unless that says that it was before what was sent or
    /// before what had come already.
    fn stamp(&mut self, ago: Option<u64>, stream: &Link) {
        self.reads += 1;
        if self.reads == 1
            && let Some(sent) = stream.sent()
        {
            self.times.sent_ns = sent.submitted_ns;
        }
        let now = self.client.clock().now();
        let earliest = self.times.sent_ns.max(self.times.end_ns);
        let arrived = ago.and_then(|ago| now.checked_sub(ago)).filter(|at| *at >= earliest);
        self.times.delay_ns = arrived.map(|at| now - at);
        self.times.end_ns = arrived.unwrap_or(now);
        if self.reads == 1 {
            self.times.first_byte_ns = self.times.end_ns;
            if let Some(sent) = stream.sent() {
                self.times.sent_ns = sent.sent_ns.min(self.times.first_byte_ns);
            }
        }
    }

    /// All has been sent, and all has come. If there was nothing to come, it is over when it was sent.
    fn finish(&mut self, stream: &Link) {
        if self.reads == 0 {
            self.stamp(None, stream);
        }
    }
}

#[cfg(test)]
mod tests;
