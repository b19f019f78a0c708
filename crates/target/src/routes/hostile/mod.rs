//! The hostile corner: servers that break off, stall, lie and flood, one route for each way.
//!
//! Each answers `GET` and `POST`. What a route does follows from its bytes alone, so that a test of
//! a client can say exactly what it has to survive.

mod body;
mod connection;
mod head;

use super::route::{Handler, Route, route, work};

const METHODS: &[&str] = &["GET", "POST"];

/// Every hostile route.
pub const HOSTILE: &[Route] = &[
    route(
        "/hostile/reset-before",
        METHODS,
        Handler::Stream(work!(connection::reset_before)),
        "Resets the connection before the first byte.",
    ),
    route(
        "/hostile/reset-in-headers",
        METHODS,
        Handler::Stream(work!(connection::reset_in_headers)),
        "Resets the connection in the middle of the header fields.",
    ),
    route(
        "/hostile/reset-after-headers",
        METHODS,
        Handler::Stream(work!(connection::reset_after_headers)),
        "Sends the head and 100 of 1000 bytes of the body, then resets the connection.",
    ),
    route(
        "/hostile/close-before",
        METHODS,
        Handler::Stream(work!(connection::close_before)),
        "Closes the connection before the first byte.",
    ),
    route(
        "/hostile/close-in-headers",
        METHODS,
        Handler::Stream(work!(connection::close_in_headers)),
        "Closes the connection in the middle of the header fields.",
    ),
    route(
        "/hostile/close-in-body",
        METHODS,
        Handler::Stream(work!(connection::close_in_body)),
        "Sends the head and 100 of 1000 bytes of the body, then closes the connection.",
    ),
    route(
        "/hostile/close-in-chunk",
        METHODS,
        Handler::Stream(work!(connection::close_in_chunk)),
        "Sends 4 of 16 bytes of a chunk, then closes the connection.",
    ),
    route(
        "/hostile/close-after-keep-alive",
        METHODS,
        Handler::Stream(work!(connection::close_after_keep_alive)),
        "Responds as it should, says keep-alive, and closes right after: the next request on the \
         connection meets a stale one.",
    ),
    route(
        "/hostile/never-answers",
        METHODS,
        Handler::Stream(work!(connection::never_answers)),
        "Reads the request and sends nothing until the client closes.",
    ),
    route(
        "/hostile/early-response",
        METHODS,
        Handler::Raw(work!(connection::early_response)),
        "Responds with 413 and closes without reading the body.",
    ),
    route(
        "/hostile/extra-bytes",
        METHODS,
        Handler::Stream(work!(connection::extra_bytes)),
        "Sends a correct response, followed by a second one that nobody asked for.",
    ),
    route(
        "/hostile/redirect-loop",
        METHODS,
        Handler::Head(connection::redirect_loop),
        "Redirects to itself.",
    ),
    route(
        "/hostile/redirect-away",
        METHODS,
        Handler::Head(connection::redirect_away),
        "Redirects to http://elsewhere.invalid/.",
    ),
    route(
        "/hostile/slow-headers",
        METHODS,
        Handler::Stream(work!(head::slow)),
        "A response whose head comes a byte each ?ms= milliseconds (100) for ?bytes= bytes (50), \
         and then the rest at once: slow, but valid.",
    ),
    route(
        "/hostile/endless-headers",
        METHODS,
        Handler::Stream(work!(head::endless_fields)),
        "Endless header fields.",
    ),
    route(
        "/hostile/endless-header-line",
        METHODS,
        Handler::Stream(work!(head::endless_line)),
        "One header field with an endless value.",
    ),
    route(
        "/hostile/endless-1xx",
        METHODS,
        Handler::Stream(work!(head::endless_interim)),
        "Endless interim responses (102).",
    ),
    route(
        "/hostile/bad-status-line",
        METHODS,
        Handler::Stream(work!(head::bad_status_line)),
        "A status line that is not HTTP: 'HTTP/1.1 abc OK'.",
    ),
    route(
        "/hostile/invalid-bytes",
        METHODS,
        Handler::Stream(work!(head::invalid_bytes)),
        "1 KiB of random bytes instead of a response, then a close.",
    ),
    route(
        "/hostile/nul-in-header",
        METHODS,
        Handler::Stream(work!(head::nul_in_field)),
        "A NUL in the value of a header field.",
    ),
    route(
        "/hostile/no-colon",
        METHODS,
        Handler::Stream(work!(head::no_colon)),
        "A header line without a colon.",
    ),
    route(
        "/hostile/two-content-lengths",
        METHODS,
        Handler::Stream(work!(head::two_lengths)),
        "Two Content-Length fields, 5 and 6.",
    ),
    route(
        "/hostile/length-and-chunked",
        METHODS,
        Handler::Stream(work!(head::length_and_chunked)),
        "Content-Length and Transfer-Encoding: chunked in one head.",
    ),
    route(
        "/hostile/negative-length",
        METHODS,
        Handler::Stream(work!(head::negative_length)),
        "Content-Length: -5.",
    ),
    route(
        "/hostile/overflow-length",
        METHODS,
        Handler::Stream(work!(head::overflow_length)),
        "A Content-Length of 2 to the power of 64, plus 5.",
    ),
    route(
        "/hostile/content-length-short",
        METHODS,
        Handler::Stream(work!(body::length_short)),
        "Content-Length: 5, and 10 bytes; the connection stays open.",
    ),
    route(
        "/hostile/content-length-long",
        METHODS,
        Handler::Stream(work!(body::length_long)),
        "Content-Length: 10, and 5 bytes; then a close.",
    ),
    route(
        "/hostile/bad-chunk-size",
        METHODS,
        Handler::Stream(work!(body::bad_chunk_size)),
        "A chunk whose size is 'xyz'.",
    ),
    route(
        "/hostile/huge-chunk-size",
        METHODS,
        Handler::Stream(work!(body::huge_chunk_size)),
        "A chunk whose size is ffffffffffffffffff, more than 64 bits.",
    ),
    route(
        "/hostile/no-chunk-crlf",
        METHODS,
        Handler::Stream(work!(body::no_chunk_crlf)),
        "A chunk that is not followed by CRLF.",
    ),
    route(
        "/hostile/endless-trailers",
        METHODS,
        Handler::Stream(work!(body::endless_trailers)),
        "A chunked body with trailers without end.",
    ),
    route(
        "/hostile/endless-body",
        METHODS,
        Handler::Stream(work!(body::endless)),
        "A chunked body that goes on until the client closes.",
    ),
    route(
        "/hostile/slow-body",
        METHODS,
        Handler::Stream(work!(body::slow)),
        "A body of ?bytes= bytes (50), one each ?ms= milliseconds (100): slow, but valid.",
    ),
    route(
        "/hostile/gzip-bomb",
        METHODS,
        Handler::Stream(work!(body::gzip_bomb)),
        "?size= (16g) zero bytes as gzip, about a thousandth of that on the wire: valid, but not \
         to be unpacked into memory.",
    ),
    route(
        "/hostile/bad-gzip",
        METHODS,
        Handler::Head(body::bad_gzip),
        "Content-Encoding: gzip, and a body that is none.",
    ),
    route(
        "/hostile/truncated-gzip",
        METHODS,
        Handler::Head(body::truncated_gzip),
        "Content-Encoding: gzip, and a body that ends in the middle.",
    ),
];
