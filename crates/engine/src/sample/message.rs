//! What an exchange sends, in the form that its connection takes: a call of HTTP as text or as fields, or bare bytes.

use std::borrow::Cow;

use squall_metrics::ErrorKind;
use squall_plan::template::BoundTemplate;
use squall_wire::{BodySource, BytesOut, Fields};

use super::body;
use super::call::{Call, Target};
use super::failure::SampleFailure;
use super::rendered::rendered;
use crate::parts::auth::Asking;
use crate::parts::trace_context::TRACEPARENT;
use crate::program::Policy;
use crate::program::call::{AuthOp, Prepared};
use crate::program::render::{self, Destination, END_OF_HEAD, FieldWriter, HeadWriter};
use crate::scope::UserScope;
use crate::scratch::Buffer;
use crate::user::Core;
use crate::worker::Worker;

pub(super) struct Outgoing<'m> {
    pub form: Form<'m>,
    /// A body that is read while it is sent.
    pub stream: Option<Box<dyn BodySource>>,
}

/// What is sent, but for a body that is read while it is sent.
pub(super) enum Form<'m> {
    /// HTTP/1.1.
    Text(Text<'m>),
    /// HTTP/2: head, and body where it was made in memory.
    Fields(Cow<'m, Fields>, Body<'m>),
    /// Bytes without a protocol of their own.
    Bytes(BytesOut<'m>),
}

impl Form<'_> {
    /// Whether it goes over HTTP/2.
    pub(super) fn is_http2(&self) -> bool {
        matches!(self, Form::Fields(..))
    }

    /// Shows what is sent, in the order of sending. A head of HTTP/2 is written as HTTP/1 has it.
    pub(super) fn with_slices<R>(&self, look: impl FnOnce(&[&[u8]]) -> R) -> R {
        match self {
            Form::Text(text) => look(&text.slices()),
            Form::Fields(fields, body) => look(&[&fields.text(), body.bytes()]),
            Form::Bytes(out) => look(&[out.bytes]),
        }
    }
}

/// A body that was made in memory.
pub(super) enum Body<'m> {
    Prepared(&'m [u8]),
    Rendered(Buffer<'m>),
}

impl Body<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Body::Prepared(bytes) => bytes,
            Body::Rendered(bytes) => bytes,
        }
    }
}

/// A request as HTTP/1.1 has it.
pub(super) struct Text<'m> {
    prepared: Option<&'m Prepared>,
    /// Lines that go between a prepared head and its empty line; otherwise the whole request.
    own: Buffer<'m>,
}

impl Text<'_> {
    /// Head, and body where it was made in memory, in the order of sending.
    pub(super) fn slices(&self) -> [&[u8]; 3] {
        match self.prepared {
            Some(prepared) if self.own.is_empty() => [&prepared.bytes, &[], &[]],
            Some(prepared) => {
                let (head, rest) = prepared.bytes.split_at(prepared.head_end);
                [head, &self.own, rest]
            }
            None => [&self.own, &[], &[]],
        }
    }
}

/// What a call sends for a user, in the form that the origin's connections take.
///
/// # Errors
/// Something in it cannot be rendered, or HTTP/2 cannot say it.
pub(super) fn message<'m>(
    worker: &'m Worker,
    user: &'m Core,
    call: &'m Call<'_, '_>,
    policy: &'m Policy,
    http2: bool,
) -> Result<Outgoing<'m>, SampleFailure> {
    let own = Own { worker, user, call, policy };
    match &call.target {
        Target::Prepared(prepared) if !http2 || prepared.fields.is_some() => {
            Ok(Outgoing { form: own.prepared(prepared, http2)?, stream: None })
        }
        _ => own.rendered(http2),
    }
}

/// A call, and the user that adds something of its own to it.
#[derive(Clone, Copy)]
struct Own<'m> {
    worker: &'m Worker,
    user: &'m Core,
    call: &'m Call<'m, 'm>,
    policy: &'m Policy,
}

impl<'m> Own<'m> {
    fn scope(self) -> UserScope<'m, 'm> {
        UserScope::new(&self.worker.program, self.user)
    }

    /// A request that was rendered before the run, with what its user adds.
    fn prepared(self, prepared: &'m Prepared, http2: bool) -> Result<Form<'m>, SampleFailure> {
        let Some(fields) = prepared.fields.as_ref().filter(|_| http2) else {
            let mut own = self.worker.buffers.take();
            self.lines(&mut *own)?;
            return Ok(Form::Text(Text { prepared: Some(prepared), own }));
        };
        let mut fields = Cow::Borrowed(fields);
        let call = self.call;
        let adds = call.trace.is_some() || !call.conditions.is_empty();
        if adds || call.content.other_cookie.is_some() || self.sends_cookies() {
            let mut writer = FieldWriter::onto(fields.into_owned());
            self.lines(&mut writer)?;
            fields = Cow::Owned(finished(writer)?);
        }
        Ok(Form::Fields(fields, Body::Prepared(prepared.body())))
    }

    /// A request that is rendered now.
    fn rendered(self, http2: bool) -> Result<Outgoing<'m>, SampleFailure> {
        let Own { worker, call, .. } = self;
        let mut body = worker.buffers.take();
        let mut stream = None;
        let (mut length, mut content_type) = (0, None);
        if call.with_body {
            let scope = self.scope();
            body.extend_from_slice(call.script_body);
            render::render_body(&call.content.body, call.content.charset, &scope, &mut body)?;
            length = body.len() as u64;
            if let Some(streamed) = body::stream(call.content, self.user, &scope)? {
                (length, content_type) = (streamed.length, streamed.content_type);
                stream = Some(streamed.source);
            }
        }
        let hashed = stream.is_none().then_some(&body[..]);
        let length = (length, content_type.as_deref());
        let form = if http2 {
            let mut fields = FieldWriter::default();
            self.head(length, hashed, &mut fields)?;
            Form::Fields(Cow::Owned(finished(fields)?), Body::Rendered(body))
        } else {
            let mut own = worker.buffers.take();
            self.head(length, hashed, &mut *own)?;
            own.extend_from_slice(END_OF_HEAD);
            own.extend_from_slice(&body);
            Form::Text(Text { prepared: None, own })
        };
        Ok(Outgoing { form, stream })
    }

    /// The head, with what the user adds. `length`: of the body, and the type of one that
    /// makes its own; `body`: `None` if it is read while it is sent.
    fn head(
        self,
        (length, content_type): (u64, Option<&str>),
        body: Option<&[u8]>,
        out: &mut impl HeadWriter,
    ) -> Result<(), SampleFailure> {
        let Call { content, origin, .. } = self.call;
        let secrets = (!self.call.trusted).then(|| self.worker.recorder.secrets());
        let destination = Destination {
            method: self.call.method,
            authority: &origin.authority,
            path: self.call.target(),
            tls: origin.origin.is_tls(),
            proxy: origin.via.proxy.as_deref().filter(|_| !origin.origin.is_tls()),
            with_body: self.call.with_body,
            withheld: secrets.as_deref(),
        };
        render::render_head(content, &destination, length, content_type, &self.scope(), out)?;
        if let AuthOp::Digest { user, password } = &content.auth
            && (self.call.trusted || content.auth_follows)
        {
            self.digest_line([user, password], body, out)?;
        }
        self.lines(out)
    }

    /// What the user adds to any head.
    fn lines(self, out: &mut impl HeadWriter) -> Result<(), SampleFailure> {
        for (name, value) in &self.call.conditions {
            out.field(name, |line| {
                line.extend_from_slice(value);
                Ok(())
            })?;
        }
        if let Some(trace) = self.call.trace {
            out.field(TRACEPARENT, |line| {
                self.worker.draw_trace(|random| trace.write(random, line));
                Ok(())
            })?;
        }
        self.cookie_line(out)
    }

    /// Whether the user has cookies of its own that go along: all but where the plan's own Cookie line does.
    fn sends_cookies(self) -> bool {
        let plan_does = self.call.content.own_cookie && self.call.trusted;
        self.policy.cookies && !plan_does && !self.user.jar(self.policy.jar).is_empty()
    }

    fn cookie_line(self, out: &mut impl HeadWriter) -> Result<(), SampleFailure> {
        let mut has_own = false;
        if self.sends_cookies() {
            out.field_if(b"Cookie: ", |value| {
                has_own = self.user.jar(self.policy.jar).header(self.call.site(), value);
                Ok(has_own)
            })?;
        }
        let other = self.call.content.other_cookie.as_ref();
        if let Some(other) = other.filter(|_| !has_own && self.call.trusted) {
            out.field(b"Cookie: ", |value| other.render(&self.scope(), value))?;
        }
        Ok(())
    }

    fn digest_line(
        self,
        [name, password]: [&BoundTemplate; 2],
        body: Option<&[u8]>,
        out: &mut impl HeadWriter,
    ) -> Result<(), SampleFailure> {
        let mut challenges = self.user.challenges.borrow_mut();
        let Some(challenge) = challenges.of(self.call.origin.number) else { return Ok(()) };
        let scope = self.scope();
        let who = rendered(self.worker, name, &scope)?;
        let secret = rendered(self.worker, password, &scope)?;
        let value = challenge.authorize(Asking {
            user: &String::from_utf8_lossy(&who),
            password: &String::from_utf8_lossy(&secret),
            method: self.call.method,
            uri: &String::from_utf8_lossy(self.call.target()),
            body,
            chance: self.user.chance(),
        });
        let value = value.map_err(|why| SampleFailure::new(ErrorKind::Render, why))?;
        out.line(b"Authorization: ", &value)?;
        Ok(())
    }
}

/// The head that was written, if HTTP/2 can say it.
fn finished(writer: FieldWriter) -> Result<Fields, SampleFailure> {
    writer.finish().map_err(|why| SampleFailure::new(ErrorKind::Render, why))
}
