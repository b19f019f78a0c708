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

/// What is wrong with a URL; `None`: nothing that can be seen without asking anybody.
pub(super) fn wrong(url: &str) -> Option<String> {
    let is =
        |scheme: &str| url.get(..scheme.len()).is_some_and(|own| own.eq_ignore_ascii_case(scheme));
    let rest = ["http://", "https://"].iter().find(|own| is(own)).map(|own| &url[own.len()..]);
    let why = match rest {
        None => "it begins with neither http:// nor https://",
        Some(rest) => {
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let host = authority.rsplit('@').next().unwrap_or_default();
            let (name, port) = match host.rfind(':') {
                Some(at) if !host[at..].contains(']') => (&host[..at], &host[at + 1..]),
                _ => (host, ""),
            };
            let is_port = port.is_empty() || port.parse::<u16>().is_ok();
            match () {
                () if name.is_empty() => "it has no host",
                () if name.contains(|c: char| c.is_whitespace() || c.is_control()) => {
                    "its host has a space"
                }
                () if !is_port => "its port is not a number from 0 to 65535",
                () => return None,
            }
        }
    };
    Some(format!("invalid URL {url:?}: {why}; expected http://host/path or https://host/path"))
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
        ] {
            assert_eq!(super::wrong(url), None, "{url}");
        }
        for (url, why) in [
            ("", "begins with neither"),
            ("undefined", "begins with neither"),
            ("/path", "begins with neither"),
            ("ftp://a", "begins with neither"),
            ("é", "begins with neither"),
            ("http://", "no host"),
            ("http:///path", "no host"),
            ("http://:80/", "no host"),
            ("http://u:p@/", "no host"),
            ("http://a b/", "a space"),
            ("http://a:b/", "port"),
            ("http://a:65536/", "port"),
        ] {
            let said = super::wrong(url).unwrap_or_default();
            assert!(said.contains(why) && said.contains("expected http://host"), "{url}: {said}");
        }
    }
}
