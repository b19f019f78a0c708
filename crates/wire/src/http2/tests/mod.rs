//! Exchanges with HTTP/2 servers of this process, with each I/O backend. A server that goes wrong ends
//! its connection after a while, so that a test fails rather than hangs.

mod conformance;
mod malformed;
mod streams;

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::rc::Rc;

use tokio::task::LocalSet;

use super::*;
use crate::exchange::tests::with_each_backend_and;
use crate::http2_fields::Fields;
use crate::{
    Client, Error, ErrorKind, Expect, Http, Opened, Origin, Progress, RequestFields, Response,
    Scheme, Settings, Times, Via,
};

/// What a test sees of a response.
#[derive(Debug)]
pub(crate) struct Seen {
    status: u16,
    head: String,
    body: Vec<u8>,
    body_bytes: u64,
    body_length: u64,
    bytes_in: u64,
    bytes_out: u64,
    times: Times,
}

/// Runs `work` with HTTP/2 on each backend.
fn run<F: Future<Output = ()>>(work: impl Fn(Rc<Client>) -> F) {
    let settings = Settings { http: Http::V2, ..Settings::default() };
    with_each_backend_and(&settings, |client| {
        let work = work(client);
        async move { LocalSet::new().run_until(work).await }
    });
}

pub(crate) async fn open(client: &Client, origin: &Origin) -> Session {
    let progress = Progress::default();
    match crate::connect(client, (origin, &Via::default()), &progress, None)
        .await
        .expect("a connection")
        .0
    {
        Opened::Multiplexed(session) => session,
        Opened::Exclusive(_) => panic!("it was to speak HTTP/2"),
    }
}

fn at(port: u16) -> Origin {
    Origin { scheme: Scheme::Http, host: "127.0.0.1".into(), port }
}

/// Waits for room on a session that others use too.
async fn stream(session: &Session) -> Stream {
    loop {
        match session.stream() {
            Some(stream) => return stream,
            None if !session.is_open() => panic!("the connection is closed"),
            None => tokio::task::yield_now().await,
        }
    }
}

async fn send(
    client: &Client,
    stream: &Stream,
    method: &str,
    path: &str,
    body: &[u8],
) -> Result<Seen, Error> {
    send_and_tell(client, stream, (method, path, body), &Progress::default()).await
}

async fn send_and_tell(
    client: &Client,
    stream: &Stream,
    (method, path, body): (&str, &str, &[u8]),
    progress: &Progress,
) -> Result<Seen, Error> {
    let fields = Fields::new(method, false, "a.example", path.as_bytes()).expect("valid");
    let request = RequestFields { fields: &fields, body, stream: None };
    let expect = Expect {
        keep: 1 << 20,
        sink: None,
        max_body: 64 << 20,
        max_decompression_ratio: 100,
        decompress: true,
        throttle: None,
    };
    let done = |got: &Response<'_>, times| Seen {
        status: got.status,
        head: String::from_utf8_lossy(got.head).into_owned(),
        body: got.body.to_vec(),
        body_bytes: got.body_bytes,
        body_length: got.body_length,
        bytes_in: got.bytes_in,
        bytes_out: got.bytes_out,
        times,
    };
    stream.exchange(client, request, expect, progress, done).await
}

pub(crate) async fn get(client: &Client, session: &Session, path: &str) -> Result<Seen, Error> {
    send(client, &stream(session).await, "GET", path, b"").await
}

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// A server of one connection that sends fixed bytes once so many requests have come, and then reads on
/// until the client is gone. `closes`: nothing comes after them.
fn scripted(requests: usize, answer: Vec<u8>, closes: bool) -> Origin {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().expect("a connection");
        peer.write_all(&frame(4, 0, 0, &[])).expect("open");
        await_requests(&mut peer, requests);
        // The client may have given up within it.
        let _ = peer.write_all(&answer);
        if closes {
            // What the client sends meanwhile is read: a socket that is closed with unread bytes is reset.
            peer.shutdown(Shutdown::Write).expect("open");
        }
        let mut buffer = [0; 4096];
        while peer.read(&mut buffer).is_ok_and(|read| read > 0) {}
    });
    at(port)
}

/// Waits for so many heads of requests; all that was read until then.
fn await_requests(peer: &mut TcpStream, requests: usize) -> Vec<u8> {
    let mut scanner = frames::Scanner::after(frames::PREFACE);
    let (mut buffer, mut received, mut seen) = ([0; 4096], Vec::new(), 0);
    while seen < requests {
        let read = peer.read(&mut buffer).expect("requests");
        assert!(read > 0, "the client has closed");
        received.extend_from_slice(&buffer[..read]);
        scanner.feed(&buffer[..read], |passed| {
            let is_request = |frame: &frames::Frame| frame.kind == frames::kind::HEADERS;
            seen += usize::from(matches!(passed, frames::Passed::End(frame) if is_request(&frame)));
        });
    }
    received
}
