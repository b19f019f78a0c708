//! What squall itself used to generate a load, and how late it was.

use squall_metrics::{COARSE, Histogram, SelfMetrics};

use crate::schema::document;

/// Resources that squall itself used.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Generator {
    /// CPU time in user mode, in seconds; 0: unknown.
    pub cpu_user_s: f64,
    /// CPU time in the kernel, in seconds; 0: unknown.
    pub cpu_sys_s: f64,
    /// Largest resident memory, in bytes.
    pub peak_rss_bytes: u64,
    /// Requests written to the request log and to the samples, if there were any; one that is in both counts twice.
    pub requests_logged: Option<u64>,
    /// Requests left out of them because a queue was full.
    pub requests_not_logged: Option<u64>,
}

impl Generator {
    /// So many requests were written to a log, and so many left out, in all phases by now; `None`: there
    /// is no log.
    pub fn count_logged(&mut self, exchanges: Option<(u64, u64)>) {
        self.requests_logged = exchanges.map(|(written, _)| written);
        self.requests_not_logged = exchanges.map(|(_, left_out)| left_out);
    }
}

document! {
    /// What squall itself used, and its own delays.
    GeneratorDocument {
        /// CPU time in user mode, in seconds; 0: unknown, as of a node of a fleet.
        cpu_user_s: f64,
        /// CPU time in the kernel, in seconds; 0: unknown, as of a node of a fleet.
        cpu_sys_s: f64,
        /// Largest resident memory, in bytes; of several nodes that of the one with the most.
        peak_rss_bytes: u64,
        /// Requests written to the request log and to the samples, each by itself; null: there were neither.
        requests_logged: Option<u64>,
        /// Requests left out of them because a queue was full.
        requests_not_logged: Option<u64>,
        /// CPU time of the workers, in seconds.
        workers_cpu_s: f64,
        /// Time in which workers were ready to run but had no CPU, in seconds.
        starved_s: f64,
        /// How often they lost the CPU.
        preempted: u64,
        /// From the arrival of a response until it was read, in µs.
        receive_delay_us: PhaseTimes,
        /// How much later than due requests were sent, in µs.
        send_delay_us: PhaseTimes,
        /// Iterations of the event loop, in µs.
        loop_iteration_us: PhaseTimes,
        /// How much later than due timers were seen, in µs.
        timer_delay_us: PhaseTimes,
        /// How much later than made connections were seen, in µs.
        connect_delay_us: PhaseTimes,
        /// How long users of scripts stood still while memory was freed, in µs; null: that never happened.
        garbage_collection_us: Option<PhaseTimes>,
    }

    /// The distribution of a phase or a delay, in µs.
    PhaseTimes {
        /// How many there are.
        count: u64,
        /// The mean.
        mean: f64,
        /// The median.
        p50: f64,
        /// The 90th percentile.
        p90: f64,
        /// The 99th percentile.
        p99: f64,
        /// The largest one.
        max: f64,
    }
}

impl GeneratorDocument {
    /// Of what workers recorded of themselves, and what their processes used.
    pub fn of(own: &SelfMetrics, used: Generator) -> GeneratorDocument {
        GeneratorDocument {
            cpu_user_s: used.cpu_user_s,
            cpu_sys_s: used.cpu_sys_s,
            peak_rss_bytes: used.peak_rss_bytes,
            requests_logged: used.requests_logged,
            requests_not_logged: used.requests_not_logged,
            workers_cpu_s: own.cpu_ns as f64 / 1e9,
            starved_s: own.starved_ns as f64 / 1e9,
            preempted: own.preempted,
            receive_delay_us: PhaseTimes::of(&own.receive_delay),
            send_delay_us: PhaseTimes::of(&own.send_delay),
            loop_iteration_us: PhaseTimes::of(&own.loop_iteration),
            timer_delay_us: PhaseTimes::of(&own.timer_delay),
            connect_delay_us: PhaseTimes::of(&own.connect_delay),
            garbage_collection_us: Some(&own.garbage_collection)
                .filter(|own| !own.is_empty())
                .map(PhaseTimes::of),
        }
    }

    /// What the processes used, as it was known when it was written.
    pub(crate) fn used(&self) -> Generator {
        Generator {
            cpu_user_s: self.cpu_user_s,
            cpu_sys_s: self.cpu_sys_s,
            peak_rss_bytes: self.peak_rss_bytes,
            requests_logged: self.requests_logged,
            requests_not_logged: self.requests_not_logged,
        }
    }
}

impl PhaseTimes {
    /// Of a histogram of times in µs.
    pub(crate) fn of(times: &Histogram<COARSE>) -> PhaseTimes {
        let p = |p: f64| times.percentile(p) as f64;
        PhaseTimes {
            count: times.count(),
            mean: times.mean(),
            p50: p(50.0),
            p90: p(90.0),
            p99: p(99.0),
            max: times.max() as f64,
        }
    }
}
