//! What the server has done, counted by each worker separately and summed on request.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Totals since the start of the server, and the connections open now.
///
/// Bytes are those of HTTP: under TLS they are counted before encryption.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Requests whose head was read, well-formed or not.
    pub requests: u64,
    pub accepted: u64,
    pub open: u64,
    /// Bytes read from clients.
    pub bytes_in: u64,
    /// Bytes written to clients.
    pub bytes_out: u64,
}

/// One counter with one writer: any thread may read it, only its worker adds to it.
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds `n`. A load and a store, not an atomic addition: there is no second writer.
    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(n), Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// The counters of one worker, on cache lines of their own.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    pub(crate) requests: Counter,
    pub(crate) accepted: Counter,
    pub(crate) closed: Counter,
    pub(crate) bytes_in: Counter,
    pub(crate) bytes_out: Counter,
}

pub(crate) fn sum(workers: &[Counters]) -> Stats {
    workers.iter().fold(Stats::default(), |total, worker| {
        // Closed first: a connection that comes and goes meanwhile must not make `open` negative.
        let closed = worker.closed.get();
        let accepted = worker.accepted.get();
        Stats {
            requests: total.requests + worker.requests.get(),
            accepted: total.accepted + accepted,
            open: total.open + accepted.saturating_sub(closed),
            bytes_in: total.bytes_in + worker.bytes_in.get(),
            bytes_out: total.bytes_out + worker.bytes_out.get(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_add_up() {
        let workers = [Counters::default(), Counters::default()];
        for (worker, n) in workers.iter().zip([1, 10]) {
            worker.requests.add(n);
            worker.accepted.add(2 * n);
            worker.closed.add(n);
            worker.bytes_in.add(3 * n);
            worker.bytes_out.add(4 * n);
        }
        let expected = Stats { requests: 11, accepted: 22, open: 11, bytes_in: 33, bytes_out: 44 };
        assert_eq!(sum(&workers), expected);
    }
}
