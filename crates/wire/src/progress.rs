//! What a request is doing, and the clock by which it is timed.

use std::cell::Cell;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

#[cfg(test)]
use crate::timeline;

/// What a request is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    #[default]
    Idle,
    Dns,
    Connect,
    Tls,
    Send,
    /// Waiting for the first byte of the response.
    FirstByte,
    /// Reading the rest of the response.
    Body,
    /// Decompressing the response, which has arrived.
    Decompress,
}

/// Kept by a connection or exchange, and read by the caller that gives up waiting for it.
#[derive(Debug, Default)]
pub struct Progress {
    phase: Cell<Phase>,
    sent: Cell<u64>,
    received: Cell<u64>,
}

impl Progress {
    pub fn phase(&self) -> Phase {
        self.phase.get()
    }

    /// It is doing this from now on.
    pub fn set(&self, phase: Phase) {
        self.phase.set(phase);
    }

    /// Bytes that exchanges have sent and received since they were last taken: what one that came to nothing
    /// had cost all the same. Those of HTTP/2 are told when the exchange is over.
    pub fn take_bytes(&self) -> (u64, u64) {
        (self.sent.take(), self.received.take())
    }

    pub(crate) fn on_sent(&self, bytes: usize) {
        self.sent.set(self.sent.get() + bytes as u64);
    }

    pub(crate) fn on_received(&self, bytes: usize) {
        self.received.set(self.received.get() + bytes as u64);
    }
}

/// Nanoseconds since the start of the run: the time of every interface here.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Time);

#[derive(Debug, Clone, Copy)]
enum Time {
    Since(Instant),
    #[cfg(test)]
    Virtual,
}

impl Clock {
    /// A clock that is 0 at `start`.
    pub fn new(start: Instant) -> Self {
        Clock(Time::Since(start))
    }

    /// A clock that shows the virtual time of its thread.
    #[cfg(test)]
    pub fn on_virtual_time() -> Self {
        Clock(Time::Virtual)
    }

    /// Nanoseconds since the start; 584 years fit.
    #[inline]
    pub fn now(&self) -> u64 {
        match self.0 {
            Time::Since(start) => start.elapsed().as_nanos() as u64,
            #[cfg(test)]
            Time::Virtual => timeline::now(),
        }
    }

    /// The system's clock, by which the kernel stamps what arrives, in ns since 1970; 0 before that.
    #[inline]
    pub(crate) fn system_ns(&self) -> u64 {
        match self.0 {
            Time::Since(_) => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                now.as_nanos() as u64
            }
            #[cfg(test)]
            Time::Virtual => timeline::EPOCH_NS + timeline::now(),
        }
    }
}
