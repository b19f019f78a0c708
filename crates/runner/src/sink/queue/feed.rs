//! A sink at work, as the run sees it: its queue, its thread, and how it has fared.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use squall_report::FeedReport;

use super::inbox::{Gathered, Message, Queue};
use super::patience::said_s;
use crate::sink::delivery::Delivery;
use crate::sink::event::Event;
use crate::sink::interface::WantedExchanges;
use crate::sink::profiled::Profiled;

/// Exchanges that are handed over together, or fewer with so many bytes of messages.
pub const TOGETHER: usize = 256;
const BYTES_TOGETHER: usize = 1 << 20;

/// How a sink has fared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SinkReport {
    /// Its name.
    pub name: String,
    /// Exchanges that it was told of.
    pub exchanges: u64,
    /// Exchanges that found its queue full.
    pub exchanges_dropped: u64,
    /// Seconds and events that found its queue full.
    pub dropped: u64,
    /// Values that scripts measured and that found its queue full.
    pub values_dropped: u64,
    /// How often it failed.
    pub failed: u64,
    /// Its first error.
    pub error: Option<String>,
}

impl SinkReport {
    /// What is lost of the sink's work, in a sentence; `None`: nothing but perhaps exchanges.
    pub fn loss(&self) -> Option<String> {
        let error = self.error.as_ref().map(|error| match self.failed {
            1 => error.clone(),
            failed => format!("{error} ({failed} failures)"),
        });
        let dropped = (self.dropped > 0)
            .then(|| format!("{} seconds and events were left out: it was too slow", self.dropped));
        let values = (self.values_dropped > 0).then(|| {
            format!("what was measured {} times was left out: it was too slow", self.values_dropped)
        });
        let losses: Vec<String> = error.into_iter().chain(dropped).chain(values).collect();
        (!losses.is_empty()).then(|| format!("{}: {}", self.name, losses.join("; ")))
    }
}

/// A sink at work.
pub struct Feed {
    pub name: String,
    pub sender: Sender<Message>,
    /// Exchanges that are not handed over yet: to wake the sink's thread for each would cost more than the request did.
    /// They go before whatever comes next, which is a second at the latest.
    pub gathered: Mutex<Gathered>,
    pub queue: Arc<Queue>,
    pub wanted: Option<WantedExchanges>,
    /// Whether it wants groups, too.
    pub wants_groups: bool,
    /// Whether it wants what scripts measure.
    pub wants_measured: bool,
    /// Whether it may take long at the end: it keeps a folder, or takes a profile.
    pub takes_long: bool,
    pub delivery: Option<Delivery>,
    pub profile: Option<Profiled>,
    /// Until it was waited for.
    pub thread: Mutex<Option<JoinHandle<()>>>,
}

impl Feed {
    pub fn exchange(&self, event: Event, size: usize) {
        let mut gathered = self.gathered();
        gathered.events.push((event, size));
        gathered.bytes += size;
        if gathered.events.len() >= TOGETHER || gathered.bytes >= BYTES_TOGETHER {
            self.hand_over(&mut gathered);
        }
    }

    /// Hands a message over, behind the exchanges before it.
    pub fn send(&self, message: Message) {
        let mut gathered = self.gathered();
        if !gathered.events.is_empty() {
            self.hand_over(&mut gathered);
        }
        // A sink whose thread has panicked says so at the end.
        let _ = self.sender.send(message);
    }

    /// Hands over what was gathered, as far as the queue has room for it.
    fn hand_over(&self, gathered: &mut Gathered) {
        let empty = Gathered { events: Vec::with_capacity(TOGETHER), bytes: 0 };
        let mut gathered = std::mem::replace(gathered, empty);
        self.queue.admit(&mut gathered);
        let _ = self.sender.send(Message::Exchanges(gathered));
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        // Nothing that holds the lock can leave it half changed.
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether its thread has ended, or does within so long.
    pub fn has_ended(&self, within: Duration) -> bool {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = Instant::now() + within;
        while thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            if Instant::now() >= ends {
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        // What a sink panics with is an error of it already.
        thread.take().into_iter().for_each(|thread| drop(thread.join()));
        true
    }

    pub fn report(&self) -> SinkReport {
        let (failed, error) =
            self.queue.failed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Both wait in the same queue; no sink wants both.
        let waiting_dropped = self.queue.exchanges_dropped.load(Relaxed);
        let is_of_values = self.wants_measured && self.wanted.is_none();
        // What does not reach a receiver is a part of that account.
        let counts_values = is_of_values && self.delivery.is_none();
        SinkReport {
            name: self.name.clone(),
            exchanges: self.queue.exchanges_told.load(Relaxed),
            exchanges_dropped: if is_of_values { 0 } else { waiting_dropped },
            dropped: self.queue.dropped.load(Relaxed),
            values_dropped: if counts_values { waiting_dropped } else { 0 },
            failed,
            error,
        }
    }

    /// What became so far of what it sends elsewhere, if it does.
    pub fn delivered(&self) -> Option<FeedReport> {
        let mut report = self.delivery.as_ref()?.report();
        let lost = self.queue.exchanges_dropped.load(Relaxed);
        if self.wants_measured && lost > 0 {
            report.points_lost += lost;
            report
                .error
                .get_or_insert_with(|| "values came faster than they are encoded".to_owned());
        }
        Some(report)
    }

    /// Waits for it no more: what it has not taken is lost.
    pub fn give_up(&self, waited: Duration) {
        let queue = &self.queue;
        queue.is_given_up.store(true, Relaxed);
        let left = queue.seconds.load(Relaxed) + queue.events.load(Relaxed);
        queue.dropped.fetch_add(left as u64, Relaxed);
        queue.exchanges_dropped.fetch_add(queue.exchanges.load(Relaxed) as u64, Relaxed);
        let waited = said_s(waited);
        queue.fail(format!("it took nothing for {waited} and was not waited for any longer"));
    }

    /// Whether it was given up.
    pub fn is_given_up(&self) -> bool {
        self.queue.is_given_up.load(Relaxed)
    }
}
