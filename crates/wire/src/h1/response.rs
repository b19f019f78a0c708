//! A response: its head, those of interim ones before it, and its body.

use std::ops::Range;

use super::body::Decoder;
use super::head::{Head, HeadParser};
use super::malformed::Malformed;

/// Most interim (1xx) responses before the real one.
const MAX_INTERIM: u32 = 32;

/// Reads one response from the bytes of a connection, in pieces of any size.
#[derive(Debug)]
pub struct ResponseParser {
    /// Whether the request was HEAD, to which the response has no body whatever it says.
    pub(super) no_body: bool,
    state: ParserState,
    trailers: Vec<u8>,
}

#[derive(Debug)]
enum ParserState {
    Head { parser: HeadParser, interim: u32 },
    Body { head: Head, decoder: Decoder },
    Done { head: Head },
}

/// What came of a piece of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsed {
    /// The head is not complete: give all of these bytes again, with more.
    NeedHead,
    /// The head was read: it begins behind interim ones, and the body begins where it ends.
    Head { start: usize, end: usize },
    /// So many bytes were read of the body; more are to come.
    Body(usize),
    /// The response ends after so many bytes.
    Done(usize),
}

impl ResponseParser {
    /// A response to come. `no_body`: the request is HEAD.
    pub fn new(no_body: bool) -> Self {
        ResponseParser {
            no_body,
            state: ParserState::Head { parser: HeadParser::default(), interim: 0 },
            trailers: Vec::new(),
        }
    }

    /// Reads from `bytes`; pieces of the body go to `body`.
    ///
    /// # Errors
    /// The bytes are no HTTP/1.x response.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        body: &mut impl FnMut(&[u8]),
    ) -> Result<Parsed, Malformed> {
        match &mut self.state {
            ParserState::Head { .. } => self.head_from(bytes),
            ParserState::Body { head, decoder } => {
                let (used, done) = decoder.feed(bytes, &mut self.trailers, body)?;
                if !done {
                    return Ok(Parsed::Body(used));
                }
                self.state = ParserState::Done { head: *head };
                Ok(Parsed::Done(used))
            }
            ParserState::Done { .. } => Ok(Parsed::Done(0)),
        }
    }

    fn head_from(&mut self, bytes: &[u8]) -> Result<Parsed, Malformed> {
        loop {
            let ParserState::Head { parser, interim } = &mut self.state else {
                return Ok(Parsed::NeedHead);
            };
            let Some((head, Range { start, end })) = parser.parse(bytes, self.no_body)? else {
                return Ok(Parsed::NeedHead);
            };
            match head.status {
                101 => return Err(Malformed("101: squall did not ask to switch protocols")),
                100..=199 => {
                    *interim += 1;
                    if *interim > MAX_INTERIM {
                        return Err(Malformed("more than 32 interim responses"));
                    }
                    *parser = HeadParser::from(end);
                }
                _ => {
                    self.begin(head);
                    return Ok(Parsed::Head { start, end });
                }
            }
        }
    }

    /// Bytes of the present head that were searched for line ends.
    #[cfg(test)]
    pub(super) fn looked_at(&self) -> usize {
        match &self.state {
            ParserState::Head { parser, .. } => parser.looked_at,
            _ => 0,
        }
    }

    /// Whether it has seen nothing of the response.
    pub(super) fn is_fresh(&self) -> bool {
        matches!(&self.state, ParserState::Head { parser, .. } if parser.is_fresh())
    }

    pub(super) fn begin(&mut self, head: Head) {
        let decoder = Decoder::new(head.framing);
        self.state = if decoder.is_done() {
            ParserState::Done { head }
        } else {
            ParserState::Body { head, decoder }
        };
    }

    /// The connection was closed by the other side: whether the response is complete with that.
    pub fn closed(&mut self) -> bool {
        match &self.state {
            ParserState::Body { head, decoder } if decoder.ends_with_connection() => {
                self.state = ParserState::Done { head: *head };
                true
            }
            ParserState::Done { .. } => true,
            _ => false,
        }
    }

    /// The head, once it has been read.
    pub(crate) fn head(&self) -> Option<&Head> {
        match &self.state {
            ParserState::Head { .. } => None,
            ParserState::Body { head, .. } | ParserState::Done { head } => Some(head),
        }
    }

    /// The lines behind the last chunk, as they came.
    pub(crate) fn trailers(&self) -> &[u8] {
        &self.trailers
    }

    /// Whether the response has been read to its end.
    pub fn is_done(&self) -> bool {
        matches!(self.state, ParserState::Done { .. })
    }

    /// Bytes of the body that are known to be still to come, as they are, unchanged.
    pub(crate) fn plain_rest(&self) -> u64 {
        match &self.state {
            ParserState::Body { decoder, .. } => decoder.plain_rest(),
            _ => 0,
        }
    }

    /// If the body has a known length, takes it as read.
    pub(crate) fn skip_whole(&mut self) -> bool {
        match &self.state {
            ParserState::Body { head, decoder } if decoder.has_length() => {
                self.state = ParserState::Done { head: *head };
                true
            }
            ParserState::Done { .. } => true,
            _ => false,
        }
    }

    /// So many bytes of the plain rest have been thrown away unseen.
    pub(crate) fn skip(&mut self, bytes: u64) {
        if let ParserState::Body { head, decoder } = &mut self.state {
            decoder.skip(bytes);
            if decoder.is_done() {
                self.state = ParserState::Done { head: *head };
            }
        }
    }
}
