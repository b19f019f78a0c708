//! HTTP/2: streams on a connection that end, are reset, refused or stall, and connections that end or break among them.

use std::rc::Rc;

use tokio::task::LocalSet;

use super::*;
use crate::http2::tests::frame;
use crate::{
    Delivery, Error, ErrorKind, Expect, Fields, Progress, RequestFields, Response, Session, Stream,
    Times,
};

/// Seeds that have failed.
const FAILED: [u64; 0] = [];

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;
/// `:status 200` (RFC 7541, appendix A).
const STATUS_200: u8 = 0x88;

/// What the server does with a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    /// A body of so many bytes.
    Whole(usize),
    /// So many bytes of a larger body, and then ...
    Rst(usize, u32),
    Stall(usize),
    Close(usize),
    Reset(usize),
    /// It takes this stream no more, nor any other.
    GoAway,
}

fn body(stream: u32, length: usize) -> Vec<u8> {
    (0..length).map(|at| (at as u32 + stream) as u8).collect()
}

/// The bytes of an answer, and those of its frames on the stream.
fn written(answer: Answer, stream: u32) -> (Vec<u8>, u64) {
    let (length, ends) = match answer {
        Answer::Whole(length) => (length, true),
        Answer::Rst(length, _)
        | Answer::Stall(length)
        | Answer::Close(length)
        | Answer::Reset(length) => (length, false),
        Answer::GoAway => {
            let last = stream.saturating_sub(2).to_be_bytes();
            return (frame(GOAWAY, 0, 0, &[last, [0; 4]].concat()), 0);
        }
    };
    let mut out = Vec::new();
    let of_head = if ends && length == 0 { END_STREAM } else { 0 };
    out.extend(frame(HEADERS, END_HEADERS | of_head, stream, &[STATUS_200]));
    let whole = body(stream, length);
    let pieces = whole.chunks(10_000);
    let last = pieces.len();
    for (at, piece) in pieces.enumerate() {
        let flags = if ends && at + 1 == last { END_STREAM } else { 0 };
        out.extend(frame(DATA, flags, stream, piece));
    }
    if let Answer::Rst(_, code) = answer {
        out.extend(frame(RST_STREAM, 0, stream, &code.to_be_bytes()));
    }
    let length = out.len() as u64;
    (out, length)
}

/// A server that answers each request in its turn.
struct Server {
    random: Random,
    held: Vec<u8>,
    answers: Vec<Answer>,
    greeted: bool,
    /// The last stream that it takes.
    last: u32,
}

impl Server {
    fn say(&mut self, bytes: &[u8], out: &mut Outbound) {
        let mut at = 0;
        for segment in cut(&mut self.random, bytes) {
            at += pause(&mut self.random);
            out.send(at, &segment);
        }
    }

    /// The next frame that has come whole: its type, flags and stream.
    fn frame(&mut self) -> Option<(u8, u8, u32)> {
        let [a, b, c, kind, flags, stream @ ..] = *self.held.first_chunk::<9>()?;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        if self.held.len() < 9 + length {
            return None;
        }
        self.held.drain(..9 + length);
        Some((kind, flags, u32::from_be_bytes(stream)))
    }
}

impl Peer for Server {
    fn on_bytes(&mut self, bytes: &[u8], out: &mut Outbound) {
        self.held.extend_from_slice(bytes);
        if !self.greeted {
            if self.held.len() < 24 {
                return;
            }
            self.held.drain(..24);
            self.greeted = true;
            self.say(&frame(SETTINGS, 0, 0, &[]), out);
        }
        while let Some((kind, flags, stream)) = self.frame() {
            let is_ack = flags & 1 != 0;
            match kind {
                SETTINGS if !is_ack => self.say(&frame(SETTINGS, 1, 0, &[]), out),
                HEADERS | DATA if flags & END_STREAM != 0 => {
                    if stream > self.last {
                        continue;
                    }
                    let at = (stream as usize - 1) / 2;
                    let answer = self.answers[at];
                    let (bytes, _) = written(answer, stream);
                    self.say(&bytes, out);
                    match answer {
                        Answer::Close(_) => out.close(pause(&mut self.random)),
                        Answer::Reset(_) => out.reset(pause(&mut self.random)),
                        Answer::GoAway => self.last = stream.saturating_sub(2),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }
}

struct Seen {
    status: u16,
    body: Vec<u8>,
    bytes_in: u64,
    times: Times,
}

async fn exchange(client: Rc<Client>, stream: Stream, body: Vec<u8>) -> (Result<Seen, Error>, u64) {
    let method = if body.is_empty() { "GET" } else { "POST" };
    let fields = Fields::new(method, false, "a.example", b"/").expect("valid");
    let request = RequestFields { fields: &fields, body: &body, stream: None };
    let expect = Expect {
        keep: 1 << 20,
        sink: None,
        max_body: 1 << 20,
        max_decompression_ratio: 1,
        decompress: false,
        throttle: None,
    };
    let done = |got: &Response<'_>, times| Seen {
        status: got.status,
        body: got.body.to_vec(),
        bytes_in: got.bytes_in,
        times,
    };
    let progress = Progress::default();
    let got = stream.exchange(&client, request, expect, &progress, done).await;
    (got, progress.take_bytes().1)
}

fn answer(random: &mut Random) -> Answer {
    let length = [0, 1, 1_000, 30_000][random.below(4)];
    match random.below(16) {
        0 => Answer::Rst(length, [INTERNAL_ERROR, REFUSED_STREAM][random.below(2)]),
        1 => Answer::Stall(length),
        2 => Answer::Close(length),
        3 => Answer::Reset(length),
        4 => Answer::GoAway,
        _ => Answer::Whole(length),
    }
}

/// Checks what came of an exchange; `others`: what the server did with requests beside it.
fn judge(
    own: Answer,
    (number, others): (u32, &[Answer]),
    (begin, got, bytes): (u64, Option<Result<Seen, Error>>, u64),
) {
    let told = format!("stream {number}: {own:?} beside {others:?}");
    let ends =
        |answer: &Answer| matches!(answer, Answer::Close(_) | Answer::Reset(_) | Answer::GoAway);
    match (got, own) {
        (Some(Ok(seen)), Answer::Whole(length)) => {
            assert!(seen.status == 200 && seen.body == body(number, length), "{told}");
            let (_, written) = written(own, number);
            assert_eq!((seen.bytes_in, bytes), (written, written), "{told}");
            let Times { sent_ns, first_byte_ns, end_ns, delay_ns, .. } = seen.times;
            assert!(begin <= sent_ns && sent_ns <= first_byte_ns, "{told} {:?}", seen.times);
            assert!(first_byte_ns <= end_ns, "{told} {:?}", seen.times);
            assert!(end_ns + delay_ns.unwrap_or(0) <= now(), "{told} {:?}", seen.times);
        }
        (Some(Ok(_)), _) => panic!("{told}: a part is taken for the whole"),
        (None, Answer::Stall(_)) => {}
        (None, _) => panic!("{told}: it never ends"),
        (Some(Err(error)), Answer::Rst(_, code)) if error.kind() == ErrorKind::Reset => {
            let is_refused = code == REFUSED_STREAM;
            let is_other = others.iter().any(ends);
            assert!(is_other || is_refused == (error.delivery() == Delivery::NotSent), "{told}");
        }
        (Some(Err(error)), Answer::GoAway) if !others.iter().any(ends) => {
            let is_right = error.kind() == ErrorKind::ClosedEarly;
            assert!(is_right && error.delivery() == Delivery::NotSent, "{told}: {error:?}");
        }
        (Some(Err(error)), own) => {
            assert!(ends(&own) || others.iter().any(ends), "{told}: {error:?}");
            let kind = error.kind();
            let is_right = matches!(kind, ErrorKind::ClosedEarly | ErrorKind::Reset);
            assert!(is_right, "{told}: {error:?}");
        }
    }
}

async fn story(client: Rc<Client>, setting: Setting, mut random: Random) {
    let answers: Vec<Answer> = (0..20).map(|_| answer(&mut random)).collect();
    let server = Server {
        random: Random::new(random.next_u64()),
        held: Vec::new(),
        answers: answers.clone(),
        greeted: false,
        last: u32::MAX,
    };
    let socket = VirtualSocket::new(setting.path(&mut random), server);
    let session = Session::begin(&client, Link::Virtual(socket), None).await;
    let session = session.expect("nothing is wrong yet");
    let mut number = 1;
    while session.is_open() && number < 30 {
        let mut going = Vec::new();
        let begin = now();
        for _ in 0..=random.below(4) {
            let Some(stream) = session.stream() else { break };
            let body = vec![b'b'; [0, 0, 1, 2_000][random.below(4)]];
            let exchange = until(begin + PATIENCE, exchange(client.clone(), stream, body));
            going.push(tokio::task::spawn_local(exchange));
        }
        let first = number;
        number += 2 * going.len() as u32;
        let beside = &answers[(first as usize - 1) / 2..(number as usize - 1) / 2];
        for (at, exchange) in going.into_iter().enumerate() {
            let (got, bytes) = exchange.await.expect("no panic").unzip();
            let own = first + 2 * at as u32;
            judge(beside[at], (own, beside), (begin, got, bytes.unwrap_or(0)));
        }
        let is_over =
            |own: &Answer| matches!(own, Answer::Close(_) | Answer::Reset(_) | Answer::GoAway);
        if beside.iter().any(is_over) {
            // The last of it may still be on its way.
            sleep_until(now() + PATIENCE).await;
            assert!(!session.is_open(), "{beside:?}");
        }
    }
}

#[test]
fn streams_end_with_their_own_response_or_the_right_error() {
    tell(&FAILED, 1_000, |client, mut random| {
        let setting = Setting::any(&mut random);
        let (late, mut lateness) = (setting.late, Random::new(random.next_u64()));
        let told = story(client.clone(), setting, random);
        let work = async { LocalSet::new().run_until(told).await };
        run(client, || lateness.below(late) as u64, work).expect("something happens");
    });
}
