//! What becomes of a response's body as it comes, whatever the protocol: it is counted, bounded, given to the sink, and its
//! beginning kept. One that is to be decompressed is held until all of it has come: whoever decompresses does not read
//! meanwhile, and its server has to wait. A very large one is decompressed as it comes, in constant memory. No I/O.

use crate::decompress::{Bounds, Codings, Undo};
use crate::error::Error;
use crate::message::Expect;

/// Bytes of a compressed body that are decompressed before others have their turn: some 0.2 ms of text.
const TURN: usize = 8 << 10;
/// Bytes of a compressed body that are held, at least as many as nearly all bodies have. The rest of a larger one is decompressed as
/// it comes.
const HELD: usize = 4 << 20;

/// Takes the body of one response.
pub(crate) struct Intake<'a> {
    pub expect: Expect<'a>,
    undo: Option<Undo>,
    /// What has come of a compressed body, and how much of that was decompressed.
    compressed: Vec<u8>,
    decompressed: usize,
    /// Whether more has come than is held.
    is_very_large: bool,
    /// Kept body, of responses that come in more than one piece.
    kept: Vec<u8>,
    /// Bytes of the body as sent.
    bytes: u64,
    /// Bytes of the body, decompressed.
    length: u64,
}

impl<'a> Intake<'a> {
    pub(crate) fn new(expect: Expect<'a>) -> Self {
        Intake {
            expect,
            undo: None,
            compressed: Vec::new(),
            decompressed: 0,
            is_very_large: false,
            kept: Vec::new(),
            bytes: 0,
            length: 0,
        }
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
        self.bytes += piece.len() as u64;
        if self.bytes > self.expect.max_body {
            return Err(Error::body_too_large(self.expect.max_body));
        }
        if self.undo.is_none() {
            self.length += piece.len() as u64;
            return take_plain(&mut self.expect, &mut self.kept, piece);
        }
        self.compressed.extend_from_slice(piece);
        self.is_very_large |= self.compressed.len() >= HELD;
        if self.is_very_large {
            // A part more than has come: what was held goes little by little, and nobody waits for all of it.
            let parts = piece.len().div_ceil(TURN) + 1;
            for _ in 0..parts {
                if !self.decompress_part()? {
                    break;
                }
            }
            if self.decompressed >= HELD / 2 {
                self.compressed.drain(..std::mem::take(&mut self.decompressed));
            }
        }
        Ok(())
    }

    /// Whether the body has to be decompressed when all of it has come.
    pub(crate) fn is_compressed(&self) -> bool {
        self.undo.is_some()
    }

    /// Decompresses the next part of a body that has come whole; `false`: that was the last one.
    pub(crate) fn decompress(&mut self) -> Result<bool, Error> {
        if self.decompress_part()? {
            return Ok(true);
        }
        self.compressed = Vec::new();
        self.undo.as_ref().map_or(Ok(false), |undo| undo.finish().map(|()| false))
    }

    /// Decompresses the next part of what is held; `false`: that was the last one.
    fn decompress_part(&mut self) -> Result<bool, Error> {
        let Intake { expect, undo: Some(undo), compressed, decompressed, kept, length, .. } = self
        else {
            return Ok(false);
        };
        let to = compressed.len().min(*decompressed + TURN);
        undo.push(&compressed[*decompressed..to], &mut |piece| {
            *length += piece.len() as u64;
            take_plain(expect, kept, piece)
        })?;
        *decompressed = to;
        Ok(to < compressed.len())
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
        assert_eq!(undone.length(), 0, "nobody has to wait for it while more is to come");
        assert_eq!(undone.decompress().map_err(|error| error.to_string()), Ok(false));
        assert_eq!(undone.kept(), b"aaa");
        assert_eq!((undone.bytes(), undone.length()), (packed.len() as u64, 1_000));
    }

    #[test]
    fn a_body_of_any_size_is_held_in_constant_memory() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
        encoder.write_all(&vec![b'a'; 5 * HELD + 1]).expect("memory");
        let packed = encoder.finish().expect("memory");
        let mut codings = Codings::default();
        codings.add(b"gzip");
        let mut intake = Intake::new(Expect { max_body: u64::MAX, ..expect() });
        intake.undo(&codings, "gzip").expect("a known coding");
        for piece in packed.chunks(1 << 20) {
            intake.take(piece).expect("it is not too large");
            assert!(intake.compressed.len() < 2 * HELD);
        }
        while intake.decompress().expect("it is valid") {}
        assert_eq!((intake.kept(), intake.length()), (&b"aaa"[..], 5 * HELD as u64 + 1));
    }

    #[test]
    fn a_large_body_is_decompressed_in_parts() {
        let mut random = squall_base::random::Random::new(1);
        let text: Vec<u8> = (0..5 * TURN).map(|_| random.below(256) as u8).collect();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&text).expect("memory");
        let packed = encoder.finish().expect("memory");
        let mut codings = Codings::default();
        codings.add(b"gzip");
        let whole = |packed: &[u8]| {
            let mut intake = Intake::new(expect());
            intake.undo(&codings, "gzip").expect("a known coding");
            intake.take(packed).expect("it is not too large");
            intake
        };
        let mut intake = whole(&packed);
        let mut lengths = Vec::new();
        while intake.decompress().expect("it is valid") {
            lengths.push(intake.length());
        }
        assert_eq!(lengths.len(), 5, "{lengths:?}");
        assert!(lengths.is_sorted() && lengths[0] < intake.length());
        assert_eq!(intake.length(), text.len() as u64);
        let mut cut = whole(&packed[..packed.len() - 9]);
        let ended = (0..9).find_map(|_| cut.decompress().err()).expect("it ends too early");
        assert!(ended.to_string().contains("too early"), "{ended}");
    }
}
