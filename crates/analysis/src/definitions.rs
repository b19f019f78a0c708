//! What each reported number means. Every report quotes these texts, so that a number has one definition.

/// The meaning of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definition {
    /// Its name in results.
    pub key: &'static str,
    pub text: &'static str,
}

pub const DEFINITIONS: &[Definition] = &[
    Definition {
        key: "latency",
        text: "from the start of the request (its first byte is sent, or the connection that it needs is opened) to the last byte of the response, redirects included; only requests with a complete response have one",
    },
    Definition {
        key: "latency_with_timeouts",
        text: "latency in which a request that was given up (a timeout, or cut off by the end of the load), or failed without a complete response later than the median response came, counts with the time that it had waited: its response would have taken at least that long. What it could raise is a lower bound, marked with ≥; thresholds use these values",
    },
    Definition {
        key: "corrected_latency",
        text: "latency corrected for coordinated omission: counted from when the request should have been sent by its schedule (pacing or an arrival rate), so that the wait for an earlier, late response counts too",
    },
    Definition {
        key: "pool",
        text: "waiting for one of the connections that the plan lets users share; included in corrected latency, but not in latency",
    },
    Definition {
        key: "dns",
        text: "resolving the host's name; names that are known before the run are resolved before it",
    },
    Definition { key: "connect", text: "opening the TCP connection, and a proxy's tunnel" },
    Definition { key: "tls", text: "the TLS handshake" },
    Definition {
        key: "first_byte",
        text: "from the start of sending the request to the first byte of the response",
    },
    Definition { key: "body", text: "from the first byte of the response to its last" },
    Definition {
        key: "group",
        text: "from the start of a group of steps to its end, waits between steps included",
    },
    Definition {
        key: "iteration",
        text: "one pass of a virtual user through its scenario's steps, waits between steps included",
    },
    Definition {
        key: "receive_delay",
        text: "from the arrival of a response's last byte in the kernel until squall read it; latencies end at the arrival and do not include it",
    },
    Definition {
        key: "send_delay",
        text: "how far behind schedule requests were sent: from when one should have been sent (by an arrival rate, pacing or the end of a think time) until squall started it",
    },
    Definition {
        key: "loop_iteration",
        text: "one iteration of a worker's event loop: how long it worked before it polled for events again",
    },
    Definition {
        key: "timer_delay",
        text: "how late a timer fired: from when a wait or a deadline was over until squall noticed",
    },
    Definition {
        key: "connect_delay",
        text: "how long it took squall to notice a new connection; this time is not included in latencies",
    },
    Definition {
        key: "garbage_collection",
        text: "how long the users of a worker's scripts stood still while memory was freed; latencies end at the arrival of a response and do not include it",
    },
    Definition {
        key: "cut_off",
        text: "requests, groups and iterations that squall cut off, because their load or the run had ended: they count neither as ended nor as errors; the time that they had taken counts as that of a request that was given up",
    },
    Definition {
        key: "not_sent",
        text: "requests that squall could not make from the plan (a variable without a value, a file that cannot be read, a host that is not allowed), so that the target was asked for nothing: they count neither as requests nor as errors",
    },
    Definition {
        key: "time_accounting",
        text: "how the virtual users of closed workloads spent their time: users × elapsed time is the sum of requests, think, pacing, waiting (for other users), not_started (ramp, start_after), finished (while others continued) and generator (a user could continue, but squall had not resumed it yet)",
    },
    Definition {
        key: "measured",
        text: "requests of closed workloads divided by the elapsed time: the throughput that was measured",
    },
    Definition {
        key: "littles_law",
        text: "throughput by Little's law, N/(R+Z): users divided by the mean time of a request, with think time, pacing and waits for other users",
    },
    Definition {
        key: "rate",
        text: "requests that have ended, divided by the elapsed time of the run",
    },
    Definition {
        key: "error_rate",
        text: "errors divided by requests; in thresholds, requests that were sent again because the target had closed their connection count as errors, if they are more than 1% of the requests",
    },
    Definition {
        key: "percentile",
        text: "the highest value of the HdrHistogram bucket (3 significant digits) that contains the value of that rank",
    },
];

/// The definition of a key.
pub fn definition(key: &str) -> Option<&'static str> {
    DEFINITIONS.iter().find(|definition| definition.key == key).map(|definition| definition.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_has_one() {
        assert!(squall_metrics::PHASES.iter().all(|phase| definition(phase).is_some()));
    }
}
