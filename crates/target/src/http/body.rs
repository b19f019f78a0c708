//! The body of a request: a decoder that takes bytes and gives the content among them, without
//! I/O and without a buffer (RFC 9112 sections 6 and 7).

use super::Refusal;
use super::head::BodyLength;

/// Most bytes of a chunk's extensions, and of all trailers.
const EXTRA_LIMIT: u32 = 16 * 1024;

#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyDecoder {
    state: BodyState,
    /// Bytes of extension or trailer that may still come.
    extra: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyState {
    /// A body of known length: so many bytes to come.
    Known(u64),
    /// In a chunk's size; `None` before its first digit.
    Size(Option<u64>),
    /// After the size, up to the line's end.
    Extension(u64),
    SizeLf(u64),
    Data(u64),
    DataCr,
    DataLf,
    /// At the start of a trailer line, or of the empty line that ends the body.
    TrailerStart,
    Trailer,
    TrailerLf,
    EndLf,
    Done,
}

/// What [`BodyDecoder::decode`] made of its input.
#[derive(Debug)]
pub(crate) struct Decoded<'i> {
    /// So many bytes of the input are dealt with.
    pub(crate) consumed: usize,
    /// The content among them; may be empty.
    pub(crate) content: &'i [u8],
}

impl BodyDecoder {
    pub(crate) fn new(length: BodyLength) -> Self {
        let state = match length {
            BodyLength::Known(0) => BodyState::Done,
            BodyLength::Known(n) => BodyState::Known(n),
            BodyLength::Chunked => BodyState::Size(None),
        };
        BodyDecoder { state, extra: EXTRA_LIMIT }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.state == BodyState::Done
    }

    /// Whether the chunks are over, and fields or the end of the body follow.
    pub(crate) fn is_in_trailers(&self) -> bool {
        matches!(
            self.state,
            BodyState::TrailerStart | BodyState::Trailer | BodyState::TrailerLf | BodyState::EndLf
        )
    }

    /// At least so many bytes of content are still to come.
    pub(crate) fn least_size(&self) -> u64 {
        match self.state {
            BodyState::Known(left) | BodyState::Data(left) => left,
            _ => 0,
        }
    }

    /// Takes what it can from `input`, up to the end of one run of content. Consumes at least one
    /// byte unless `input` is empty or the body is over.
    pub(crate) fn decode<'i>(&mut self, input: &'i [u8]) -> Result<Decoded<'i>, Refusal> {
        let mut consumed = 0;
        while let Some(&byte) = input.get(consumed) {
            match self.state {
                BodyState::Done => break,
                BodyState::Known(left) | BodyState::Data(left) => {
                    let rest = &input[consumed..];
                    let take = usize::try_from(left).map_or(rest.len(), |n| n.min(rest.len()));
                    self.state = self.after_content(left - take as u64);
                    return Ok(Decoded { consumed: consumed + take, content: &rest[..take] });
                }
                _ => self.state = self.after_byte(byte)?,
            }
            consumed += 1;
        }
        Ok(Decoded { consumed, content: &[] })
    }

    fn after_content(&self, left: u64) -> BodyState {
        match (self.state, left) {
            (BodyState::Known(_), 0) => BodyState::Done,
            (BodyState::Known(_), _) => BodyState::Known(left),
            (_, 0) => BodyState::DataCr,
            _ => BodyState::Data(left),
        }
    }

    /// The state after one byte of framing.
    fn after_byte(&mut self, byte: u8) -> Result<BodyState, Refusal> {
        const SIZE: Refusal = Refusal::bad("a chunk's size is not a hexadecimal number");
        const LINE: Refusal = Refusal::bad("a chunk does not end with CRLF");
        match (self.state, byte) {
            (BodyState::Size(size), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16).map_or(0, u64::from);
                let size = size.unwrap_or(0);
                // A size of more than 60 bits is nobody's.
                let grown = if size >> 56 == 0 { size << 4 | digit } else { return Err(SIZE) };
                Ok(BodyState::Size(Some(grown)))
            }
            (BodyState::Size(Some(size)), b'\r') => Ok(BodyState::SizeLf(size)),
            (BodyState::Size(Some(size)), b';' | b' ' | b'\t') => Ok(BodyState::Extension(size)),
            (BodyState::Size(_), _) => Err(SIZE),
            (BodyState::Extension(size), b'\r') => Ok(BodyState::SizeLf(size)),
            (BodyState::Extension(size), byte) => self.spend(byte, BodyState::Extension(size)),
            (BodyState::SizeLf(0), b'\n') => Ok(BodyState::TrailerStart),
            (BodyState::SizeLf(size), b'\n') => Ok(BodyState::Data(size)),
            (BodyState::DataCr, b'\r') => Ok(BodyState::DataLf),
            (BodyState::DataLf, b'\n') => Ok(BodyState::Size(None)),
            (BodyState::TrailerStart, b'\r') => Ok(BodyState::EndLf),
            (BodyState::Trailer, b'\r') => Ok(BodyState::TrailerLf),
            (BodyState::TrailerStart | BodyState::Trailer, byte) => {
                self.spend(byte, BodyState::Trailer)
            }
            (BodyState::TrailerLf, b'\n') => Ok(BodyState::TrailerStart),
            (BodyState::EndLf, b'\n') => Ok(BodyState::Done),
            _ => Err(LINE),
        }
    }

    fn spend(&mut self, byte: u8, next: BodyState) -> Result<BodyState, Refusal> {
        if byte == b'\n' {
            return Err(Refusal::bad("a bare line feed in the framing of a chunk"));
        }
        let left = self.extra.checked_sub(1);
        self.extra = left.ok_or(Refusal::new(431, "chunk extensions or trailers over 16 KiB"))?;
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes `input` cut into pieces of `step` bytes: the content and what is left over.
    fn decode(length: BodyLength, input: &[u8], step: usize) -> Result<(Vec<u8>, bool), Refusal> {
        let mut decoder = BodyDecoder::new(length);
        let mut content = Vec::new();
        for mut part in input.chunks(step) {
            while !part.is_empty() && !decoder.is_done() {
                let piece = decoder.decode(part)?;
                assert!(piece.consumed > 0);
                content.extend_from_slice(piece.content);
                part = &part[piece.consumed..];
            }
        }
        Ok((content, decoder.is_done()))
    }

    #[test]
    fn known_lengths() {
        assert_eq!(decode(BodyLength::Known(0), b"", 1), Ok((vec![], true)));
        assert_eq!(decode(BodyLength::Known(3), b"abcdef", 2), Ok((b"abc".to_vec(), true)));
        assert_eq!(decode(BodyLength::Known(9), b"abc", 2), Ok((b"abc".to_vec(), false)));
    }

    #[test]
    fn chunks_with_extensions_and_trailers() {
        let input = b"3;ext=\"1\"\r\nabc\r\nA \r\n0123456789\r\n0\r\nX: y\r\nZ: w\r\n\r\n";
        for step in 1..=input.len() {
            let expected = (b"abc0123456789".to_vec(), true);
            assert_eq!(decode(BodyLength::Chunked, input, step), Ok(expected), "step {step}");
        }
    }

    #[test]
    fn bad_chunks_are_refused() {
        let huge = format!("1{}\r\n", "0".repeat(16));
        let trailer = format!("0\r\n{}", "x".repeat(20_000));
        let cases = [
            "\r\n",
            "x\r\n",
            "-1\r\n",
            "3\nabc",
            "3\r\nabcd",
            "3\r\nabc\n",
            "1;a\n",
            &huge,
            &trailer,
        ];
        for input in cases {
            let result = decode(BodyLength::Chunked, input.as_bytes(), 7);
            assert!(result.is_err(), "{input:?}: {result:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_chunked_comes_out(
            chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..50), 0..8),
            step in 1usize..40,
        ) {
            let mut input = Vec::new();
            for chunk in &chunks {
                input.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                input.extend_from_slice(chunk);
                input.extend_from_slice(b"\r\n");
            }
            input.extend_from_slice(b"0\r\n\r\n");
            prop_assert_eq!(decode(BodyLength::Chunked, &input, step), Ok((chunks.concat(), true)));
        }

        #[test]
        fn any_bytes_are_survived(
            bytes in proptest::collection::vec(any::<u8>(), 0..100),
            step in 1usize..20,
        ) {
            let _ = decode(BodyLength::Chunked, &bytes, step);
        }
    }
}
