//! The time of a load.

use crate::error::ShapeError;

/// Nanoseconds since the start of a load.
pub type Nanos = u64;

/// The end of time, 500 years of 365 days: nothing is due later, and no profile is longer.
pub const MAX_TIME: Nanos = 500 * 365 * 86_400 * 1_000_000_000;

/// The times at which stages of the given lengths end.
pub(crate) fn ends_of(lengths: impl Iterator<Item = Nanos>) -> Result<Vec<Nanos>, ShapeError> {
    let mut end: Nanos = 0;
    lengths
        .map(|length| {
            end = end.saturating_add(length);
            if end <= MAX_TIME {
                return Ok(end);
            }
            Err(ShapeError("the stages add up to more than 500 years".to_owned()))
        })
        .collect()
}
