//! One exchange: a request out, a response in. The path of every request, so it is kept short: one
//! write, one read, the response read in place in the worker's buffer.

mod bytes;
mod connection;
mod framing;
mod http1;
mod receive;
mod send;
#[cfg(test)]
pub(crate) mod tests;

pub use self::bytes::BytesOut;
pub use self::connection::Connection;
pub use self::framing::{BytesEnd, Framed, Framing};
