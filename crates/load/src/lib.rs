//! Load profiles as pure functions of (shape, share, time): how many users there should be at a
//! time, and when arrival number n is due. No clock, no sleeping, no I/O; time is nanoseconds since
//! the start of the load.
//!
//! Whatever is split over workers and nodes is split by a [`Share`], and nowhere else. Whatever the
//! split, the shares add up to the whole: nothing is lost and nothing is done twice.

mod arrivals;
mod curve;
mod mix;
mod presence;
mod rate;
mod share;
mod users;

pub use arrivals::{Arrival, Arrivals, Pattern};
pub use curve::Curve;
pub use mix::Mix;
pub use presence::Presence;
pub use rate::{MAX_RATE, MIN_RATE, Rate, RateCursor};
pub use share::Share;
pub use users::{MAX_USERS, UserChanges, Users};

/// Nanoseconds since the start of a load.
pub type Nanos = u64;

/// The end of time, 500 years of 365 days: nothing is due later, and no profile is longer.
pub const MAX_TIME: Nanos = 500 * 365 * 86_400 * 1_000_000_000;

/// Why a load cannot be as it is described, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeError(pub String);

impl std::fmt::Display for ShapeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ShapeError {}

/// The times at which stages of the given lengths end.
fn ends_of(lengths: impl Iterator<Item = Nanos>) -> Result<Vec<Nanos>, ShapeError> {
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
