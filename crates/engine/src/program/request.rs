//! Requests and programs to run, compiled: what is constant is rendered to bytes once, the rest is
//! templates bound to slots, extractors and checks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use squall_extract::{Extractor, Spec};
use squall_metrics::RowKind;
use squall_plan::model::{
    Auth, Body, Check, Cookie, Exec, Extract, Extractor as From, FormPartContent, Json, Request,
    ResourceHosts, ResponseBody,
};
use squall_plan::span::{Span, Spanned};
use squall_plan::template::{BoundPart, BoundTemplate, Template, TemplatePart};
use squall_plan::value::Value;
use squall_wire::Origin;

use super::compile::Compiler;
use super::ops::*;
use super::scope::Intrinsic;
use crate::parts::replace::Markers;
use crate::parts::{confined, names, url};
use crate::render;

/// Most bytes of a body that something reads, where the plan gives no other limit.
const DEFAULT_KEPT_BODY: u64 = 64 << 20;
/// Most decompressed bytes for each byte of a compressed body: text compresses to a hundredth at best.
const DEFAULT_DECOMPRESSION_RATIO: u64 = 200;
/// Most redirects of a resource, unless the page may follow more: as browsers have it.
const RESOURCE_REDIRECTS: u32 = 20;
/// Limit of time of a program, where the plan gives none.
const DEFAULT_EXEC: Duration = Duration::from_secs(60);

impl<'p> Compiler<'p> {
    /// Compiles a request; `None` after an error was noted.
    pub(super) fn request(&mut self, request: &'p Request) -> Option<RequestOp> {
        let url = self.url(request)?;
        let name = self.request_name(request, &url)?;
        let following = request.redirect_headers.as_ref();
        let following = following.or(self.defaults.redirect_headers.as_ref());
        let follows = |name: &str| {
            following.iter().copied().flatten().any(|own| own.value.eq_ignore_ascii_case(name))
        };
        let mut headers = self.headers(request, &follows)?;
        let query = self.pairs(&request.query)?;
        let body = self.body(&request.body, &mut headers)?;
        let auth = self.auth(request.auth.as_ref().or(self.defaults.auth.as_ref()))?;
        self.noticed = Default::default();
        self.response_body = request.response_body.as_ref();
        let post = self.post(&request.extract, &request.check)?;
        self.response_body = None;
        let noticed = std::mem::take(&mut self.noticed);
        let status_errors = request.status_errors.or(self.defaults.status_errors).unwrap_or(true)
            && !noticed.status;
        let resources = self.resources(request)?;
        let reads_body = noticed.body || post.iter().any(PostOp::reads_body) || resources.is_some();
        if reads_body && request.response_body == Some(ResponseBody::Discard) {
            let message =
                "a check or extract reads the body that `response_body: discard` throws away";
            let hint = "leave out `response_body`, or write `response_body: {keep: 64KiB}`";
            self.error(request.url.span(), message.to_owned(), hint);
        }
        let capture = match &request.response_body {
            Some(ResponseBody::Hash(algorithm)) => Some(CaptureOp::Hash(*algorithm)),
            Some(ResponseBody::File(path)) => {
                let (fixed, is_all) = self.said_by_plan(path);
                let fixed = (!is_all).then(|| fixed.into());
                Some(CaptureOp::File { path: self.template(path)?, fixed })
            }
            Some(ResponseBody::Discard | ResponseBody::Keep(_)) | None => None,
        };
        let (limits, timeouts) = self.limits(request, reads_body)?;
        let mut op = RequestOp {
            name,
            place: self.row_place(RowKind::Request),
            step: self.step.as_str().into(),
            method: request.method.clone().into(),
            url,
            prepared: None,
            own_cookie: has_cookie(&headers),
            cookies: self.keeps_cookies(request),
            default_headers: self.has_default_headers(request),
            headers,
            query,
            body,
            auth,
            auth_follows: follows("Authorization"),
            limits,
            timeouts,
            capture,
            retry_stale: self.retries_stale(request),
            status_errors,
            post,
            resources,
        };
        op.prepared = render::prepare(self, &op);
        Some(op)
    }

    /// Whether it is repeated on a new connection where the target had closed the old one.
    fn retries_stale(&self, request: &Request) -> bool {
        request.retry_stale.or(self.defaults.retry_stale).unwrap_or(true)
    }

    /// Whether the user's cookies go along, and those of the response are kept.
    fn keeps_cookies(&self, request: &Request) -> bool {
        request.cookies.or(self.defaults.cookies).unwrap_or(true)
    }

    /// Whether `User-Agent` and `Accept` are sent where the plan has no such header.
    fn has_default_headers(&self, request: &Request) -> bool {
        request.default_headers.or(self.defaults.default_headers).unwrap_or(true)
    }

    /// How the resources of a page are loaded; the outer `None` after an error was noted.
    fn resources(&mut self, request: &'p Request) -> Option<Option<Box<ResourcesOp>>> {
        let resources = request.resources.as_ref().or(self.defaults.resources.as_ref());
        let Some(resources) = resources.filter(|resources| resources.load) else {
            return Some(None);
        };
        if let Some(ResponseBody::Discard | ResponseBody::Keep(_)) = request.response_body {
            let message = "the resources of a page are found in its body, which `response_body` does not keep";
            let hint = "leave out `response_body`, or write `resources: false`";
            self.error(request.url.span(), message.to_owned(), hint);
            return None;
        }
        let group = self.row_place(RowKind::Group);
        let mut op = |reads_body| {
            let headers = self.inherited_headers(Vec::new(), &|_| false)?;
            let (mut limits, timeouts) = self.limits(request, reads_body)?;
            limits.redirects = limits.redirects.max(RESOURCE_REDIRECTS);
            Some(RequestOp {
                name: NameOp::FromUrl,
                place: self.row_place(RowKind::Resource),
                step: self.step.as_str().into(),
                method: "GET".into(),
                url: UrlOp::Any(BoundTemplate::literal("")),
                prepared: None,
                own_cookie: has_cookie(&headers),
                cookies: self.keeps_cookies(request),
                default_headers: self.has_default_headers(request),
                headers,
                query: Vec::new(),
                body: BodyOp::None,
                auth: self.auth(request.auth.as_ref().or(self.defaults.auth.as_ref()))?,
                auth_follows: false,
                limits,
                timeouts,
                capture: None,
                retry_stale: self.retries_stale(request),
                status_errors: true,
                post: Vec::new(),
                resources: None,
            })
        };
        let (file, document) = (op(false)?, op(true)?);
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
            cache: resources.cache,
            file,
            document,
        })))
    }

    fn url(&mut self, request: &'p Request) -> Option<UrlOp> {
        let template = self.template(&request.url)?;
        let constant = template.constant();
        let begins = match (&constant, template.parts().first()) {
            (Some(text), _) => text.clone(),
            (None, Some(BoundPart::Text(text))) => text.to_string(),
            (None, _) => String::new(),
        };
        let on_target = begins.starts_with('/') && !begins.starts_with("//");
        let unknown = begins.is_empty() && constant.is_none();
        if !on_target && !begins.contains("://") && !unknown {
            let message = format!("invalid URL `{}`", request.url.source());
            self.error(
                request.url.span(),
                message,
                "a path on the target begins with `/`, a URL with http:// or https://",
            );
            return None;
        }
        if on_target && self.target.is_none() {
            let message = "this path needs a target, and the plan has none".to_owned();
            self.error(request.url.span(), message, "add `target: http://...`, or give --target");
            return None;
        }
        match (constant, &self.target) {
            (Some(text), Some((origin, prefix))) if on_target => {
                let mut path = prefix.clone().into_bytes();
                url::encode_path(text.split('#').next().unwrap_or_default().as_bytes(), &mut path);
                Some(UrlOp::Static { origin: *origin, path: path.into() })
            }
            (None, Some((origin, prefix))) if on_target => Some(UrlOp::Path {
                origin: *origin,
                prefix: prefix.as_bytes().into(),
                path: template,
            }),
            (Some(text), _) => self.absolute(&text, template, request),
            (None, _) => {
                if let Some(origin) = self.named_origin(&request.url) {
                    self.hosts.allow_origin(&origin.host, origin.port);
                }
                Some(UrlOp::Any(template))
            }
        }
    }

    /// A URL that is known before the load. A host that the plan names may be loaded; one that only setup
    /// has found has to be allowed, which is looked at when the request is made.
    fn absolute(
        &mut self,
        text: &str,
        template: BoundTemplate,
        request: &Request,
    ) -> Option<UrlOp> {
        let (origin, path) = match url::parse(text) {
            Ok(url::Location { origin, path, .. }) => (origin, path),
            Err(error) => {
                self.error(request.url.span(), format!("invalid URL `{text}`: {error}"), "");
                return None;
            }
        };
        if self.named_origin(&request.url).is_none()
            && !self.hosts.allows(&origin.host, origin.port)
        {
            return Some(UrlOp::Any(template));
        }
        Some(UrlOp::Static { origin: self.origin(origin), path: path.into_bytes().into() })
    }

    /// The origin of a URL, where the plan itself names it: before anything that is found only by setup or
    /// while the load runs.
    fn named_origin(&mut self, url: &Template) -> Option<Origin> {
        let (text, is_all) = self.said_by_plan(url);
        origin_of(&text, is_all)
    }

    /// The beginning of a text that the plan itself says, before anything that is found only by setup or
    /// while the load runs, and whether that is all of it.
    fn said_by_plan(&mut self, template: &Template) -> (String, bool) {
        let mut text = String::new();
        for part in template.parts() {
            match part {
                TemplatePart::Text(part) => text.push_str(part),
                TemplatePart::Expr(expr) => {
                    let of_setup = |(path, _): &(Vec<String>, Span)| self.is_of_setup(&path[0]);
                    let value = (!expr.names().iter().any(of_setup))
                        .then(|| self.formula(expr))
                        .flatten()
                        .and_then(|expr| expr.constant().cloned());
                    let Some(value) = value else { return (text, false) };
                    text.push_str(&value.to_string());
                }
            }
        }
        (text, true)
    }

    /// The bounds of a request, and those of time that its user decides; `None` after an error was noted.
    fn limits(
        &mut self,
        request: &Request,
        reads_body: bool,
    ) -> Option<(Limits, Option<Box<TimeoutsOp>>)> {
        let timeouts = self.timeouts(&request.timeout, &self.defaults.timeout)?;
        let max_body = request.max_body.or(self.defaults.max_body);
        let keep = match request.response_body {
            Some(ResponseBody::Keep(bytes)) => bytes,
            _ if reads_body => u64::MAX,
            _ => 0,
        };
        let limits = Limits {
            pool: u64::MAX,
            connect: u64::MAX,
            first_byte: u64::MAX,
            total: u64::MAX,
            redirects: request.redirects.or(self.defaults.redirects).unwrap_or(0),
            max_body: max_body.unwrap_or(if keep == u64::MAX {
                DEFAULT_KEPT_BODY
            } else {
                u64::MAX
            }),
            max_decompression_ratio: request
                .max_decompression_ratio
                .or(self.defaults.max_decompression_ratio)
                .unwrap_or(DEFAULT_DECOMPRESSION_RATIO),
            keep,
            compression: request.compression.or(self.defaults.compression).unwrap_or(false),
        };
        Some(match timeouts.known(limits) {
            Some(limits) => (limits, None),
            None => (limits, Some(Box::new(timeouts))),
        })
    }

    fn request_name(&mut self, request: &'p Request, url: &UrlOp) -> Option<NameOp> {
        if let Some(name) = &request.name {
            let name = self.template(name)?;
            return Some(match name.constant() {
                Some(text) => NameOp::Static(self.name(RowKind::Request, &text)),
                None => NameOp::Rendered(name),
            });
        }
        let parts = request.url.parts();
        // A whole URL in a variable is named after what it turns out to be.
        let is_path = matches!(parts.first(), Some(TemplatePart::Text(_)));
        let path = match url {
            UrlOp::Static { path, .. } if parts.len() == 1 || !is_path => {
                names::without_query(&String::from_utf8_lossy(path)).to_owned()
            }
            UrlOp::Any(_) if !is_path => return Some(NameOp::FromUrl),
            UrlOp::Static { .. } | UrlOp::Path { .. } | UrlOp::Any(_) => {
                let prefix = self.target.as_ref().map_or("", |(_, prefix)| prefix.as_str());
                names::of_template(prefix, parts)
            }
        };
        // A short secret is masked where it was put, and a name has what was put into the path.
        let name = self.secrets.mask_own(&format!("{} {path}", request.method));
        Some(NameOp::Static(self.name(RowKind::Request, &name)))
    }

    fn headers(
        &mut self,
        request: &'p Request,
        follows: &dyn Fn(&str) -> bool,
    ) -> Option<Vec<HeaderOp>> {
        let mut headers = Vec::new();
        for (name, value) in &request.headers {
            headers.push(self.header(name, value, follows)?);
        }
        self.inherited_headers(headers, follows)
    }

    /// Adds the defaults' headers to those that a request has of its own.
    fn inherited_headers(
        &mut self,
        mut headers: Vec<HeaderOp>,
        follows: &dyn Fn(&str) -> bool,
    ) -> Option<Vec<HeaderOp>> {
        let defaults = self.defaults;
        for (name, value) in &defaults.headers {
            let header = self.header(name, value, follows)?;
            if !headers.iter().any(|own| own.name.eq_ignore_ascii_case(&header.name)) {
                headers.push(header);
            }
        }
        Some(headers)
    }

    fn header(
        &mut self,
        name: &'p Template,
        value: &'p Template,
        follows: &dyn Fn(&str) -> bool,
    ) -> Option<HeaderOp> {
        let bound = self.template(name)?;
        let text = bound.constant().unwrap_or_default();
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if text.is_empty() || !text.bytes().all(token) {
            self.error(
                name.span(),
                format!("invalid header name `{}`", name.source()),
                "use letters, digits and `-`; the name must be known before the run",
            );
            return None;
        }
        let is_secret = confined::by_name(text.as_bytes()) || self.holds_secret(value);
        let value = self.template(value)?;
        let name = format!("{text}: ").into_bytes().into();
        Some(HeaderOp { name, value, is_confined: is_secret && !follows(&text) })
    }

    /// Whether a text of the plan is made of a variable that is secret.
    fn holds_secret(&self, text: &Template) -> bool {
        text.parts().iter().any(|part| match part {
            TemplatePart::Text(_) => false,
            TemplatePart::Expr(expr) => {
                expr.names().iter().any(|(path, _)| self.is_secret(&path[0]))
            }
        })
    }

    fn pairs(
        &mut self,
        pairs: &'p [(Template, Template)],
    ) -> Option<Vec<(BoundTemplate, BoundTemplate)>> {
        pairs
            .iter()
            .map(|(name, value)| Some((self.template(name)?, self.template(value)?)))
            .collect()
    }

    /// Compiles a body, and adds the content type that goes with it unless the plan gives one.
    fn body(&mut self, body: &'p Body, headers: &mut Vec<HeaderOp>) -> Option<BodyOp> {
        let (body, content_type) = match body {
            Body::None => (BodyOp::None, None),
            Body::Text(text) => (BodyOp::Text(self.template(text)?), None),
            Body::File { path, decompress, replace } => {
                (self.file_body(path, *decompress, replace)?, None)
            }
            Body::Json(json) => (BodyOp::Json(self.json(json)?), Some("application/json")),
            Body::Form(pairs) => {
                (BodyOp::Form(self.pairs(pairs)?), Some("application/x-www-form-urlencoded"))
            }
            Body::Multipart(parts) => {
                let parts = parts.iter().map(|part| self.part(part)).collect::<Option<_>>()?;
                (BodyOp::Multipart(parts), None)
            }
        };
        let name = b"Content-Type: ";
        if let Some(content_type) = content_type
            && !headers.iter().any(|own| own.name.eq_ignore_ascii_case(name))
        {
            let value = BoundTemplate::literal(content_type);
            headers.push(HeaderOp { name: name.as_slice().into(), value, is_confined: false });
        }
        Some(body)
    }

    /// A template that need not be there; the outer `None` after an error was noted.
    fn optional(&mut self, template: Option<&'p Template>) -> Option<Option<BoundTemplate>> {
        match template {
            Some(template) => self.template(template).map(Some),
            None => Some(None),
        }
    }

    fn part(&mut self, part: &'p squall_plan::model::FormPart) -> Option<PartOp> {
        let name = self.template(&part.name)?;
        let content_type = self.optional(part.content_type.as_ref())?;
        Some(match &part.content {
            FormPartContent::Text(text) => {
                PartOp::Text { name, text: self.template(text)?, content_type }
            }
            FormPartContent::File { path, filename } => {
                let path = self.file(path)?;
                PartOp::File {
                    name,
                    path,
                    filename: self.optional(filename.as_ref())?,
                    content_type,
                }
            }
        })
    }

    /// A file as the body. One that is changed on its way is read through once, before the run.
    fn file_body(
        &mut self,
        path: &'p Spanned<PathBuf>,
        decompress: bool,
        replace: &'p [(Spanned<String>, Template)],
    ) -> Option<BodyOp> {
        let file = self.file(path)?;
        if replace.is_empty() && !decompress {
            return Some(BodyOp::File(file));
        }
        let markers = replace.iter().map(|(marker, _)| marker.value.clone()).collect();
        match Markers::scan(&file, decompress, markers) {
            Ok(markers) => {
                let values = replace.iter().map(|(_, value)| self.template(value));
                Some(BodyOp::Replaced(Arc::new(markers), values.collect::<Option<_>>()?))
            }
            Err(error) => {
                self.error(path.span, format!("cannot read {}: {error}", file.display()), "");
                None
            }
        }
    }

    /// Notes an error now if a file is not there, and not in the middle of the run.
    fn file(&mut self, path: &Spanned<PathBuf>) -> Option<PathBuf> {
        // Looked at before it is opened: to open a pipe would wait for its other end.
        let is_file = std::fs::metadata(&path.value).map(|metadata| metadata.is_file());
        let opened = is_file.and_then(|is_file| match is_file {
            true => std::fs::File::open(&path.value),
            false => Err(std::io::Error::other("expected a file, found a directory or a device")),
        });
        match opened {
            Ok(_) => Some(path.value.clone()),
            Err(error) => {
                self.error(
                    path.span,
                    format!("cannot open {}: {error}", path.value.display()),
                    "paths are relative to the folder of the plan",
                );
                None
            }
        }
    }

    fn auth(&mut self, auth: Option<&'p Auth>) -> Option<AuthOp> {
        Some(match auth {
            None => AuthOp::None,
            Some(Auth::Basic { user, password }) => {
                AuthOp::Basic { user: self.template(user)?, password: self.template(password)? }
            }
            Some(Auth::Bearer(token)) => AuthOp::Bearer(self.template(token)?),
            Some(Auth::Digest { user, password }) => {
                AuthOp::Digest { user: self.template(user)?, password: self.template(password)? }
            }
        })
    }

    /// Compiles a JSON-like value.
    pub(super) fn json(&mut self, json: &'p Json) -> Option<JsonOp> {
        Some(match json {
            Json::Null => JsonOp::Constant(Value::Null),
            Json::Bool(value) => JsonOp::Constant(Value::Bool(*value)),
            Json::Int(value) => JsonOp::Constant(Value::Int(*value)),
            Json::Float(value) => JsonOp::Constant(Value::Float(*value)),
            Json::Text(text) => {
                let text = self.template(text)?;
                match text.constant_value() {
                    Some(value) => JsonOp::Constant(value),
                    None => JsonOp::Text(text),
                }
            }
            Json::List(items) => {
                JsonOp::List(items.iter().map(|item| self.json(item)).collect::<Option<_>>()?)
            }
            Json::Map(entries) => JsonOp::Map(
                entries
                    .iter()
                    .map(|(key, value)| Some((self.template(key)?, self.json(value)?)))
                    .collect::<Option<_>>()?,
            ),
        })
    }

    /// Extracts, and then the checks that may look at what they found.
    fn post(&mut self, extracts: &'p [Extract], checks: &'p [Check]) -> Option<Vec<PostOp>> {
        let mut post = Vec::new();
        for extract in extracts {
            post.push(PostOp::Extract(self.extract(extract)?));
        }
        post.extend(self.checks(checks)?.into_iter().map(PostOp::Check));
        Some(post)
    }

    fn extract(&mut self, extract: &'p Extract) -> Option<ExtractOp> {
        let from = match &extract.from {
            From::Regex { pattern, group } => self
                .extractor(Spec::Regex { pattern: &pattern.value, group: *group }, pattern.span)?,
            From::Between { left, right } => {
                self.extractor(Spec::Between { left: &left.value, right: &right.value }, left.span)?
            }
            From::Json(path) => self.extractor(Spec::Json(&path.value), path.span)?,
            From::Css { selector, attr } => self.extractor(
                Spec::Css { selector: &selector.value, attr: attr.as_deref() },
                selector.span,
            )?,
            From::XPath(path) => self.extractor(Spec::XPath(&path.value), path.span)?,
            From::Header(name) => FromOp::Header(name.clone().into()),
            From::Cookie(name) => FromOp::Cookie(name.clone().into()),
            From::Status => FromOp::Status,
            From::BodyHash => self.captured(Intrinsic::BodyHash, extract.variable.span)?,
            From::BodyFile => self.captured(Intrinsic::BodyFile, extract.variable.span)?,
        };
        let default = match &extract.default {
            Some(json) => Some(self.json(json)?),
            None => None,
        };
        Some(ExtractOp {
            slot: self.slot(&extract.variable.value),
            variable: extract.variable.value.clone().into(),
            source: extract_source(&extract.from).into(),
            from,
            which: extract.which,
            default,
        })
    }

    /// The hash or the path of the body, which the request must have asked for.
    fn captured(&mut self, which: Intrinsic, span: Span) -> Option<FromOp> {
        match self.check_captured(which) {
            Ok(()) => Some(FromOp::Captured),
            Err(error) => {
                self.error_at(error, span);
                None
            }
        }
    }

    fn extractor(&mut self, spec: Spec<'_>, span: Span) -> Option<FromOp> {
        match Extractor::compile(&spec) {
            Ok(extractor) => Some(FromOp::Body(Arc::new(extractor))),
            Err(error) => {
                self.error(span, error.message, error.help.as_deref().unwrap_or_default());
                None
            }
        }
    }

    fn checks(&mut self, checks: &'p [Check]) -> Option<Vec<CheckOp>> {
        self.sees_response = true;
        let ops = checks
            .iter()
            .map(|check| {
                let text = check.name.as_deref().unwrap_or(check.expr.source());
                let formula = self.formula(&check.expr)?;
                let row = self.name(RowKind::Check, text);
                Some(CheckOp { row, formula, text: text.into(), warn: check.warn })
            })
            .collect();
        self.sees_response = false;
        ops
    }

    /// Compiles a cookie to set; `None` after an error was noted.
    pub(super) fn cookie(&mut self, cookie: &'p Cookie) -> Option<CookieOp> {
        let mut optional = |template: &Option<Template>| match template {
            Some(template) => self.template(template).map(Some),
            None => Some(None),
        };
        let (url, domain, path) =
            (optional(&cookie.url)?, optional(&cookie.domain)?, optional(&cookie.path)?);
        if url.is_none() && domain.is_none() && self.target.is_none() {
            let message = "this cookie is for the target's host, and the plan has no target";
            self.error(cookie.name.span(), message.to_owned(), "add `domain`, or `url`");
            return None;
        }
        let place = match url {
            Some(url) => CookiePlace::Url(url),
            None => CookiePlace::Domain { domain, path },
        };
        let (name, value) = (self.template(&cookie.name)?, self.template(&cookie.value)?);
        Some(CookieOp { name, value, place })
    }

    /// Compiles a program to run; `None` after an error was noted.
    pub(super) fn exec(&mut self, exec: &'p Exec, span: Span) -> Option<ExecOp> {
        if !self.options.allow_exec {
            self.error(
                span,
                "the plan runs a program, which is not allowed".to_owned(),
                "add --allow-exec if you trust the plan",
            );
            return None;
        }
        let program = exec.command.first().map_or("exec", |program| program.source());
        let file = program.rsplit('/').next().unwrap_or(program);
        let name = self.name(RowKind::Program, exec.name.as_deref().unwrap_or(file));
        let command = exec.command.iter().map(|part| self.template(part)).collect::<Option<_>>()?;
        Some(ExecOp {
            name,
            place: self.row_place(RowKind::Program),
            step: self.step.as_str().into(),
            command,
            timeout: self.time(exec.timeout.as_ref(), DEFAULT_EXEC)?,
            post: self.post(&exec.extract, &exec.check)?,
        })
    }
}

/// Where an extract looks, as messages say it.
fn extract_source(from: &From) -> String {
    match from {
        From::Regex { pattern, .. } => format!("regex {}", pattern.value),
        From::Between { left, right } => format!("between {:?} and {:?}", left.value, right.value),
        From::Json(path) => format!("json {}", path.value),
        From::Css { selector, attr: None } => format!("css {}", selector.value),
        From::Css { selector, attr: Some(attr) } => format!("css {}, attr {attr}", selector.value),
        From::XPath(path) => format!("xpath {}", path.value),
        From::Header(name) => format!("header {name}"),
        From::Cookie(name) => format!("cookie {name}"),
        From::Status => "status".to_owned(),
        From::BodyHash => "body_hash".to_owned(),
        From::BodyFile => "body_file".to_owned(),
    }
}

/// The origin of a URL, or of its beginning. A text that goes on has to have reached its path.
fn origin_of(text: &str, whole: bool) -> Option<Origin> {
    let (_, rest) = text.split_once("://")?;
    let is_named = whole || rest.contains(['/', '\\', '?', '#']);
    is_named.then(|| url::parse(text).ok()).flatten().map(|location| location.origin)
}

/// Whether the plan's own headers hold a Cookie line.
fn has_cookie(headers: &[HeaderOp]) -> bool {
    headers.iter().any(|header| header.name.eq_ignore_ascii_case(b"cookie: "))
}
