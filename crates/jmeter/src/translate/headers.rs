//! The headers of a request: those that JMeter sends by itself, and those of the header managers in its scope.

use squall_plan::model::{Body, Request};
use squall_plan::span::{Span, Spanned};
use squall_plan::template::{Template, TemplatePart};

use super::Translator;
use super::texts::{TextPiece, literal, quoted};
use super::transfer::Client;
use crate::properties::{Property, PropertyValue};
use crate::scope::Scope;
use crate::tree::ElementId;

/// What JMeter's HTTP client calls itself. JMeter adds the version of its Java behind it.
const USER_AGENT: &str = "Apache-HttpClient/4.5.14 (Java/17)";

/// What it is with the client of Java itself.
const OF_JAVA: [(&str, &str); 2] =
    [("User-Agent", "Java/17"), ("Accept", "text/html, image/gif, image/jpeg, */*; q=0.2")];

/// The headers that JMeter sends unless the plan gives others.
pub(super) fn defaults() -> Vec<(Template, Template)> {
    vec![header("User-Agent", USER_AGENT)]
}

fn header(name: &str, value: &str) -> (Template, Template) {
    (Template::text(name), Template::text(value))
}

impl Translator<'_> {
    /// Sets a request's headers. `keep_alive` is what JMeter says of its connection, `content_type` what it says of the
    /// body unless the plan does.
    pub(super) fn headers(
        &self,
        (id, held): (ElementId, &Scope),
        (client, keep_alive): (Client, bool),
        content_type: Option<&str>,
        request: &mut Request,
    ) {
        let connection = if keep_alive { "keep-alive" } else { "close" };
        let mut headers = vec![header("Connection", connection)];
        let managers = held.configs.iter().filter(|id| self.class(**id) == "HeaderManager");
        for (number, manager) in managers.enumerate() {
            for (name, value) in self.of_manager(*manager, request) {
                // Within the innermost a name may repeat; of those around it the first of a name counts, and only if
                // none before has it.
                let has =
                    |own: &(Template, Template)| own.0.source().eq_ignore_ascii_case(name.source());
                if number == 0 || !headers.iter().skip(1).any(has) {
                    headers.push((name, value));
                }
            }
        }
        if matches!(request.body, Body::Multipart(_)) {
            // What is between the parts is JMeter's own, and no manager's word for it is sent.
            headers.retain(|(name, _)| !name.source().eq_ignore_ascii_case("Content-Type"));
        }
        let has = |headers: &[(Template, Template)], name: &str| {
            headers.iter().any(|own| own.0.source().eq_ignore_ascii_case(name))
        };
        if let Some(content_type) = content_type.filter(|_| !has(&headers, "Content-Type")) {
            headers.push(header("Content-Type", content_type));
        }
        if client == Client::Java {
            for (name, value) in OF_JAVA {
                if !has(&headers, name) {
                    headers.push(header(name, value));
                }
            }
        }
        self.set_host(id, &mut headers, request.url.source());
        // JMeter says of each body how long it is, where there is nothing in it too.
        let is_empty = match &request.body {
            Body::Text(text) => text.literal() == Some(""),
            Body::Form(pairs) => pairs.is_empty(),
            _ => false,
        };
        if is_empty
            && client == Client::Apache
            && !matches!(request.method.as_str(), "POST" | "PUT" | "PATCH")
        {
            headers.push(header("Content-Length", "0"));
        }
        // What the plan asks for it can read.
        request.http.compression = has(&headers, "Accept-Encoding").then_some(true);
        // JMeter sends the headers of a request with all that it is redirected to.
        let names = headers.iter().skip(1).map(|(name, _)| name.source().to_owned());
        let names: Vec<_> = names.map(|name| Spanned::new(name, Span::default())).collect();
        request.http.redirect_headers =
            (request.http.redirects.is_some() && !names.is_empty()).then_some(names);
        request.headers = headers;
    }

    /// Gives the header `Host` the port of the URL, as JMeter does.
    fn set_host(&self, id: ElementId, headers: &mut [(Template, Template)], url: &str) {
        for (name, value) in headers {
            if name.source().eq_ignore_ascii_case("Host") {
                let known = match value.literal() {
                    Some(given) => host(given, url).map(|host| Template::text(&host)),
                    None => self.host_of_run(id, value, url),
                };
                match known {
                    Some(host) => *value = host,
                    // What is not sent at all needs none.
                    None if url.starts_with("${fail(") => {}
                    None => self.obstacle(id, "a header `Host` beside an unknown port"),
                }
            }
        }
    }

    /// The header `Host` that only the run knows, with the port of the URL where it has none.
    fn host_of_run(&self, id: ElementId, value: &Template, url: &str) -> Option<Template> {
        let port = host("x", url)?.strip_prefix('x').map(str::to_owned)?;
        if port.is_empty() {
            return Some(value.clone());
        }
        let pieces = value.parts().iter().map(|part| match part {
            TemplatePart::Text(text) => TextPiece::Text(text.clone()),
            TemplatePart::Expr(expr) => TextPiece::Expr(expr.source().to_owned()),
        });
        let pieces: Vec<TextPiece> = pieces.collect();
        let given = super::texts::expression(&pieces);
        let (with_port, port) = (quoted(":[0-9]+$"), quoted(&port));
        let value = format!("({given}).matches({with_port}) ? {given} : {given} + {port}");
        Some(self.template_of(id, &[TextPiece::Expr(value)]))
    }

    fn of_manager(&self, id: ElementId, request: &mut Request) -> Vec<(Template, Template)> {
        let reader = self.read(id);
        let list: &[Property] = reader.list("HeaderManager.headers");
        reader.finish();
        let mut found = Vec::new();
        for item in list {
            let PropertyValue::Element { properties, .. } = &item.value else { continue };
            let reader = super::Reader::new(self, id, properties);
            let name = reader.constant("Header.name").unwrap_or_default();
            let value = self.pieces(id, reader.source("Header.value"));
            reader.finish();
            if name.eq_ignore_ascii_case("cookie") && request.http.cookies == Some(true) {
                // A cookie manager's cookies go in its place.
                request.cookie_otherwise.get_or_insert_with(|| self.template_of(id, &value));
                if request.http.resources.is_some() {
                    self.obstacle(id, "the header `Cookie` for what a page loads");
                }
                continue;
            }
            match fit(&name, &value) {
                Ok(true) => found.push((Template::text(&name), self.template_of(id, &value))),
                Ok(false) => {}
                Err(what) => self.obstacle(id, what),
            }
        }
        found
    }
}

/// Whether a header is sent; an error if squall would send another.
fn fit(name: &str, value: &[TextPiece]) -> Result<bool, String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() {
        // JMeter sends a line that is no header.
        return Ok(false);
    }
    if !name.bytes().all(is_token) {
        return Err(format!("`{name}` as the name of a header"));
    }
    let text = literal(value).unwrap_or_default();
    let is_known = |words: &[&str]| words.iter().any(|word| text.trim().eq_ignore_ascii_case(word));
    match name.to_ascii_lowercase().as_str() {
        // JMeter does not send that of a plan either.
        "content-length" => Ok(false),
        "connection" if is_known(&["close", "keep-alive"]) => Ok(true),
        "connection" | "transfer-encoding" | "expect" => {
            Err(format!("the header `{name}` of the plan"))
        }
        _ if text.chars().any(|c| c.is_control() && c != '\t') => {
            Err(format!("control characters in the header `{name}`"))
        }
        _ => Ok(true),
    }
}

/// The header `Host` as JMeter sends it: with the port of the URL where it has none, and without that of the protocol.
fn host(given: &str, url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if scheme.contains('$') || authority.contains('$') {
        return None;
    }
    let port_of = |text: &str| text.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    let name = match port_of(given) {
        Some(_) => given.rsplit_once(':').map_or(given, |(name, _)| name),
        None => given,
    };
    let usual = if scheme == "https" { 443 } else { 80 };
    Some(match port_of(given).or_else(|| port_of(authority)).filter(|port| *port != usual) {
        Some(port) => format!("{name}:{port}"),
        None => name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn a_host_has_the_port_of_its_url() {
        for (given, url, expected) in [
            ("a.test", "http://b.test/x", Some("a.test")),
            ("a.test", "http://b.test:8080/x", Some("a.test:8080")),
            ("a.test:99", "http://b.test:8080/", Some("a.test:99")),
            ("a.test:443", "https://b.test:8443/", Some("a.test")),
            ("a.test", "http://${host}/", None),
        ] {
            assert_eq!(host(given, url).as_deref(), expected, "{given} {url}");
        }
    }
}
