//! What can go wrong with a request, and what a tester should look at.

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
    PoolTimeout,
    Variable,
    BadRedirect,
    Script,
    AddressBlocked,
}

use ErrorKind as K;

/// Kind, label in results, and a sentence.
const TABLE: [(ErrorKind, &str, &str); 32] = [
    (
        K::Dns,
        "dns",
        "the host name could not be resolved: check its spelling and the machine's resolver",
    ),
    (K::ConnectRefused, "connect_refused", "nothing listens on that port"),
    (
        K::ConnectTimeout,
        "connect_timeout",
        "the target did not accept the connection in time: it is overloaded, its accept queue is full, or a firewall drops packets",
    ),
    (K::ConnectFailed, "connect_failed", "the target is unreachable: check routes and addresses"),
    (
        K::NoFreePort,
        "no_free_port",
        "this machine has no free local port toward the target: reuse connections, or use several source addresses (`source_addresses`)",
    ),
    (
        K::TooManyOpenFiles,
        "too_many_open_files",
        "this process has reached its limit of open files: raise `ulimit -n`, or share connections",
    ),
    (K::Proxy, "proxy", "the proxy refused to open a tunnel"),
    (K::Tls, "tls", "the TLS handshake failed: check certificates, names and versions"),
    (
        K::TlsTimeout,
        "tls_timeout",
        "the TLS handshake did not finish in time: does the port speak TLS?",
    ),
    (K::Reset, "reset", "the target reset the connection"),
    (
        K::ClosedEarly,
        "closed_early",
        "the target closed the connection before its response was complete",
    ),
    (K::TimeoutSend, "timeout_send", "the target did not read the request in time"),
    (K::TimeoutFirstByte, "timeout_first_byte", "no byte of the response arrived in time"),
    (K::TimeoutBody, "timeout_body", "the response began but was not complete in time"),
    (
        K::MalformedResponse,
        "malformed_response",
        "the target sent something other than an HTTP/1.x response",
    ),
    (K::BodyTooLarge, "body_too_large", "the body is larger than the limit (`max_body`)"),
    (K::Decode, "decode", "the body could not be decompressed"),
    (K::Io, "io", "the operating system reported another error"),
    (K::Status, "status", "the status was 400 or above, and no check accepts it"),
    (K::Extract, "extract", "a value to extract was not in the response"),
    (K::Check, "check", "a check failed"),
    (
        K::TooManyRedirects,
        "too_many_redirects",
        "the target redirected more often than the plan allows",
    ),
    (
        K::HostNotAllowed,
        "host_not_allowed",
        "the plan does not allow requests to this host (`allow_hosts`, `connections.block_hosts`)",
    ),
    (K::Render, "render", "the request could not be rendered from its template"),
    (
        K::BodyFile,
        "body_file",
        "a file that the request sends could not be read, or changed while it was sent",
    ),
    (K::Exec, "exec", "the program could not be started, or failed"),
    (
        K::Interrupted,
        "interrupted",
        "the load or the run ended while this was in flight, and the time to finish was over: it counts as cut off, not as an error",
    ),
    (
        K::PoolTimeout,
        "pool_timeout",
        "no connection of the plan's own pool was free in time (`connections.pool_size`): this is the plan's limit, not the target's",
    ),
    (K::Variable, "variable", "the request needs a variable that has no value, and was not sent"),
    (
        K::BadRedirect,
        "bad_redirect",
        "the target redirected to something other than an http(s) URL: an application's own scheme, or a mistake",
    ),
    (K::Script, "script", "a script threw an exception that nothing in it caught"),
    (
        K::AddressBlocked,
        "address_blocked",
        "the plan blocks the addresses of this host (`connections.block_addresses`)",
    ),
];

impl ErrorKind {
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

    /// What it means, and what to check.
    pub fn explain(self) -> &'static str {
        TABLE[self as usize].2
    }

    /// Whether that sentence says more than what it means: a cause, or what to check.
    pub fn has_hint(self) -> bool {
        self.explain().contains(": ")
    }

    /// Whether the request was given up while it waited for the target: how long its response would have
    /// taken is not known, but it is longer than that.
    pub fn is_given_up(self) -> bool {
        matches!(
            self,
            K::ConnectTimeout
                | K::TlsTimeout
                | K::TimeoutSend
                | K::TimeoutFirstByte
                | K::TimeoutBody
                | K::Interrupted
        )
    }

    /// Whether it says that squall could not make the request from the plan, or was not allowed to send it: if nothing was
    /// sent before, the target was asked for nothing.
    pub fn is_of_making(self) -> bool {
        matches!(
            self,
            K::Variable | K::Render | K::HostNotAllowed | K::AddressBlocked | K::BodyFile
        )
    }

    /// The kind with this label.
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

    /// A port that speaks no TLS may as well wait for a line as refuse the handshake.
    #[test]
    fn a_handshake_that_does_not_finish_asks_what_the_port_speaks() {
        let text = ErrorKind::TlsTimeout.explain();
        assert!(text.ends_with("did not finish in time: does the port speak TLS?"), "{text}");
    }
}
