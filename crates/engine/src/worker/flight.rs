//! A request under way and its limits of time. A limit costs a request two stores: the wheel holds
//! one timer a flight, which looks again when it fires, rather than one a request.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use squall_wire::{Phase, Progress};

/// State of what a task waits for, seen by its worker's timers.
pub(crate) struct Flight {
    /// Its place in the worker's list.
    pub number: u32,
    /// What the exchange is doing, kept by `squall-wire`.
    pub progress: Progress,
    waker: RefCell<Option<Waker>>,
    /// When the present phase must be over; `u64::MAX`: no limit.
    deadline: Cell<u64>,
    /// When the whole request must be over.
    total: Cell<u64>,
    /// When the wheel's timer for this flight fires; `u64::MAX`: it has none.
    timer: Cell<u64>,
    cut: Cell<Option<Cut>>,
}

/// Why a flight was ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// A limit of time was reached.
    Timeout,
    /// The run ends and its grace is over.
    Abort,
}

impl Flight {
    pub(crate) fn new(number: u32) -> Self {
        Flight {
            number,
            progress: Progress::default(),
            waker: RefCell::new(None),
            deadline: Cell::new(u64::MAX),
            total: Cell::new(u64::MAX),
            timer: Cell::new(u64::MAX),
            cut: Cell::new(None),
        }
    }

    /// It is over, and may be another task's; the wheel's timer stays.
    pub(crate) fn reset(&self) {
        self.unlimit();
        self.progress.set(Phase::Idle);
        self.waker.take();
        self.cut.set(None);
    }

    /// Sets the limits of what comes now. Returns the time for a timer if the one in the wheel, if
    /// any, fires too late.
    pub(crate) fn limit(&self, phase: u64, total: u64) -> Option<u64> {
        let deadline = phase.min(total);
        self.deadline.set(deadline);
        self.total.set(total);
        if deadline >= self.timer.get() {
            return None;
        }
        self.timer.set(deadline);
        Some(deadline)
    }

    /// Lifts all limits.
    pub(crate) fn unlimit(&self) {
        self.deadline.set(u64::MAX);
        self.total.set(u64::MAX);
    }

    /// The wheel's timer, set for `due`, has fired at `now`. Returns when it should fire next.
    pub(crate) fn look(&self, due: u64, now: u64) -> Option<u64> {
        if due != self.timer.get() {
            return None; // an older timer; a newer one is in the wheel
        }
        self.timer.set(u64::MAX);
        if self.deadline.get() <= now && self.progress.phase() == Phase::Body {
            self.deadline.set(self.total.get());
        }
        let deadline = self.deadline.get();
        if deadline == u64::MAX {
            return None;
        }
        if deadline <= now {
            self.cut(Cut::Timeout);
            return None;
        }
        self.timer.set(deadline);
        Some(deadline)
    }

    /// Ends what the flight waits for.
    pub(crate) fn cut(&self, why: Cut) {
        self.cut.set(Some(why));
        self.wake();
    }

    /// Lets what it waits for look again.
    pub(crate) fn wake(&self) {
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }

    /// Runs a future until it is done or the flight is cut.
    pub(crate) async fn run<F: Future>(&self, future: F) -> Result<F::Output, Cut> {
        let mut future = pin!(future);
        poll_fn(|cx| {
            if let Some(why) = self.cut.take() {
                return Poll::Ready(Err(why));
            }
            self.watch(cx);
            future.as_mut().poll(cx).map(Ok)
        })
        .await
    }

    fn watch(&self, cx: &Context<'_>) {
        let mut waker = self.waker.borrow_mut();
        match &*waker {
            Some(known) if known.will_wake(cx.waker()) => {}
            _ => *waker = Some(cx.waker().clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_timer_serves_many_requests() {
        let flight = Flight::new(0);
        assert_eq!(flight.limit(u64::MAX, 1_000), Some(1_000));
        flight.unlimit();
        assert_eq!(flight.limit(u64::MAX, 1_500), None, "the timer at 1,000 will look again");
        assert_eq!(flight.look(1_000, 1_001), Some(1_500));
        assert_eq!(flight.limit(200, 2_000), Some(200), "a limit before the timer needs its own");
        assert_eq!(flight.look(1_500, 1_500), None, "an overtaken timer is ignored");
        assert_eq!(flight.cut.get(), None);
        assert_eq!(flight.look(200, 200), None);
        assert_eq!(flight.cut.get(), Some(Cut::Timeout));
    }

    #[test]
    fn no_timer_without_a_limit() {
        let flight = Flight::new(0);
        assert_eq!(flight.limit(u64::MAX, u64::MAX), None);
    }
}
