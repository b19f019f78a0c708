//! How long bodies take to be read, on a core of about 3 GHz.

use std::time::Duration;

/// From this length of a body on, in bytes, [`Extractor::cost_estimate`](crate::Extractor::cost_estimate)
/// may be more than some milliseconds: an event loop should hand the body to a thread.
pub const LONG_BODY: usize = 1 << 20;

/// What it takes to read markup, for each byte.
pub(crate) const MARKUP_PICOSECONDS: u64 = 40_000;

pub(crate) fn cost_of(body_bytes: usize, picoseconds: u64) -> Duration {
    Duration::from_nanos((body_bytes as u64).saturating_mul(picoseconds) / 1000)
}
