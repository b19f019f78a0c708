//! What can go wrong between a request and its response.

use std::fmt;
use std::io;

use crate::body::SourceFailed;
use crate::tls_failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The name has no address.
    Dns,
    /// Connections may not go there: see [`crate::Settings::allowed`].
    NotAllowed,
    /// Connections may not go to that address: see [`crate::Settings::blocked_addresses`].
    AddressBlocked,
    ConnectRefused,
    /// The kernel gave up waiting for the other side.
    ConnectTimeout,
    /// The connection could not be made for another reason (no route, for instance).
    ConnectFailed,
    /// This machine has no free port toward that address.
    NoFreePort,
    /// This process, or this machine, has too many open files.
    TooManyOpenFiles,
    /// The TLS handshake or a TLS record failed.
    Tls,
    /// The proxy refused to open a tunnel.
    Proxy,
    /// The other side reset the connection.
    Reset,
    /// The other side closed the connection before the response was complete.
    ClosedEarly,
    /// What came is no HTTP/1.x response.
    Malformed,
    /// The body is larger than the limit.
    BodyTooLarge,
    /// The body could not be decompressed.
    Decode,
    /// The body of the request could not be read, or was not as long as it was said to be.
    BodySource,
    /// Another error of the operating system, or of a body's sink.
    Io,
}

/// How far a request had got when its exchange failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Delivery {
    /// Nothing of it was given to the kernel: no connection was made, or it was seen to be closed before.
    #[default]
    NotSent,
    /// It was sent, but the other side's kernel has acknowledged nothing of it: the connection had been
    /// closed there before it came, or it was lost.
    Unacknowledged,
    /// The other side has acknowledged some of it, has responded, or this system does not tell: it may
    /// have been carried out.
    Acknowledged,
}

/// An exchange or a connection that failed.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    detail: Detail,
    delivery: Delivery,
    /// Of the response whose head had come; 0: none had.
    status: u16,
    /// How long the connection had rested since it carried a request before, in ns; `None`: it had carried none.
    rested: Option<u64>,
    unsolicited: bool,
    /// Whether the other side has said that it did not take the request.
    refused: bool,
}

#[derive(Debug)]
enum Detail {
    Fixed(&'static str),
    Text(Box<str>),
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, detail: impl Into<Box<str>>) -> Self {
        Error::with(kind, Detail::Text(detail.into()))
    }

    fn fixed(kind: ErrorKind, detail: &'static str) -> Self {
        Error::with(kind, Detail::Fixed(detail))
    }

    fn with(kind: ErrorKind, detail: Detail) -> Self {
        Error {
            kind,
            detail,
            delivery: Delivery::NotSent,
            status: 0,
            rested: None,
            unsolicited: false,
            refused: false,
        }
    }

    /// An error of the operating system while reading or writing, or of what is sent.
    pub(crate) fn io(error: &io::Error) -> Self {
        let kind = match error.kind() {
            _ if SourceFailed::is(error) => ErrorKind::BodySource,
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionAborted => ErrorKind::Reset,
            io::ErrorKind::UnexpectedEof => ErrorKind::ClosedEarly,
            // rustls says so of what it cannot make sense of.
            io::ErrorKind::InvalidData => ErrorKind::Tls,
            io::ErrorKind::TimedOut => ErrorKind::ConnectTimeout,
            _ => ErrorKind::Io,
        };
        Error::new(kind, tls_failure::reason(error).unwrap_or_else(|| error.to_string()))
    }

    /// What came could not be put where it was to go.
    pub(crate) fn sink(error: &io::Error) -> Self {
        Error::new(ErrorKind::Io, format!("response_body: {error}"))
    }

    /// An error of the operating system while connecting.
    pub(crate) fn connect(error: &io::Error, to: &str) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::ConnectionRefused => ErrorKind::ConnectRefused,
            io::ErrorKind::TimedOut => ErrorKind::ConnectTimeout,
            io::ErrorKind::ConnectionReset => ErrorKind::Reset,
            io::ErrorKind::AddrNotAvailable | io::ErrorKind::AddrInUse => ErrorKind::NoFreePort,
            // EMFILE 24, ENFILE 23
            _ if matches!(error.raw_os_error(), Some(23 | 24)) => ErrorKind::TooManyOpenFiles,
            _ => ErrorKind::ConnectFailed,
        };
        Error::new(kind, format!("{to}: {error}"))
    }

    /// Tells that it was the way to the proxy that failed.
    pub(crate) fn of_proxy(self) -> Self {
        Error { detail: Detail::Text(format!("the proxy {self}").into()), ..self }
    }

    pub(crate) fn malformed(why: &'static str) -> Self {
        Error::fixed(ErrorKind::Malformed, why)
    }

    /// What came is TLS, and was not expected.
    pub(crate) fn speaks_tls() -> Self {
        let detail = "the other side speaks TLS on this port: is it meant to be https://?";
        Error::fixed(ErrorKind::Malformed, detail)
    }

    pub(crate) fn body_too_large(limit: u64) -> Self {
        Error::new(ErrorKind::BodyTooLarge, format!("more than {limit} bytes"))
    }

    pub(crate) fn ratio_too_large(limit: u64) -> Self {
        let detail = format!("decompressed, it is more than {limit} times what was sent");
        Error::new(ErrorKind::BodyTooLarge, detail)
    }

    pub(crate) fn decode(detail: impl Into<Box<str>>) -> Self {
        Error::new(ErrorKind::Decode, detail)
    }

    /// The other side closed; `bytes` had been read, and maybe the head.
    pub(crate) fn closed(bytes: u64, head: bool) -> Self {
        let detail = match (bytes, head) {
            (0, _) => "before any byte of the response",
            (_, false) => "within the head of the response",
            (_, true) => "within the body of the response",
        };
        Error::fixed(ErrorKind::ClosedEarly, detail)
    }

    /// The other side had closed the connection before the next request.
    pub(crate) fn closed_idle() -> Self {
        Error::fixed(ErrorKind::ClosedEarly, "closed before the request was sent")
    }

    /// Bytes had come before the next request.
    pub(crate) fn unsolicited() -> Self {
        let detail = "bytes came on the connection before the request was sent";
        Error { unsolicited: true, ..Error::fixed(ErrorKind::ClosedEarly, detail) }
    }

    /// The body of a request could not be read.
    pub(crate) fn body_source(error: &io::Error) -> Self {
        Error::new(ErrorKind::BodySource, error.to_string())
    }

    /// What came is not HTTP/2.
    pub(crate) fn not_http2(why: &str) -> Self {
        Error::new(ErrorKind::Malformed, format!("HTTP/2: {why}"))
    }

    /// The `h2` crate could not do what it was asked for.
    pub(crate) fn http2(why: &str) -> Self {
        Error::new(ErrorKind::Io, format!("HTTP/2: {why}"))
    }

    /// The other side has reset the stream, with a code. `refused`: before it looked at the request (RFC
    /// 9113, section 8.7).
    pub(crate) fn stream_reset(code: &str, refused: bool) -> Self {
        let error = Error::new(ErrorKind::Reset, format!("the stream was reset: {code}"));
        Error { refused, ..error }
    }

    /// The other side has ended the connection, with a code, and did not take the request.
    pub(crate) fn going_away(code: &str) -> Self {
        let detail = format!("the other side takes no more requests here: GOAWAY, {code}");
        Error { refused: true, ..Error::new(ErrorKind::ClosedEarly, detail) }
    }

    /// The other side closed a new connection before a request could begin on it.
    pub fn closed_at_once() -> Self {
        Error::fixed(ErrorKind::ClosedEarly, "closed before a request could begin")
    }

    /// Tells what the other side had said before.
    pub(crate) fn behind(self, said: &str) -> Self {
        Error { detail: Detail::Text(format!("{self}, behind {said}").into()), ..self }
    }

    /// Tells how far the request had got, and how long the connection had rested since it carried another.
    pub(crate) fn after(self, delivery: Delivery, rested: Option<u64>) -> Self {
        Error { delivery, rested, ..self }
    }

    /// Tells the status of the response whose head had come.
    pub(crate) fn with_status(self, status: u16) -> Self {
        Error { status, ..self }
    }

    /// The status of the response whose head had come before the exchange failed.
    pub fn status(&self) -> Option<u16> {
        (self.status > 0).then_some(self.status)
    }

    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// How far the request had got.
    pub fn delivery(&self) -> Delivery {
        self.delivery
    }

    /// Whether a connection that had carried a request before was closed before this one could reach the
    /// other side: it was closed before the request was sent, or nothing of the request was
    /// acknowledged. Or the other side has said that it did not take the request. The request was not
    /// carried out, and another try may do better.
    pub fn is_stale(&self) -> bool {
        (self.rested.is_some() || self.refused)
            && self.delivery != Delivery::Acknowledged
            && matches!(self.kind, ErrorKind::ClosedEarly | ErrorKind::Reset)
    }

    /// How long the connection had rested since the response before, in ns, when the request began; 0: there was
    /// none before.
    pub fn rested_ns(&self) -> u64 {
        self.rested.unwrap_or(0)
    }

    /// Whether the other side has said that it did not take the request.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused
    }

    /// Whether the connection was given up because of unsolicited bytes: a response to no
    /// request, which would have been taken for the response to the next one.
    pub fn is_unsolicited(&self) -> bool {
        self.unsolicited
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Detail::Fixed(text) => f.write_str(text),
            Detail::Text(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}
