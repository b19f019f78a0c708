//! Answers: their heads, the same for all, and how they are written within a time.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// How long a single write may wait for a client that does not read.
pub const STALLED: Duration = Duration::from_secs(5);
/// How long an answer with an end may take.
const LONGEST: Duration = Duration::from_secs(60);
/// Most that is written at a time.
const PART: usize = 64 << 10;
/// How long, and how much, what a refused client still sends is read: without that its kernel would throw away the answer.
const DRAIN: Duration = Duration::from_millis(500);
const MAX_DRAINED: usize = 1 << 20;

/// What nothing of this server's may do: be kept, be guessed, be framed, tell others where it came from.
const FIELDS: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
                      X-Frame-Options: DENY\r\nCross-Origin-Resource-Policy: same-origin\r\n\
                      Cross-Origin-Opener-Policy: same-origin\r\nConnection: close\r\n";

/// The words of a status.
fn words(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

/// An answer with an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Its media type.
    pub media: &'static str,
    /// What it may do in a browser.
    pub policy: String,
    /// Its body.
    pub body: Vec<u8>,
}

impl Response {
    /// A text, which does nothing in a browser.
    pub fn text(status: u16, text: &str) -> Response {
        let policy = "default-src 'none'; frame-ancestors 'none'".to_owned();
        let media = "text/plain; charset=utf-8";
        Response { status, media, policy, body: format!("{text}\n").into_bytes() }
    }

    /// A status alone.
    pub fn status(status: u16) -> Response {
        Response::text(status, words(status))
    }

    /// JSON.
    pub fn json(status: u16, value: &serde_json::Value) -> Response {
        let media = "application/json";
        Response { media, body: value.to_string().into_bytes(), ..Response::status(status) }
    }

    /// Writes it.
    ///
    /// # Errors
    /// The client has gone away, or does not read.
    pub fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        let Response { status, media, policy, body } = self;
        let length = body.len();
        let mut bytes = head(*status, media, policy, Some(length)).into_bytes();
        bytes.extend_from_slice(body);
        let began = Instant::now();
        for part in bytes.chunks(PART) {
            if began.elapsed() > LONGEST {
                return Err(io::ErrorKind::TimedOut.into());
            }
            write_all(stream, part)?;
        }
        Ok(())
    }
}

/// The head of an answer; without a length it goes on until the connection ends.
pub fn head(status: u16, media: &str, policy: &str, length: Option<usize>) -> String {
    let length = length.map_or(String::new(), |length| format!("Content-Length: {length}\r\n"));
    let words = words(status);
    format!(
        "HTTP/1.1 {status} {words}\r\nContent-Type: {media}\r\n{length}\
         Content-Security-Policy: {policy}\r\n{FIELDS}\r\n"
    )
}

/// Writes bytes to a client that may not read.
///
/// # Errors
/// It has gone away, or has not read for some time.
pub fn write_all(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    stream.set_write_timeout(Some(STALLED))?;
    let until = Instant::now() + STALLED;
    let mut left = bytes;
    while !left.is_empty() {
        // A client that takes a byte now and then does not read either.
        if Instant::now() > until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match stream.write(left) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => left = &left[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Ends a connection so that the client gets what was written, even if it has sent more than was read.
pub fn close(stream: &mut TcpStream) {
    let until = Instant::now() + DRAIN;
    let _ = stream.shutdown(Shutdown::Write);
    let mut drained = 0;
    let mut bytes = [0; 4 << 10];
    while drained < MAX_DRAINED {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return;
        }
        match stream.read(&mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(read) => drained += read,
        }
    }
}
