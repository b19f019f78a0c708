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
