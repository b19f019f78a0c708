//! Controls a run from any thread while it goes on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use squall_analysis::Abort;
use squall_base::units;
use squall_engine::Control;
use squall_plan::model::{Closed, Load, Open, Plan, Stage};

use crate::error::Error;
use crate::headroom::Headroom;
use crate::phase::Phase;
use crate::plans;
use crate::sink::{EventKind, Sinks};

/// A change of a load takes effect so much later: by then all workers know of it.
const LEAD: Duration = Duration::from_millis(50);

/// Controls one run from any thread: all copies control the same one. What is asked before it starts is
/// obeyed when it does. Each run takes a new one.
#[derive(Debug, Clone, Default)]
pub struct Handle(Arc<Mutex<HandleState>>);

#[derive(Debug)]
struct HandleState {
    phase: Phase,
    /// Whether something was begun that is to be ended in order.
    has_begun: bool,
    /// In which phase a stop was asked for last.
    stopped: Option<Phase>,
    is_aborted: bool,
    /// Controls what runs now.
    control: Control,
    /// The time that requests in flight have when it is stopped.
    graceful_stop: Duration,
    /// Who is told of what is asked.
    sinks: Option<Arc<Sinks>>,
    /// The plan's loads, in the order of their numbers.
    loads: Vec<PlannedLoad>,
    /// Most virtual users that all loads together may have, where the nodes of a fleet say so.
    most_users: Option<u64>,
    /// The plan with the loads that it has now, and what there is for them.
    room: Option<(Plan, Headroom)>,
    paused: Option<Instant>,
    /// How long the load has stood still, without the pause that is.
    stood_still: Duration,
}

impl Default for HandleState {
    fn default() -> HandleState {
        HandleState {
            phase: Phase::Preparation,
            has_begun: false,
            stopped: None,
            is_aborted: false,
            control: Control::default(),
            graceful_stop: Duration::ZERO,
            sinks: None,
            loads: Vec::new(),
            most_users: None,
            room: None,
            paused: None,
            stood_still: Duration::ZERO,
        }
    }
}

/// A load of the plan.
#[derive(Debug, Clone)]
struct PlannedLoad {
    /// Whose; empty: of the scenarios that share it by weight.
    scenario: String,
    load: Load,
    /// When it begins after the start, pauses left out; `None`: when others have ended.
    from: Option<Duration>,
    /// Most virtual users that it has had, or will have.
    users: u64,
}

impl Handle {
    /// Ends what runs now in order: nothing new is begun, requests in flight may finish within the plan's
    /// `graceful_stop`. If that is the setup, the load is never started; the teardown runs nevertheless, unless it
    /// is what was stopped.
    pub fn stop(&self) {
        let mut state = self.state();
        state.stopped = Some(state.phase);
        // First said, then done: a load that ends at once would be over before anybody heard why.
        state.tell(EventKind::StopAsked(state.phase));
        state.control.stop(state.graceful_stop);
    }

    /// Whether everything is still being prepared (files are read, names are looked up): nothing was begun that would have
    /// to be ended in order, so that a program may just exit instead of waiting for that.
    pub fn is_preparing(&self) -> bool {
        !self.state().has_begun
    }

    /// Something is begun from now on that has to be ended in order.
    ///
    /// # Errors
    /// It was stopped before.
    pub(crate) fn set_out(&self) -> Result<(), Error> {
        let mut state = self.state();
        state.has_begun = true;
        match state.stopped {
            None => Ok(()),
            Some(_) => Err(Error::interrupted("interrupted before anything was sent")),
        }
    }

    /// Ends everything at once, without a teardown. What was measured is kept.
    pub fn abort(&self) {
        let mut state = self.state();
        state.stopped = Some(state.phase);
        state.is_aborted = true;
        state.tell(EventKind::AbortAsked(state.phase));
        state.control.abort();
    }

    /// Lets the load stand still: nobody arrives, begins or goes on; what is in flight goes on.
    ///
    /// # Errors
    /// There is no load now.
    pub fn pause(&self) -> Result<(), String> {
        let mut state = self.loading()?;
        if state.paused.is_none() {
            state.control.pause();
            state.paused = Some(Instant::now());
            state.tell(EventKind::Paused);
        }
        Ok(())
    }

    /// Lets the load go on where it stood; it ends later by the length of the pause.
    ///
    /// # Errors
    /// There is no load now.
    pub fn resume(&self) -> Result<(), String> {
        let mut state = self.loading()?;
        if let Some(since) = state.paused.take() {
            state.control.resume();
            state.stood_still += since.elapsed();
            state.tell(EventKind::Resumed);
        }
        Ok(())
    }

    /// Changes the number of virtual users of a closed workload from now to its end: that of `scenario` or, if that
    /// is empty, the one that scenarios share by weight.
    ///
    /// # Errors
    /// There is no such workload now, it does not end by time, or the machine cannot run so many users.
    pub fn set_users(&self, scenario: &str, users: u64) -> Result<(), String> {
        let to = units::counted(users, "user");
        self.change(scenario, to, users as f64, |load, left| match load {
            Load::Closed(closed) => Some(Load::Closed(Closed {
                users: Some(users),
                ramp: Duration::ZERO,
                stages: Vec::new(),
                duration: Some(left),
                ..closed.clone()
            })),
            Load::Open(_) => None,
        })
    }

    /// Changes the rate of arrivals of an open workload, per second, from now to its end, as
    /// [`Handle::set_users`] does.
    ///
    /// # Errors
    /// There is no such workload now, it does not end by time, or this machine cannot reach that rate.
    pub fn set_rate(&self, scenario: &str, rate: f64) -> Result<(), String> {
        self.change(scenario, units::rate(rate), rate, |load, left| match load {
            Load::Open(open) => Some(Load::Open(Open {
                rate: Some(rate),
                ramp: Duration::ZERO,
                stages: Vec::new(),
                duration: Some(left),
                ..open.clone()
            })),
            Load::Closed(_) => None,
        })
    }

    fn change(
        &self,
        scenario: &str,
        to: String,
        level: f64,
        changed: impl FnOnce(&Load, Duration) -> Option<Load>,
    ) -> Result<(), String> {
        let mut state = self.loading()?;
        if state.paused.is_some() {
            return Err("the load is paused: resume it first".to_owned());
        }
        let (number, own) = state.load(scenario)?;
        let Some(length) = length(&own.load) else {
            return Err(format!(
                "the load of `{scenario}` ends by iterations: it cannot be changed"
            ));
        };
        let Some(at) = state.control.elapsed().map(|elapsed| elapsed + LEAD) else {
            return Err("the load has not begun".to_owned());
        };
        let Some(from) = own.from else {
            return Err(format!(
                "the load of `{scenario}` begins when others have ended: it cannot be changed"
            ));
        };
        let begins = from + state.stood_still;
        let left = (begins + length).checked_sub(at).filter(|left| !left.is_zero());
        let Some(left) = left.filter(|_| at >= begins) else {
            return Err(format!("the load of `{scenario}` has not begun, or has ended"));
        };
        let Some(load) = changed(&own.load, left) else {
            return Err(format!("the load of `{scenario}` is of the other kind"));
        };
        let users = state.carried(number, &load)?;
        let changed = state.room_for(number, &load)?;
        state.control.reshape(number, &load, at)?;
        state.loads[usize::from(number)].users = users;
        state.change_plan(changed);
        state.tell(EventKind::Scaled { scenario: scenario.to_owned(), to, level });
        Ok(())
    }

    /// From now on all loads together may have at most so many virtual users, which is what the nodes of a fleet carry; `None`:
    /// they set no limit. A change beyond it is refused.
    pub fn limit_users(&self, most: Option<u64>) {
        self.state().most_users = most;
    }

    /// Ends the load in order, as [`Handle::stop`] does, because of a threshold: nobody interrupted the run.
    pub(crate) fn end_load(&self, abort: &Abort) {
        let state = self.state();
        state.control.stop(state.graceful_stop);
        state.tell(EventKind::Aborted(abort.clone()));
    }

    /// Whether it was stopped or aborted, in any phase.
    pub fn is_stopped(&self) -> bool {
        self.state().stopped.is_some()
    }

    /// What runs now.
    pub fn phase(&self) -> Phase {
        self.state().phase
    }

    /// Whether it was stopped or aborted in this phase.
    pub(crate) fn is_stopped_in(&self, phase: Phase) -> bool {
        self.state().stopped == Some(phase)
    }

    /// Begins to control a run of this plan; `None`: nobody knows what those have who generate its load.
    pub(crate) fn attach(&self, sinks: &Arc<Sinks>, plan: &Plan, headroom: Option<Headroom>) {
        let mut state = self.state();
        state.sinks = Some(sinks.clone());
        state.loads = planned(plan);
        state.room = headroom.map(|headroom| (plan.clone(), headroom));
    }

    /// The run is over.
    pub(crate) fn release(&self) {
        self.state().sinks = None;
    }

    /// Begins a phase, unless it must not be begun any more: after a stop only a teardown is, after the end
    /// at once nothing.
    pub(crate) fn begin(&self, phase: Phase, graceful_stop: Duration) -> Option<Control> {
        let mut state = self.state();
        if state.is_aborted || (state.stopped.is_some() && phase != Phase::Teardown) {
            return None;
        }
        (state.phase, state.graceful_stop) = (phase, graceful_stop);
        (state.paused, state.stood_still, state.most_users) = (None, Duration::ZERO, None);
        state.control = Control::default();
        Some(state.control.clone())
    }

    fn state(&self) -> MutexGuard<'_, HandleState> {
        // Nothing that holds the lock can leave it half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn loading(&self) -> Result<MutexGuard<'_, HandleState>, String> {
        let state = self.state();
        match state.phase == Phase::Load && state.stopped.is_none() {
            true => Ok(state),
            false => Err("there is no load now".to_owned()),
        }
    }
}

impl HandleState {
    fn tell(&self, kind: EventKind) {
        self.sinks.iter().for_each(|sinks| sinks.event(kind.clone()));
    }

    /// The most virtual users that a load has with this shape, or had before: they stay. An error if the nodes do not carry
    /// them together with those of the others.
    fn carried(&self, number: u16, load: &Load) -> Result<u64, String> {
        let others = self.loads.iter().enumerate().filter(|(own, _)| *own != usize::from(number));
        let others = others.map(|(_, own)| own.users).fold(0, u64::saturating_add);
        let before = self.loads.get(usize::from(number)).map_or(0, |own| own.users);
        let (users, all) = (most_users(load), others.saturating_add(most_users(load)));
        match self.most_users {
            Some(most) if all > most && users > before => Err(format!(
                "the nodes carry at most {} together (`--max-users`), and the load would have {}: ask for fewer, or start nodes that carry more",
                units::counted(most, "virtual user"),
                units::count(all),
            )),
            _ => Ok(users.max(before)),
        }
    }

    /// The plan with another load in the place of one of its own, if the machine can run it; `None`: nobody knows what
    /// the machine can run.
    fn room_for(&self, number: u16, load: &Load) -> Result<Option<Plan>, String> {
        let Some((now, headroom)) = &self.room else { return Ok(None) };
        let mut plan = now.clone();
        if let Some(own) = plans::loads(&mut plan).into_iter().nth(usize::from(number)) {
            *own = load.clone();
        }
        headroom.refuses(now, &plan).map_or(Ok(Some(plan)), Err)
    }

    /// The plan has these loads from now on.
    fn change_plan(&mut self, changed: Option<Plan>) {
        if let (Some((plan, _)), Some(changed)) = (&mut self.room, changed) {
            *plan = changed;
        }
    }

    /// A load and its number.
    fn load(&self, scenario: &str) -> Result<(u16, &PlannedLoad), String> {
        let mut numbered = (0..).zip(&self.loads);
        numbered.find(|(_, load)| load.scenario == scenario).ok_or_else(|| {
            let known: Vec<String> =
                self.loads.iter().map(|load| format!("`{}`", load.scenario)).collect();
            format!("`{scenario}` has no load of its own: there are {}", known.join(", "))
        })
    }
}

/// The most virtual users that a load has at a time.
fn most_users(load: &Load) -> u64 {
    match load {
        Load::Closed(closed) => {
            let levels = closed.stages.iter().map(|stage| stage.level.ceil() as u64);
            levels.chain(closed.users).max().unwrap_or(1)
        }
        Load::Open(open) => open.max_users,
    }
}

/// The loads of a plan, in the order in which the engine numbers them.
fn planned(plan: &Plan) -> Vec<PlannedLoad> {
    let own = plan.scenarios.iter().filter_map(|scenario| {
        let load = scenario.load.as_ref()?.value.clone();
        let (users, from) = (most_users(&load), scenario.begins());
        Some(PlannedLoad { scenario: scenario.name.value.clone(), load, from, users })
    });
    let shared = plan.load.iter().map(|load| PlannedLoad {
        scenario: String::new(),
        load: load.value.clone(),
        from: Some(Duration::ZERO),
        users: most_users(&load.value),
    });
    own.chain(shared).collect()
}

/// How long a load lasts; `None`: until its iterations are done.
fn length(load: &Load) -> Option<Duration> {
    let of = |stages: &[Stage]| -> Option<Duration> {
        (!stages.is_empty()).then(|| stages.iter().map(|stage| stage.over).sum())
    };
    let (length, iterations) = match load {
        Load::Closed(closed) => {
            (closed.duration.or(of(&closed.stages)), closed.iterations.or(closed.total_iterations))
        }
        Load::Open(open) => (open.duration.or(of(&open.stages)), open.total_iterations),
    };
    length.filter(|_| iterations.is_none())
}
