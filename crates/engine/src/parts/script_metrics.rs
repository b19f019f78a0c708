//! The metrics that are recorded of every script, under the names that k6 has given them. Plain data.

use squall_metrics::MetricKind;

/// A metric of every script; the place in [`ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Builtin {
    Requests,
    Failed,
    Duration,
    Blocked,
    Connecting,
    TlsHandshaking,
    Sending,
    Waiting,
    Receiving,
    DataSent,
    DataReceived,
    Checks,
    GroupDuration,
    IterationDuration,
    Iterations,
}

/// Their names and kinds. Times are in milliseconds.
pub(crate) const ALL: [(&str, MetricKind); 15] = [
    ("http_reqs", MetricKind::Counter),
    ("http_req_failed", MetricKind::Rate),
    ("http_req_duration", MetricKind::Trend),
    ("http_req_blocked", MetricKind::Trend),
    ("http_req_connecting", MetricKind::Trend),
    ("http_req_tls_handshaking", MetricKind::Trend),
    ("http_req_sending", MetricKind::Trend),
    ("http_req_waiting", MetricKind::Trend),
    ("http_req_receiving", MetricKind::Trend),
    ("data_sent", MetricKind::Counter),
    ("data_received", MetricKind::Counter),
    ("checks", MetricKind::Rate),
    ("group_duration", MetricKind::Trend),
    ("iteration_duration", MetricKind::Trend),
    ("iterations", MetricKind::Counter),
];
