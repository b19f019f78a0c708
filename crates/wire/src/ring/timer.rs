//! The one timer by which the kernel wakes a worker that sleeps in its ring.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use io_uring::types::Timespec;
use io_uring::{opcode, squeue};

use super::requests::{Kind, number};

/// When the worker is woken. To set a timer costs more than to send: it is left alone while it is early
/// enough, and moved where it is not.
pub(super) struct Timer {
    /// When it is due, in ns on the client's clock; `u64::MAX`: it is not set.
    due_ns: Cell<u64>,
    /// What the kernel reads when it takes the request that sets or moves it.
    time: Rc<Cell<Timespec>>,
}

impl Timer {
    pub(super) fn new() -> Timer {
        Timer { due_ns: Cell::new(u64::MAX), time: Rc::new(Cell::new(Timespec::new())) }
    }

    /// The kernel's timer is over.
    pub(super) fn went_off(&self) {
        self.due_ns.set(u64::MAX);
    }

    /// Whether one is set in the kernel.
    pub(super) fn is_set(&self) -> bool {
        self.due_ns.get() != u64::MAX
    }

    /// The memory that the kernel reads.
    pub(super) fn lent(&self) -> Rc<Cell<Timespec>> {
        self.time.clone()
    }

    /// What makes the kernel's timer due no later than `until`; `None`: it is.
    pub(super) fn request(&self, now: u64, until: u64) -> Option<squeue::Entry> {
        let Timer { due_ns, time } = self;
        if until == u64::MAX || due_ns.get() <= until {
            return None;
        }
        time.set(Timespec::from(Duration::from_nanos(until.saturating_sub(now))));
        let timer = number(Kind::Timer, 0, 0);
        if !self.is_set() {
            return Some(opcode::Timeout::new(time.as_ptr()).build().user_data(timer));
        }
        // That it was moved is nothing to wake up for. That it could not be, as it has just gone off, is: it is set anew then.
        let moved = opcode::TimeoutUpdate::new(timer, time.as_ptr()).build();
        let moved = moved.flags(squeue::Flags::SKIP_SUCCESS);
        Some(moved.user_data(number(Kind::Moved, 0, 0)))
    }

    /// The kernel has taken the request for a timer at `until`.
    pub(super) fn is_due_at(&self, until: u64) {
        self.due_ns.set(until);
    }
}
