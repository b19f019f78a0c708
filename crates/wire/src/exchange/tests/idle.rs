//! Thousands of connections that rest while their server says a last word on each, beside one that must still be answered.

use std::io::{Read, Write};
use std::sync::Arc;

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tokio::task::LocalSet;

use super::*;
use crate::http2::tests::{self as http2, frame};
use crate::{Http, TlsSettings};

/// More than a worker's ring has buffers.
const RESTING: usize = 2_000;
/// Exchanges on the one connection meanwhile.
const ANSWERED: usize = 20;

const TIMED_OUT: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n";

/// What a server speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaks {
    Http1,
    Http2,
}

trait Stream: Read + Write + Send {}
impl<S: Read + Write + Send> Stream for S {}

/// A connection of the server's.
struct Peer {
    stream: Box<dyn Stream>,
    speaks: Speaks,
    /// What was read of HTTP/2 and is no whole frame yet.
    held: Vec<u8>,
}

impl Peer {
    fn new(stream: TcpStream, tls: Option<&Arc<ServerConfig>>, speaks: Speaks) -> Peer {
        stream.set_nodelay(true).expect("an option of all sockets");
        let stream: Box<dyn Stream> = match tls {
            None => Box::new(stream),
            Some(config) => {
                let session = ServerConnection::new(config.clone()).expect("a session");
                Box::new(StreamOwned::new(session, stream))
            }
        };
        let mut peer = Peer { stream, speaks, held: Vec::new() };
        if speaks == Speaks::Http2 {
            peer.say(&frame(4, 0, 0, &[]));
            let mut preface = [0; 24];
            peer.stream.read_exact(&mut preface).expect("a client");
        }
        peer
    }

    fn say(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("open");
        self.stream.flush().expect("open");
    }

    /// Answers one request; `false`: there is none more.
    fn answer(&mut self) -> bool {
        let mut buffer = [0; 4096];
        loop {
            let stream = match self.speaks {
                Speaks::Http1 => None,
                Speaks::Http2 => match self.request() {
                    Some(stream) => Some(stream),
                    None if self.read_frames(&mut buffer) => continue,
                    None => return false,
                },
            };
            match stream {
                // Its status is the eighth entry of the table that all know (RFC 7541, appendix A).
                Some(stream) => self.say(&frame(1, 5, stream, &[0x88])),
                None if self.stream.read(&mut buffer).is_ok_and(|read| read > 0) => self.say(OK),
                None => return false,
            }
            return true;
        }
    }

    fn read_frames(&mut self, buffer: &mut [u8]) -> bool {
        let read = self.stream.read(buffer).unwrap_or(0);
        self.held.extend_from_slice(&buffer[..read]);
        read > 0
    }

    /// The stream of the next request that was read whole.
    fn request(&mut self) -> Option<u32> {
        while let Some(head) = self.held.first_chunk::<9>().copied() {
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            if self.held.len() < 9 + length {
                return None;
            }
            self.held.drain(..9 + length);
            if head[3] == 1 {
                return Some(u32::from_be_bytes([head[5], head[6], head[7], head[8]]));
            }
        }
        None
    }
}

/// A server that answers one request on each of the resting connections, says `last` on all of them once it is told to,
/// and answers on the next connection to the end.
fn server_of_many(
    tls: Option<Arc<ServerConfig>>,
    speaks: Speaks,
    last: &'static [u8],
) -> (Origin, Sender<()>, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let scheme = if tls.is_some() { Scheme::Https } else { Scheme::Http };
    let (go, awaited) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let accept = || {
            let (stream, _) = listener.accept().expect("a connection");
            let mut peer = Peer::new(stream, tls.as_ref(), speaks);
            assert!(peer.answer());
            peer
        };
        let mut resting: Vec<_> = (0..RESTING).map(|_| accept()).collect();
        let mut busy = accept();
        awaited.recv().expect("a test");
        resting.iter_mut().for_each(|peer| peer.say(last));
        tell.send(()).expect("a test");
        while busy.answer() {}
        // Open until the test is over.
        let _ = awaited.recv();
    });
    (Origin { scheme, host: "127.0.0.1".into(), port }, go, told)
}

/// Whatever the server says on resting connections, another one is answered; and what it said is no response to their next request.
fn one_is_answered_beside_many_that_rest(tls: Option<Arc<ServerConfig>>) {
    let trust = TlsSettings { insecure: true, ..TlsSettings::default() };
    with_each_backend_and(&Settings { tls: trust, ..Settings::default() }, |client| {
        let tls = tls.clone();
        async move {
            let (origin, go, told) = server_of_many(tls, Speaks::Http1, TIMED_OUT);
            let mut resting = Vec::new();
            for _ in 0..RESTING {
                let mut connection = open(&client, &origin).await;
                get(&client, &mut connection).await.expect("a response");
                resting.push(connection);
            }
            let mut busy = open(&client, &origin).await;
            get(&client, &mut busy).await.expect("a response");
            go.send(()).expect("a server");
            told.recv().expect("a server");
            for _ in 0..ANSWERED {
                get(&client, &mut busy).await.expect("a response");
            }
            for mut connection in resting {
                // Each user is a task of its own, of which tokio lets none read for ever.
                tokio::task::yield_now().await;
                let error = get(&client, &mut connection).await.expect_err("not its response");
                assert!(error.is_unsolicited() && error.is_stale(), "{error:?}");
            }
        }
    });
}

#[test]
fn one_is_answered_beside_many_that_rest_in_plain_text() {
    one_is_answered_beside_many_that_rest(None);
}

#[test]
fn one_is_answered_beside_many_that_rest_in_tls() {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("a certificate and its key");
    one_is_answered_beside_many_that_rest(Some(Arc::new(config)));
}

#[test]
fn one_is_answered_beside_many_that_rest_in_http2() {
    with_each_backend_and(
        &Settings { http: Http::V2, ..Settings::default() },
        |client| async move {
            let work = async {
                let ping: &'static [u8] = frame(6, 0, 0, &[7; 8]).leak();
                let (origin, go, told) = server_of_many(None, Speaks::Http2, ping);
                let mut resting = Vec::new();
                for _ in 0..RESTING {
                    let session = http2::open(&client, &origin).await;
                    http2::get(&client, &session, "/").await.expect("a response");
                    resting.push(session);
                }
                let busy = http2::open(&client, &origin).await;
                http2::get(&client, &busy, "/").await.expect("a response");
                go.send(()).expect("a server");
                told.recv().expect("a server");
                for _ in 0..ANSWERED {
                    http2::get(&client, &busy, "/").await.expect("a response");
                }
                assert!(resting.iter().all(|session| session.is_open()));
            };
            LocalSet::new().run_until(work).await;
        },
    );
}

/// What came while nobody looked is told from a response by the kernel's stamp.
#[test]
fn a_response_that_came_before_its_request_is_none() {
    let _stamped = crate::sys::stamped();
    with_each_backend(|client| async move {
        let acts = vec![Act::Read, Act::Write(OK), Act::Await, Act::Write(TIMED_OUT), Act::Tell];
        let (origin, go, told) = server(acts);
        let mut connection = open(&client, &origin).await;
        get(&client, &mut connection).await.expect("a response");
        go.send(()).expect("a server");
        told.recv().expect("a server");
        connection.stream.await_arrival();
        let error = get(&client, &mut connection).await.expect_err("it is no response");
        assert!(error.is_unsolicited(), "{error:?}");
        assert!(!connection.reusable());
    });
}
