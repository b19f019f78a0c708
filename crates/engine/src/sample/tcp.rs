//! Bytes over TCP: sent, and what comes back shown to the frame as a response's body.

use std::pin::pin;
use std::rc::Rc;

use squall_base::hex::{hex, unhex};
use squall_metrics::{ErrorKind, PlaceId};
use squall_plan::model::{ByteForm, KeepOpen};
use squall_wire::{BytesEnd, BytesOut, Delivery, Expect, Response, Times};

use super::failure::SampleFailure;
use super::frame::Frame;
use super::http::connect;
use super::rendered::{rendered, rendered_name};
use super::sampler::Sampler;
use super::throttle::Throttled;
use super::via;
use crate::found::FoundAhead;
use crate::net::origins::{Asked, KnownOrigin};
use crate::net::pools::{Borrowed, Carrier};
use crate::parts::{names, url};
use crate::program::{Limits, NameOp, TcpOp, TcpTo};
use crate::scope::UserScope;
use crate::worker::Worker;

impl Sampler for TcpOp {
    fn name(&self) -> Option<u32> {
        self.name.known()
    }

    fn step(&self) -> &str {
        &self.step
    }

    fn kind(&self) -> &str {
        "tcp"
    }

    fn place(&self) -> PlaceId {
        self.place
    }

    fn is_counted(&self) -> bool {
        self.counted
    }

    fn is_scheduled(&self) -> bool {
        true
    }

    async fn perform<'f>(&'f self, frame: &mut Frame<'f>) -> Result<(), SampleFailure> {
        let worker = frame.worker;
        let Prepared { origin, bytes, limits } = self.prepare(frame)?;
        frame.bound(limits.all);
        let mut result = self.attempt(frame, &limits, &origin, &bytes, false).await;
        if matches!(result, Err(Attempt::Stale)) {
            worker.recorder.count(|counters| counters.stale_retries += 1);
            frame.begin_again(false);
            result = self.attempt(frame, &limits, &origin, &bytes, true).await;
        }
        let result = result.map_err(|attempt| match attempt {
            Attempt::Failed(failure) => failure,
            Attempt::Stale => {
                SampleFailure::new(ErrorKind::ClosedEarly, "closed before it was used")
            }
        });
        frame.explain(&result, || origin.origin.to_string());
        result
    }
}

/// What is known of a step before anything is sent.
struct Prepared {
    /// The place where it goes.
    origin: Rc<KnownOrigin>,
    bytes: Vec<u8>,
    limits: Limits,
}

/// Why an attempt gave nothing.
enum Attempt {
    /// The server had closed the connection before it was used again, and nothing was sent.
    Stale,
    Failed(SampleFailure),
}

impl From<SampleFailure> for Attempt {
    fn from(failure: SampleFailure) -> Self {
        Attempt::Failed(failure)
    }
}

impl TcpOp {
    /// Looks at what the user's variables say of it. They are free again behind it: extracts set them.
    fn prepare(&self, frame: &mut Frame<'_>) -> Result<Prepared, SampleFailure> {
        let worker = frame.worker;
        let scope = UserScope::new(&worker.program, frame.user);
        if let NameOp::Rendered(template) = &self.name {
            frame.name = Some(rendered_name(worker, template, self.place, &scope)?);
        }
        let limits = match &self.timeouts {
            Some(timeouts) => timeouts.of(self.limits, &scope)?,
            None => self.limits,
        };
        let origin = self.origin(worker, &scope)?;
        let origin = via::asked(worker, origin, self.via.as_deref(), &scope)?;
        Ok(Prepared { origin, bytes: self.bytes(&scope)?, limits })
    }

    /// The place where it goes.
    fn origin(
        &self,
        worker: &Worker,
        scope: &UserScope<'_, '_>,
    ) -> Result<Rc<KnownOrigin>, SampleFailure> {
        let template = match &self.to {
            TcpTo::Known(origin) => return Ok(worker.named_origin(*origin)),
            TcpTo::OfUser(template) => template,
        };
        let text = rendered(worker, template, scope)?;
        let text = String::from_utf8_lossy(&text);
        let origin = url::tcp(&text).map_err(|error| {
            let shown = names::limited(&worker.recorder.secrets().mask(&text)).into_owned();
            SampleFailure::new(ErrorKind::Render, format!("`{shown}`: {error}"))
        })?;
        let hosts = &worker.program.hosts;
        if !hosts.allows(&origin.host, origin.port) {
            let masked = worker.recorder.secrets().mask(&text);
            let hidden = (masked != text).then(|| names::limited(&masked));
            let reason = hosts.explain(&origin.host, origin.port, hidden.as_deref());
            return Err(SampleFailure::new(ErrorKind::HostNotAllowed, reason));
        }
        Ok(worker.known_origin(origin, Asked::default()))
    }

    /// What is sent, for a user.
    fn bytes(&self, scope: &UserScope<'_, '_>) -> Result<Vec<u8>, SampleFailure> {
        let mut text = Vec::new();
        self.send.render(scope, &mut text)?;
        let bytes = match self.form {
            ByteForm::Text => text,
            ByteForm::Hex => unhex(&text).ok_or_else(|| {
                SampleFailure::new(ErrorKind::Render, "what is sent is not hexadecimal")
            })?,
        };
        let BytesEnd::Prefixed(size) = self.end else { return Ok(bytes) };
        let length = (bytes.len() as u64).to_be_bytes();
        let (none, prefix) = length.split_at(length.len() - usize::from(size));
        if none.iter().any(|byte| *byte != 0) {
            let text = format!("{} bytes are too long for a prefix of {size}", bytes.len());
            return Err(SampleFailure::new(ErrorKind::Render, text));
        }
        Ok([prefix, &bytes].concat())
    }

    /// One exchange, on a connection that is open or new.
    async fn attempt(
        &self,
        frame: &mut Frame<'_>,
        limits: &Limits,
        origin: &Rc<KnownOrigin>,
        bytes: &[u8],
        fresh: bool,
    ) -> Result<(), Attempt> {
        let (worker, user, in_flight) = (frame.worker, frame.user, frame.in_flight);
        let throttled = Throttled::of(worker, user, in_flight);
        let url = || origin.origin.to_string();
        // Whoever watches is told where it goes even if no connection comes about.
        if let Some(copy) = frame.copy() {
            copy.sent(url(), &[], false);
        }
        let window = throttled.as_ref().and_then(Throttled::window);
        let mut borrowed = self.borrow(frame, limits, origin, window, fresh).await?;
        let used = borrowed.used();
        if let Some(copy) = frame.copy() {
            copy.sent(url(), &[bytes], used);
        }
        let expect = Self::expect(limits, frame, throttled.as_ref());
        let out = BytesOut { bytes, end: self.end, ends_with_close: self.or_close };
        let progress = &in_flight.progress;
        progress.take_bytes();
        let done =
            |response: &Response<'_>, times: Times| self.received(frame, limits, response, &times);
        let Carrier::Connection(connection) = &mut borrowed.carrier else {
            return Err(SampleFailure::new(ErrorKind::Io, "the connection speaks HTTP/2").into());
        };
        if self.reset {
            connection.reset_on_close();
        }
        let exchanged = in_flight
            .run(pin!(connection.exchange_bytes(&worker.client, out, expect, progress, done)))
            .await;
        if !matches!(exchanged, Ok(Ok(Ok(())))) || frame.was_slow() {
            let again = borrowed.newly_retransmitted();
            worker.recorder.count(|counters| counters.segments_retransmitted += u64::from(again));
        }
        match exchanged {
            Ok(Ok(received)) => {
                if self.connection == KeepOpen::Keep {
                    borrowed.give_back(&user.connections, user.iteration.get());
                }
                Ok(received?)
            }
            Ok(Err(error)) => {
                frame.came_to_nothing();
                match error.is_stale() && error.delivery() == Delivery::NotSent && !fresh {
                    true => Err(Attempt::Stale),
                    false => Err(SampleFailure::from(error).into()),
                }
            }
            Err(cancel) => {
                frame.came_to_nothing();
                Err(SampleFailure::cancelled(cancel, progress.phase()).into())
            }
        }
    }

    /// What is done with what comes.
    fn expect<'e>(
        limits: &Limits,
        frame: &Frame<'_>,
        throttled: Option<&'e Throttled<'_>>,
    ) -> Expect<'e> {
        Expect {
            keep: limits.keep.max(frame.copied_body()).max(frame.example_bytes()),
            sink: None,
            max_body: limits.max_body,
            max_decompression_ratio: limits.max_decompression_ratio,
            decompress: false,
            throttle: throttled.map(|throttled| throttled as &dyn squall_wire::Throttle),
        }
    }

    /// A connection, open or new, within its deadline.
    async fn borrow(
        &self,
        frame: &mut Frame<'_>,
        limits: &Limits,
        origin: &Rc<KnownOrigin>,
        window: Option<u32>,
        fresh: bool,
    ) -> Result<Borrowed, SampleFailure> {
        let place = frame.place(origin, limits.pool).await?;
        frame.enter();
        let fresh = fresh || self.connection == KeepOpen::Fresh;
        match frame.worker.open_connection(frame.user, origin, place, fresh) {
            Ok(open) => {
                frame.set_deadlines(limits.first_byte, limits.total);
                Ok(open)
            }
            Err(permit) => connect(frame, limits, origin, permit, window).await,
        }
    }

    /// Looks at what came while it is there.
    fn received(
        &self,
        frame: &mut Frame<'_>,
        limits: &Limits,
        response: &Response<'_>,
        times: &Times,
    ) -> Result<(), SampleFailure> {
        frame.received(response, times).map_err(SampleFailure::timeout)?;
        let digits = match self.form {
            ByteForm::Text => None,
            ByteForm::Hex => Some(hex(response.body)),
        };
        let body = digits.as_ref().map_or(response.body, |digits| digits.as_bytes());
        let digits_per_byte = if digits.is_some() { 2 } else { 1 };
        let body_length = response.body_length * digits_per_byte;
        let shown = Response { body, body_length, ..*response };
        frame.reply(&shown, limits.keep, "", &self.post, FoundAhead::new());
        frame.keep_excerpt(&shown);
        Ok(())
    }
}
