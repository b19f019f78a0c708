//! Trace contexts of requests (W3C, Trace Context, level 1): by its ID a tracing system knows what a request caused.
//! Pure.

use std::fmt;
use std::io::Write as _;
use std::num::NonZero;

use squall_base::random::Random;

/// The header, as it is compared with those of a plan.
pub(crate) const TRACEPARENT: &[u8] = b"traceparent: ";

/// The ID of a trace, in hexadecimal digits for people and tracing systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceId(NonZero<u128>);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl TraceId {
    /// That of a number; 0 is none.
    pub fn of_number(number: u128) -> Option<TraceId> {
        NonZero::new(number).map(TraceId)
    }

    /// As a number.
    pub fn number(self) -> u128 {
        self.0.get()
    }

    pub(crate) fn new(random: &mut Random) -> TraceId {
        let id = u128::from(random.next_u64()) << 64 | u128::from(random.next_u64());
        // 0 is no ID.
        TraceId(NonZero::new(id).unwrap_or(NonZero::<u128>::MIN))
    }

    /// Appends the value of the header: version 0, trace, the sender's span, and that the trace is recorded.
    pub(crate) fn write(self, random: &mut Random, out: &mut Vec<u8>) {
        let span = random.next_u64().max(1);
        // Writing to a Vec cannot fail.
        let _ = write!(out, "00-{self}-{span:016x}-01");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_the_form_of_the_standard() {
        let mut random = Random::new(7);
        let (first, second) = (TraceId::new(&mut random), TraceId::new(&mut random));
        assert_ne!(first, second);
        let mut header = Vec::new();
        TraceId(NonZero::new(0xab).expect("not 0")).write(&mut random, &mut header);
        let text = String::from_utf8(header).expect("text");
        assert_eq!(text[..36], *"00-000000000000000000000000000000ab-");
        assert_eq!((text.len(), &text[52..]), (55, "-01"));
        assert!(text[36..52].bytes().all(|byte| byte.is_ascii_hexdigit()), "{text}");
    }
}
