//! Looks at the frames of one direction of an HTTP/2 connection as their bytes pass (RFC 9113,
//! section 4.1): which stream, how long, whether it ends there. Reads no payload but that of GOAWAY.
//! Pure.

/// Bytes of a frame's head.
const HEAD: usize = 9;
/// Bytes of a GOAWAY that are looked at first: the last stream and the code, ...
const GOAWAY: usize = 8;
/// ... and of what its sender says behind them.
const WORDS: usize = 256;

/// Types of frames that are told apart.
pub(super) mod kind {
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const SETTINGS: u8 = 4;
    pub const GOAWAY: u8 = 7;
    pub const CONTINUATION: u8 = 9;
}

/// What a client sends before its first frame (RFC 9113, section 3.4).
pub(super) const PREFACE: usize = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Frame {
    pub kind: u8,
    flags: u8,
    /// 0: the connection.
    pub stream: u32,
    length: u32,
}

impl Frame {
    fn of(head: [u8; HEAD]) -> Frame {
        let [a, b, c, kind, flags, stream @ ..] = head;
        Frame {
            kind,
            flags,
            // The first bit is reserved.
            stream: u32::from_be_bytes(stream) & 0x7fff_ffff,
            length: u32::from_be_bytes([0, a, b, c]),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        HEAD as u64 + u64::from(self.length)
    }

    /// Whether it is the stream's last one in its direction, but for CONTINUATIONs.
    pub(super) fn ends_stream(&self) -> bool {
        matches!(self.kind, kind::DATA | kind::HEADERS) && self.flags & 1 != 0
    }

    /// Whether it acknowledges settings, and sets none.
    pub(super) fn is_ack(&self) -> bool {
        self.flags & 1 != 0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    Head(Frame),
    /// The last byte of a frame.
    End(Frame),
    /// A GOAWAY: the last stream that its sender takes.
    GoAway(u32),
}

/// Follows the frames of one direction.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    /// Bytes before the first frame that are still to come.
    before: usize,
    frame: Frame,
    /// The head that is coming, and how much of it came.
    head: [u8; HEAD],
    had: usize,
    /// Bytes of the payload that are still to come.
    rest: usize,
    /// The beginning of the last GOAWAY's payload.
    goaway: Vec<u8>,
}

impl Scanner {
    /// A direction that begins with so many bytes that are no frame.
    pub(super) fn after(before: usize) -> Self {
        Scanner { before, ..Scanner::default() }
    }

    /// Looks at the bytes that come next.
    pub(super) fn feed(&mut self, mut bytes: &[u8], mut passed: impl FnMut(Passed)) {
        let skipped = self.before.min(bytes.len());
        self.before -= skipped;
        bytes = &bytes[skipped..];
        while !bytes.is_empty() {
            if self.had < HEAD {
                let taken = (HEAD - self.had).min(bytes.len());
                self.head[self.had..self.had + taken].copy_from_slice(&bytes[..taken]);
                self.had += taken;
                bytes = &bytes[taken..];
                if self.had < HEAD {
                    return;
                }
                self.frame = Frame::of(self.head);
                self.rest = self.frame.length as usize;
                if self.frame.kind == kind::GOAWAY {
                    self.goaway.clear();
                }
                passed(Passed::Head(self.frame));
            }
            let taken = self.rest.min(bytes.len());
            if self.frame.kind == kind::GOAWAY {
                self.goaway(&bytes[..taken], &mut passed);
            }
            self.rest -= taken;
            bytes = &bytes[taken..];
            if self.rest == 0 {
                self.had = 0;
                passed(Passed::End(self.frame));
            }
        }
    }

    /// A piece of a GOAWAY's payload.
    fn goaway(&mut self, piece: &[u8], passed: &mut impl FnMut(Passed)) {
        let had = self.goaway.len();
        let length = piece.len().min(GOAWAY + WORDS - had);
        self.goaway.extend_from_slice(&piece[..length]);
        if had < GOAWAY
            && let Some([a, b, c, d, ..]) = self.goaway.first_chunk::<GOAWAY>()
        {
            passed(Passed::GoAway(u32::from_be_bytes([*a, *b, *c, *d]) & 0x7fff_ffff));
        }
    }

    /// The code of the last GOAWAY, and the beginning of what its sender says.
    pub(super) fn farewell(&self) -> Option<(u32, &[u8])> {
        let ([.., a, b, c, d], words) = self.goaway.split_first_chunk::<GOAWAY>()?;
        Some((u32::from_be_bytes([*a, *b, *c, *d]), words))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    use crate::http2::tests::frame;

    fn stream() -> Vec<u8> {
        [
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
            frame(kind::SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 1]),
            frame(kind::SETTINGS, 1, 0, &[]),
            frame(kind::HEADERS, 4, 1, &[0x82; 40]),
            frame(kind::DATA, 1, 1, &[7; 300]),
            frame(kind::GOAWAY, 0, 0, &[0x80, 0, 0, 9, 0, 0, 0, 2, b'w', b'h', b'y']),
            frame(0x77, 255, 0x8000_0003, b"unknown"),
        ]
        .concat()
    }

    fn seen(pieces: impl Iterator<Item = Vec<u8>>) -> Vec<Passed> {
        let (mut scanner, mut seen) = (Scanner::after(PREFACE), Vec::new());
        for piece in pieces {
            scanner.feed(&piece, |passed| seen.push(passed));
        }
        seen
    }

    #[test]
    fn frames_are_told_apart() {
        let seen = seen(std::iter::once(stream()));
        let ends: Vec<_> = seen
            .iter()
            .filter_map(|passed| match passed {
                Passed::End(frame) => {
                    Some((frame.kind, frame.stream, frame.bytes(), frame.ends_stream()))
                }
                _ => None,
            })
            .collect();
        let expected = [
            (kind::SETTINGS, 0, 15, false),
            (kind::SETTINGS, 0, 9, false),
            (kind::HEADERS, 1, 49, false),
            (kind::DATA, 1, 309, true),
            (kind::GOAWAY, 0, 20, false),
            (0x77, 3, 16, false),
        ];
        assert_eq!(ends, expected);
        assert!(seen.contains(&Passed::GoAway(9)), "{seen:?}");
        let mut scanner = Scanner::after(PREFACE);
        stream().iter().for_each(|byte| scanner.feed(&[*byte], |_| ()));
        assert_eq!(scanner.farewell(), Some((2, &b"why"[..])));
        let endless = [&[0; GOAWAY][..], &[b'x'; 10_000]].concat();
        scanner.feed(&frame(kind::GOAWAY, 0, 0, &endless), |_| ());
        assert_eq!(scanner.farewell(), Some((0, &[b'x'; WORDS][..])));
    }

    proptest! {
        #[test]
        fn the_cuts_do_not_matter(sizes in proptest::collection::vec(1usize..60, 1..200)) {
            let (bytes, mut at, mut cut) = (stream(), 0, Vec::new());
            for size in sizes {
                let to = (at + size).min(bytes.len());
                cut.push(bytes[at..to].to_vec());
                at = to;
            }
            cut.push(bytes[at..].to_vec());
            prop_assert_eq!(seen(cut.into_iter()), seen(std::iter::once(bytes)));
        }

        #[test]
        fn any_bytes_are_taken(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            Scanner::default().feed(&bytes, |_| ());
        }
    }
}
