//! Waking a worker at an exact time. tokio's own timers have a granularity of 1 ms; this one is the
//! kernel's, with nanoseconds, as a file descriptor in the worker's event loop.

use std::io;

/// The one timer of a worker.
pub(crate) struct Alarm {
    fd: tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>,
}

impl Alarm {
    pub(crate) fn new() -> io::Result<Self> {
        use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let interest = tokio::io::Interest::READABLE;
        // SAFETY: the `OwnedFd` is an open descriptor of a timer, which the `AsyncFd` owns and which
        // is never replaced: it stays open, and the same, until the `AsyncFd` is dropped.
        let fd = unsafe { tokio::io::unix::AsyncFd::register_with_interest(fd, interest) }?;
        Ok(Alarm { fd })
    }

    /// Sets it to ring once after so many nanoseconds, in place of what was set before.
    pub(crate) fn set(&self, nanos: u64) -> io::Result<()> {
        use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};
        let nanos = nanos.max(1); // 0 would switch it off
        let value = Timespec {
            tv_sec: (nanos / 1_000_000_000) as i64,
            tv_nsec: (nanos % 1_000_000_000) as _,
        };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }

    /// Waits until it rings; it may also ring for a time that was set before.
    ///
    /// The descriptor need not be read: its events come at edges, and to set it again takes its
    /// expiration back (timerfd_create(2)).
    pub(crate) async fn ring(&self) -> io::Result<()> {
        self.fd.readable().await?.clear_ready();
        Ok(())
    }
}
