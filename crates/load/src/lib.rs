//! Load profiles as pure functions of (shape, share, time): how many users there should be at a
//! time, and when arrival number n is due. No clock, no sleeping, no I/O; time is nanoseconds since
//! the start of the load.
//!
//! Whatever is split over workers and nodes is split by a [`Share`], and nowhere else. Whatever the
//! split, the shares add up to the whole: nothing is lost and nothing is done twice.

mod arrivals;
mod curve;
mod deal;
mod error;
mod mix;
mod presence;
mod rate;
mod share;
mod time;
mod users;

pub use arrivals::{Arrival, Arrivals, Pattern};
pub use curve::Curve;
pub use deal::deal_again;
pub use error::ShapeError;
pub use mix::Mix;
pub use presence::Presence;
pub use rate::{MAX_RATE, MIN_RATE, Rate, RateCursor};
pub use share::Share;
pub use time::{MAX_TIME, Nanos};
pub use users::{MAX_USERS, UserChanges, Users};
