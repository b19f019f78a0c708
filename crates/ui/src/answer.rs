//! Answers: their heads, the same for all.

use std::io;

use squall_serve::Connection;

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
    pub status: u16,
    pub media: &'static str,
    /// What it may do in a browser.
    pub policy: String,
    pub body: Vec<u8>,
}

impl Response {
    /// A text, which does nothing in a browser.
    pub fn text(status: u16, text: &str) -> Response {
        let policy = "default-src 'none'; frame-ancestors 'none'".to_owned();
        let media = "text/plain; charset=utf-8";
        Response { status, media, policy, body: format!("{text}\n").into_bytes() }
    }

    pub fn status(status: u16) -> Response {
        Response::text(status, words(status))
    }

    pub fn json(status: u16, value: &serde_json::Value) -> Response {
        let media = "application/json";
        Response { media, body: value.to_string().into_bytes(), ..Response::status(status) }
    }

    /// Writes it.
    ///
    /// # Errors
    /// The client has gone away, or does not read.
    pub fn write(&self, connection: &mut Connection) -> io::Result<()> {
        let Response { status, media, policy, body } = self;
        let length = body.len();
        let mut bytes = head(*status, media, policy, Some(length)).into_bytes();
        bytes.extend_from_slice(body);
        connection.respond(&bytes)
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
