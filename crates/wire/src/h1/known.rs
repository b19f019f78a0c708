//! Heads that came before. A server mostly gives the same head to the same request, but for a date that
//! changes once a second; a head that is the same to the byte means the same and need not be parsed
//! again. That is worth it: parsing is a quarter of the instructions of a request.

use super::head::Head;
use super::malformed::Malformed;
use super::response::{Parsed, ResponseParser};

/// Heads that are remembered: plans have few different requests at a time.
const SLOTS: usize = 16;
/// Longest head that is.
const LONGEST: usize = 4 << 10;

/// What came last, by request.
#[derive(Debug, Default)]
pub(crate) struct KnownHeads {
    slots: [Known; SLOTS],
}

#[derive(Debug, Default)]
struct Known {
    /// A whole head, its empty line included; empty: none.
    bytes: Vec<u8>,
    /// Whether it answered HEAD: what it means depends on that.
    no_body: bool,
    head: Option<Head>,
}

impl KnownHeads {
    /// Reads a head as [`ResponseParser::feed`] does, from memory if it is known. `request` tells requests
    /// apart, as well as it can: any number will do.
    ///
    /// # Errors
    /// As `feed`.
    pub(crate) fn feed(
        &mut self,
        parser: &mut ResponseParser,
        request: usize,
        bytes: &[u8],
    ) -> Result<Parsed, Malformed> {
        // The upper bits of a product depend on all bits (Knuth's multiplicative hashing).
        let hash = (request as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60;
        let known = &mut self.slots[hash as usize % SLOTS];
        if let Some(head) = known.head
            && parser.is_fresh()
            && known.no_body == parser.no_body
            && bytes.starts_with(&known.bytes)
        {
            parser.begin(head);
            return Ok(Parsed::Head { start: 0, end: known.bytes.len() });
        }
        let step = parser.feed(bytes, &mut |_| ())?;
        if let Parsed::Head { start: 0, end } = step
            && end <= LONGEST
        {
            known.bytes.clear();
            known.bytes.extend_from_slice(&bytes[..end]);
            known.no_body = parser.no_body;
            known.head = parser.head().copied();
        }
        Ok(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADS: [&[u8]; 8] = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n",
        b"HTTP/1.0 404 No\r\nConnection: close\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Le",
    ];

    proptest! {
        /// In any order, with any bytes behind them: known or not, a head means the same.
        #[test]
        fn a_known_head_means_the_same(
            responses in prop::collection::vec((0usize..8, any::<bool>(), 0usize..3, prop::collection::vec(any::<u8>(), 0..9)), 1..40),
        ) {
            let mut known = KnownHeads::default();
            for (index, no_body, request, rest) in responses {
                let bytes = [HEADS[index], &rest].concat();
                let (mut with, mut without) = (ResponseParser::new(no_body), ResponseParser::new(no_body));
                let step = known.feed(&mut with, request, &bytes);
                prop_assert_eq!(step, without.feed(&bytes, &mut |_| ()));
                prop_assert_eq!(with.head(), without.head());
                prop_assert_eq!(with.is_done(), without.is_done());
                prop_assert_eq!(with.plain_rest(), without.plain_rest());
            }
        }
    }
}
