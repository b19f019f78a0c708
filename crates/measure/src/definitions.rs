//! What each number that is reported means. Every report quotes these, so that a number has one
//! definition.

/// A number's meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definition {
    /// Its name in results.
    pub key: &'static str,
    /// What it is.
    pub text: &'static str,
}

/// All definitions.
pub const DEFINITIONS: &[Definition] = &[
    Definition {
        key: "latency",
        text: "from when the request is begun (its first byte is sent, or the connection made that it needs) to the last byte of the answer, redirects included; only of requests that got a complete answer",
    },
    Definition {
        key: "due_latency",
        text: "as latency, but from the moment the request was due by its schedule (a pace or an arrival rate), so that time spent waiting for a late answer before it counts too",
    },
    Definition {
        key: "dns",
        text: "looking up the host's name; names known before the run are looked up before it",
    },
    Definition { key: "connect", text: "making the TCP connection, and a proxy's tunnel" },
    Definition { key: "tls", text: "the TLS handshake" },
    Definition {
        key: "first_byte",
        text: "from the start of sending the request to the first byte of the answer",
    },
    Definition { key: "body", text: "from the first byte of the answer to its last" },
    Definition {
        key: "group",
        text: "from the entry into a group of steps to its end, waits between steps included",
    },
    Definition {
        key: "receive_delay",
        text: "from the arrival of an answer's last byte in the kernel until squall read it; latencies end at the arrival, so this is no part of them",
    },
    Definition {
        key: "send_delay",
        text: "from when a request was due (by an arrival rate, a pace, or the end of a think time) until squall began it",
    },
    Definition {
        key: "turn",
        text: "one turn of a worker's loop: time in which it worked without looking whether anything had happened",
    },
    Definition {
        key: "ledger",
        text: "where the time of the users of closed loads went: users × elapsed time is the sum of requests, think, pace, not_started (ramp, start_after), finished (done while others went on) and generator (a user could go on and squall had not got round to it)",
    },
    Definition {
        key: "rate_by_total",
        text: "requests of closed loads divided by the elapsed time",
    },
    Definition {
        key: "rate_by_mean",
        text: "users divided by the mean time of a request, think time and pace included",
    },
    Definition {
        key: "rate",
        text: "requests that are over, divided by the elapsed time of the run",
    },
    Definition { key: "error_rate", text: "errors divided by requests" },
    Definition {
        key: "percentile",
        text: "the highest value of the HdrHistogram bucket (3 significant digits) that holds the value of that rank",
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
        assert!(crate::PHASES.iter().all(|phase| definition(phase).is_some()));
    }
}
