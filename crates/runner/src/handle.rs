//! Controls a run from any thread while it goes on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use squall_engine::Control;

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Before anything is sent.
    Preparation,
    /// The plan's setup.
    Setup,
    /// The plan's load.
    Load,
    /// The plan's teardown.
    Teardown,
}

impl Phase {
    /// Its name.
    pub fn label(self) -> &'static str {
        match self {
            Phase::Preparation => "preparation",
            Phase::Setup => "setup",
            Phase::Load => "load",
            Phase::Teardown => "teardown",
        }
    }
}

/// Controls one run from any thread: all copies control the same one. What is asked before it starts is
/// obeyed when it does. Each run takes a new one.
#[derive(Debug, Clone)]
pub struct Handle(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    phase: Phase,
    /// In which phase a stop was asked for last.
    stopped: Option<Phase>,
    is_aborted: bool,
    /// Controls what runs now.
    control: Control,
    /// The time that requests in flight have when it is stopped.
    graceful_stop: Duration,
}

impl Default for Handle {
    fn default() -> Self {
        Handle(Arc::new(Mutex::new(State {
            phase: Phase::Preparation,
            stopped: None,
            is_aborted: false,
            control: Control::default(),
            graceful_stop: Duration::ZERO,
        })))
    }
}

impl Handle {
    /// Ends what runs now in order: nothing new is begun, requests in flight may finish within the plan's
    /// `graceful_stop`. A load that is stopped in its setup is never started; the teardown runs
    /// nevertheless, unless it is what was stopped.
    pub fn stop(&self) {
        let mut state = self.state();
        state.stopped = Some(state.phase);
        let (control, graceful_stop) = (state.control.clone(), state.graceful_stop);
        drop(state);
        control.stop(graceful_stop);
    }

    /// Ends everything at once, without a teardown. What was measured is kept.
    pub fn abort(&self) {
        let mut state = self.state();
        state.stopped = Some(state.phase);
        state.is_aborted = true;
        let control = state.control.clone();
        drop(state);
        control.abort();
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

    /// Begins a phase, unless it must not be begun any more: after a stop only a teardown is, after the end
    /// at once nothing.
    pub(crate) fn begin(&self, phase: Phase, graceful_stop: Duration) -> Option<Control> {
        let mut state = self.state();
        if state.is_aborted || (state.stopped.is_some() && phase != Phase::Teardown) {
            return None;
        }
        (state.phase, state.graceful_stop) = (phase, graceful_stop);
        state.control = Control::default();
        Some(state.control.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can leave it half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
