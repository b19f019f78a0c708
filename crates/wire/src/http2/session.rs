//! A connection of HTTP/2, and the right to a stream of it.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;
use h2::client::SendRequest;

use super::failure;
use super::state::{ConnectionState, Marks};
use super::watched::Watched;
use crate::client::Client;
use crate::error::Error;
use crate::link::Link;
use crate::peer::Peer;

/// Bytes of a response that the other side may send before they are read; see docs/plan.md.
const STREAM_WINDOW: u32 = 4 << 20;
/// The same, over all streams of a connection.
const CONNECTION_WINDOW: u32 = 16 << 20;
/// The least window of a connection (RFC 9113, section 6.9.2).
const LEAST_WINDOW: u32 = 65_535;
/// Largest head of a response, as its fields are counted (RFC 9113, section 6.5.2); as in HTTP/1.
const MAX_HEAD: u32 = 256 << 10;
/// Streams at a time until the other side has said how many it takes: one more would be refused.
const UNTIL_SETTINGS: usize = 1;

/// An open HTTP/2 connection. Clones are the same connection, which is closed when the last one and
/// the last of its streams is dropped.
#[derive(Clone)]
pub struct Session(pub(super) Rc<Inner>);

pub(super) struct Inner {
    pub requests: SendRequest<Bytes>,
    pub state: Rc<ConnectionState>,
    pub needs_tokio: bool,
    pub peer: Peer,
    /// Streams that somebody has now.
    taken: Cell<usize>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.state.abandoned.set(true);
        if let Some(driver) = self.state.driver.take() {
            driver.wake();
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("streams", &self.streams()).finish_non_exhaustive()
    }
}

impl Session {
    /// Begins HTTP/2 on a link, within a `LocalSet`. `window`: see [`crate::connect()`].
    pub(crate) async fn begin(
        client: &Client,
        link: Link,
        window: Option<u32>,
    ) -> Result<Session, Error> {
        let (state, needs_tokio) = (Rc::new(ConnectionState::default()), !link.is_in_ring());
        let peer = link.peer();
        let watched = Watched::new(link, client, state.clone());
        let (stream, connection) = match window {
            Some(window) => (window.min(STREAM_WINDOW), window.clamp(LEAST_WINDOW, STREAM_WINDOW)),
            None => (STREAM_WINDOW, CONNECTION_WINDOW),
        };
        let (requests, connection) = h2::client::Builder::new()
            .enable_push(false)
            .initial_window_size(stream)
            .initial_connection_window_size(connection)
            .max_header_list_size(MAX_HEAD)
            .initial_max_send_streams(UNTIL_SETTINGS)
            // A malformed response is an error of its request, however many there are.
            .max_local_error_reset_streams(None)
            .handshake(watched)
            .await
            .map_err(|error| failure::error(&state, error, &Marks::default(), None))?;
        state.capacity.set(UNTIL_SETTINGS);
        tokio::task::spawn_local(drive(connection, state.clone()));
        let taken = Cell::new(0);
        Ok(Session(Rc::new(Inner { requests, state, needs_tokio, peer, taken })))
    }

    /// Whether requests may still be begun on it: not when it is closed, or the other side has sent
    /// GOAWAY.
    pub fn is_open(&self) -> bool {
        self.0.state.is_open()
    }

    /// Streams that somebody has now.
    pub fn streams(&self) -> usize {
        self.0.taken.get()
    }

    /// Whether the other side takes another stream now: up to its SETTINGS_MAX_CONCURRENT_STREAMS, and
    /// one until that has come.
    pub fn has_room(&self) -> bool {
        self.is_open() && self.streams() < self.0.state.capacity.get()
    }

    /// The right to one request; `None`: there is no room now.
    pub fn stream(&self) -> Option<Stream> {
        if !self.has_room() {
            return None;
        }
        self.0.taken.set(self.streams() + 1);
        Some(Stream(self.clone()))
    }

    /// Calls `told` whenever there may be room for another stream, or the connection takes no more, with
    /// whether it is open. Only the first call counts.
    pub fn on_change(&self, told: impl Fn(bool) + 'static) {
        // Whoever made the connection calls this once, before anybody else knows it.
        let _ = self.0.state.on_change.set(Box::new(told));
    }
}

/// The right to one request on an HTTP/2 connection. Dropped before its response is complete, the
/// stream is reset.
#[derive(Debug)]
pub struct Stream(pub(super) Session);

impl Stream {
    /// Whether its connection has carried a request before.
    pub fn used(&self) -> bool {
        self.0.0.state.begun.get() > 0
    }

    /// Who is at the other end of its connection.
    pub fn peer(&self) -> Peer {
        self.0.0.peer
    }

    /// How long its connection has rested since a response came, at `now`, in ns; `None`: it has carried no request.
    pub(super) fn rested_ns(&self, now: u64) -> Option<u64> {
        self.used().then(|| match self.0.0.state.answered_ns.get() {
            0 => 0,
            answered => now.saturating_sub(answered),
        })
    }

    /// Segments of its connection that were lost and had to be sent again, and were not told of before; it is not known for
    /// which request. They are looked for whenever a response was slow ([`crate::MAY_BE_RETRANSMITTED_NS`]), and when the connection
    /// broke.
    pub fn newly_retransmitted(&self) -> u32 {
        self.0.0.state.retransmitted.take()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let inner = &self.0.0;
        inner.taken.set(inner.taken.get() - 1);
        inner.state.changed();
    }
}

/// Reads and writes a connection until it ends, or nobody has it any more.
async fn drive(mut connection: h2::client::Connection<Watched, Bytes>, state: Rc<ConnectionState>) {
    poll_fn(|cx| {
        state.driver.set(Some(cx.waker().clone()));
        let polled = Pin::new(&mut connection).poll(cx);
        // What broke the connection is told to each of its streams.
        state.over.set(polled.is_ready());
        if state.news.take() || polled.is_ready() {
            state.capacity.set(connection.max_concurrent_send_streams());
            state.changed();
        }
        // One look has said goodbye, if the other side listens.
        if state.abandoned.get() { Poll::Ready(()) } else { polled.map(drop) }
    })
    .await;
}
