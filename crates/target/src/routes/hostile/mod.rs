//! The hostile corner: servers that break off, stall, lie and flood, one route for each way.
//!
//! Each answers `GET` and `POST`. What a route does follows from its bytes alone, so that a test of
//! a client can say exactly what it has to survive.

mod body;
mod connection;
mod head;

use super::route::{Handler, Route, route, work};

const fn hostile(path: &'static str, handler: Handler, about: &'static str) -> Route {
    route(path, &["GET", "POST"], handler, about)
}

pub const HOSTILE: &[Route] = &[
    hostile(
        "/hostile/reset-before",
        Handler::Stream(work!(connection::reset_before)),
        "Resets the connection before the first byte.",
    ),
    hostile(
        "/hostile/reset-in-headers",
        Handler::Stream(work!(connection::reset_in_headers)),
        "Resets the connection in the middle of the header fields.",
    ),
    hostile(
        "/hostile/reset-after-headers",
        Handler::Stream(work!(connection::reset_after_headers)),
        "Sends the head and 100 of 1000 bytes of the body, then resets the connection.",
    ),
    hostile(
        "/hostile/close-before",
        Handler::Stream(work!(connection::close_before)),
        "Closes the connection before the first byte.",
    ),
    hostile(
        "/hostile/close-in-headers",
        Handler::Stream(work!(connection::close_in_headers)),
        "Closes the connection in the middle of the header fields.",
    ),
    hostile(
        "/hostile/close-in-body",
        Handler::Stream(work!(connection::close_in_body)),
        "Sends the head and 100 of 1000 bytes of the body, then closes the connection.",
    ),
    hostile(
        "/hostile/close-in-chunk",
        Handler::Stream(work!(connection::close_in_chunk)),
        "Sends 4 of 16 bytes of a chunk, then closes the connection.",
    ),
    hostile(
        "/hostile/close-after-keep-alive",
        Handler::Stream(work!(connection::close_after_keep_alive)),
        "Responds as it should, says keep-alive, and closes right after: the next request on the \
         connection meets a stale one.",
    ),
    hostile(
        "/hostile/never-answers",
        Handler::Stream(work!(connection::never_answers)),
        "Reads the request and sends nothing until the client closes.",
    ),
    hostile(
        "/hostile/early-response",
        Handler::Raw(work!(connection::early_response)),
        "Responds with 413 and closes without reading the body.",
    ),
    hostile(
        "/hostile/extra-bytes",
        Handler::Stream(work!(connection::extra_bytes)),
        "Sends a correct response, followed by a second one that nobody asked for.",
    ),
    hostile(
        "/hostile/redirect-loop",
        Handler::Head(connection::redirect_loop),
        "Redirects to itself.",
    ),
    hostile(
        "/hostile/redirect-away",
        Handler::Head(connection::redirect_away),
        "Redirects to http://elsewhere.invalid/.",
    ),
    hostile(
        "/hostile/slow-headers",
        Handler::Stream(work!(head::slow)),
        "A response whose head comes a byte each ?ms= milliseconds (100) for ?bytes= bytes (50), \
         and then the rest at once: slow, but valid.",
    ),
    hostile(
        "/hostile/endless-headers",
        Handler::Stream(work!(head::endless_fields)),
        "Endless header fields.",
    ),
    hostile(
        "/hostile/endless-header-line",
        Handler::Stream(work!(head::endless_line)),
        "One header field with an endless value.",
    ),
    hostile(
        "/hostile/endless-1xx",
        Handler::Stream(work!(head::endless_interim)),
        "Endless interim responses (102).",
    ),
    hostile(
        "/hostile/bad-status-line",
        Handler::Stream(work!(head::bad_status_line)),
        "A status line that is not HTTP: 'HTTP/1.1 abc OK'.",
    ),
    hostile(
        "/hostile/invalid-bytes",
        Handler::Stream(work!(head::invalid_bytes)),
        "1 KiB of random bytes instead of a response, then a close.",
    ),
    hostile(
        "/hostile/nul-in-header",
        Handler::Stream(work!(head::nul_in_field)),
        "A NUL in the value of a header field.",
    ),
    hostile(
        "/hostile/no-colon",
        Handler::Stream(work!(head::no_colon)),
        "A header line without a colon.",
    ),
    hostile(
        "/hostile/two-content-lengths",
        Handler::Stream(work!(head::two_lengths)),
        "Two Content-Length fields, 5 and 6.",
    ),
    hostile(
        "/hostile/length-and-chunked",
        Handler::Stream(work!(head::length_and_chunked)),
        "Content-Length and Transfer-Encoding: chunked in one head.",
    ),
    hostile(
        "/hostile/negative-length",
        Handler::Stream(work!(head::negative_length)),
        "Content-Length: -5.",
    ),
    hostile(
        "/hostile/overflow-length",
        Handler::Stream(work!(head::overflow_length)),
        "A Content-Length of 2 to the power of 64, plus 5.",
    ),
    hostile(
        "/hostile/content-length-short",
        Handler::Stream(work!(body::length_short)),
        "Content-Length: 5, and 10 bytes; the connection stays open.",
    ),
    hostile(
        "/hostile/content-length-long",
        Handler::Stream(work!(body::length_long)),
        "Content-Length: 10, and 5 bytes; then a close.",
    ),
    hostile(
        "/hostile/bad-chunk-size",
        Handler::Stream(work!(body::bad_chunk_size)),
        "A chunk whose size is 'xyz'.",
    ),
    hostile(
        "/hostile/huge-chunk-size",
        Handler::Stream(work!(body::huge_chunk_size)),
        "A chunk whose size is ffffffffffffffffff, more than 64 bits.",
    ),
    hostile(
        "/hostile/no-chunk-crlf",
        Handler::Stream(work!(body::no_chunk_crlf)),
        "A chunk that is not followed by CRLF.",
    ),
    hostile(
        "/hostile/endless-trailers",
        Handler::Stream(work!(body::endless_trailers)),
        "A chunked body with trailers without end.",
    ),
    hostile(
        "/hostile/endless-body",
        Handler::Stream(work!(body::endless)),
        "A chunked body that goes on until the client closes.",
    ),
    hostile(
        "/hostile/slow-body",
        Handler::Stream(work!(body::slow)),
        "A body of ?bytes= bytes (50), one each ?ms= milliseconds (100): slow, but valid.",
    ),
    hostile(
        "/hostile/gzip-bomb",
        Handler::Stream(work!(body::gzip_bomb)),
        "?size= (16g) zero bytes as gzip, about a thousandth of that on the wire: valid, but not \
         to be unpacked into memory.",
    ),
    hostile(
        "/hostile/bad-gzip",
        Handler::Head(body::bad_gzip),
        "Content-Encoding: gzip, and a body that is none.",
    ),
    hostile(
        "/hostile/truncated-gzip",
        Handler::Head(body::truncated_gzip),
        "Content-Encoding: gzip, and a body that ends in the middle.",
    ),
];
