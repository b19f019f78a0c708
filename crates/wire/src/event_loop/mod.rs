//! A worker's event loop. With epoll it is tokio's. With io_uring ([`Client::has_ring`]) the worker's
//! future is polled here, and the thread sleeps in one place:
//!
//! - in the ring, as long as nothing needs tokio's event loop: one system call sends, waits and
//!   receives. Wakers that other threads call ([`LoopWaker`]) write to a descriptor that the ring reads.
//! - in tokio's epoll, while something needs it ([`Client::in_tokio`]): then the kernel signals each
//!   completion of the ring through a descriptor that tokio watches (io_uring_register_eventfd(3)).
//!
//! Neither place is left for a look at the other: a worker that has nothing to do sleeps until its next
//! deadline.

mod in_ring;
mod owner;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use tokio::runtime::Runtime;

pub use self::owner::LoopOwner;
use crate::client::Client;
use crate::ring::LoopWaker;

/// Runs `future`, the whole work of a worker, to its end on this thread. `runtime` is a current-thread
/// runtime that does nothing else.
pub fn run_loop<F: Future>(
    runtime: &Runtime,
    client: &Client,
    waker: &Arc<LoopWaker>,
    owner: &impl LoopOwner,
    future: F,
) -> F::Output {
    if let Some(ring) = client.ring() {
        return in_ring::run_loop(runtime, client, ring, waker, owner, future);
    }
    let mut future = pin!(future);
    let mut end = client.clock().now();
    runtime.block_on(poll_fn(|cx| {
        let begin = client.clock().now();
        client.looks.looked(end, begin);
        let polled = future.as_mut().poll(cx);
        end = client.clock().now();
        owner.on_iteration(end - begin);
        polled
    }))
}
