//! Where bytes without a protocol of their own end. Pure.

/// Where what comes ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BytesEnd {
    /// Where the other side closes the connection.
    Close,
    /// Where all that has come so far ends with this byte.
    Byte(u8),
    /// Behind so many bytes.
    Length(u64),
    /// Behind as many bytes as the first ones say, of which there are so many, from 1 to 8, the most significant one
    /// first.
    Prefixed(u8),
}

/// What the bytes are that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framed {
    /// A part of the number before the body.
    Prefix,
    /// The last part of it: so many bytes will come.
    Announced(u64),
    Body,
}

/// How far what comes has come.
#[derive(Debug, Clone)]
pub struct Framing {
    end: BytesEnd,
    /// The number before the body, as far as it has come: its bytes, and how many they are.
    prefix: (u64, u8),
    /// Bytes of the body.
    body: u64,
    /// Whether the last of them is the one that ends it.
    is_last: bool,
    closed: bool,
}

impl Framing {
    pub fn new(end: BytesEnd) -> Framing {
        Framing { end, prefix: (0, 0), body: 0, is_last: false, closed: false }
    }

    /// How many bytes may be read without reading beyond the end.
    pub fn room(&self) -> usize {
        let left = match self.end {
            BytesEnd::Close | BytesEnd::Byte(_) => return usize::MAX,
            BytesEnd::Length(length) => length - self.body,
            BytesEnd::Prefixed(size) => match size - self.prefix.1 {
                0 => self.prefix.0 - self.body,
                left => u64::from(left),
            },
        };
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    /// Whether the end has come.
    pub fn has_ended(&self) -> bool {
        self.closed
            || match self.end {
                BytesEnd::Close => false,
                BytesEnd::Byte(_) => self.is_last,
                BytesEnd::Length(_) | BytesEnd::Prefixed(_) => self.room() == 0,
            }
    }

    /// Whether the other side has closed.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Takes what was read: some bytes, no more than there is [room](Framing::room) for.
    pub fn take(&mut self, bytes: &[u8]) -> Framed {
        if let BytesEnd::Prefixed(size) = self.end
            && self.prefix.1 < size
        {
            for byte in bytes {
                self.prefix = (self.prefix.0 << 8 | u64::from(*byte), self.prefix.1 + 1);
            }
            return if self.prefix.1 == size {
                Framed::Announced(self.prefix.0)
            } else {
                Framed::Prefix
            };
        }
        self.body += bytes.len() as u64;
        if let BytesEnd::Byte(last) = self.end {
            self.is_last = bytes.last() == Some(&last);
        }
        Framed::Body
    }

    pub fn close(&mut self) {
        self.closed = true;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is taken of a stream that comes in pieces of these lengths, by how many bytes; and whether it ends.
    fn read(end: BytesEnd, stream: &[u8], pieces: &[usize]) -> (Vec<u8>, usize, bool) {
        let (mut framing, mut body, mut at) = (Framing::new(end), Vec::new(), 0);
        let mut lengths = pieces.iter().cycle();
        while !framing.has_ended() && at < stream.len() {
            let most = lengths.next().map_or(1, |length| (*length).max(1));
            let piece = &stream[at..][..most.min(framing.room()).min(stream.len() - at)];
            if framing.take(piece) == Framed::Body {
                body.extend_from_slice(piece);
            }
            at += piece.len();
        }
        (body, at, framing.has_ended())
    }

    proptest! {
        #[test]
        fn lengths_and_prefixes_end_at_one_place_however_they_come(
            stream in prop::collection::vec(any::<u8>(), 0..40),
            length in 0u64..50,
            size in 1u8..=8,
            pieces in prop::collection::vec(1usize..9, 1..5),
        ) {
            let known = usize::try_from(length).expect("below 50").min(stream.len());
            let (body, at, ended) = read(BytesEnd::Length(length), &stream, &pieces);
            prop_assert_eq!((&body[..], at), (&stream[..known], known));
            prop_assert_eq!(ended, known as u64 == length);
            // A prefix says how many follow, and no byte behind them is taken.
            let mut framed = vec![0; usize::from(size)];
            framed[usize::from(size) - 1] = stream.len() as u8;
            framed.extend_from_slice(&stream);
            let whole = framed.len();
            framed.extend_from_slice(b"more");
            let (body, at, ended) = read(BytesEnd::Prefixed(size), &framed, &pieces);
            prop_assert_eq!((body, at, ended), (stream, whole, true));
        }

        #[test]
        fn a_byte_ends_where_a_piece_ends_with_it(
            stream in prop::collection::vec(0u8..3, 0..40), pieces in prop::collection::vec(1usize..9, 1..5),
        ) {
            let (body, at, ended) = read(BytesEnd::Byte(1), &stream, &pieces);
            prop_assert_eq!(&body[..], &stream[..at]);
            prop_assert_eq!(ended, body.last() == Some(&1));
            let (body, _, ended) = read(BytesEnd::Close, &stream, &pieces);
            prop_assert_eq!((body, ended), (stream, false));
        }
    }

    #[test]
    fn a_prefix_may_say_more_than_there_ever_is() {
        let mut framing = Framing::new(BytesEnd::Prefixed(8));
        assert_eq!(framing.take(&[0xff; 7]), Framed::Prefix);
        assert_eq!((framing.room(), framing.has_ended()), (1, false));
        assert_eq!(framing.take(&[0xff]), Framed::Announced(u64::MAX));
        assert_eq!(framing.take(b"a"), Framed::Body);
        assert_eq!((framing.room(), framing.has_ended()), (usize::MAX - 1, false));
        framing.close();
        assert!(framing.has_ended() && framing.is_closed());
    }
}
