//! The points of a request. Pure.

use super::point::PointMetric;

/// Where the time of a request went, in ms.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RequestTimes {
    /// Until there was a connection or an address to connect to.
    pub blocked: f64,
    pub connecting: f64,
    pub tls_handshaking: f64,
    pub sending: f64,
    /// From what was sent to the first byte of the response.
    pub waiting: f64,
    pub receiving: f64,
}

impl RequestTimes {
    /// The metrics that k6 records of a request, with their values, in k6's order.
    pub fn points(&self, has_failed: bool) -> impl Iterator<Item = (PointMetric<'static>, f64)> {
        let RequestTimes { blocked, connecting, tls_handshaking, sending, waiting, receiving } =
            *self;
        let values = [
            ("http_reqs", 1.0),
            ("http_req_duration", sending + waiting + receiving),
            ("http_req_blocked", blocked),
            ("http_req_connecting", connecting),
            ("http_req_tls_handshaking", tls_handshaking),
            ("http_req_sending", sending),
            ("http_req_waiting", waiting),
            ("http_req_receiving", receiving),
            ("http_req_failed", f64::from(u8::from(has_failed))),
        ];
        values.into_iter().filter_map(|(name, value)| Some((PointMetric::built_in(name)?, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_duration_is_without_the_connection() {
        let times = RequestTimes {
            blocked: 100.0,
            connecting: 20.0,
            tls_handshaking: 30.0,
            sending: 0.25,
            waiting: 4.0,
            receiving: 0.5,
        };
        let points: Vec<_> = times.points(true).map(|(own, value)| (own.name, value)).collect();
        let value = |name| points.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
        assert_eq!(value("http_req_duration"), Some(4.75));
        assert_eq!((value("http_reqs"), value("http_req_failed")), (Some(1.0), Some(1.0)));
        assert_eq!(points.len(), 9);
    }
}
