//! What a client makes of a server that breaks the protocol: an error of the right kind, never a hang. The
//! cases are those of h2spec that concern a client.

use super::*;
use crate::Delivery;

const OK: u8 = 0x88; // :status 200, from the static table
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;

fn headers(flags: u8, block: &[u8]) -> Vec<u8> {
    frame(1, END_HEADERS | flags, 1, block)
}

/// What comes of a request to which a server answers with these bytes.
fn answered(answer: Vec<u8>, check: impl Fn(Result<Seen, Error>)) {
    let check = &check;
    run(|client| {
        let origin = scripted(1, answer.clone(), false);
        async move {
            let session = open(&client, &origin).await;
            check(get(&client, &session, "/").await);
        }
    });
}

#[test]
fn what_breaks_the_protocol_is_malformed() {
    let literal = |name: &[u8], value: &[u8]| {
        [&[0, name.len() as u8], name, &[value.len() as u8], value].concat()
    };
    let block = |fields: &[u8]| [&[OK], fields].concat();
    let ok = || headers(0, &[OK]);
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("a frame larger than allowed", [ok(), frame(0, 0, 1, &[0; 16_385])].concat()),
        ("DATA on stream 0", frame(0, 0, 0, b"x")),
        ("DATA before HEADERS", frame(0, 0, 1, b"x")),
        ("DATA on a stream that was not begun", frame(0, 0, 5, b"x")),
        ("HEADERS on stream 0", frame(1, END_HEADERS, 0, &[OK])),
        ("HEADERS on a stream that was not begun", frame(1, END_HEADERS, 5, &[OK])),
        ("padding longer than HEADERS", frame(1, END_HEADERS | PADDED, 1, &[9, OK])),
        ("padding longer than DATA", [ok(), frame(0, PADDED, 1, &[9, 0])].concat()),
        ("a padded frame without a length", [ok(), frame(0, PADDED, 1, &[])].concat()),
        ("PUSH_PROMISE", frame(5, END_HEADERS, 1, &[0, 0, 0, 2, 0x82, 0x86, 0x84])),
        ("SETTINGS on a stream", frame(4, 0, 1, &[])),
        ("SETTINGS of 5 bytes", frame(4, 0, 0, &[0; 5])),
        ("SETTINGS that acknowledge and set", frame(4, 1, 0, &[0, 3, 0, 0, 0, 1])),
        ("SETTINGS with a window of 2^31", frame(4, 0, 0, &[0, 4, 0x80, 0, 0, 0])),
        ("SETTINGS with frames of 1 byte", frame(4, 0, 0, &[0, 5, 0, 0, 0, 1])),
        ("PING of 7 bytes", frame(6, 0, 0, &[0; 7])),
        ("PING on a stream", frame(6, 0, 1, &[0; 8])),
        ("GOAWAY on a stream", frame(7, 0, 1, &[0; 8])),
        ("a GOAWAY of 7 bytes", frame(7, 0, 0, &[0; 7])),
        ("WINDOW_UPDATE by 0", frame(8, 0, 0, &[0; 4])),
        ("WINDOW_UPDATE of 3 bytes", frame(8, 0, 0, &[0; 3])),
        ("a window beyond 2^31", frame(8, 0, 0, &[0x7f, 0xff, 0xff, 0xff])),
        ("RST_STREAM on stream 0", frame(3, 0, 0, &[0, 0, 0, 8])),
        ("RST_STREAM of 3 bytes", frame(3, 0, 1, &[0; 3])),
        ("CONTINUATION without HEADERS", frame(9, END_HEADERS, 1, &[OK])),
        ("DATA within a head", [frame(1, 0, 1, &[OK]), frame(0, 0, 1, b"x")].concat()),
        ("HPACK: an index that is not there", headers(0, &[0xff, 0xff, 0xff, 0x03])),
        ("HPACK: a number without an end", headers(0, &[0xff; 12])),
        ("HPACK: a text that is cut off", headers(0, &[OK, 0, 3, b'a'])),
        ("no :status", headers(0, &literal(b"x-a", b"1"))),
        (":status that is no number", headers(0, &literal(b":status", b"2x0"))),
        ("a pseudo-header behind a field", headers(0, &[&literal(b"a", b"1")[..], &[OK]].concat())),
        ("a name in upper case", headers(0, &block(&literal(b"X-A", b"1")))),
        ("Connection", headers(0, &block(&literal(b"connection", b"close")))),
        ("less DATA than Content-Length", {
            let head = headers(0, &block(&literal(b"content-length", b"5")));
            [head, frame(0, END_STREAM, 1, b"two")].concat()
        }),
        ("more DATA than Content-Length", {
            let head = headers(0, &block(&literal(b"content-length", b"2")));
            [head, frame(0, END_STREAM, 1, b"three")].concat()
        }),
        ("HTTP/1", b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".to_vec()),
    ];
    for (what, answer) in cases {
        answered(answer, |result| match result {
            Ok(seen) => panic!("{what}: {seen:?}"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Malformed, "{what}: {error}");
                assert!(error.to_string().starts_with("HTTP/2: "), "{what}: {error}");
            }
        });
    }
}

#[test]
fn what_is_unknown_is_passed_over() {
    let answer = [
        frame(0x77, 0xff, 0, b"an extension"),
        frame(4, 0, 0, &[0x77, 0x77, 0, 0, 0, 1]),
        headers(0, &[OK]),
        frame(0x78, 0xff, 1, b"another"),
        frame(0, PADDED | END_STREAM, 1, &[3, b'o', b'k', 0, 0, 0]),
    ];
    answered(answer.concat(), |result| {
        let seen = result.expect("a response");
        assert_eq!((seen.status, &seen.body[..]), (200, &b"ok"[..]));
    });
}

#[test]
fn a_reset_names_its_code() {
    answered(frame(3, 0, 1, &[0, 0, 0, 0xb]), |result| {
        let error = result.expect_err("a reset");
        assert_eq!(error.kind(), ErrorKind::Reset);
        assert_eq!(error.to_string(), "the stream was reset: ENHANCE_YOUR_CALM");
        assert!(!error.is_stale(), "it may have been carried out");
    });
    answered(frame(3, 0, 1, &[0, 0, 0, 7]), |result| {
        let error = result.expect_err("a reset");
        assert_eq!(error.to_string(), "the stream was reset: REFUSED_STREAM");
        assert!(error.is_stale() && error.delivery() == Delivery::NotSent, "{error:?}");
    });
}

#[test]
fn a_server_that_closes_is_told_by_how_far_it_got() {
    for (answer, told) in [
        (vec![], "before any byte of the response"),
        (headers(0, &[OK]), "within the body of the response"),
    ] {
        run(|client| {
            let origin = scripted(1, answer.clone(), true);
            async move {
                let session = open(&client, &origin).await;
                let error = get(&client, &session, "/").await.expect_err("it was closed");
                assert_eq!(error.kind(), ErrorKind::ClosedEarly, "{error}");
                assert_eq!(error.to_string(), told);
                assert!(!session.is_open());
            }
        });
    }
}

#[test]
fn a_head_that_goes_on_and_on_is_not_kept() {
    let piece = vec![0; 16_000];
    let mut answer = frame(1, 0, 1, &[OK]);
    (0..200).for_each(|_| answer.extend(frame(9, 0, 1, &piece)));
    answered(answer, |result| {
        let error = result.expect_err("an error");
        assert_eq!(error.kind(), ErrorKind::Malformed, "{error}");
    });
}

#[test]
fn goaway_leaves_some_requests_to_another_connection() {
    let answer = [
        frame(7, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]),
        headers(0, &[OK]),
        frame(0, END_STREAM, 1, b"ok"),
    ];
    run(|client| {
        let origin = scripted(3, answer.concat(), false);
        async move {
            let session = open(&client, &origin).await;
            let exchange = |path: &'static str| {
                let (client, session) = (client.clone(), session.clone());
                tokio::task::spawn_local(async move { get(&client, &session, path).await })
            };
            let taken = exchange("/taken");
            let (left, also) = (exchange("/left"), exchange("/also"));
            let seen = taken.await.expect("no panic").expect("a response");
            assert_eq!(seen.body, b"ok");
            for left in [left, also] {
                let error = left.await.expect("no panic").expect_err("it was left");
                assert_eq!(error.delivery(), Delivery::NotSent, "{error}");
                assert!(error.is_stale(), "{error:?}");
            }
            assert!(!session.is_open() && session.stream().is_none());
        }
    });
}
