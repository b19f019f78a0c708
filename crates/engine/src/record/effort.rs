//! What the kernel says of this thread: processor time, waiting for a processor, preemptions. Read
//! once a second from `/proc` (proc(5)); where there is none, all stays 0.

use std::fs;

use squall_metrics::SelfMetrics;

/// Counts since the thread's start.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ThreadTime {
    cpu_ns: u64,
    starved_ns: u64,
    preempted: u64,
}

impl ThreadTime {
    /// Begins to count now, on the calling thread.
    pub(crate) fn start() -> ThreadTime {
        ThreadTime::read()
    }

    /// Puts down what came since the last call, on the same thread.
    pub(crate) fn measure(&mut self, own: &mut SelfMetrics) {
        let now = ThreadTime::read();
        own.cpu_ns = now.cpu_ns.saturating_sub(self.cpu_ns);
        own.starved_ns = now.starved_ns.saturating_sub(self.starved_ns);
        own.preempted = now.preempted.saturating_sub(self.preempted);
        *self = now;
    }

    fn read() -> ThreadTime {
        // Time on a processor and time ready without one, in ns, and a number of time slices.
        let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let mut numbers = text.split_whitespace().map(|text| text.parse().unwrap_or(0));
        let (cpu_ns, starved_ns) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        let preempted =
            status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
        let preempted = preempted.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        ThreadTime { cpu_ns, starved_ns, preempted }
    }
}
