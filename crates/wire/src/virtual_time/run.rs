//! The event loop on virtual time.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use crate::client::Client;
use crate::timeline::{look, now, sleep};

/// Polls at one moment without an end: more of them are a task that wakes itself for ever.
const MOST_POLLS: u32 = 100_000;

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a future to its end, as a worker's event loop does. `late`: by how many ns the loop is late each time. `None`: it waits for
/// what never happens.
///
/// # Panics
/// The future wakes itself for ever.
pub fn run<F: Future>(
    client: &Client,
    mut late: impl FnMut() -> u64,
    future: F,
) -> Option<F::Output> {
    let mut future = pin!(future);
    let woken = Arc::new(Woken(AtomicBool::new(true)));
    let waker = Waker::from(woken.clone());
    let mut polls = 0;
    loop {
        if woken.0.swap(false, Ordering::Relaxed) {
            polls += 1;
            assert!(polls < MOST_POLLS, "a task wakes itself for ever");
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Some(output);
            }
        } else {
            polls = 0;
        }
        let begin = now();
        if !woken.0.load(Ordering::Relaxed) && !sleep(late()) {
            return None;
        }
        client.looks.looked(begin, now());
        look();
    }
}
