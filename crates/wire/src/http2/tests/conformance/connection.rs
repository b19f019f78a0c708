//! Frames, streams, settings and windows: RFC 9113, sections 3 to 6, and RFC 7541.

use super::*;

#[test]
fn frames_that_are_no_frames_of_http_2() {
    let ok = || headers(0, 1, &[OK]);
    hold(&[
        (
            "4.2",
            "DATA larger than allowed",
            [ok(), frame(DATA, 0, 1, &[0; 16_385])].concat(),
            Connection(FRAME_SIZE_ERROR),
        ),
        (
            "4.2",
            "HEADERS larger than allowed",
            headers(0, 1, &[OK; 16_385]),
            Connection(FRAME_SIZE_ERROR),
        ),
        (
            "4.2",
            "SETTINGS larger than allowed",
            frame(SETTINGS, 0, 0, &[0; 16_386]),
            Connection(FRAME_SIZE_ERROR),
        ),
        (
            "4.2",
            "an unknown frame larger than allowed",
            frame(0x77, 0, 0, &[0; 16_385]),
            Connection(FRAME_SIZE_ERROR),
        ),
        ("6.1", "DATA on stream 0", frame(DATA, 0, 0, b"x"), Connection(PROTOCOL_ERROR)),
        (
            "6.1",
            "DATA with padding that is too long",
            [ok(), frame(DATA, PADDED, 1, &[9, 0])].concat(),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.1",
            "DATA with padding as long as its payload",
            [ok(), frame(DATA, PADDED, 1, &[2, 0])].concat(),
            Connection(PROTOCOL_ERROR),
        ),
        ("6.2", "HEADERS on stream 0", headers(0, 0, &[OK]), Connection(PROTOCOL_ERROR)),
        (
            "6.2",
            "HEADERS with padding that is too long",
            headers(PADDED, 1, &[9, OK]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.3",
            "PRIORITY on stream 0",
            frame(PRIORITY, 0, 0, &[0, 0, 0, 3, 1]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.4",
            "RST_STREAM on stream 0",
            frame(RST_STREAM, 0, 0, &[0, 0, 0, 8]),
            Connection(PROTOCOL_ERROR),
        ),
        ("6.7", "PING on a stream", frame(PING, 0, 1, &[0; 8]), Connection(PROTOCOL_ERROR)),
        ("6.8", "GOAWAY on a stream", frame(GOAWAY, 0, 1, &[0; 8]), Connection(PROTOCOL_ERROR)),
    ]);
}

/// The RFC asks for FRAME_SIZE_ERROR in all of them, and of the PRIORITY for an error of its stream alone;
/// which code it is matters to nobody but a reader of the server's log.
#[test]
fn frames_of_wrong_sizes_which_the_h2_crate_calls_protocol_errors() {
    let ok = || headers(0, 1, &[OK]);
    hold(&[
        (
            "6.1",
            "padded DATA without a length",
            [ok(), frame(DATA, PADDED, 1, &[])].concat(),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.2",
            "padded HEADERS without a length",
            headers(PADDED, 1, &[]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.2",
            "HEADERS with half a priority",
            headers(WITH_PRIORITY, 1, &[0, 0, 0]),
            Connection(PROTOCOL_ERROR),
        ),
        ("6.3", "PRIORITY of 4 bytes", frame(PRIORITY, 0, 1, &[0; 4]), Connection(PROTOCOL_ERROR)),
        (
            "6.4",
            "RST_STREAM of 3 bytes",
            frame(RST_STREAM, 0, 1, &[0; 3]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.4",
            "RST_STREAM of 5 bytes",
            frame(RST_STREAM, 0, 1, &[0; 5]),
            Connection(PROTOCOL_ERROR),
        ),
        ("6.7", "PING of 7 bytes", frame(PING, 0, 0, &[0; 7]), Connection(PROTOCOL_ERROR)),
        ("6.7", "PING of 9 bytes", frame(PING, 0, 0, &[0; 9]), Connection(PROTOCOL_ERROR)),
        ("6.8", "GOAWAY of 7 bytes", frame(GOAWAY, 0, 0, &[0; 7]), Connection(PROTOCOL_ERROR)),
        ("6.5", "SETTINGS of 5 bytes", frame(SETTINGS, 0, 0, &[0; 5]), Connection(PROTOCOL_ERROR)),
        (
            "6.5",
            "SETTINGS that acknowledge and set",
            frame(SETTINGS, ACK, 0, &[0, 3, 0, 0, 0, 1]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.9",
            "WINDOW_UPDATE of 3 bytes",
            frame(WINDOW_UPDATE, 0, 0, &[0; 3]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.9",
            "WINDOW_UPDATE of 5 bytes",
            frame(WINDOW_UPDATE, 0, 1, &[0; 5]),
            Connection(PROTOCOL_ERROR),
        ),
    ]);
}

#[test]
fn frames_on_streams_that_are_in_no_state_for_them() {
    let after_end = |next: Vec<u8>| [good(1), next].concat();
    hold(&[
        ("5.1", "DATA on an idle stream", frame(DATA, 0, 5, b"x"), Connection(PROTOCOL_ERROR)),
        ("5.1", "HEADERS on an idle stream", headers(0, 5, &[OK]), Connection(PROTOCOL_ERROR)),
        (
            "5.1",
            "RST_STREAM on an idle stream",
            frame(RST_STREAM, 0, 5, &[0, 0, 0, 8]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "5.1",
            "WINDOW_UPDATE on an idle stream",
            frame(WINDOW_UPDATE, 0, 5, &[0, 0, 0, 1]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "5.1",
            "CONTINUATION on an idle stream",
            frame(CONTINUATION, END_HEADERS, 5, &[OK]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "5.1.1",
            "HEADERS on a stream of the server",
            headers(0, 2, &[OK]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "5.1.1",
            "DATA on a stream of the server",
            frame(DATA, 0, 2, b"x"),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "5.1",
            "PRIORITY on an idle stream",
            [frame(PRIORITY, 0, 5, &[0, 0, 0, 3, 1]), good(1)].concat(),
            Fine,
        ),
        (
            "5.1",
            "PRIORITY behind the end",
            after_end(frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 1])),
            Fine,
        ),
        (
            "5.1",
            "WINDOW_UPDATE behind the end",
            after_end(frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1])),
            Fine,
        ),
        (
            "5.1",
            "RST_STREAM behind the end",
            after_end(frame(RST_STREAM, 0, 1, &[0, 0, 0, 0])),
            Fine,
        ),
        ("5.1", "DATA behind the end", after_end(frame(DATA, 0, 1, b"x")), Late(STREAM_CLOSED)),
        ("5.1", "HEADERS behind the end", after_end(headers(0, 1, &[OK])), Late(STREAM_CLOSED)),
        (
            "6.6",
            "PUSH_PROMISE, which was forbidden",
            frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2, 0x82, 0x86, 0x84]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.6",
            "PUSH_PROMISE on stream 0",
            frame(PUSH_PROMISE, END_HEADERS, 0, &[0, 0, 0, 2, 0x82, 0x86, 0x84]),
            Connection(PROTOCOL_ERROR),
        ),
    ]);
}

#[test]
fn heads_that_are_interrupted() {
    let begun = |next: Vec<u8>| [frame(HEADERS, 0, 1, &[OK]), next].concat();
    hold(&[
        (
            "6.10",
            "CONTINUATION that completes a head",
            [
                begun(frame(CONTINUATION, 0, 1, &literal("x-a", "1"))),
                frame(CONTINUATION, END_HEADERS, 1, &literal("x-b", "2")),
                frame(DATA, END_STREAM, 1, b"ok"),
            ]
            .concat(),
            Fine,
        ),
        (
            "6.10",
            "CONTINUATION of nothing in it",
            [begun(frame(CONTINUATION, END_HEADERS, 1, &[])), frame(DATA, END_STREAM, 1, b"ok")]
                .concat(),
            Fine,
        ),
        (
            "6.10",
            "CONTINUATION without HEADERS",
            frame(CONTINUATION, END_HEADERS, 1, &[OK]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.10",
            "CONTINUATION behind a whole head",
            [headers(0, 1, &[OK]), frame(CONTINUATION, END_HEADERS, 1, &[])].concat(),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.10",
            "CONTINUATION behind DATA",
            [
                headers(0, 1, &[OK]),
                frame(DATA, 0, 1, b"x"),
                frame(CONTINUATION, END_HEADERS, 1, &[]),
            ]
            .concat(),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.10",
            "CONTINUATION on stream 0",
            begun(frame(CONTINUATION, END_HEADERS, 0, &[])),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.10",
            "CONTINUATION on another stream",
            begun(frame(CONTINUATION, END_HEADERS, 3, &[])),
            Connection(PROTOCOL_ERROR),
        ),
        ("6.2", "DATA within a head", begun(frame(DATA, 0, 1, b"x")), Connection(PROTOCOL_ERROR)),
        (
            "6.2",
            "HEADERS of another stream within a head",
            begun(headers(0, 3, &[OK])),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.2",
            "PRIORITY within a head",
            begun(frame(PRIORITY, 0, 1, &[0, 0, 0, 3, 1])),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.2",
            "SETTINGS within a head",
            begun(frame(SETTINGS, 0, 0, &[])),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "5.5",
            "an unknown frame within a head",
            begun(frame(0x77, 0, 1, b"x")),
            Connection(PROTOCOL_ERROR),
        ),
    ]);
}

#[test]
fn settings_that_cannot_be() {
    let set =
        |id: u8, value: u32| frame(SETTINGS, 0, 0, &[&[0, id], &value.to_be_bytes()[..]].concat());
    hold(&[
        ("6.5", "SETTINGS on a stream", frame(SETTINGS, 0, 1, &[]), Connection(PROTOCOL_ERROR)),
        (
            "6.5.2",
            "ENABLE_PUSH that is neither 0 nor 1",
            [set(2, 2), good(1)].concat(),
            Connection(PROTOCOL_ERROR),
        ),
        ("6.5.2", "frames of less than 16,384 bytes", set(5, 16_383), Connection(PROTOCOL_ERROR)),
        ("6.5.2", "frames of 2^24 bytes", set(5, 1 << 24), Connection(PROTOCOL_ERROR)),
        ("6.5.2", "a setting that nobody knows", [set(0x77, 1), good(1)].concat(), Fine),
        ("6.5.2", "push that stays off", [set(2, 0), good(1)].concat(), Fine),
        (
            "6.5.2",
            "all others at their bounds",
            [
                set(1, 0),
                set(3, 0),
                set(4, i32::MAX as u32),
                set(5, (1 << 24) - 1),
                set(6, 0),
                good(1),
            ]
            .concat(),
            Fine,
        ),
    ]);
}

#[test]
fn windows_that_cannot_be() {
    hold(&[
        (
            "6.9",
            "a connection's window by 0",
            frame(WINDOW_UPDATE, 0, 0, &[0; 4]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "6.9.1",
            "a connection's window beyond 2^31",
            frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]),
            Connection(FLOW_CONTROL_ERROR),
        ),
    ]);
}

/// The RFC asks for COMPRESSION_ERROR.
#[test]
fn broken_header_compression_which_the_h2_crate_calls_a_protocol_error() {
    let block = |bytes: &[u8]| headers(0, 1, &[&[OK], bytes].concat());
    hold(&[
        (
            "7541 2.3.3",
            "an index that is not there",
            headers(0, 1, &[0xff, 0xff, 0xff, 0x03]),
            Connection(PROTOCOL_ERROR),
        ),
        ("7541 6.1", "index 0", block(&[0x80]), Connection(PROTOCOL_ERROR)),
        (
            "7541 5.1",
            "a number without an end",
            headers(0, 1, &[0xff; 12]),
            Connection(PROTOCOL_ERROR),
        ),
        ("7541 5.2", "a text that is cut off", block(&[0, 3, b'a']), Connection(PROTOCOL_ERROR)),
        (
            "7541 5.2",
            "Huffman padding of a byte",
            block(&[0, 1, b'a', 0x82, 0x1f, 0xff]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "7541 5.2",
            "Huffman padding of zeros",
            block(&[0, 1, b'a', 0x81, 0x18]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "7541 5.2",
            "a text with Huffman's end in it",
            block(&[0, 1, b'a', 0x84, 0xff, 0xff, 0xff, 0xff]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "7541 6.3",
            "a table larger than allowed",
            headers(0, 1, &[0x3f, 0xe2, 0x1f, OK]),
            Connection(PROTOCOL_ERROR),
        ),
        (
            "7541 4.2",
            "a table that changes its size behind a field",
            block(&[0x20]),
            Connection(PROTOCOL_ERROR),
        ),
    ]);
}

#[test]
fn header_compression_that_may_be() {
    hold(&[(
        "7541 4.2",
        "a table that changes its size before the fields",
        [headers(0, 1, &[0x20, OK]), frame(DATA, END_STREAM, 1, b"ok")].concat(),
        Fine,
    )]);
}

/// The RFC asks for FLOW_CONTROL_ERROR of the window, and of the others for nothing but an error of the
/// stream, which it lets be one of the connection (section 5.4.1); it forbids no acknowledgement too many.
#[test]
fn what_to_the_h2_crate_is_a_protocol_error_of_the_connection() {
    let set =
        |id: u8, value: u32| frame(SETTINGS, 0, 0, &[&[0, id], &value.to_be_bytes()[..]].concat());
    hold(&[
        ("6.5.2", "a window of 2^31", set(4, 1 << 31), Connection(PROTOCOL_ERROR)),
        (
            "6.9",
            "a stream's window by 0",
            frame(WINDOW_UPDATE, 0, 1, &[0; 4]),
            Connection(PROTOCOL_ERROR),
        ),
        ("8.1", "DATA before HEADERS", frame(DATA, 0, 1, b"x"), Connection(PROTOCOL_ERROR)),
        (
            "6.5.3",
            "an acknowledgement too many",
            [frame(SETTINGS, ACK, 0, &[]), frame(SETTINGS, ACK, 0, &[]), good(1)].concat(),
            Connection(PROTOCOL_ERROR),
        ),
    ]);
}

/// The RFC asks for a connection error: a server does not say whether it may be pushed to. And for an error of
/// a stream whose window is too large, even if nothing is left to be sent there.
#[test]
fn what_the_h2_crate_passes_over() {
    let set =
        |id: u8, value: u32| frame(SETTINGS, 0, 0, &[&[0, id], &value.to_be_bytes()[..]].concat());
    hold(&[
        ("6.5.2", "a server that lets the client push", [set(2, 1), good(1)].concat(), Fine),
        (
            "6.9.1",
            "a stream's window beyond 2^31",
            [frame(WINDOW_UPDATE, 0, 1, &[0x7f, 0xff, 0xff, 0xff]), good(1)].concat(),
            Fine,
        ),
    ]);
}

#[test]
fn what_is_unknown_is_passed_over() {
    let ping = [1, 2, 3, 4, 5, 6, 7, 8];
    let answer = [
        frame(0x77, 0xff, 0, b"an extension"),
        frame(SETTINGS, 0, 0, &[0x77, 0x77, 0, 0, 0, 1]),
        frame(PING, 0xfe, 0, &ping),
        // The bit before the number of a stream is reserved.
        headers(0, 0x8000_0001, &[OK]),
        frame(0x78, 0xff, 1, b"another"),
        frame(PING, ACK, 0, &ping),
        frame(WINDOW_UPDATE, 0xff, 0, &[0x80, 0, 0, 1]),
        frame(DATA, PADDED | END_STREAM | 0xf0, 1, &[3, b'o', b'k', 0, 0, 0]),
    ];
    let answer = answer.concat();
    run(|client| {
        let answer = answer.clone();
        async move {
            let (outcome, first, sent) = judge(&client, &answer).await;
            assert_eq!(outcome, Ok(Fine));
            assert_eq!(first.expect("a response").body, b"ok");
            let acks =
                |kind| sent.iter().filter(|(k, flags, ..)| (*k, *flags) == (kind, ACK)).count();
            assert_eq!((acks(PING), acks(SETTINGS)), (1, 2), "{sent:?}");
            let pong = sent.iter().find(|(kind, ..)| *kind == PING).map(|(.., value)| *value);
            assert_eq!(pong, Some(0x0102_0304));
        }
    });
}
