//! HTTP/1.1: requests and responses of many shapes, cut anywhere, on connections that end, break, stall, or say what nobody asked for.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Write as _};
use std::rc::Rc;

use super::*;
use crate::{
    BodySource, Connection, Delivery, Error, ErrorKind, Expect, Phase, Progress, RequestBytes,
    Response, Times,
};

/// Seeds that have failed.
const FAILED: [u64; 0] = [];

/// What becomes of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// After so many of its bytes.
    Close(usize),
    Reset(usize),
    Stall(usize),
    /// The client drops the exchange so long after it has begun.
    Cancel(u64),
    /// So many bytes of another response come behind it.
    More(usize),
}

/// What has happened to a connection that rests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meanwhile {
    Bytes,
    /// And its end behind them.
    LastWord,
    Close,
    Reset,
    /// One of both: the other side has closed before all of a request had come.
    Ended,
}

struct Request {
    method: &'static str,
    head: Vec<u8>,
    body: Vec<u8>,
    is_streamed: bool,
}

impl Request {
    fn any(random: &mut Random) -> Request {
        let method = ["GET", "HEAD", "POST"][random.below(3)];
        let length = if method == "POST" { random.below(3_000) } else { 0 };
        let head = format!("{method} / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n");
        let is_streamed = random.below(2) == 0;
        Request { method, head: head.into_bytes(), body: vec![b'b'; length], is_streamed }
    }

    fn length(&self) -> usize {
        self.head.len() + self.body.len()
    }
}

struct Source(io::Cursor<Vec<u8>>);

impl BodySource for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        io::Read::read(&mut self.0, buffer)
    }
}

/// A response as it is sent, and what is to be seen of it.
struct Answer {
    bytes: Vec<u8>,
    /// Where its own head begins, and where its body does.
    head: std::ops::Range<usize>,
    status: u16,
    body: Vec<u8>,
    trailers: &'static [u8],
    /// Whether only the end of the connection is its end.
    until_close: bool,
    keeps_alive: bool,
    is_packed: bool,
}

impl Answer {
    fn any(random: &mut Random, request: &Request) -> Answer {
        let status = [200, 200, 200, 204, 304, 404][random.below(6)];
        let mut bytes = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n".repeat(random.below(3) / 2);
        let begin = bytes.len();
        let has_body = request.method != "HEAD" && !matches!(status, 204 | 304);
        let length = [0, 1, 100, 5_000, 100_000][random.below(5)];
        let body: Vec<u8> = (0..length).map(|at| b'a' + (at % 23) as u8).collect();
        let is_packed = has_body && random.below(4) == 0;
        let mut sent = body.clone();
        if is_packed {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(&body).expect("memory");
            sent = encoder.finish().expect("memory");
        }
        let framing = random.below(3);
        let keeps_alive = random.below(4) > 0;
        let mut head = format!("HTTP/1.1 {status} X\r\n");
        head += match framing {
            0 => format!("Content-Length: {}\r\n", sent.len()),
            1 => "Transfer-Encoding: chunked\r\n".to_owned(),
            _ => String::new(),
        }
        .as_str();
        head += if is_packed { "Content-Encoding: gzip\r\n" } else { "" };
        head += if keeps_alive { "\r\n" } else { "Connection: close\r\n\r\n" };
        bytes.extend_from_slice(head.as_bytes());
        let head = begin..bytes.len();
        let mut trailers = &b""[..];
        if has_body && framing == 1 {
            for chunk in sent.chunks(1 + random.below(70_000)) {
                bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                bytes.extend_from_slice(chunk);
                bytes.extend_from_slice(b"\r\n");
            }
            trailers = [&b""[..], b"X-T: 1\r\n"][random.below(2)];
            bytes.extend_from_slice(&[b"0\r\n", trailers, b"\r\n"].concat());
        } else if has_body {
            bytes.extend_from_slice(&sent);
        }
        let until_close = has_body && framing == 2;
        let body = if has_body { body } else { Vec::new() };
        let keeps_alive = keeps_alive && !until_close;
        Answer { bytes, head, status, body, trailers, until_close, keeps_alive, is_packed }
    }
}

/// What the other side does once it has so many bytes of a request.
#[derive(Default)]
struct Script {
    came: usize,
    wanted: usize,
    acts: Vec<(u64, Vec<u8>)>,
    ends: Option<(u64, bool)>,
}

struct Talk {
    socket: VirtualSocket,
    connection: Connection,
    script: Rc<RefCell<Script>>,
    /// Bytes of all that was sent to the client before the present response.
    before: usize,
}

impl Talk {
    fn new(setting: &Setting, random: &mut Random) -> Talk {
        let script = Rc::new(RefCell::new(Script::default()));
        let own = script.clone();
        let peer = move |bytes: &[u8], out: &mut Outbound| {
            let script = &mut *own.borrow_mut();
            script.came += bytes.len();
            if script.came < script.wanted {
                return;
            }
            let mut at = 0;
            for (pause, bytes) in script.acts.drain(..) {
                at += pause;
                out.send(at, &bytes);
            }
            match script.ends.take() {
                Some((pause, true)) => out.reset(at + pause),
                Some((pause, false)) => out.close(at + pause),
                None => {}
            }
        };
        let socket = VirtualSocket::new(setting.path(random), peer);
        let connection = Connection::new(Link::Virtual(socket.clone()));
        Talk { socket, connection, script, before: 0 }
    }
}

/// What the client sees of a response.
struct Seen {
    status: u16,
    head: Vec<u8>,
    body: Vec<u8>,
    body_length: u64,
    bytes: (u64, u64),
    trailers: Vec<u8>,
    unsolicited: u64,
    times: Times,
}

async fn exchange(
    client: &Client,
    connection: &mut Connection,
    request: &Request,
    keep: u64,
    progress: &Progress,
) -> Result<Seen, Error> {
    let mut source = Source(io::Cursor::new(request.body.clone()));
    let in_memory = if request.is_streamed { b"" } else { request.body.as_slice() };
    let slices = [request.head.as_slice(), in_memory, b""];
    let stream = request.is_streamed.then_some(&mut source as &mut dyn BodySource);
    let bytes = RequestBytes { is_head: request.method == "HEAD", slices, stream };
    let expect = Expect {
        keep,
        sink: None,
        max_body: 1 << 20,
        max_decompression_ratio: 1_000,
        decompress: true,
        throttle: None,
    };
    let done = |got: &Response<'_>, times: Times| Seen {
        status: got.status,
        head: got.head.to_vec(),
        body: got.body.to_vec(),
        body_length: got.body_length,
        bytes: (got.bytes_out, got.bytes_in),
        trailers: got.trailers.to_vec(),
        unsolicited: got.unsolicited_bytes,
        times,
    };
    connection.exchange(client, bytes, expect, progress, done).await
}

/// An exchange, and what becomes of it.
struct Plan {
    request: Request,
    answer: Answer,
    fault: Fault,
    /// Bytes of the body that are kept.
    keep: u64,
    /// Whether the answer begins before all of the request has come.
    is_early: bool,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { request, answer, fault, keep, is_early } = self;
        let Answer { bytes, head, status, until_close, is_packed, .. } = answer;
        write!(f, "{} of {} bytes, ", request.method, request.length())?;
        write!(f, "streamed: {}, early: {is_early}; ", request.is_streamed)?;
        write!(
            f,
            "{status} of {} bytes behind {head:?}, until close: {until_close}, ",
            bytes.len()
        )?;
        write!(f, "packed: {is_packed}; {fault:?}, keep {keep}")
    }
}

impl Plan {
    fn any(random: &mut Random) -> Plan {
        let request = Request::any(random);
        let answer = Answer::any(random, &request);
        let at = match random.below(3) {
            0 => random.below(answer.head.end + 1),
            1 => answer.bytes.len(),
            _ => random.below(answer.bytes.len() + 1),
        };
        let fault = match random.below(10) {
            0 => Fault::Close(at),
            1 => Fault::Reset(at),
            2 if at < answer.bytes.len() || answer.until_close => Fault::Stall(at),
            3 => Fault::Cancel(random.below(100) as u64 * MS),
            4 if !answer.until_close => Fault::More(1 + random.below(100)),
            _ => Fault::None,
        };
        let keep = [0, 10, 1 << 20][random.below(3)];
        Plan { request, answer, fault, keep, is_early: random.below(8) == 0 }
    }

    /// All that the server sends.
    fn sent(&self) -> Vec<u8> {
        let bytes = &self.answer.bytes[..];
        match self.fault {
            Fault::Close(at) | Fault::Reset(at) | Fault::Stall(at) => bytes[..at].to_vec(),
            Fault::More(more) => [bytes, &vec![b'H'; more]].concat(),
            Fault::None | Fault::Cancel(_) => bytes.to_vec(),
        }
    }

    /// Whether the server ends the connection, by a reset or in order.
    fn resets(&self) -> Option<bool> {
        match self.fault {
            Fault::Reset(_) => Some(true),
            Fault::Close(_) => Some(false),
            Fault::None | Fault::Cancel(_) => self.answer.until_close.then_some(false),
            Fault::Stall(_) | Fault::More(_) => None,
        }
    }

    fn script(&self, random: &mut Random) -> Script {
        let length = self.request.length();
        let wanted = if self.is_early { 1 + random.below(length) } else { length };
        let segments = cut(random, &self.sent()).into_iter();
        let acts = segments.map(|bytes| (pause(random), bytes)).collect();
        Script { came: 0, wanted, acts, ends: self.resets().map(|resets| (pause(random), resets)) }
    }

    /// Whether all of a response comes.
    fn is_whole(&self) -> bool {
        let Answer { bytes, head, until_close, .. } = &self.answer;
        match self.fault {
            Fault::None | Fault::More(_) | Fault::Cancel(_) => true,
            Fault::Close(at) if *until_close => at >= head.end,
            Fault::Close(at) | Fault::Reset(at) => at == bytes.len() && !until_close,
            Fault::Stall(_) => false,
        }
    }

    /// What happens to the connection behind the exchange.
    fn leaves(&self) -> Option<Meanwhile> {
        match self.fault {
            Fault::Close(_) if self.is_early => Some(Meanwhile::Ended),
            Fault::Close(_) => Some(Meanwhile::Close),
            Fault::Reset(_) => Some(Meanwhile::Reset),
            Fault::More(_) => Some(Meanwhile::Bytes),
            Fault::None | Fault::Stall(_) | Fault::Cancel(_) => None,
        }
    }
}

/// One exchange; what happens to the connection behind it.
fn one(
    client: &Client,
    setting: &Setting,
    talk: &mut Talk,
    random: &mut Random,
) -> Option<Meanwhile> {
    let plan = Plan::any(random);
    talk.script.replace(plan.script(random));
    let (begin, progress) = (now(), Progress::default());
    let patience = match plan.fault {
        Fault::Cancel(after) => begin + after,
        _ => begin + PATIENCE,
    };
    let got = {
        let going = exchange(client, &mut talk.connection, &plan.request, plan.keep, &progress);
        setting.run(client, random, until(patience, going))
    };
    let (phase, bytes, reusable) =
        (progress.phase(), progress.take_bytes(), talk.connection.reusable());
    match got {
        None => {
            let may_end = matches!(plan.fault, Fault::Stall(_) | Fault::Cancel(_));
            assert!(may_end && !reusable, "{plan}: it never ends");
            if let Fault::Stall(at) = plan.fault {
                let expected = if at == 0 { Phase::FirstByte } else { Phase::Body };
                assert_eq!((phase, bytes.1), (expected, at as u64), "{plan}");
            }
        }
        Some(Ok(seen)) => {
            right(setting, talk, &plan, begin, &seen);
            assert_eq!(bytes, seen.bytes, "{plan}");
            let is_sent = bytes.0 == plan.request.length() as u64;
            assert!(plan.is_early || is_sent, "{plan}");
            let may_be = plan.answer.keeps_alive && seen.unsolicited == 0 && is_sent;
            assert!(reusable == may_be || (plan.is_early && !reusable), "{plan}");
        }
        Some(Err(error)) => {
            wrong(setting, &plan, &error);
            assert!(!reusable && bytes.1 <= plan.sent().len() as u64, "{plan}");
        }
    }
    talk.before += plan.sent().len();
    plan.leaves()
}

/// Checks a response that is complete.
fn right(setting: &Setting, talk: &Talk, plan: &Plan, begin: u64, seen: &Seen) {
    let Plan { answer, fault, keep, .. } = plan;
    assert!(plan.is_whole(), "{plan}: a part is taken for the whole");
    if let Fault::Close(at) = fault
        && answer.until_close
        && *at < answer.bytes.len()
    {
        assert!(seen.body.len() <= answer.body.len(), "{plan}");
        return;
    }
    assert_eq!((seen.status, &seen.trailers[..]), (answer.status, answer.trailers), "{plan}");
    assert_eq!(seen.head, answer.bytes[answer.head.clone()], "{plan}");
    assert_eq!(seen.body, answer.body[..answer.body.len().min(*keep as usize)], "{plan}");
    let is_unpacked = *keep > 0 || !seen.head.windows(4).any(|four| four == b"gzip");
    assert!(!is_unpacked || seen.body_length == answer.body.len() as u64, "{plan}");
    let whole = (answer.bytes.len() as u64).saturating_add(seen.unsolicited);
    assert_eq!(seen.bytes.1, whole, "{plan}");
    let Times { sent_ns, written_ns, first_byte_ns, end_ns, delay_ns, decompress_ns } = seen.times;
    assert!(begin <= sent_ns && sent_ns <= first_byte_ns, "{plan}: {:?}", seen.times);
    assert!(written_ns.is_none_or(|own| own == 0 || own >= sent_ns), "{plan}: {:?}", seen.times);
    assert!(first_byte_ns <= end_ns && end_ns + delay_ns.unwrap_or(0) <= now(), "{plan}");
    assert!(decompress_ns == 0, "no time passes without a wait");
    assert!(setting.window < usize::MAX || sent_ns == begin, "{plan}: {:?}", seen.times);
    let readable = |bytes| talk.socket.readable_ns(talk.before + bytes).expect("it came");
    let tick = talk.socket.tcp_info().inflow().tick_ns;
    let most = if setting.loss == 0 { 0 } else { 2 * tick + MS };
    assert!(readable(1) <= first_byte_ns + most, "{plan}: {:?}", seen.times);
    if answer.until_close || seen.unsolicited > 0 {
        assert!(readable(answer.bytes.len()) <= end_ns + most, "{plan}: {:?}", seen.times);
        return;
    }
    let truth = readable(answer.bytes.len());
    assert!(end_ns.abs_diff(truth) <= most, "{plan}: {truth}, {:?}", seen.times);
    assert!(delay_ns.is_some(), "{plan}: {:?}", seen.times);
}

/// Checks the error of a response that is not complete.
fn wrong(setting: &Setting, plan: &Plan, error: &Error) {
    let Plan { answer, fault, .. } = plan;
    // What was lost may come behind a reset, which ends the connection at once: the server's, or that of a request which it did
    // not take to its end.
    let may_break = matches!(fault, Fault::Reset(_)) || (plan.is_early && plan.resets().is_some());
    if setting.loss > 0 && may_break && error.kind() == ErrorKind::Reset {
        return;
    }
    if answer.is_packed && answer.until_close && error.kind() == ErrorKind::Decode {
        return;
    }
    assert!(!plan.is_whole(), "{plan}: {error}");
    let (at, kind) = match *fault {
        Fault::Close(at) => (at, ErrorKind::ClosedEarly),
        Fault::Reset(at) => (at, ErrorKind::Reset),
        _ => panic!("{plan}: {error}"),
    };
    assert_eq!(error.kind(), kind, "{plan}: {error}");
    assert_eq!(error.delivery(), Delivery::Acknowledged, "{plan}: {error}");
    assert!(!error.is_stale() && !error.is_unsolicited(), "{plan}: {error}");
    if kind == ErrorKind::ClosedEarly {
        let status = (at >= answer.head.end).then_some(answer.status);
        assert_eq!(error.status(), status, "{plan}: {error}");
    }
}

/// Something happens while the connection rests.
fn disturb(talk: &Talk, random: &mut Random) -> Meanwhile {
    use Meanwhile::{Bytes, Close, LastWord, Reset};
    let meanwhile = [Bytes, LastWord, Close, Reset][random.below(4)];
    let word = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    talk.socket.act(|out| match meanwhile {
        Meanwhile::Bytes => out.send(0, word),
        Meanwhile::LastWord => {
            out.send(0, word);
            out.close(0);
        }
        Meanwhile::Close => out.close(0),
        Meanwhile::Reset | Meanwhile::Ended => out.reset(0),
    });
    meanwhile
}

/// A request on a connection on which something has happened, which the event loop has seen or not, or which is on its way: it is
/// not answered by that.
fn try_spent(
    client: &Client,
    setting: &Setting,
    talk: &mut Talk,
    (meanwhile, random): (Meanwhile, &mut Random),
) {
    let later = 10_000 * MS;
    let when = random.below(3);
    match when {
        0 => setting.run(client, random, sleep_until(now() + later)),
        // Bytes on their way cannot be told from a response.
        1 if !matches!(meanwhile, Meanwhile::Bytes | Meanwhile::LastWord) => {}
        _ => advance(later),
    }
    *talk.script.borrow_mut() = Script { wanted: usize::MAX, ..Script::default() };
    let (request, progress) = (Request::any(random), Progress::default());
    let got = {
        let going = exchange(client, &mut talk.connection, &request, 0, &progress);
        setting.run(client, random, until(now() + PATIENCE, going)).expect("it ends")
    };
    let told = format!("{meanwhile:?}, seen {when}, {}", request.method);
    let error = got.err().unwrap_or_else(|| panic!("{told}: taken for a response"));
    let is_expected = match meanwhile {
        Meanwhile::Reset => error.kind() == ErrorKind::Reset,
        // The end may be lost, and come behind the reset that answers the request.
        Meanwhile::Close if setting.loss > 0 && error.kind() == ErrorKind::Reset => true,
        Meanwhile::Ended if error.kind() == ErrorKind::Reset => true,
        _ => error.kind() == ErrorKind::ClosedEarly,
    };
    let is_unsolicited = matches!(meanwhile, Meanwhile::Bytes | Meanwhile::LastWord);
    // An end that is on its way may come behind the request.
    let is_stale = is_unsolicited || talk.script.borrow().came == 0;
    assert!(is_expected && error.is_stale() == is_stale, "{told}: {error:?}");
    assert_eq!(error.is_unsolicited(), is_unsolicited, "{told}: {error}");
    if when == 0 {
        assert_eq!((error.delivery(), progress.take_bytes().0), (Delivery::NotSent, 0), "{told}");
    }
    assert!(!talk.connection.reusable(), "{told}");
}

#[test]
fn requests_are_answered_by_their_own_whole_responses_or_by_the_right_error() {
    tell(&FAILED, 3_000, |client, mut random| {
        let setting = Setting::any(&mut random);
        let mut talk = Talk::new(&setting, &mut random);
        for _ in 0..=random.below(6) {
            let mut meanwhile = one(client, &setting, &mut talk, &mut random);
            if !talk.connection.reusable() {
                talk = Talk::new(&setting, &mut random);
                continue;
            }
            if meanwhile.is_none() && random.below(5) == 0 {
                meanwhile = Some(disturb(&talk, &mut random));
            }
            if let Some(meanwhile) = meanwhile {
                try_spent(client, &setting, &mut talk, (meanwhile, &mut random));
                talk = Talk::new(&setting, &mut random);
            }
        }
    });
}

/// A server that answers with `answer` before all of the request has come, which the client cannot send at once; it may then
/// break the connection off. Found by seeds.
fn early(answer: &[u8], resets: bool) -> (Option<u16>, Phase, bool) {
    start();
    let client = client();
    let mut random = Random::new(0);
    let (delay_ns, loss, late, window) = (MS, 0, 1, 16);
    let setting = Setting { delay_ns, loss, late, window, is_in_ring: false };
    let mut talk = Talk::new(&setting, &mut random);
    *talk.script.borrow_mut() = Script {
        came: 0,
        wanted: 1,
        acts: vec![(0, answer.to_vec())],
        ends: resets.then_some((0, true)),
    };
    let head = b"POST / HTTP/1.1\r\n\r\n".to_vec();
    let request = Request { method: "POST", head, body: vec![b'b'; 400], is_streamed: false };
    let progress = Progress::default();
    let going = exchange(&client, &mut talk.connection, &request, 0, &progress);
    let got = setting.run(&client, &mut random, until(PATIENCE, going));
    let status = got.map(|got| got.expect("a response").status);
    (status, progress.phase(), talk.connection.reusable())
}

#[test]
fn who_waits_for_the_rest_of_a_response_that_began_early_waits_for_its_body() {
    let begun = early(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", false);
    assert_eq!(begun, (None, Phase::Body, false));
}

#[test]
fn a_connection_that_broke_before_all_was_sent_carries_no_other_request() {
    let answered = early(b"HTTP/1.1 204 OK\r\n\r\n", true);
    assert_eq!(answered, (Some(204), Phase::Idle, false));
}
