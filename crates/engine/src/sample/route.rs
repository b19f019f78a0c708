//! The route of an exchange, and the bytes that it carries: from the operation, or from a redirect.

use squall_measure::{ErrorKind, NameKind};
use squall_plan::template::BoundTemplate;
use squall_wire::Origin;

use super::failure::Failure;
use crate::parts::auth::Asking;
use crate::parts::cookies::Site;
use crate::parts::multipart::{Content, Part, Pieces};
use crate::parts::replace::Replaced;
use crate::parts::{names, url};
use crate::program::{AuthOp, BodyOp, NameOp, PartOp, Prepared, RequestOp, UrlOp};
use crate::render::{self, Destination, END_OF_HEAD};
use crate::scope::UserScope;
use crate::scratch::Buffer;
use crate::user::Core;
use crate::worker::Worker;

/// Where one exchange of a request goes, and with what method.
pub(super) struct Route<'p, 'w> {
    pub origin: u32,
    /// Path and query; `None`: the request is prepared.
    pub path: Option<Buffer<'w>>,
    pub method: &'p str,
    /// Whether the body goes along (it does not after most redirects).
    pub with_body: bool,
    /// Whether credentials go along (they stay with the origin that they are for).
    pub trusted: bool,
    /// Lines of the head besides, each with its end; of the first exchange only.
    pub lines: &'p [u8],
    /// Whether a redirect led there.
    pub is_redirected: bool,
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

    /// The path, without query.
    pub(super) fn path<'a>(&'a self, op: &'a RequestOp) -> &'a str {
        let path = self.target(op).split(|byte| *byte == b'?').next().unwrap_or(b"/");
        std::str::from_utf8(path).unwrap_or("/")
    }
}

/// A request in bytes.
pub(super) struct Bytes<'p, 'w> {
    prepared: Option<&'p Prepared>,
    /// Lines that go between a prepared head and its empty line; otherwise the whole request.
    own: Buffer<'w>,
    /// A body that is read while it is sent.
    pub stream: Option<Box<dyn squall_wire::BodySource>>,
}

impl Bytes<'_, '_> {
    /// Head, and body where it was made in memory, in the order of sending.
    pub fn slices(&self) -> [&[u8]; 3] {
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
) -> Result<(Route<'p, 'w>, u32), Failure> {
    let scope = UserScope::new(&worker.program, user);
    let (origin, path) = match &op.url {
        UrlOp::Static { origin, .. } if op.prepared.is_some() => (*origin, None),
        UrlOp::Static { origin, path } => (*origin, Some(worker.buffer(path))),
        UrlOp::Path { origin, prefix, path: template } => {
            let text = rendered(worker, template, &scope)?;
            let mut path = worker.buffer(prefix);
            url::encode_path(&text, &mut path);
            (*origin, Some(path))
        }
        UrlOp::Any(template) => {
            let text = rendered(worker, template, &scope)?;
            let (origin, path) = worker.locate(&String::from_utf8_lossy(&text), None)?;
            (origin, Some(path))
        }
    };
    let path = match path {
        Some(mut path) => {
            render::append_query(op, &scope, &mut path)?;
            Some(path)
        }
        None => None,
    };
    let name = match &op.name {
        NameOp::Static(name) => *name,
        NameOp::Rendered(template) => {
            let text = rendered(worker, template, &scope)?;
            let text = String::from_utf8_lossy(&text);
            worker.recorder.name(NameKind::Request, &names::limited(&text))
        }
        NameOp::FromUrl => {
            let path = path.as_ref().map_or(&[][..], |path| path);
            let name = format!("{} {}", op.method, names::collapse(&String::from_utf8_lossy(path)));
            worker.recorder.name(NameKind::Request, &names::limited(&name))
        }
    };
    Ok((
        Route {
            origin,
            path,
            method: &op.method,
            with_body: true,
            trusted: true,
            lines: &[],
            is_redirected: false,
        },
        name,
    ))
}

/// The exchange that a redirect asks for (RFC 9110, section 15.4): 303 turns everything but HEAD
/// into GET; 301 and 302 turn POST into GET, as all clients do; 307 and 308 keep the method.
pub(super) fn redirected<'p, 'w>(
    worker: &'w Worker,
    route: &Route<'p, 'w>,
    op: &RequestOp,
    status: u16,
    location: &[u8],
) -> Result<Route<'p, 'w>, Failure> {
    let location = String::from_utf8_lossy(location);
    let (origin, path) = worker.locate(&location, Some((route.origin, route.target(op))))?;
    let becomes_get = match status {
        303 => route.method != "HEAD",
        301 | 302 => route.method == "POST",
        _ => false,
    };
    Ok(Route {
        origin,
        path: Some(path),
        method: if becomes_get { "GET" } else { route.method },
        with_body: route.with_body && !becomes_get,
        trusted: route.trusted && origin == route.origin,
        lines: &[],
        is_redirected: true,
    })
}

impl Worker {
    /// Origin and path of a URL that is known only now, if requests may go there. `base`: the page
    /// on which it stands.
    fn locate(&self, text: &str, base: Option<(u32, &[u8])>) -> Result<(u32, Buffer<'_>), Failure> {
        let bad = |error: url::UrlError| {
            Failure::new(ErrorKind::Render, format!("URL `{text}`: {error}"))
        };
        let is_of_plan = base.is_none();
        let base = match (base, &self.program.target) {
            (Some((origin, path)), _) => Some((origin, String::from_utf8_lossy(path).into_owned())),
            (None, Some((origin, prefix))) => Some((*origin, format!("{prefix}/"))),
            (None, None) => None,
        };
        let page = base.map(|(number, path)| (number, self.origin(number), path));
        let on = page.as_ref().map(|(_, known, path)| (&known.origin, &**path));
        let location = url::resolve(on, text).map_err(bad)?;
        if is_of_plan && location.has_credentials {
            return Err(bad(url::CREDENTIALS));
        }
        let number = match page {
            Some((number, known, _)) if known.origin == location.origin => number,
            _ if self.program.hosts.allows(&location.origin.host, location.origin.port) => {
                self.origin_number(location.origin)
            }
            _ => {
                let reason =
                    self.program.hosts.explain(&location.origin.host, location.origin.port);
                return Err(Failure::new(ErrorKind::HostNotAllowed, reason));
            }
        };
        Ok((number, self.buffer(location.path.as_bytes())))
    }

    /// The bytes of an exchange.
    pub(super) fn render<'p>(
        &self,
        user: &Core,
        op: &'p RequestOp,
        route: &Route<'_, '_>,
    ) -> Result<Bytes<'p, '_>, Failure> {
        let mut bytes = Bytes { prepared: None, own: self.buffers.take(), stream: None };
        if let (None, Some(prepared)) = (&route.path, &op.prepared) {
            bytes.prepared = Some(prepared);
            self.cookie_line(user, op, route, &mut bytes.own);
            return Ok(bytes);
        }
        let scope = UserScope::new(&self.program, user);
        let mut body = self.buffers.take();
        let (mut length, mut content_type) = (0, None);
        if route.with_body {
            render::render_body(op, &scope, &mut body)?;
            length = body.len() as u64;
            if let Some(streamed) = self.stream(op, user, &scope)? {
                (length, content_type) = (streamed.length, streamed.content_type);
                bytes.stream = Some(streamed.source);
            }
        }
        let origin = self.origin(route.origin);
        let destination = Destination {
            method: route.method,
            authority: &origin.authority,
            path: route.target(op),
            proxy: self.program.proxy.as_ref().filter(|_| !origin.origin.is_tls()),
            with_body: route.with_body,
            trusted: route.trusted,
        };
        let head = &mut bytes.own;
        render::render_head(op, &destination, length, content_type.as_deref(), &scope, head)?;
        if let AuthOp::Digest { user: name, password } = &op.auth
            && route.trusted
        {
            self.digest_line(user, [name, password], op, route, head)?;
        }
        self.cookie_line(user, op, route, head);
        head.extend_from_slice(route.lines);
        head.extend_from_slice(END_OF_HEAD);
        head.extend_from_slice(&body);
        Ok(bytes)
    }

    fn cookie_line(&self, user: &Core, op: &RequestOp, route: &Route<'_, '_>, out: &mut Vec<u8>) {
        let jar = user.jar.borrow();
        if jar.is_empty() || op.own_cookie {
            return;
        }
        let origin = self.origin(route.origin);
        let site = site(&origin.origin, route.path(op));
        let from = out.len();
        out.extend_from_slice(b"Cookie: ");
        if jar.header(site, out) {
            out.extend_from_slice(b"\r\n");
        } else {
            out.truncate(from);
        }
    }

    fn digest_line(
        &self,
        user: &Core,
        [name, password]: [&BoundTemplate; 2],
        op: &RequestOp,
        route: &Route<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let mut digest = user.digest.borrow_mut();
        let Some(digest) = digest.as_mut() else { return Ok(()) };
        let scope = UserScope::new(&self.program, user);
        let (who, secret) = (rendered(self, name, &scope)?, rendered(self, password, &scope)?);
        let value = digest.authorize(Asking {
            user: &String::from_utf8_lossy(&who),
            password: &String::from_utf8_lossy(&secret),
            method: route.method,
            uri: &String::from_utf8_lossy(route.target(op)),
            chance: user.chance(),
        });
        out.extend_from_slice(b"Authorization: ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
        Ok(())
    }

    fn stream(
        &self,
        op: &RequestOp,
        user: &Core,
        scope: &UserScope<'_, '_>,
    ) -> Result<Option<Streamed>, Failure> {
        let unreadable =
            |error: std::io::Error| Failure::new(ErrorKind::BodyFile, error.to_string());
        let (pieces, kind) = match &op.body {
            BodyOp::File(path) => (Pieces::file(path).map_err(unreadable)?, None),
            BodyOp::Replaced(markers, templates) => {
                let values = templates.iter().map(|template| text_of(template, scope));
                let values = values.collect::<Result<_, _>>()?;
                let source = Replaced::open(markers.clone(), values).map_err(unreadable)?;
                let length = source.len();
                return Ok(Some(Streamed { source: Box::new(source), length, content_type: None }));
            }
            BodyOp::Multipart(parts) => {
                let parts =
                    parts.iter().map(|part| render_part(part, scope)).collect::<Result<_, _>>()?;
                let (pieces, kind) = Pieces::form(parts, user.chance()).map_err(unreadable)?;
                (pieces, Some(kind))
            }
            _ => return Ok(None),
        };
        let length = pieces.len();
        Ok(Some(Streamed { source: Box::new(pieces), length, content_type: kind }))
    }
}

/// A body that is read while it is sent.
struct Streamed {
    source: Box<dyn squall_wire::BodySource>,
    length: u64,
    content_type: Option<String>,
}

/// Where an exchange goes, as far as cookies care.
pub(super) fn site<'a>(origin: &'a Origin, path: &'a str) -> Site<'a> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_secs() as i64);
    Site { host: &origin.host, path, secure: origin.is_tls(), now }
}

/// The text of a template, in a buffer of the worker's.
pub(super) fn rendered<'w>(
    worker: &'w Worker,
    template: &BoundTemplate,
    scope: &UserScope<'_, '_>,
) -> Result<Buffer<'w>, Failure> {
    let mut text = worker.buffers.take();
    template.render(scope, &mut text)?;
    Ok(text)
}

/// The text of a template, to keep.
fn text_of(template: &BoundTemplate, scope: &UserScope<'_, '_>) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    template.render(scope, &mut text)?;
    Ok(text)
}

fn render_part(part: &PartOp, scope: &UserScope<'_, '_>) -> Result<Part, Failure> {
    let text = |template| text_of(template, scope);
    Ok(match part {
        PartOp::Text { name, text: value, content_type } => Part {
            name: String::from_utf8_lossy(&text(name)?).into_owned(),
            content: Content::Text(text(value)?),
            content_type: content_type.clone(),
        },
        PartOp::File { name, path, filename, content_type } => Part {
            name: String::from_utf8_lossy(&text(name)?).into_owned(),
            content: Content::File { path: path.clone(), filename: filename.clone() },
            content_type: content_type.clone(),
        },
    })
}
