//! Why a sample came to nothing.

use squall_metrics::ErrorKind;
use squall_plan::expr::EvalError;
use squall_wire::{Error, Phase};

use crate::net::in_flight::Cancel;

/// Why a sample came to nothing, and how to say it.
#[derive(Debug)]
pub(crate) struct SampleFailure {
    pub kind: ErrorKind,
    pub detail: String,
}

impl SampleFailure {
    pub(crate) fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        SampleFailure { kind, detail: detail.into() }
    }

    /// An exchange that failed. `status_errors`: whether a status of 400 or above is an error by itself, which then goes before
    /// what is wrong with the body.
    pub(super) fn of_exchange(error: Error, status_errors: bool) -> Self {
        use squall_wire::ErrorKind as Wire;
        let is_of_body = matches!(error.kind(), Wire::Decode | Wire::BodyTooLarge);
        match error.status() {
            Some(status) if is_of_body && status_errors && status >= 400 => SampleFailure::new(
                ErrorKind::Status,
                format!("status {status}; of its body: {error}"),
            ),
            Some(status) if is_of_body => {
                let detail = format!("{error} (status {status})");
                SampleFailure { detail, ..SampleFailure::from(error) }
            }
            _ => SampleFailure::from(error),
        }
    }

    /// The run ended before it was over.
    pub(super) fn interrupted() -> Self {
        SampleFailure::new(ErrorKind::Interrupted, "")
    }

    /// A sample that was cancelled while it waited for a connection of the plan's pool, or for a stream
    /// of its user's connection.
    pub(super) fn in_pool(cancel: Cancel, size: Option<u32>) -> Self {
        match (cancel, size) {
            (Cancel::Stop, _) => SampleFailure::interrupted(),
            (Cancel::Timeout, Some(size)) => {
                SampleFailure::new(ErrorKind::PoolTimeout, format!("pool_size: {size}"))
            }
            (Cancel::Timeout, None) => SampleFailure::new(
                ErrorKind::PoolTimeout,
                "the user's connection has no free stream",
            ),
        }
    }

    /// A sample that was cancelled, by the phase that it was in.
    pub(super) fn cancelled(cancel: Cancel, phase: Phase) -> Self {
        match cancel {
            Cancel::Stop => SampleFailure::interrupted(),
            Cancel::Timeout => SampleFailure::timeout(phase),
        }
    }

    /// A phase that took too long.
    pub(super) fn timeout(phase: Phase) -> Self {
        let kind = match phase {
            Phase::Dns => {
                let why = "no name server has answered in time; see /etc/resolv.conf, or give the name's address with `resolve`";
                return SampleFailure::new(ErrorKind::Dns, why);
            }
            Phase::Connect => ErrorKind::ConnectTimeout,
            Phase::Tls => ErrorKind::TlsTimeout,
            Phase::Send => ErrorKind::TimeoutSend,
            Phase::Idle | Phase::FirstByte => ErrorKind::TimeoutFirstByte,
            Phase::Body | Phase::Decompress => ErrorKind::TimeoutBody,
        };
        SampleFailure::new(kind, "")
    }
}

impl From<EvalError> for SampleFailure {
    fn from(error: EvalError) -> Self {
        let kind = if error.lacks_value() { ErrorKind::Variable } else { ErrorKind::Render };
        SampleFailure::new(kind, error.to_string())
    }
}

impl From<Error> for SampleFailure {
    fn from(error: Error) -> Self {
        use squall_wire::ErrorKind as Wire;
        let kind = match error.kind() {
            Wire::Dns => ErrorKind::Dns,
            Wire::NotAllowed => ErrorKind::HostNotAllowed,
            Wire::AddressBlocked => ErrorKind::AddressBlocked,
            Wire::ConnectRefused => ErrorKind::ConnectRefused,
            Wire::ConnectTimeout => ErrorKind::ConnectTimeout,
            Wire::ConnectFailed => ErrorKind::ConnectFailed,
            Wire::NoFreePort => ErrorKind::NoFreePort,
            Wire::TooManyOpenFiles => ErrorKind::TooManyOpenFiles,
            Wire::Tls => ErrorKind::Tls,
            Wire::Proxy => ErrorKind::Proxy,
            Wire::Reset => ErrorKind::Reset,
            Wire::ClosedEarly => ErrorKind::ClosedEarly,
            Wire::Malformed => ErrorKind::MalformedResponse,
            Wire::BodyTooLarge => ErrorKind::BodyTooLarge,
            Wire::Decode => ErrorKind::Decode,
            Wire::BodySource => ErrorKind::BodyFile,
            Wire::Io => ErrorKind::Io,
        };
        SampleFailure::new(kind, error.to_string())
    }
}
