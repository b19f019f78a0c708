//! What the threads of a load know together: what it was told, and whom it tells.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use squall_engine::{Control, Progress};
use squall_load::Share;
use squall_plan::model::Load as PlanLoad;
use squall_plan::yaml::read_load;

use super::capacity::Capacity;
use super::parts::{Driven, Parts};
use super::policy::MostUsers;
use super::reached::Reached;
use crate::protocol::io::LoadEvent;
use crate::protocol::messages::{Change, Shards};

/// A load that starts less than this ahead may begin late: its first second is not taken for whole.
const NEAR: Duration = Duration::from_millis(50);
const SECOND: Duration = Duration::from_secs(1);
/// Most sentences about what failed.
const MAX_FAILURES: usize = 20;

/// Who is told what the load says.
pub(crate) type Tell = dyn Fn(LoadEvent) + Send + Sync;

/// What a load was told, and how far it is.
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    tell: std::sync::Arc<Tell>,
}

struct State {
    capacity: Capacity,
    is_ready: bool,
    /// When second 0 began.
    start: Option<Instant>,
    parts: Parts,
    done: Done,
    reached: Reached,
    orders: Orders,
    fence: Fence,
    end: End,
    /// Controls the engine, while it runs.
    control: Option<Control>,
    failures: Vec<String>,
}

/// What people have ordered of the load while it runs.
#[derive(Debug, Default)]
struct Orders {
    /// Shapes of loads, each from when on.
    shapes: Vec<(u16, PlanLoad, Duration)>,
    /// Pauses and their ends, with the second from which on each holds.
    pauses: Vec<(bool, u32)>,
    /// When the lease is over; `None`: it is not known yet.
    valid_until: Option<Instant>,
}

impl Orders {
    /// Tells an engine that is to be started.
    fn pass(&self, control: &Control) {
        for (number, load, after) in &self.shapes {
            // It was a good one when it came.
            let _known = control.reshape(*number, load, *after);
        }
        self.pauses.iter().for_each(|(is_paused, from)| pause(control, *is_paused, *from));
        self.valid_until.iter().for_each(|until| control.hold_after(*until));
    }
}

/// The load stops where the lease runs out.
#[derive(Debug, Default)]
struct Fence {
    /// How often that was.
    count: u32,
    /// In which second it was last, after the load had begun.
    second: Option<u32>,
    /// Whether it is so now.
    is_up: bool,
}

/// What is known of the end.
#[derive(Debug, Default)]
struct End {
    /// Whether the engine was told to end from here.
    is_stopped: bool,
    /// Whether a step asked for it.
    has_asked: bool,
    /// Nothing more is to be run.
    is_over: bool,
    /// Nobody wants to hear of it any more.
    is_forgotten: bool,
}

/// Whether what the node has is done.
#[derive(Debug, Default)]
struct Done {
    /// Whether the engine has nothing to do.
    is_idle: bool,
    /// The second with which the load began here, and the last that is over for the engine.
    first: u32,
    past: Option<u32>,
    /// What was told last: since which second all is done.
    told: Option<u32>,
}

/// How the engine is to be started.
pub(crate) struct Launch {
    pub control: Control,
    pub share: Share,
    pub start: Instant,
    /// The first second of which anything is recorded.
    pub second: u32,
    /// How often the load had been fenced before.
    fences: u32,
}

impl Shared {
    /// Of a run that is cut into so many shards, on a node that carries at most so many users.
    pub(crate) fn new(of: u32, most_users: Option<u64>, tell: std::sync::Arc<Tell>) -> Shared {
        let state = State {
            capacity: Capacity::new(of, most_users),
            is_ready: false,
            start: None,
            parts: Parts::default(),
            done: Done::default(),
            reached: Reached::default(),
            orders: Orders::default(),
            fence: Fence::default(),
            end: End::default(),
            control: None,
            failures: Vec::new(),
        };
        Shared { state: Mutex::new(state), changed: Condvar::new(), tell }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock leaves it half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells something, unless the run is forgotten.
    pub(crate) fn tell(&self, event: LoadEvent) {
        if !self.state().end.is_forgotten {
            (self.tell)(event);
        }
    }

    /// The plan is opened: these are its users.
    pub(crate) fn set_users(&self, users: MostUsers) {
        self.state().capacity.set_users(users);
    }

    /// The plan can run: tells so.
    pub(crate) fn ready(&self) {
        self.state().is_ready = true;
        self.tell(LoadEvent::Ready);
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.state().is_ready
    }

    pub(crate) fn is_forgotten(&self) -> bool {
        self.state().end.is_forgotten
    }

    /// What was driven in a second whose record is there now.
    pub(crate) fn driven_in(&self, second: u32, now: Instant) -> Driven {
        let mut state = self.state();
        state.parts.forget(second);
        let driven = state.parts.of(second);
        Driven { is_whole: driven.is_whole && !state.has_slept(second, now), ..driven }
    }

    /// Second 0 begins then, with these shards.
    pub(crate) fn start(&self, at: Instant, shards: &Shards) {
        let mut state = self.state();
        if state.start.is_none() {
            state.start = Some(at);
            let (second, _) = state.now(Instant::now());
            state.done.first = second;
            state.drive(second, shards);
        }
        self.changed.notify_all();
    }

    /// From a second on it has these shards.
    pub(crate) fn reshare(&self, from: u32, shards: &Shards) {
        let mut state = self.state();
        let shards = state.drive(from, shards);
        if let Some(control) = &state.control {
            state.reshare(control, from, &shards);
        }
    }

    /// Until then the lease holds: after that the load begins nothing, unless it is renewed.
    pub(crate) fn valid_until(&self, until: Instant) {
        let mut state = self.state();
        state.orders.valid_until = Some(until);
        state.control.iter().for_each(|control| control.hold_after(until));
    }

    /// The lease has run out: nothing more is sent.
    pub(crate) fn fence(&self) {
        let mut state = self.state();
        state.fence.count += 1;
        state.fence.is_up = true;
        let (second, has_begun) = state.now(Instant::now());
        match has_begun {
            true => {
                state.fence.second = Some(second);
                state.parts.stop(second);
            }
            false => state.parts.set(0, Shards::from([]), false),
        }
        state.stop(Control::abort);
    }

    /// Goes on after a fence, from a second on.
    pub(crate) fn resume(&self, from: u32, shards: &Shards) {
        let mut state = self.state();
        state.drive(from, shards);
        state.fence.is_up = false;
        self.changed.notify_all();
    }

    /// Changes the load.
    pub(crate) fn change(&self, change: &Change) {
        let mut state = self.state();
        match change {
            Change::Pause { from } => state.pause(true, *from),
            Change::GoOn { from } => state.pause(false, *from),
            Change::Shape { load, shape, after } => {
                if let Err(why) = state.reshape(*load, shape, Duration::from_nanos(*after)) {
                    state.fail(format!("a change of the load was not made: {why}"));
                }
            }
            Change::Stop { graceful } => {
                state.end.is_over = true;
                let graceful = Duration::from_nanos(*graceful);
                state.stop(|control| control.stop(graceful));
            }
            Change::Done => {
                state.end.is_over = true;
                state.stop(|control| control.stop(Duration::ZERO));
            }
            Change::Abort => {
                state.end.is_over = true;
                state.stop(Control::abort);
            }
        }
        self.changed.notify_all();
    }

    /// Ends everything, and tells nothing of it any more.
    pub(crate) fn forget(&self) {
        let mut state = self.state();
        (state.end.is_forgotten, state.end.is_over) = (true, true);
        state.stop(Control::abort);
        self.changed.notify_all();
    }

    /// Waits until the engine is to be started; `None`: it is not, as the load is over.
    pub(crate) fn launch(&self) -> Option<Launch> {
        let waits =
            |state: &mut State| !state.end.is_over && (state.start.is_none() || state.fence.is_up);
        // It ends: whoever has the load forgets it at last.
        let waited = self.changed.wait_while(self.state(), waits);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let start = state.start.filter(|_| !state.end.is_over)?;
        let now = Instant::now();
        let (second, _) = state.now(now);
        if state.fence.second.is_none() && start < now + NEAR {
            state.parts.cut(second);
        }
        // After a fence it has nothing but what it was given since, be that late.
        let (given, since, first) = match state.fence.second {
            None => (state.parts.of(second).shards, second, second),
            // It begins nothing before the next whole second.
            Some(fenced) => (Shards::from([]), fenced, second.saturating_add(1)),
        };
        let (control, share) = (state.new_control(since), state.capacity.share(&given));
        Some(Launch { control, share, start, second: first, fences: state.fence.count })
    }

    /// The engine has ended. Unless that was because of a fence, the load is over.
    pub(crate) fn ended(&self, launch: &Launch) {
        let mut state = self.state();
        (state.done.is_idle, state.done.past) = (false, None);
        state.control = None;
        state.end.is_over |= state.fence.count == launch.fences;
    }

    /// Users of loads with a number of iterations are so far at the end of a second.
    pub(crate) fn progress(&self, second: u32, progress: &Progress) {
        self.state().reached.add(second, progress);
    }

    /// Others were so far with what is given next.
    pub(crate) fn know(&self, known: &Progress) {
        self.state().reached.all.merge(known);
    }

    /// Tells what has changed of how far users are until the end of a second, or a part of it if it is much.
    pub(crate) fn tell_progress(&self, second: u32) {
        let told = self.state().reached.take_untold(second);
        if !told.is_empty() {
            self.tell(LoadEvent::Progress(told));
        }
    }

    /// Whether what the engine was told to do until now is done. The load stays: it may get more.
    pub(crate) fn idle(&self, is_idle: bool) {
        self.tell_done(|state| state.done.is_idle = is_idle);
    }

    /// A second is over for all workers: they have followed what was to be followed from it on.
    pub(crate) fn is_past(&self, second: u32) {
        self.tell_done(|state| state.done.past = state.done.past.max(Some(second)));
    }

    /// Tells whether all is done, if that has changed.
    fn tell_done(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        let last = state.parts.last();
        let follows = last <= state.done.first || state.done.past.is_some_and(|past| past >= last);
        let since = (state.done.is_idle && follows).then_some(last);
        if std::mem::replace(&mut state.done.told, since) != since {
            drop(state);
            self.tell(LoadEvent::Done { since });
        }
    }

    /// Tells that the end is asked for, if the engine ends and was not told to from here.
    pub(crate) fn look_for_a_stop(&self, control: &Control) {
        if control.is_stopped() && !self.state().end.is_stopped {
            self.ask_to_stop();
        }
    }

    /// Tells that the end is asked for, once.
    pub(crate) fn ask_to_stop(&self) {
        if !std::mem::replace(&mut self.state().end.has_asked, true) {
            self.tell(LoadEvent::StopAsked);
        }
    }

    /// What failed, besides what the run itself says.
    pub(crate) fn failures(&self) -> Vec<String> {
        std::mem::take(&mut self.state().failures)
    }
}

impl State {
    /// The second that it is, and whether the load has begun.
    fn now(&self, now: Instant) -> (u32, bool) {
        let since = self.start.and_then(|start| now.checked_duration_since(start));
        let second = since.map_or(0, |since| u32::try_from(since.as_secs()).unwrap_or(u32::MAX));
        (second, since.is_some())
    }

    /// Whether the process was asleep in a second, and so for long that it begins nothing of it any more: its record comes
    /// more than a second after its end, and the lease is over.
    fn has_slept(&self, second: u32, now: Instant) -> bool {
        let is_void = self.orders.valid_until.is_some_and(|until| now > until);
        let ended = self.start.and_then(|start| start.checked_add(seconds(second) + SECOND));
        is_void && ended.is_some_and(|ended| now > ended + SECOND)
    }

    /// From a second on it drives as many of these shards as it carries: which they are.
    fn drive(&mut self, from: u32, shards: &Shards) -> Shards {
        let fits: Shards = self.capacity.within(shards).into();
        self.parts.set(from, fits.clone(), fits.len() < shards.len());
        if let Some(why) = self.capacity.told(fits.len(), shards.len()) {
            self.fail(why);
        }
        fits
    }

    /// A control for an engine that has the parts after this second to come, with everything that was told before.
    fn new_control(&mut self, second: u32) -> Control {
        let control = Control::default();
        for (from, shards) in self.parts.after(second) {
            self.reshare(&control, from, shards);
        }
        self.orders.pass(&control);
        self.end.is_stopped = false;
        self.control = Some(control.clone());
        control
    }

    /// Gives the engine other shards from a second on. Of those that it had before it knows how far it was.
    fn reshare(&self, control: &Control, from: u32, shards: &Shards) {
        let before = self.parts.of(from.saturating_sub(1)).shards;
        let new: Vec<u32> =
            shards.iter().filter(|own| before.binary_search(own).is_err()).copied().collect();
        let known = self.reached.all.within(&self.capacity.share(&new));
        control.reshare_with(self.capacity.share(shards), known, seconds(from));
    }

    fn stop(&mut self, stop: impl FnOnce(&Control)) {
        self.end.is_stopped = true;
        if let Some(control) = &self.control {
            stop(control);
        }
    }

    fn pause(&mut self, is_paused: bool, from: u32) {
        self.orders.pauses.push((is_paused, from));
        self.control.iter().for_each(|control| pause(control, is_paused, from));
    }

    fn reshape(&mut self, number: u16, shape: &str, after: Duration) -> Result<(), String> {
        let load = read_load(shape)?;
        // It is tried on one that nobody obeys if there is none, so that a bad one is known now.
        let control = self.control.clone().unwrap_or_default();
        control.reshape(number, &load, after)?;
        self.capacity.change(number, &load);
        self.orders.shapes.push((number, load, after));
        let from = after.as_secs() + u64::from(after.subsec_nanos() > 0);
        self.carry_fewer(u32::try_from(from).unwrap_or(u32::MAX));
        Ok(())
    }

    /// Gives up the shards that it has from a second on and carries no more. What is past stays as it was.
    fn carry_fewer(&mut self, from: u32) {
        let (second, has_begun) = self.now(Instant::now());
        let from = if has_begun { from.max(second.saturating_add(1)) } else { from };
        let now = (from, self.parts.of(from).shards);
        let later = self.parts.after(from).map(|(from, shards)| (from, shards.clone()));
        let parts: Vec<(u32, Shards)> = std::iter::once(now).chain(later).collect();
        if parts.iter().all(|(_, shards)| self.capacity.within(shards).len() == shards.len()) {
            return;
        }
        for (from, shards) in parts {
            let fits = self.drive(from, &shards);
            if let Some(control) = &self.control {
                self.reshare(control, from, &fits);
            }
        }
    }

    fn fail(&mut self, why: String) {
        if self.failures.len() < MAX_FAILURES && !self.failures.contains(&why) {
            self.failures.push(why);
        }
    }
}

/// Pauses the load from a second on, or lets it go on.
fn pause(control: &Control, is_paused: bool, from: u32) {
    match is_paused {
        true => control.pause_at(seconds(from)),
        false => control.resume_at(seconds(from)),
    }
}

fn seconds(second: u32) -> Duration {
    Duration::from_secs(u64::from(second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_that_was_slept_through_was_not_driven() {
        let shared = Shared::new(8, None, std::sync::Arc::new(|_| {}));
        let start = Instant::now() + Duration::from_secs(3_600);
        shared.start(start, &[0, 1].into());
        let is_whole =
            |second, at_ms| shared.driven_in(second, start + Duration::from_millis(at_ms)).is_whole;
        assert!(is_whole(2, 3_100) && is_whole(2, 11_000), "it has no lease yet");
        shared.valid_until(start + Duration::from_secs(6));
        // It was slow, and made up for it; it was cut off, and recorded in time; it slept beyond its lease.
        assert!(is_whole(2, 5_900) && is_whole(5, 6_100));
        assert!(!is_whole(2, 6_100));
    }
}
