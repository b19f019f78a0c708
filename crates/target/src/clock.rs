//! Fine timers: each worker's heap of deadlines, woken by one `timerfd`.
//!
//! The event loop's own timers tick in milliseconds; measured times are compared with queueing
//! theory, so here a sleep ends within the kernel's wake-up time, some 10 µs, and never early. A
//! pending sleep costs a heap entry and a slot, about 50 bytes, and no system call unless it is
//! the earliest.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::watched::Watched;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// The pending sleeps of one worker.
pub(crate) struct Timers {
    fd: Watched,
    pending: RefCell<Pending>,
}

#[derive(Default)]
struct Pending {
    /// Earliest first. An entry whose generation is not its slot's belongs to a dropped sleep.
    heap: BinaryHeap<Reverse<Entry>>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Heap entries of sleeps that were dropped before their time.
    stale: usize,
    /// What the timer is set to.
    armed: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    deadline: Instant,
    ticket: Ticket,
}

/// Names a slot as long as its sleep lives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ticket {
    slot: u32,
    generation: u32,
}

#[derive(Default)]
struct Slot {
    generation: u32,
    /// Whom to wake; `None` once woken.
    waker: Option<Waker>,
}

impl Pending {
    fn insert(&mut self, deadline: Instant, waker: Waker) -> Ticket {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        // A slot number is always one of `slots`: it was pushed above, now or earlier.
        let entry = &mut self.slots[slot as usize];
        entry.waker = Some(waker);
        let ticket = Ticket { slot, generation: entry.generation };
        self.heap.push(Reverse(Entry { deadline, ticket }));
        ticket
    }

    fn set_waker(&mut self, ticket: Ticket, waker: &Waker) {
        // `None` has been woken: its deadline is past, so it is not polled into waiting again.
        if let Some(current) = &mut self.slots[ticket.slot as usize].waker {
            current.clone_from(waker);
        }
    }

    fn remove(&mut self, ticket: Ticket) {
        let slot = &mut self.slots[ticket.slot as usize];
        slot.generation = slot.generation.wrapping_add(1);
        self.stale += usize::from(slot.waker.take().is_some());
        self.free.push(ticket.slot);
        if self.stale > 1024 && self.stale > self.heap.len() / 2 {
            let slots = &self.slots;
            self.heap.retain(|Reverse(entry)| is_live(slots, entry.ticket));
            self.stale = 0;
        }
    }

    /// Takes one waker that is due, if any.
    fn next_due(&mut self, now: Instant) -> Option<Waker> {
        while let Some(Reverse(entry)) = self.heap.peek().copied()
            && entry.deadline <= now
        {
            self.heap.pop();
            if is_live(&self.slots, entry.ticket) {
                return self.slots[entry.ticket.slot as usize].waker.take();
            }
            self.stale = self.stale.saturating_sub(1);
        }
        None
    }

    fn earliest(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse(entry)| entry.deadline)
    }
}

fn is_live(slots: &[Slot], ticket: Ticket) -> bool {
    slots[ticket.slot as usize].generation == ticket.generation
}

impl Timers {
    /// Needs the event loop of this thread to be running.
    pub(crate) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        Ok(Timers { fd: Watched::new(fd)?, pending: RefCell::default() })
    }

    /// Wakes sleeps as they fall due, for ever. One task of each worker.
    pub(crate) async fn drive(&self) -> io::Result<()> {
        loop {
            self.fd.readable().await?.clear_ready();
            self.pending.borrow_mut().armed = None;
            let now = Instant::now();
            // The borrow ends before the wake, which may run foreign code.
            while let Some(waker) = { self.pending.borrow_mut().next_due(now) } {
                waker.wake();
            }
            self.arm()?;
        }
    }

    /// Sets the timer to the earliest deadline, if that is earlier than what it is set to.
    fn arm(&self) -> io::Result<()> {
        let mut pending = self.pending.borrow_mut();
        let Some(earliest) = pending.earliest() else { return Ok(()) };
        if pending.armed.is_some_and(|armed| armed <= earliest) {
            return Ok(());
        }
        // Zero would disarm the timer.
        let wait = earliest.saturating_duration_since(Instant::now()).max(Duration::from_nanos(1));
        let once = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: Timespec {
                tv_sec: wait.as_secs() as i64,
                tv_nsec: i64::from(wait.subsec_nanos()),
            },
        };
        timerfd_settime(&self.fd, TimerfdTimerFlags::empty(), &once)?;
        pending.armed = Some(earliest);
        Ok(())
    }

    pub(crate) fn sleep_until(&self, deadline: Instant) -> Sleep<'_> {
        Sleep { timers: self, deadline, ticket: None }
    }

    /// Waits for `work`, but not longer than `limit`: `None` when it took longer.
    pub(crate) async fn within<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut work = std::pin::pin!(work);
        let mut sleep = std::pin::pin!(self.sleep_until(Instant::now() + limit));
        std::future::poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(Some(done));
            }
            sleep.as_mut().poll(cx).map(|_| None)
        })
        .await
    }
}

/// A wait until a moment; see [`Timers::sleep_until`].
pub(crate) struct Sleep<'t> {
    timers: &'t Timers,
    deadline: Instant,
    ticket: Option<Ticket>,
}

impl Future for Sleep<'_> {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if Instant::now() >= self.deadline {
            return Poll::Ready(Ok(()));
        }
        if let Some(ticket) = self.ticket {
            self.timers.pending.borrow_mut().set_waker(ticket, cx.waker());
            return Poll::Pending;
        }
        let ticket = self.timers.pending.borrow_mut().insert(self.deadline, cx.waker().clone());
        self.ticket = Some(ticket);
        match self.timers.arm() {
            Ok(()) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl Drop for Sleep<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.timers.pending.borrow_mut().remove(ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    #[test]
    fn due_wakers_come_out_and_dropped_ones_do_not() {
        let mut pending = Pending::default();
        let start = Instant::now();
        let waker = Waker::noop();
        let first = pending.insert(at(start, 1), waker.clone());
        pending.insert(at(start, 2), waker.clone());
        pending.insert(at(start, 9), waker.clone());
        pending.remove(first);
        assert_eq!(pending.stale, 1);
        assert!(pending.next_due(at(start, 5)).is_some());
        assert!(pending.next_due(at(start, 5)).is_none());
        assert_eq!(pending.stale, 0);
        assert_eq!(pending.earliest(), Some(at(start, 9)));
    }

    #[test]
    fn abandoned_sleeps_do_not_pile_up() {
        let mut pending = Pending::default();
        let start = Instant::now();
        for n in 0..100_000 {
            let ticket = pending.insert(at(start, 3_600_000 + n), Waker::noop().clone());
            pending.remove(ticket);
        }
        assert!(pending.heap.len() < 4096, "{} entries", pending.heap.len());
        assert_eq!(pending.slots.len(), 1);
    }

    #[test]
    fn sleeps_end_in_order_and_never_early() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build_local(Default::default())
            .unwrap();
        runtime.block_on(async {
            let timers = std::rc::Rc::new(Timers::new().unwrap());
            let driver = timers.clone();
            tokio::task::spawn_local(async move { driver.drive().await });
            let woken = std::rc::Rc::new(RefCell::new(Vec::new()));
            let start = Instant::now();
            let tasks: Vec<_> = [30u64, 10, 20, 10]
                .into_iter()
                .map(|ms| {
                    let (timers, woken) = (timers.clone(), woken.clone());
                    tokio::task::spawn_local(async move {
                        timers.sleep_until(at(start, ms)).await.unwrap();
                        assert!(Instant::now() >= at(start, ms));
                        woken.borrow_mut().push(ms);
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            assert_eq!(*woken.borrow(), [10, 10, 20, 30]);
            let limit = Duration::from_millis(1);
            assert_eq!(timers.within(limit, std::future::pending::<()>()).await, None);
            assert_eq!(timers.within(limit, async { 7 }).await, Some(7));
        });
    }
}
