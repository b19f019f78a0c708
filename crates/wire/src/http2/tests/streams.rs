//! Many requests on one connection, against the server side of the `h2` crate.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::sync::mpsc;
use std::task::Poll;

use bytes::Bytes;
use h2::server::{self, SendResponse};
use http::{HeaderMap, HeaderValue, Request};

use super::*;

/// Streams that are open at the same time.
const MANY: usize = 100;
const MIB: usize = 1 << 20;

type Waiting = Rc<RefCell<Vec<SendResponse<Bytes>>>>;

/// A server whose paths say what it does. Tells what was reset, and by which code.
fn serve(builder: server::Builder) -> (Origin, mpsc::Receiver<h2::Reason>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    listener.set_nonblocking(true).expect("an option of all sockets");
    let (told, resets) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let local = LocalSet::new();
        local.block_on(&runtime.expect("an event loop"), async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            while let Ok((stream, _)) = listener.accept().await {
                let (builder, told) = (builder.clone(), told.clone());
                tokio::task::spawn_local(async move {
                    let waiting = Waiting::default();
                    let mut connection = builder.handshake(stream).await.expect("HTTP/2");
                    while let Some(Ok((request, respond))) = connection.accept().await {
                        let (waiting, told) = (waiting.clone(), told.clone());
                        tokio::task::spawn_local(answer(request, respond, waiting, told));
                    }
                });
            }
        });
    });
    (at(port), resets)
}

async fn answer(
    request: Request<h2::RecvStream>,
    mut respond: SendResponse<Bytes>,
    waiting: Waiting,
    told: mpsc::Sender<h2::Reason>,
) {
    let (head, mut body) = request.into_parts();
    let response = || http::Response::builder().status(200);
    let mut reply = |response: http::response::Builder, text: String| {
        let sent = respond.send_response(response.body(()).expect("valid"), text.is_empty());
        if let (Ok(mut body), false) = (sent, text.is_empty()) {
            let _ = body.send_data(text.into(), true);
        }
    };
    match head.uri.path() {
        "/" => reply(response().header("x-method", head.method.as_str()), "ok".to_owned()),
        "/head" => reply(response().header("content-length", "12345"), String::new()),
        "/large-head" => reply(response().header("x-large", "a".repeat(300 << 10)), String::new()),
        "/short" => {
            let head = response().header("content-length", "5").body(()).expect("valid");
            let mut body = respond.send_response(head, false).expect("open");
            body.send_data("two".into(), true).expect("open");
        }
        "/gzip" => {
            let packed = [
                31, 139, 8, 0, 0, 0, 0, 0, 0, 255, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54,
                5, 0, 0, 0,
            ];
            let head = response().header("content-encoding", "gzip").body(()).expect("valid");
            let mut body = respond.send_response(head, false).expect("open");
            body.send_data(Bytes::copy_from_slice(&packed), true).expect("open");
        }
        "/informational" => {
            let early = http::Response::builder().status(103).body(()).expect("valid");
            respond.send_informational(early).expect("open");
            let sent = respond.send_response(response().body(()).expect("valid"), true);
            sent.expect("open");
        }
        "/trailers" => {
            let head = response().body(()).expect("valid");
            let mut body = respond.send_response(head, false).expect("open");
            body.send_data("body".into(), false).expect("open");
            let mut trailers = HeaderMap::new();
            trailers.insert("x-checksum", HeaderValue::from_static("1"));
            body.send_trailers(trailers).expect("open");
        }
        "/count" => {
            let mut bytes = 0;
            while let Some(Ok(piece)) = body.data().await {
                bytes += piece.len();
                body.flow_control().release_capacity(piece.len()).expect("open");
            }
            reply(response(), bytes.to_string());
        }
        "/large" => {
            let head = response().body(()).expect("valid");
            let mut body = respond.send_response(head, false).expect("open");
            // As fast as the client's windows let it go.
            body.send_data(vec![b'x'; 10 * MIB].into(), true).expect("open");
            // Open until the client has it all.
            let _ = std::future::poll_fn(|cx| body.poll_reset(cx)).await;
        }
        "/all-together" => {
            waiting.borrow_mut().push(respond);
            if waiting.borrow().len() == MANY {
                for mut respond in waiting.take() {
                    let head = response().body(()).expect("valid");
                    respond.send_response(head, true).expect("open");
                }
            }
        }
        "/never" => {
            let reason = std::future::poll_fn(|cx| respond.poll_reset(cx)).await;
            if let Ok(reason) = reason {
                let _ = told.send(reason);
            }
        }
        path => panic!("{path}"),
    }
}

/// One connection to that server, for a test.
fn with_session<F: Future<Output = ()>>(work: impl Fn(Rc<Client>, Session) -> F) {
    run(|client| {
        let (origin, _) = serve(server::Builder::new());
        let work = &work;
        async move {
            let session = open(&client, &origin).await;
            work(client, session).await;
        }
    });
}

#[test]
fn a_response_is_complete() {
    with_session(async |client, session| {
        let seen = get(&client, &session, "/").await.expect("a response");
        assert_eq!((seen.status, &seen.body[..], seen.body_bytes), (200, &b"ok"[..], 2));
        assert_eq!(seen.head, "HTTP/2 200\r\nx-method: GET\r\n\r\n");
        // Heads of frames count: HEADERS and DATA of the response.
        assert!(seen.bytes_in > 2 * 9 + 2 && seen.bytes_out > 9, "{seen:?}");
        let Times { sent_ns, first_byte_ns, end_ns, .. } = seen.times;
        assert!(0 < sent_ns && sent_ns <= first_byte_ns && first_byte_ns <= end_ns, "{seen:?}");
        assert_eq!(session.streams(), 0, "the stream was given back");
    });
}

#[test]
fn a_hundred_streams_are_open_at_the_same_time() {
    with_session(async |client, session| {
        get(&client, &session, "/").await.expect("a response");
        let streams: Vec<Stream> = (0..MANY).filter_map(|_| session.stream()).collect();
        assert_eq!((streams.len(), session.streams()), (MANY, MANY));
        let exchanges: Vec<_> = streams
            .into_iter()
            .map(|stream| {
                let client = client.clone();
                tokio::task::spawn_local(async move {
                    send(&client, &stream, "GET", "/all-together", b"").await
                })
            })
            .collect();
        for exchange in exchanges {
            let seen = exchange.await.expect("no panic").expect("a response");
            assert_eq!(seen.status, 200);
        }
        assert_eq!(session.streams(), 0);
    });
}

#[test]
fn bodies_of_10_mib_go_both_ways() {
    with_session(async |client, session| {
        let body = vec![b'y'; 10 * MIB];
        let up = send(&client, &stream(&session).await, "POST", "/count", &body).await;
        assert_eq!(up.expect("a response").body, (10 * MIB).to_string().into_bytes());
        let down = get(&client, &session, "/large").await.expect("a response");
        assert_eq!(down.body_bytes, (10 * MIB) as u64);
        assert_eq!(down.body.len(), MIB, "what is to be kept");
        assert!(down.times.end_ns > down.times.first_byte_ns);
    });
}

#[test]
fn a_response_ends_where_it_says() {
    with_session(async |client, session| {
        let head = send(&client, &stream(&session).await, "HEAD", "/head", b"").await;
        let head = head.expect("a response");
        assert_eq!((head.status, head.body_bytes), (200, 0));
        assert!(head.head.contains("content-length: 12345\r\n"), "{}", head.head);
        let trailers = get(&client, &session, "/trailers").await.expect("a response");
        assert_eq!(trailers.body, b"body");
        let informational = get(&client, &session, "/informational").await.expect("a response");
        assert_eq!(informational.status, 200);
        let packed = get(&client, &session, "/gzip").await.expect("a response");
        assert_eq!((&packed.body[..], packed.body_bytes), (&b"hello"[..], 25));
        assert_eq!(packed.body_length, 5);
    });
}

#[test]
fn a_head_that_is_too_large_is_an_error_of_its_request_only() {
    with_session(async |client, session| {
        let error = get(&client, &session, "/large-head").await.expect_err("it is too large");
        assert_eq!(error.kind(), ErrorKind::Malformed, "{error}");
        assert_eq!(get(&client, &session, "/").await.expect("a response").status, 200);
    });
}

#[test]
fn many_malformed_responses_leave_the_connection_open() {
    with_session(async |client, session| {
        // As many as the `h2` crate bears by default, and more.
        for _ in 0..1_100 {
            let error = get(&client, &session, "/short").await.expect_err("it is malformed");
            assert_eq!(error.kind(), ErrorKind::Malformed, "{error}");
        }
        assert_eq!(get(&client, &session, "/").await.expect("a response").status, 200);
    });
}

#[test]
fn a_request_that_is_given_up_resets_its_stream_only() {
    run(|client| {
        let (origin, resets) = serve(server::Builder::new());
        async move {
            let session = open(&client, &origin).await;
            get(&client, &session, "/").await.expect("a response");
            {
                let stream = stream(&session).await;
                let mut never = std::pin::pin!(send(&client, &stream, "GET", "/never", b""));
                // Begun, and then given up, as at a deadline.
                poll_fn(|cx| {
                    assert!(never.as_mut().poll(cx).is_pending());
                    Poll::Ready(())
                })
                .await;
                get(&client, &session, "/").await.expect("a response");
            }
            assert_eq!(get(&client, &session, "/").await.expect("a response").status, 200);
            assert_eq!(resets.recv(), Ok(h2::Reason::CANCEL));
        }
    });
}

#[test]
fn no_more_streams_than_the_server_takes() {
    let mut one = server::Builder::new();
    one.max_concurrent_streams(1);
    run(|client| {
        let (origin, _) = serve(one.clone());
        async move {
            let session = open(&client, &origin).await;
            let told = Rc::new(Cell::new(0));
            let count = told.clone();
            session.on_change(move |_| count.set(count.get() + 1));
            get(&client, &session, "/").await.expect("a response");
            let first = session.stream().expect("room");
            assert!(session.stream().is_none() && !session.has_room());
            let before = told.get();
            drop(first);
            assert_eq!(told.get(), before + 1, "who waits is told");
            let results: Vec<_> = (0..20)
                .map(|_| {
                    let (client, session) = (client.clone(), session.clone());
                    tokio::task::spawn_local(async move { get(&client, &session, "/").await })
                })
                .collect();
            for result in results {
                assert_eq!(result.await.expect("no panic").expect("a response").status, 200);
            }
        }
    });
}
