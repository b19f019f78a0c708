//! What an exchange is given, and what it gives.

use crate::body::{BodySink, BodySource};
use crate::h1;
use crate::http2_fields::Fields;
use crate::throttle::Throttle;

/// A request in bytes.
pub struct RequestBytes<'a> {
    /// Whether it is HEAD: its response has no body.
    pub is_head: bool,
    /// Head, and body where it was made in memory, in the order of sending; empty ones are skipped.
    pub slices: [&'a [u8]; 3],
    /// A body that is read while it is sent.
    pub stream: Option<&'a mut dyn BodySource>,
}

/// A request as HTTP/2 has it.
pub struct RequestFields<'a> {
    pub fields: &'a Fields,
    /// The body, where it was made in memory.
    pub body: &'a [u8],
    /// A body that is read while it is sent, in place of that.
    pub stream: Option<&'a mut dyn BodySource>,
}

/// What is done with the response's body.
pub struct Expect<'a> {
    /// How much of its beginning is kept for `done` to look at; the rest is thrown away as it comes.
    pub keep: u64,
    /// Where all of it goes besides.
    pub sink: Option<&'a mut dyn BodySink>,
    /// Most bytes of the body, as sent and as decompressed; more is an error.
    pub max_body: u64,
    /// Most decompressed bytes for each byte of a compressed body, from 1; the first MiB is free.
    pub max_decompression_ratio: u64,
    /// Decompress gzip, deflate, br and zstd, if the body is used.
    pub decompress: bool,
    /// Bounds how fast bytes come and go. A response has then arrived when it could be read.
    pub throttle: Option<&'a dyn Throttle>,
}

/// Moments of an exchange, in nanoseconds of the run's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// Before the first byte was sent.
    pub sent_ns: u64,
    /// When the last byte was handed to the kernel, if that had to wait for room; of HTTP/2, when the last piece of a body was.
    pub written_ns: Option<u64>,
    /// When the first byte of the response had arrived: in the kernel, where it says so, or else in this
    /// program.
    pub first_byte_ns: u64,
    /// When the last byte had arrived.
    pub end_ns: u64,
    /// From the arrival of the last byte in the kernel until it was read here; `None`: the kernel did
    /// not say.
    pub delay_ns: Option<u64>,
    /// From when the last byte was read until the body was decompressed; 0: it was not. This program's own time.
    pub decompress_ns: u64,
}

/// A response, borrowed from the worker's buffer.
pub struct Response<'a> {
    pub status: u16,
    /// The head's bytes, interim heads before it left out. One of HTTP/2 is written as HTTP/1 has it.
    pub head: &'a [u8],
    /// The body, if it was asked to be kept; decompressed, if that was asked for.
    pub body: &'a [u8],
    /// Bytes of the body as sent, chunk frames left out.
    pub body_bytes: u64,
    /// Bytes of the whole body, decompressed if that was asked for, however much of it was kept.
    pub body_length: u64,
    /// All bytes that were read.
    pub bytes_in: u64,
    /// All bytes that were written.
    pub bytes_out: u64,
    /// The lines that came behind the body, as in the head; empty: none did.
    pub trailers: &'a [u8],
    /// Whether the head has a Set-Cookie line.
    pub sets_cookies: bool,
    /// Bytes that came behind the response: the beginning of one to no request. The connection is not
    /// used again.
    pub unsolicited_bytes: u64,
}

impl<'a> Response<'a> {
    /// Names and values of the header lines, in order.
    pub fn headers(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        h1::lines(self.head)
    }

    /// The value of the first header of a name, in any case of letters.
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        first_of(self.headers(), name)
    }

    /// The value of the first trailer of a name (RFC 9110, section 6.5), in any case of letters.
    pub fn trailer(&self, name: &str) -> Option<&'a [u8]> {
        first_of(h1::fields(self.trailers), name)
    }
}

fn first_of<'a>(
    mut fields: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    name: &str,
) -> Option<&'a [u8]> {
    fields.find(|(own, _)| own.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
}
