//! HTTP requests: the sampler's own properties, those of the defaults in its scope, and what is sent.

use std::collections::BTreeMap;

use squall_plan::model::{Request, Scenario, Step, StepKind, Timeouts, UserTime};
use squall_plan::span::Span;
use squall_plan::template::Template;

use super::Translator;
use super::group::Gathered;
use super::reader::Reader;
use super::texts::Piece;
use crate::scope::Scope;
use crate::tree::ElementId;

/// Most redirects that JMeter follows.
const MOST_REDIRECTS: u32 = 20;

/// The properties of a request, each the sampler's own or else that of the nearest defaults.
pub(super) struct Options<'t> {
    translator: &'t Translator<'t>,
    /// The sampler's, then those of the defaults from the inside out.
    readers: Vec<Reader<'t>>,
}

impl<'t> Options<'t> {
    /// The reader whose property counts.
    fn of(&self, name: &str) -> &Reader<'t> {
        // All are asked, so that all know that it was read.
        let sources: Vec<&str> = self.readers.iter().map(|reader| reader.source(name)).collect();
        let is_given = |source: &&str| self.translator.constant(source).as_deref() != Ok("");
        let index = sources.iter().position(is_given).unwrap_or(0);
        // The position is that of a reader, and the sampler's own is always there.
        &self.readers[index]
    }

    pub(super) fn constant(&self, name: &str) -> Option<String> {
        self.of(name).constant(name)
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.of(name).flag(name, false)
    }

    fn number(&self, name: &str) -> i64 {
        self.of(name).number(name, 0).unwrap_or_default()
    }

    fn refuse(&self, name: &str, what: &str) {
        self.of(name).refuse(name, what);
    }

    fn given(&self, name: &str, what: &str) {
        self.of(name).given(name, what);
    }

    fn pass(&self, names: &[&str]) {
        self.readers.iter().for_each(|reader| reader.pass(names));
    }

    /// The readers, the sampler's first.
    pub(super) fn readers(&self) -> &[Reader<'t>] {
        &self.readers
    }
}

impl Translator<'_> {
    /// A sampler, with what holds for it.
    pub(super) fn request(&self, id: ElementId, held: &Scope, gathered: &mut Gathered) -> Request {
        let defaults = held.configs.iter().filter(|id| self.class(**id) == "HTTP Request Defaults");
        let readers = std::iter::once(&id).chain(defaults).map(|id| self.read(*id)).collect();
        let options = Options { translator: self, readers };
        let cookies: Vec<ElementId> =
            held.configs.iter().copied().filter(|id| self.class(*id) == "CookieManager").collect();
        let method = options.constant("HTTPSampler.method").filter(|method| !method.is_empty());
        let method = method.unwrap_or_else(|| "GET".to_owned());
        if !["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].contains(&method.as_str())
        {
            self.obstacle(id, format!("the method `{method}`"));
        }
        let mut request = Request {
            name: Some(self.template(id, &self.tree.element(id).name))
                .filter(|name| !name.source().is_empty()),
            redirects: options.flag("HTTPSampler.follow_redirects").then_some(MOST_REDIRECTS),
            timeout: self.timeouts(&options),
            cookies: (!cookies.is_empty()).then_some(true),
            method,
            ..Request::default()
        };
        gathered.cookie_managers.extend(cookies);
        self.refused(id, &options);
        let content_type = self.content(id, &options, &mut request);
        let keep_alive = options.flag("HTTPSampler.use_keepalive");
        self.headers(held, keep_alive, content_type.as_deref(), &mut request);
        self.extracts(held, &mut request);
        self.checks(held, &mut request);
        options.readers.into_iter().for_each(Reader::finish);
        request
    }

    /// Options that have no equal, and those that change nothing.
    fn refused(&self, id: ElementId, options: &Options<'_>) {
        options.refuse("HTTPSampler.auto_redirects", "redirects within the HTTP client");
        options.refuse("HTTPSampler.md5", "MD5 sums in the place of responses");
        let is_multipart = options.flag("HTTPSampler.DO_MULTIPART_POST");
        if is_multipart {
            self.obstacle(id, "a multipart body");
        }
        options.pass(&["HTTPSampler.BROWSER_COMPATIBLE_MULTIPART", "HTTPSampler.monitor"]);
        let loads = options.flag("HTTPSampler.image_parser");
        if loads {
            self.obstacle(id, "embedded resources");
        }
        options.pass(&[
            "HTTPSampler.concurrentDwn",
            "HTTPSampler.concurrentPool",
            "HTTPSampler.embedded_url_re",
            "HTTPSampler.embedded_url_exclude_re",
        ]);
        options.given("HTTPSampler.ipSource", "a source address");
        options.pass(&["HTTPSampler.ipSourceType"]);
        options.given("HTTPSampler.proxyHost", "a proxy of its own");
        let of_proxy = ["proxyScheme", "proxyPort", "proxyUser", "proxyPass"];
        let of_proxy: Vec<String> =
            of_proxy.iter().map(|name| format!("HTTPSampler.{name}")).collect();
        options.pass(&of_proxy.iter().map(String::as_str).collect::<Vec<_>>());
        let implementation = options.constant("HTTPSampler.implementation").unwrap_or_default();
        // JMeter takes its HttpClient 4 for 3.1, which it has no more.
        if !matches!(implementation.as_str(), "" | "HttpClient4" | "HttpClient3.1") {
            self.obstacle(id, format!("the implementation `{implementation}`"));
        }
        let charset = options.constant("HTTPSampler.contentEncoding").unwrap_or_default();
        if !charset.is_empty() && !charset.eq_ignore_ascii_case("utf-8") {
            self.obstacle(id, format!("the content encoding `{charset}`"));
        }
    }

    fn timeouts(&self, options: &Options<'_>) -> Timeouts {
        let time = |name| {
            let milliseconds = u64::try_from(options.number(name)).unwrap_or(0);
            let time = std::time::Duration::from_millis(milliseconds);
            (milliseconds > 0).then_some(UserTime::Known(time))
        };
        Timeouts {
            connect: time("HTTPSampler.connect_timeout"),
            first_byte: time("HTTPSampler.response_timeout"),
            ..Timeouts::default()
        }
    }

    /// The path as it is sent, or a whole URL.
    pub(super) fn path(&self, id: ElementId, options: &Options<'_>) -> Vec<Piece> {
        let reader = options.of("HTTPSampler.path");
        let mut path = self.pieces(reader.element, reader.source("HTTPSampler.path"));
        for piece in &mut path {
            if let Piece::Text(text) = piece {
                *text = text.replace(' ', "%20");
            }
        }
        if let Some(Piece::Expr(_)) = path.first() {
            self.obstacle(id, "a path that begins with what is known only while the plan runs");
        }
        let begins = matches!(path.first(), Some(Piece::Text(text)) if text.starts_with('/'));
        if !begins && !is_whole(&path) {
            path.insert(0, Piece::Text("/".to_owned()));
        }
        if let Some(what) =
            path.iter().find_map(|piece| illegal(piece).or_else(|| shortened(piece)))
        {
            self.obstacle(id, what);
        }
        path
    }

    /// `http://host:port`.
    pub(super) fn origin(&self, id: ElementId, options: &Options<'_>) -> String {
        let part = |name| options.constant(name).unwrap_or_default();
        let protocol = match part("HTTPSampler.protocol").to_ascii_lowercase() {
            empty if empty.is_empty() => "http".to_owned(),
            protocol => protocol,
        };
        if !matches!(protocol.as_str(), "http" | "https") {
            self.obstacle(id, format!("the protocol `{protocol}`"));
        }
        let host = part("HTTPSampler.domain");
        let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if host.is_empty() {
            self.obstacle(id, "a request without a host");
        } else if !host.chars().all(is_good) {
            self.obstacle(id, format!("`{host}` as a host"));
        }
        // What is no number is the port of the protocol.
        let port = part("HTTPSampler.port").trim().parse::<i64>().ok();
        match port {
            Some(80) if protocol == "http" => format!("{protocol}://{host}"),
            Some(443) if protocol == "https" => format!("{protocol}://{host}"),
            Some(port @ 1..=65_535) => format!("{protocol}://{host}:{port}"),
            Some(port) => {
                self.obstacle(id, format!("the port {port}"));
                String::new()
            }
            None => format!("{protocol}://{host}"),
        }
    }
}

/// Whether a path is a whole URL.
pub(super) fn is_whole(path: &[Piece]) -> bool {
    let begins = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    matches!(path.first(), Some(Piece::Text(text)) if begins(text))
}

/// What of a URL's text JMeter refuses when it sends the request.
pub(super) fn illegal(piece: &Piece) -> Option<String> {
    let Piece::Text(text) = piece else { return None };
    if let Some(c) = text.chars().find(|c| !c.is_ascii_graphic() || "\"<>\\^`{|}#".contains(*c)) {
        return Some(format!("`{}` in a URL", c.escape_default()));
    }
    let is_encoding = |rest: &str| {
        rest.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit))
    };
    let is_bad = text.split('%').skip(1).any(|rest| !is_encoding(rest));
    is_bad.then(|| "a `%` that encodes nothing in a URL".to_owned())
}

/// What of a path JMeter's client makes shorter.
fn shortened(piece: &Piece) -> Option<String> {
    let Piece::Text(text) = piece else { return None };
    let path = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest);
    let path = path.split('?').next().unwrap_or_default();
    let within = ["//", "/./", "/../"].iter().find(|part| path.contains(**part));
    let at_end = ["/.", "/.."].iter().find(|end| path.ends_with(**end));
    within.or(at_end).map(|part| format!("`{part}` in a path"))
}

/// The origin that most requests go to, which is taken off their URLs.
pub(super) fn common_origin(scenarios: &mut [Scenario]) -> Option<Template> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for scenario in &mut *scenarios {
        each_request(&mut scenario.steps, &mut |request| {
            if let Some((origin, _)) = split_origin(request.url.source()) {
                *counts.entry(origin.to_owned()).or_default() += 1;
            }
        });
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count)?.0;
    for scenario in scenarios {
        each_request(&mut scenario.steps, &mut |request| {
            if let Some((origin, path)) = split_origin(request.url.source())
                && origin == most
                && let Ok(path) = Template::parse(path, Span::default())
            {
                request.url = path;
            }
        });
    }
    Some(Template::text(&most))
}

/// The origin of a URL, and what follows; the host must not be an expression.
fn split_origin(url: &str) -> Option<(&str, &str)> {
    let host = url.find("://")? + 3;
    let path = host + url[host..].find('/')?;
    let (origin, path) = url.split_at(path);
    (!origin.contains('$') && !path.starts_with("//")).then_some((origin, path))
}

fn each_request(steps: &mut [Step], see: &mut dyn FnMut(&mut Request)) {
    for step in steps {
        match &mut step.kind {
            StepKind::Request(request) => see(request),
            StepKind::Group { steps, .. }
            | StepKind::Repeat { steps, .. }
            | StepKind::OncePerUser(steps) => each_request(steps, see),
            _ => {}
        }
    }
}
