//! The metrics of k6, and those that a script makes. Pure.

/// What becomes of a metric's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// They are added up.
    Counter,
    /// The last one is kept.
    Gauge,
    /// The share that is true is kept.
    Rate,
    /// Their distribution is kept.
    Trend,
}

impl Kind {
    /// As k6 calls it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Rate => "rate",
            Kind::Trend => "trend",
        }
    }

    /// What thresholds may ask of it, in words.
    pub fn aggregates(self) -> &'static str {
        match self {
            Kind::Counter => "count and rate",
            Kind::Gauge => "value",
            Kind::Rate => "rate",
            Kind::Trend => "avg, min, max, med and p(N)",
        }
    }
}

/// A metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    pub name: String,
    pub kind: Kind,
    /// Whether its values are times, in ms.
    pub is_time: bool,
}

/// Those that every test has, or may have: name, kind, and whether values are times.
const BUILT_IN: [(&str, Kind, bool); 25] = [
    ("checks", Kind::Rate, false),
    ("data_received", Kind::Counter, false),
    ("data_sent", Kind::Counter, false),
    ("dropped_iterations", Kind::Counter, false),
    ("group_duration", Kind::Trend, true),
    ("grpc_req_duration", Kind::Trend, true),
    ("http_req_blocked", Kind::Trend, true),
    ("http_req_connecting", Kind::Trend, true),
    ("http_req_duration", Kind::Trend, true),
    ("http_req_failed", Kind::Rate, false),
    ("http_req_receiving", Kind::Trend, true),
    ("http_req_sending", Kind::Trend, true),
    ("http_req_tls_handshaking", Kind::Trend, true),
    ("http_req_waiting", Kind::Trend, true),
    ("http_reqs", Kind::Counter, false),
    ("iteration_duration", Kind::Trend, true),
    ("iterations", Kind::Counter, false),
    ("vus", Kind::Gauge, false),
    ("vus_max", Kind::Gauge, false),
    ("ws_connecting", Kind::Trend, true),
    ("ws_msgs_received", Kind::Counter, false),
    ("ws_msgs_sent", Kind::Counter, false),
    ("ws_ping", Kind::Trend, true),
    ("ws_session_duration", Kind::Trend, true),
    ("ws_sessions", Kind::Counter, false),
];

/// A metric by its name: one that is built in, or one of the script's `own`.
pub fn known(name: &str, own: &[Metric]) -> Option<Metric> {
    let built_in = BUILT_IN.iter().find(|(known, ..)| *known == name);
    let made = |(name, kind, is_time): &(&str, Kind, bool)| Metric {
        name: (*name).to_owned(),
        kind: *kind,
        is_time: *is_time,
    };
    built_in.map(made).or_else(|| own.iter().find(|own| own.name == name).cloned())
}

/// The names of all.
pub(crate) fn names(own: &[Metric]) -> impl Iterator<Item = &str> {
    BUILT_IN.iter().map(|(name, ..)| *name).chain(own.iter().map(|own| own.name.as_str()))
}
