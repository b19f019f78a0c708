//! Several strands in place of one, and their end.

use std::future::poll_fn;

use squall_metrics::UserState;

use super::join::Join;
use crate::sample::Moment;
use crate::user::{Core, Strand};
use crate::worker::Worker;

/// Several strands begin, in place of one.
pub(super) fn open(worker: &Worker, core: &Core, strand: &Strand, now: Moment) {
    if !strand.is_branch {
        worker.note(core, UserState::Think, core.concurrency.advance(now.ready));
    }
}

/// Runs strands until all have ended.
pub(super) async fn join<F: Future<Output = ()>>(core: &Core, lanes: impl IntoIterator<Item = F>) {
    let mut join = Join::new(lanes);
    let mut ending = false;
    poll_fn(|cx| {
        loop {
            let joined = join.poll(cx);
            if joined.is_ready() || ending || !core.is_ending() {
                return joined;
            }
            // Those that wait have nothing more to wait for.
            ending = true;
            join.wake_all();
        }
    })
    .await;
}

/// Several strands have ended, the last at `end`; the one that they belong to goes on. Returns when.
pub(super) fn close(worker: &Worker, core: &Core, strand: &Strand, end: u64) -> Moment {
    let seen = worker.clock.now().max(end);
    if strand.is_branch {
        return Moment { ready: end, seen };
    }
    let ready = core.concurrency.advance(end);
    worker.note(core, UserState::Ready, ready);
    Moment { ready, seen }
}
