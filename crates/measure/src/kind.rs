//! What can go wrong with a request, in words that a person understands.

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)] // each is explained by the table below
pub enum ErrorKind {
    Dns,
    ConnectRefused,
    ConnectTimeout,
    ConnectFailed,
    NoFreePort,
    TooManyOpenFiles,
    Proxy,
    Tls,
    TlsTimeout,
    Reset,
    ClosedEarly,
    TimeoutSend,
    TimeoutFirstByte,
    TimeoutBody,
    MalformedResponse,
    BodyTooLarge,
    Decode,
    Io,
    Status,
    Extract,
    Check,
    TooManyRedirects,
    HostNotAllowed,
    Render,
    BodyFile,
    Exec,
    Interrupted,
}

use ErrorKind as K;

/// Kind, label in results, and a sentence.
const TABLE: [(ErrorKind, &str, &str); 27] = [
    (
        K::Dns,
        "dns",
        "the host's name has no address: check its spelling and the machine's resolver",
    ),
    (K::ConnectRefused, "connect_refused", "nobody listens on that port of the target"),
    (
        K::ConnectTimeout,
        "connect_timeout",
        "the target did not accept the connection in time: it is overloaded, its backlog is full, or a firewall drops packets",
    ),
    (
        K::ConnectFailed,
        "connect_failed",
        "the target could not be reached: check routes and addresses",
    ),
    (
        K::NoFreePort,
        "no_free_port",
        "this machine has no free port toward the target: reuse connections, or use several source addresses (`from`)",
    ),
    (
        K::TooManyOpenFiles,
        "too_many_open_files",
        "this process may open no more files: raise `ulimit -n`, or share connections",
    ),
    (K::Proxy, "proxy", "the proxy refused the tunnel"),
    (K::Tls, "tls", "the TLS handshake failed: check certificates, names and versions"),
    (K::TlsTimeout, "tls_timeout", "the TLS handshake was not over in time"),
    (K::Reset, "reset", "the target reset the connection"),
    (
        K::ClosedEarly,
        "closed_early",
        "the target closed the connection before its answer was complete",
    ),
    (K::TimeoutSend, "timeout_send", "the target did not take the request in time"),
    (K::TimeoutFirstByte, "timeout_first_byte", "no byte of the answer came in time"),
    (K::TimeoutBody, "timeout_body", "the answer began but was not complete in time"),
    (K::MalformedResponse, "malformed_response", "what came is no HTTP/1.x answer"),
    (K::BodyTooLarge, "body_too_large", "the body is larger than the limit (`max_body`)"),
    (K::Decode, "decode", "the body could not be unpacked"),
    (K::Io, "io", "the operating system reported another error"),
    (K::Status, "status", "the status was 400 or above, and no check looks at it"),
    (K::Extract, "extract", "a value to be extracted was not in the answer"),
    (K::Check, "check", "a check did not hold"),
    (K::TooManyRedirects, "too_many_redirects", "the target redirected more often than is allowed"),
    (
        K::HostNotAllowed,
        "host_not_allowed",
        "the request would have gone to a host that the plan does not name (`allow_hosts`)",
    ),
    (K::Render, "render", "the request could not be made from its template"),
    (
        K::BodyFile,
        "body_file",
        "a file that the request sends could not be read, or changed while it was sent",
    ),
    (K::Exec, "exec", "the program could not be run, or failed"),
    (
        K::Interrupted,
        "interrupted",
        "the run ended, and its grace was over, while this was in flight",
    ),
];

impl ErrorKind {
    /// All kinds.
    pub const ALL: [ErrorKind; TABLE.len()] = {
        let mut all = [K::Dns; TABLE.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = TABLE[at].0;
            at += 1;
        }
        all
    };

    /// Its name in results.
    pub fn label(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// What it means, and what to look at.
    pub fn explain(self) -> &'static str {
        TABLE[self as usize].2
    }

    /// The kind of a label.
    pub fn from_label(label: &str) -> Option<ErrorKind> {
        TABLE.iter().find(|(_, own, _)| *own == label).map(|(kind, ..)| *kind)
    }

    pub(crate) fn from_number(number: u64) -> Option<ErrorKind> {
        TABLE.get(usize::try_from(number).ok()?).map(|(kind, ..)| *kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_kinds() {
        for (index, kind) in ErrorKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            assert_eq!(ErrorKind::from_label(kind.label()), Some(kind));
            assert_eq!(ErrorKind::from_number(index as u64), Some(kind));
        }
    }
}
