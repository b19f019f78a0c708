//! A request's head as HTTP/2 has it: pseudo-header fields and fields (RFC 9113, section 8.3.1). Pure.

use std::fmt::Write as _;

use bytes::Bytes;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};

/// Fields that speak of an HTTP/1 connection, which HTTP/2 forbids (RFC 9113, section 8.2.2).
const OF_CONNECTION: [&str; 5] =
    ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// The head of a request.
#[derive(Debug, Clone)]
pub struct Fields {
    method: Method,
    uri: Uri,
    fields: HeaderMap,
}

impl Fields {
    /// The head of a request without fields. `path`: path and query.
    ///
    /// # Errors
    /// Why it cannot be said in HTTP/2.
    pub fn new(method: &str, tls: bool, authority: &str, path: &[u8]) -> Result<Fields, String> {
        let method = Method::from_bytes(method.as_bytes())
            .map_err(|_| format!("invalid method `{method}`"))?;
        let path = PathAndQuery::from_maybe_shared(Bytes::copy_from_slice(path))
            .map_err(|error| format!("the path: {error}"))?;
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(if tls { Scheme::HTTPS } else { Scheme::HTTP });
        parts.authority = Some(authority_of(authority.as_bytes())?);
        parts.path_and_query = Some(path);
        let uri = Uri::from_parts(parts).map_err(|error| error.to_string())?;
        Ok(Fields { method, uri, fields: HeaderMap::new() })
    }

    /// Appends a field. Host becomes `:authority`; what speaks of the connection is left out.
    ///
    /// # Errors
    /// Name or value hold what HTTP/2 does not allow there.
    pub fn push(&mut self, name: &[u8], value: &[u8]) -> Result<(), String> {
        let shown = || String::from_utf8_lossy(name).into_owned();
        let name = HeaderName::from_bytes(name)
            .map_err(|_| format!("invalid header name `{}`", shown()))?;
        if name == http::header::HOST {
            let mut parts = std::mem::take(&mut self.uri).into_parts();
            parts.authority = Some(authority_of(value)?);
            self.uri = Uri::from_parts(parts).map_err(|error| error.to_string())?;
            return Ok(());
        }
        let te = name == http::header::TE && !value.eq_ignore_ascii_case(b"trailers");
        if te || OF_CONNECTION.contains(&name.as_str()) {
            return Ok(());
        }
        let value = HeaderValue::from_bytes(value.trim_ascii()).map_err(|_| {
            format!("the value of `{name}` holds a control character, which HTTP/2 does not allow")
        })?;
        // It fails from 32,768 names on.
        self.fields
            .try_append(name, value)
            .map(drop)
            .map_err(|_| "too many headers for HTTP/2".to_owned())
    }

    /// Whether the response has no body whatever it says.
    pub(crate) fn is_head(&self) -> bool {
        self.method == Method::HEAD
    }

    /// As the `h2` crate takes it.
    pub(crate) fn request(&self) -> Request<()> {
        let mut request = Request::new(());
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.version_mut() = http::Version::HTTP_2;
        *request.headers_mut() = self.fields.clone();
        request
    }

    /// As people read it.
    pub fn text(&self) -> Vec<u8> {
        let mut text = format!("{} ", self.method);
        let path = self.uri.path_and_query().map_or("/", PathAndQuery::as_str);
        let authority = self.uri.authority().map_or("", Authority::as_str);
        // Writing to a String cannot fail.
        let _ = write!(text, "{path} HTTP/2\r\nhost: {authority}\r\n");
        let mut text = text.into_bytes();
        lines(&self.fields, &mut text);
        text
    }
}

/// `host` or `host:port`.
fn authority_of(text: &[u8]) -> Result<Authority, String> {
    Authority::from_maybe_shared(Bytes::copy_from_slice(text))
        .map_err(|_| format!("invalid host `{}`", String::from_utf8_lossy(text)))
}

/// Fields as lines, with the empty one behind them.
pub(crate) fn lines(fields: &HeaderMap, out: &mut Vec<u8>) {
    for (name, value) in fields {
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_speaks_of_the_connection_is_left_out() {
        let mut fields = Fields::new("GET", true, "a.example:81", b"/p?q=1").expect("valid");
        for (name, value) in [
            ("Connection", "close"),
            ("Keep-Alive", "1"),
            ("TE", "gzip"),
            ("Transfer-Encoding", "chunked"),
            ("Upgrade", "h2c"),
            ("X-A", " 1 "),
            ("te", "trailers"),
            ("Cookie", "a=1; b=2"),
        ] {
            fields.push(name.as_bytes(), value.as_bytes()).expect("valid");
        }
        let text = String::from_utf8(fields.text()).expect("text");
        let expected = "GET /p?q=1 HTTP/2\r\nhost: a.example:81\r\nx-a: 1\r\nte: trailers\r\ncookie: a=1; b=2\r\n\r\n";
        assert_eq!(text, expected);
        assert_eq!(fields.request().uri(), "https://a.example:81/p?q=1");
    }

    #[test]
    fn a_host_header_is_the_authority() {
        let mut fields = Fields::new("HEAD", false, "127.0.0.1:1", b"/").expect("valid");
        fields.push(b"Host", b"shop.example").expect("valid");
        assert_eq!(fields.request().uri(), "http://shop.example/");
        assert!(fields.request().headers().is_empty() && fields.is_head());
    }

    #[test]
    fn what_http_2_cannot_say_is_an_error() {
        let mut fields = Fields::new("GET", false, "a", b"/").expect("valid");
        assert!(fields.push(b"x", b"a\x01b").is_err_and(|why| why.contains("control character")));
        assert!(fields.push(b"x y", b"a").is_err());
        assert!(fields.push(b"host", b"a b").is_err());
        assert!(Fields::new("G T", false, "a", b"/").is_err());
        assert!(Fields::new("GET", false, "a", b"/\x00").is_err());
        let long = [b"/".as_slice(), &[b'a'; 70_000]].concat();
        assert!(Fields::new("GET", false, "a", &long).is_err());
    }
}
