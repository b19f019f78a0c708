//! What squall measures of itself: its delays, and whether it had the CPU time that it needed.

use crate::codec::{self, DecodeError};
use crate::histogram::{COARSE, Histogram};

/// Defines [`SelfMetrics`] once, with the names of its delays.
macro_rules! self_metrics {
    (
        delays { $($(#[$delay_doc:meta])* $delay:ident,)* }
        added { $($(#[$added_doc:meta])* $added:ident,)* }
        sums { $($(#[$sum_doc:meta])* $sum:ident,)* }
    ) => {
        /// Self-metrics of one worker in one second, or of several added up.
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct SelfMetrics {
            $($(#[$delay_doc])* pub $delay: Histogram<COARSE>,)*
            $($(#[$sum_doc])* pub $sum: u64,)*
            /// CPU time of the busiest of several workers in the second, in ns; 0: of one worker.
            busiest_worker_ns: u64,
            $($(#[$added_doc])* pub $added: Histogram<COARSE>,)*
        }

        impl SelfMetrics {
            /// Name and distribution of each delay, in µs.
            pub fn delays(&self) -> impl Iterator<Item = (&'static str, &Histogram<COARSE>)> {
                [
                    $((stringify!($delay), &self.$delay),)*
                    $((stringify!($added), &self.$added),)*
                ]
                .into_iter()
            }

            /// Adds the self-metrics of another worker or second.
            pub fn merge(&mut self, other: &SelfMetrics) {
                self.busiest_worker_ns = self.busiest_ns().max(other.busiest_ns());
                $(self.$delay.merge(&other.$delay);)*
                $(self.$added.merge(&other.$added);)*
                $(self.$sum = self.$sum.saturating_add(other.$sum);)*
            }

            /// CPU time of its busiest worker in a second, in ns.
            pub fn busiest_ns(&self) -> u64 {
                match self.busiest_worker_ns {
                    0 => self.cpu_ns,
                    busiest => busiest,
                }
            }

            /// See [`Histogram::compact`].
            pub fn compact(&mut self) {
                $(self.$delay.compact();)*
                $(self.$added.compact();)*
            }

            /// Resets all values and keeps the memory.
            pub(crate) fn clear(&mut self) {
                $(self.$delay.clear();)*
                $(self.$added.clear();)*
                $(self.$sum = 0;)*
                self.busiest_worker_ns = 0;
            }

            /// Heap memory, in bytes.
            pub(crate) fn heap_bytes(&self) -> usize {
                self.delays().map(|(_, own)| own.heap_bytes()).sum()
            }

            pub(crate) fn encode(&self, out: &mut Vec<u8>) {
                $(self.$delay.encode(out);)*
                $(codec::put(out, self.$sum);)*
                codec::put(out, self.busiest_worker_ns);
                $(self.$added.encode(out);)*
            }

            pub(crate) fn decode(
                bytes: &mut &[u8],
                version: u64,
            ) -> Result<SelfMetrics, DecodeError> {
                let mut own = SelfMetrics::default();
                $(own.$delay.read(bytes, version)?;)*
                $(own.$sum = codec::get(bytes)?;)*
                // Earlier versions do not know of these.
                own.busiest_worker_ns = if bytes.is_empty() { 0 } else { codec::get(bytes)? };
                $(if !bytes.is_empty() { own.$added.read(bytes, version)?; })*
                Ok(own)
            }
        }
    };
}

// Files have them in this order.
self_metrics! {
    delays {
    /// From the arrival of a response's last byte in the kernel until it was read, in µs; only of
    /// responses that the kernel had timestamped.
    receive_delay,
    /// How far behind schedule requests were sent, in µs: from when one should have been sent (by an
    /// arrival rate, pacing or the end of a think time) until it was started.
    send_delay,
    /// Iterations of the worker's event loop, in µs: how long it worked before it polled for events again.
    loop_iteration,
    /// How late timers fired, in µs: ends of waits, and deadlines.
    timer_delay,
    /// From when the kernel had a new connection until it was seen, in µs; 0 where the kernel does not say.
    connect_delay,
    }
    added {
    /// How long users of scripts stood still while memory was freed that only refers to itself, in µs.
    garbage_collection,
    }
    sums {
    /// CPU time of the worker's thread, in ns.
    cpu_ns,
    /// Time in which the worker was ready to run but had no CPU, in ns.
    starved_ns,
    /// How often the worker was preempted.
    preempted,
    }
}
