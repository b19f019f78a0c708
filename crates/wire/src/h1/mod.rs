//! HTTP/1.1 as state machines over bytes: they take what has arrived and say what it means. No
//! sockets, no clock; tested and fuzzed alone.

mod body;
mod head;
mod known;
#[cfg(test)]
mod llhttp;
mod malformed;
mod response;
#[cfg(test)]
mod tests;

pub(crate) use self::head::{Head, fields, lines, unfold};
pub(crate) use self::known::KnownHeads;
pub use self::{
    malformed::Malformed,
    response::{Parsed, ResponseParser},
};
