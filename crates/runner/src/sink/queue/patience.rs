//! How long a run waits for its sinks: until they have begun, and until they have done what they were told. One that hangs, such
//! as one that writes to a pipe which nobody reads, holds up neither the other sinks nor the end of the run.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::{Feed, Sinks};
use crate::error::Error;
use crate::handle::Handle;

/// Time between two looks at whether it is worth it to wait on.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// How long a sink is waited for that does nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Until it has begun, or takes something.
    pub usual: Duration,
    /// The same of one that has the run's folder, which may have much to compute.
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
    fn at_the_end(&self, is_hurried: bool, has_folder: bool) -> Duration {
        match (is_hurried, has_folder) {
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
        handle: &Handle,
    ) -> Result<T, Error> {
        let began = Instant::now();
        loop {
            match said.recv_timeout(BETWEEN_LOOKS) {
                Ok(said) => return Ok(said),
                Err(RecvTimeoutError::Timeout) if handle.is_stopped() => {
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

impl Sinks {
    /// Waits until sinks have done what they were told, of each of which a function says whether it has, or does within a time.
    /// One that takes nothing for too long is given up.
    pub(super) fn wait(&self, waits: Vec<(&Feed, impl Fn(Duration) -> bool)>) {
        let began = Instant::now();
        let taken = |feed: &Feed| feed.queue.taken.load(Relaxed);
        let waits: Vec<_> =
            waits.into_iter().map(|(feed, is_done)| (feed, is_done, taken(feed))).collect();
        for (feed, is_done, mut before) in waits {
            let mut since = began;
            while !is_done(BETWEEN_LOOKS) {
                let now = taken(feed);
                if now != before {
                    (before, since) = (now, Instant::now());
                }
                let is_hurried = self.is_hurried.load(Relaxed);
                let most = self.patience.at_the_end(is_hurried, feed.has_folder);
                if since.elapsed() >= most {
                    feed.give_up(most);
                    break;
                }
            }
        }
    }
}

impl Feed {
    /// Waits for it no more: what it has not taken is lost.
    fn give_up(&self, waited: Duration) {
        let queue = &self.queue;
        queue.is_given_up.store(true, Relaxed);
        let left = queue.seconds.load(Relaxed) + queue.events.load(Relaxed);
        queue.dropped.fetch_add(left as u64, Relaxed);
        queue.exchanges_dropped.fetch_add(queue.exchanges.load(Relaxed) as u64, Relaxed);
        let waited = said_s(waited);
        queue.fail(format!("it took nothing for {waited} and was not waited for any longer"));
    }

    /// Whether it was given up.
    pub(super) fn is_given_up(&self) -> bool {
        self.queue.is_given_up.load(Relaxed)
    }
}

fn said_s(time: Duration) -> String {
    squall_base::units::print_duration(time)
}
