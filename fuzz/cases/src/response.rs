//! Responses of servers, in one piece and in others: the same meaning however they arrive.

use squall_wire::{
    Bounds, BytesEnd, Decompressor, Encoding, Fields, Framed, Framing, Parsed, ResponseParser,
};

/// Reads a response from pieces: whether it is whole, and its body; `None`: it is malformed.
fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Option<(bool, Vec<u8>)> {
    let (mut parser, mut body, mut held) = (ResponseParser::new(false), Vec::new(), Vec::new());
    for piece in pieces {
        held.extend_from_slice(piece);
        loop {
            let taken = match parser.feed(&held, &mut |part| body.extend_from_slice(part)).ok()? {
                Parsed::NeedHead => break,
                Parsed::Head { end, .. } => end,
                Parsed::Body(taken) | Parsed::Done(taken) => taken,
            };
            held.drain(..taken);
            if parser.is_done() || taken == 0 || held.is_empty() {
                break;
            }
        }
    }
    Some((parser.is_done() || parser.closed(), body))
}

/// A response in one piece, cut in two where the first two bytes say, and byte by byte.
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

/// Any bytes as a response; the first two say where it is cut.
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

/// Most decompressed bytes of a fuzzed body.
const DECOMPRESSED: usize = 1 << 20;

/// A compressed body in pieces; `None`: it is badly compressed, or too large.
fn decompressed(encoding: Encoding, bytes: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let bounds = Bounds { bytes: DECOMPRESSED as u64, ratio: u64::MAX };
    let mut decompressor = Decompressor::new(encoding, bounds).ok()?;
    let result = bytes.chunks(size).try_for_each(|piece| {
        decompressor.push(piece, &mut |piece| {
            out.extend_from_slice(piece);
            Ok(())
        })
    });
    assert!(out.len() <= DECOMPRESSED);
    result.and_then(|()| decompressor.finish()).ok().map(|()| out)
}

/// Any bytes as a compressed body; the first one says how it is compressed.
pub(crate) fn decompress(bytes: &[u8]) {
    let [kind, bytes @ ..] = bytes else { return };
    let names: [&[u8]; 4] = [b"gzip", b"deflate", b"br", b"zstd"];
    let encoding = Encoding::of(names[usize::from(kind % 4)]).expect("a name of an encoding");
    let whole = decompressed(encoding, bytes, bytes.len().max(1));
    if whole.is_some() && bytes.len() < 4_096 {
        assert_eq!(decompressed(encoding, bytes, 1), whole, "byte by byte");
    }
}

/// Any bytes without a protocol of their own: the first says where they end, the next three in what pieces they come.
/// Nothing behind the end is taken, and what ends by its length is the same in one piece.
pub(crate) fn framing(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let Some((lengths, stream)) = rest.split_at_checked(3) else { return };
    let end = match kind % 4 {
        0 => BytesEnd::Close,
        1 => BytesEnd::Byte(kind / 4),
        2 => BytesEnd::Length(u64::from(kind / 4)),
        _ => BytesEnd::Prefixed(kind / 4 % 8 + 1),
    };
    let read = |pieces: &[u8]| {
        let (mut framing, mut body, mut at) = (Framing::new(end), Vec::new(), 0);
        let mut pieces = pieces.iter().cycle();
        while !framing.has_ended() && at < stream.len() {
            let most = pieces.next().map_or(stream.len(), |piece| usize::from(*piece) + 1);
            let piece = &stream[at..][..most.min(framing.room()).min(stream.len() - at)];
            assert!(!piece.is_empty(), "there is no end, and no room");
            match framing.take(piece) {
                Framed::Body => body.extend_from_slice(piece),
                Framed::Prefix | Framed::Announced(_) => assert!(body.is_empty()),
            }
            at += piece.len();
        }
        (body, at, framing.has_ended())
    };
    let found = read(lengths);
    if !matches!(end, BytesEnd::Byte(_)) {
        assert_eq!(read(&[]), found, "in one piece");
    }
    let (body, at, has_ended) = found;
    assert!(at <= stream.len() && stream[..at].ends_with(&body));
    match end {
        BytesEnd::Close => assert!(!has_ended && body == stream),
        BytesEnd::Byte(last) => assert_eq!(has_ended, body.last() == Some(&last)),
        BytesEnd::Length(length) => assert_eq!(has_ended, body.len() as u64 == length),
        BytesEnd::Prefixed(size) => assert!(!has_ended || at == usize::from(size) + body.len()),
    }
}

/// Any bytes as what a proxy says to CONNECT, whose response has a head alone; the first two say where it is cut.
pub(crate) fn connect(bytes: &[u8]) {
    let (cut, bytes) = cut(bytes);
    let head = |pieces: &[&[u8]]| {
        let (mut parser, mut held) = (ResponseParser::new(true), Vec::new());
        for piece in pieces {
            held.extend_from_slice(piece);
            if let Parsed::Head { end, .. } = parser.feed(&held, &mut |_| ()).ok()? {
                return Some(held[..end].to_vec());
            }
        }
        None
    };
    let whole = head(&[bytes]);
    if whole.is_some() {
        let cut = cut.min(bytes.len());
        assert_eq!(head(&[&bytes[..cut], &bytes[cut..]]), whole, "cut at {cut}");
    }
}

/// Lines of method, authority, path, and headers of a request: HTTP/2 refuses them, or its text has a line for each and no more.
pub(crate) fn http2_fields(bytes: &[u8]) {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let mut text = || String::from_utf8_lossy(lines.next().unwrap_or_default());
    let (method, authority) = (text(), text());
    let path = lines.next().unwrap_or_default();
    let Ok(mut fields) = Fields::new(&method, true, &authority, path) else { return };
    let mut taken = 0;
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        taken += usize::from(fields.push(&line[..colon], value).is_ok());
    }
    let text = fields.text();
    let ends = text.iter().filter(|byte| **byte == b'\n').count();
    assert!(text.ends_with(b"\r\n\r\n") && ends <= taken + 3, "{}", String::from_utf8_lossy(&text));
}
