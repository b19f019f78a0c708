//! An open connection, which carries one exchange after the other.

use std::cell::OnceCell;
use std::future::poll_fn;

use super::http1::Exchange;
use crate::client::Client;
use crate::error::Error;
use crate::link::Link;
use crate::message::{Expect, RequestBytes, Response, Times};
use crate::peer::Peer;
use crate::progress::Progress;

/// An open connection. Between exchanges it holds no buffer.
pub struct Connection {
    pub(crate) stream: Link,
    exchanges: u64,
    /// When its last exchange ended, in ns on the client's clock.
    ended_ns: u64,
    /// Most segments that had been lost and sent again when that was asked.
    retransmitted: u32,
    reusable: bool,
    /// Once somebody has asked.
    peer: OnceCell<Peer>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("exchanges", &self.exchanges).finish_non_exhaustive()
    }
}

impl Connection {
    pub(crate) fn new(stream: Link) -> Self {
        let peer = OnceCell::new();
        Connection { stream, exchanges: 0, ended_ns: 0, retransmitted: 0, reusable: true, peer }
    }

    /// Who is at its other end. The first call is a system call.
    pub fn peer(&self) -> Peer {
        *self.peer.get_or_init(|| self.stream.peer())
    }

    /// Whether it may carry another request.
    pub fn reusable(&self) -> bool {
        self.reusable
    }

    /// Whether it has carried a request before.
    pub fn used(&self) -> bool {
        self.exchanges > 0
    }

    /// Segments that were lost and had to be sent again since this was last asked, those of connecting too; 0 where the
    /// system does not tell. A system call.
    pub fn newly_retransmitted(&mut self) -> u32 {
        self.stream.newly_retransmitted(&mut self.retransmitted)
    }

    /// Makes its close a reset, whenever that is.
    pub fn reset_on_close(&self) {
        self.stream.reset_on_close();
    }

    /// An exchange begins, at `now`: until it has ended nothing else goes. Returns how long the connection has rested since
    /// the last one, in ns; `None`: there was none.
    pub(super) fn begin(&mut self, now: u64) -> Option<u64> {
        self.reusable = false;
        self.exchanges += 1;
        (self.exchanges > 1).then(|| now.saturating_sub(self.ended_ns))
    }

    /// An exchange has ended, at `now`, and the connection can carry another one or not.
    pub(super) fn end(&mut self, now: u64, reusable: bool) {
        (self.ended_ns, self.reusable) = (now, reusable);
    }

    /// Sends a request and reads its response, which `done` reads in place.
    ///
    /// Dropping the future leaves the connection unusable.
    ///
    /// # Errors
    /// The connection broke, or what came is no response. [`Error::delivery`] tells how far the request
    /// had got, and [`Error::is_unsolicited`] whether a response to no request had come before it.
    pub async fn exchange<'x, R>(
        &mut self,
        client: &'x Client,
        request: RequestBytes<'x>,
        expect: Expect<'x>,
        progress: &'x Progress,
        done: impl FnOnce(&Response<'_>, Times) -> R,
    ) -> Result<R, Error> {
        let rested = self.begin(client.clock().now());
        let _in_tokio = (!self.stream.is_in_ring()).then(|| client.in_tokio());
        self.stream.begin();
        let before = self.stream.written();
        let mut exchange = Exchange::new(client, &self.stream, request, expect, progress);
        let mut done = Some(done);
        let result = match poll_fn(|cx| exchange.poll(cx, &mut self.stream, &mut done)).await {
            Ok(Some(result)) => Ok(result),
            Ok(None) => exchange.decompress(&mut done).await,
            Err(error) => Err(error),
        };
        match result {
            Ok((value, reusable)) => {
                self.end(exchange.times.end_ns, reusable);
                if reusable {
                    self.stream.rest();
                }
                Ok(value)
            }
            Err(error) => Err(error
                .after(exchange.delivery(&self.stream, before), rested)
                .with_status(exchange.status())),
        }
    }
}
