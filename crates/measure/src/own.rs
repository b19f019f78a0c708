//! What a generator measures of itself: how late it was, and whether it had the processor it needed.

use crate::codec::{self, DecodeError};
use crate::histogram::{COARSE, Histogram};

/// What one worker measured of itself in one second, or several added up.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Own {
    /// From the arrival of an answer's last byte in the kernel until it was read, in µs, of answers
    /// that the kernel had stamped.
    pub receive_delay: Histogram<COARSE>,
    /// From when a request was due (by an arrival rate, a pace, or the end of a think time) until it
    /// was begun, in µs.
    pub send_delay: Histogram<COARSE>,
    /// Turns of the worker's loop, in µs: time in which it worked without looking whether anything
    /// had happened.
    pub turn: Histogram<COARSE>,
    /// Processor time of the worker, in ns.
    pub cpu_ns: u64,
    /// Time in which the worker was ready to run and had no processor, in ns.
    pub starved_ns: u64,
    /// How often the worker was taken off its processor while it had work to do.
    pub preempted: u64,
}

impl Own {
    /// Adds those of another worker or second.
    pub fn merge(&mut self, other: &Own) {
        self.receive_delay.merge(&other.receive_delay);
        self.send_delay.merge(&other.send_delay);
        self.turn.merge(&other.turn);
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.starved_ns = self.starved_ns.saturating_add(other.starved_ns);
        self.preempted = self.preempted.saturating_add(other.preempted);
    }

    /// See [`Histogram::compact`].
    pub(crate) fn compact(&mut self) {
        self.receive_delay.compact();
        self.send_delay.compact();
        self.turn.compact();
    }

    /// Forgets everything but its memory.
    pub(crate) fn clear(&mut self) {
        self.receive_delay.clear();
        self.send_delay.clear();
        self.turn.clear();
        (self.cpu_ns, self.starved_ns, self.preempted) = (0, 0, 0);
    }

    /// Bytes that it has on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.receive_delay.heap_bytes() + self.send_delay.heap_bytes() + self.turn.heap_bytes()
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        [&self.receive_delay, &self.send_delay, &self.turn].into_iter().for_each(|h| h.encode(out));
        [self.cpu_ns, self.starved_ns, self.preempted].into_iter().for_each(|n| codec::put(out, n));
    }

    pub(crate) fn decode(bytes: &mut &[u8]) -> Result<Own, DecodeError> {
        Ok(Own {
            receive_delay: Histogram::decode(bytes)?,
            send_delay: Histogram::decode(bytes)?,
            turn: Histogram::decode(bytes)?,
            cpu_ns: codec::get(bytes)?,
            starved_ns: codec::get(bytes)?,
            preempted: codec::get(bytes)?,
        })
    }
}
