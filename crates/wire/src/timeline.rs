//! The virtual time of a thread, and who is to be woken when.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::task::{Poll, Waker};

/// What the system's clock says at the virtual time 0, in ns since 1970.
pub const EPOCH_NS: u64 = 1_800_000_000_000_000_000;

/// When stories begin: 0 is no moment in many places.
const BEGIN_NS: u64 = 1_000_000_000;

thread_local! {
    static TIMELINE: Timeline = const { Timeline::new() };
}

struct Timeline {
    now: Cell<u64>,
    /// When the event loop has looked at its sockets last.
    saw: Cell<u64>,
    /// Who is to be woken, by moment and number.
    alarms: RefCell<BTreeMap<(u64, u64), Waker>>,
    alarms_set: Cell<u64>,
}

impl Timeline {
    const fn new() -> Timeline {
        Timeline {
            now: Cell::new(BEGIN_NS),
            saw: Cell::new(BEGIN_NS),
            alarms: RefCell::new(BTreeMap::new()),
            alarms_set: Cell::new(0),
        }
    }
}

/// Begins anew on this thread: nobody is to be woken.
pub fn start() {
    TIMELINE.with(|timeline| {
        timeline.now.set(BEGIN_NS);
        timeline.saw.set(BEGIN_NS);
        timeline.alarms.take();
    });
}

/// Nanoseconds since the start of the run.
pub fn now() -> u64 {
    TIMELINE.with(|timeline| timeline.now.get())
}

/// The program is busy for so long: time passes, and its event loop does not look.
pub fn advance(ns: u64) {
    TIMELINE.with(|timeline| timeline.now.set(timeline.now.get() + ns));
}

/// When the event loop has looked at its sockets last.
pub(crate) fn saw() -> u64 {
    TIMELINE.with(|timeline| timeline.saw.get())
}

/// Waits until a moment.
pub async fn sleep_until(at: u64) {
    poll_fn(|cx| {
        if now() >= at {
            return Poll::Ready(());
        }
        wake_at(at, cx.waker());
        Poll::Pending
    })
    .await;
}

/// Has a task woken at a moment.
pub(crate) fn wake_at(at: u64, waker: &Waker) {
    TIMELINE.with(|timeline| {
        let number = timeline.alarms_set.get();
        timeline.alarms_set.set(number + 1);
        timeline.alarms.borrow_mut().insert((at, number), waker.clone());
    });
}

/// The event loop looks: wakes all whose moment has come.
pub(crate) fn look() {
    TIMELINE.with(|timeline| {
        let now = timeline.now.get();
        timeline.saw.set(now);
        let later = timeline.alarms.borrow_mut().split_off(&(now + 1, 0));
        let due = timeline.alarms.replace(later);
        due.into_values().for_each(Waker::wake);
    });
}

/// Goes on to the next moment at which somebody is to be woken, and `late` ns beyond; `false`: there is none.
pub(crate) fn sleep(late: u64) -> bool {
    TIMELINE.with(|timeline| {
        let next = timeline.alarms.borrow().keys().next().map(|(at, _)| *at);
        let Some(at) = next else { return false };
        timeline.now.set(timeline.now.get().max(at) + late);
        true
    })
}
