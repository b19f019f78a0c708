//! Undoes one encoding of a body, a piece at a time.

use super::codecs::{Codec, StreamPlace};
use super::encoding::Encoding;
use crate::error::Error;

/// How far a body may be decompressed.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub bytes: u64,
    /// Most bytes for each byte that came; [`FREE`] bytes are free.
    pub ratio: u64,
}

/// Bytes that are decompressed at a time.
const STEP: usize = 16 << 10;
/// Decompressed bytes for which the ratio plays no part: they are no harm, and a short text of one letter
/// is compressed well.
pub(super) const FREE: u64 = 1 << 20;

pub struct Decompressor {
    encoding: Encoding,
    codec: Codec,
    bounds: Bounds,
    /// What was decompressed last.
    step: Box<[u8]>,
    /// Bytes that came, and that were made of them.
    came: u64,
    made: u64,
    state: StreamPlace,
}

impl std::fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decompress").field("encoding", &self.encoding).finish_non_exhaustive()
    }
}

impl Decompressor {
    /// For one body.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn new(encoding: Encoding, bounds: Bounds) -> Result<Self, Error> {
        let codec = Codec::new(encoding).map_err(|reason| bad(encoding, &reason))?;
        let step = vec![0; STEP].into();
        Ok(Decompressor {
            encoding,
            codec,
            bounds,
            step,
            came: 0,
            made: 0,
            state: StreamPlace::Within,
        })
    }

    /// Decompresses a piece; what comes out goes to `emit`.
    ///
    /// # Errors
    /// The piece is not valid, or decompresses to more than the bounds allow; or `emit` failed.
    pub fn push(
        &mut self,
        mut piece: &[u8],
        emit: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        while self.state != StreamPlace::Ended {
            if self.state == StreamPlace::Between && piece.is_empty() {
                break;
            }
            let step = self.codec.step(piece, &mut self.step);
            let step = step.map_err(|reason| bad(self.encoding, &reason))?;
            piece = &piece[step.used..];
            self.state = step.state;
            self.came += step.used as u64;
            self.made += step.made as u64;
            self.check()?;
            emit(&self.step[..step.made])?;
            if step.used == 0 && step.made == 0 && step.state == StreamPlace::Within {
                break;
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Error> {
        if self.made > self.bounds.bytes {
            return Err(Error::body_too_large(self.bounds.bytes));
        }
        if self.made > FREE && self.made / self.bounds.ratio > self.came {
            return Err(Error::ratio_too_large(self.bounds.ratio));
        }
        Ok(())
    }

    /// The body is complete: so must be what was compressed in it. Servers that pack everything also say so of
    /// a body that is empty.
    ///
    /// # Errors
    /// It ended too early.
    pub fn finish(&self) -> Result<(), Error> {
        match self.state {
            StreamPlace::Within if self.came > 0 => {
                Err(bad(self.encoding, "the compressed data ends too early"))
            }
            _ => Ok(()),
        }
    }
}

fn bad(encoding: Encoding, reason: &str) -> Error {
    Error::decode(format!("{}: {reason}", encoding.name()))
}
