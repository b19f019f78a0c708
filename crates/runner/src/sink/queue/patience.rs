//! How long a run waits for its sinks: until they have begun, and until they have done what they were told. One that hangs, such
//! as one that writes to a pipe which nobody reads, holds up neither the other sinks nor the end of the run.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::error::Error;

/// Time between two looks at whether it is worth it to wait on.
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// How long a sink is waited for that does nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Until it has begun, or takes something.
    pub usual: Duration,
    /// The same of one that may have much to compute: it has the run's folder, or takes a profile.
    pub with_folder: Duration,
    /// Until it takes something, once somebody has asked for the end at once.
    pub hurried: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            usual: Duration::from_secs(10),
            with_folder: Duration::from_secs(60),
            hurried: Duration::from_secs(1),
        }
    }
}

impl Patience {
    /// For one that is to do what it was told.
    pub(super) fn at_the_end(&self, is_hurried: bool, takes_long: bool) -> Duration {
        match (is_hurried, takes_long) {
            (false, false) | (true, true) => self.usual,
            (false, true) => self.with_folder,
            (true, false) => self.hurried,
        }
    }

    /// Waits for a sink of this name to say that it has begun.
    ///
    /// # Errors
    /// It does not in time, or the run is stopped meanwhile.
    pub(super) fn begun<T>(
        &self,
        name: &str,
        said: &Receiver<T>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<T, Error> {
        let began = Instant::now();
        loop {
            match said.recv_timeout(BETWEEN_LOOKS) {
                Ok(said) => return Ok(said),
                Err(RecvTimeoutError::Timeout) if is_stopped() => {
                    return Err(Error::interrupted("interrupted before anything was sent"));
                }
                Err(RecvTimeoutError::Timeout) if began.elapsed() < self.usual => {}
                Err(RecvTimeoutError::Timeout) => {
                    let waited = said_s(self.usual);
                    return Err(Error::input(format!(
                        "{name}: it could not be opened within {waited}; a pipe needs somebody who reads it"
                    )));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let text = format!("{name}: it panicked: this is a bug, please report it");
                    return Err(Error::incomplete(text));
                }
            }
        }
    }
}

/// A time as it is said.
pub(super) fn said_s(time: Duration) -> String {
    squall_base::units::print_duration(time)
}
