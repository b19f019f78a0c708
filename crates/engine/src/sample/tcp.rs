//! Bytes over TCP: sent, and what comes back shown to the frame as a response's body.

use std::rc::Rc;

use squall_base::hex::{hex, unhex};
use squall_metrics::ErrorKind;
use squall_plan::model::{ByteForm, KeepOpen};
use squall_wire::{BytesEnd, BytesOut, Response, Times};

use super::attempt::{NoResponse, Terms, Transfer, attempt};
use super::call;
use super::capture::Capture;
use super::failure::SampleFailure;
use super::frame::Frame;
use super::message::{Form, Outgoing};
use super::page::Found;
use super::rendered::{self, rendered};
use super::reply::Beside;
use super::sampled::SampleHead;
use super::sampler::Sampler;
use super::via;
use crate::found::FoundAhead;
use crate::net::origins::{Asked, KnownOrigin};
use crate::parts::{names, url};
use crate::program::{Limits, TcpOp, TcpTo};
use crate::scope::UserScope;
use crate::user::Core;
use crate::worker::Worker;

impl<'p> Sampler<'p> for &'p TcpOp {
    fn head(&self) -> SampleHead<'p> {
        SampleHead::of(&self.row, "tcp", true)
    }

    async fn perform(self, frame: &mut Frame<'_>) -> Result<Option<Box<Found>>, SampleFailure> {
        let exchange = self.prepare(frame)?;
        frame.bound(exchange.limits.all);
        let mut fresh = self.connection == KeepOpen::Fresh;
        let result = loop {
            match attempt(frame, &exchange, fresh).await {
                Ok(received) => break received,
                Err(NoResponse::Failed(failure)) => break Err(failure),
                Err(NoResponse::Stale { sent }) => {
                    frame.begin_again(sent);
                    fresh = true;
                }
            }
        };
        frame.explain(&result, || exchange.url());
        result.map(|()| None)
    }
}

/// A step that sends bytes, as far as it is known before anything is sent.
struct TcpExchange<'p> {
    op: &'p TcpOp,
    /// The place where it goes.
    origin: Rc<KnownOrigin>,
    bytes: Vec<u8>,
    limits: Limits,
}

impl Transfer for TcpExchange<'_> {
    type Received = Result<(), SampleFailure>;

    fn terms(&self) -> Terms<'_> {
        Terms {
            origin: &self.origin,
            method: "",
            limits: &self.limits,
            capture: None,
            retry_stale: true,
            status_errors: false,
            keep_open: self.op.connection == KeepOpen::Keep,
            reset: self.op.reset,
        }
    }

    fn url(&self) -> String {
        self.origin.origin.to_string()
    }

    fn message<'m>(
        &'m self,
        _: &'m Worker,
        _: &'m Core,
        _: bool,
    ) -> Result<Outgoing<'m>, SampleFailure> {
        let TcpOp { end, or_close, .. } = *self.op;
        let out = BytesOut { bytes: &self.bytes, end, ends_with_close: or_close };
        Ok(Outgoing { form: Form::Bytes(out), stream: None })
    }

    fn received(
        &self,
        frame: &mut Frame<'_>,
        response: &Response<'_>,
        times: &Times,
        _: &Form<'_>,
        _: Option<&Capture>,
    ) -> Result<(), SampleFailure> {
        frame.received(response, times).map_err(SampleFailure::timeout)?;
        let digits = match self.op.form {
            ByteForm::Text => None,
            ByteForm::Hex => Some(hex(response.body)),
        };
        let body = digits.as_ref().map_or(response.body, |digits| digits.as_bytes());
        let digits_per_byte = if digits.is_some() { 2 } else { 1 };
        let body_length = response.body_length * digits_per_byte;
        let shown = Response { body, body_length, ..*response };
        if !self.op.post.is_empty() {
            let beside = Beside { kept: self.limits.keep, ..Beside::default() };
            frame.with_reply(&shown, beside, |frame, reply| {
                frame.process(reply, &self.op.post, FoundAhead::new());
            });
        }
        frame.keep_excerpt(&shown);
        Ok(())
    }
}

impl TcpOp {
    /// Looks at what the user's variables say of it. They are free again behind it: extracts set them.
    fn prepare<'p>(&'p self, frame: &mut Frame<'_>) -> Result<TcpExchange<'p>, SampleFailure> {
        let worker = frame.worker;
        let scope = UserScope::new(&worker.program, frame.user);
        frame.name = Some(rendered::name(worker, &self.row, &scope, String::new)?);
        let own = rendered::limits(frame, &self.limits, self.timeouts.as_deref())?;
        let limits = own.map_or(self.limits, |own| *own);
        let origin = self.origin(worker, &scope)?;
        let origin = via::asked(worker, origin, self.via.as_deref(), &scope)?;
        Ok(TcpExchange { op: self, origin, bytes: self.bytes(&scope)?, limits })
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
        call::allowed(worker, &origin, &text)?;
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
}
