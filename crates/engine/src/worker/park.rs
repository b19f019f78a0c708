//! Where a worker sleeps. With epoll that is tokio's affair, and the worker's timer is the kernel's.
//! With io_uring ([`squall_wire::Client::has_ring`]) the worker sleeps in its ring, until something has
//! arrived or its next timer is due: one system call sends, waits and receives. tokio calls here
//! before it would sleep itself.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use super::Worker;

/// Longest sleep in the ring, in ns: commands come from other threads, which do not know of it.
const LONGEST: u64 = 20_000_000;
/// Longest sleep in tokio, in ns, while the ring may have something and tokio may too (a program that
/// runs, a name that is looked up).
const BETWEEN: u64 = 200_000;

thread_local! {
    /// The worker of this thread.
    static WORKER: RefCell<Weak<Worker>> = const { RefCell::new(Weak::new()) };
}

/// The worker of this thread is from now on asked to sleep.
pub(super) fn enter(worker: &Rc<Worker>) {
    WORKER.set(Rc::downgrade(worker));
}

/// tokio is about to sleep on this thread.
pub(super) fn park() {
    let worker = WORKER.with_borrow(Weak::upgrade);
    if let Some(worker) = worker.filter(|worker| worker.client.has_ring()) {
        worker.sleep();
    }
}

impl Worker {
    fn sleep(&self) {
        let now = self.clock.now();
        let next = self.next.get();
        if self.client.waits_in_tokio() {
            let mut until = next;
            if self.client.waits_in_ring() {
                self.client.look();
                until = next.min(now + BETWEEN);
            }
            if until != self.alarm_at.get() {
                self.set_alarm_at(until);
            }
            return;
        }
        self.client.wait(next.min(now + LONGEST));
        // Timers and commands are looked at; and tokio must not fall asleep after this.
        self.idle.notify_one();
    }
}
