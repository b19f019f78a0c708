//! An exchange under the limits of its user's bandwidth.

use std::cell::Cell;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::net::bandwidth::{Bandwidths, Bucket};
use crate::net::in_flight::InFlight;
use crate::user::Core;
use crate::worker::Worker;

/// One exchange under its user's limits.
pub(super) struct Throttled<'w> {
    worker: &'w Worker,
    in_flight: &'w InFlight,
    bandwidths: Rc<Bandwidths>,
    /// For when this exchange is to be woken.
    alarm: Cell<u64>,
}

impl<'w> Throttled<'w> {
    /// `None`: the user has no limits.
    pub(super) fn of(worker: &'w Worker, user: &Core, in_flight: &'w InFlight) -> Option<Self> {
        let bandwidth = worker.program.scenarios[user.scenario()].bandwidth?;
        let bandwidths = user.bandwidths.get_or_init(|| Rc::new(Bandwidths::new(bandwidth)));
        Some(Throttled { worker, in_flight, bandwidths: bandwidths.clone(), alarm: Cell::new(0) })
    }

    /// Most bytes that may lie unread in the kernel; `None`: as many as it likes.
    pub(super) fn window(&self) -> Option<u32> {
        self.bandwidths.window()
    }

    fn poll(&self, bucket: Option<&Bucket>) -> Poll<usize> {
        let Some(bucket) = bucket else { return Poll::Ready(usize::MAX) };
        let now = self.worker.clock.now();
        match bucket.budget(now) {
            Ok(bytes) => Poll::Ready(bytes),
            Err(at) => {
                if self.alarm.replace(at) != at {
                    // The target need not answer for the time in which it was not listened to.
                    self.in_flight.put_off(at - now);
                    self.worker.wake_at(self.in_flight, at);
                }
                Poll::Pending
            }
        }
    }

    fn pass(&self, bucket: Option<&Bucket>, bytes: usize) {
        if let Some(bucket) = bucket {
            bucket.pass(self.worker.clock.now(), bytes);
        }
    }
}

impl squall_wire::Throttle for Throttled<'_> {
    fn poll_receive_budget(&self, _: &mut Context<'_>) -> Poll<usize> {
        self.poll(self.bandwidths.down.as_ref())
    }

    fn poll_send_budget(&self, _: &mut Context<'_>) -> Poll<usize> {
        self.poll(self.bandwidths.up.as_ref())
    }

    fn on_received(&self, bytes: usize) {
        self.pass(self.bandwidths.down.as_ref(), bytes);
    }

    fn on_sent(&self, bytes: usize) {
        self.pass(self.bandwidths.up.as_ref(), bytes);
    }
}
