//! What RFC 9113 asks of a client that receives what it should not, case by case: those of h2spec that
//! concern a client, and those that only a client can meet. A scripted server answers the first of two
//! requests with raw bytes, and the second one well; it reports which frames the client sent then.

mod connection;
mod messages;

use std::sync::mpsc::{Receiver, TryRecvError};

use super::*;

const NO_ERROR: u32 = 0;
const PROTOCOL_ERROR: u32 = 1;
const FLOW_CONTROL_ERROR: u32 = 3;
const STREAM_CLOSED: u32 = 5;
const FRAME_SIZE_ERROR: u32 = 6;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;
const WITH_PRIORITY: u8 = 0x20;

/// `:status: 200`, from the static table (RFC 7541, appendix A).
const OK: u8 = 0x88;

/// What comes of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// Both requests have their responses.
    Fine,
    /// Both have their responses; what came on the first one's stream behind its end is answered by a reset
    /// with this code.
    Late(u32),
    /// The request fails, whose stream had ended in both directions: nothing is left to be reset. The other
    /// one has its response on the same connection.
    Ended,
    /// A stream error: the request fails and its stream is reset with this code. The other one has its
    /// response on the same connection.
    Reset(u32),
    /// A connection error: both requests fail, and the last frame is a GOAWAY with this code.
    Connection(u32),
}
use Ending::{Connection, Ended, Fine, Late, Reset};

/// The section of RFC 9113 (or 7541), what is sent, its bytes, and what is to come of it.
type Case = (&'static str, &'static str, Vec<u8>, Ending);

/// A HEADERS frame that is a whole head.
fn headers(flags: u8, stream: u32, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | flags, stream, block)
}

/// The head and the body of a good response.
fn good(stream: u32) -> Vec<u8> {
    [headers(0, stream, &[OK]), frame(DATA, END_STREAM, stream, b"ok")].concat()
}

/// A field as a literal that is not kept (RFC 7541, section 6.2.2).
fn literal(name: &str, value: &str) -> Vec<u8> {
    [&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat()
}

/// What a client sent: type, stream, and the first bytes of the payload as a number.
type SentFrame = (u8, u8, u32, u32);

/// A server of one connection that answers two requests with fixed bytes, and reports what the client sent
/// from its first byte to its last.
fn reporting(answer: Vec<u8>) -> (Origin, Receiver<Vec<SentFrame>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().expect("a connection");
        peer.write_all(&frame(SETTINGS, 0, 0, &[])).expect("open");
        let mut received = await_requests(&mut peer, 2);
        // The client may have given up within it.
        let _ = peer.write_all(&answer);
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = peer.read(&mut buffer) {
            received.extend_from_slice(&buffer[..read]);
        }
        let _ = tell.send(frames_of(&received[frames::PREFACE..]));
    });
    (at(port), told)
}

/// Whole frames, one after the other.
fn frames_of(mut bytes: &[u8]) -> Vec<SentFrame> {
    let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
    let mut all = Vec::new();
    while bytes.len() >= 9 {
        let (head, rest) = bytes.split_at(9);
        let (payload, behind) = rest.split_at(number(&head[..3]) as usize);
        // Of GOAWAY the code is behind the last stream.
        let from = if head[3] == GOAWAY { 4 } else { 0 };
        let value = payload.get(from..from + 4).map_or(0, number);
        all.push((head[3], head[4], number(&head[5..]), value));
        bytes = behind;
    }
    all
}

/// Waits for the report of a server whose client is gone.
async fn report(told: &Receiver<Vec<SentFrame>>) -> Vec<SentFrame> {
    loop {
        match told.try_recv() {
            Ok(report) => return report,
            Err(TryRecvError::Empty) => tokio::task::yield_now().await,
            Err(TryRecvError::Disconnected) => panic!("the server has failed"),
        }
    }
}

/// Holds two requests against a server: what came of them, the first one's response, and what was sent.
async fn judge(
    client: &Rc<Client>,
    answer: &[u8],
) -> (Result<Ending, String>, Result<Seen, Error>, Vec<SentFrame>) {
    let (origin, told) = reporting([answer, &good(3)].concat());
    let session = open(client, &origin).await;
    // The second stream is there when the server's SETTINGS have come.
    let streams = [stream(&session).await, stream(&session).await];
    let [first, second] = streams.map(|stream| {
        let client = client.clone();
        tokio::task::spawn_local(async move { send(&client, &stream, "GET", "/", b"").await })
    });
    let (first, second) = (first.await.expect("no panic"), second.await.expect("no panic"));
    drop(session);
    let sent = report(&told).await;
    (outcome(&first, &second, &sent), first, sent)
}

/// What became of two requests; or what was seen, if that is nothing that the RFC knows.
fn outcome(
    first: &Result<Seen, Error>,
    second: &Result<Seen, Error>,
    sent: &[SentFrame],
) -> Result<Ending, String> {
    let told = |error: &Error| {
        error.kind() == ErrorKind::Malformed && error.to_string().starts_with("HTTP/2: ")
    };
    let errors = || [first, second].into_iter().filter_map(|result| result.as_ref().err());
    let goodbye = sent.iter().find(|(kind, ..)| *kind == GOAWAY).map(|(.., code)| *code);
    let reset = sent.iter().find(|(kind, _, stream, _)| (*kind, *stream) == (RST_STREAM, 1));
    match (goodbye, reset.map(|(.., code)| *code), first, second) {
        _ if !errors().all(told) => Err(format!("{first:?}, {second:?}, {sent:?}")),
        (Some(code), _, Err(_), Err(_)) => Ok(Connection(code)),
        (Some(NO_ERROR), Some(code), Err(_), Ok(_)) => Ok(Reset(code)),
        (Some(NO_ERROR), None, Err(_), Ok(_)) => Ok(Ended),
        (Some(NO_ERROR), Some(code), Ok(_), Ok(_)) => Ok(Late(code)),
        (Some(NO_ERROR), None, Ok(_), Ok(_)) => Ok(Fine),
        _ => Err(format!("{first:?}, {second:?}, {sent:?}")),
    }
}

/// Holds each case against its outcome, with each backend; all that differ are told.
fn hold(cases: &[Case]) {
    run(|client| async move {
        let mut wrong = Vec::new();
        for (section, what, answer, expected) in cases {
            let (seen, ..) = judge(&client, answer).await;
            if seen.as_ref() != Ok(expected) {
                wrong.push(format!("{section}, {what}: expected {expected:?}, seen {seen:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}
