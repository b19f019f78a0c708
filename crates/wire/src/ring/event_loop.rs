//! A worker's event loop in a ring, and what wakes it.

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use rustix::event::{EventfdFlags, eventfd};
use tokio::io::unix::AsyncFd;
use tokio::runtime::Runtime;

use super::Ring;
use crate::client::Client;
use crate::event_loop::LoopOwner;

/// The loop runs, or is about to look whether it may sleep.
const RUNNING: u8 = 0;
/// Something has woken it since it began to run.
const WOKEN: u8 = 1;
/// It sleeps in the ring.
const IN_RING: u8 = 2;
/// It sleeps in tokio.
const IN_TOKIO: u8 = 3;

/// Wakes an event loop from any thread, with a system call only if it sleeps.
#[derive(Debug)]
pub struct LoopWaker {
    state: AtomicU8,
    /// Wakes tokio; set while the loop sleeps there.
    tokio: Mutex<Option<Waker>>,
    /// What the ring reads.
    event: OwnedFd,
}

impl LoopWaker {
    /// A waker for one loop. Where the worker's thread gets a table of open files of its own, this is
    /// made before: other threads know its descriptor by number.
    ///
    /// # Errors
    /// Out of descriptors or memory.
    pub fn new() -> io::Result<Arc<LoopWaker>> {
        Ok(Arc::new(LoopWaker {
            state: AtomicU8::new(RUNNING),
            tokio: Mutex::new(None),
            event: eventfd(0, EventfdFlags::CLOEXEC)?,
        }))
    }

    pub(crate) fn event(&self) -> &OwnedFd {
        &self.event
    }

    fn run(&self) {
        self.state.store(RUNNING, Ordering::SeqCst);
    }

    /// Whether the loop may sleep: from now on, a wake takes a system call.
    fn may_sleep(&self, place: u8) -> bool {
        let (strong, weak) = (Ordering::SeqCst, Ordering::SeqCst);
        self.state.compare_exchange(RUNNING, place, strong, weak).is_ok()
    }

    fn set_tokio(&self, waker: &Waker) {
        // A thread that panics holds no lock here: what it would leave is a waker or none.
        let mut known = self.tokio.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if !known.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *known = Some(waker.clone());
        }
    }
}

impl Wake for LoopWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        match self.state.swap(WOKEN, Ordering::SeqCst) {
            // It fails only if its counter is full, which wakes as well.
            IN_RING => drop(rustix::io::write(&self.event, &1u64.to_ne_bytes())),
            IN_TOKIO => {
                let known = self.tokio.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                if let Some(waker) = &*known {
                    waker.wake_by_ref();
                }
            }
            _ => {}
        }
    }
}

/// Runs `future` to its end in a worker's event loop that has a ring; see [`crate::run_loop`].
pub(crate) fn run_loop<F: Future>(
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
