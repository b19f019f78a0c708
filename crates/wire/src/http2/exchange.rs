//! One request and its response on a stream of an HTTP/2 connection.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::client::ResponseFuture;
use h2::{RecvStream, SendStream};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, SET_COOKIE};

use super::failure::error;
use super::session::{Inner, Stream};
use super::state::{ConnectionState, Marks};
use crate::body::{BodySource, read_piece};
use crate::client::Client;
use crate::decompress::Codings;
use crate::error::{Delivery, Error};
use crate::http2_fields::{Fields, lines};
use crate::intake::Intake;
use crate::message::{Expect, RequestFields, Response, Times};
use crate::progress::{Phase, Progress};
use crate::throttle::Throttle;

impl Stream {
    /// Sends a request and reads its response, which `done` looks at. The stream carries no other.
    ///
    /// Dropping the future resets the stream; the connection goes on.
    ///
    /// # Errors
    /// The stream was reset, the connection broke, or what came is no response. [`Error::delivery`] tells
    /// how far the request had got.
    pub async fn exchange<'x, R>(
        &'x self,
        client: &'x Client,
        request: RequestFields<'x>,
        expect: Expect<'x>,
        progress: &'x Progress,
        done: impl FnOnce(&Response<'_>, Times) -> R,
    ) -> Result<R, Error> {
        let inner = &*self.0.0;
        let _in_tokio = inner.needs_tokio.then(|| client.in_tokio());
        progress.set(Phase::Send);
        let rested = self.rested_ns(client.clock().now());
        inner.state.begun.set(inner.state.begun.get() + 1);
        let mut exchange = match Exchange::begin(inner, request, expect, progress) {
            Ok(exchange) => exchange,
            Err(why) => {
                let error = error(&inner.state, why, &Marks::default(), None);
                return Err(error.after(Delivery::NotSent, rested));
            }
        };
        let result = poll_fn(|cx| exchange.poll(cx)).await;
        let marks = inner.state.marks(exchange.id);
        let read_ns = client.clock().now();
        let result = match result {
            Ok(()) => {
                progress.set(Phase::Decompress);
                client.decompress(&mut exchange.intake).await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            let refused = error.is_refused() || inner.state.refuses(exchange.id);
            let delivery = if refused { Delivery::NotSent } else { marks.delivery() };
            return Err(error.after(delivery, rested).with_status(exchange.status));
        }
        progress.set(Phase::Idle);
        Ok(exchange.show(&marks, [read_ns, client.clock().now()], done))
    }
}

struct Exchange<'a> {
    state: &'a ConnectionState,
    id: u32,
    upload: Option<Upload<'a>>,
    response: Option<ResponseFuture>,
    receive: Option<RecvStream>,
    intake: Intake<'a>,
    progress: &'a Progress,
    status: u16,
    /// The response's head as lines.
    head: Vec<u8>,
    trailers: Vec<u8>,
    sets_cookies: bool,
    is_head: bool,
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        if let Some(marks) = self.state.streams.borrow_mut().remove(&self.id) {
            self.progress.on_sent(marks.bytes_out as usize);
            self.progress.on_received(marks.bytes_in as usize);
        }
    }
}

impl<'a> Exchange<'a> {
    fn begin(
        inner: &'a Inner,
        request: RequestFields<'a>,
        expect: Expect<'a>,
        progress: &'a Progress,
    ) -> Result<Self, h2::Error> {
        let RequestFields { fields, body, stream } = request;
        let empty = body.is_empty() && stream.is_none();
        // A clone has a place of its own among those that wait to begin.
        let (response, send) = inner.requests.clone().send_request(fields.request(), empty)?;
        let id = response.stream_id().as_u32();
        inner.state.streams.borrow_mut().insert(id, Marks::default());
        let upload =
            (!empty).then(|| Upload { send, piece: Bytes::copy_from_slice(body), source: stream });
        Ok(Exchange {
            state: &inner.state,
            id,
            upload,
            response: Some(response),
            receive: None,
            intake: Intake::new(expect),
            progress,
            status: 0,
            head: Vec::new(),
            trailers: Vec::new(),
            sets_cookies: false,
            is_head: Fields::is_head(fields),
        })
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if let Some(upload) = &mut self.upload {
            match upload.poll(cx, self.intake.expect.throttle) {
                Poll::Ready(Ok(())) => self.upload = None,
                Poll::Ready(Err(Stopped::Source(error))) => return Poll::Ready(Err(error)),
                // The response, or what it says of the stream, counts for more.
                Poll::Ready(Err(Stopped::Stream)) => self.upload = None,
                Poll::Pending => {}
            }
        }
        if self.progress.phase() == Phase::Send
            && self.upload.is_none()
            && self.state.marks(self.id).sent_ns > 0
        {
            self.progress.set(Phase::FirstByte);
        }
        if let Some(response) = &mut self.response {
            let response = match ready!(Pin::new(response).poll(cx)) {
                Ok(response) => response,
                Err(error) => return Poll::Ready(Err(self.error(error))),
            };
            self.response = None;
            self.progress.set(Phase::Body);
            let (head, receive) = response.into_parts();
            self.take_head(&head, receive.is_end_stream())?;
            self.receive = Some(receive);
        }
        self.poll_body(cx)
    }

    /// Reads the body and what follows it.
    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let throttle = self.intake.expect.throttle;
        let Some(receive) = &mut self.receive else { return Poll::Pending };
        loop {
            if let Some(throttle) = throttle {
                ready!(throttle.poll_receive_budget(cx));
            }
            let result = match ready!(receive.poll_data(cx)) {
                Some(Ok(piece)) => {
                    if let Some(throttle) = throttle {
                        throttle.on_received(piece.len());
                    }
                    self.intake.take(&piece)?;
                    receive.flow_control().release_capacity(piece.len())
                }
                Some(Err(error)) => Err(error),
                None => match ready!(receive.poll_trailers(cx)) {
                    Ok(fields) => {
                        fields.iter().for_each(|fields| lines(fields, &mut self.trailers));
                        return Poll::Ready(Ok(()));
                    }
                    Err(error) => Err(error),
                },
            };
            if let Err(why) = result {
                return Poll::Ready(Err(self.error(why)));
            }
        }
    }

    fn take_head(&mut self, head: &http::response::Parts, ends: bool) -> Result<(), Error> {
        if !head.headers.values().all(|value| is_trimmed(value.as_bytes())) {
            let why = "a header's value begins or ends with white space";
            return Err(Error::not_http2(why));
        }
        self.status = head.status.as_u16();
        self.sets_cookies = head.headers.contains_key(SET_COOKIE);
        self.head = format!("HTTP/2 {}\r\n", self.status).into_bytes();
        lines(&head.headers, &mut self.head);
        if ends || self.is_head {
            return Ok(());
        }
        let length = head.headers.get(CONTENT_LENGTH).and_then(|text| text.to_str().ok());
        if let Some(length) = length.and_then(|length| length.parse().ok()) {
            self.intake.announce(length)?;
        }
        let mut codings = Codings::default();
        let lines = || head.headers.get_all(CONTENT_ENCODING).iter().map(|text| text.as_bytes());
        lines().for_each(|line| codings.add(line));
        if self.intake.undoes(&codings) {
            let lines = lines().collect::<Vec<_>>().join(&b", "[..]);
            self.intake.undo(&codings, &String::from_utf8_lossy(&lines))?;
        }
        Ok(())
    }

    fn error(&self, why: h2::Error) -> Error {
        error(self.state, why, &self.state.marks(self.id), Some(self.id))
    }

    /// The response is complete: shows it to `done`. It had been read at one time, and was decompressed at the other, which is
    /// now.
    fn show<R>(
        &self,
        marks: &Marks,
        [read_ns, now]: [u64; 2],
        done: impl FnOnce(&Response<'_>, Times) -> R,
    ) -> R {
        // The frames that it was made of have passed: the other cases do not come.
        let end_ns = if marks.end_ns == 0 { read_ns } else { marks.end_ns };
        let response = Response {
            status: self.status,
            head: &self.head,
            body: self.intake.kept(),
            body_bytes: self.intake.bytes(),
            body_length: self.intake.length(),
            bytes_in: marks.bytes_in,
            bytes_out: marks.bytes_out,
            trailers: &self.trailers,
            sets_cookies: self.sets_cookies,
            unsolicited_bytes: 0,
        };
        // Who reads slowly has a response when it could be read.
        let slow = self.intake.expect.throttle.is_some();
        let times = Times {
            sent_ns: marks.sent_ns,
            written_ns: marks.written_ns,
            first_byte_ns: marks.first_byte_ns,
            end_ns: if slow { read_ns } else { end_ns },
            delay_ns: marks.delay_ns.filter(|_| !slow),
            decompress_ns: match self.intake.is_compressed() {
                true => now - read_ns,
                false => 0,
            },
        };
        done(&response, times)
    }
}

/// Whether a value neither begins nor ends with white space (RFC 9113, section 8.2.1), which the `h2` crate
/// does not look at.
fn is_trimmed(value: &[u8]) -> bool {
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    !is_space(value.first()) && !is_space(value.last())
}

/// The body of a request on its way.
struct Upload<'a> {
    send: SendStream<Bytes>,
    /// What was read and not yet handed over.
    piece: Bytes,
    source: Option<&'a mut dyn BodySource>,
}

/// Why a body was not sent to its end.
enum Stopped {
    /// It could not be read.
    Source(Error),
    /// The stream takes no more.
    Stream,
}

impl Upload<'_> {
    /// Sends what is left, as far as the other side's windows go.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        throttle: Option<&dyn Throttle>,
    ) -> Poll<Result<(), Stopped>> {
        loop {
            if self.piece.is_empty() {
                self.fill().map_err(Stopped::Source)?;
            }
            if self.piece.is_empty() {
                let ended = self.send.send_data(Bytes::new(), true);
                return Poll::Ready(ended.map_err(|_| Stopped::Stream));
            }
            let most = match throttle {
                Some(throttle) => ready!(throttle.poll_send_budget(cx)),
                None => usize::MAX,
            };
            self.send.reserve_capacity(self.piece.len().min(most));
            while self.send.capacity() == 0 {
                match ready!(self.send.poll_capacity(cx)) {
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return Poll::Ready(Err(Stopped::Stream)),
                }
            }
            let length = self.send.capacity().min(most).min(self.piece.len());
            let piece = self.piece.split_to(length);
            let last = self.piece.is_empty() && self.source.is_none();
            if self.send.send_data(piece, last).is_err() {
                return Poll::Ready(Err(Stopped::Stream));
            }
            if let Some(throttle) = throttle {
                throttle.on_sent(length);
            }
            if last {
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Reads the next piece of a streamed body.
    fn fill(&mut self) -> Result<(), Error> {
        let Some(source) = &mut self.source else { return Ok(()) };
        let mut piece = Vec::new();
        read_piece(*source, &mut piece).map_err(|error| Error::body_source(&error))?;
        self.piece = piece.into();
        Ok(())
    }
}
