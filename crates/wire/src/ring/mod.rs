//! TCP sockets by io_uring (io_uring(7)) in place of epoll: what many users send goes to the kernel in
//! one system call, and what has arrived for many comes back in one. Linux 6.1 and later.
//!
//! A worker has one ring, on its own thread. Sockets look to those who use them as the others do, as
//! futures that wait; the event loop ([`crate::run_loop`]) sleeps in [`Ring::enter`].
//!
//! The kernel reads and writes memory of this program while it works: [`outbox`] and [`buffers`] own
//! it, and give nothing back to the system before the ring is gone.

mod arrivals;
mod buffers;
mod outbox;
mod requests;
#[cfg(test)]
mod simulation;
mod slots;
mod socket;
#[cfg(test)]
mod tests;
mod timer;
mod waker;
mod worker;

pub(crate) use self::socket::Socket;
pub use self::waker::LoopWaker;
pub(crate) use self::waker::{IN_RING, IN_TOKIO};
pub(crate) use self::worker::Ring;
