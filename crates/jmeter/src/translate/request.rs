//! HTTP requests: the sampler's own properties, those of the defaults in its scope, and what is sent.

use std::collections::BTreeMap;

use squall_base::uri::Part;
use squall_plan::model::{
    HashAlgorithm, HttpOptions, Request, ResponseBody, Scenario, Step, StepKind, Timeouts, UserTime,
};
use squall_plan::span::Span;
use squall_plan::template::Template;

use super::Translator;
use super::group::Gathered;
use super::reader::Reader;
use super::stores;
use super::texts::{TextPiece, expression, literal, merged, quoted};
use super::transfer::Client;
use super::urls;
use crate::scope::Scope;
use crate::tree::ElementId;

/// The methods that JMeter sends with either client.
const OF_JAVA: [&str; 7] = ["GET", "POST", "HEAD", "PUT", "OPTIONS", "TRACE", "DELETE"];
/// Those that it sends with Apache's alone.
const OF_APACHE: [&str; 11] = [
    "PATCH",
    "PROPFIND",
    "PROPPATCH",
    "MKCOL",
    "COPY",
    "MOVE",
    "LOCK",
    "UNLOCK",
    "REPORT",
    "MKCALENDAR",
    "SEARCH",
];

/// The properties of a request, each the sampler's own or else that of the nearest defaults.
pub(super) struct Options<'t> {
    translator: &'t Translator<'t>,
    /// The sampler's, then those of the defaults from the inside out.
    readers: Vec<Reader<'t>>,
}

impl<'t> Options<'t> {
    /// Those of a sampler, and of the defaults of a class that hold for it.
    pub(super) fn new(
        translator: &'t Translator<'t>,
        id: ElementId,
        held: &Scope,
        class: &str,
    ) -> Options<'t> {
        let defaults = held.configs.iter().filter(|id| translator.class(**id) == class);
        let all = std::iter::once(&id).chain(defaults);
        Options { translator, readers: all.map(|id| translator.read(*id)).collect() }
    }

    /// The reader whose property counts.
    pub(super) fn of(&self, name: &str) -> &Reader<'t> {
        // All are asked, so that all know that it was read.
        let sources: Vec<&str> = self.readers.iter().map(|reader| reader.source(name)).collect();
        // What its functions do is done once, where it is read.
        let constant =
            |source: &str| self.translator.with_settings(|| self.translator.constant(source)).0;
        let is_given = |source: &&str| constant(source).as_deref() != Ok("");
        let index = sources.iter().position(is_given).unwrap_or(0);
        // The position is that of a reader, and the sampler's own is always there.
        &self.readers[index]
    }

    pub(super) fn constant(&self, name: &str) -> Option<String> {
        self.of(name).constant(name)
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.flag_or(name, false)
    }

    /// The same; `without` if it is not given.
    pub(super) fn flag_or(&self, name: &str, without: bool) -> bool {
        self.of(name).flag(name, without)
    }

    /// The text of a property, in pieces.
    pub(super) fn pieces(&self, name: &str) -> Vec<TextPiece> {
        let reader = self.of(name);
        self.translator.pieces(reader.element, reader.source(name))
    }

    /// All has been read that is known.
    pub(super) fn finish(self) {
        self.readers.into_iter().for_each(Reader::finish);
    }

    pub(super) fn number(&self, name: &str) -> i64 {
        self.of(name).number(name, 0).unwrap_or_default()
    }

    fn given(&self, name: &str, what: &str) {
        self.of(name).given(name, what);
    }

    pub(super) fn pass(&self, names: &[&str]) {
        self.readers.iter().for_each(|reader| reader.pass(names));
    }

    /// The readers, the sampler's first.
    pub(super) fn readers(&self) -> &[Reader<'t>] {
        &self.readers
    }
}

impl Translator<'_> {
    /// A sampler, with what holds for it, and what is done after it.
    pub(super) fn request(
        &self,
        id: ElementId,
        held: &Scope,
        gathered: &mut Gathered,
    ) -> (Request, Vec<StepKind>) {
        let options = Options::new(self, id, held, "HTTP Request Defaults");
        let cookies = self.cookie_manager(held);
        let method = options.constant("HTTPSampler.method").filter(|method| !method.is_empty());
        let method = method.unwrap_or_else(|| "GET".to_owned());
        if !OF_JAVA.iter().chain(&OF_APACHE).any(|known| *known == method) {
            self.obstacle(id, format!("the method `{method}`"));
        }
        let mut request = Request {
            name: Some(self.template(id, &self.tree.element(id).name))
                .filter(|name| !name.source().is_empty()),
            http: HttpOptions {
                timeout: self.timeouts(&options, held),
                cookies: cookies.is_some().then_some(true),
                ..HttpOptions::default()
            },
            method,
            ..Request::default()
        };
        gathered.cookie_managers.extend(cookies);
        request.http.cookie_jar = cookies.map(stores::of);
        self.refused(&options);
        self.transfer(id, &options, held, gathered, &mut request);
        if options.flag("HTTPSampler.md5") {
            request.response_body = Some(ResponseBody::Digest(HashAlgorithm::Md5));
            // A digest names none.
            request.http.resources = None;
        }
        let client = self.client(id, &options);
        self.reached(id, &options, client, &mut request);
        let content_type = self.content(id, &options, held, &mut request);
        let content_type = client.content_type(content_type);
        if client == Client::Java && OF_APACHE.contains(&request.method.as_str()) {
            let why = format!("the method {} with the client of Java", request.method);
            request.url = self.not_sent(id, &why);
        }
        let keep_alive = options.flag("HTTPSampler.use_keepalive");
        self.headers((id, held), (client, keep_alive), content_type.as_deref(), &mut request);
        self.credentials(id, held, &mut request);
        let after = self.judged(held, &mut request);
        options.finish();
        (request, after)
    }

    /// Options that have no equal, and those that change nothing.
    fn refused(&self, options: &Options<'_>) {
        options.pass(&["HTTPSampler.monitor"]);
        let why = "a file as JMeter 2.3 had it, which JMeter 5.6.3 does not send: it belongs into its files";
        options.given("HTTPSampler.FILE_NAME", why);
        options.pass(&["HTTPSampler.FILE_FIELD", "HTTPSampler.mimetype"]);
        // Of these the dialog of GraphQL makes arguments, which are there too.
        for part in ["operationName", "query", "variables"] {
            options.pass(&[format!("GraphQLHTTPSampler.{part}").as_str()]);
        }
        // JMeter forgets managers that are properties before it looks at those in scope.
        for manager in ["header", "cookie", "cache", "auth", "dns_cache"] {
            let name = format!("HTTPSampler.{manager}_manager");
            options.pass(&[name.as_str()]);
        }
    }

    fn timeouts(&self, options: &Options<'_>, held: &Scope) -> Timeouts {
        let time = |name| {
            let milliseconds = u64::try_from(options.number(name)).unwrap_or(0);
            let time = super::milliseconds(milliseconds);
            (milliseconds > 0).then_some(UserTime::Known(time))
        };
        Timeouts {
            connect: time("HTTPSampler.connect_timeout"),
            first_byte: time("HTTPSampler.response_timeout"),
            all: self.sample_timeout(held).map(UserTime::Known),
            ..Timeouts::default()
        }
    }

    /// Where a request goes. What JMeter does not send at all, for what its URL is, fails here too.
    pub(super) fn url(
        &self,
        id: ElementId,
        options: &Options<'_>,
        path: Vec<TextPiece>,
        query: Vec<TextPiece>,
    ) -> Vec<TextPiece> {
        // A whole URL in the path goes first, and one that is not sent asks for none of them.
        options.pass(&["HTTPSampler.protocol", "HTTPSampler.domain", "HTTPSampler.port"]);
        let is_whole = is_whole(&path);
        let (origin, path) = match whole(&path) {
            Some((origin, path)) => (Ok(origin), path),
            None => (self.origin(id, options), path),
        };
        let located = origin.and_then(|origin| {
            let begin = path.first().filter(|_| !is_whole).cloned();
            let behind = urls::sent(self.client(id, options), &origin, path, query)?;
            Ok(match begin {
                Some(TextPiece::Expr(begin)) => self.located(&origin, &begin, behind),
                _ => [origin, behind].concat(),
            })
        });
        match located {
            Ok(url) => {
                let mut url = merged(url);
                shorten(&mut url);
                url
            }
            Err(what) => vec![TextPiece::Expr(format!("fail({})", quoted(&what)))],
        }
    }

    /// The URL of a request that JMeter does not send: its sample fails.
    pub(super) fn not_sent(&self, id: ElementId, why: &str) -> Template {
        self.template_of(id, &[TextPiece::Expr(format!("fail({})", quoted(why)))])
    }

    /// The path as it is sent, or a whole URL.
    pub(super) fn path(&self, options: &Options<'_>) -> Vec<TextPiece> {
        let reader = options.of("HTTPSampler.path");
        let mut path = self.pieces(reader.element, reader.source("HTTPSampler.path"));
        for piece in &mut path {
            if let TextPiece::Text(text) = piece {
                *text = text.replace(' ', "%20");
            }
        }
        let begins = match path.first() {
            Some(TextPiece::Text(text)) => text.starts_with('/'),
            // What it begins with is looked at when it is known.
            Some(TextPiece::Expr(_)) => true,
            None => false,
        };
        if !begins && !is_whole(&path) {
            path.insert(0, TextPiece::Text("/".to_owned()));
        }
        path
    }

    /// A URL whose path begins with what only the run knows, which may be a whole URL; otherwise it stands behind
    /// `http://host:port`. `path` is what is sent of it.
    fn located(&self, origin: &[TextPiece], begin: &str, path: Vec<TextPiece>) -> Vec<TextPiece> {
        self.any_host.set(true);
        let begin = format!("string({begin})");
        let begins = |text: &str| format!("{begin}.startsWith({})", quoted(text));
        let url = format!("{} || {}", begins("http://"), begins("https://"));
        let slash = format!("({} ? {} : {})", begins("/"), quoted(""), quoted("/"));
        let (origin, sent) = (expression(origin), expression(&path[..path.len().min(1)]));
        let first = format!("({url} ? {} : {origin} + {slash}) + {sent}", quoted(""));
        std::iter::once(TextPiece::Expr(first)).chain(path.into_iter().skip(1)).collect()
    }

    /// `http://host:port`.
    fn origin(&self, id: ElementId, options: &Options<'_>) -> Result<Vec<TextPiece>, String> {
        let part = |name| options.pieces(name);
        let protocol = part("HTTPSampler.protocol");
        let mut host = part("HTTPSampler.domain");
        let port = part("HTTPSampler.port");
        let mut origin = self.protocol(id, &protocol)?;
        origin.push(TextPiece::Text("://".to_owned()));
        if host.is_empty() {
            return Err("a request without a host".to_owned());
        }
        if host.iter().any(|piece| matches!(piece, TextPiece::Expr(_))) {
            self.any_host.set(true);
        }
        // What follows a slash is a path, before the port.
        let mut behind = None;
        if let [TextPiece::Text(text)] = host.as_mut_slice()
            && let Some(at) = text.find('/').filter(|at| *at > 0)
        {
            behind = Some(TextPiece::Text(text.split_off(at)));
        }
        let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        for piece in &host {
            match piece {
                TextPiece::Text(text) if text.contains([':', '@', '[', ']', '?', '#']) => {
                    self.obstacle(id, format!("`{text}` as a host"));
                }
                TextPiece::Text(text) if !text.chars().all(is_good) => {
                    return Err(format!("`{text}` as a host"));
                }
                _ => {}
            }
        }
        if let Some(TextPiece::Text(text)) = &behind
            && squall_base::uri::check(text, Part::Path) != Ok(Part::Path)
        {
            return Err(format!("`{text}` behind a host"));
        }
        let port = self.port(id, &protocol, &port);
        origin.extend(host.into_iter().chain(behind).chain(port));
        Ok(origin)
    }

    /// Which protocol; HTTP where none is given.
    fn protocol(&self, id: ElementId, given: &[TextPiece]) -> Result<Vec<TextPiece>, String> {
        let Some(text) = literal(given) else {
            self.any_host.set(true);
            let text = expression(given);
            let http = quoted("http");
            let known = format!("{text} == {} ? {http} : {text}", quoted(""));
            return Ok(vec![TextPiece::Expr(known)]);
        };
        let text = text.to_ascii_lowercase();
        match text.as_str() {
            "" => Ok(vec![TextPiece::Text("http".to_owned())]),
            "http" | "https" => Ok(vec![TextPiece::Text(text)]),
            "file" | "ftp" | "jar" | "mailto" => {
                self.obstacle(id, format!("the protocol `{text}`"));
                Ok(vec![TextPiece::Text(text)])
            }
            _ => Err(format!("the protocol `{text}`")),
        }
    }

    /// `:port`, where it is not that of the protocol.
    pub(super) fn port(
        &self,
        id: ElementId,
        protocol: &[TextPiece],
        given: &[TextPiece],
    ) -> Option<TextPiece> {
        let Some(text) = literal(given) else {
            self.any_host.set(true);
            let text = expression(given);
            let is_number = format!("({text}).matches({})", quoted("^[1-9][0-9]*$"));
            let (colon, none) = (quoted(":"), quoted(""));
            return Some(TextPiece::Expr(format!("{is_number} ? {colon} + {text} : {none}")));
        };
        let is = |name: &str| literal(protocol).is_some_and(|text| text.eq_ignore_ascii_case(name));
        // What is no number, and 0, is the port of the protocol.
        match text.trim().parse::<i64>().ok()? {
            0 => None,
            80 if is("http") || is("") => None,
            443 if is("https") => None,
            port @ 1..=65_535 => Some(TextPiece::Text(format!(":{port}"))),
            port => {
                self.obstacle(id, format!("the port {port}"));
                None
            }
        }
    }
}

/// Whether a path is a whole URL.
pub(super) fn is_whole(path: &[TextPiece]) -> bool {
    let begins = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    matches!(path.first(), Some(TextPiece::Text(text)) if begins(text))
}

/// A whole URL in a path: its origin, and what is behind it.
fn whole(path: &[TextPiece]) -> Option<(Vec<TextPiece>, Vec<TextPiece>)> {
    fn end((index, piece): (usize, &TextPiece)) -> Option<(usize, (&str, &str))> {
        let TextPiece::Text(text) = piece else { return None };
        let host = text.find("://").filter(|_| index == 0).map_or(0, |at| at + 3);
        text[host..].find(['/', '?', '#']).map(|at| (index, text.split_at(host + at)))
    }
    let text = |text: &str| [TextPiece::Text(text.to_owned())];
    let first = path.first().filter(|_| is_whole(path))?;
    Some(match path.iter().enumerate().find_map(end) {
        Some((index, (host, behind))) => {
            ([&path[..index], &text(host)].concat(), [&text(behind), &path[index + 1..]].concat())
        }
        // What only the run knows may be more than a host.
        None => (vec![first.clone()], path[1..].to_vec()),
    })
}

/// Leaves one of several slashes that follow each other in a path, as JMeter's client does.
fn shorten(path: &mut [TextPiece]) {
    let mut last = None;
    for piece in path {
        let TextPiece::Text(text) = piece else {
            last = None;
            continue;
        };
        let (begin, rest) = match text.find("://").filter(|_| last.is_none()) {
            Some(at) => text.split_at(at + 3),
            None => ("", text.as_str()),
        };
        let (rest, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
        let mut shorter = begin.to_owned();
        for c in rest.chars() {
            if c != '/' || last != Some('/') {
                shorter.push(c);
            }
            last = Some(c);
        }
        shorter.push_str(query);
        let is_over = !query.is_empty();
        *text = shorter;
        if is_over {
            return;
        }
    }
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

pub(super) fn each_request<'s>(
    steps: impl IntoIterator<Item = &'s mut Step>,
    see: &mut dyn FnMut(&mut Request),
) {
    for step in steps {
        match &mut step.kind {
            StepKind::Request(request) => see(request),
            _ => each_request(step.inner_mut().collect::<Vec<_>>(), see),
        }
    }
}
