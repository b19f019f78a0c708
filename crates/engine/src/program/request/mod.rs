//! Requests, compiled: what is constant is rendered to bytes once, the rest is templates bound to slots.

mod body;
mod file;
mod framing;
mod headers;
mod resources;
mod tcp;
mod url;
mod via;

use std::rc::Rc;

use squall_extract::Charset;
use squall_metrics::RowKind;
use squall_plan::model::{HttpOptions, Request, ResponseBody, Timeouts};

use self::headers::{add_content_type, has_header};
use super::compiler::{Compiler, following};
use super::ops::{CaptureOp, HeaderOp, Limits, PostOp, RequestOp, TimeoutsOp};
use crate::parts::trace_context::TRACEPARENT;
use crate::program::render;

/// Most bytes of a body that something reads, where the plan gives no other limit.
const DEFAULT_KEPT_BODY: u64 = 64 << 20;
/// Most decompressed bytes for each byte of a compressed body: text compresses to a hundredth at best.
const DEFAULT_DECOMPRESSION_RATIO: u64 = 200;

/// Whether a request carries a trace ID of its own: not where the plan gives the header.
fn has_trace_context(http: &HttpOptions, headers: &[HeaderOp]) -> bool {
    http.trace_context.unwrap_or(false) && !has_header(headers, TRACEPARENT)
}

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
        let capture = match &request.response_body {
            Some(ResponseBody::Hash(algorithm) | ResponseBody::Digest(algorithm)) => {
                Some(CaptureOp::Hash(*algorithm))
            }
            Some(ResponseBody::File(path)) => {
                let (fixed, is_all) = self.said_by_plan(path);
                let fixed = (!is_all).then(|| fixed.into());
                Some(CaptureOp::File { path: self.template(path)?, fixed })
            }
            Some(ResponseBody::Discard | ResponseBody::Keep(_)) | None => None,
        };
        let (limits, timeouts) = self.limits(request, &http, reads_body)?;
        let other_cookie = match &request.cookie_otherwise {
            Some(value) => Some(self.template(value)?),
            None => None,
        };
        let via = self.via(&http)?;
        self.note_destination_of(&url, via.as_deref());
        let mut op = RequestOp {
            name,
            place: self.row_place(RowKind::Request),
            step: self.step.as_str().into(),
            method: request.method.clone().into(),
            url,
            prepared: None,
            own_cookie: has_header(&headers, b"cookie: "),
            other_cookie,
            trace_context: has_trace_context(&http, &headers),
            cookies: http.cookies.unwrap_or(true),
            jar: self.stores.jar(http.cookie_jar.as_deref()),
            redirect_cookies: http.redirect_cookies.unwrap_or(true),
            redirect_to_get: http.redirect_to_get.unwrap_or(false),
            cache: http.cache.filter(|_| request.method == "GET").unwrap_or_default(),
            cache_number: self.stores.cache(http.cache_name.as_deref()),
            default_headers: http.default_headers.unwrap_or(true),
            headers,
            query,
            body,
            charset,
            auth,
            via,
            reads_sent: noticed.sent,
            auth_follows: follows("Authorization"),
            limits,
            timeouts,
            capture,
            sees_digest: matches!(request.response_body, Some(ResponseBody::Digest(_))),
            retry_stale: http.retry_stale.unwrap_or(true),
            counted: request.counted.unwrap_or(true),
            status_errors,
            post,
            resources,
        };
        op.prepared = render::prepare(self, &op);
        Some(op)
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
    fn timed(
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
