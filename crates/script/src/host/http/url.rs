//! URLs of requests: texts, and those that `http.url` has given a name.

use std::rc::Rc;

use crate::engine::{Thrown, Value};

/// A URL with the name under which requests to it are counted.
pub(super) struct Named {
    pub url: String,
    pub name: String,
}

/// What a script gives as a URL, with a name if it has one.
pub(super) fn read(value: &Value<'_>) -> Result<(String, Option<String>), Thrown> {
    match value.behind::<Named>() {
        Some(own) => Ok((own.url.clone(), Some(own.name.clone()))),
        None => Ok((value.to_text()?, None)),
    }
}

/// Why a URL cannot be read; `None`: it can. One that leads nowhere, such as a path alone, is sent all the same, and fails as
/// a request does that counts. So it is in k6, which asks Go's `url.Parse` first.
pub(super) fn wrong(url: &str) -> Option<String> {
    let why = match url.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) {
        Some((_, rest)) => wrong_authority(rest)?,
        None => {
            let first = url.split(['/', '?', '#']).next().unwrap_or_default();
            let (scheme, _) = first.split_once(':')?;
            (!is_scheme(scheme)).then_some("there is no scheme before its colon")?
        }
    };
    Some(format!("invalid URL {url:?}: {why}; expected http://host/path or https://host/path"))
}

/// Whether a text is a scheme of a URL (RFC 3986, section 3.1).
fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// Why what stands behind the scheme of a URL cannot be read.
fn wrong_authority(rest: &str) -> Option<&'static str> {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let (name, port) = match host.rfind(':') {
        Some(at) if !host[at..].contains(']') => (&host[..at], &host[at + 1..]),
        _ => (host, ""),
    };
    let is_port = port.is_empty() || port.parse::<u16>().is_ok();
    match () {
        () if name.contains(|c: char| c.is_whitespace() || c.is_control()) => {
            Some("its host has a space")
        }
        () if !is_port => Some("its port is not a number from 0 to 65535"),
        () => None,
    }
}

pub(super) fn add(host: &Value<'_>) -> Result<(), Thrown> {
    let scope = host.scope();
    let named = scope.function("namedUrl", 3, |call| {
        let (url, name) = (call.argument(1).to_text()?, call.argument(2).to_text()?);
        call.scope().native_of(Rc::new(Named { url, name }), &call.argument(0))
    });
    host.set(c"namedUrl", named?)?;
    let url_of = scope.function("urlOf", 1, |call| match call.argument(0).behind::<Named>() {
        Some(own) => call.scope().text(&own.url),
        None => Err(Thrown::new("TypeError: this is not what http.url has made")),
    });
    host.set(c"urlOf", url_of?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn urls_are_refused_with_what_was_expected() {
        for url in [
            "http://a",
            "HTTPS://a.example:8080/x y?q=1#f",
            "http://u:p@[::1]:80/",
            "http://[::1]",
            "http://ä.example/é",
            // These lead nowhere, which shows when they are sent.
            "",
            "undefined/path",
            "/path?at=12:30",
            "a/b:c",
            "ftp://a",
            "localhost:8080/x",
            "http:///path",
        ] {
            assert_eq!(super::wrong(url), None, "{url}");
        }
        for (url, why) in [
            (":80/x", "no scheme"),
            ("127.0.0.1:80/x", "no scheme"),
            ("my_host:80", "no scheme"),
            ("http://a b/", "a space"),
            ("http://a:b/", "port"),
            ("http://a:65536/", "port"),
        ] {
            let said = super::wrong(url).unwrap_or_default();
            assert!(said.contains(why) && said.contains("expected http://host"), "{url}: {said}");
        }
    }
}
