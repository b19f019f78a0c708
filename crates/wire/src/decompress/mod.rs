//! Decompresses bodies as they come, in constant memory and within limits. Pure.

mod codecs;
mod codings;
mod decompressor;
mod encoding;
#[cfg(test)]
mod tests;

pub use self::codings::{Codings, Undo};
pub use self::decompressor::{Bounds, Decompressor};
pub use self::encoding::Encoding;
