//! The thread that hands bytes to a receiver, and what waits for it. What does not fit, what a receiver refuses, and what
//! it has not taken when the run is over and its time is up, is lost and counted.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use squall_runner::{Delivery, Trouble, give_way};

/// Most bytes that wait for a receiver: several minutes of a run with 200 names.
const MOST_BYTES: usize = 16 << 20;
/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(500);
/// How long the end of a run waits for a receiver.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How long one attempt may take.
pub const ATTEMPT: Duration = Duration::from_secs(4);

/// A second's points as bytes.
#[derive(Debug)]
pub struct Batch {
    pub bytes: Vec<u8>,
    /// How many points are in them.
    pub points: u64,
}

/// Why bytes were not taken.
#[derive(Debug)]
pub enum DeliveryError {
    /// The same bytes may be taken later, and nothing counts twice then.
    Again(Trouble),
    Lost(Trouble),
    /// So many of their points are lost, the others have arrived.
    Part(u64, Trouble),
}

impl DeliveryError {
    /// The same bytes may be taken later: what went wrong is not the receiver's word.
    pub fn again(what: impl std::fmt::Display) -> DeliveryError {
        DeliveryError::Again(Trouble::new(what))
    }

    /// They are lost: what went wrong is not the receiver's word.
    pub fn lost(what: impl std::fmt::Display) -> DeliveryError {
        DeliveryError::Lost(Trouble::new(what))
    }
}

/// Somewhere that takes bytes. It may take [`ATTEMPT`] to do so, or for ever: then its thread is left behind.
pub trait Receiver: Send {
    /// Hands over a second's points. `Ok`: they have arrived, as far as the receiver says.
    ///
    /// # Errors
    /// They have not.
    fn deliver(&mut self, bytes: &[u8]) -> Result<(), DeliveryError>;
}

/// What waits for a receiver.
#[derive(Debug)]
pub struct Outbox {
    shared: Arc<Shared>,
    delivery: Delivery,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Batch>,
    waiting_bytes: usize,
    /// Points that wait or are being handed over.
    open_points: u64,
    /// Nothing more is put in.
    is_ending: bool,
    /// The account is closed: nothing counts any more.
    is_closed: bool,
    /// The thread has nothing more to do.
    is_done: bool,
}

impl Outbox {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system gives none.
    pub fn start(receiver: Box<dyn Receiver>, delivery: &Delivery) -> io::Result<Outbox> {
        let (shared, delivery) = (Arc::new(Shared::default()), delivery.clone());
        let outbox = Outbox { shared: shared.clone(), delivery: delivery.clone() };
        let thread = std::thread::Builder::new().name("feed".to_owned());
        thread
            .spawn(move || {
                give_way();
                work(receiver, &shared, &delivery);
            })
            .map(|_| outbox)
    }

    /// Puts bytes in; if there is no room, their points are lost.
    pub fn push(&self, batch: Batch) {
        let mut state = self.shared.state();
        if state.is_ending || state.waiting_bytes + batch.bytes.len() > MOST_BYTES {
            self.delivery.trouble(&Trouble::new("the receiver is too slow"));
            return self.delivery.lost(batch.points);
        }
        state.waiting_bytes += batch.bytes.len();
        state.open_points += batch.points;
        state.waiting.push_back(batch);
        self.shared.changed.notify_all();
    }

    /// Waits so long until all was handed over, and closes the account: what was not is lost.
    pub fn finish(&self, patience: Duration) {
        let mut state = self.shared.state();
        state.is_ending = true;
        self.shared.changed.notify_all();
        let end = Instant::now() + patience;
        while !state.is_done {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if !state.is_closed && state.open_points > 0 {
            let what = "the receiver had not taken everything when the run was over";
            self.delivery.trouble(&Trouble::new(what));
            self.delivery.lost(state.open_points);
        }
        state.is_closed = true;
        self.shared.changed.notify_all();
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.finish(Duration::ZERO);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, Queue> {
        // Each change is whole, so that a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next batch; `None`: there is none any more.
    fn next(&self) -> Option<Batch> {
        let mut state = self.state();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(batch) = state.waiting.pop_front() {
                state.waiting_bytes -= batch.bytes.len();
                return Some(batch);
            }
            if state.is_ending {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether another attempt is worth it, after a pause.
    fn pause(&self) -> bool {
        let is_open = |state: &mut Queue| !state.is_closed;
        let waited = self.changed.wait_timeout_while(self.state(), PAUSE, is_open);
        !waited.unwrap_or_else(PoisonError::into_inner).0.is_closed
    }

    /// Notes what became of points, unless it is too late for that.
    fn conclude(&self, points: u64, note: impl FnOnce(u64)) {
        let mut state = self.state();
        if !state.is_closed {
            state.open_points -= points;
            note(points);
        }
    }
}

fn work(mut receiver: Box<dyn Receiver>, shared: &Shared, delivery: &Delivery) {
    while let Some(batch) = shared.next() {
        loop {
            match receiver.deliver(&batch.bytes) {
                Ok(()) => shared.conclude(batch.points, |points| delivery.sent(points)),
                Err(DeliveryError::Lost(error)) => shared.conclude(batch.points, |points| {
                    delivery.trouble(&error);
                    delivery.lost(points);
                }),
                Err(DeliveryError::Part(lost, error)) => shared.conclude(batch.points, |points| {
                    delivery.trouble(&error);
                    delivery.lost(lost.min(points));
                    delivery.sent(points.saturating_sub(lost));
                }),
                Err(DeliveryError::Again(error)) => {
                    shared.conclude(0, |_| delivery.trouble(&error));
                    if shared.pause() {
                        continue;
                    }
                }
            }
            break;
        }
    }
    // Whoever reads what it wrote sees its end before the run does.
    drop(receiver);
    shared.state().is_done = true;
    shared.changed.notify_all();
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver as Inbox, channel};

    use squall_plan::secrets::Secrets;

    use super::*;

    /// Answers each attempt with what a test says, and waits for that.
    struct Told(Inbox<Result<(), DeliveryError>>);

    impl Receiver for Told {
        fn deliver(&mut self, _: &[u8]) -> Result<(), DeliveryError> {
            self.0.recv().unwrap_or_else(|_| Err(DeliveryError::lost("gone")))
        }
    }

    fn batch(points: u64, bytes: usize) -> Batch {
        Batch { bytes: vec![0; bytes], points }
    }

    fn counts(delivery: &Delivery) -> (u64, u64, Option<String>) {
        let report = delivery.report();
        (report.points_sent, report.points_lost, report.error)
    }

    #[test]
    fn what_is_refused_is_lost_and_what_fails_is_tried_again() {
        let (say, told) = channel();
        let delivery = Delivery::new("test", Secrets::default());
        let outbox = Outbox::start(Box::new(Told(told)), &delivery).expect("a thread");
        let answers = [
            Err(DeliveryError::again("down")),
            Ok(()),
            Err(DeliveryError::lost("no")),
            Err(DeliveryError::Part(15, Trouble::new("some"))),
        ];
        answers.into_iter().for_each(|answer| say.send(answer).expect("it listens"));
        [10, 20, 40].into_iter().for_each(|points| outbox.push(batch(points, 1)));
        outbox.finish(Duration::from_secs(60));
        assert_eq!(counts(&delivery), (35, 35, Some("down".to_owned())));
        outbox.push(batch(5, 1));
        assert_eq!(counts(&delivery).1, 40, "it is over");
    }

    #[test]
    fn a_receiver_that_hangs_holds_up_neither_the_run_nor_its_end() {
        let (say, told) = channel();
        let delivery = Delivery::new("test", Secrets::default());
        let outbox = Outbox::start(Box::new(Told(told)), &delivery).expect("a thread");
        // The second may be taken from the queue before the third comes, and still does not fit beside it.
        let sizes = [1, 2, 4, 8].into_iter();
        sizes.for_each(|points| outbox.push(batch(points, MOST_BYTES / 2 + 1)));
        // The receiver hangs until `say` is gone: neither of these waits for it.
        outbox.finish(Duration::from_millis(50));
        assert_eq!((counts(&delivery).0, counts(&delivery).1), (0, 15));
        // What it takes later changes nothing any more.
        drop(say);
        drop(outbox);
        assert_eq!((counts(&delivery).0, counts(&delivery).1), (0, 15));
    }
}
