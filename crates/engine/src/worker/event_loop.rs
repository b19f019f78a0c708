//! A worker's event loop: what is due comes out of the roster, a bounded number at a time, and between
//! two rounds what has arrived is taken from the kernel.
//!
//! I/O comes before deadlines: one that has passed cancels nothing until everything that had arrived
//! by then was taken. So a worker that stood still does not blame the target for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::Poll;

use squall_metrics::UserState;
use squall_wire::LoopOwner;
use tokio::sync::watch;

use super::Worker;
use crate::messages::Orders;
use crate::net::in_flight::{Fired, InFlight};
use crate::roster::{Action, Seat};
use crate::rows::NoRow;
use crate::user::{Strand, User};

/// So many things that are due are done before what has arrived is taken. They are few, so that a worker that is behind
/// gives its next arrivals to users whose responses have come meanwhile: a new user has to connect, which takes longer than a
/// request, and arrivals that come faster than that would put the worker further behind with each one.
const BUDGET: u32 = 16;

/// What a timer of the roster is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Timer {
    /// A deadline of an entry in flight may have passed.
    Deadline(u32),
    /// An entry in flight may go on.
    Wake(u32),
}

impl Timer {
    fn id(self) -> u32 {
        match self {
            Timer::Deadline(id) => id << 1,
            Timer::Wake(id) => id << 1 | 1,
        }
    }

    fn of(id: u32) -> Timer {
        if id & 1 == 0 { Timer::Deadline(id >> 1) } else { Timer::Wake(id >> 1) }
    }
}

impl LoopOwner for Worker {
    fn next_deadline(&self) -> u64 {
        self.next.get()
    }

    fn on_deadline(&self) {
        self.wake.notify_one();
    }

    fn on_iteration(&self, took_ns: u64) {
        self.recorder.self_metrics(|own| own.loop_iteration.record_ns(took_ns));
    }
}

impl Worker {
    /// Frees what scripts have left, while none of their users runs: meanwhile responses may wait, which is receive delay.
    fn collect_garbage(&self) {
        self.scripts.collect_garbage(|took| {
            let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
            self.recorder.self_metrics(|own| own.garbage_collection.record_ns(ns));
        });
    }

    /// Runs until the worker's share of the load is done.
    pub(super) async fn event_loop(self: &Rc<Self>, mut orders: watch::Receiver<Orders>) {
        let mut ordered = true;
        self.begin_load();
        loop {
            let caught_up = self.advance(self.clock.now());
            self.collect_garbage();
            self.tell_done_loads();
            self.tell_idle();
            if self.is_done() {
                return;
            }
            if !caught_up || !self.overdue.borrow().is_empty() {
                let taken = self.clock.now();
                tokio::task::yield_now().await; // the runtime takes what has arrived
                self.expire(taken);
                // Arrivals that are in arrears can go on for as long as the load does.
                ordered = ordered && self.obey_news(&mut orders);
                continue;
            }
            self.set_alarm();
            tokio::select! {
                rung = self.alarm.ring() => {
                    self.alarm_at.set(u64::MAX);
                    if rung.is_err() {
                        // Cannot happen to a timer descriptor that is open; without a timer nothing
                        // can go on.
                        self.break_off("its timer failed".to_owned());
                    }
                }
                () = self.wake.notified() => {}
                change = orders.changed(), if ordered => match change {
                    Ok(()) => self.obey(&orders.borrow_and_update()),
                    // Whoever gives orders is gone: nobody wants the results.
                    Err(_) => {
                        ordered = false;
                        self.cancel();
                    }
                },
            }
        }
    }

    /// Obeys what was ordered since this was asked last, without waiting. `false`: whoever gives orders is gone.
    fn obey_news(&self, orders: &mut watch::Receiver<Orders>) -> bool {
        match orders.has_changed() {
            Ok(false) => true,
            Ok(true) => {
                self.obey(&orders.borrow_and_update());
                true
            }
            Err(_) => {
                self.cancel();
                false
            }
        }
    }

    /// Whether the share of the load is done, or the worker cannot go on.
    pub(super) fn is_done(&self) -> bool {
        let broken = self.broken.borrow().is_some();
        broken || (self.tasks.get() == 0 && self.roster.borrow().is_done())
    }

    /// Does what is due, up to a budget; whether that was all.
    pub(crate) fn advance(self: &Rc<Self>, now: u64) -> bool {
        self.recorder.roll(now);
        if self.is_void(now) {
            // What is due stays due, for when this is put off.
            self.next.set(u64::MAX);
            self.note_due(self.recorder.second_ends());
            self.behind.set(false);
            return true;
        }
        for _ in 0..BUDGET {
            let action = self.roster.borrow_mut().poll(now);
            let Some(action) = action else {
                if self.roster.borrow_mut().take_shrunk() {
                    self.note_share();
                    self.in_flight.wake_waiting();
                }
                self.wind_down(now);
                self.note_next();
                self.behind.set(false);
                return true;
            };
            self.act(action, now);
        }
        self.change_overdue(now);
        self.next.set(now);
        self.behind.set(true);
        false
    }

    /// Does what is due, if anything is: a saturated loop need not wait for the kernel's timer. Not while the worker is
    /// behind: what has arrived is taken first.
    #[inline]
    pub(crate) fn advance_if_due(self: &Rc<Self>, now: u64) {
        if now >= self.next.get() && !self.behind.get() && !self.advance(now) {
            self.wake.notify_one();
        }
    }

    fn act(self: &Rc<Self>, action: Action<Box<User>>, now: u64) {
        match action {
            Action::Admit { seat, due, again } => self.admit(seat, due, again),
            Action::Arrive { number, seat, due, user } => self.arrive(number, seat, due, user),
            Action::DropArrival { scenario } => {
                self.recorder.levels.arrival_dropped(scenario);
                self.recorder.count(|counters| {
                    counters.arrivals_due += 1;
                    counters.arrivals_dropped += 1;
                });
            }
            Action::Resume { mut user, due } => {
                self.note_timer(due, now);
                user.strand.due = due;
                user.strand.waited = true;
                self.note(&user.core, UserState::Ready, due);
                (self.start_user)(self, user);
            }
            Action::Dismiss { mut user, at } => {
                let User { core, strand, .. } = &mut *user;
                self.cut_off_spans(core, strand);
                self.note(&user.core, UserState::Finished, at);
                self.note_left(user.core.scenario());
                self.note_users();
            }
            Action::Timer { id, due } => self.timer_fired(Timer::of(id), due, now),
            Action::Cancel => self.cancel(),
        }
    }

    fn timer_fired(&self, timer: Timer, due: u64, now: u64) {
        match timer {
            Timer::Wake(id) => {
                self.note_timer(due, now);
                if let Some(entry) = self.in_flight.get(id) {
                    entry.wake();
                }
            }
            Timer::Deadline(id) => {
                let Some(entry) = self.in_flight.get(id) else { return };
                match entry.fired(due, now) {
                    Fired::Nothing => {}
                    Fired::Again(at) => self.set_timer(timer, at),
                    Fired::Overdue => {
                        self.note_timer(due, now);
                        self.overdue.borrow_mut().push(entry);
                        self.wake.notify_one();
                    }
                }
            }
        }
    }

    /// Everything that had arrived by `taken` was taken from the kernel: deadlines before are missed.
    pub(super) fn expire(&self, taken: u64) {
        for entry in self.overdue.take() {
            if let Some(due) = entry.expire(taken) {
                self.set_timer(Timer::Deadline(entry.id), due);
            }
        }
    }

    /// How late a timer fired.
    fn note_timer(&self, due: u64, now: u64) {
        self.recorder.self_metrics(|own| own.timer_delay.record_ns(now.saturating_sub(due)));
    }

    fn set_timer(&self, timer: Timer, due: u64) {
        self.roster.borrow_mut().set_timer(timer.id(), due);
        self.note_due(due);
    }

    /// Sets the deadlines of something in flight, and a timer if it needs one.
    pub(crate) fn set_deadlines(&self, in_flight: &InFlight, phase: u64, total: u64) {
        if let Some(due) = in_flight.set_deadlines(phase, total) {
            self.set_timer(Timer::Deadline(in_flight.id), due);
        }
    }

    /// Wakes something in flight at a time.
    pub(crate) fn wake_at(&self, in_flight: &InFlight, at: u64) {
        self.set_timer(Timer::Wake(in_flight.id), at);
    }

    /// A user of a closed workload begins.
    fn admit(self: &Rc<Self>, seat: Seat, due: u64, again: bool) {
        let mut user = Box::new(User::new(seat, self.shared_values.clone()));
        let before = if again { UserState::Finished } else { UserState::NotStarted };
        user.core.state.set(Some(before));
        self.note(&user.core, UserState::Ready, due);
        user.core.scheduled.set(self.roster.borrow().first_iteration(due));
        user.strand.due = due;
        self.note_came(user.core.scenario());
        self.note_users();
        (self.start_user)(self, user);
    }

    /// An arrival of an open workload, by its number.
    fn arrive(self: &Rc<Self>, number: u64, seat: Seat, due: u64, user: Option<Box<User>>) {
        let same = user.filter(|user| user.core.seat == seat);
        let mut user =
            same.unwrap_or_else(|| Box::new(User::new(seat, self.shared_values.clone())));
        (user.strand.due, user.strand.waited, user.strand.arrived) = (due, true, true);
        user.core.scheduled.set(number);
        self.note_came(user.core.scenario());
        self.note_users();
        (self.start_user)(self, user);
    }

    /// Books an arrival that has begun, or that never will because the run ends or its data does.
    pub(crate) fn count_arrival(&self, strand: &Strand, begun: bool) {
        if strand.arrived {
            self.recorder.count(|counters| {
                counters.arrivals_due += 1;
                counters.arrivals_cut_off += u64::from(!begun);
            });
        }
    }

    /// Books that a user got no row of data, and why.
    pub(crate) fn note_no_row(&self, no_row: NoRow) {
        match no_row {
            NoRow::Exhausted => self.recorder.count(|counters| counters.data_exhausted += 1),
            // What the plan means cannot be done without it, so that what was measured is not the whole run.
            NoRow::Unreadable(reason) => self.break_off(reason),
        }
    }

    /// Runs what a user does in a task of its own. One that panics breaks the worker off: what it held is given
    /// back, but what it meant to do will not be done.
    pub(crate) fn spawn(self: &Rc<Self>, drive: impl Future<Output = ()> + 'static) {
        self.tasks.set(self.tasks.get() + 1);
        let task = Task(self.clone());
        // What a user does is some 5 KiB, in a box of its own: tokio aligns tasks to lines of the cache, and glibc gives out
        // aligned memory that was freed again only in part, which took twice the memory of 40,000 users. The box is made
        // here, since a task has room for all that it begins with.
        let mut drive = Box::pin(drive);
        tokio::task::spawn_local(async move {
            std::future::poll_fn(|cx| {
                let polled = catch_unwind(AssertUnwindSafe(|| drive.as_mut().poll(cx)));
                polled.unwrap_or_else(|panic| {
                    task.0
                        .break_off(format!("a virtual user's task panicked: {}", text_of(&*panic)));
                    Poll::Ready(())
                })
            })
            .await;
        });
    }

    /// The worker cannot go on.
    pub(super) fn break_off(&self, reason: String) {
        self.broken.borrow_mut().get_or_insert(reason);
        self.wake.notify_one();
    }

    /// When all loads have ended by themselves, what is in flight has the graceful stop to end.
    fn wind_down(&self, now: u64) {
        let mut roster = self.roster.borrow_mut();
        if !self.stopping.get() && !self.winding_down.get() && roster.all_ended() {
            self.winding_down.set(true);
            roster.cancel_at(now.saturating_add(crate::profile::nanos(self.program.graceful_stop)));
        }
    }

    /// When the loop has to go on though nothing has happened.
    pub(super) fn note_next(&self) {
        let due = self.roster.borrow().next().unwrap_or(u64::MAX);
        self.next.set(u64::MAX);
        self.note_due(due.min(self.recorder.second_ends()));
    }

    /// Something is due then.
    fn note_due(&self, due: u64) {
        if due < self.next.get() {
            self.next.set(due);
            if due < self.alarm_at.get() {
                self.set_alarm();
            }
        }
    }

    /// Sets the kernel's timer to what is next, if it is set to something else.
    fn set_alarm(&self) {
        let next = self.next.get();
        if next == u64::MAX || next == self.alarm_at.get() || self.client.has_ring() {
            return;
        }
        self.alarm_at.set(next);
        let wait = next.saturating_sub(self.clock.now());
        if self.alarm.set(wait).is_err() {
            self.wake.notify_one(); // look again at once rather than never
        }
    }
}

/// A task that owns a user, counted while it lives.
struct Task(Rc<Worker>);

impl Drop for Task {
    fn drop(&mut self) {
        let left = self.0.tasks.get() - 1;
        self.0.tasks.set(left);
        if left == 0 {
            self.0.wake.notify_one();
        }
    }
}

/// What a panic said.
fn text_of(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason was given")
}
