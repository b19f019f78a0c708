//! The threads and queues of sinks.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use squall_engine::{Exchange, ExchangeFilter, SeenGroup, Spares, Trace};
use squall_report::{FeedReport, Mark, Run};

use super::{Delivery, Event, EventKind, Second, SeenExchange, Sink, Start, WantedExchanges};
use crate::error::Error;
use crate::handle::{Handle, Phase};
use crate::marks::Marks;

mod patience;
mod thread;

use self::patience::Patience;

/// Most seconds that wait for a sink: ten minutes.
const MAX_SECONDS: usize = 600;
/// Most events that wait for a sink.
const MAX_EVENTS: usize = 4_096;
/// Most exchanges that wait for a sink, and most bytes of their messages.
const MAX_EXCHANGES: usize = 16_384;
const MAX_EXCHANGE_BYTES: usize = 64 << 20;
/// Exchanges that are handed over together, or fewer with so many bytes of messages.
const TOGETHER: usize = 256;
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
        let losses: Vec<String> = error.into_iter().chain(dropped).collect();
        (!losses.is_empty()).then(|| format!("{}: {}", self.name, losses.join("; ")))
    }
}

/// What waits in a queue, and how the sink behind it has fared.
#[derive(Debug, Default)]
struct Queue {
    seconds: AtomicUsize,
    events: AtomicUsize,
    exchanges: AtomicUsize,
    exchange_bytes: AtomicUsize,
    dropped: AtomicU64,
    exchanges_dropped: AtomicU64,
    exchanges_told: AtomicU64,
    /// Whatever it was told of, so that it is seen whether it goes on.
    taken: AtomicU64,
    /// Whether it is not waited for any more, and told of nothing.
    is_given_up: AtomicBool,
    /// Where exchanges go that it was told of.
    spares: Spares,
    /// How often it failed, and its first error.
    failed: Mutex<(u64, Option<String>)>,
}

enum Message {
    Second(Arc<Second>),
    Event(Arc<Event>),
    Exchanges(Gathered),
    /// Asks for a word when everything before it is done.
    Settle(Sender<()>),
    Finish(Arc<Run>),
    Amend(Arc<Run>),
    /// Nothing more comes.
    End,
}

/// Exchanges, and groups, with the bytes of their messages.
#[derive(Default)]
struct Gathered {
    events: Vec<(Event, usize)>,
    bytes: usize,
}

impl Gathered {
    /// The exchanges among them.
    fn exchanges(self) -> Vec<Arc<Exchange>> {
        let exchange = |(event, _): (Event, usize)| match event.kind {
            EventKind::Exchange(seen) => Some(seen.exchange),
            _ => None,
        };
        self.events.into_iter().filter_map(exchange).collect()
    }
}

/// A sink at work.
struct Feed {
    name: String,
    sender: Sender<Message>,
    /// Exchanges that are not handed over yet: to wake the sink's thread for each would cost more than the request did.
    /// They go before whatever comes next, which is a second at the latest.
    gathered: Mutex<Gathered>,
    queue: Arc<Queue>,
    wanted: Option<WantedExchanges>,
    /// Whether it wants groups, too.
    wants_groups: bool,
    /// Whether it keeps a folder.
    has_folder: bool,
    delivery: Option<Delivery>,
    /// Until it was waited for.
    thread: Mutex<Option<JoinHandle<()>>>,
}

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
    /// Starts sinks, each under its name, one after the other. Those after one that cannot work are not started.
    ///
    /// # Errors
    /// One cannot work, which is bad input, or there is no thread for it, or the run is stopped before all have begun.
    pub(crate) fn start(
        sinks: Vec<(String, Box<dyn Sink>)>,
        start: &Arc<Start>,
        handle: &Handle,
    ) -> Result<Sinks, Error> {
        let mut all = Sinks::none();
        for (name, sink) in sinks {
            let feed = all.begin(name, sink, start, handle)?;
            all.feeds.push(feed);
        }
        Ok(all)
    }

    fn begin(
        &mut self,
        name: String,
        sink: Box<dyn Sink>,
        start: &Arc<Start>,
        handle: &Handle,
    ) -> Result<Feed, Error> {
        let (sender, inbox) = channel();
        let (say, said) = channel();
        let queue = Arc::new(Queue { spares: self.spares.clone(), ..Queue::default() });
        let (own, start) = (queue.clone(), start.clone());
        let thread = std::thread::Builder::new()
            .name("sink".to_owned())
            .spawn(move || thread::live(sink, &start, &say, &inbox, &own))
            .map_err(|error| Error::incomplete(format!("{name}: {error}")))?;
        let wanted = self.patience.begun(&name, &said, handle)?;
        let wanted = wanted.map_err(|error| refused(&name, &error))?;
        let has_folder = wanted.folder.is_some();
        self.folder = self.folder.take().or(wanted.folder);
        Ok(Feed {
            name,
            sender,
            gathered: Mutex::default(),
            queue,
            wanted: wanted.exchanges,
            wants_groups: wanted.groups,
            has_folder,
            delivery: wanted.delivery,
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

    /// What workers hand their copies of exchanges to in a phase; `None`: no sink wants any.
    pub(crate) fn trace(self: &Arc<Self>, phase: Phase) -> Option<Trace> {
        let wanted: Vec<WantedExchanges> =
            self.feeds.iter().filter_map(|feed| feed.wanted).collect();
        let first = wanted.first()?;
        // Of different wishes the engine makes all copies, and each sink gets its own.
        let same = wanted.iter().all(|other| other.which == first.which);
        let which = if same { first.which } else { ExchangeFilter::All };
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
        let trace = trace.with_spares(&self.spares);
        let wants_groups = self.feeds.iter().any(|feed| feed.wants_groups);
        let sinks = self.clone();
        let told = move |group| sinks.group(phase, &Arc::new(group));
        Some(if wants_groups { trace.with_groups(told) } else { trace })
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
        let deliveries = self.feeds.iter().filter_map(|feed| feed.delivery.as_ref());
        deliveries.map(Delivery::report).collect()
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
    }
}

/// Enters a queue that has room for so much; `false`: it has not.
fn enter(queue: &AtomicUsize, size: usize, most: usize) -> bool {
    let room = |waiting: usize| (waiting + size <= most).then_some(waiting + size);
    queue.fetch_update(Relaxed, Relaxed, room).is_ok()
}

impl Feed {
    fn exchange(&self, event: Event, size: usize) {
        let mut gathered = self.gathered();
        gathered.events.push((event, size));
        gathered.bytes += size;
        if gathered.events.len() >= TOGETHER || gathered.bytes >= BYTES_TOGETHER {
            self.hand_over(&mut gathered);
        }
    }

    /// Hands a message over, behind the exchanges before it.
    fn send(&self, message: Message) {
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
    fn has_ended(&self, within: Duration) -> bool {
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

    fn report(&self) -> SinkReport {
        let (failed, error) =
            self.queue.failed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        SinkReport {
            name: self.name.clone(),
            exchanges: self.queue.exchanges_told.load(Relaxed),
            exchanges_dropped: self.queue.exchanges_dropped.load(Relaxed),
            dropped: self.queue.dropped.load(Relaxed),
            failed,
            error,
        }
    }
}

impl Queue {
    /// Lets in what was gathered, and counts what there is no room for. Who calls it holds what is gathered: nobody else
    /// lets anything in meanwhile.
    fn admit(&self, gathered: &mut Gathered) {
        let mut room = MAX_EXCHANGES.saturating_sub(self.exchanges.load(Relaxed));
        let mut bytes = MAX_EXCHANGE_BYTES.saturating_sub(self.exchange_bytes.load(Relaxed));
        let before = gathered.events.len();
        gathered.events.retain(|(_, size)| {
            let fits = room > 0 && *size <= bytes;
            if fits {
                (room, bytes) = (room - 1, bytes - size);
            } else {
                gathered.bytes -= size;
            }
            fits
        });
        let admitted = gathered.events.len();
        self.exchanges_dropped.fetch_add((before - admitted) as u64, Relaxed);
        self.exchanges.fetch_add(admitted, Relaxed);
        self.exchange_bytes.fetch_add(gathered.bytes, Relaxed);
    }

    /// Lets the sink do something, and notes how it fails.
    fn watch(&self, work: impl FnOnce() -> io::Result<()>) {
        let panicked = |_| Err(io::Error::other("it panicked: this is a bug, please report it"));
        let done = catch_unwind(AssertUnwindSafe(work));
        if let Err(error) = done.unwrap_or_else(panicked) {
            self.fail(error.to_string());
        }
    }

    /// Notes a failure.
    fn fail(&self, error: String) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.0 += 1;
        failed.1.get_or_insert(error);
    }
}

#[cfg(test)]
mod tests;
