//! URLs as far as requests need them: where one goes, what a reference on a page means, and
//! percent-encoding. What a text means is the `url` crate's (the WHATWG's standard, as browsers have
//! it); what is rendered for each request is encoded here, without parsing it.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use squall_base::form;
use squall_wire::{Origin, Scheme};
use url::{Host, ParseError, Url};

/// Why a text is no URL that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UrlError(Cow<'static, str>);

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl UrlError {
    const fn fixed(text: &'static str) -> Self {
        UrlError(Cow::Borrowed(text))
    }
}

impl From<ParseError> for UrlError {
    fn from(error: ParseError) -> Self {
        UrlError::fixed(match error {
            ParseError::EmptyHost => "it has no host",
            ParseError::IdnaError | ParseError::InvalidDomainCharacter => {
                "its host is neither a name nor an address"
            }
            ParseError::InvalidPort => "its port must be a number up to 65535",
            ParseError::InvalidIpv4Address => {
                "its host ends in a number, but is not an IPv4 address"
            }
            ParseError::InvalidIpv6Address => "its host is not an IPv6 address",
            ParseError::RelativeUrlWithoutBase => "it has no scheme such as http://",
            _ => "it cannot be read as one",
        })
    }
}

/// Most characters of a scheme that an error shows.
const MAX_SHOWN_SCHEME: usize = 40;

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    pub origin: Origin,
    /// Path with query, encoded; begins with `/`. A fragment is never sent, so it is not here.
    pub path: String,
    /// Whether the text holds a user's name or password, which are never sent from there.
    pub has_credentials: bool,
}

/// What to say of a text in a plan that holds credentials.
pub(crate) const CREDENTIALS: UrlError =
    UrlError::fixed("it holds credentials: use `auth` for them");

/// The location of an absolute URL that a plan gives. It has to be written out: `http://` or `https://`,
/// and no credentials, which would otherwise be dropped without a word. Its path is sent as it is written,
/// but for what may not stand in the line of a request: dot segments, `%2e` and the like stay, as what a
/// server makes of them may be what is tested.
pub(crate) fn parse(text: &str) -> Result<Location, UrlError> {
    let Some((_, written)) = text.split_once("://") else {
        return Err(UrlError::fixed("it has no scheme such as http://"));
    };
    let mut location = locate(&Url::parse(text)?, text)?;
    if location.has_credentials {
        return Err(CREDENTIALS);
    }
    if let Some(at) = written.find(['/', '\\', '?', '#'])
        && at > 0
        && written[at..].starts_with('/')
    {
        let mut path = Vec::new();
        encode_path(written[at..].split('#').next().unwrap_or_default().as_bytes(), &mut path);
        location.path = String::from_utf8_lossy(&path).into_owned();
    }
    Ok(location)
}

/// User and password in a URL, decoded; `None`: there are none, or it is no URL.
pub(crate) fn credentials(text: &str) -> Option<(String, String)> {
    if !text.contains('@') {
        return None;
    }
    let url = Url::parse(text).ok()?;
    let decoded =
        |own: &str| String::from_utf8_lossy(&form::percent_decoded(own.as_bytes())).into_owned();
    let password = url.password().unwrap_or_default();
    let has_any = !url.username().is_empty() || !password.is_empty();
    has_any.then(|| (decoded(url.username()), decoded(password)))
}

/// The place of `host:port`, for bytes over TCP.
pub(crate) fn tcp(text: &str) -> Result<Origin, UrlError> {
    let has_port = text.rsplit_once(':').is_some_and(|(host, port)| {
        let is_whole = !host.contains(':') || host.ends_with(']');
        is_whole && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    if !has_port || text.contains(['/', '\\', '?', '#', '@', ' ', '\t', '\n', '\r']) {
        return Err(UrlError::fixed("it is written as host:port"));
    }
    let location = locate(&Url::parse(&format!("http://{text}"))?, text)?;
    Ok(Origin { scheme: Scheme::Tcp, ..location.origin })
}

/// A host as URLs have it (small letters, punycode, addresses in their usual form), an IPv6 address without
/// its brackets.
pub(crate) fn host(text: &str) -> Result<String, UrlError> {
    Ok(match Host::parse(text)? {
        Host::Domain(name) => name,
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => address.to_string(),
    })
}

/// A host as URLs have it: in small letters, and what is not ASCII as DNS has it; `None`: it is none.
pub fn host_name(text: &str) -> Option<String> {
    host(text).ok()
}

/// The location that a reference names, on a page if there is one: its origin, and its path with query.
pub(crate) fn resolve(
    page: Option<(&Origin, &str)>,
    reference: &str,
) -> Result<Location, UrlError> {
    let page = page.map(|(origin, path)| Url::parse(&format!("{origin}{path}"))).transpose()?;
    let reference = with_two_slashes(reference);
    locate(&Url::options().base_url(page.as_ref()).parse(&reference)?, &reference)
}

/// A reference to another host, with two slashes where it begins with more of either kind, which mean
/// the same on a page of http and which the `url` crate does not pass over.
fn with_two_slashes(reference: &str) -> Cow<'_, str> {
    let text = reference.trim_start_matches(|c| c <= ' ');
    let rest = text.trim_start_matches(['/', '\\', '\t', '\n', '\r']);
    let slashes = text[..text.len() - rest.len()].matches(['/', '\\']).count();
    if slashes > 2 { Cow::Owned(format!("//{rest}")) } else { Cow::Borrowed(reference) }
}

/// The location of a URL, which was `written` so.
fn locate(url: &Url, written: &str) -> Result<Location, UrlError> {
    let scheme = match url.scheme() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => return Err(foreign(other, written)),
    };
    let host = match url.host() {
        Some(Host::Domain(name)) => name.into(),
        Some(Host::Ipv4(address)) => address.to_string().into(),
        Some(Host::Ipv6(address)) => address.to_string().into(),
        None => return Err(UrlError::fixed("it has no host")),
    };
    let port = url.port().unwrap_or(scheme.default_port());
    let mut path = url.path().to_owned();
    if let Some(query) = url.query() {
        path.push('?');
        path.push_str(query);
    }
    let has_credentials = !url.username().is_empty() || url.password().is_some();
    Ok(Location { origin: Origin { scheme, host, port }, path, has_credentials })
}

/// What is wrong with a scheme. It is shown as it was written, and not in part: in small letters, or cut, a secret would
/// not be known for one.
fn foreign(scheme: &str, written: &str) -> UrlError {
    let written: String =
        written.trim_start_matches(|c| c <= ' ').split(['\t', '\n', '\r']).collect();
    let shown = written.get(..scheme.len()).filter(|own| own.eq_ignore_ascii_case(scheme));
    match shown.filter(|own| own.len() <= MAX_SHOWN_SCHEME) {
        Some(own) => UrlError(format!("its scheme is `{own}`, not http or https").into()),
        None => UrlError::fixed("its scheme is not http or https"),
    }
}

/// `host`, `host:port`, `[v6]:port`.
pub(super) fn host_and_port(authority: &str) -> Result<(&str, Option<u16>), UrlError> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest
                .split_once(']')
                .ok_or(UrlError::fixed("the bracket of its address does not end"))?;
            (host, rest.strip_prefix(':'))
        }
        None => match authority.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let good = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_' | ':' | '%');
    if host.is_empty() || !host.chars().all(good) {
        return Err(UrlError::fixed("its host is neither a name nor an address"));
    }
    let port = match port {
        None | Some("") => None,
        Some(port) => Some(
            port.parse().map_err(|_| UrlError::fixed("its port must be a number up to 65535"))?,
        ),
    };
    Ok((host, port))
}

/// A source address; an empty text is none.
///
/// # Errors
/// It is no IP address.
pub(crate) fn source_address(text: &str) -> Result<Option<IpAddr>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let address = text.parse().map_err(|_| {
        format!("invalid source address `{text}`: expected an IP address of this machine")
    })?;
    Ok(Some(address))
}

/// The text of a reference in a header. Where it is not UTF-8, its bytes beyond ASCII are percent-encoded: that is what they
/// come to in a browser's next request.
pub(crate) fn in_header(reference: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(reference).map_or_else(
        |_| {
            let mut out = Vec::new();
            for byte in reference {
                if byte.is_ascii() { out.push(*byte) } else { form::percent(*byte, &mut out) }
            }
            Cow::Owned(String::from_utf8_lossy(&out).into_owned())
        },
        Cow::Borrowed,
    )
}

/// Appends a path with query; what may not stand in one (spaces, line ends, bytes above 126) is
/// percent-encoded, so that it cannot end the request's line.
pub(crate) fn encode_path(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        match byte {
            b'!'..=b'~' if !matches!(byte, b'"' | b'<' | b'>' | b'#') => out.push(*byte),
            _ => form::percent(*byte, out),
        }
    }
}

#[cfg(test)]
mod suite;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn show(location: Result<Location, UrlError>) -> Result<String, UrlError> {
        location.map(|location| format!("{} {}", location.origin, location.path))
    }

    #[test]
    fn a_reference_that_is_not_utf8_keeps_its_bytes() {
        let page = parse("http://h/a").expect("a URL");
        for (reference, expected) in [
            (&b"/caf\xe9?\xfc=1"[..], "/caf%E9?%FC=1"),
            ("/café".as_bytes(), "/caf%C3%A9"),
            (b"/\xc3\xa9/\xe9", "/%C3%A9/%E9"),
        ] {
            let found = resolve(Some((&page.origin, &page.path)), &in_header(reference));
            assert_eq!(found.expect("a URL").path, expected);
        }
    }

    #[test]
    fn urls_are_split() {
        for (url, expected) in [
            ("http://a.B:80", "http://a.b /"),
            ("https://[0:0::1]:8443/x?y#z", "https://[::1]:8443 /x?y"),
            ("http://a?q", "http://a /?q"),
            ("http://127.1/a b?c d", "http://127.0.0.1 /a%20b?c%20d"),
            (
                "http://h/a/../%2e%2E//b;x=/./{c}|`?d='{e}",
                "http://h /a/../%2e%2E//b;x=/./{c}|`?d='{e}",
            ),
            ("http://h\\a/../b", "http://h /b"),
            ("http:///h/../a", "http://h /a"),
            ("http://h?a/../b", "http://h /?a/../b"),
            ("http://b\u{fc}cher.example/\u{fc}", "http://xn--bcher-kva.example /%C3%BC"),
        ] {
            assert_eq!(show(parse(url)), Ok(expected.to_owned()), "{url}");
        }
        for bad in [
            "a/b",
            "ftp://a",
            "http://",
            "http:a",
            "http://u:p@h/",
            "http://h:99999/",
            "http://a b/",
            "http://1.2.3.256/",
            "http://[::1/",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn references_are_resolved() {
        let page = parse("http://h:81/b/c/d?q").expect("a URL");
        let on_page = |reference| show(resolve(Some((&page.origin, &page.path)), reference));
        // After RFC 3986, section 5.4, and the WHATWG's standard where browsers differ from it.
        for (reference, expected) in [
            ("g", "http://h:81 /b/c/g"),
            ("./g", "http://h:81 /b/c/g"),
            ("g/", "http://h:81 /b/c/g/"),
            ("/g", "http://h:81 /g"),
            ("//g", "http://g /"),
            ("?y", "http://h:81 /b/c/d?y"),
            ("?", "http://h:81 /b/c/d?"),
            ("g?y", "http://h:81 /b/c/g?y"),
            ("", "http://h:81 /b/c/d?q"),
            ("#s", "http://h:81 /b/c/d?q"),
            (".", "http://h:81 /b/c/"),
            ("..", "http://h:81 /b/"),
            ("../../../g", "http://h:81 /g"),
            ("%2e%2E/g", "http://h:81 /b/g"),
            ("g;x=1/../y", "http://h:81 /b/c/y"),
            ("g#s/../x", "http://h:81 /b/c/g"),
            ("https://x/y", "https://x /y"),
            ("HTTP:g", "http://h:81 /b/c/g"),
            ("/a?u=http://z", "http://h:81 /a?u=http://z"),
            ("\\\\x\\y", "http://x /y"),
            (" /a\tb\r\nc ", "http://h:81 /abc"),
            ("/\u{e9} \"<>`{}?'\u{e9}", "http://h:81 /%C3%A9%20%22%3C%3E%60%7B%7D?%27%C3%A9"),
            ("//user:pw@x:80/", "http://x /"),
            ("///x/y", "http://x /y"),
            (" /\t\\\\/x", "http://x /"),
            ("//[1::0]:443", "http://[1::]:443 /"),
            ("//0x7f.1/", "http://127.0.0.1 /"),
        ] {
            assert_eq!(on_page(reference), Ok(expected.to_owned()), "{reference:?}");
        }
        for (bad, scheme) in [
            ("mailto:a@b", "mailto"),
            ("com.app:/x", "com.app"),
            ("javascript:void(0)", "javascript"),
            ("ftp://h/", "ftp"),
            ("data:,x", "data"),
            ("JAVA\tscript:x", "JAVAscript"),
        ] {
            let error = on_page(bad).expect_err(bad).to_string();
            assert!(error.starts_with(&format!("its scheme is `{scheme}`,")), "{bad}: {error}");
        }
        let long = resolve(None, &format!("{}:x", "x".repeat(41))).expect_err("another scheme");
        assert_eq!(long.to_string(), "its scheme is not http or https");
        // Of the page's own scheme it is relative, of the other it has a host.
        assert_eq!(on_page("http:/x"), Ok("http://h:81 /x".to_owned()));
        assert_eq!(on_page("https:/x"), Ok("https://x /".to_owned()));
        assert_eq!(on_page("https:x/y"), Ok("https://x /y".to_owned()));
        for bad in ["mailto:a@b", "//", "//h:x/", "//a b", "//[::1", "javascript:void(0)"] {
            assert!(on_page(bad).is_err(), "{bad}");
        }
        assert!(resolve(None, "/g").is_err());
        for (text, has) in [("http://h/@", false), ("http://u@h/", true), ("http://:p@h/", true)] {
            let location = resolve(None, text).expect("a URL");
            assert_eq!(location.has_credentials, has, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_ends_the_line(text in prop::collection::vec(any::<u8>(), 0..50)) {
            let mut out = Vec::new();
            encode_path(&text, &mut out);
            form::encode(&text, &mut out);
            prop_assert!(out.iter().all(|byte| (b'!'..=b'~').contains(byte)));
        }

        #[test]
        fn a_place_can_stand_in_the_line_of_a_request(text in ".{0,30}", page in "/.{0,30}") {
            let origin = Origin { scheme: Scheme::Http, host: "h".into(), port: 80 };
            for location in [parse(&text), resolve(Some((&origin, &page)), &text), resolve(None, &text)] {
                let bytes = location.map(|location| location.path.into_bytes()).unwrap_or(vec![b'/']);
                prop_assert!(bytes.starts_with(b"/"));
                prop_assert!(bytes.iter().all(|byte| (b'!'..=b'~').contains(byte)));
            }
        }
    }
}
