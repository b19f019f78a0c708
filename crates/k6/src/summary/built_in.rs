//! The metrics that k6 has itself: what they are, and where its text shows them. Pure.

use squall_script::MetricKind::{self, Counter, Gauge, Rate, Trend};

use super::facts::Contains::{self, Data, Default, Time};

/// A metric that k6 has itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltIn {
    pub name: &'static str,
    pub kind: MetricKind,
    pub contains: Contains,
    pub(super) section: Section,
}

/// A part of the text's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// Those of the script itself.
    Custom,
    Http,
    /// Of HTTP, in the full text only.
    HttpPhases,
    Execution,
    Network,
    Grpc,
    WebSocket,
    /// Shown above all parts.
    Checks,
}

impl Section {
    /// The parts with their headings, in the order of the text.
    pub(super) const SHOWN: [(&'static str, &'static [Section]); 6] = [
        ("CUSTOM", &[Section::Custom]),
        ("HTTP", &[Section::Http, Section::HttpPhases]),
        ("EXECUTION", &[Section::Execution]),
        ("NETWORK", &[Section::Network]),
        ("GRPC", &[Section::Grpc]),
        ("WEBSOCKET", &[Section::WebSocket]),
    ];

    /// Where a metric is shown.
    pub(super) fn of(name: &str) -> Section {
        BuiltIn::of(name).map_or(Section::Custom, |own| own.section)
    }
}

impl BuiltIn {
    /// All of them.
    pub const ALL: [BuiltIn; 26] = {
        use Section::{Checks, Execution, Grpc, Http, HttpPhases, Network, WebSocket};
        [
            of("checks", Rate, Default, Checks),
            of("data_received", Counter, Data, Network),
            of("data_sent", Counter, Data, Network),
            of("dropped_iterations", Counter, Default, Execution),
            of("group_duration", Trend, Time, Execution),
            of("grpc_req_duration", Trend, Time, Grpc),
            of("grpc_streams", Counter, Default, Grpc),
            of("http_req_blocked", Trend, Time, HttpPhases),
            of("http_req_connecting", Trend, Time, HttpPhases),
            of("http_req_duration", Trend, Time, Http),
            of("http_req_failed", Rate, Default, Http),
            of("http_req_receiving", Trend, Time, HttpPhases),
            of("http_req_sending", Trend, Time, HttpPhases),
            of("http_req_tls_handshaking", Trend, Time, HttpPhases),
            of("http_req_waiting", Trend, Time, HttpPhases),
            of("http_reqs", Counter, Default, Http),
            of("iteration_duration", Trend, Time, Execution),
            of("iterations", Counter, Default, Execution),
            of("vus", Gauge, Default, Execution),
            of("vus_max", Gauge, Default, Execution),
            of("ws_connecting", Trend, Time, WebSocket),
            of("ws_msgs_received", Counter, Default, WebSocket),
            of("ws_msgs_sent", Counter, Default, WebSocket),
            of("ws_ping", Trend, Time, WebSocket),
            of("ws_session_duration", Trend, Time, WebSocket),
            of("ws_sessions", Counter, Default, WebSocket),
        ]
    };

    /// The one of a name; `None`: it is a metric of the script.
    pub fn of(name: &str) -> Option<&'static BuiltIn> {
        const { &BuiltIn::ALL }.iter().find(|own| own.name == name)
    }
}

const fn of(name: &'static str, kind: MetricKind, contains: Contains, section: Section) -> BuiltIn {
    BuiltIn { name, kind, contains, section }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_shown_somewhere() {
        for own in BuiltIn::ALL {
            let shown = Section::SHOWN.iter().filter(|(_, all)| all.contains(&own.section));
            assert_eq!(shown.count(), usize::from(own.name != "checks"), "{}", own.name);
            assert_eq!(BuiltIn::of(own.name), Some(&own));
        }
        assert_eq!(Section::of("http_req_own"), Section::Custom);
    }
}
