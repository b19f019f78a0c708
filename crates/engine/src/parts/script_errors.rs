//! What scripts are told of requests that failed: a number of k6's list, and a text. Pure.

use squall_metrics::ErrorKind as K;

/// The number of what became of a request; 0: nothing went wrong.
pub(crate) fn code(failure: Option<K>, status: u16) -> u32 {
    match failure {
        None | Some(K::Status) => match status {
            400..=599 => 1_000 + u32::from(status),
            _ => 0,
        },
        Some(K::Render | K::BadRedirect) => 1_020,
        Some(
            K::TimeoutSend | K::TimeoutFirstByte | K::TimeoutBody | K::PoolTimeout | K::TlsTimeout,
        ) => 1_050,
        Some(K::Dns) => 1_101,
        Some(K::AddressBlocked) => 1_110,
        Some(K::HostNotAllowed) => 1_111,
        Some(K::Io) => 1_200,
        Some(K::ConnectFailed | K::NoFreePort | K::TooManyOpenFiles) => 1_210,
        Some(K::ConnectTimeout) => 1_211,
        Some(K::ConnectRefused) => 1_212,
        Some(K::Reset) => 1_220,
        Some(K::Tls) => 1_300,
        Some(K::Decode) => 1_701,
        Some(_) => 1_000,
    }
}

/// What is said of a failure; of an unexpected status nothing, since the script has the status.
pub(crate) fn text(failure: K, detail: &str) -> String {
    let known = match failure {
        K::Status => return String::new(),
        K::TimeoutSend | K::TimeoutFirstByte | K::TimeoutBody => "request timeout",
        K::ConnectTimeout => "dial: i/o timeout",
        K::ConnectRefused => "dial: connection refused",
        K::Reset => "read: connection reset by peer",
        _ if detail.is_empty() => failure.explain(),
        _ => detail,
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_numbers_and_texts() {
        for (failure, status, number, said) in [
            (None, 200, 0, ""),
            (Some(K::Status), 404, 1_404, ""),
            (None, 503, 1_503, ""),
            (Some(K::Status), 200, 0, ""),
            (Some(K::TimeoutFirstByte), 0, 1_050, "request timeout"),
            (Some(K::ConnectRefused), 0, 1_212, "dial: connection refused"),
            (Some(K::Dns), 0, 1_101, "x"),
            (Some(K::AddressBlocked), 0, 1_110, "x"),
            (Some(K::HostNotAllowed), 0, 1_111, "x"),
            (Some(K::Interrupted), 0, 1_000, "x"),
        ] {
            assert_eq!(code(failure, status), number, "{failure:?}, {status}");
            assert_eq!(failure.map_or_else(String::new, |own| text(own, "x")), said, "{failure:?}");
        }
    }
}
