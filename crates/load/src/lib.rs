//! Loads as pure functions of (shape, segment, time): how many users there should be at a time, and
//! when arrival number n is due. No clock, no sleeping, no I/O; time is nanoseconds since the start
//! of the load.
//!
//! A share of a load is a [`Segment`]. Whatever the split, the shares add up to the whole: nothing is
//! lost and nothing is done twice.

mod arrivals;
mod line;
pub mod random;
mod segment;
mod shares;
mod users;

pub use arrivals::{Arrival, Arrivals, Pattern, Rate};
pub use segment::Segment;
pub use shares::Shares;
pub use users::Users;

/// Nanoseconds since the start of a load.
pub type Nanos = u64;

/// A shape that makes no sense, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeError(pub String);

impl std::fmt::Display for ShapeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ShapeError {}
