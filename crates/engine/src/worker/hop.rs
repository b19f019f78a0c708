//! Where an exchange goes and what it carries, in bytes: from the operation, or from a redirect.

use std::rc::Rc;

use squall_measure::{ErrorKind, NameKind};
use squall_plan::template::BoundTemplate;

use super::Worker;
use super::account::Failure;
use crate::parts::auth::Asking;
use crate::parts::cookies::Site;
use crate::parts::multipart::{Content, Part, Pieces};
use crate::parts::replace::Replaced;
use crate::parts::{names, url};
use crate::program::{AuthOp, BodyOp, NameOp, PartOp, Prepared, RequestOp, UrlOp};
use crate::render::{self, Destination, END_OF_HEAD};
use crate::scope::UserScope;
use crate::user::User;

/// Where one exchange of a request goes, and with what method.
pub(super) struct Hop<'p> {
    pub origin: u32,
    /// Path and query; `None`: the request is prepared.
    pub path: Option<Vec<u8>>,
    pub method: &'p str,
    /// Whether the body goes along (it does not after most redirects).
    pub with_body: bool,
    /// Whether credentials go along (they stay with the origin that they are for).
    pub trusted: bool,
}

/// A request in bytes.
pub(super) struct Bytes<'p> {
    prepared: Option<&'p Prepared>,
    /// Lines that go between a prepared head and its empty line; otherwise the whole request.
    own: Vec<u8>,
    /// A body that is read while it is sent.
    pub stream: Option<Box<dyn squall_wire::BodySource>>,
}

impl Bytes<'_> {
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

/// Whether a request may be repeated when it is not known if the server has acted on it
/// (RFC 9110, section 9.2.2).
pub(super) fn is_idempotent(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS" | "PUT" | "DELETE" | "TRACE")
}

/// The first exchange of a request, and the name under which the request is counted.
pub(super) fn first<'p>(
    worker: &Worker,
    user: &User,
    op: &'p RequestOp,
) -> Result<(Hop<'p>, u32), Failure> {
    let scope = UserScope { program: &worker.program, user, answer: None };
    let (origin, path) = match &op.url {
        UrlOp::Static { origin, .. } if op.prepared.is_some() => (*origin, None),
        UrlOp::Static { origin, path } => (*origin, Some(path.to_vec())),
        UrlOp::Path { origin, prefix, path: template } => {
            let text = rendered(template, &scope)?;
            let mut path = prefix.to_vec();
            url::encode_path(&text, &mut path);
            (*origin, Some(path))
        }
        UrlOp::Any(template) => {
            let text = rendered(template, &scope)?;
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
            let text = rendered(template, &scope)?;
            let text = String::from_utf8_lossy(&text);
            worker.recorder.name(NameKind::Request, &names::limited(&text))
        }
        NameOp::FromUrl => {
            let path = String::from_utf8_lossy(path.as_deref().unwrap_or_default());
            let name = format!("{} {}", op.method, names::collapse(&path));
            worker.recorder.name(NameKind::Request, &names::limited(&name))
        }
    };
    Ok((Hop { origin, path, method: &op.method, with_body: true, trusted: true }, name))
}

/// The exchange that a redirect asks for (RFC 9110, section 15.4): 303 turns everything but HEAD
/// into GET; 301 and 302 turn POST into GET, as all clients do; 307 and 308 keep the method.
pub(super) fn redirected<'p>(
    worker: &Worker,
    hop: &Hop<'p>,
    op: &RequestOp,
    status: u16,
    location: &[u8],
) -> Result<Hop<'p>, Failure> {
    let base = hop.path.as_deref().unwrap_or(static_path(op));
    let location = String::from_utf8_lossy(location);
    let (origin, path) = worker.locate(&location, Some((hop.origin, base)))?;
    let becomes_get = match status {
        303 => hop.method != "HEAD",
        301 | 302 => hop.method == "POST",
        _ => false,
    };
    Ok(Hop {
        origin,
        path: Some(path),
        method: if becomes_get { "GET" } else { hop.method },
        with_body: hop.with_body && !becomes_get,
        trusted: hop.trusted && origin == hop.origin,
    })
}

/// The path of a request whose URL is known before the run.
pub(super) fn static_path(op: &RequestOp) -> &[u8] {
    match &op.url {
        UrlOp::Static { path, .. } => path,
        _ => b"/",
    }
}

/// The path of an exchange, without query.
pub(super) fn path_of<'a>(hop: &'a Hop<'_>, op: &'a RequestOp) -> &'a str {
    let path = hop.path.as_deref().unwrap_or(static_path(op));
    let path = path.split(|byte| *byte == b'?').next().unwrap_or(b"/");
    std::str::from_utf8(path).unwrap_or("/")
}

impl Worker {
    /// Origin and path of a URL that is known only now, if requests may go there. `base`: the page
    /// on which it stands.
    fn locate(&self, text: &str, base: Option<(u32, &[u8])>) -> Result<(u32, Vec<u8>), Failure> {
        let bad = |error: url::UrlError| {
            Failure::new(ErrorKind::Render, format!("URL `{text}`: {error}"))
        };
        let is_of_plan = base.is_none();
        let base = match (base, &self.program.target) {
            (Some((origin, path)), _) => Some((origin, String::from_utf8_lossy(path).into_owned())),
            (None, Some((origin, prefix))) => Some((*origin, format!("{prefix}/"))),
            (None, None) => None,
        };
        let page = base.map(|(number, path)| {
            let origin = self.origins.borrow()[number as usize].clone();
            (number, origin, path)
        });
        let on = page.as_ref().map(|(_, origin, path)| (&**origin, &**path));
        let location = url::resolve(on, text).map_err(bad)?;
        if is_of_plan && location.has_credentials {
            return Err(bad(url::CREDENTIALS));
        }
        let number = match page {
            Some((number, origin, _)) if *origin == location.origin => number,
            _ if self.program.hosts.allows(&location.origin.host, location.origin.port) => {
                self.origin_number(location.origin)
            }
            _ => {
                let reason =
                    self.program.hosts.explain(&location.origin.host, location.origin.port);
                return Err(Failure::new(ErrorKind::HostNotAllowed, reason));
            }
        };
        Ok((number, location.path.into_bytes()))
    }

    fn origin_number(&self, origin: squall_wire::Origin) -> u32 {
        let mut origins = self.origins.borrow_mut();
        let found = origins.iter().position(|known| **known == origin);
        let index = found.unwrap_or_else(|| {
            origins.push(Rc::new(origin));
            origins.len() - 1
        });
        index as u32
    }

    /// The bytes of an exchange.
    pub(super) fn render<'p>(
        &self,
        user: &mut User,
        op: &'p RequestOp,
        hop: &Hop<'_>,
    ) -> Result<Bytes<'p>, Failure> {
        let mut bytes = Bytes { prepared: None, own: Vec::new(), stream: None };
        if let (None, Some(prepared)) = (&hop.path, &op.prepared) {
            bytes.prepared = Some(prepared);
            self.cookie_line(user, op, hop, &mut bytes.own);
            return Ok(bytes);
        }
        let digest = match &op.auth {
            AuthOp::Digest { user: name, password } if hop.trusted => {
                self.digest_line(user, name, password, hop)?
            }
            _ => None,
        };
        let scope = UserScope { program: &self.program, user, answer: None };
        let mut body = Vec::new();
        let (mut length, mut content_type) = (0, None);
        if hop.with_body {
            render::render_body(op, &scope, &mut body)?;
            length = body.len() as u64;
            if let Some(streamed) = self.stream(op, &scope)? {
                (length, content_type) = (streamed.length, streamed.content_type);
                bytes.stream = Some(streamed.source);
            }
        }
        let origin = self.origins.borrow()[hop.origin as usize].clone();
        let destination = Destination {
            method: hop.method,
            authority: &origin.authority(),
            path: hop.path.as_deref().unwrap_or(b"/"),
            proxy: self.program.proxy.as_ref().filter(|_| !origin.is_tls()),
            with_body: hop.with_body,
            trusted: hop.trusted,
        };
        let head = &mut bytes.own;
        render::render_head(op, &destination, length, content_type.as_deref(), &scope, head)?;
        if let Some(line) = digest {
            head.extend_from_slice(line.as_bytes());
        }
        self.cookie_line(user, op, hop, head);
        head.extend_from_slice(END_OF_HEAD);
        head.extend_from_slice(&body);
        Ok(bytes)
    }

    fn cookie_line(&self, user: &User, op: &RequestOp, hop: &Hop<'_>, out: &mut Vec<u8>) {
        if user.jar.is_empty() || op.own_cookie {
            return;
        }
        let origin = self.origins.borrow()[hop.origin as usize].clone();
        let site = self.site(&origin, path_of(hop, op));
        let from = out.len();
        out.extend_from_slice(b"Cookie: ");
        if user.jar.header(site, out) {
            out.extend_from_slice(b"\r\n");
        } else {
            out.truncate(from);
        }
    }

    /// Where an exchange goes, as far as cookies care.
    pub(super) fn site<'a>(&self, origin: &'a squall_wire::Origin, path: &'a str) -> Site<'a> {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_secs() as i64);
        Site { host: &origin.host, path, secure: origin.is_tls(), now }
    }

    fn digest_line(
        &self,
        user: &mut User,
        name: &BoundTemplate,
        password: &BoundTemplate,
        hop: &Hop<'_>,
    ) -> Result<Option<String>, Failure> {
        let Some(mut digest) = user.digest.take() else { return Ok(None) };
        let scope = UserScope { program: &self.program, user, answer: None };
        let (who, secret) = (rendered(name, &scope)?, rendered(password, &scope)?);
        let path = String::from_utf8_lossy(hop.path.as_deref().unwrap_or(b"/"));
        let value = digest.authorize(Asking {
            user: &String::from_utf8_lossy(&who),
            password: &String::from_utf8_lossy(&secret),
            method: hop.method,
            uri: &path,
            chance: user.chance(),
        });
        user.digest = Some(digest);
        Ok(Some(format!("Authorization: {value}\r\n")))
    }

    fn stream(
        &self,
        op: &RequestOp,
        scope: &UserScope<'_, '_>,
    ) -> Result<Option<Streamed>, Failure> {
        let unreadable =
            |error: std::io::Error| Failure::new(ErrorKind::BodyFile, error.to_string());
        let (pieces, kind) = match &op.body {
            BodyOp::File(path) => (Pieces::file(path).map_err(unreadable)?, None),
            BodyOp::Replaced(markers, templates) => {
                let values = templates.iter().map(|template| rendered(template, scope));
                let values = values.collect::<Result<_, _>>()?;
                let source = Replaced::open(markers.clone(), values).map_err(unreadable)?;
                let length = source.len();
                return Ok(Some(Streamed { source: Box::new(source), length, content_type: None }));
            }
            BodyOp::Multipart(parts) => {
                let parts =
                    parts.iter().map(|part| render_part(part, scope)).collect::<Result<_, _>>()?;
                let (pieces, kind) =
                    Pieces::form(parts, scope.user.chance()).map_err(unreadable)?;
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

/// The text of a template.
pub(super) fn rendered(
    template: &BoundTemplate,
    scope: &UserScope<'_, '_>,
) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    template.render(scope, &mut text)?;
    Ok(text)
}

fn render_part(part: &PartOp, scope: &UserScope<'_, '_>) -> Result<Part, Failure> {
    let text = |template| rendered(template, scope);
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
