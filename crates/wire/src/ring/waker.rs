//! What wakes a worker's event loop, wherever it sleeps.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};

use rustix::event::{EventfdFlags, eventfd};

/// The loop runs, or is about to look whether it may sleep.
const RUNNING: u8 = 0;
/// Something has woken it since it began to run.
const WOKEN: u8 = 1;
/// It sleeps in the ring.
pub(crate) const IN_RING: u8 = 2;
/// It sleeps in tokio.
pub(crate) const IN_TOKIO: u8 = 3;

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

    pub(crate) fn run(&self) {
        self.state.store(RUNNING, Ordering::SeqCst);
    }

    /// Whether the loop may sleep: from now on, a wake takes a system call.
    pub(crate) fn may_sleep(&self, place: u8) -> bool {
        let (strong, weak) = (Ordering::SeqCst, Ordering::SeqCst);
        self.state.compare_exchange(RUNNING, place, strong, weak).is_ok()
    }

    pub(crate) fn set_tokio(&self, waker: &Waker) {
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
