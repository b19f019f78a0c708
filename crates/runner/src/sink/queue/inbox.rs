//! The queue before a sink: what waits in it, what it has room for, and what is lost.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use squall_engine::{Exchange, Spares};
use squall_report::Run;

use crate::sink::event::{Event, EventKind};
use crate::sink::second::Second;

/// Most seconds that wait for a sink: ten minutes.
pub const MAX_SECONDS: usize = 600;
/// Most events that wait for a sink.
pub const MAX_EVENTS: usize = 4_096;
/// Most exchanges that wait for a sink, and most bytes of their messages.
pub const MAX_EXCHANGES: usize = 16_384;
pub const MAX_EXCHANGE_BYTES: usize = 64 << 20;

/// What waits in a queue, and how the sink behind it has fared.
#[derive(Debug, Default)]
pub struct Queue {
    pub seconds: AtomicUsize,
    pub events: AtomicUsize,
    pub exchanges: AtomicUsize,
    pub exchange_bytes: AtomicUsize,
    pub dropped: AtomicU64,
    pub exchanges_dropped: AtomicU64,
    pub exchanges_told: AtomicU64,
    /// Whatever it was told of, so that it is seen whether it goes on.
    pub taken: AtomicU64,
    /// Whether it is not waited for any more, and told of nothing.
    pub is_given_up: AtomicBool,
    /// Where exchanges go that it was told of.
    pub spares: Spares,
    /// How often it failed, and its first error.
    pub failed: Mutex<(u64, Option<String>)>,
}

/// What a sink's thread is told.
pub enum Message {
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
pub struct Gathered {
    pub events: Vec<(Event, usize)>,
    pub bytes: usize,
}

impl Gathered {
    /// The exchanges among them.
    pub fn exchanges(self) -> Vec<Arc<Exchange>> {
        let exchange = |(event, _): (Event, usize)| match event.kind {
            EventKind::Exchange(seen) => Some(seen.exchange),
            _ => None,
        };
        self.events.into_iter().filter_map(exchange).collect()
    }
}

/// Enters a queue that has room for so much; `false`: it has not.
pub fn enter(queue: &AtomicUsize, size: usize, most: usize) -> bool {
    let room = |waiting: usize| (waiting + size <= most).then_some(waiting + size);
    queue.fetch_update(Relaxed, Relaxed, room).is_ok()
}

impl Queue {
    /// Lets in what was gathered, and counts what there is no room for. Who calls it holds what is gathered: nobody else
    /// lets anything in meanwhile.
    pub fn admit(&self, gathered: &mut Gathered) {
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
    pub fn watch(&self, work: impl FnOnce() -> io::Result<()>) {
        let panicked = |_| Err(io::Error::other("it panicked: this is a bug, please report it"));
        let done = catch_unwind(AssertUnwindSafe(work));
        if let Err(error) = done.unwrap_or_else(panicked) {
            self.fail(error.to_string());
        }
    }

    pub fn fail(&self, error: String) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.0 += 1;
        failed.1.get_or_insert(error);
    }
}
