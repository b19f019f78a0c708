//! What becomes of a response's body as it comes, whatever the protocol: it is counted, bounded,
//! decompressed, given to the sink, and its beginning kept. No I/O.

use crate::decompress::{Bounds, Codings, Undo};
use crate::error::Error;
use crate::message::Expect;

/// Takes the body of one response.
pub(crate) struct Intake<'a> {
    pub expect: Expect<'a>,
    undo: Option<Undo>,
    /// Kept body, of responses that come in more than one piece.
    kept: Vec<u8>,
    /// Bytes of the body as sent.
    bytes: u64,
    /// Bytes of the body, decompressed.
    length: u64,
}

impl<'a> Intake<'a> {
    pub(crate) fn new(expect: Expect<'a>) -> Self {
        Intake { expect, undo: None, kept: Vec::new(), bytes: 0, length: 0 }
    }

    /// A body of so many bytes is announced.
    pub(crate) fn announce(&self, length: u64) -> Result<(), Error> {
        match length > self.expect.max_body {
            true => Err(Error::body_too_large(self.expect.max_body)),
            false => Ok(()),
        }
    }

    /// Whether the codings that the head names are to be undone: not if nobody looks at the body.
    pub(crate) fn undoes(&self, codings: &Codings) -> bool {
        let looks = self.expect.keep > 0 || self.expect.sink.is_some();
        !codings.is_empty() && looks && self.expect.decompress
    }

    /// The body that comes is compressed; `lines` is what the head says of it.
    pub(crate) fn undo(&mut self, codings: &Codings, lines: &str) -> Result<(), Error> {
        let Expect { max_body: bytes, max_decompression_ratio: ratio, .. } = self.expect;
        self.undo = Some(Undo::new(codings, Bounds { bytes, ratio }, lines)?);
        Ok(())
    }

    /// Takes the next piece.
    pub(crate) fn take(&mut self, piece: &[u8]) -> Result<(), Error> {
        let Intake { expect, undo, kept, bytes, length } = self;
        *bytes += piece.len() as u64;
        if *bytes > expect.max_body {
            return Err(Error::body_too_large(expect.max_body));
        }
        match undo {
            Some(undo) => undo.push(piece, &mut |piece| {
                *length += piece.len() as u64;
                take_plain(expect, kept, piece)
            }),
            None => {
                *length += piece.len() as u64;
                take_plain(expect, kept, piece)
            }
        }
    }

    /// Takes a whole body that is not compressed; returns what of it is kept, where it lies.
    pub(crate) fn take_whole<'b>(&mut self, body: &'b [u8]) -> Result<&'b [u8], Error> {
        (self.bytes, self.length) = (body.len() as u64, body.len() as u64);
        if let Some(sink) = &mut self.expect.sink {
            sink.write(body).map_err(|error| Error::sink(&error))?;
        }
        Ok(&body[..self.expect.keep.min(self.bytes) as usize])
    }

    /// Whether anybody still looks at what comes.
    pub(crate) fn looks(&self) -> bool {
        self.expect.sink.is_some()
            || self.undo.is_some()
            || (self.kept.len() as u64) < self.expect.keep
    }

    /// So many bytes were thrown away unseen.
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.length += bytes;
    }

    /// The body is complete.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        self.undo.as_ref().map_or(Ok(()), Undo::finish)
    }

    /// Bytes of the body as sent.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of the body, decompressed.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// What was kept of it, decompressed.
    pub(crate) fn kept(&self) -> &[u8] {
        &self.kept
    }

    /// As [`Intake::kept`], taken out.
    pub(crate) fn take_kept(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.kept)
    }
}

fn take_plain(expect: &mut Expect<'_>, kept: &mut Vec<u8>, piece: &[u8]) -> Result<(), Error> {
    if let Some(sink) = &mut expect.sink {
        sink.write(piece).map_err(|error| Error::sink(&error))?;
    }
    let room = usize::try_from(expect.keep).unwrap_or(usize::MAX).saturating_sub(kept.len());
    kept.extend_from_slice(&piece[..piece.len().min(room)]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn expect() -> Expect<'static> {
        Expect {
            keep: 3,
            sink: None,
            max_body: 1 << 20,
            max_decompression_ratio: 1_000,
            decompress: true,
            throttle: None,
        }
    }

    #[test]
    fn the_length_of_a_body_is_known_however_it_comes_and_however_much_is_kept() {
        let text = [b'a'; 1_000];
        let mut plain = Intake::new(expect());
        text[..600].chunks(7).for_each(|piece| plain.take(piece).expect("a piece"));
        plain.skip(400);
        assert_eq!((plain.kept(), plain.bytes(), plain.length()), (&b"aaa"[..], 1_000, 1_000));
        let mut whole = Intake::new(expect());
        assert_eq!(whole.take_whole(&text).expect("a body"), b"aaa");
        assert_eq!((whole.bytes(), whole.length()), (1_000, 1_000));
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&text).expect("memory");
        let packed = encoder.finish().expect("memory");
        let mut codings = Codings::default();
        codings.add(b"gzip");
        let mut undone = Intake::new(expect());
        undone.undo(&codings, "gzip").expect("a known coding");
        packed.chunks(7).for_each(|piece| undone.take(piece).expect("a piece"));
        undone.finish().expect("all of it");
        assert_eq!(undone.kept(), b"aaa");
        assert_eq!((undone.bytes(), undone.length()), (packed.len() as u64, 1_000));
    }
}
