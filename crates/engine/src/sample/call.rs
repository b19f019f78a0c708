//! A request that is sent: with what method, where to, and with what. It is made of a step of the plan, of values (a
//! resource that a page names), or of a redirect.

use std::rc::Rc;

use squall_metrics::ErrorKind;
use squall_wire::Origin;

use super::failure::SampleFailure;
use super::rendered::rendered;
use super::via;
use crate::net::origins::KnownOrigin;
use crate::parts::cache::Condition;
use crate::parts::cookies::Site;
use crate::parts::trace_context::TraceId;
use crate::parts::{names, url};
use crate::program::Policy;
use crate::program::call::{CallOp, ContentOp, Prepared, UrlOp};
use crate::program::render;
use crate::scope::UserScope;
use crate::scratch::Buffer;
use crate::worker::Worker;

/// Most characters of a URL that an error shows.
const MAX_SHOWN_URL: usize = 200;

/// One request, as far as it does not depend on the connection that carries it.
pub(crate) struct Call<'p, 'w> {
    pub method: &'p str,
    pub origin: Rc<KnownOrigin>,
    pub target: Target<'p, 'w>,
    /// Headers, credentials and body.
    pub content: &'p ContentOp,
    /// A body that a script has made, in place of one of the content.
    pub script_body: &'p [u8],
    /// Whether the body goes along (it does not after most redirects).
    pub with_body: bool,
    /// Whether credentials go along (they stay with the origin that they are for).
    pub trusted: bool,
    /// What it is asked for with; in the first exchange only.
    pub conditions: Vec<Condition>,
    /// Whether a redirect led there.
    pub is_redirected: bool,
    /// The trace that it belongs to.
    pub trace: Option<TraceId>,
}

/// Path and query of a request.
pub(crate) enum Target<'p, 'w> {
    /// Those of one that was rendered before the run.
    Prepared(&'p Prepared),
    Rendered(Buffer<'w>),
}

impl<'p, 'w> Call<'p, 'w> {
    /// A call made of values.
    pub(crate) fn new(
        worker: &'w Worker,
        (method, origin, path): (&'p str, Rc<KnownOrigin>, &[u8]),
        content: &'p ContentOp,
    ) -> Self {
        let target = Target::Rendered(worker.buffer(path));
        Call::to(worker, (method, origin, target), content)
    }

    pub(super) fn to(
        worker: &Worker,
        (method, origin, target): (&'p str, Rc<KnownOrigin>, Target<'p, 'w>),
        content: &'p ContentOp,
    ) -> Self {
        let trace = content.trace_context.then(|| worker.new_trace());
        Call {
            method,
            origin,
            target,
            content,
            script_body: &[],
            with_body: true,
            trusted: true,
            conditions: Vec::new(),
            is_redirected: false,
            trace,
        }
    }

    /// What a step of the plan sends for a user.
    ///
    /// # Errors
    /// Its URL cannot be rendered, is none, or leads where requests may not go.
    pub(super) fn of(
        worker: &'w Worker,
        op: &'p CallOp,
        scope: &UserScope<'_, '_>,
    ) -> Result<Self, SampleFailure> {
        let (origin, target) = match (&op.url, &op.prepared) {
            (UrlOp::Static { origin, .. }, Some(prepared)) => {
                (worker.named_origin(*origin), Target::Prepared(prepared))
            }
            (UrlOp::Static { origin, path }, None) => {
                (worker.named_origin(*origin), Target::Rendered(worker.buffer(path)))
            }
            (UrlOp::Path { origin, prefix, path: template }, _) => {
                let text = rendered(worker, template, scope)?;
                let mut path = worker.buffer(prefix);
                url::encode_path(&text, &mut path);
                (worker.named_origin(*origin), Target::Rendered(path))
            }
            (UrlOp::Any(template), _) => {
                let text = rendered(worker, template, scope)?;
                let (origin, path) = locate(worker, &String::from_utf8_lossy(&text), None)?;
                (origin, Target::Rendered(path))
            }
        };
        let origin = via::asked(worker, origin, op.via.as_deref(), scope)?;
        let mut call = Call::to(worker, (&*op.method, origin, target), &op.content);
        if let Target::Rendered(path) = &mut call.target {
            render::append_query(op, scope, path)?;
        }
        Ok(call)
    }

    /// The call that a redirect asks for (RFC 9110, section 15.4): 303 turns everything but HEAD
    /// into GET; 301 and 302 turn POST into GET, as all clients do; 307 and 308 keep the method. Where the
    /// plan says so, all turn everything but HEAD into GET.
    ///
    /// # Errors
    /// The location is no URL, or leads where requests may not go.
    pub(super) fn redirected(
        &self,
        worker: &'w Worker,
        policy: &Policy,
        status: u16,
        location: &[u8],
    ) -> Result<Self, SampleFailure> {
        let location = url::in_header(location);
        let (origin, path) = locate(worker, &location, Some(self))?;
        let becomes_get = match policy.redirect_to_get {
            true => self.method != "HEAD",
            false => becomes_get(self.method, status),
        };
        Ok(Call {
            method: if becomes_get { "GET" } else { self.method },
            target: Target::Rendered(path),
            content: self.content,
            script_body: self.script_body,
            with_body: self.with_body && !becomes_get,
            trusted: self.trusted && origin == self.origin,
            origin,
            conditions: Vec::new(),
            is_redirected: true,
            trace: self.trace,
        })
    }
}

/// Whether a redirect of this status asks for a GET in the place of a method.
pub(super) fn becomes_get(method: &str, status: u16) -> bool {
    match status {
        303 => method != "HEAD",
        301 | 302 => method == "POST",
        _ => false,
    }
}

impl Call<'_, '_> {
    pub(super) fn target(&self) -> &[u8] {
        match &self.target {
            Target::Prepared(prepared) => &prepared.path,
            Target::Rendered(path) => path,
        }
    }

    /// The path, without query.
    pub(super) fn path(&self) -> &str {
        let path = self.target().split(|byte| *byte == b'?').next().unwrap_or(b"/");
        std::str::from_utf8(path).unwrap_or("/")
    }

    /// Whether it asks for something, and no more.
    pub(super) fn is_get_or_head(&self) -> bool {
        matches!(self.method, "GET" | "HEAD")
    }

    /// Where it goes, for people.
    pub(super) fn url(&self) -> String {
        format!("{}{}", self.origin.origin, String::from_utf8_lossy(self.target()))
    }

    /// Where it goes, as far as cookies care.
    pub(super) fn site(&self) -> Site<'_> {
        site(&self.origin.origin, self.path())
    }
}

/// Where a request goes to a path of an origin, as far as cookies care.
pub(super) fn site<'s>(origin: &'s Origin, path: &'s str) -> Site<'s> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_secs() as i64);
    Site { host: &origin.host, path, secure: origin.is_tls(), now }
}

/// Origin and path of a URL that is known only now, if requests may go there. `base`: the call whose response has it;
/// `None`: it is the plan's.
fn locate<'w>(
    worker: &'w Worker,
    text: &str,
    base: Option<&Call<'_, '_>>,
) -> Result<(Rc<KnownOrigin>, Buffer<'w>), SampleFailure> {
    let is_of_plan = base.is_none();
    let bad = |error: url::UrlError| {
        // Masked before it is cut: what is left of a secret would not be known for one.
        let masked = worker.recorder.secrets().mask(text);
        let shown: String = masked.chars().take(MAX_SHOWN_URL).collect();
        let kind = if is_of_plan { ErrorKind::Render } else { ErrorKind::BadRedirect };
        SampleFailure::new(kind, format!("URL `{shown}`: {error}"))
    };
    let page = match (base, &worker.program.target) {
        (Some(call), _) => {
            Some((call.origin.clone(), String::from_utf8_lossy(call.target()).into_owned()))
        }
        (None, Some((origin, prefix))) => {
            Some((worker.named_origin(*origin), format!("{prefix}/")))
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
        _ => {
            allowed(worker, &location.origin, text)?;
            let asked = page.as_ref().map(|(known, _)| known.asked.clone());
            worker.known_origin(location.origin, asked.unwrap_or_default())
        }
    };
    Ok((origin, worker.buffer(location.path.as_bytes())))
}

/// Whether requests may go to an origin, which a text names.
///
/// # Errors
/// Why they may not.
pub(super) fn allowed(worker: &Worker, origin: &Origin, text: &str) -> Result<(), SampleFailure> {
    let hosts = &worker.program.hosts;
    if hosts.allows(&origin.host, origin.port) {
        return Ok(());
    }
    let masked = worker.recorder.secrets().mask(text);
    let hidden = (masked != text).then(|| names::limited(&masked));
    let reason = hosts.explain(&origin.host, origin.port, hidden.as_deref());
    Err(SampleFailure::new(ErrorKind::HostNotAllowed, reason))
}

#[cfg(test)]
mod tests;
