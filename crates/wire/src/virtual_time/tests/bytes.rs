//! Bytes without a protocol of their own: their ends, on connections that end, break or stall anywhere.

use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::{
    BytesEnd, BytesOut, Connection, Delivery, Error, ErrorKind, Expect, Phase, Progress, Response,
    Times,
};

/// Seeds that have failed.
const FAILED: [u64; 0] = [];

/// What becomes of the reply after its last byte that is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum After {
    Close,
    Reset,
    Nothing,
}

/// What comes before the end, if that comes; and how many bytes of the reply it takes.
struct Expected {
    body: Vec<u8>,
    taken: usize,
}

/// `None`: the end does not come with these bytes alone.
fn expected(end: BytesEnd, reply: &[u8]) -> Option<Expected> {
    let whole = |from: usize, length: usize| {
        let body = reply.get(from..from.checked_add(length)?)?.to_vec();
        Some(Expected { body, taken: from + length })
    };
    match end {
        BytesEnd::Close | BytesEnd::Byte(_) => None,
        BytesEnd::Length(length) => whole(0, length as usize),
        BytesEnd::Prefixed(size) => {
            let prefix = reply.get(..usize::from(size))?;
            let length = prefix.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            whole(usize::from(size), length)
        }
    }
}

struct Seen {
    body: Vec<u8>,
    bytes: (u64, u64),
    times: Times,
}

async fn exchange(
    client: &Client,
    connection: &mut Connection,
    out: BytesOut<'_>,
    progress: &Progress,
) -> Result<Seen, Error> {
    let expect = Expect {
        keep: u64::MAX,
        sink: None,
        max_body: 1 << 20,
        max_decompression_ratio: 1,
        decompress: false,
        throttle: None,
    };
    let done = |got: &Response<'_>, times: Times| Seen {
        body: got.body.to_vec(),
        bytes: (got.bytes_out, got.bytes_in),
        times,
    };
    connection.exchange_bytes(client, out, expect, progress, done).await
}

/// One exchange on a new connection.
fn one(client: &Client, random: &mut Random) {
    let setting = Setting::any(random);
    let asked = vec![b'?'; 1 + random.below(500)];
    let size = 1 + random.below(4) as u8;
    let length = random.below(200);
    let end = match random.below(4) {
        0 => BytesEnd::Close,
        1 => BytesEnd::Byte(b'\n'),
        2 => BytesEnd::Length(length as u64),
        _ => BytesEnd::Prefixed(size),
    };
    let mut reply = match end {
        BytesEnd::Prefixed(_) => (length as u32).to_be_bytes()[4 - usize::from(size)..].to_vec(),
        _ => Vec::new(),
    };
    reply.extend((0..length).map(|_| [b'a', b'b', b'\n'][random.below(3)]));
    reply.truncate([reply.len(), random.below(reply.len() + 1)][random.below(2)]);
    let after = [After::Close, After::Reset, After::Nothing, After::Nothing][random.below(4)];
    let acts: Vec<_> =
        cut(random, &reply).into_iter().map(|bytes| (pause(random), bytes)).collect();
    let last = pause(random);
    let (wanted, came) = (asked.len(), RefCell::new(0));
    let peer = move |bytes: &[u8], out: &mut Outbound| {
        *came.borrow_mut() += bytes.len();
        if *came.borrow() < wanted {
            return;
        }
        let mut at = 0;
        for (pause, bytes) in &acts {
            at += pause;
            out.send(at, bytes);
        }
        match after {
            After::Close => out.close(at + last),
            After::Reset => out.reset(at + last),
            After::Nothing => {}
        }
    };
    let socket = VirtualSocket::new(setting.path(random), peer);
    let mut connection = Connection::new(Link::Virtual(socket.clone()));
    let ends_with_close = random.below(2) == 0;
    let progress = Rc::new(Progress::default());
    let out = BytesOut { bytes: &asked, end, ends_with_close };
    let got = {
        let going = exchange(client, &mut connection, out, &progress);
        setting.run(client, random, until(PATIENCE, going))
    };
    let told = format!("{end:?} {after:?} closes: {ends_with_close} {reply:?}");
    let whole = expected(end, &reply);
    let may_close = end == BytesEnd::Close || ends_with_close;
    match got {
        None => {
            assert!(after == After::Nothing && whole.is_none(), "{told}: it never ends");
            let phase = if reply.is_empty() { Phase::FirstByte } else { Phase::Body };
            assert!(progress.phase() == phase && !connection.reusable(), "{told}");
        }
        Some(Ok(seen)) => {
            let body = &seen.body[..];
            match (&whole, end) {
                (Some(Expected { body: expected, .. }), _) => assert_eq!(body, expected, "{told}"),
                (None, BytesEnd::Byte(last)) if body.last() == Some(&last) => {
                    assert!(reply.starts_with(body), "{told}");
                }
                (None, BytesEnd::Prefixed(size)) => {
                    assert!(after == After::Close && may_close, "{told}");
                    assert_eq!(body, reply.get(usize::from(size)..).unwrap_or_default(), "{told}");
                }
                (None, _) => {
                    assert!(after == After::Close && may_close, "{told}: it has not ended");
                    assert_eq!(body, reply, "{told}");
                }
            }
            assert_eq!(seen.bytes.0, asked.len() as u64, "{told}");
            assert_eq!(progress.take_bytes(), seen.bytes, "{told}");
            let Times { sent_ns, first_byte_ns, end_ns, delay_ns, .. } = seen.times;
            assert!(sent_ns <= first_byte_ns && first_byte_ns <= end_ns, "{told}");
            assert!(end_ns + delay_ns.unwrap_or(0) <= now(), "{told}");
            if let Some(Expected { taken: 1.., .. }) = whole {
                let truth = socket.readable_ns(seen.bytes.1 as usize).expect("it came");
                let tick = socket.tcp_info().inflow().tick_ns;
                let most = if setting.loss == 0 { 0 } else { 2 * tick + MS };
                assert!(end_ns.abs_diff(truth) <= most, "{told}: {truth} {:?}", seen.times);
            }
        }
        Some(Err(error)) => {
            let kind = match after {
                After::Close => ErrorKind::ClosedEarly,
                After::Reset => ErrorKind::Reset,
                After::Nothing => panic!("{told}: {error}"),
            };
            let is_lost = after == After::Reset && setting.loss > 0;
            assert!(whole.is_none() || is_lost, "{told}: {error}");
            assert!(after == After::Reset || !may_close, "{told}: {error}");
            assert_eq!((error.kind(), error.delivery()), (kind, Delivery::Acknowledged), "{told}");
            assert!(!connection.reusable(), "{told}");
        }
    }
}

#[test]
fn replies_of_bytes_end_where_they_should_or_with_the_right_error() {
    tell(&FAILED, 10_000, |client, mut random| one(client, &mut random));
}
