//! A request as it is read: a head and a short body, both bounded in bytes and in time.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const MAX_HEAD: usize = 8 << 10;
const MAX_BODY: usize = 4 << 10;
const MAX_FIELDS: usize = 64;
/// The time that a whole request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// What is asked for, as it was sent, without what follows a `?`.
    pub path: String,
    /// The fields of the head, their names in small letters.
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// The request that bytes begin with; `None`: they are only its beginning.
    ///
    /// # Errors
    /// It is too long, or not HTTP/1.
    pub fn parse(bytes: &[u8]) -> Result<Option<Request>, Unread> {
        // Whatever follows an empty line is no head.
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
        if end.unwrap_or(bytes.len()) > MAX_HEAD {
            return Err(Unread::Refused(431));
        }
        let Some(end) = end else { return Ok(None) };
        let mut request = parse(&bytes[..end])?;
        let length = body_length(&request)?;
        Ok(bytes.get(end..end + length).map(|body| {
            request.body = body.to_vec();
            request
        }))
    }

    /// The value of a field; `None`: there is none, or there are several.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut values = self.fields.iter().filter(|(own, _)| own == name);
        let first = values.next();
        first.filter(|_| values.next().is_none()).map(|(_, value)| value.as_str())
    }

    /// All values of a field that is a list.
    pub fn list<'r>(&'r self, name: &'r str) -> impl Iterator<Item = &'r str> {
        let values = self.fields.iter().filter(move |(own, _)| own == name);
        values.flat_map(|(_, value)| value.split(',').map(str::trim))
    }

    /// Whether there is a field.
    pub fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(own, _)| own == name)
    }
}

/// Why there is no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// The client has gone away, or said nothing.
    Gone,
    /// It is refused with a status.
    Refused(u16),
}

/// Reads a request.
///
/// # Errors
/// It is not whole in time, too long, or not HTTP/1.
pub(crate) fn read(stream: &mut TcpStream) -> Result<Request, Unread> {
    let until = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    loop {
        match Request::parse(&bytes)? {
            Some(request) => return Ok(request),
            None => more(stream, &mut bytes, until)?,
        }
    }
}

fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>, until: Instant) -> Result<(), Unread> {
    let left = until.saturating_duration_since(Instant::now());
    // Nothing that was begun, and nothing is said of it.
    let too_late = if bytes.is_empty() { Unread::Gone } else { Unread::Refused(408) };
    if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
        return Err(too_late);
    }
    let mut part = [0; 2 << 10];
    match stream.read(&mut part) {
        Ok(0) => Err(Unread::Gone),
        Ok(read) => {
            bytes.extend_from_slice(&part[..read]);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Err(too_late)
        }
        Err(_) => Err(Unread::Gone),
    }
}

fn parse(head: &[u8]) -> Result<Request, Unread> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    match parsed.parse(head) {
        Ok(httparse::Status::Complete(length)) if length == head.len() => {}
        Err(httparse::Error::TooManyHeaders) => return Err(Unread::Refused(431)),
        _ => return Err(Unread::Refused(400)),
    }
    let mut named = Vec::new();
    for field in parsed.headers.iter() {
        let value = std::str::from_utf8(field.value).map_err(|_| Unread::Refused(400))?;
        named.push((field.name.to_ascii_lowercase(), value.to_owned()));
    }
    let target = parsed.path.unwrap_or_default();
    Ok(Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: target.split('?').next().unwrap_or_default().to_owned(),
        fields: named,
        body: Vec::new(),
    })
}

/// How long the body is that follows a head.
fn body_length(request: &Request) -> Result<usize, Unread> {
    if request.has("transfer-encoding") {
        return Err(Unread::Refused(501));
    }
    if !request.has("content-length") {
        return Ok(0);
    }
    let text = request.field("content-length").unwrap_or_default();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<usize>() {
        _ if !is_number => Err(Unread::Refused(400)),
        Ok(length) if length <= MAX_BODY => Ok(length),
        _ => Err(Unread::Refused(413)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_parsed_or_refused() {
        let request =
            parse(b"GET /a/b?c HTTP/1.1\r\nHost: x\r\nA: 1\r\na: 2\r\n\r\n").expect("a head");
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/a/b"));
        assert_eq!((request.field("host"), request.field("a")), (Some("x"), None));
        for head in [
            "GET\r\n\r\n",
            "GET / HTTP/2.0\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "GET / HTTP/1.1\r\nName : x\r\n\r\n",
            "\x16\x03\x01 hello\r\n\r\n",
        ] {
            assert_eq!(parse(head.as_bytes()), Err(Unread::Refused(400)), "{head:?}");
        }
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MAX_FIELDS + 1));
        assert_eq!(parse(many.as_bytes()), Err(Unread::Refused(431)));
    }

    #[test]
    fn a_body_has_one_short_length() {
        let length = |fields: &[(&str, &str)]| {
            let fields = fields.iter().map(|(name, value)| (name.to_string(), value.to_string()));
            body_length(&Request { fields: fields.collect(), ..Request::default() })
        };
        assert_eq!(length(&[]), Ok(0));
        assert_eq!(length(&[("content-length", "12")]), Ok(12));
        let refused = |status| Err(Unread::Refused(status));
        assert_eq!(length(&[("content-length", "4097")]), refused(413));
        assert_eq!(length(&[("content-length", "99999999999999999999999")]), refused(413));
        assert_eq!(length(&[("content-length", "+1")]), refused(400));
        assert_eq!(length(&[("content-length", "1"), ("content-length", "1")]), refused(400));
        assert_eq!(length(&[("transfer-encoding", "chunked")]), refused(501));
    }
}
