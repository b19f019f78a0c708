//! Something in flight: an exchange, or a program that runs, and the deadlines that it has to meet. A
//! deadline costs a request two stores: the roster holds one timer for each entry here, which looks
//! again when it fires, rather than one a request.
//!
//! A deadline is the target's to meet, and squall may be late itself: nothing is cancelled before
//! everything that had arrived by then was taken from the kernel ([`InFlight::expire`]), and what has
//! arrived is looked at before it is given up ([`InFlight::run`]).

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use squall_wire::{Phase, Progress};

/// No time: there is no deadline, or no timer.
const NEVER: u64 = u64::MAX;

/// What a task waits for, as its worker's timers see it.
pub(crate) struct InFlight {
    /// Its place in the worker's table.
    pub id: u32,
    /// What the exchange is doing, kept by `squall-wire`.
    pub progress: Progress,
    waker: RefCell<Option<Waker>>,
    /// When the present phase must be over, on the run's clock.
    phase_deadline: Cell<u64>,
    /// When the whole exchange must be over.
    total_deadline: Cell<u64>,
    /// When the roster's timer for this entry fires.
    timer: Cell<u64>,
    cancelled: Cell<Option<Cancel>>,
    /// Whether it waits for a time that the plan gives.
    waits: Cell<bool>,
}

/// Why something in flight was ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cancel {
    /// A deadline has passed.
    Timeout,
    /// The run ends, and the graceful stop is over.
    Stop,
}

/// What a timer that fired means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fired {
    /// Nothing: it was of an earlier request.
    Nothing,
    /// It has to fire again, then.
    Again(u64),
    /// A deadline has passed: [`InFlight::expire`] once the kernel has given what had arrived.
    Overdue,
}

impl InFlight {
    fn new(id: u32) -> Self {
        InFlight {
            id,
            progress: Progress::default(),
            waker: RefCell::new(None),
            phase_deadline: Cell::new(NEVER),
            total_deadline: Cell::new(NEVER),
            timer: Cell::new(NEVER),
            cancelled: Cell::new(None),
            waits: Cell::new(false),
        }
    }

    /// Makes it free for another task. The timer in the roster stays.
    fn reset(&self) {
        self.lift_deadlines();
        self.progress.set(Phase::Idle);
        self.waker.take();
        self.cancelled.set(None);
    }

    /// Sets the deadlines of what comes now. Returns the time for a timer if the one that is set, if
    /// any, fires too late.
    pub(crate) fn set_deadlines(&self, phase: u64, total: u64) -> Option<u64> {
        self.forget_timeout();
        self.phase_deadline.set(phase);
        self.total_deadline.set(total);
        self.timer_for(phase.min(total))
    }

    fn timer_for(&self, deadline: u64) -> Option<u64> {
        if deadline >= self.timer.get() {
            return None;
        }
        self.timer.set(deadline);
        Some(deadline)
    }

    pub(crate) fn lift_deadlines(&self) {
        self.forget_timeout();
        self.phase_deadline.set(NEVER);
        self.total_deadline.set(NEVER);
    }

    /// What had arrived after all has met the deadline that had seemed to be missed.
    fn forget_timeout(&self) {
        if self.cancelled.get() == Some(Cancel::Timeout) {
            self.cancelled.set(None);
        }
    }

    /// Puts all deadlines off: squall itself, or the plan, holds the exchange up for so long.
    pub(crate) fn put_off(&self, nanos: u64) {
        for deadline in [&self.phase_deadline, &self.total_deadline] {
            deadline.set(deadline.get().saturating_add(nanos));
        }
    }

    /// The deadline that bounds it now. The first byte's is met once the body has begun, and all are met or missed once the
    /// response has arrived.
    fn deadline(&self) -> u64 {
        match self.progress.phase() {
            Phase::Decompress => NEVER,
            Phase::Body => self.total_deadline.get(),
            _ => self.phase_deadline.get().min(self.total_deadline.get()),
        }
    }

    /// Whether the deadlines were met by a response whose first byte arrived at one time, and whose
    /// last one at another; otherwise the phase that took too long.
    pub(crate) fn missed(&self, first_byte: u64, end: u64) -> Option<Phase> {
        if first_byte > self.phase_deadline.get().min(self.total_deadline.get()) {
            return Some(Phase::FirstByte);
        }
        (end > self.total_deadline.get()).then_some(Phase::Body)
    }

    /// The roster's timer, set for `due`, has fired at `now`.
    pub(crate) fn fired(&self, due: u64, now: u64) -> Fired {
        if due != self.timer.get() {
            return Fired::Nothing; // a later one is set
        }
        self.timer.set(NEVER);
        match self.deadline() {
            NEVER => Fired::Nothing,
            deadline if deadline <= now => Fired::Overdue,
            deadline => {
                self.timer.set(deadline);
                Fired::Again(deadline)
            }
        }
    }

    /// Everything that had arrived by `taken` was taken from the kernel: it is too late for what has
    /// not come by its deadline. Returns when to look again, if a timer is needed for that.
    pub(crate) fn expire(&self, taken: u64) -> Option<u64> {
        match self.deadline() {
            NEVER => None,
            deadline if deadline <= taken => {
                self.cancel(Cancel::Timeout);
                None
            }
            deadline => self.timer_for(deadline),
        }
    }

    /// Ends what it waits for.
    pub(crate) fn cancel(&self, why: Cancel) {
        self.cancelled.set(Some(why));
        self.wake();
    }

    /// Lets what it waits for look again.
    pub(crate) fn wake(&self) {
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }

    /// Runs a future until it is done, or until it is cancelled and has nothing to show. It stays where it is: given by
    /// value, its room would be taken twice in each task.
    pub(crate) async fn run<F: Future>(
        &self,
        mut future: Pin<&mut F>,
    ) -> Result<F::Output, Cancel> {
        poll_fn(|cx| {
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(Ok(output));
            }
            if self.progress.phase() == Phase::Decompress {
                self.forget_timeout();
            }
            if let Some(why) = self.cancelled.take() {
                return Poll::Ready(Err(why));
            }
            self.watch(cx);
            Poll::Pending
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

/// All that a worker has in flight. Entries are used again, with their timers: where tasks are short,
/// a new timer for each would fill the roster.
#[derive(Default)]
pub(crate) struct InFlightTable {
    all: RefCell<Vec<Rc<InFlight>>>,
    free: RefCell<Vec<u32>>,
    /// How many of them wait for a time that the plan gives.
    waiting: Cell<usize>,
}

impl InFlightTable {
    /// An entry for a task; free again when the guard is dropped.
    pub(crate) fn enter(&self) -> Guard<'_> {
        let free = self.free.borrow_mut().pop();
        let mut all = self.all.borrow_mut();
        let id = free.unwrap_or(all.len() as u32);
        if id as usize == all.len() {
            all.push(Rc::new(InFlight::new(id)));
        }
        Guard { table: self, entry: all[id as usize].clone() }
    }

    /// The entry of a number.
    pub(crate) fn get(&self, id: u32) -> Option<Rc<InFlight>> {
        self.all.borrow().get(id as usize).cloned()
    }

    /// Lets all that wait look again whether they may.
    pub(crate) fn wake_waiting(&self) {
        if self.waiting.get() > 0 {
            let all = self.all.borrow();
            all.iter().filter(|entry| entry.waits.get()).for_each(|entry| entry.wake());
        }
    }

    /// Ends everything that waits.
    pub(crate) fn cancel_all(&self) {
        self.all.borrow().iter().for_each(|entry| entry.cancel(Cancel::Stop));
    }
}

/// A task's entry in the table.
pub(crate) struct Guard<'t> {
    table: &'t InFlightTable,
    entry: Rc<InFlight>,
}

impl Guard<'_> {
    /// Waits until `ready` says so. It is asked now, whenever the entry or the waker that it is given is woken, and
    /// when users may have to go ([`InFlightTable::wake_waiting`]).
    pub(crate) async fn wait<T>(&self, mut ready: impl FnMut(&Waker) -> Option<T>) -> T {
        let _waiting = Waiting::new(self);
        poll_fn(|cx| {
            self.watch(cx);
            ready(cx.waker()).map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// That an entry waits; until it is dropped.
struct Waiting<'g>(&'g Guard<'g>);

impl<'g> Waiting<'g> {
    fn new(guard: &'g Guard<'g>) -> Self {
        guard.table.waiting.set(guard.table.waiting.get() + 1);
        guard.waits.set(true);
        Waiting(guard)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waits.set(false);
        self.0.table.waiting.set(self.0.table.waiting.get() - 1);
    }
}

impl std::ops::Deref for Guard<'_> {
    type Target = InFlight;

    fn deref(&self) -> &InFlight {
        &self.entry
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.entry.reset();
        self.table.free.borrow_mut().push(self.entry.id);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    #[test]
    fn one_timer_serves_many_requests() {
        let entry = InFlight::new(0);
        assert_eq!(entry.set_deadlines(NEVER, 1_000), Some(1_000));
        entry.lift_deadlines();
        assert_eq!(entry.set_deadlines(NEVER, 1_500), None, "the timer at 1,000 will look again");
        assert_eq!(entry.fired(1_000, 1_001), Fired::Again(1_500));
        assert_eq!(entry.set_deadlines(200, 2_000), Some(200), "an earlier one needs its own");
        assert_eq!(entry.fired(1_500, 1_500), Fired::Nothing, "an overtaken timer is ignored");
        assert_eq!(entry.fired(200, 200), Fired::Overdue);
        assert_eq!(entry.cancelled.get(), None, "not before the kernel was asked");
        assert_eq!(entry.expire(199), Some(200), "what came by 199 says nothing about 200");
        assert_eq!(entry.fired(200, 300), Fired::Overdue);
        assert_eq!(entry.expire(200), None);
        assert_eq!(entry.cancelled.get(), Some(Cancel::Timeout));
    }

    #[test]
    fn no_timer_without_a_deadline() {
        let entry = InFlight::new(0);
        assert_eq!(entry.set_deadlines(NEVER, NEVER), None);
        assert_eq!(entry.expire(NEVER), None);
        assert_eq!(entry.cancelled.get(), None);
    }

    /// squall stood still from before the deadline until long after it, and the response had arrived.
    #[tokio::test]
    async fn what_had_arrived_counts_more_than_the_deadline() {
        let entry = InFlight::new(0);
        entry.set_deadlines(NEVER, 1_000);
        entry.expire(5_000);
        assert_eq!(entry.run(pin!(async { "arrived" })).await, Ok("arrived"));
        assert_eq!(entry.missed(800, 900), None, "and it had met its deadline");
        entry.set_deadlines(NEVER, 7_000);
        let next = async { tokio::task::yield_now().await };
        assert_eq!(entry.run(pin!(next)).await, Ok(()), "what comes next has deadlines of its own");
        entry.set_deadlines(NEVER, 1_000);
        assert_eq!(entry.missed(1_001, 1_001), Some(Phase::FirstByte));
        assert_eq!(entry.missed(900, 1_001), Some(Phase::Body));
        entry.expire(5_000);
        assert_eq!(entry.run(pin!(std::future::pending::<()>())).await, Err(Cancel::Timeout));
    }

    #[tokio::test]
    async fn a_response_that_has_arrived_is_decompressed_for_as_long_as_it_takes() {
        let entry = InFlight::new(0);
        entry.set_deadlines(NEVER, 1_000);
        entry.expire(5_000);
        let decompressed = async {
            entry.progress.set(Phase::Decompress);
            tokio::task::yield_now().await;
            assert_eq!(entry.expire(6_000), None);
            tokio::task::yield_now().await;
            "decompressed"
        };
        assert_eq!(entry.run(pin!(decompressed)).await, Ok("decompressed"));
        assert_eq!(entry.missed(900, 1_001), Some(Phase::Body), "it was late all the same");
    }

    #[test]
    fn who_is_held_up_by_squall_has_longer() {
        let entry = InFlight::new(0);
        entry.set_deadlines(500, 1_000);
        entry.put_off(300);
        assert_eq!(entry.fired(500, 700), Fired::Again(800));
        entry.progress.set(Phase::Body);
        assert_eq!(entry.expire(1_200), None, "the first byte is there");
        assert_eq!(entry.cancelled.get(), None);
        assert_eq!(entry.missed(800, 1_300), None);
    }

    #[test]
    fn entries_are_used_again() {
        let table = InFlightTable::default();
        let (first, second) = (table.enter(), table.enter());
        assert_eq!((first.id, second.id), (0, 1));
        drop(first);
        assert_eq!(table.enter().id, 0);
    }
}
