//! A request as it was sent, for what looks at it beside the response. Pure.

use std::borrow::Cow;

/// What was sent last of a request: of redirects, the last one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    pub method: String,
    pub url: String,
    /// The lines of the headers, but for those of cookies, each with a line feed at its end.
    pub headers: String,
    /// The value of the `Cookie` header.
    pub cookies: String,
    /// The body, if it was made in memory.
    pub body: Vec<u8>,
}

impl Sent {
    /// A request by what it consists of: a first line, headers, an empty line, a body.
    pub(crate) fn new(method: &str, url: String, bytes: &[u8]) -> Sent {
        const EMPTY_LINE: &[u8] = b"\r\n\r\n";
        let end = bytes.windows(EMPTY_LINE.len()).position(|four| four == EMPTY_LINE);
        let (head, body) = match end {
            Some(end) => (&bytes[..end], &bytes[end + EMPTY_LINE.len()..]),
            None => (bytes, &[][..]),
        };
        let head: Cow<'_, str> = String::from_utf8_lossy(head);
        let mut sent =
            Sent { method: method.to_owned(), url, body: body.to_vec(), ..Sent::default() };
        for line in head.lines().skip(1).filter(|line| !line.is_empty()) {
            match line.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("cookie") => {
                    let between = if sent.cookies.is_empty() { "" } else { "; " };
                    sent.cookies.push_str(between);
                    sent.cookies.push_str(value.trim());
                }
                _ => {
                    sent.headers.push_str(line);
                    sent.headers.push('\n');
                }
            }
        }
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::Sent;

    #[test]
    fn a_request_has_headers_cookies_and_a_body() {
        let bytes = b"POST /a HTTP/1.1\r\nHost: b\r\ncookie: x=1\r\nCookie: y=2\r\nA: 1\r\n\r\none\r\n\r\ntwo";
        let sent = Sent::new("POST", "http://b/a".to_owned(), bytes);
        assert_eq!((sent.headers.as_str(), sent.cookies.as_str()), ("Host: b\nA: 1\n", "x=1; y=2"));
        assert_eq!(sent.body, b"one\r\n\r\ntwo");
        assert_eq!(
            Sent::new("GET", String::new(), b"GET / HTTP/1.1\r\nA: 1\r\n").headers,
            "A: 1\n"
        );
    }
}
