//! What squall measures of itself: its delays, and whether it had the CPU time that it needed.

use crate::codec::{self, DecodeError};
use crate::histogram::{COARSE, Histogram};

/// Self-metrics of one worker in one second, or of several added up.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SelfMetrics {
    /// From the arrival of a response's last byte in the kernel until it was read, in µs; only of
    /// responses that the kernel had timestamped.
    pub receive_delay: Histogram<COARSE>,
    /// How far behind schedule requests were sent, in µs: from when one should have been sent (by an
    /// arrival rate, pacing or the end of a think time) until it was started.
    pub send_delay: Histogram<COARSE>,
    /// Iterations of the worker's event loop, in µs: how long it worked before it polled for events again.
    pub loop_iteration: Histogram<COARSE>,
    /// From when the kernel had a new connection until it was seen, in µs; 0 where the kernel does not say.
    pub connect_delay: Histogram<COARSE>,
    /// How late timers fired, in µs: ends of waits, and deadlines.
    pub timer_delay: Histogram<COARSE>,
    /// CPU time of the worker's thread, in ns.
    pub cpu_ns: u64,
    /// Time in which the worker was ready to run but had no CPU, in ns.
    pub starved_ns: u64,
    /// How often the worker was preempted.
    pub preempted: u64,
}

impl SelfMetrics {
    /// Adds the self-metrics of another worker or second.
    pub fn merge(&mut self, other: &SelfMetrics) {
        self.receive_delay.merge(&other.receive_delay);
        self.send_delay.merge(&other.send_delay);
        self.loop_iteration.merge(&other.loop_iteration);
        self.timer_delay.merge(&other.timer_delay);
        self.connect_delay.merge(&other.connect_delay);
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.starved_ns = self.starved_ns.saturating_add(other.starved_ns);
        self.preempted = self.preempted.saturating_add(other.preempted);
    }

    /// See [`Histogram::compact`].
    pub fn compact(&mut self) {
        self.receive_delay.compact();
        self.send_delay.compact();
        self.loop_iteration.compact();
        self.timer_delay.compact();
        self.connect_delay.compact();
    }

    /// Resets all values and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.receive_delay.clear();
        self.send_delay.clear();
        self.loop_iteration.clear();
        self.timer_delay.clear();
        self.connect_delay.clear();
        (self.cpu_ns, self.starved_ns, self.preempted) = (0, 0, 0);
    }

    /// Heap memory, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.receive_delay.heap_bytes()
            + self.send_delay.heap_bytes()
            + self.loop_iteration.heap_bytes()
            + self.timer_delay.heap_bytes()
            + self.connect_delay.heap_bytes()
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        [
            &self.receive_delay,
            &self.send_delay,
            &self.loop_iteration,
            &self.timer_delay,
            &self.connect_delay,
        ]
        .into_iter()
        .for_each(|h| h.encode(out));
        [self.cpu_ns, self.starved_ns, self.preempted].into_iter().for_each(|n| codec::put(out, n));
    }

    pub(crate) fn decode(bytes: &mut &[u8]) -> Result<SelfMetrics, DecodeError> {
        Ok(SelfMetrics {
            receive_delay: Histogram::decode(bytes)?,
            send_delay: Histogram::decode(bytes)?,
            loop_iteration: Histogram::decode(bytes)?,
            timer_delay: Histogram::decode(bytes)?,
            connect_delay: Histogram::decode(bytes)?,
            cpu_ns: codec::get(bytes)?,
            starved_ns: codec::get(bytes)?,
            preempted: codec::get(bytes)?,
        })
    }
}
