//! Where a body ends, and its content without what frames it (RFC 9112, sections 6 and 7).

use super::Malformed;
use super::head::Framing;

/// Most bytes of a line with a chunk's size, extensions included, and of all trailers.
const MAX_LINE: usize = 16 << 10;

/// Takes the bytes of a body and gives its content.
#[derive(Debug)]
pub(crate) struct Decoder(State);

#[derive(Debug)]
enum State {
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
            Framing::Length(0) => State::Done,
            Framing::Length(length) => State::Length(length),
            Framing::UntilClose => State::UntilClose,
            Framing::Chunked => State::Size { size: 0, digits: 0, length: 0 },
        })
    }

    pub(crate) fn is_done(&self) -> bool {
        matches!(self.0, State::Done)
    }

    pub(crate) fn ends_with_connection(&self) -> bool {
        matches!(self.0, State::UntilClose)
    }

    pub(crate) fn has_length(&self) -> bool {
        matches!(self.0, State::Length(_))
    }

    /// Bytes of content that follow one another from here on, as far as it is known.
    pub(crate) fn plain_rest(&self) -> u64 {
        match self.0 {
            State::Length(rest) | State::Chunk(rest) => rest,
            State::UntilClose => u64::MAX,
            _ => 0,
        }
    }

    /// So many bytes of the plain rest have been thrown away unseen.
    pub(crate) fn skip(&mut self, bytes: u64) {
        match &mut self.0 {
            State::Length(rest) => {
                *rest = rest.saturating_sub(bytes);
                if *rest == 0 {
                    self.0 = State::Done;
                }
            }
            State::Chunk(rest) => {
                *rest = rest.saturating_sub(bytes);
                if *rest == 0 {
                    self.0 = State::ChunkEnd { cr: false };
                }
            }
            _ => {}
        }
    }

    /// Reads from `bytes`; returns how many were used, and whether the body is complete.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
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
                self.frame(bytes[at])?;
                at += 1;
            }
        }
        Ok((at, self.is_done()))
    }

    /// One byte of what frames chunks.
    fn frame(&mut self, byte: u8) -> Result<(), Malformed> {
        self.0 = match self.0 {
            State::Size { size, digits, length } => size_byte(size, digits, length, byte)?,
            State::Extension { size, .. } | State::SizeEnd { size } if byte == b'\n' => {
                after_size(size)
            }
            State::Padding { size, length } => after_digits(size, length + 1, byte)?,
            State::SizeEnd { .. } => return Err(Malformed("a CR in a chunk's size")),
            State::Extension { size, .. } if byte == b'\r' => State::SizeEnd { size },
            State::Extension { length, .. } if length >= MAX_LINE => {
                return Err(Malformed("a chunk's extensions are larger than 16 KiB"));
            }
            State::Extension { size, length } => State::Extension { size, length: length + 1 },
            State::ChunkEnd { cr: false } if byte == b'\r' => State::ChunkEnd { cr: true },
            State::ChunkEnd { .. } if byte == b'\n' => {
                State::Size { size: 0, digits: 0, length: 0 }
            }
            State::ChunkEnd { .. } => {
                return Err(Malformed("a chunk does not end with a line end"));
            }
            State::Trailers { line: 0, .. } if byte == b'\n' => State::Done,
            State::Trailers { total, .. } if total >= MAX_LINE => {
                return Err(Malformed("the trailers are larger than 16 KiB"));
            }
            State::Trailers { total, .. } if byte == b'\n' => {
                State::Trailers { total: total + 1, line: 0, cr: false }
            }
            State::Trailers { cr: true, .. } => return Err(Malformed("a CR in the trailers")),
            State::Trailers { total, line, .. } if byte == b'\r' => {
                State::Trailers { total: total + 1, line, cr: true }
            }
            State::Trailers { total, line, .. } => {
                State::Trailers { total: total + 1, line: line + 1, cr: false }
            }
            // The others are read by length, not byte by byte.
            State::Length(_) | State::UntilClose | State::Chunk(_) | State::Done => State::Done,
        };
        Ok(())
    }
}

fn size_byte(size: u64, digits: u8, length: usize, byte: u8) -> Result<State, Malformed> {
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
    Ok(State::Size { size: size << 4 | u64::from(digit), digits: digits + 1, length: length + 1 })
}

/// What follows the digits of a chunk's size.
fn after_digits(size: u64, length: usize, byte: u8) -> Result<State, Malformed> {
    match byte {
        b'\n' => Ok(after_size(size)),
        b'\r' => Ok(State::SizeEnd { size }),
        b';' => Ok(State::Extension { size, length }),
        b' ' | b'\t' if length < MAX_LINE => Ok(State::Padding { size, length }),
        _ => Err(Malformed("a chunk's size is not a hexadecimal number")),
    }
}

fn after_size(size: u64) -> State {
    if size == 0 { State::Trailers { total: 0, line: 0, cr: false } } else { State::Chunk(size) }
}
