//! Responses that are malformed although their frames are not: RFC 9113, section 8.

use super::*;

/// A head with `:status: 200` and these fields, and the end.
fn fields(fields: &[(&str, &str)]) -> Vec<u8> {
    let fields: Vec<u8> = fields.iter().flat_map(|(name, value)| literal(name, value)).collect();
    [headers(0, 1, &[&[OK], &fields[..]].concat()), frame(DATA, END_STREAM, 1, b"ok")].concat()
}

/// A head of just these fields, and the end.
fn only(all: &[(&str, &str)]) -> Vec<u8> {
    let fields: Vec<u8> = all.iter().flat_map(|(name, value)| literal(name, value)).collect();
    [headers(0, 1, &fields), frame(DATA, END_STREAM, 1, b"ok")].concat()
}

#[test]
fn fields_that_are_not_allowed() {
    let malformed = Reset(PROTOCOL_ERROR);
    hold(&[
        ("8.2.2", "Connection", fields(&[("connection", "close")]), malformed),
        ("8.2.2", "Keep-Alive", fields(&[("keep-alive", "5")]), malformed),
        ("8.2.2", "Proxy-Connection", fields(&[("proxy-connection", "close")]), malformed),
        ("8.2.2", "Transfer-Encoding", fields(&[("transfer-encoding", "chunked")]), malformed),
        ("8.2.2", "Upgrade", fields(&[("upgrade", "h2c")]), malformed),
        ("8.2.2", "TE of something else than trailers", fields(&[("te", "gzip")]), malformed),
        ("8.2.1", "a value that begins with a space", fields(&[("x-a", " 1")]), Ended),
        ("8.2.1", "a value that ends with a tab", fields(&[("x-a", "1\t")]), Ended),
    ]);
}

/// The RFC asks for an error of the stream alone, and lets it be one of the connection (section 5.4.1).
#[test]
fn characters_that_are_not_allowed_which_to_the_h2_crate_end_the_connection() {
    let malformed = Connection(PROTOCOL_ERROR);
    hold(&[
        ("8.2.1", "a name in upper case", fields(&[("X-A", "1")]), malformed),
        ("8.2.1", "a name of nothing", fields(&[("", "1")]), malformed),
        ("8.2.1", "a name with a space", fields(&[("x a", "1")]), malformed),
        ("8.2.1", "a name with a colon in it", fields(&[("x:a", "1")]), malformed),
        ("8.2.1", "a name with a control character", fields(&[("x\u{1}", "1")]), malformed),
        ("8.2.1", "a name beyond ASCII", fields(&[("\u{fc}", "1")]), malformed),
        ("8.2.1", "a value with CR", fields(&[("x-a", "1\r2")]), malformed),
        ("8.2.1", "a value with LF", fields(&[("x-a", "1\n2")]), malformed),
        ("8.2.1", "a value with NUL", fields(&[("x-a", "1\x002")]), malformed),
    ]);
}

#[test]
fn pseudo_headers_that_are_not_allowed() {
    let malformed = Reset(PROTOCOL_ERROR);
    hold(&[
        ("8.3.2", "no :status", only(&[("x-a", "1")]), malformed),
        ("8.3.2", "no field at all", only(&[]), malformed),
        ("8.3.2", "two :status", fields(&[(":status", "200")]), malformed),
        (
            "8.3",
            "a pseudo-header behind a field",
            only(&[("x-a", "1"), (":status", "200")]),
            malformed,
        ),
    ]);
}

/// As with characters that are not allowed.
#[test]
fn pseudo_headers_that_are_not_allowed_which_to_the_h2_crate_end_the_connection() {
    let malformed = Connection(PROTOCOL_ERROR);
    hold(&[
        ("8.3.2", ":status that is no number", only(&[(":status", "2x0")]), malformed),
        ("8.3.2", ":status of two digits", only(&[(":status", "20")]), malformed),
        ("8.3.2", ":status of four digits", only(&[(":status", "2000")]), malformed),
        ("8.3.2", ":status of nothing", only(&[(":status", "")]), malformed),
        ("8.3", "a pseudo-header that nobody knows", fields(&[(":x", "1")]), malformed),
    ]);
}

/// The RFC asks for an error of the stream; the `h2` crate drops these fields, and nobody sees them.
#[test]
fn pseudo_headers_of_requests_which_the_h2_crate_passes_over() {
    hold(&[
        ("8.3", "a pseudo-header of requests", fields(&[(":method", "GET")]), Fine),
        ("8.3", "another pseudo-header of requests", fields(&[(":path", "/")]), Fine),
    ]);
}

#[test]
fn bodies_that_do_not_fit_their_length() {
    let malformed = Reset(PROTOCOL_ERROR);
    let with = |lengths: &[&str]| {
        fields(&lengths.iter().map(|length| ("content-length", *length)).collect::<Vec<_>>())
    };
    let ended = |block: &[u8]| headers(END_STREAM, 1, block);
    let five = literal("content-length", "5");
    hold(&[
        ("8.1.1", "less DATA than Content-Length", with(&["5"]), malformed),
        ("8.1.1", "more DATA than Content-Length", with(&["1"]), malformed),
        ("8.1.1", "no DATA at all", ended(&[&[OK], &five[..]].concat()), Ended),
        ("8.1.1", "a length that is no number", with(&["two"]), malformed),
        ("8.1.1", "a negative length", with(&["-2"]), malformed),
        ("8.1.1", "a length beyond 64 bits", with(&["18446744073709551618"]), malformed),
        ("8.1.1", "two lengths that differ", with(&["2", "3"]), malformed),
        ("8.1.1", "the length that it has", with(&["2"]), Fine),
        ("8.1.1", "twice the length that it has", with(&["2", "2"]), Fine),
        // :status 304, from the static table
        (
            "8.1.1",
            "304, which has a length and no body",
            ended(&[&[0x8b], &five[..]].concat()),
            Fine,
        ),
    ]);
}

#[test]
fn heads_that_follow_one_another() {
    let malformed = Reset(PROTOCOL_ERROR);
    let status = |flags: u8, code: &str| headers(flags, 1, &literal(":status", code));
    let behind = |next: Vec<u8>| [headers(0, 1, &[OK]), frame(DATA, 0, 1, b"ok"), next].concat();
    hold(&[
        ("8.1", "103 before the response", [status(0, "103"), good(1)].concat(), Fine),
        ("8.1", "many of 103", [status(0, "103").repeat(32), good(1)].concat(), Fine),
        ("8.1", "103 that ends the stream", status(END_STREAM, "103"), Ended),
        ("8.1", "trailers", behind(headers(END_STREAM, 1, &literal("x-a", "1"))), Fine),
        (
            "8.1",
            "trailers that do not end the stream",
            behind(headers(0, 1, &literal("x-a", "1"))),
            malformed,
        ),
        ("8.1", "a second response", [good(1), good(1)].concat(), Late(STREAM_CLOSED)),
    ]);
}

/// The RFC asks for an error of the stream, and lets it be one of the connection (section 5.4.1).
#[test]
fn a_body_without_a_head_which_to_the_h2_crate_ends_the_connection() {
    let status = |flags: u8, code: &str| headers(flags, 1, &literal(":status", code));
    hold(&[(
        "8.1",
        "DATA behind 103",
        [status(0, "103"), frame(DATA, END_STREAM, 1, b"x")].concat(),
        Connection(PROTOCOL_ERROR),
    )]);
}

/// The RFC asks for errors of the stream; the `h2` crate takes 101 for one more interim response, and drops
/// pseudo-headers in trailers.
#[test]
fn heads_that_the_h2_crate_passes_over() {
    let status = |flags: u8, code: &str| headers(flags, 1, &literal(":status", code));
    let behind = |next: Vec<u8>| [headers(0, 1, &[OK]), frame(DATA, 0, 1, b"ok"), next].concat();
    hold(&[
        ("8.6", "101", [status(0, "101"), good(1)].concat(), Fine),
        ("8.1", ":status in trailers", behind(headers(END_STREAM, 1, &[OK])), Fine),
    ]);
}
