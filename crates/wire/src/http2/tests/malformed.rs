//! What a client makes of a server that resets, closes, goes away or sends without end: an error that says
//! so, never a hang. What breaks the protocol is in `conformance.rs`.

use super::*;
use crate::Delivery;

const OK: u8 = 0x88; // :status 200, from the static table
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

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
fn a_server_of_http_1_is_told() {
    run(|client| async move {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let origin = at(listener.local_addr().expect("an address").port());
        std::thread::spawn(move || {
            let (mut peer, _) = listener.accept().expect("a connection");
            let _ = peer.read(&mut [0; 4096]);
            let answer = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
            peer.write_all(answer).expect("open");
            while peer.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
        });
        let session = open(&client, &origin).await;
        let error = get(&client, &session, "/").await.expect_err("it is no HTTP/2");
        assert_eq!(error.kind(), ErrorKind::Malformed);
        assert_eq!(error.to_string(), "HTTP/2: it speaks HTTP/1");
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
fn what_follows_a_reset_is_passed_over() {
    let answer = [
        frame(3, 0, 1, &[0, 0, 0, 8]),
        headers(0, &[OK]),
        frame(0, END_STREAM, 1, b"late"),
        frame(1, END_HEADERS, 3, &[OK]),
        frame(0, END_STREAM, 3, b"ok"),
    ];
    run(|client| {
        let origin = scripted(2, answer.concat(), false);
        async move {
            let session = open(&client, &origin).await;
            let streams = [stream(&session).await, stream(&session).await];
            let [first, second] = streams.map(|stream| {
                let client = client.clone();
                tokio::task::spawn_local(
                    async move { send(&client, &stream, "GET", "/", b"").await },
                )
            });
            let error = first.await.expect("no panic").expect_err("a reset");
            assert_eq!(error.kind(), ErrorKind::Reset, "{error}");
            assert_eq!(second.await.expect("no panic").expect("a response").body, b"ok");
        }
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

/// An interim head, with a line of so many bytes in each of so many frames.
fn interim((frames, bytes): (usize, usize)) -> Vec<u8> {
    let status = [0x08, 3, b'1', b'0', b'3'];
    let mut line = vec![0, 1, b'a', 0x7f];
    let mut rest = bytes - 127;
    while rest >= 128 {
        line.push(rest as u8 | 128);
        rest >>= 7;
    }
    line.push(rest as u8);
    line.resize(line.len() + bytes, b'x');
    let mut head = frame(1, 0, 1, &status);
    (0..frames).for_each(|_| head.extend(frame(9, 0, 1, &line)));
    head.extend(frame(9, END_HEADERS, 1, &[]));
    head
}

#[test]
fn interim_heads_are_bounded_by_number_and_by_bytes() {
    let rest = [headers(0, &[OK]), frame(0, END_STREAM, 1, b"ok")].concat();
    let few = [interim((1, 1_000)).repeat(32), rest.clone()].concat();
    answered(few, |result| assert_eq!(result.expect("a response").body, b"ok"));
    for (shape, times, told) in [
        ((1, 200), 100_000, "HTTP/2: more than 32 interim responses"),
        ((4, 16_000), 32, "HTTP/2: more than 1 MiB of heads of a response"),
    ] {
        answered([interim(shape).repeat(times), rest.clone()].concat(), |result| {
            let error = result.expect_err("too many");
            assert_eq!((error.kind(), &*error.to_string()), (ErrorKind::Malformed, told));
        });
    }
}

#[test]
fn what_a_failed_exchange_has_cost_is_told() {
    run(|client| {
        let head = headers(0, &[OK]);
        let origin = scripted(
            1,
            [head, frame(0, 0, 1, b"some"), frame(3, 0, 1, &[0, 0, 0, 2])].concat(),
            false,
        );
        async move {
            let (session, progress) = (open(&client, &origin).await, Progress::default());
            let stream = stream(&session).await;
            send_and_tell(&client, &stream, ("GET", "/", b""), &progress)
                .await
                .expect_err("a reset");
            let (sent, received) = progress.take_bytes();
            // Three frames have come, of 1, 4 and 4 bytes behind their heads.
            assert_eq!((sent > 9, received), (true, 36), "{sent}");
        }
    });
}

#[test]
fn why_the_server_ends_the_connection_is_told() {
    let goaway = |last: u8, code: u8, words: &[u8]| {
        frame(7, 0, 0, &[&[0, 0, 0, last, 0, 0, 0, code], words].concat())
    };
    let closed = |words: &str| format!("before any byte of the response, behind GOAWAY, {words}");
    let endless = b"\x1b[2J\xff\n".repeat(1_000);
    let shown = "\\u{1b}[2J\u{fffd}\\n".repeat(42);
    for (answer, told) in [
        (goaway(1, 0, b""), closed("NO_ERROR")),
        (goaway(1, 0xb, b"too_many_pings"), closed("ENHANCE_YOUR_CALM (\"too_many_pings\")")),
        (
            goaway(0, 0xb, b"too_many_pings"),
            "the other side takes no more requests here: GOAWAY, ENHANCE_YOUR_CALM (\"too_many_pings\")".to_owned(),
        ),
        (goaway(1, 1, &endless), closed(&format!("PROTOCOL_ERROR (\"{shown}\\u{{1b}}[2J\")"))),
    ] {
        run(|client| {
            let (origin, told) = (scripted(1, answer.clone(), true), told.clone());
            async move {
                let session = open(&client, &origin).await;
                let error = get(&client, &session, "/").await.expect_err("it was closed");
                assert_eq!((error.kind(), error.to_string()), (ErrorKind::ClosedEarly, told));
            }
        });
    }
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
