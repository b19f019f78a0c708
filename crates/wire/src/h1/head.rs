//! The head of a response, from bytes to facts. Pure; RFC 9112.

use std::ops::Range;

use super::malformed::Malformed;
use crate::decompress::Codings;

/// Most bytes of a head, interim ones before it included.
pub(crate) const MAX_HEAD: usize = 256 << 10;
const MAX_LINES: usize = 1_000;

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// So many bytes.
    Length(u64),
    Chunked,
    /// All that comes until the connection is closed.
    UntilClose,
}

/// What a head says, as far as an exchange needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub status: u16,
    pub framing: Framing,
    /// Whether the connection may carry another request afterwards.
    pub keep_alive: bool,
    /// How the body is compressed, if it is.
    pub codings: Codings,
    pub sets_cookies: bool,
    /// Whether a header line is folded (obs-fold).
    pub folded: bool,
}

/// Reads a head that comes in pieces: it is given all bytes so far each time, and resumes where it
/// stopped, so that a head costs the same however it is cut.
#[derive(Debug, Default)]
pub(crate) struct HeadParser {
    /// Where the head begins.
    start: usize,
    /// Where the line begins that comes next.
    at: usize,
    /// No line ends between there and here.
    searched: usize,
    /// The status, and whether the version is 1.1 or a later 1.x; `None`: the line has not come.
    status: Option<(u16, bool)>,
    /// The header line that came last: it may go on in the next one.
    field: Option<Range<usize>>,
    lines: usize,
    folded: bool,
    seen: Seen,
    /// Bytes that were searched for line ends.
    #[cfg(test)]
    pub(super) looked_at: usize,
}

impl HeadParser {
    /// A head that begins at `start`.
    pub(crate) fn from(start: usize) -> Self {
        HeadParser { start, at: start, searched: start, ..HeadParser::default() }
    }

    /// Whether it has seen nothing yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.searched == 0
    }

    /// Goes on with the head in `bytes`, which begin as they did before. `None`: it is not complete
    /// yet. Otherwise the facts, and the head's range.
    ///
    /// `no_body`: the request was HEAD.
    pub(crate) fn parse(
        &mut self,
        bytes: &[u8],
        no_body: bool,
    ) -> Result<Option<(Head, Range<usize>)>, Malformed> {
        while let Some(end) = self.line_end(bytes) {
            let line = self.at..end - usize::from(bytes[self.at..end].ends_with(b"\r"));
            (self.at, self.searched) = (end + 1, end + 1);
            match self.status {
                // RFC 9112, section 2.2: an empty line before the first one is passed over.
                None if line.is_empty() => self.start = self.at,
                None => self.status = Some(status_line(&bytes[line])?),
                Some(status) => {
                    if self.field_line(bytes, line)? {
                        return Ok(Some((self.head(bytes, status, no_body)?, self.start..self.at)));
                    }
                }
            }
        }
        if bytes.len() > MAX_HEAD {
            return Err(Malformed("the head is larger than 256 KiB"));
        }
        Ok(None)
    }

    fn line_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let found = memchr::memchr(b'\n', &bytes[self.searched..]).map(|at| self.searched + at);
        #[cfg(test)]
        {
            self.looked_at += found.map_or(bytes.len(), |end| end + 1) - self.searched;
        }
        self.searched = found.unwrap_or(bytes.len());
        found
    }

    /// A line behind the first one; whether it ends the head.
    fn field_line(&mut self, bytes: &[u8], line: Range<usize>) -> Result<bool, Malformed> {
        if let Some(b' ' | b'\t') = bytes[line.clone()].first() {
            // RFC 9112, section 5.2: it continues the one before (obs-fold).
            let Some(field) = &mut self.field else {
                return Err(Malformed("a space before the first header"));
            };
            field.end = line.end;
            self.folded = true;
            return Ok(false);
        }
        let ends = line.is_empty();
        if let Some(field) = self.field.replace(line) {
            self.lines += 1;
            if self.lines > MAX_LINES {
                return Err(Malformed("more than 1,000 header lines"));
            }
            let field = &bytes[field];
            if self.folded && field.contains(&b'\n') {
                self.seen.line(&unfold(field))?;
            } else {
                self.seen.line(field)?;
            }
        }
        Ok(ends)
    }

    fn head(
        &self,
        bytes: &[u8],
        (status, version_11): (u16, bool),
        no_body: bool,
    ) -> Result<Head, Malformed> {
        let bytes = &bytes[self.start..self.at];
        for at in memchr::memchr2_iter(0, b'\r', bytes) {
            match (bytes[at], bytes.get(at + 1)) {
                (0, _) => return Err(Malformed("the head holds a NUL")),
                (_, Some(b'\n')) => {}
                // RFC 9112, section 2.2: what a CR alone means differs from reader to reader.
                _ => return Err(Malformed("the head holds a CR without LF")),
            }
        }
        let head = self.seen.head(status, version_11, no_body)?;
        Ok(Head { folded: self.folded, ..head })
    }
}

/// A head, or a line of it, with the ends of lines that go on in the next one replaced by spaces, so
/// that it keeps its length (RFC 9112, section 5.2).
pub(crate) fn unfold(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len() {
        if bytes[at] == b'\n' && matches!(bytes.get(at + 1), Some(b' ' | b'\t')) {
            bytes[at] = b' ';
            if at > 0 && bytes[at - 1] == b'\r' {
                bytes[at - 1] = b' ';
            }
        }
    }
    bytes
}

/// RFC 9112, section 2.2: a bare LF may be taken for a line's end.
fn trim_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// `HTTP/1.1 200 OK`: the status, and whether the version is 1.1 or a later 1.x.
fn status_line(line: &[u8]) -> Result<(u16, bool), Malformed> {
    let bad = Malformed("the status line is not HTTP/1.x");
    let rest = line.strip_prefix(b"HTTP/1.").ok_or(bad)?;
    let [minor, b' ', a, b, c, after @ ..] = rest else { return Err(bad) };
    if !minor.is_ascii_digit() || ![a, b, c].iter().all(|digit| digit.is_ascii_digit()) {
        return Err(bad);
    }
    if !matches!(after, [] | [b' ', ..]) {
        return Err(bad);
    }
    let status = [a, b, c].iter().fold(0, |sum, digit| sum * 10 + u16::from(**digit - b'0'));
    if status < 100 {
        return Err(Malformed("the status is below 100"));
    }
    Ok((status, *minor >= b'1'))
}

/// What the lines have said so far.
#[derive(Debug, Default)]
struct Seen {
    length: Option<u64>,
    /// A Transfer-Encoding was given; whether its last coding is `chunked`.
    transfer: Option<bool>,
    /// Connection: keep-alive was given.
    keep_alive: bool,
    close: bool,
    codings: Codings,
    sets_cookies: bool,
}

impl Seen {
    fn line(&mut self, line: &[u8]) -> Result<(), Malformed> {
        // Names are short: a look at each byte finds the colon sooner than a search would begin.
        let length = line.iter().take_while(|byte| TOKEN[**byte as usize]).count();
        let (name, rest) = line.split_at(length);
        let value = match rest {
            [b':', value @ ..] if length > 0 => value,
            [] => return Err(Malformed("a header line has no colon")),
            _ => return Err(Malformed("a header's name holds what no name may")),
        };
        match name.len() {
            14 if name.eq_ignore_ascii_case(b"content-length") => {
                self.content_length(value.trim_ascii())
            }
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                let last = value.rsplit(|byte| *byte == b',').next().unwrap_or_default();
                self.transfer = Some(last.trim_ascii().eq_ignore_ascii_case(b"chunked"));
                Ok(())
            }
            10 if name.eq_ignore_ascii_case(b"connection") => {
                for option in value.split(|byte| *byte == b',') {
                    let option = option.trim_ascii();
                    self.close |= option.eq_ignore_ascii_case(b"close");
                    self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
                }
                Ok(())
            }
            10 if name.eq_ignore_ascii_case(b"set-cookie") => {
                self.sets_cookies = true;
                Ok(())
            }
            16 if name.eq_ignore_ascii_case(b"content-encoding") => {
                self.codings.add(value);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// RFC 9112, section 6.3: several lengths that differ make the message invalid; several that
    /// are the same, or a list of the same, count as one.
    fn content_length(&mut self, value: &[u8]) -> Result<(), Malformed> {
        for part in value.split(|byte| *byte == b',') {
            let part = part.trim_ascii();
            let bad = Malformed("the Content-Length is not a number");
            if part.is_empty() || !part.iter().all(u8::is_ascii_digit) {
                return Err(bad);
            }
            let mut length = 0u64;
            for digit in part {
                let next =
                    length.checked_mul(10).and_then(|n| n.checked_add(u64::from(digit - b'0')));
                length = next.ok_or(bad)?;
            }
            if self.length.is_some_and(|before| before != length) {
                return Err(Malformed("two Content-Lengths differ"));
            }
            self.length = Some(length);
        }
        Ok(())
    }

    fn head(&self, status: u16, version_11: bool, no_body: bool) -> Result<Head, Malformed> {
        let without_body = no_body || status < 200 || status == 204 || status == 304;
        let framing = match (without_body, self.transfer, self.length) {
            (true, ..) => Framing::Length(0),
            // RFC 9112, section 6.3: a message with both may be an attempt at smuggling; a client
            // must treat it as an error or use the chunks and close. An error is the clearer word.
            (_, Some(_), Some(_)) => {
                return Err(Malformed("both Transfer-Encoding and Content-Length"));
            }
            (_, Some(true), None) if version_11 => Framing::Chunked,
            (_, Some(_), None) => Framing::UntilClose,
            (_, None, Some(length)) => Framing::Length(length),
            (_, None, None) => Framing::UntilClose,
        };
        Ok(Head {
            status,
            framing,
            keep_alive: (version_11 || self.keep_alive)
                && !self.close
                && framing != Framing::UntilClose,
            codings: self.codings,
            sets_cookies: self.sets_cookies,
            folded: false,
        })
    }
}

/// Bytes of a name (RFC 9110, section 5.6.2).
const TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = b.is_ascii_alphanumeric()
            || matches!(b, b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.')
            || matches!(b, b'^' | b'_' | b'`' | b'|' | b'~');
        byte += 1;
    }
    table
};

/// Names and values of a head that was parsed before.
pub(crate) fn lines(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let first = memchr::memchr(b'\n', head).map_or(head.len(), |end| end + 1);
    fields(&head[first..])
}

/// Names and values of lines that were read before.
pub(crate) fn fields(lines: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    lines.split(|byte| *byte == b'\n').filter_map(|line| {
        let line = trim_cr(line);
        let colon = memchr::memchr(b':', line)?;
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    })
}
