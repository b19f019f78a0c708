//! What a worker is told, and what it tells the others: the end of a load or of the run, a pause.

use std::time::Duration;

use super::Worker;
use crate::messages::{ChangeKind, Command, Orders};
use crate::profile::nanos;
use crate::roster::Change;

impl Worker {
    pub(super) fn obey(&self, orders: &Orders) {
        let now = self.clock.now();
        for load in &orders.ended {
            self.roster.borrow_mut().end_load(*load, now);
        }
        for load in &orders.released {
            self.roster.borrow_mut().release(*load, now);
        }
        let known = self.changed.replace(orders.changes.len());
        for (number, change) in (known + 1..).zip(&orders.changes[known..]) {
            let at = self.recorder.start().saturating_add(change.after);
            let change = match &change.kind {
                ChangeKind::Shape { load, shape, .. } => {
                    Change::Shape { load: *load, shape: shape.clone() }
                }
                ChangeKind::Pause => Change::Pause,
                ChangeKind::GoOn => Change::GoOn,
                ChangeKind::Share { share, progress } => {
                    Change::Share { number, share: share.clone(), progress: progress.clone() }
                }
            };
            self.roster.borrow_mut().change_at(at, change);
        }
        match (self.paused.replace(orders.paused), orders.paused) {
            (false, true) => self.roster.borrow_mut().pause(now),
            (true, false) => self.roster.borrow_mut().resume(now),
            _ => {}
        }
        if !orders.paused {
            self.in_flight.wake_waiting();
        }
        let valid = orders.valid_until.zip(orders.begins).map(|(until, begins)| {
            let after = nanos(until.saturating_duration_since(begins));
            self.recorder.start().saturating_add(after)
        });
        self.valid_until.set(valid.unwrap_or(u64::MAX));
        match orders.command {
            Command::Run => {}
            Command::Stop { graceful } => self.stop(graceful),
            Command::Abort => self.cancel(),
        }
        self.wake.notify_one();
    }

    /// Whether nothing may begin any more, as others may have begun it.
    pub(crate) fn is_void(&self, now: u64) -> bool {
        now > self.valid_until.get()
    }

    /// Begins the end: no new request, what is in flight may take `graceful` nanoseconds.
    pub(super) fn stop(&self, graceful: u64) {
        if self.stopping.replace(true) {
            return;
        }
        let now = self.clock.now();
        let mut roster = self.roster.borrow_mut();
        let cut_off = roster.stop(now);
        roster.cancel_at(now.saturating_add(graceful));
        drop(roster);
        self.count_cut_off(cut_off);
        self.wake.notify_one();
    }

    /// Changes of loads whose arrivals are too far behind take effect without waiting for these, which are cut off.
    pub(super) fn change_overdue(&self, now: u64) {
        let cut_off = self.roster.borrow_mut().change_overdue(now);
        if cut_off > 0 {
            self.count_cut_off(cut_off);
        }
    }

    /// Begins the load. Where that was long ago, it is not made up for.
    pub(super) fn begin_load(&self) {
        let (start, now) = (self.recorder.start(), self.clock.now());
        let cut_off = self.roster.borrow_mut().begin_late(start, now);
        self.count_cut_off(cut_off);
    }

    /// Books what came with another share: arrivals for which it was too late, and iterations that were begun elsewhere.
    pub(super) fn note_share(&self) {
        if self.roster.borrow_mut().take_reshared() {
            let left = self.together.reshare(self.roster.borrow().part().process());
            left.into_iter().for_each(|feed| self.tell_left_rows(feed));
        }
        let elsewhere = self.roster.borrow_mut().take_elsewhere();
        for (load, shard, begun) in elsewhere {
            self.recorder.begun_of_shard(load, shard, begun);
        }
        let cut_off = self.roster.borrow_mut().take_cut_off();
        if cut_off > 0 {
            self.count_cut_off(cut_off);
        }
    }

    /// Says that rows of a feed are used by nobody, if users take them together.
    fn tell_left_rows(&self, feed: usize) {
        let feed = &self.program.feeds[feed];
        if feed.share != squall_plan::model::Share::User {
            self.recorder.log(&format!(
                "data `{}`: rows of shards that another node had before are left over, as it may have used them",
                feed.name
            ));
        }
    }

    /// Tells whether what this worker's share has is done, when that changes.
    pub(super) fn tell_idle(&self) {
        let is_idle = self.tasks.get() == 0 && self.roster.borrow().is_idle();
        if self.stays && self.is_idle.replace(is_idle) != is_idle {
            self.recorder.tell_idle(is_idle);
        }
    }

    /// Books arrivals that were due and never begin.
    fn count_cut_off(&self, arrivals: u64) {
        self.recorder.count(|counters| {
            counters.arrivals_due += arrivals;
            counters.arrivals_cut_off += arrivals;
        });
    }

    /// Ends the run from within: here at once, on other workers as soon as they are told. What is in flight may
    /// take so long.
    pub(crate) fn stop_run(&self, graceful: Duration) {
        self.recorder.ask_to_stop(graceful);
        self.stop(crate::profile::nanos(graceful));
    }

    /// Ends a load before its time: here at once, on other workers as soon as they are told.
    pub(crate) fn end_load_everywhere(&self, load: u16) {
        self.recorder.tell_load_ended(load);
        self.roster.borrow_mut().end_load(load, self.clock.now());
        self.wake.notify_one();
    }

    /// Tells of loads that others wait for and whose share here is done.
    pub(super) fn tell_done_loads(&self) {
        self.awaited.borrow_mut().retain(|load| {
            let is_done = self.roster.borrow().is_load_done(*load);
            if is_done {
                self.recorder.tell_load_done(*load);
            }
            !is_done
        });
    }

    /// Cancels all that is in flight.
    pub(super) fn cancel(&self) {
        self.cancelled.set(true);
        self.stop(0);
        self.in_flight.cancel_all();
    }
}
