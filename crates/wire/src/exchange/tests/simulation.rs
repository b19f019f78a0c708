//! Connections on which things happen in random order, against a model, with each I/O backend: a request is answered by its own
//! response or by none, and always to its end. Each seed is a story; those that have failed are told each time.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::net::Shutdown;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use squall_base::random::Random;

use super::*;

/// More turns of the event loop than this are without end.
const MANY: usize = 200_000;
/// Seeds that have failed.
const FAILED: [u64; 1] = [1249];

/// What has happened to a connection that rests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meanwhile {
    Nothing,
    /// Bytes have come, and maybe its end.
    Bytes,
    Ended,
}

/// What the server does with a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answers {
    Whole,
    InPieces,
    /// And with a beginning of one more.
    More,
    /// To a half of it, and then closes.
    Half,
    Closes,
    /// Its client gives up before.
    Late,
}

const ANSWERS: [Answers; 6] = [
    Answers::Whole,
    Answers::InPieces,
    Answers::More,
    Answers::Half,
    Answers::Closes,
    Answers::Late,
];

struct Pair {
    connection: Connection,
    peer: TcpStream,
    meanwhile: Meanwhile,
}

/// A response with a body by which it is known, padded to a length.
fn response(name: u64, length: usize) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{name:08}", length + 8);
    [head.into_bytes(), vec![b'.'; length]].concat()
}

/// The event loop turns round a few times.
async fn turns(number: usize) {
    for _ in 0..number {
        let yielded = Cell::new(false);
        poll_fn(|cx| {
            if yielded.replace(true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

impl Pair {
    async fn new(client: &Client, listener: &TcpListener) -> Pair {
        let port = listener.local_addr().expect("an address").port();
        let origin = Origin { scheme: Scheme::Http, host: "127.0.0.1".into(), port };
        let connection = open(client, &origin).await;
        let (peer, _) = listener.accept().expect("a connection");
        peer.set_nonblocking(true).expect("an option of all sockets");
        // What is sent between two exchanges is there before the second one.
        peer.set_nodelay(true).expect("an option of all sockets");
        Pair { connection, peer, meanwhile: Meanwhile::Nothing }
    }

    /// Something happens while the connection rests.
    fn disturb(&mut self, random: &mut Random) {
        if self.meanwhile == Meanwhile::Ended {
            return;
        }
        match random.below(4) {
            0 => self.meanwhile = self.end(),
            1 => {
                let at_once = Some(Duration::ZERO);
                rustix::net::sockopt::set_socket_linger(&self.peer, at_once).expect("an option");
                let other = TcpListener::bind("127.0.0.1:0").expect("a port");
                let address = other.local_addr().expect("an address");
                self.peer = TcpStream::connect(address).expect("a connection");
                self.meanwhile = Meanwhile::Ended;
            }
            // A response that is as good as any, to no request.
            _ if self.meanwhile == Meanwhile::Nothing => {
                let length = [0, 5_000][random.below(2)];
                let sent = self.peer.write(&response(0, length)).expect("room for some");
                assert!(sent > 0);
                // On a busy machine it may be on its way for a while.
                self.connection.stream.await_arrival();
                self.meanwhile = Meanwhile::Bytes;
            }
            _ => {}
        }
    }

    fn end(&mut self) -> Meanwhile {
        match self.peer.shutdown(Shutdown::Write) {
            Ok(()) if self.meanwhile == Meanwhile::Nothing => Meanwhile::Ended,
            _ => self.meanwhile,
        }
    }
}

/// One exchange; whether the connection may be used again.
async fn exchange(client: &Client, pair: &mut Pair, name: u64, random: &mut Random) -> bool {
    let how = ANSWERS[random.below(ANSWERS.len())];
    let length = [0, 100, 20_000][random.below(3)];
    let mut answer = response(name, length);
    let (mut asked, mut at) = (false, 0);
    let Pair { connection, peer, meanwhile } = pair;
    let got = {
        let mut getting = pin!(get_named(client, connection));
        let mut turn = 0;
        poll_fn(|cx| {
            if let Poll::Ready(got) = getting.as_mut().poll(cx) {
                return Poll::Ready(Some(got));
            }
            turn += 1;
            assert!(turn < MANY, "{how:?} {meanwhile:?}: it never ends");
            cx.waker().wake_by_ref();
            let mut buffer = [0; 1024];
            asked |= peer.read(&mut buffer).is_ok_and(|read| buffer[..read].ends_with(b"\r\n\r\n"));
            // To a connection that is spent the server says no more.
            if !asked || *meanwhile != Meanwhile::Nothing {
                return Poll::Pending;
            }
            let end = match how {
                Answers::Late => return Poll::Ready(None),
                Answers::Closes => 0,
                Answers::Half => answer.len() / 2,
                Answers::InPieces => answer.len().min(at + 1_000),
                Answers::Whole => answer.len(),
                Answers::More => {
                    if at == 0 {
                        answer.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
                    }
                    answer.len()
                }
            };
            match peer.write(&answer[at..end]) {
                Ok(sent) => at += sent,
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
            if at == end && matches!(how, Answers::Closes | Answers::Half) {
                peer.shutdown(Shutdown::Write).expect("open");
            }
            Poll::Pending
        })
        .await
    };
    let is_whole = matches!(how, Answers::Whole | Answers::InPieces | Answers::More);
    match got {
        None => assert_eq!(how, Answers::Late),
        Some(Ok(got)) => {
            assert_eq!(got, name, "{how:?} {meanwhile:?}: another response");
            assert!(is_whole && *meanwhile == Meanwhile::Nothing);
        }
        Some(Err(error)) => {
            let is_expected = !is_whole || *meanwhile != Meanwhile::Nothing;
            assert!(is_expected, "{how:?} {meanwhile:?}: {error}");
            let is_told = *meanwhile != Meanwhile::Bytes || error.is_unsolicited();
            assert!(is_told, "{how:?} {meanwhile:?}: {error}");
        }
    }
    connection.reusable()
}

/// Gets a response; its name.
async fn get_named(client: &Client, connection: &mut Connection) -> Result<u64, Error> {
    let slices = [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".as_slice(), b"", b""];
    let request = RequestBytes { is_head: false, slices, stream: None };
    let expect = Expect {
        keep: 8,
        sink: None,
        max_body: 1 << 20,
        max_decompression_ratio: 10,
        decompress: false,
        throttle: None,
    };
    let name = |got: &Response<'_>, _| {
        std::str::from_utf8(got.body).ok().and_then(|name| name.parse().ok()).expect("a name")
    };
    connection.exchange(client, request, expect, &Progress::default(), name).await
}

async fn tell(client: &Client, seed: u64) {
    let mut random = Random::new(seed);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut pairs = Vec::new();
    for _ in 0..=random.below(6) {
        pairs.push(Pair::new(client, &listener).await);
    }
    for name in 1..=30 {
        let at = random.below(pairs.len());
        match random.below(4) {
            0 if pairs[at].connection.used() => pairs[at].disturb(&mut random),
            1 => turns(random.below(6)).await,
            _ => {
                if !exchange(client, &mut pairs[at], name, &mut random).await {
                    pairs[at] = Pair::new(client, &listener).await;
                }
            }
        }
    }
}

#[test]
fn a_request_is_answered_by_its_own_response_or_by_none() {
    let _stamped = crate::sys::stamped();
    // For a longer look: `SQUALL_SEEDS=100000`.
    let most = std::env::var("SQUALL_SEEDS").ok().and_then(|most| most.parse().ok());
    let told = Cell::new(0);
    let stories = std::panic::AssertUnwindSafe(|| {
        with_each_backend(|client| {
            let told = &told;
            async move {
                for seed in FAILED.into_iter().chain(0..most.unwrap_or(1_000)) {
                    told.set(seed);
                    tell(&client, seed).await;
                }
            }
        });
    });
    assert!(std::panic::catch_unwind(stories).is_ok(), "seed {} failed", told.get());
}
