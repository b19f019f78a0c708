//! Virtual time, and connections on it: what a worker does with real sockets it does here with bytes that come
//! at moments that a script says, and hours pass in a millisecond. For the tests of this crate alone.
//!
//! [`Peer`] is the other side of a connection. What it does comes over a [`Path`], with its delay and its losses, to the client as
//! TCP shows it: bytes in their order, behind a gap until what was lost has been sent again, and stamped by a kernel. [`run`] runs
//! a future: while it waits, time goes on to the next moment at which something happens.

mod run;
mod tests;

pub use self::run::run;
pub use crate::timeline::{advance, now, sleep_until, start};
pub use crate::virtual_network::{Outbound, Path, Peer, VirtualSocket, set_network};
