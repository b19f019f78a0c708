//! Requests, compiled: what is constant is rendered to bytes once, the rest is templates bound to slots.

mod body;
mod file;
mod framing;
mod headers;
mod resources;
mod url;
mod via;

use std::rc::Rc;

use squall_extract::Charset;
use squall_metrics::RowKind;
use squall_plan::model::{HttpOptions, Request, ResponseBody, Timeouts};

use self::headers::{add_content_type, has_header};
use super::call::{AuthOp, CallOp, ContentOp, HeaderOp};
use super::compiler::{Compiler, Noticed, following};
use super::limits::{Limits, TimeoutsOp};
use super::ops::{NameOp, PostOp, RowOp};
use super::samples::{CaptureOp, Policy, RequestOp};
use crate::parts::trace_context::TRACEPARENT;
use crate::program::render;

/// Most bytes of a body that something reads, where the plan gives no other limit.
pub(super) const DEFAULT_KEPT_BODY: u64 = 64 << 20;
/// Most decompressed bytes for each byte of a compressed body: text compresses to a hundredth at best.
const DEFAULT_DECOMPRESSION_RATIO: u64 = 200;

/// What the plan says of a request whose name depends on what it does.
fn source_of(request: &Request) -> String {
    match &request.name {
        Some(name) => name.source().to_owned(),
        None => format!("{} {}", request.method, request.url.source()),
    }
}

impl<'p> Compiler<'p> {
    /// Compiles a request; `None` after an error was noted.
    pub(super) fn request(&mut self, request: &'p Request) -> Option<RequestOp> {
        let url = self.url(request)?;
        let name = self.request_name(request, &url)?;
        let http = self.inherit_http(&request.http)?;
        let following = match &request.http.redirect_headers {
            None => self.following.clone(),
            own => Rc::new(following(own)),
        };
        let follows = |name: &str| following.contains(&name.to_ascii_lowercase());
        let mut headers = self.headers(request, &follows)?;
        let query = self.pairs(&request.query)?;
        let body = self.body(request, &headers)?;
        let charset = self.charset(request)?;
        self.hold_against_body(request, &headers, (&body, charset))?;
        framing::leave_type_to_body(&body, &mut headers);
        let mut headers = self.inherited_headers(headers, &request.body, &follows)?;
        add_content_type(&request.body, &mut headers);
        let auth = self.auth(http.auth.as_ref())?;
        self.noticed = Default::default();
        self.response_body = request.response_body.as_ref();
        let post = self.post_of(&name, &source_of(request), &request.extract, &request.check)?;
        self.response_body = None;
        let noticed = std::mem::take(&mut self.noticed);
        let status_errors = http.status_errors.unwrap_or(true) && !noticed.status;
        let resources = self.resources(request, &http, &name, &follows)?;
        let reads_body = noticed.body || post.iter().any(PostOp::reads_body) || resources.is_some();
        if reads_body && request.response_body == Some(ResponseBody::Discard) {
            let message =
                "a check or extract reads the body that `response_body: discard` throws away";
            let hint = "leave out `response_body`, or write `response_body: {keep: 64KiB}`";
            self.error(request.url.span(), message.to_owned(), hint);
        }
        let capture = self.capture(request)?;
        let limits = self.limits(request, &http, reads_body)?;
        let other_cookie = match &request.cookie_otherwise {
            Some(value) => Some(self.template(value)?),
            None => None,
        };
        let via = self.via(&http)?;
        self.note_destination_of(&url, via.as_deref());
        let content = ContentOp {
            other_cookie,
            auth_follows: follows("Authorization"),
            body,
            charset,
            ..self.content(&http, headers, auth)
        };
        let method = request.method.clone().into();
        let mut call = CallOp { method, url, query, via, content, prepared: None };
        call.prepared = render::prepare(self, &call);
        let row = self.row(name, RowKind::Request, request.counted);
        let policy = Policy {
            cache: http.cache.filter(|_| request.method == "GET").unwrap_or_default(),
            capture,
            sees_digest: matches!(request.response_body, Some(ResponseBody::Digest(_))),
            status_errors,
            resources,
            ..self.policy(&http, row, limits, (post, noticed))
        };
        Some(RequestOp { call, policy })
    }

    /// Where the response's body goes besides; the outer `None` after an error was noted.
    fn capture(&mut self, request: &'p Request) -> Option<Option<CaptureOp>> {
        Some(match &request.response_body {
            Some(ResponseBody::Hash(algorithm) | ResponseBody::Digest(algorithm)) => {
                Some(CaptureOp::Hash(*algorithm))
            }
            Some(ResponseBody::File(path)) => {
                let (fixed, is_all) = self.said_by_plan(path);
                let fixed = (!is_all).then(|| fixed.into());
                Some(CaptureOp::File { path: self.template(path)?, fixed })
            }
            Some(ResponseBody::Discard | ResponseBody::Keep(_)) | None => None,
        })
    }

    /// What a request carries beside its body.
    fn content(&self, http: &HttpOptions, headers: Vec<HeaderOp>, auth: AuthOp) -> ContentOp {
        let is_traced = http.trace_context.unwrap_or(false);
        ContentOp {
            default_headers: http.default_headers.unwrap_or(true),
            compression: http.compression.unwrap_or(false),
            own_cookie: has_header(&headers, b"cookie: "),
            // Not where the plan gives the header.
            trace_context: is_traced && !has_header(&headers, TRACEPARENT),
            headers,
            auth,
            ..ContentOp::default()
        }
    }

    /// What becomes of a request, or of a resource of its page.
    fn policy(
        &mut self,
        http: &HttpOptions,
        row: RowOp,
        (limits, timeouts): (Limits, Option<Box<TimeoutsOp>>),
        (post, noticed): (Vec<PostOp>, Noticed),
    ) -> Policy {
        Policy {
            row,
            limits,
            timeouts,
            retry_stale: http.retry_stale.unwrap_or(true),
            redirect_to_get: http.redirect_to_get.unwrap_or(false),
            redirect_cookies: http.redirect_cookies.unwrap_or(true),
            cookies: http.cookies.unwrap_or(true),
            jar: self.stores.jar(http.cookie_jar.as_deref()),
            cache: Default::default(),
            cache_number: self.stores.cache(http.cache_name.as_deref()),
            capture: None,
            sees_digest: false,
            reads_sent: noticed.sent,
            status_errors: !noticed.status,
            post,
            resources: None,
        }
    }

    /// How a sample of the step at hand counts.
    pub(in crate::program) fn row(
        &mut self,
        name: NameOp,
        kind: RowKind,
        counted: Option<bool>,
    ) -> RowOp {
        let (place, step) = (self.row_place(kind), self.step.as_str().into());
        RowOp { name, place, step, counted: counted.unwrap_or(true) }
    }

    /// The encoding of what is sent; `None` after an error was noted.
    fn charset(&mut self, request: &Request) -> Option<Option<Charset>> {
        let Some(label) = &request.charset else { return Some(None) };
        let charset = Charset::of(&label.value);
        if charset.is_none() {
            let message = format!("unknown encoding `{}`", label.value);
            let help = "labels are those of the WHATWG Encoding Standard, such as windows-1252, gbk, shift_jis";
            self.error(label.span, message, help);
        }
        let is_known = self.charsets.iter().any(|(known, _)| *known == label.value);
        self.charsets.extend(charset.filter(|_| !is_known).map(|own| (label.value.clone(), own)));
        charset.map(Some)
    }

    /// The bounds of a request, and those of time that its user decides; `None` after an error was noted.
    fn limits(
        &mut self,
        request: &Request,
        http: &HttpOptions,
        reads_body: bool,
    ) -> Option<(Limits, Option<Box<TimeoutsOp>>)> {
        let keep = match request.response_body {
            Some(ResponseBody::Keep(bytes)) => bytes,
            Some(ResponseBody::Digest(_)) => 0,
            _ if reads_body => u64::MAX,
            _ => 0,
        };
        let limits = Limits {
            redirects: http.redirects.unwrap_or(0),
            max_body: http.max_body.unwrap_or(if keep == u64::MAX {
                DEFAULT_KEPT_BODY
            } else {
                u64::MAX
            }),
            max_decompression_ratio: http
                .max_decompression_ratio
                .unwrap_or(DEFAULT_DECOMPRESSION_RATIO),
            keep,
            compression: http.compression.unwrap_or(false),
            ..Limits::NONE
        };
        self.timed(limits, &http.timeout)
    }

    /// Limits with those of time; `None` after an error was noted.
    pub(super) fn timed(
        &mut self,
        limits: Limits,
        timeouts: &Timeouts,
    ) -> Option<(Limits, Option<Box<TimeoutsOp>>)> {
        let timeouts = self.timeouts(timeouts)?;
        Some(match timeouts.known(limits) {
            Some(limits) => (limits, None),
            None => (limits, Some(Box::new(timeouts))),
        })
    }
}
