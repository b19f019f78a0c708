//! HTTP/1.1 (RFC 9110, RFC 9112), the server's side, by hand.
//!
//! [`head`] and [`body`] take bytes and give meaning, [`response`] renders, [`text`] holds the small encodings around
//! them. No I/O: what reads and writes are the modules `conn`, `exchange` and `serve`.

pub(crate) mod body;
pub(crate) mod head;
pub(crate) mod response;
pub(crate) mod text;

/// Why a request is refused: the connection closes after this answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// What was wrong, for the one who wrote the client.
    pub(crate) reason: &'static str,
}

impl Refusal {
    pub(crate) const fn new(status: u16, reason: &'static str) -> Self {
        Refusal { status, reason }
    }

    pub(crate) const fn bad(reason: &'static str) -> Self {
        Refusal::new(400, reason)
    }
}
