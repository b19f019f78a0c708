//! What the connections of one worker share: the read buffer, the round robin over addresses, names that
//! were used.

use std::cell::{Cell, RefCell, RefMut};
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::Mutex;

use crate::arrivals::Looks;
use crate::error::Error;
use crate::h1::KnownHeads;
use crate::intake::Intake;
use crate::names::Names;
use crate::progress::Clock;
use crate::ring::{LoopWaker, Ring};
use crate::settings::Io;
use crate::shared::Shared;

/// Bytes read at a time. Larger bodies cost fewer calls, smaller buffers stay in the cache.
const BUFFER: usize = 64 << 10;

/// One worker's side of its connections.
pub struct Client {
    pub(crate) shared: Arc<Shared>,
    clock: Clock,
    buffer: RefCell<Box<[u8]>>,
    /// Heads of responses that came before.
    pub(crate) heads: RefCell<KnownHeads>,
    /// Connections begun so far: picks the next of several addresses.
    connections_begun: Cell<usize>,
    /// Addresses of names that were used.
    pub(crate) names: Names,
    /// When its event loop has looked at its sockets.
    pub(crate) looks: Rc<Looks>,
    /// Who has it decompresses a large body.
    decompressing: Mutex<()>,
    ring: Option<Rc<Ring>>,
    /// How much waits for tokio's event loop.
    in_tokio: Cell<u32>,
}

/// Something waits for tokio's event loop, as long as this lives.
#[derive(Debug)]
pub struct InTokio<'a>(&'a Cell<u32>);

impl Drop for InTokio<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

impl Client {
    /// A worker's client, on the thread that it will be used on; `waker` is that of its event loop
    /// ([`crate::run_loop`]). Workers begin at different addresses.
    ///
    /// # Errors
    /// The system gives no ring, and [`Shared::io`] says that there is one.
    pub fn new(
        shared: Arc<Shared>,
        clock: Clock,
        worker: usize,
        waker: &Arc<LoopWaker>,
    ) -> io::Result<Rc<Client>> {
        let ttl = shared.settings.dns.ttl;
        let ttl_ns = ttl.and_then(|ttl| u64::try_from(ttl.as_nanos()).ok()).unwrap_or(u64::MAX);
        Ok(Rc::new(Client {
            ring: match shared.io() {
                Io::Uring => Some(Rc::new(Ring::new(clock, Some(waker.clone()))?)),
                _ => None,
            },
            shared,
            clock,
            buffer: RefCell::new(vec![0; BUFFER].into()),
            heads: RefCell::default(),
            connections_begun: Cell::new(worker),
            names: Names::new(ttl_ns),
            looks: Rc::default(),
            decompressing: Mutex::default(),
            in_tokio: Cell::new(0),
        }))
    }

    /// Whether its TCP connections wait in a ring.
    pub fn has_ring(&self) -> bool {
        self.ring.is_some()
    }

    pub(crate) fn ring(&self) -> Option<&Rc<Ring>> {
        self.ring.as_ref()
    }

    /// Tells that something will wait for tokio's event loop, until what is returned is dropped.
    pub fn in_tokio(&self) -> InTokio<'_> {
        self.in_tokio.set(self.in_tokio.get() + 1);
        InTokio(&self.in_tokio)
    }

    /// Whether something waits for tokio's event loop.
    pub fn waits_in_tokio(&self) -> bool {
        self.in_tokio.get() > 0
    }

    /// The number of a client certificate by its name.
    pub fn certificate(&self, name: &str) -> Option<u16> {
        self.shared.tls.number(name)
    }

    /// The names of the client certificates.
    pub fn certificates(&self) -> impl Iterator<Item = &str> {
        self.shared.certificates()
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The read buffer. It is held within one poll only, so that no two connections meet in it.
    pub(crate) fn buffer(&self) -> RefMut<'_, Box<[u8]>> {
        self.buffer.borrow_mut()
    }

    /// Decompresses a body that has come whole, if it is compressed. Of large ones a worker decompresses one at a time, and its event
    /// loop looks at the others' sockets between the parts: who is not read from for long has a full window, and its server
    /// has to wait.
    pub(crate) async fn decompress(&self, intake: &mut Intake<'_>) -> Result<(), Error> {
        if !intake.decompress()? {
            return Ok(());
        }
        // Boxed, so that tasks stay small.
        Box::pin(async {
            let _turn = self.decompressing.lock().await;
            while intake.decompress()? {
                self.next_turn().await;
            }
            Ok(())
        })
        .await
    }

    /// Waits until the event loop has looked at its sockets.
    pub(crate) async fn next_turn(&self) {
        let Some(ring) = &self.ring else { return tokio::task::yield_now().await };
        let mut asked = false;
        poll_fn(|cx| {
            if std::mem::replace(&mut asked, true) {
                return Poll::Ready(());
            }
            ring.wake_next_turn(cx.waker());
            Poll::Pending
        })
        .await;
    }

    pub(crate) fn next_connection_number(&self) -> usize {
        let number = self.connections_begun.get();
        self.connections_begun.set(number.wrapping_add(1));
        number
    }

    /// The source address of a connection to `to`: the next one of its family.
    pub(crate) fn source(&self, to: SocketAddr, number: usize) -> Option<IpAddr> {
        let from = &self.shared.settings.source_addresses;
        let count = from.iter().filter(|address| address.is_ipv4() == to.is_ipv4()).count();
        if count == 0 {
            return None;
        }
        from.iter().filter(|address| address.is_ipv4() == to.is_ipv4()).nth(number % count).copied()
    }
}
