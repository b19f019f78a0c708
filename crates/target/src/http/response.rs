//! A response before it is sent: status, fields and body, built by a handler and rendered to bytes.

use std::fmt::{self, Write as _};
use std::io::Write as _;

use super::Refusal;

/// Bytes of a date in a header, as in `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) const DATE_LEN: usize = 29;

/// A response in the making. A worker keeps one and reuses its memory.
#[derive(Default)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    fields: String,
}

/// How the end of a response's body is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// The status says that there is none (204, 304).
    Bodiless,
    Length(u64),
    Chunked,
    UntilClose,
}

/// What the response says about the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Persistence {
    /// It lives on, which HTTP/1.1 need not say.
    Silent,
    /// It lives on, which an HTTP/1.0 client must be told.
    Told,
    Close,
}

impl Persistence {
    pub(crate) fn of(keep_alive: bool, http_10: bool) -> Self {
        match (keep_alive, http_10) {
            (false, _) => Persistence::Close,
            (true, true) => Persistence::Told,
            (true, false) => Persistence::Silent,
        }
    }
}

impl Response {
    pub(crate) fn new(status: u16) -> Self {
        Response { status, ..Response::default() }
    }

    /// Makes it an empty 200 again, and keeps its memory unless that has grown large.
    pub(crate) fn clear(&mut self) {
        self.status = 200;
        self.fields.clear();
        self.body.clear();
        self.body.shrink_to(64 * 1024);
    }

    /// Adds a field. Control characters in the value, which would end the line, become spaces.
    pub(crate) fn field(&mut self, name: &str, value: impl fmt::Display) {
        let start = self.fields.len();
        // Writing to a string does not fail.
        let _ = write!(self.fields, "{name}: {value}");
        if self.fields[start..].contains(|c: char| c.is_ascii_control()) {
            let clean = self.fields[start..].replace(|c: char| c.is_ascii_control(), " ");
            self.fields.truncate(start);
            self.fields.push_str(&clean);
        }
        self.fields.push_str("\r\n");
    }

    pub(crate) fn print(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a vector does not fail.
        let _ = self.body.write_fmt(text);
    }

    /// Plain text as the body.
    pub(crate) fn text(&mut self, text: fmt::Arguments<'_>) {
        self.field("Content-Type", "text/plain; charset=utf-8");
        self.print(text);
    }

    /// JSON as the body, already rendered.
    pub(crate) fn json(&mut self, text: fmt::Arguments<'_>) {
        self.field("Content-Type", "application/json");
        self.print(text);
    }

    /// A page of HTML as the body, `content` within the frame of the site.
    pub(crate) fn html(&mut self, title: &str, content: fmt::Arguments<'_>) {
        self.field("Content-Type", "text/html; charset=utf-8");
        self.print(format_args!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
             </head>\n<body>\n<h1>{title}</h1>\n{content}\n<p><a href=\"/\">home</a></p>\n\
             </body></html>\n"
        ));
    }

    /// An error with its reason as text.
    pub(crate) fn error(&mut self, status: u16, reason: fmt::Arguments<'_>) {
        self.status = status;
        self.text(format_args!("{reason}\n"));
    }

    /// The response to a request that is refused.
    pub(crate) fn refused(refusal: Refusal) -> Self {
        let mut response = Response::new(refusal.status);
        response.text(format_args!("{}\n", refusal.reason));
        response
    }

    pub(crate) fn redirect(&mut self, status: u16, location: impl fmt::Display) {
        self.status = status;
        self.field("Location", location);
    }

    /// The framing when the body is what this response holds.
    pub(crate) fn own_framing(&self) -> Framing {
        if is_bodiless(self.status) {
            return Framing::Bodiless;
        }
        Framing::Length(self.body.len() as u64)
    }

    /// Appends the rendered head to `out`.
    pub(crate) fn render_head(
        &self,
        out: &mut Vec<u8>,
        framing: Framing,
        persistence: Persistence,
        date: &[u8],
    ) {
        // Writing to a vector does not fail.
        let _ = write!(out, "HTTP/1.1 {} {}\r\n", self.status, reason_phrase(self.status));
        out.extend_from_slice(b"Server: squall\r\nDate: ");
        out.extend_from_slice(date);
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(self.fields.as_bytes());
        match framing {
            Framing::Length(n) => {
                let _ = write!(out, "Content-Length: {n}\r\n");
            }
            Framing::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
            Framing::Bodiless | Framing::UntilClose => {}
        }
        out.extend_from_slice(match persistence {
            Persistence::Silent => b"\r\n",
            Persistence::Told => b"Connection: keep-alive\r\n\r\n",
            Persistence::Close => b"Connection: close\r\n\r\n",
        });
    }

    /// Appends head and body to `out`; the body only as far as the client expects one.
    pub(crate) fn render(
        &self,
        out: &mut Vec<u8>,
        is_head: bool,
        persistence: Persistence,
        date: &[u8],
    ) {
        let framing = self.own_framing();
        self.render_head(out, framing, persistence, date);
        if !is_head && framing != Framing::Bodiless {
            out.extend_from_slice(&self.body);
        }
    }
}

/// Whether a response of this status has no body, whatever was asked (RFC 9110, 6.4.1).
pub(crate) fn is_bodiless(status: u16) -> bool {
    matches!(status, 100..200 | 204 | 304)
}

fn reason_phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Content Too Large",
        417 => "Expectation Failed",
        418 => "I'm a teapot",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        // The phrase may be empty (RFC 9112, 4).
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(response: &Response, is_head: bool, persistence: Persistence) -> String {
        let mut out = Vec::new();
        response.render(&mut out, is_head, persistence, b"today");
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_response_is_rendered() {
        let mut response = Response::new(200);
        response.text(format_args!("hi"));
        let head = "HTTP/1.1 200 OK\r\nServer: squall\r\nDate: today\r\n\
                    Content-Type: text/plain; charset=utf-8\r\nContent-Length: 2\r\n";
        let cases = [
            (false, Persistence::Silent, format!("{head}\r\nhi")),
            (true, Persistence::Told, format!("{head}Connection: keep-alive\r\n\r\n")),
            (false, Persistence::Close, format!("{head}Connection: close\r\n\r\nhi")),
        ];
        for (is_head, persistence, expected) in cases {
            assert_eq!(rendered(&response, is_head, persistence), expected);
        }
    }

    #[test]
    fn a_bodiless_status_has_neither_length_nor_body() {
        let mut response = Response::new(304);
        response.print(format_args!("no"));
        let text = rendered(&response, false, Persistence::Silent);
        assert_eq!(text, "HTTP/1.1 304 Not Modified\r\nServer: squall\r\nDate: today\r\n\r\n");
    }

    #[test]
    fn a_value_cannot_end_its_line() {
        let mut response = Response::new(302);
        response.redirect(302, "/a\r\nSet-Cookie: b");
        let text = rendered(&response, true, Persistence::Silent);
        assert!(text.contains("Location: /a  Set-Cookie: b\r\n"), "{text}");
    }
}
