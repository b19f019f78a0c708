//! URLs as far as requests need them: parts, joining, percent-encoding (RFC 3986).

use std::fmt;

use squall_wire::{Origin, Proxy, Scheme};

/// Why a text is no URL that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UrlError(&'static str);

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Origin of an absolute URL, and its path with query (at least `/`), the fragment dropped.
pub(crate) fn split(url: &str) -> Result<(Origin, &str), UrlError> {
    let (scheme, rest) =
        url.split_once("://").ok_or(UrlError("it has no scheme such as http://"))?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        _ => return Err(UrlError("its scheme is neither http nor https")),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.contains('@') {
        return Err(UrlError("it holds credentials: use `auth` for them"));
    }
    let (host, port) = host_and_port(authority)?;
    let port = port.unwrap_or(scheme.default_port());
    let path = path.split('#').next().unwrap_or_default();
    let origin = Origin { scheme, host: host.to_ascii_lowercase().into(), port };
    Ok((origin, if path.is_empty() { "/" } else { path }))
}

/// `host`, `host:port`, `[v6]:port`.
fn host_and_port(authority: &str) -> Result<(&str, Option<u16>), UrlError> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) =
                rest.split_once(']').ok_or(UrlError("the bracket of its address does not end"))?;
            (host, rest.strip_prefix(':'))
        }
        None => match authority.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let good = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_' | ':' | '%');
    if host.is_empty() || !host.chars().all(good) {
        return Err(UrlError("its host is no name or address"));
    }
    let port = match port {
        None | Some("") => None,
        Some(port) => {
            Some(port.parse().map_err(|_| UrlError("its port is no number up to 65535"))?)
        }
    };
    Ok((host, port))
}

/// An HTTP proxy from its URL, `http://[user:password@]host:port`.
///
/// # Errors
/// The text is none; the error says what was expected.
pub(crate) fn proxy(text: &str) -> Result<Proxy, String> {
    let bad = |reason: &dyn fmt::Display| {
        format!("`{text}` is no proxy: {reason}; write it as http://host:port")
    };
    let rest =
        text.strip_prefix("http://").ok_or_else(|| bad(&"it does not begin with http://"))?;
    let rest = rest.trim_end_matches('/');
    let (credentials, authority) = match rest.rsplit_once('@') {
        Some((credentials, authority)) => (Some(credentials.to_owned()), authority),
        None => (None, rest),
    };
    let (host, port) = host_and_port(authority).map_err(|error| bad(&error))?;
    Ok(Proxy { host: host.to_owned(), port: port.unwrap_or(3128), credentials })
}

/// What a reference (RFC 3986, section 5) means on a page of an origin: an absolute URL, or only its
/// path with query on the same origin.
pub(crate) enum Reference {
    Absolute(String),
    Path(String),
}

/// Resolves a reference against the path of the page it stands on.
pub(crate) fn resolve(base: &str, scheme: Scheme, reference: &str) -> Reference {
    let reference = reference.trim().split('#').next().unwrap_or_default();
    let begins_with_scheme = reference.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    });
    if begins_with_scheme {
        return Reference::Absolute(reference.to_owned());
    }
    if reference.starts_with("//") {
        let scheme = if scheme == Scheme::Https { "https" } else { "http" };
        return Reference::Absolute(format!("{scheme}:{reference}"));
    }
    let base_path = base.split('?').next().unwrap_or("/");
    if reference.is_empty() {
        return Reference::Path(base.to_owned());
    }
    if reference.starts_with('?') {
        return Reference::Path(format!("{base_path}{reference}"));
    }
    let (path, query) = match reference.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (reference, None),
    };
    let joined = if path.starts_with('/') {
        path.to_owned()
    } else {
        let folder = base_path.rfind('/').map_or("/", |at| &base_path[..=at]);
        format!("{folder}{path}")
    };
    let clean = without_dots(&joined);
    Reference::Path(match query {
        Some(query) => format!("{clean}?{query}"),
        None => clean,
    })
}

/// RFC 3986, section 5.2.4.
fn without_dots(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let mut parts = path.split('/').skip(1).peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        match part {
            "." if last => segments.push(""),
            "." => {}
            ".." => {
                segments.pop();
                if last {
                    segments.push("");
                }
            }
            _ => segments.push(part),
        }
    }
    format!("/{}", segments.join("/"))
}

/// Appends a path with query; what may not stand in one (spaces, line ends, bytes above 126) is
/// percent-encoded, so that it cannot end the request's line.
pub(crate) fn encode_path(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        match byte {
            b'!'..=b'~' if !matches!(byte, b'"' | b'<' | b'>' | b'#') => out.push(*byte),
            _ => percent(*byte, out),
        }
    }
}

/// Appends a name or value as application/x-www-form-urlencoded has it.
pub(crate) fn encode_form(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => out.push(*byte),
            b' ' => out.push(b'+'),
            _ => percent(*byte, out),
        }
    }
}

fn percent(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn urls_are_split() {
        let show = |url| split(url).map(|(origin, path)| format!("{origin} {path}"));
        assert_eq!(show("http://a.B:80"), Ok("http://a.b /".to_owned()));
        assert_eq!(show("https://[::1]:8443/x?y#z"), Ok("https://[::1]:8443 /x?y".to_owned()));
        assert_eq!(show("http://a?q"), Ok("http://a ?q".to_owned()));
        for bad in [
            "a/b",
            "ftp://a",
            "http://",
            "http://u:p@h/",
            "http://h:99999/",
            "http://a b/",
            "http://[::1/",
        ] {
            assert!(split(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn references_are_resolved() {
        let show = |reference| match resolve("/b/c/d?q", Scheme::Http, reference) {
            Reference::Absolute(url) | Reference::Path(url) => url,
        };
        // After RFC 3986, section 5.4.
        for (reference, expected) in [
            ("g", "/b/c/g"),
            ("./g", "/b/c/g"),
            ("g/", "/b/c/g/"),
            ("/g", "/g"),
            ("//g", "http://g"),
            ("?y", "/b/c/d?y"),
            ("g?y", "/b/c/g?y"),
            ("", "/b/c/d?q"),
            (".", "/b/c/"),
            ("..", "/b/"),
            ("../g", "/b/g"),
            ("../../g", "/g"),
            ("../../../g", "/g"),
            ("g#s", "/b/c/g"),
            ("https://x/y", "https://x/y"),
            ("/a?u=http://z", "/a?u=http://z"),
        ] {
            assert_eq!(show(reference), expected, "{reference}");
        }
    }

    proptest! {
        #[test]
        fn nothing_ends_the_line(text in prop::collection::vec(any::<u8>(), 0..50)) {
            let mut out = Vec::new();
            encode_path(&text, &mut out);
            encode_form(&text, &mut out);
            prop_assert!(out.iter().all(|byte| (b'!'..=b'~').contains(byte)));
        }

        #[test]
        fn no_text_panics(a in ".{0,30}", b in "/.{0,30}") {
            let _ = (split(&a), resolve(&b, Scheme::Http, &a));
        }
    }
}
