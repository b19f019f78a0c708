//! Where a body ends, and its content without what frames it (RFC 9112, sections 6 and 7).

use super::head::Framing;
use super::malformed::Malformed;

/// Most bytes of a line with a chunk's size, extensions included, and of all trailers.
const MAX_LINE: usize = 16 << 10;

/// Takes the bytes of a body and gives its content.
#[derive(Debug)]
pub(crate) struct Decoder(BodyState);

#[derive(Debug)]
enum BodyState {
    /// So many bytes are to come.
    Length(u64),
    UntilClose,
    /// In a chunk's size; how many bytes the line has had.
    Size {
        size: u64,
        digits: u8,
        length: usize,
    },
    /// Behind a chunk's size: spaces, by which some servers fill it up.
    Padding {
        size: u64,
        length: usize,
    },
    /// Behind a chunk's size and its CR: only LF may follow.
    SizeEnd {
        size: u64,
    },
    /// Behind a chunk's size: extensions, which mean nothing here.
    Extension {
        size: u64,
        length: usize,
    },
    /// In a chunk: so many bytes are to come.
    Chunk(u64),
    /// Behind a chunk: its line end. Whether the CR has come.
    ChunkEnd {
        cr: bool,
    },
    /// Trailers: bytes so far, bytes in the present line, and whether its CR has come.
    Trailers {
        total: usize,
        line: usize,
        cr: bool,
    },
    Done,
}

impl Decoder {
    pub(crate) fn new(framing: Framing) -> Self {
        Decoder(match framing {
            Framing::Length(0) => BodyState::Done,
            Framing::Length(length) => BodyState::Length(length),
            Framing::UntilClose => BodyState::UntilClose,
            Framing::Chunked => BodyState::Size { size: 0, digits: 0, length: 0 },
        })
    }

    pub(crate) fn is_done(&self) -> bool {
        matches!(self.0, BodyState::Done)
    }

    /// Whether a line has begun behind the last chunk; the empty one that ends the body is none.
    fn is_in_trailer(&self) -> bool {
        matches!(self.0, BodyState::Trailers { line: 1.., .. })
    }

    pub(crate) fn ends_with_connection(&self) -> bool {
        matches!(self.0, BodyState::UntilClose)
    }

    pub(crate) fn has_length(&self) -> bool {
        matches!(self.0, BodyState::Length(_))
    }

    /// Bytes of content that follow one another from here on, as far as it is known.
    pub(crate) fn plain_rest(&self) -> u64 {
        match self.0 {
            BodyState::Length(rest) | BodyState::Chunk(rest) => rest,
            BodyState::UntilClose => u64::MAX,
            _ => 0,
        }
    }

    /// So many bytes of the plain rest have been thrown away unseen.
    pub(crate) fn skip(&mut self, bytes: u64) {
        match &mut self.0 {
            BodyState::Length(rest) => {
                *rest = rest.saturating_sub(bytes);
                if *rest == 0 {
                    self.0 = BodyState::Done;
                }
            }
            BodyState::Chunk(rest) => {
                *rest = rest.saturating_sub(bytes);
                if *rest == 0 {
                    self.0 = BodyState::ChunkEnd { cr: false };
                }
            }
            _ => {}
        }
    }

    /// Reads from `bytes`; returns how many were used, and whether the body is complete. Lines behind the last chunk go to
    /// `trailers`, at most 16 KiB.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        trailers: &mut Vec<u8>,
        content: &mut impl FnMut(&[u8]),
    ) -> Result<(usize, bool), Malformed> {
        let mut at = 0;
        while at < bytes.len() && !self.is_done() {
            let plain = self.plain_rest();
            if plain > 0 {
                let take = usize::try_from(plain).unwrap_or(usize::MAX).min(bytes.len() - at);
                content(&bytes[at..at + take]);
                self.skip(take as u64);
                at += take;
            } else {
                let was_in_trailer = self.is_in_trailer();
                self.frame(bytes[at])?;
                if was_in_trailer || self.is_in_trailer() {
                    trailers.push(bytes[at]);
                }
                at += 1;
            }
        }
        Ok((at, self.is_done()))
    }

    /// One byte of what frames chunks.
    fn frame(&mut self, byte: u8) -> Result<(), Malformed> {
        self.0 = match self.0 {
            BodyState::Size { size, digits, length } => size_byte(size, digits, length, byte)?,
            BodyState::Extension { size, .. } | BodyState::SizeEnd { size } if byte == b'\n' => {
                after_size(size)
            }
            BodyState::Padding { size, length } => after_digits(size, length + 1, byte)?,
            BodyState::SizeEnd { .. } => return Err(Malformed("a CR in a chunk's size")),
            BodyState::Extension { size, .. } if byte == b'\r' => BodyState::SizeEnd { size },
            BodyState::Extension { length, .. } if length >= MAX_LINE => {
                return Err(Malformed("a chunk's extensions are larger than 16 KiB"));
            }
            BodyState::Extension { size, length } => {
                BodyState::Extension { size, length: length + 1 }
            }
            BodyState::ChunkEnd { cr: false } if byte == b'\r' => BodyState::ChunkEnd { cr: true },
            BodyState::ChunkEnd { .. } if byte == b'\n' => {
                BodyState::Size { size: 0, digits: 0, length: 0 }
            }
            BodyState::ChunkEnd { .. } => {
                return Err(Malformed("a chunk does not end with a line end"));
            }
            BodyState::Trailers { line: 0, .. } if byte == b'\n' => BodyState::Done,
            BodyState::Trailers { total, .. } if total >= MAX_LINE => {
                return Err(Malformed("the trailers are larger than 16 KiB"));
            }
            BodyState::Trailers { total, .. } if byte == b'\n' => {
                BodyState::Trailers { total: total + 1, line: 0, cr: false }
            }
            BodyState::Trailers { cr: true, .. } => return Err(Malformed("a CR in the trailers")),
            BodyState::Trailers { total, line, .. } if byte == b'\r' => {
                BodyState::Trailers { total: total + 1, line, cr: true }
            }
            BodyState::Trailers { total, line, .. } => {
                BodyState::Trailers { total: total + 1, line: line + 1, cr: false }
            }
            // The others are read by length, not byte by byte.
            BodyState::Length(_)
            | BodyState::UntilClose
            | BodyState::Chunk(_)
            | BodyState::Done => BodyState::Done,
        };
        Ok(())
    }
}

fn size_byte(size: u64, digits: u8, length: usize, byte: u8) -> Result<BodyState, Malformed> {
    let digit = match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'f' => byte - b'a' + 10,
        b'A'..=b'F' => byte - b'A' + 10,
        _ if digits == 0 => return Err(Malformed("a chunk's size is not a hexadecimal number")),
        _ => return after_digits(size, length, byte),
    };
    if digits >= 16 {
        return Err(Malformed("a chunk's size is too large"));
    }
    Ok(BodyState::Size {
        size: size << 4 | u64::from(digit),
        digits: digits + 1,
        length: length + 1,
    })
}

/// What follows the digits of a chunk's size.
fn after_digits(size: u64, length: usize, byte: u8) -> Result<BodyState, Malformed> {
    match byte {
        b'\n' => Ok(after_size(size)),
        b'\r' => Ok(BodyState::SizeEnd { size }),
        b';' => Ok(BodyState::Extension { size, length }),
        b' ' | b'\t' if length < MAX_LINE => Ok(BodyState::Padding { size, length }),
        _ => Err(Malformed("a chunk's size is not a hexadecimal number")),
    }
}

fn after_size(size: u64) -> BodyState {
    if size == 0 {
        BodyState::Trailers { total: 0, line: 0, cr: false }
    } else {
        BodyState::Chunk(size)
    }
}
