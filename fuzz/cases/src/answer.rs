//! Answers of servers, in one piece and in others: the same meaning however they arrive.

use squall_wire::{Answer, Step};

/// Reads an answer from pieces: whether it is whole, and its body; `None`: it is malformed.
fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Option<(bool, Vec<u8>)> {
    let (mut answer, mut body, mut held) = (Answer::new(false), Vec::new(), Vec::new());
    for piece in pieces {
        held.extend_from_slice(piece);
        loop {
            let taken = match answer.feed(&held, &mut |part| body.extend_from_slice(part)).ok()? {
                Step::NeedHead => break,
                Step::Head { end, .. } => end,
                Step::Body(taken) | Step::Done(taken) => taken,
            };
            held.drain(..taken);
            if answer.is_done() || taken == 0 || held.is_empty() {
                break;
            }
        }
    }
    Some((answer.is_done() || answer.closed(), body))
}

/// An answer in one piece, cut in two where the first two bytes say, and byte by byte.
fn same_in_pieces(cut: usize, bytes: &[u8]) {
    let cut = cut.min(bytes.len());
    let whole = read([bytes].into_iter());
    if whole.is_some() {
        assert_eq!(read([&bytes[..cut], &bytes[cut..]].into_iter()), whole, "cut at {cut}");
        if bytes.len() < 4_096 {
            assert_eq!(read(bytes.chunks(1)), whole, "byte by byte");
        }
    }
}

fn cut(bytes: &[u8]) -> (usize, &[u8]) {
    match bytes {
        [a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        rest => (0, rest),
    }
}

/// Any bytes as an answer; the first two say where it is cut.
pub(crate) fn response(bytes: &[u8]) {
    let (cut, bytes) = cut(bytes);
    same_in_pieces(cut, bytes);
}

/// Any bytes as a chunked body, and any body in chunks.
pub(crate) fn chunked(bytes: &[u8]) {
    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let (cut, bytes) = cut(bytes);
    same_in_pieces(HEAD.len() + cut, &[HEAD, bytes].concat());
    let mut encoded = HEAD.to_vec();
    for chunk in bytes.chunks(cut % 700 + 1) {
        encoded.extend_from_slice(format!("{:x};a=\"b\"\r\n", chunk.len()).as_bytes());
        encoded.extend_from_slice(chunk);
        encoded.extend_from_slice(b"\r\n");
    }
    encoded.extend_from_slice(b"0\r\nTrailer: x\r\n\r\n");
    assert_eq!(read([encoded.as_slice()].into_iter()), Some((true, bytes.to_vec())));
}
