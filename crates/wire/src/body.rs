//! Bodies that do not lie in memory: sources of what is sent, sinks of what came, and what unpacks it.

use std::fs::File;
use std::io;

use flate2::{Decompress, FlushDecompress, Status};

use crate::error::Error;

/// A body that is read while it is sent.
pub trait BodySource {
    /// Reads the next bytes into `buffer`; 0: there are no more.
    ///
    /// # Errors
    /// The source cannot be read.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// The file that comes next from where it stands, and how much of it: the kernel can send it
    /// without its being read. `None`: what comes next has to be read.
    fn file(&mut self) -> Option<(&File, u64)> {
        None
    }

    /// So much of that file was sent, and it stands behind that.
    fn sent(&mut self, _bytes: u64) {}
}

/// Where a body goes as it comes.
pub trait BodySink {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// They cannot be taken (a full disk).
    fn write(&mut self, piece: &[u8]) -> io::Result<()>;
}

/// Unpacks gzip (RFC 1952) as it comes, within a limit.
pub(crate) struct Unpack {
    inflate: Decompress,
    /// What was unpacked last.
    step: Vec<u8>,
    header: Header,
    ended: bool,
}

/// Where in a gzip header the bytes are.
enum Header {
    /// These bytes of it have come.
    Partial(Vec<u8>),
    Done,
}

/// Bytes that are unpacked at a time.
const STEP: usize = 16 << 10;
/// Most bytes of a gzip header (it may hold a name and a comment).
const MAX_HEADER: usize = 64 << 10;

impl Unpack {
    pub(crate) fn new() -> Self {
        let inflate = Decompress::new(false);
        let (header, step) = (Header::Partial(Vec::new()), Vec::with_capacity(STEP));
        Unpack { inflate, step, header, ended: false }
    }

    /// Unpacks a piece; what comes out goes to `emit`. All together may be `limit` bytes.
    pub(crate) fn push(
        &mut self,
        piece: &[u8],
        limit: u64,
        emit: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Header::Partial(held) = &mut self.header else {
            return self.inflate(piece, limit, emit);
        };
        held.extend_from_slice(piece);
        match header_length(held)? {
            None if held.len() > MAX_HEADER => Err(Error::decode("the gzip header does not end")),
            None => Ok(()),
            Some(length) => {
                let rest = held.split_off(length);
                self.header = Header::Done;
                self.inflate(&rest, limit, emit)
            }
        }
    }

    fn inflate(
        &mut self,
        mut piece: &[u8],
        limit: u64,
        emit: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while !self.ended {
            self.step.clear();
            let before = self.inflate.total_in();
            let status = self
                .inflate
                .decompress_vec(piece, &mut self.step, FlushDecompress::None)
                .map_err(|error| Error::decode(format!("gzip: {error}")))?;
            let used = (self.inflate.total_in() - before) as usize;
            piece = piece.get(used..).unwrap_or_default();
            self.ended = status == Status::StreamEnd;
            if self.inflate.total_out() > limit {
                return Err(Error::body_too_large(limit));
            }
            emit(&self.step)?;
            if used == 0 && self.step.is_empty() {
                break;
            }
        }
        // The checksum behind the end is not looked at; a second member is rare and is left packed.
        Ok(())
    }

    /// The body is complete: so must be what was packed in it.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        if self.ended { Ok(()) } else { Err(Error::decode("gzip: the packed data ends too early")) }
    }
}

/// Length of a gzip header; `None`: it is not complete.
fn header_length(bytes: &[u8]) -> Result<Option<usize>, Error> {
    let Some((fixed, _)) = bytes.split_at_checked(10) else { return Ok(None) };
    if !fixed.starts_with(&[0x1f, 0x8b, 8]) {
        return Err(Error::decode("the body is not gzip, though its head says so"));
    }
    let flags = fixed[3];
    let mut at = 10;
    if flags & 4 != 0 {
        let Some(&[low, high]) = bytes.get(at..at + 2) else { return Ok(None) };
        at += 2 + usize::from(u16::from_le_bytes([low, high]));
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            let Some(rest) = bytes.get(at..) else { return Ok(None) };
            let Some(end) = memchr::memchr(0, rest) else { return Ok(None) };
            at += end + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    Ok((bytes.len() >= at).then_some(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    }

    fn into(out: &mut Vec<u8>) -> impl FnMut(&[u8]) -> Result<(), Error> {
        |piece| {
            out.extend_from_slice(piece);
            Ok(())
        }
    }

    #[test]
    fn gzip_is_unpacked_in_pieces_of_any_size() {
        let text = b"hello hello hello ".repeat(5_000);
        let packed = packed(&text);
        for size in [1, 3, 10, 1_000, packed.len()] {
            let (mut unpack, mut out) = (Unpack::new(), Vec::new());
            for piece in packed.chunks(size) {
                unpack.push(piece, 1 << 20, &mut into(&mut out)).expect("gzip");
            }
            unpack.finish().expect("complete");
            assert_eq!(out, text);
        }
    }

    #[test]
    fn a_bomb_is_bounded_and_rubbish_is_an_error() {
        let bomb = packed(&vec![0; 50 << 20]);
        let (mut unpack, mut out) = (Unpack::new(), Vec::new());
        assert!(unpack.push(&bomb, 1 << 20, &mut into(&mut out)).is_err());
        assert!(out.len() <= 1 << 20);
        assert!(Unpack::new().push(b"no gzip at all", 100, &mut |_| Ok(())).is_err());
        let mut cut = Unpack::new();
        cut.push(&bomb[..1_000], 1 << 30, &mut |_| Ok(())).expect("a beginning");
        assert!(cut.finish().is_err());
    }
}
