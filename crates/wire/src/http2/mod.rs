//! HTTP/2: many requests at a time on one connection. Frames, header compression and flow control are
//! the `h2` crate's; here is what a load generator needs around it: how many streams there may be,
//! times and bytes of each as the frames pass, and what an error means for a request.
//!
//! A connection is driven by a task of the worker's `LocalSet`; exchanges talk to it through memory.

mod exchange;
mod failure;
mod frames;
mod session;
mod state;
#[cfg(test)]
pub(crate) mod tests;
mod watched;

pub use self::session::{Session, Stream};
