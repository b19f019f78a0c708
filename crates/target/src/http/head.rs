//! The head of a request: bytes in, [`Head`] out (RFC 9112 sections 2, 3, 5 and 6).
//!
//! Strict where RFC 9112 allows it to be, because what a load generator sends must be right: a bare
//! line feed, a folded line, two different lengths or a missing Host are refused, with the reason.

use memchr::memchr;

use super::Refusal;

/// Most bytes of a head; beyond it the response is 431.
pub(crate) const HEAD_LIMIT: usize = 32 * 1024;

/// Most header fields of a head; beyond it the response is 431.
pub(crate) const FIELD_LIMIT: usize = 128;

const TOO_LARGE: Refusal = Refusal::new(431, "the request head is longer than 32 KiB");
const TOO_MANY: Refusal = Refusal::new(431, "the request head has more than 128 fields");

/// A request's head, borrowed from the bytes that it was read from.
#[derive(Debug)]
pub(crate) struct Head<'b> {
    pub(crate) method: &'b str,
    /// The request target as sent.
    pub(crate) target: &'b str,
    /// The path, still percent-encoded; starts with `/`, or is `*`.
    pub(crate) path: &'b str,
    /// What follows the `?`, still percent-encoded; empty when there is none.
    pub(crate) query: &'b str,
    /// HTTP/1.0, whose clients know neither chunks nor 100 Continue.
    pub(crate) http_10: bool,
    /// The client lets the connection live on.
    pub(crate) keep_alive: bool,
    /// The client waits for `100 Continue` before it sends the body.
    pub(crate) expects_continue: bool,
    pub(crate) body: BodyLength,
    /// The field lines, each checked and ended by CRLF.
    fields: &'b [u8],
}

/// How the end of a request's body is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyLength {
    /// So many bytes; 0 when there is no body.
    Known(u64),
    Chunked,
}

#[derive(Debug)]
pub(crate) enum Parsed<'b> {
    /// The head is not all there yet.
    Partial,
    /// The head, and its length in bytes.
    Complete(Head<'b>, usize),
}

impl<'b> Head<'b> {
    /// The header fields in order: names as sent, values without the white space around them.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'b str, &'b [u8])> + use<'b> {
        let mut rest = self.fields;
        std::iter::from_fn(move || {
            let (line, after) = split_line(rest).ok().flatten()?;
            rest = after;
            split_field(line).ok()
        })
    }

    /// The value of the first field of this name, if it is text.
    pub(crate) fn field(&self, name: &str) -> Option<&'b str> {
        let (_, value) = self.fields().find(|(n, _)| n.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok()
    }

    /// Whether there is a body to read.
    pub(crate) fn has_body(&self) -> bool {
        self.body != BodyLength::Known(0)
    }
}

/// Reads one head from the start of `input`.
pub(crate) fn parse(input: &[u8]) -> Result<Parsed<'_>, Refusal> {
    match parse_within(input) {
        Ok(Parsed::Partial) if input.len() >= HEAD_LIMIT => Err(TOO_LARGE),
        Ok(Parsed::Complete(_, length)) if length > HEAD_LIMIT => Err(TOO_LARGE),
        parsed => parsed,
    }
}

fn parse_within(input: &[u8]) -> Result<Parsed<'_>, Refusal> {
    // RFC 9112, 2.2: empty lines before the request line are skipped.
    let mut rest = input;
    while let Some(after) = rest.strip_prefix(b"\r\n") {
        rest = after;
    }
    let Some((line, fields)) = split_line(rest)? else { return Ok(Parsed::Partial) };
    let request = parse_request_line(line)?;
    let mut seen = Seen::default();
    rest = fields;
    for _ in 0..=FIELD_LIMIT {
        let Some((line, after)) = split_line(rest)? else { return Ok(Parsed::Partial) };
        if line.is_empty() {
            // `rest` is a suffix of `fields`, and `after` one of `input`.
            let fields = &fields[..fields.len() - rest.len()];
            let head = seen.complete(request, fields)?;
            return Ok(Parsed::Complete(head, input.len() - after.len()));
        }
        let (name, value) = split_field(line)?;
        seen.note(name, value)?;
        rest = after;
    }
    Err(TOO_MANY)
}

/// A line without its CRLF, and what follows it.
type Line<'b> = (&'b [u8], &'b [u8]);

/// Cuts off the first line, without its CRLF; `None` when the line has not ended yet.
fn split_line(input: &[u8]) -> Result<Option<Line<'_>>, Refusal> {
    let Some(end) = memchr(b'\n', input) else { return Ok(None) };
    let (line, after) = (&input[..end], &input[end + 1..]);
    match line.strip_suffix(b"\r") {
        Some(line) => Ok(Some((line, after))),
        None => Err(Refusal::bad("a line of the head does not end with CRLF")),
    }
}

struct RequestLine<'b> {
    method: &'b str,
    target: &'b str,
    http_10: bool,
}

fn parse_request_line(line: &[u8]) -> Result<RequestLine<'_>, Refusal> {
    const SHAPE: Refusal = Refusal::bad("the request line is not 'METHOD target HTTP/1.1'");
    if !line.iter().all(|b| matches!(b, b' '..=b'~')) {
        return Err(SHAPE);
    }
    let line = std::str::from_utf8(line).map_err(|_| SHAPE)?;
    let (method, rest) = line.split_once(' ').ok_or(SHAPE)?;
    let (target, version) = rest.split_once(' ').ok_or(SHAPE)?;
    if method.is_empty() || target.is_empty() || !method.bytes().all(is_token) {
        return Err(SHAPE);
    }
    let http_10 = match version {
        "HTTP/1.1" => false,
        "HTTP/1.0" => true,
        other if other.starts_with("HTTP/") && !other.contains(' ') => {
            return Err(Refusal::new(505, "only HTTP/1.1 and HTTP/1.0 are supported"));
        }
        _ => return Err(SHAPE),
    };
    Ok(RequestLine { method, target, http_10 })
}

/// Cuts a field line into name and value.
fn split_field(line: &[u8]) -> Result<(&str, &[u8]), Refusal> {
    const SHAPE: Refusal = Refusal::bad("a header field is not 'name: value'");
    let colon = memchr(b':', line).ok_or(SHAPE)?;
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    if name.is_empty() || !name.iter().copied().all(is_token) {
        return Err(SHAPE);
    }
    if !value.iter().all(|&b| (b >= b' ' && b != 0x7f) || b == b'\t') {
        return Err(Refusal::bad("a header field has a control character in its value"));
    }
    // Tokens are ASCII, so this does not fail.
    Ok((std::str::from_utf8(name).map_err(|_| SHAPE)?, value))
}

/// Whether `b` may stand in a token (RFC 9110, 5.6.2).
fn is_token(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b)
}

/// What the fields say that concerns the connection.
#[derive(Default)]
struct Seen {
    hosts: usize,
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    expects_continue: bool,
}

impl Seen {
    fn note(&mut self, name: &str, value: &[u8]) -> Result<(), Refusal> {
        // The length tells most fields apart, at no cost.
        match name.len() {
            4 if name.eq_ignore_ascii_case("host") => self.hosts += 1,
            6 if name.eq_ignore_ascii_case("expect") => self.note_expect(value)?,
            10 if name.eq_ignore_ascii_case("connection") => self.note_connection(value),
            14 if name.eq_ignore_ascii_case("content-length") => self.note_length(value)?,
            17 if name.eq_ignore_ascii_case("transfer-encoding") => self.note_encoding(value)?,
            _ => {}
        }
        Ok(())
    }

    fn note_expect(&mut self, value: &[u8]) -> Result<(), Refusal> {
        if !value.eq_ignore_ascii_case(b"100-continue") {
            return Err(Refusal::new(417, "the only supported expectation is 100-continue"));
        }
        self.expects_continue = true;
        Ok(())
    }

    fn note_connection(&mut self, value: &[u8]) {
        for option in value.split(|&b| b == b',').map(<[u8]>::trim_ascii) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    fn note_length(&mut self, value: &[u8]) -> Result<(), Refusal> {
        const SHAPE: Refusal = Refusal::bad("Content-Length is not a number of bytes");
        let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        let text = std::str::from_utf8(value).ok().filter(|_| digits).ok_or(SHAPE)?;
        let length = text.parse().map_err(|_| SHAPE)?;
        if self.length.is_some_and(|before| before != length) {
            return Err(Refusal::bad("two Content-Length fields contradict each other"));
        }
        self.length = Some(length);
        Ok(())
    }

    fn note_encoding(&mut self, value: &[u8]) -> Result<(), Refusal> {
        if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
            return Err(Refusal::new(501, "the only supported Transfer-Encoding is chunked, once"));
        }
        self.chunked = true;
        Ok(())
    }

    fn complete<'b>(self, request: RequestLine<'b>, fields: &'b [u8]) -> Result<Head<'b>, Refusal> {
        let RequestLine { method, target, http_10 } = request;
        if self.hosts != 1 && !(http_10 && self.hosts == 0) {
            return Err(Refusal::bad("a request must have exactly one Host field"));
        }
        let body = match (self.chunked, self.length) {
            (true, Some(_)) => {
                return Err(Refusal::bad("both Transfer-Encoding and Content-Length"));
            }
            (true, None) if http_10 => {
                return Err(Refusal::bad("HTTP/1.0 has no Transfer-Encoding"));
            }
            (true, None) => BodyLength::Chunked,
            (false, length) => BodyLength::Known(length.unwrap_or(0)),
        };
        let local = strip_authority(target)?;
        let (path, query) = local.split_once('?').unwrap_or((local, ""));
        Ok(Head {
            method,
            target,
            path: if path.is_empty() { "/" } else { path },
            query,
            http_10,
            keep_alive: !self.close && (!http_10 || self.keep_alive),
            expects_continue: self.expects_continue && !http_10,
            body,
            fields,
        })
    }
}

/// Reduces a target in absolute form (`http://host/path`) to its path and query.
fn strip_authority(target: &str) -> Result<&str, Refusal> {
    if target.starts_with('/') || target == "*" {
        return Ok(target);
    }
    let absolute = target.strip_prefix("http://").or_else(|| target.strip_prefix("https://"));
    let rest = absolute.ok_or(Refusal::bad("the request target does not start with '/'"))?;
    let local = rest.find(['/', '?']).map_or("", |start| &rest[start..]);
    Ok(local)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn complete(input: &str) -> (Head<'_>, usize) {
        match parse(input.as_bytes()) {
            Ok(Parsed::Complete(head, length)) => (head, length),
            other => panic!("{input:?}: {other:?}"),
        }
    }

    fn refused(input: &str) -> u16 {
        parse(input.as_bytes()).expect_err(input).status
    }

    #[test]
    fn a_head_is_taken_apart() {
        let text = "\r\nPOST /a/b?c=d HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\
                    X-Thing: \t two words \r\nExpect: 100-Continue\r\n\r\nhello";
        let (head, length) = complete(text);
        assert_eq!((head.method, head.path, head.query), ("POST", "/a/b", "c=d"));
        assert_eq!(head.target, "/a/b?c=d");
        assert_eq!(head.body, BodyLength::Known(5));
        assert!(head.expects_continue && head.keep_alive && head.has_body());
        assert_eq!(head.field("x-thing"), Some("two words"));
        assert_eq!(head.field("absent"), None);
        assert_eq!(head.fields().count(), 4);
        assert_eq!(&text[length..], "hello");
    }

    #[test]
    fn keep_alive_by_the_rules_of_both_versions() {
        let cases = [
            ("HTTP/1.1", "", true),
            ("HTTP/1.1", "Connection: close\r\n", false),
            ("HTTP/1.1", "Connection: foo, Close\r\n", false),
            ("HTTP/1.0", "", false),
            ("HTTP/1.0", "Connection: keep-alive\r\n", true),
            ("HTTP/1.0", "Connection: keep-alive, close\r\n", false),
        ];
        for (version, field, expected) in cases {
            let text = format!("GET / {version}\r\nHost: h\r\n{field}\r\n");
            assert_eq!(complete(&text).0.keep_alive, expected, "{text}");
        }
    }

    #[test]
    fn absolute_targets_are_reduced() {
        for (target, path, query) in [
            ("http://h:80/x?y", "/x", "y"),
            ("https://h", "/", ""),
            ("http://h?q", "/", "q"),
            ("*", "*", ""),
        ] {
            let text = format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n");
            let (head, _) = complete(&text);
            assert_eq!((head.path, head.query), (path, query));
        }
    }

    #[test]
    fn malformed_heads_are_refused() {
        let line = |line: &str| format!("{line}\r\nHost: h\r\n\r\n");
        let field = |field: &str| format!("GET / HTTP/1.1\r\nHost: h\r\n{field}\r\n\r\n");
        let cases = [
            (line("GET /"), 400),
            (line("GET  / HTTP/1.1"), 400),
            (line("G(T / HTTP/1.1"), 400),
            (line("GET x HTTP/1.1"), 400),
            (line("GET /\u{e9} HTTP/1.1"), 400),
            (line("GET / HTTP/2.0"), 505),
            (line("GET / FTP/1.1"), 400),
            ("GET / HTTP/1.1\n".to_owned(), 400),
            ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400),
            (field("Host: again"), 400),
            (field("Name : v"), 400),
            (field(" folded"), 400),
            (field(": v"), 400),
            (field("A: \u{1}"), 400),
            (field("Content-Length: -1"), 400),
            (field("Content-Length: +1"), 400),
            (field("Content-Length: 99999999999999999999"), 400),
            (field("Content-Length: 1\r\nContent-Length: 2"), 400),
            (field("Content-Length: 1\r\nTransfer-Encoding: chunked"), 400),
            (field("Transfer-Encoding: gzip, chunked"), 501),
            (field("Expect: the-unexpected"), 417),
            (field(&"A: b\r\n".repeat(FIELD_LIMIT)), 431),
            (field(&format!("A: {}", "b".repeat(HEAD_LIMIT))), 431),
            ("GET /".repeat(HEAD_LIMIT), 431),
        ];
        for (text, status) in cases {
            assert_eq!(refused(&text), status, "{text}");
        }
    }

    #[test]
    fn equal_lengths_are_one() {
        let text = "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n";
        assert_eq!(complete(text).0.body, BodyLength::Known(1));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn every_prefix_is_partial(value in "[ -~]{0,40}", name in "[a-z]{5}") {
            let text = format!("GET /p HTTP/1.1\r\nHost: h\r\n{name}: {value}\r\n\r\n");
            for end in 0..text.len() {
                prop_assert!(matches!(parse(&text.as_bytes()[..end]), Ok(Parsed::Partial)));
            }
            let (head, length) = complete(&text);
            prop_assert_eq!(length, text.len());
            prop_assert_eq!(head.field(&name), Some(value.trim_ascii()));
        }
    }
}
