//! How the resources of a page are loaded.

use squall_extract::Spec;
use squall_metrics::RowKind;
use squall_plan::model::{Body, HttpOptions, Request, ResourceHosts, Resources, ResponseBody};
use squall_plan::span::Spanned;
use squall_plan::template::BoundTemplate;

use super::headers::has_header;
use super::{framing, has_trace_context, source_of};
use crate::program::compiler::Compiler;
use crate::program::ops::{BodyOp, FromOp, NameOp, PostOp, RequestOp, ResourcesOp, UrlOp};

/// Most redirects of a resource, unless the page may follow more: as browsers have it.
const RESOURCE_REDIRECTS: u32 = 20;

impl<'p> Compiler<'p> {
    /// How the resources of a page are loaded; the outer `None` after an error was noted.
    /// `follows` says which headers go along to other origins.
    pub(super) fn resources(
        &mut self,
        request: &'p Request,
        http: &HttpOptions,
        name: &NameOp,
        follows: &dyn Fn(&str) -> bool,
    ) -> Option<Option<Box<ResourcesOp>>> {
        let Some(resources) = http.resources.as_ref().filter(|resources| resources.load) else {
            return Some(None);
        };
        if let Some(ResponseBody::Discard | ResponseBody::Keep(_) | ResponseBody::Digest(_)) =
            request.response_body
        {
            let message = "the resources of a page are found in its body, which `response_body` does not keep";
            let hint = "leave out `response_body`, or write `resources: false`";
            self.error(request.url.span(), message.to_owned(), hint);
            return None;
        }
        let group = self.row_place(RowKind::Group);
        let file = self.resource(request, http, name, resources, follows, false)?;
        let document = self.resource(request, http, name, resources, follows, true)?;
        let mut pattern = |pattern: &Option<Spanned<String>>| match pattern {
            None => Some(None),
            Some(text) => {
                let spec = Spec::Regex { pattern: &text.value, group: Some(0) };
                match self.extractor(spec, text.span)? {
                    FromOp::Body(extractor) => Some(Some(extractor)),
                    _ => Some(None),
                }
            }
        };
        Some(Some(Box::new(ResourcesOp {
            group,
            limit: resources.limit.max(1) as usize,
            include: pattern(&resources.include)?,
            exclude: pattern(&resources.exclude)?,
            same_host: resources.hosts == ResourceHosts::Same,
            css_urls: resources.css_urls,
            cache: resources.cache,
            file,
            document,
        })))
    }

    /// How one is requested, whose body names others or does not.
    fn resource(
        &mut self,
        request: &'p Request,
        http: &HttpOptions,
        name: &NameOp,
        resources: &Resources,
        follows: &dyn Fn(&str) -> bool,
        names_others: bool,
    ) -> Option<RequestOp> {
        // What looks at the page looks at these, too, as far as the plan says so.
        self.noticed = Default::default();
        let extracts = request.extract.iter().filter(|extract| extract.resources);
        let checks = request.check.iter().filter(|check| check.resources);
        let post = self.post_of(name, &source_of(request), extracts, checks)?;
        let noticed = std::mem::take(&mut self.noticed);
        let reads_body = names_others || noticed.body || post.iter().any(PostOp::reads_body);
        let status_errors = !noticed.status;
        let (mut own, stay): (_, &dyn Fn(&str) -> bool) = match resources.headers {
            true => (self.headers(request, follows)?, follows),
            false => (Vec::new(), &|_| false),
        };
        framing::without_length(&mut own);
        let headers = self.inherited_headers(own, &Body::None, stay)?;
        let (mut limits, timeouts) = self.limits(request, http, reads_body)?;
        limits.redirects = limits.redirects.max(RESOURCE_REDIRECTS);
        Some(RequestOp {
            name: NameOp::FromUrl,
            place: self.row_place(RowKind::Resource),
            step: self.step.as_str().into(),
            method: "GET".into(),
            url: UrlOp::Any(BoundTemplate::literal("")),
            prepared: None,
            own_cookie: has_header(&headers, b"cookie: "),
            other_cookie: None,
            trace_context: has_trace_context(http, &headers),
            cookies: http.cookies.unwrap_or(true),
            jar: self.stores.jar(http.cookie_jar.as_deref()),
            redirect_cookies: http.redirect_cookies.unwrap_or(true),
            redirect_to_get: http.redirect_to_get.unwrap_or(false),
            cache: resources.cache,
            cache_number: self.stores.cache(http.cache_name.as_deref()),
            default_headers: http.default_headers.unwrap_or(true),
            headers,
            query: Vec::new(),
            body: BodyOp::None,
            charset: None,
            auth: self.auth(http.auth.as_ref())?,
            via: None,
            reads_sent: noticed.sent,
            auth_follows: false,
            limits,
            timeouts,
            capture: None,
            sees_digest: false,
            retry_stale: http.retry_stale.unwrap_or(true),
            counted: true,
            status_errors,
            post,
            resources: None,
        })
    }
}
