//! Signals that end a command. The first (Ctrl-C, SIGTERM, a terminal that closes) ends what runs in order:
//! requests in flight may finish. The second ends it at once; the results are kept in both cases. The third
//! exits.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use squall_engine::Control;

use crate::exit::Exit;
use crate::out;

/// The signals that a command has received, and what they are to end.
#[derive(Debug, Clone)]
pub struct Interrupts(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    received: u32,
    /// Controls what runs now.
    control: Control,
    /// The time that requests in flight have after the first signal.
    graceful_stop: Duration,
}

impl Interrupts {
    /// Watches for SIGINT, SIGTERM and SIGHUP from now on, on a thread of its own.
    ///
    /// # Errors
    /// The system is out of threads or descriptors.
    pub fn watch(graceful_stop: Duration) -> io::Result<Interrupts> {
        let state = State { received: 0, control: Control::default(), graceful_stop };
        let interrupts = Interrupts(Arc::new(Mutex::new(state)));
        // `nohup` has SIGHUP ignored: it is to stay so.
        let hangup = if is_ignored(SIGHUP) { None } else { Some(SIGHUP) };
        let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup))?;
        let own = interrupts.clone();
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || signals.forever().for_each(|_| own.receive()))?;
        Ok(interrupts)
    }

    /// Begins a part of the command that signals can end, unless more than `most` were received before.
    pub fn begin(&self, most: u32) -> Option<Control> {
        let mut state = self.state();
        if state.received > most {
            return None;
        }
        state.control = Control::default();
        Some(state.control.clone())
    }

    /// How many signals were received.
    pub fn received(&self) -> u32 {
        self.state().received
    }

    fn receive(&self) {
        let mut state = self.state();
        state.received = state.received.saturating_add(1);
        let (number, control) = (state.received, state.control.clone());
        let graceful_stop = state.graceful_stop;
        drop(state);
        match number {
            1 => {
                control.stop(graceful_stop);
                out::message(
                    "\nstopping: requests in flight may finish (press Ctrl-C again to stop at once)\n",
                );
            }
            2 => control.abort(),
            // A third signal exits even without results.
            _ => std::process::exit(Exit::Interrupted as i32),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can leave it half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether this process was started with a signal ignored, where the system says so (Linux).
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
