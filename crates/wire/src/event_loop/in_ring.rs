//! The event loop of a worker that has a ring.

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use rustix::event::{EventfdFlags, eventfd};
use tokio::io::unix::AsyncFd;
use tokio::runtime::Runtime;

use super::owner::LoopOwner;
use crate::client::Client;
use crate::ring::{IN_RING, IN_TOKIO, LoopWaker, Ring};

/// Runs `future` to its end in a worker's event loop that has a ring; see [`crate::run_loop`].
pub(super) fn run_loop<F: Future>(
    runtime: &Runtime,
    client: &Client,
    ring: &Rc<Ring>,
    waker: &Arc<LoopWaker>,
    owner: &impl LoopOwner,
    future: F,
) -> F::Output {
    RingLoop { runtime, client, ring, waker, owner, completions: None }.run(future)
}

/// The event loop of a worker that has a ring.
struct RingLoop<'a, O> {
    runtime: &'a Runtime,
    client: &'a Client,
    ring: &'a Rc<Ring>,
    waker: &'a Arc<LoopWaker>,
    owner: &'a O,
    /// What the kernel signals completions through, once anything needed tokio.
    completions: Option<AsyncFd<OwnedFd>>,
}

impl<O: LoopOwner> RingLoop<'_, O> {
    /// Polls the future until it is done, outside of tokio's scheduler: what that would put off until
    /// it has looked at its events (a task that yields) is woken at once.
    fn run<F: Future>(mut self, future: F) -> F::Output {
        let _within = self.runtime.enter();
        let mut future = pin!(future);
        let waker = Waker::from(self.waker.clone());
        let mut begin = self.client.clock().now();
        loop {
            if begin >= self.owner.next_deadline() {
                self.owner.on_deadline();
            }
            // What was woken up to now is polled now.
            self.waker.run();
            let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
            let end = self.client.clock().now();
            self.owner.on_iteration(end - begin);
            if let Poll::Ready(output) = polled {
                return output;
            }
            begin = match self.client.waits_in_tokio() {
                true => self.sleep_in_tokio(end),
                false => self.sleep_in_ring(end),
            };
            self.client.looks.looked(end, begin);
        }
    }

    /// Sends what is pending, and sleeps in the ring unless there is something to do; returns the
    /// time.
    fn sleep_in_ring(&self, now: u64) -> u64 {
        self.ring.flush();
        let until = self.owner.next_deadline();
        if now < until && self.ring.can_be_woken() && self.waker.may_sleep(IN_RING) {
            self.ring.enter(now, until);
            // Before the wakers are called: to them the loop is awake.
            self.waker.run();
        } else {
            self.ring.collect(now);
        }
        self.ring.dispatch();
        self.client.clock().now()
    }

    /// Has tokio look at its events, and sleeps there unless there is something to do; returns the
    /// time.
    fn sleep_in_tokio(&mut self, now: u64) -> u64 {
        let until = self.owner.next_deadline();
        // Out of descriptors or memory: the loop stays correct if it does not sleep.
        let able = self.watch_completions() && self.ring.set_timer(now, until) && now < until;
        self.ring.poll(now);
        let mut looked = false;
        self.runtime.block_on(poll_fn(|cx| {
            if std::mem::replace(&mut looked, true) {
                return Poll::Ready(());
            }
            self.waker.set_tokio(cx.waker());
            if let Some(completions) = &self.completions {
                // What was signalled before the ring was looked at is old.
                while let Poll::Ready(Ok(mut ready)) = completions.poll_read_ready(cx) {
                    ready.clear_ready();
                }
            }
            if !able || !self.waker.may_sleep(IN_TOKIO) {
                cx.waker().wake_by_ref();
            }
            Poll::Pending
        }));
        // Before the wakers are called: to them the loop is awake.
        self.waker.run();
        self.ring.poll(self.client.clock().now())
    }

    /// Has the kernel signal completions to tokio.
    fn watch_completions(&mut self) -> bool {
        if self.completions.is_none() {
            self.completions = self.signal_completions().ok();
        }
        self.completions.is_some()
    }

    fn signal_completions(&self) -> io::Result<AsyncFd<OwnedFd>> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        self.ring.signal_completions(event.as_raw_fd())?;
        crate::sys::watch(event)
    }
}
