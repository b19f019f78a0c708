//! Exchanges with servers of this process that do what they should not, with each I/O backend.

mod idle;
mod simulation;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Instant;

use super::*;
use crate::{
    Client, Clock, Delivery, Error, ErrorKind, Expect, Io, LoopOwner, LoopWaker, Opened, Origin,
    Phase, Progress, RequestBytes, Response, Scheme, Settings, Shared, Times, Via,
};

struct NoDeadline;

impl LoopOwner for NoDeadline {
    fn next_deadline(&self) -> u64 {
        u64::MAX
    }

    fn on_deadline(&self) {}

    fn on_iteration(&self, _: u64) {}
}

/// Runs `work` with each backend that the system has.
pub(crate) fn with_each_backend<F: Future<Output = ()>>(work: impl Fn(Rc<Client>) -> F) {
    with_each_backend_and(&Settings::default(), work);
}

/// As [`with_each_backend`], with other settings.
pub(crate) fn with_each_backend_and<F: Future<Output = ()>>(
    settings: &Settings,
    work: impl Fn(Rc<Client>) -> F,
) {
    for io in [Io::Epoll, Io::Uring] {
        let shared = match Shared::new(Settings { io, ..settings.clone() }, &[]) {
            Ok(shared) => shared,
            Err(error) => {
                println!("not tested: {error}");
                continue;
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("an event loop");
        let waker = LoopWaker::new().expect("a descriptor");
        let _within = runtime.enter();
        let clock = Clock::new(Instant::now());
        let client = Client::new(shared, clock, 0, &waker).expect("a client");
        let work = work(client.clone());
        crate::run_loop(&runtime, &client, &waker, &NoDeadline, work);
    }
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// What a server does with a connection, in order.
pub(crate) enum Act {
    Read,
    Write(&'static [u8]),
    Close,
    /// Waits until the test says so.
    Await,
    /// Tells the test that it has come so far.
    Tell,
}

/// A server of one connection: where it is, and how to talk to it.
pub(crate) fn server(acts: Vec<Act>) -> (Origin, Sender<()>, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (go, awaited) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut peer: Option<TcpStream> = Some(listener.accept().expect("a connection").0);
        for act in acts {
            match (act, &mut peer) {
                (Act::Read, Some(peer)) => {
                    let read = peer.read(&mut [0; 1024]).expect("open");
                    assert!(read > 0);
                }
                (Act::Write(bytes), Some(peer)) => peer.write_all(bytes).expect("open"),
                (Act::Close, peer) => *peer = None,
                (Act::Await, _) => drop(awaited.recv()),
                (Act::Tell, _) => drop(tell.send(())),
                (Act::Read | Act::Write(_), None) => panic!("it is closed"),
            }
        }
        // Open until the test is over.
        let _ = awaited.recv();
    });
    (Origin { scheme: Scheme::Http, host: "127.0.0.1".into(), port }, go, told)
}

pub(crate) async fn open(client: &Client, origin: &Origin) -> Connection {
    let progress = Progress::default();
    match crate::connect(client, (origin, &Via::default()), &progress, None)
        .await
        .expect("a connection")
        .0
    {
        Opened::Exclusive(connection) => connection,
        Opened::Multiplexed(_) => panic!("nobody asked for HTTP/2"),
    }
}

/// Status and bytes behind the response.
pub(crate) async fn get(client: &Client, connection: &mut Connection) -> Result<(u16, u64), Error> {
    let done = |got: &Response<'_>, _| (got.status, got.unsolicited_bytes);
    get_and(client, connection, 10, done).await
}

/// Gets a response with a body of at most so many bytes, and what `done` makes of it.
async fn get_and<R>(
    client: &Client,
    connection: &mut Connection,
    max_body: u64,
    done: impl FnOnce(&Response<'_>, Times) -> R,
) -> Result<R, Error> {
    let slices = [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".as_slice(), b"", b""];
    let request = RequestBytes { is_head: false, slices, stream: None };
    let expect = Expect {
        keep: 0,
        sink: None,
        max_body,
        max_decompression_ratio: 10,
        decompress: false,
        throttle: None,
    };
    connection.exchange(client, request, expect, &Progress::default(), done).await
}

#[test]
fn bytes_behind_a_response_end_its_connection() {
    with_each_backend(|client| async move {
        let two = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500";
        let (origin, _go, _) = server(vec![Act::Read, Act::Write(two)]);
        let mut connection = open(&client, &origin).await;
        assert_eq!(get(&client, &mut connection).await.expect("a response"), (200, 12));
        assert!(!connection.reusable());
    });
}

/// One exchange with another server, by which the event loop has seen what came before.
async fn meanwhile(client: &Client, act: impl FnOnce()) {
    let (origin, _go, _) = server(vec![Act::Read, Act::Write(OK)]);
    let mut connection = open(client, &origin).await;
    act();
    get(client, &mut connection).await.expect("a response");
}

#[test]
fn a_response_to_no_request_is_not_taken_for_the_next_one() {
    with_each_backend(|client| async move {
        let wrong = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong";
        let acts = vec![Act::Read, Act::Write(OK), Act::Await, Act::Write(wrong), Act::Tell];
        let (origin, go, told) = server(acts);
        let mut connection = open(&client, &origin).await;
        get(&client, &mut connection).await.expect("a response");
        assert!(connection.reusable());
        meanwhile(&client, || {
            go.send(()).expect("a server");
            told.recv().expect("a server");
        })
        .await;
        let error = get(&client, &mut connection).await.expect_err("no response to this request");
        assert!(error.is_unsolicited() && error.is_stale(), "{error:?}");
        assert_eq!(error.delivery(), Delivery::NotSent);
        assert!(!connection.reusable());
    });
}

#[test]
fn a_connection_that_was_closed_before_is_seen_before_anything_is_sent() {
    with_each_backend(|client| async move {
        let acts = vec![Act::Read, Act::Write(OK), Act::Await, Act::Close, Act::Tell];
        let (origin, go, told) = server(acts);
        let mut connection = open(&client, &origin).await;
        get(&client, &mut connection).await.expect("a response");
        meanwhile(&client, || {
            go.send(()).expect("a server");
            told.recv().expect("a server");
        })
        .await;
        let error = get(&client, &mut connection).await.expect_err("closed");
        assert_eq!(error.delivery(), Delivery::NotSent, "{error:?}");
        assert!(error.is_stale() && !error.is_unsolicited(), "{error:?}");
    });
}

#[test]
fn a_connection_that_was_closed_unseen_acknowledges_nothing() {
    with_each_backend(|client| async move {
        let acts = vec![Act::Read, Act::Write(OK), Act::Await, Act::Close, Act::Tell];
        let (origin, go, told) = server(acts);
        let mut connection = open(&client, &origin).await;
        get(&client, &mut connection).await.expect("a response");
        // The event loop does not get to look before the next request.
        go.send(()).expect("a server");
        told.recv().expect("a server");
        let error = get(&client, &mut connection).await.expect_err("closed");
        assert_eq!(error.delivery(), Delivery::Unacknowledged, "{error:?}");
        assert!(error.is_stale(), "{error:?}");
    });
}

#[test]
fn a_request_that_was_read_before_the_close_may_have_been_carried_out() {
    with_each_backend(|client| async move {
        let acts = vec![Act::Read, Act::Write(OK), Act::Read, Act::Close];
        let (origin, _go, _) = server(acts);
        let mut connection = open(&client, &origin).await;
        get(&client, &mut connection).await.expect("a response");
        let error = get(&client, &mut connection).await.expect_err("closed");
        assert_eq!(error.delivery(), Delivery::Acknowledged, "{error:?}");
        assert_eq!(error.kind(), ErrorKind::ClosedEarly);
        assert!(!error.is_stale(), "{error:?}");
    });
}

/// Each response ends with the kernel's stamp of its last byte, also one that takes several reads of one packet,
/// and one of which most is thrown away in the kernel.
#[test]
fn responses_of_any_size_end_with_a_stamp() {
    const ROUNDS: usize = 30;
    let _stamped = crate::sys::stamped();
    for length in [30_000, 300_000] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
        let response: &'static [u8] = [head.into_bytes(), vec![b'x'; length]].concat().leak();
        with_each_backend(|client| async move {
            let acts = (0..ROUNDS).flat_map(|_| [Act::Read, Act::Write(response)]).collect();
            let (origin, _go, _) = server(acts);
            let mut connection = open(&client, &origin).await;
            for _ in 0..ROUNDS {
                let delay = |_: &Response<'_>, times: Times| times.delay_ns;
                let delay = get_and(&client, &mut connection, length as u64, delay).await;
                assert!(delay.expect("a response").is_some(), "{length} bytes");
            }
        });
    }
}

/// Whoever shares a worker is not held up by a large body: between its parts the event loop turns round.
#[test]
fn others_have_their_turn_while_a_body_is_decompressed() {
    const PARTS: usize = 200;
    let mut random = squall_base::random::Random::new(1);
    let body: Vec<u8> = (0..PARTS * (8 << 10)).map(|_| random.below(256) as u8).collect();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(&body).expect("memory");
    let packed = encoder.finish().expect("memory");
    let lines = "Content-Encoding: gzip\r\nContent-Length";
    let head = format!("HTTP/1.1 200 OK\r\n{lines}: {}\r\n\r\n", packed.len());
    let response: &'static [u8] = [head.into_bytes(), packed].concat().leak();
    with_each_backend(|client| async move {
        let (origin, _go, _) = server(vec![Act::Read, Act::Write(response)]);
        let mut connection = open(&client, &origin).await;
        let progress = Rc::new(Progress::default());
        let (of_it, own) = (progress.clone(), client.clone());
        let getting = async move {
            let slices = [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".as_slice(), b"", b""];
            let request = RequestBytes { is_head: false, slices, stream: None };
            let expect = Expect {
                keep: 1,
                sink: None,
                max_body: u64::MAX,
                max_decompression_ratio: 10,
                decompress: true,
                throttle: None,
            };
            let length = |got: &Response<'_>, _| got.body_length;
            connection.exchange(&own, request, expect, &of_it, length).await
        };
        let others = async {
            let getting = tokio::task::spawn_local(getting);
            let mut turns = 0;
            while !getting.is_finished() {
                client.next_turn().await;
                turns += usize::from(progress.phase() == Phase::Decompress);
            }
            let length = getting.await.expect("no panic").expect("a response");
            assert_eq!(length, (PARTS * (8 << 10)) as u64);
            assert!(turns >= PARTS / 2, "{turns} turns");
        };
        tokio::task::LocalSet::new().run_until(others).await;
    });
}
