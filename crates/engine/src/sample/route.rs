//! The route of an exchange, and the bytes that it carries: from the operation, or from a redirect.

use std::borrow::Cow;
use std::rc::Rc;

use squall_metrics::ErrorKind;
use squall_plan::template::BoundTemplate;
use squall_wire::{Fields, Origin};

use super::body;
use super::failure::SampleFailure;
use super::rendered::{rendered, rendered_name};
use super::via;
use crate::net::origins::KnownOrigin;
use crate::parts::auth::Asking;
use crate::parts::cache::Condition;
use crate::parts::cookies::Site;
use crate::parts::trace_context::{TRACEPARENT, TraceId};
use crate::parts::{names, url};
use crate::program::render::{self, Destination, END_OF_HEAD, FieldWriter, HeadWriter};
use crate::program::{AuthOp, NameOp, Prepared, RequestOp, UrlOp};
use crate::scope::UserScope;
use crate::scratch::Buffer;
use crate::user::Core;
use crate::worker::Worker;

/// Most characters of a URL that an error shows.
const MAX_SHOWN_URL: usize = 200;

/// Where one exchange of a request goes, and with what method.
pub(super) struct Route<'p, 'w> {
    pub origin: Rc<KnownOrigin>,
    /// Path and query; `None`: the request is prepared.
    pub path: Option<Buffer<'w>>,
    pub method: &'p str,
    /// Whether the body goes along (it does not after most redirects).
    pub with_body: bool,
    /// Whether credentials go along (they stay with the origin that they are for).
    pub trusted: bool,
    /// What it is asked for with; in the first exchange only.
    pub conditions: &'p [Condition],
    /// Whether a redirect led there.
    pub is_redirected: bool,
    /// The trace that it belongs to.
    pub trace: Option<TraceId>,
}

impl Route<'_, '_> {
    /// Path and query.
    pub(super) fn target<'a>(&'a self, op: &'a RequestOp) -> &'a [u8] {
        match (&self.path, &op.url) {
            (Some(path), _) => path,
            (None, UrlOp::Static { path, .. }) => path,
            (None, _) => b"/",
        }
    }

    /// Whether it asks for something, and no more.
    pub(super) fn is_get_or_head(&self) -> bool {
        matches!(self.method, "GET" | "HEAD")
    }

    /// The path, without query.
    pub(super) fn path<'a>(&'a self, op: &'a RequestOp) -> &'a str {
        let path = self.target(op).split(|byte| *byte == b'?').next().unwrap_or(b"/");
        std::str::from_utf8(path).unwrap_or("/")
    }
}

/// A request as one protocol sends it.
pub(super) struct Message<'p, 'w> {
    pub form: Form<'p, 'w>,
    /// A body that is read while it is sent.
    pub stream: Option<Box<dyn squall_wire::BodySource>>,
}

/// What a request is made of, but for a body that is read while it is sent.
pub(super) enum Form<'p, 'w> {
    /// HTTP/1.1.
    Text(Bytes<'p, 'w>),
    /// HTTP/2: head, and body where it was made in memory.
    Fields(Cow<'p, Fields>, Body<'p, 'w>),
}

/// A body that was made in memory.
pub(super) enum Body<'p, 'w> {
    Prepared(&'p [u8]),
    Rendered(Buffer<'w>),
}

impl Body<'_, '_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Body::Prepared(bytes) => bytes,
            Body::Rendered(bytes) => bytes,
        }
    }
}

/// A request in bytes.
pub(super) struct Bytes<'p, 'w> {
    prepared: Option<&'p Prepared>,
    /// Lines that go between a prepared head and its empty line; otherwise the whole request.
    own: Buffer<'w>,
}

impl Bytes<'_, '_> {
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

/// The first exchange of a request, and the name under which the request is counted.
pub(super) fn first<'p, 'w>(
    worker: &'w Worker,
    user: &Core,
    op: &'p RequestOp,
) -> Result<(Route<'p, 'w>, u32), SampleFailure> {
    let scope = UserScope::new(&worker.program, user);
    let (origin, path) = match &op.url {
        UrlOp::Static { origin, .. } if op.prepared.is_some() => {
            (worker.named_origin(*origin), None)
        }
        UrlOp::Static { origin, path } => (worker.named_origin(*origin), Some(worker.buffer(path))),
        UrlOp::Path { origin, prefix, path: template } => {
            let text = rendered(worker, template, &scope)?;
            let mut path = worker.buffer(prefix);
            url::encode_path(&text, &mut path);
            (worker.named_origin(*origin), Some(path))
        }
        UrlOp::Any(template) => {
            let text = rendered(worker, template, &scope)?;
            let (origin, path) = worker.locate(&String::from_utf8_lossy(&text), None)?;
            (origin, Some(path))
        }
    };
    let origin = via::asked(worker, origin, op.via.as_deref(), &scope)?;
    let path = match path {
        Some(mut path) => {
            render::append_query(op, &scope, &mut path)?;
            Some(path)
        }
        None => None,
    };
    let name = match &op.name {
        NameOp::Static(name) => *name,
        NameOp::Rendered(template) => rendered_name(worker, template, op.place, &scope)?,
        NameOp::FromUrl => {
            let path = path.as_ref().map_or(&[][..], |path| path);
            let path = worker.recorder.secrets().mask_own(&String::from_utf8_lossy(path));
            let name = format!("{} {}", op.method, names::collapse(&path));
            worker.recorder.name(op.place, &names::limited(&name))
        }
    };
    Ok((
        Route {
            origin,
            path,
            method: &op.method,
            with_body: true,
            trusted: true,
            conditions: &[],
            is_redirected: false,
            trace: op.trace_context.then(|| worker.new_trace()),
        },
        name,
    ))
}

/// The exchange that a redirect asks for (RFC 9110, section 15.4): 303 turns everything but HEAD
/// into GET; 301 and 302 turn POST into GET, as all clients do; 307 and 308 keep the method. Where the plan says so, all turn
/// everything but HEAD into GET.
pub(super) fn redirected<'p, 'w>(
    worker: &'w Worker,
    route: &Route<'p, 'w>,
    op: &RequestOp,
    status: u16,
    location: &[u8],
) -> Result<Route<'p, 'w>, SampleFailure> {
    let location = url::in_header(location);
    let (origin, path) = worker.locate(&location, Some((&route.origin, route.target(op))))?;
    let becomes_get = match status {
        _ if op.redirect_to_get => route.method != "HEAD",
        303 => route.method != "HEAD",
        301 | 302 => route.method == "POST",
        _ => false,
    };
    Ok(Route {
        path: Some(path),
        method: if becomes_get { "GET" } else { route.method },
        with_body: route.with_body && !becomes_get,
        trusted: route.trusted && origin == route.origin,
        origin,
        conditions: &[],
        is_redirected: true,
        trace: route.trace,
    })
}

impl Worker {
    /// Where an exchange goes, for people.
    pub(super) fn url(&self, op: &RequestOp, route: &Route<'_, '_>) -> String {
        let target = match (&route.path, &op.prepared) {
            (None, Some(prepared)) => prepared.target(),
            _ => route.target(op),
        };
        let target = String::from_utf8_lossy(target);
        match target.starts_with('/') {
            true => format!("{}{target}", route.origin.origin),
            // A proxy is told the whole of it.
            false => target.into_owned(),
        }
    }

    /// Origin and path of a URL that is known only now, if requests may go there. `base`: the page
    /// on which it stands.
    fn locate(
        &self,
        text: &str,
        base: Option<(&Rc<KnownOrigin>, &[u8])>,
    ) -> Result<(Rc<KnownOrigin>, Buffer<'_>), SampleFailure> {
        let is_of_plan = base.is_none();
        let bad = |error: url::UrlError| {
            // Masked before it is cut: what is left of a secret would not be known for one.
            let masked = self.recorder.secrets().mask(text);
            let shown: String = masked.chars().take(MAX_SHOWN_URL).collect();
            let kind = if is_of_plan { ErrorKind::Render } else { ErrorKind::BadRedirect };
            SampleFailure::new(kind, format!("URL `{shown}`: {error}"))
        };
        let page = match (base, &self.program.target) {
            (Some((known, path)), _) => {
                Some((known.clone(), String::from_utf8_lossy(path).into_owned()))
            }
            (None, Some((origin, prefix))) => {
                Some((self.named_origin(*origin), format!("{prefix}/")))
            }
            (None, None) => None,
        };
        let on = page.as_ref().map(|(known, path)| (&known.origin, &**path));
        let location = url::resolve(on, text).map_err(bad)?;
        if is_of_plan && location.has_credentials {
            return Err(bad(url::CREDENTIALS));
        }
        let origin = match &page {
            Some((known, _)) if known.origin == location.origin => known.clone(),
            _ if self.program.hosts.allows(&location.origin.host, location.origin.port) => {
                let asked = page.as_ref().map(|(known, _)| known.asked.clone());
                self.known_origin(location.origin, asked.unwrap_or_default())
            }
            _ => {
                let (host, port) = (&location.origin.host, location.origin.port);
                let masked = self.recorder.secrets().mask(text);
                let hidden = (masked != text).then(|| names::limited(&masked));
                let reason = self.program.hosts.explain(host, port, hidden.as_deref());
                return Err(SampleFailure::new(ErrorKind::HostNotAllowed, reason));
            }
        };
        Ok((origin, self.buffer(location.path.as_bytes())))
    }

    /// What an exchange sends, in the form that the origin's connections take.
    pub(super) fn render<'p>(
        &self,
        user: &Core,
        op: &'p RequestOp,
        route: &Route<'_, '_>,
        http2: bool,
    ) -> Result<Message<'p, '_>, SampleFailure> {
        if let (None, Some(prepared)) = (&route.path, &op.prepared) {
            let form = self.prepared(user, op, prepared, route, http2)?;
            return Ok(Message { form, stream: None });
        }
        let scope = UserScope::new(&self.program, user);
        let mut body = self.buffers.take();
        let mut stream = None;
        let (mut length, mut content_type) = (0, None);
        if route.with_body {
            render::render_body(&op.body, op.charset, &scope, &mut body)?;
            length = body.len() as u64;
            if let Some(streamed) = body::stream(op, user, &scope)? {
                (length, content_type) = (streamed.length, streamed.content_type);
                stream = Some(streamed.source);
            }
        }
        let origin = &*route.origin;
        let secrets = (!route.trusted).then(|| self.recorder.secrets());
        let destination = Destination {
            method: route.method,
            authority: &origin.authority,
            path: route.target(op),
            tls: origin.origin.is_tls(),
            proxy: origin.via.proxy.as_deref().filter(|_| !origin.origin.is_tls()),
            with_body: route.with_body,
            withheld: secrets.as_deref(),
        };
        let hashed = stream.is_none().then_some(&body[..]);
        let length = (length, content_type.as_deref());
        let form = if http2 {
            let mut fields = FieldWriter::default();
            self.head(user, op, route, &destination, (length, hashed), &mut fields)?;
            Form::Fields(Cow::Owned(finished(fields)?), Body::Rendered(body))
        } else {
            let mut own = self.buffers.take();
            self.head(user, op, route, &destination, (length, hashed), &mut *own)?;
            own.extend_from_slice(END_OF_HEAD);
            own.extend_from_slice(&body);
            Form::Text(Bytes { prepared: None, own })
        };
        Ok(Message { form, stream })
    }

    /// A request that was rendered before the run, with what its user adds.
    fn prepared<'p>(
        &self,
        user: &Core,
        op: &RequestOp,
        prepared: &'p Prepared,
        route: &Route<'_, '_>,
        http2: bool,
    ) -> Result<Form<'p, '_>, SampleFailure> {
        if !http2 {
            let mut own = self.buffers.take();
            condition_lines(route, &mut *own)?;
            self.trace_line(route, &mut *own)?;
            self.cookie_line(user, op, route, &mut *own)?;
            return Ok(Form::Text(Bytes { prepared: Some(prepared), own }));
        }
        let Some(fields) = &prepared.fields else {
            return Err(SampleFailure::new(ErrorKind::Render, "it is not prepared for HTTP/2"));
        };
        let mut fields = Cow::Borrowed(fields);
        let adds = route.trace.is_some() || !route.conditions.is_empty();
        if adds || op.other_cookie.is_some() || self.sends_cookies(user, op, route) {
            let mut writer = FieldWriter::onto(fields.into_owned());
            condition_lines(route, &mut writer)?;
            self.trace_line(route, &mut writer)?;
            self.cookie_line(user, op, route, &mut writer)?;
            fields = Cow::Owned(finished(writer)?);
        }
        Ok(Form::Fields(fields, Body::Prepared(prepared.body())))
    }

    /// The head of an exchange, with what its user adds. `length`: of the body, and the type of one that
    /// makes its own; `body`: `None` if it is read while it is sent.
    fn head(
        &self,
        user: &Core,
        op: &RequestOp,
        route: &Route<'_, '_>,
        destination: &Destination<'_>,
        ((length, content_type), body): ((u64, Option<&str>), Option<&[u8]>),
        out: &mut impl HeadWriter,
    ) -> Result<(), SampleFailure> {
        let scope = UserScope::new(&self.program, user);
        render::render_head(op, destination, length, content_type, &scope, out)?;
        if let AuthOp::Digest { user: name, password } = &op.auth
            && (route.trusted || op.auth_follows)
        {
            self.digest_line(user, [name, password], op, (route, body), out)?;
        }
        condition_lines(route, out)?;
        self.trace_line(route, out)?;
        self.cookie_line(user, op, route, out)
    }

    fn trace_line(
        &self,
        route: &Route<'_, '_>,
        out: &mut impl HeadWriter,
    ) -> Result<(), SampleFailure> {
        let Some(trace) = route.trace else { return Ok(()) };
        out.field(TRACEPARENT, |line| {
            self.draw_trace(|random| trace.write(random, line));
            Ok(())
        })?;
        Ok(())
    }

    /// Whether a user has cookies of its own that go along: all but where the plan's own Cookie line does.
    fn sends_cookies(&self, user: &Core, op: &RequestOp, route: &Route<'_, '_>) -> bool {
        let plan_does = op.own_cookie && route.trusted;
        op.cookies && !plan_does && !user.jar(op.jar).is_empty()
    }

    fn cookie_line(
        &self,
        user: &Core,
        op: &RequestOp,
        route: &Route<'_, '_>,
        out: &mut impl HeadWriter,
    ) -> Result<(), SampleFailure> {
        let mut has_own = false;
        if self.sends_cookies(user, op, route) {
            let site = site(&route.origin.origin, route.path(op));
            out.field_if(b"Cookie: ", |value| {
                has_own = user.jar(op.jar).header(site, value);
                Ok(has_own)
            })?;
        }
        if let Some(other) = op.other_cookie.as_ref().filter(|_| !has_own && route.trusted) {
            let scope = UserScope::new(&self.program, user);
            out.field(b"Cookie: ", |value| other.render(&scope, value))?;
        }
        Ok(())
    }

    fn digest_line(
        &self,
        user: &Core,
        [name, password]: [&BoundTemplate; 2],
        op: &RequestOp,
        (route, body): (&Route<'_, '_>, Option<&[u8]>),
        out: &mut impl HeadWriter,
    ) -> Result<(), SampleFailure> {
        let mut challenges = user.challenges.borrow_mut();
        let Some(challenge) = challenges.of(route.origin.number) else { return Ok(()) };
        let scope = UserScope::new(&self.program, user);
        let (who, secret) = (rendered(self, name, &scope)?, rendered(self, password, &scope)?);
        let value = challenge.authorize(Asking {
            user: &String::from_utf8_lossy(&who),
            password: &String::from_utf8_lossy(&secret),
            method: route.method,
            uri: &String::from_utf8_lossy(route.target(op)),
            body,
            chance: user.chance(),
        });
        let value = value.map_err(|why| SampleFailure::new(ErrorKind::Render, why))?;
        out.line(b"Authorization: ", &value)?;
        Ok(())
    }
}

/// What a request has that asks whether what the cache knows has changed.
fn condition_lines(route: &Route<'_, '_>, out: &mut impl HeadWriter) -> Result<(), SampleFailure> {
    for (name, value) in route.conditions {
        out.field(name, |line| {
            line.extend_from_slice(value);
            Ok(())
        })?;
    }
    Ok(())
}

/// The head that was written, if HTTP/2 can say it.
fn finished(writer: FieldWriter) -> Result<Fields, SampleFailure> {
    writer.finish().map_err(|why| SampleFailure::new(ErrorKind::Render, why))
}

/// Where an exchange goes, as far as cookies care.
pub(super) fn site<'a>(origin: &'a Origin, path: &'a str) -> Site<'a> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_secs() as i64);
    Site { host: &origin.host, path, secure: origin.is_tls(), now }
}
