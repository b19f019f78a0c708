//! What is known of a run, shared by all who show it: a sink that folds seconds and events into a [`LiveState`], and wakes
//! those who wait for the next.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use squall_report::Run;
use squall_runner::{Event, Second, Sink, Start, Wanted};

use crate::state::LiveState;

#[derive(Debug, Default)]
pub struct Follow {
    shared: Shared,
    greeting: Option<String>,
}

impl Follow {
    /// Of a run of which a person should know something at first, such as where its page is.
    pub fn greet(&mut self, text: String) {
        self.greeting = Some(text);
    }

    /// What it knows, also while it learns more.
    pub fn shared(&self) -> Shared {
        self.shared.clone()
    }
}

impl Sink for Follow {
    fn start(&mut self, start: &Start) -> io::Result<Wanted> {
        let mut state = LiveState::new(start);
        if let Some(text) = self.greeting.take() {
            state.greet(text);
        }
        self.shared.begin(state);
        Ok(Wanted::default())
    }

    fn second(&mut self, second: &Second) -> io::Result<()> {
        self.shared.change(|state| state.second(second));
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.shared.change(|state| state.event(event));
        Ok(())
    }

    fn finish(&mut self, _: &Run) -> io::Result<()> {
        Ok(())
    }
}

/// What is known of a run; all copies are of the same.
#[derive(Debug, Clone, Default)]
pub struct Shared(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Once the run has started.
    known: OnceLock<Known>,
    changed: Condvar,
}

#[derive(Debug)]
struct Known {
    state: Mutex<LiveState>,
    began: Instant,
}

impl Shared {
    /// A run begins now.
    pub(crate) fn begin(&self, state: LiveState) {
        // There is one run, and what would come second changes nothing.
        let _ = self.0.known.set(Known { state: Mutex::new(state), began: Instant::now() });
    }

    fn change(&self, change: impl FnOnce(&mut LiveState)) {
        if let Some(mut state) = self.state() {
            change(&mut state);
        }
        self.0.changed.notify_all();
    }

    /// What is known at this moment; `None`: the run has not started.
    pub fn state(&self) -> Option<MutexGuard<'_, LiveState>> {
        let known = self.0.known.get()?;
        // A state that is half changed shows at worst a wrong number.
        let mut state = known.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.now_s = known.began.elapsed().as_secs_f64();
        Some(state)
    }

    /// Waits until something has changed since so many changes, or somebody wakes those who wait, at most so long.
    pub fn wait(&self, changes: u64, patience: Duration) {
        let Some(state) = self.state() else {
            std::thread::sleep(patience);
            return;
        };
        if state.changes == changes {
            drop(self.0.changed.wait_timeout(state, patience));
        }
    }

    /// Wakes those who wait.
    pub fn wake(&self) {
        self.0.changed.notify_all();
    }
}
