//! The one timer by which the kernel wakes a worker that sleeps in its ring.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use io_uring::types::Timespec;
use io_uring::{opcode, squeue};

use super::{Kind, Ring, number};

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
}

impl Ring {
    /// Has the kernel wake the worker no later than `until`; `false`: it takes no request.
    pub(crate) fn set_timer(&self, now: u64, until: u64) -> bool {
        let Timer { due_ns, time } = &self.timer;
        if until == u64::MAX || due_ns.get() <= until {
            return true;
        }
        time.set(Timespec::from(Duration::from_nanos(until.saturating_sub(now))));
        let timer = number(Kind::Timer, 0, 0);
        let entry = if self.timer.is_set() {
            // That it was moved is nothing to wake up for. That it could not be, as it has just gone off, is: it is set anew then.
            opcode::TimeoutUpdate::new(timer, time.as_ptr())
                .build()
                .flags(squeue::Flags::SKIP_SUCCESS)
                .user_data(number(Kind::Moved, 0, 0))
        } else {
            opcode::Timeout::new(time.as_ptr()).build().user_data(timer)
        };
        let pushed = self.push(entry);
        if pushed {
            due_ns.set(until);
        }
        pushed
    }
}
