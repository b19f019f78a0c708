//! The threads and queues of sinks.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use squall_engine::{Exchange, ExchangeFilter, Measured, SeenGroup, Spares, Trace};
use squall_report::{FeedReport, Mark, Run};

use super::event::{Event, EventKind, SeenExchange};
use super::interface::{Sink, Start, WantedExchanges};
use super::marks::Marks;
use super::profiled::Profiled;
use super::second::Second;
use crate::error::Error;
use crate::phase::Phase;

mod feed;
mod inbox;
mod patience;
mod thread;

use self::feed::Feed;
pub use self::feed::SinkReport;
use self::inbox::{MAX_EVENTS, MAX_SECONDS, Message, Queue, enter};
use self::patience::{BETWEEN_LOOKS, Patience};

/// The sinks of a run.
pub(crate) struct Sinks {
    feeds: Vec<Feed>,
    began: Instant,
    folder: Option<PathBuf>,
    marks: Mutex<Marks>,
    /// Exchanges that all were told of.
    spares: Spares,
    patience: Patience,
    /// Whether somebody has asked for the end at once.
    is_hurried: AtomicBool,
}

impl std::fmt::Debug for Sinks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.feeds.iter().map(|feed| feed.name.as_str()).collect();
        f.debug_struct("Sinks").field("names", &names).finish()
    }
}

impl Sinks {
    /// Starts sinks, each under its name, one after the other, unless the run is stopped meanwhile. Those after one that
    /// cannot work are not started.
    ///
    /// # Errors
    /// One cannot work, which is bad input, or there is no thread for it, or the run is stopped before all have begun.
    pub(crate) fn start(
        sinks: Vec<(String, Box<dyn Sink>)>,
        start: &Arc<Start>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Sinks, Error> {
        let mut all = Sinks::none();
        for (name, sink) in sinks {
            let feed = all.begin(name, sink, start, is_stopped)?;
            all.feeds.push(feed);
        }
        Ok(all)
    }

    fn begin(
        &mut self,
        name: String,
        sink: Box<dyn Sink>,
        start: &Arc<Start>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Feed, Error> {
        let (sender, inbox) = channel();
        let (say, said) = channel();
        let queue = Arc::new(Queue { spares: self.spares.clone(), ..Queue::default() });
        let (own, start) = (queue.clone(), start.clone());
        let thread = std::thread::Builder::new()
            .name("sink".to_owned())
            .spawn(move || thread::live(sink, &start, &say, &inbox, &own))
            .map_err(|error| Error::incomplete(format!("{name}: {error}")))?;
        let wanted = self.patience.begun(&name, &said, is_stopped)?;
        let wanted = wanted.map_err(|error| refused(&name, &error))?;
        let takes_long = wanted.folder.is_some() || wanted.profile.is_some();
        self.folder = self.folder.take().or(wanted.folder);
        Ok(Feed {
            name,
            sender,
            gathered: Mutex::default(),
            queue,
            wanted: wanted.exchanges,
            wants_groups: wanted.groups,
            wants_measured: wanted.measured,
            takes_long,
            delivery: wanted.delivery,
            profile: wanted.profile,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Nobody watches.
    pub(crate) fn none() -> Sinks {
        Sinks {
            feeds: Vec::new(),
            began: Instant::now(),
            folder: None,
            marks: Mutex::default(),
            spares: Spares::default(),
            patience: Patience::default(),
            is_hurried: AtomicBool::new(false),
        }
    }

    /// The folder of the first sink that has one.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Tells all sinks of a second.
    pub(crate) fn second(&self, second: Second) {
        let second = Arc::new(second);
        for feed in &self.feeds {
            let queue = &feed.queue;
            if enter(&queue.seconds, 1, MAX_SECONDS) {
                feed.send(Message::Second(second.clone()));
            } else {
                queue.dropped.fetch_add(1, Relaxed);
            }
        }
    }

    /// Tells all sinks of an event.
    pub(crate) fn event(&self, kind: EventKind) {
        let event = Arc::new(Event { at_s: self.began.elapsed().as_secs_f64(), kind });
        self.marks().note(event.at_s, &event.kind);
        if matches!(event.kind, EventKind::AbortAsked(_)) {
            self.is_hurried.store(true, Relaxed);
        }
        for feed in &self.feeds {
            if enter(&feed.queue.events, 1, MAX_EVENTS) {
                feed.send(Message::Event(event.clone()));
            } else {
                feed.queue.dropped.fetch_add(1, Relaxed);
            }
        }
    }

    /// What is marked in the result of a load that took `elapsed_s` seconds.
    pub(crate) fn marks_of_load(&self, elapsed_s: f64) -> Vec<Mark> {
        self.marks().of_load(elapsed_s)
    }

    fn marks(&self) -> MutexGuard<'_, Marks> {
        // Nothing that holds the lock can leave it half changed.
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What workers hand their copies of exchanges to in a phase, and what scripts measure; `None`: no sink wants any.
    pub(crate) fn trace(self: &Arc<Self>, phase: Phase) -> Option<Trace> {
        let wanted: Vec<WantedExchanges> =
            self.feeds.iter().filter_map(|feed| feed.wanted).collect();
        let wants_measured = self.feeds.iter().any(|feed| feed.wants_measured);
        let first = match wanted.first() {
            Some(first) => first.which,
            None if wants_measured => ExchangeFilter::None,
            None => return None,
        };
        // Of different wishes the engine makes all copies, and each sink gets its own.
        let same = wanted.iter().all(|other| other.which == first);
        let which = if same { first } else { ExchangeFilter::All };
        let bytes = wanted.iter().map(|wanted| wanted.bytes).max().unwrap_or(0);
        let sinks = self.clone();
        let seen = AtomicU64::new(0);
        let trace = Trace::new(which, bytes, move |exchange| {
            // Workers share the number: it is counted only where somebody asks for it.
            let number = if same { 0 } else { seen.fetch_add(1, Relaxed) };
            let size = exchange.copied_bytes();
            let at_s = sinks.began.elapsed().as_secs_f64();
            for feed in &sinks.feeds {
                let picked = |wanted: ExchangeFilter| same || picks(wanted, number, &exchange);
                if feed.wanted.is_some_and(|wanted| picked(wanted.which)) {
                    let exchange = exchange.clone();
                    let kind = EventKind::Exchange(SeenExchange { phase, exchange });
                    feed.exchange(Event { at_s, kind }, size);
                }
            }
        });
        let sinks = self.clone();
        let trace = trace.with_spares(&self.spares).with_lost(move |copies| {
            for feed in sinks.feeds.iter().filter(|feed| feed.wanted.is_some()) {
                feed.queue.exchanges_dropped.fetch_add(copies, Relaxed);
            }
        });
        let wants_groups = self.feeds.iter().any(|feed| feed.wants_groups);
        let sinks = self.clone();
        let told = move |group| sinks.group(phase, &Arc::new(group));
        let trace = if wants_groups { trace.with_groups(told) } else { trace };
        let sinks = self.clone();
        let told = move |measured| sinks.measured(phase, &Arc::new(measured));
        Some(if wants_measured { trace.with_measured(told) } else { trace })
    }

    /// Tells those who want them of values that a script has measured.
    fn measured(&self, phase: Phase, measured: &Arc<Measured>) {
        let at_s = self.began.elapsed().as_secs_f64();
        for feed in self.feeds.iter().filter(|feed| feed.wants_measured) {
            let kind = EventKind::Measured { phase, measured: measured.clone() };
            feed.exchange(Event { at_s, kind }, measured.bytes());
        }
    }

    /// Tells those who want groups of one. It waits with the exchanges, so that it comes after those that were in it.
    fn group(&self, phase: Phase, group: &Arc<SeenGroup>) {
        let at_s = self.began.elapsed().as_secs_f64();
        for feed in self.feeds.iter().filter(|feed| feed.wants_groups) {
            let kind = EventKind::Group { phase, group: group.clone() };
            feed.exchange(Event { at_s, kind }, 0);
        }
    }

    /// Waits until all sinks have done what they were told, but for those that hang.
    pub(crate) fn settle(&self) {
        let waits = self.at_work().map(|feed| {
            let (done, wait) = channel();
            feed.send(Message::Settle(done));
            // An error other than that it takes longer: the thread is gone, and nothing is left to wait for.
            let is_done =
                move |within: Duration| wait.recv_timeout(within) != Err(RecvTimeoutError::Timeout);
            (feed, is_done)
        });
        self.wait(waits.collect());
    }

    /// Those that were not given up.
    fn at_work(&self) -> impl Iterator<Item = &Feed> {
        self.feeds.iter().filter(|feed| !feed.is_given_up())
    }

    /// How the sinks have fared so far.
    pub(crate) fn reports(&self) -> Vec<SinkReport> {
        self.feeds.iter().map(Feed::report).collect()
    }

    /// What became so far of what sinks send elsewhere.
    pub(crate) fn deliveries(&self) -> Vec<FeedReport> {
        self.feeds.iter().filter_map(Feed::delivered).collect()
    }

    /// The profiles that sinks take.
    pub(crate) fn profiles(&self) -> impl Iterator<Item = &Profiled> {
        self.feeds.iter().filter_map(|feed| feed.profile.as_ref())
    }

    /// Exchanges that sinks which wanted any were told of, and those that found a queue full; `None`: none
    /// wanted any.
    pub(crate) fn exchanges(&self) -> Option<(u64, u64)> {
        let mut wanting = self.feeds.iter().filter(|feed| feed.wanted.is_some()).peekable();
        wanting.peek()?;
        Some(wanting.map(Feed::report).fold((0, 0), |(told, dropped), report| {
            (told + report.exchanges, dropped + report.exchanges_dropped)
        }))
    }

    /// Tells the sinks of the result, and waits until they have taken it. What happens later reaches none.
    pub(crate) fn finish(&self, run: &Arc<Run>) -> Vec<SinkReport> {
        self.at_work().for_each(|feed| feed.send(Message::Finish(run.clone())));
        self.settle();
        self.reports()
    }

    /// Tells them of the result once more, as something was lost when they took it.
    pub(crate) fn amend(&self, run: &Arc<Run>) {
        self.at_work().for_each(|feed| feed.send(Message::Amend(run.clone())));
        self.settle();
    }

    /// Waits for the threads to end.
    pub(crate) fn end(&self) {
        let waits = self.at_work().map(|feed| {
            feed.send(Message::End);
            (feed, |within| feed.has_ended(within))
        });
        self.wait(waits.collect());
    }

    /// Waits until sinks have done what they were told, of each of which a function says whether it has, or does within a time.
    /// One that takes nothing for too long is given up.
    fn wait(&self, waits: Vec<(&Feed, impl Fn(Duration) -> bool)>) {
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
                let most = self.patience.at_the_end(is_hurried, feed.takes_long);
                if since.elapsed() >= most {
                    feed.give_up(most);
                    break;
                }
            }
        }
    }
}

/// Why a sink cannot work, which is bad input unless the system is out of something.
fn refused(name: &str, error: &io::Error) -> Error {
    let text = format!("{name}: {error}");
    match Errno::from_io_error(error) {
        Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => Error::incomplete(text),
        _ => Error::input(text),
    }
}

/// Whether a sink is to see an exchange, of several of which `number` were before it.
fn picks(which: ExchangeFilter, number: u64, exchange: &Exchange) -> bool {
    match which {
        ExchangeFilter::All => true,
        ExchangeFilter::Failed => exchange.error.is_some(),
        ExchangeFilter::OneIn(every) => number.is_multiple_of(every.max(1)),
        ExchangeFilter::None => false,
    }
}

#[cfg(test)]
mod tests;
