//! A worker: one thread's event loop and what its connections share.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::mpsc::UnboundedReceiver;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::clock::Timers;
use crate::counters::Counters;
use crate::http::conn::{self, Conn};
use crate::http::response::{Persistence, Response};
use crate::http2;
use crate::listener::Accepted;
use crate::routes::pages;
use crate::site::Site;
use crate::tls;
use crate::transport::{Plain, Transport};

/// Bytes of a date in a header, as in `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) const DATE_LEN: usize = 29;

/// Bytes read at once, into a buffer that all connections of a worker share.
pub(crate) const READ_SIZE: usize = 128 * 1024;

/// A client that has not finished its TLS handshake by then is disconnected.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);

/// Messages to a worker.
pub(crate) enum Order {
    Serve(Accepted),
    Stop,
}

/// What the connections of one thread share.
pub(crate) struct Worker {
    pub(crate) site: Arc<Site>,
    pub(crate) timers: Timers,
    pub(crate) scratch: RefCell<Scratch>,
    index: usize,
    date: Cell<(u64, [u8; DATE_LEN])>,
}

/// Buffers for the time of one poll: borrowed, used and returned without a wait in between, so
/// that a connection that waits holds none.
pub(crate) struct Scratch {
    pub(crate) read: Box<[u8]>,
    pub(crate) out: Vec<u8>,
    pub(crate) response: Response,
    pub(crate) home: HomePage,
}

impl Worker {
    pub(crate) fn new(index: usize, site: Arc<Site>) -> io::Result<Self> {
        Ok(Worker {
            timers: Timers::new()?,
            scratch: RefCell::new(Scratch {
                read: vec![0; READ_SIZE].into_boxed_slice(),
                out: Vec::new(),
                response: Response::default(),
                home: HomePage::new(),
            }),
            index,
            date: Cell::new((0, [b' '; DATE_LEN])),
            site,
        })
    }

    pub(crate) fn counters(&self) -> &Counters {
        // There is one set of counters for each index that a worker is made with.
        &self.site.counters[self.index]
    }

    /// Now, as a header says it; formatted once a second.
    pub(crate) fn date(&self) -> [u8; DATE_LEN] {
        let now = SystemTime::now();
        let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let (cached, date) = self.date.get();
        if cached == second {
            return date;
        }
        let text = httpdate::fmt_http_date(now);
        let mut date = [b' '; DATE_LEN];
        for (place, byte) in date.iter_mut().zip(text.bytes()) {
            *place = byte;
        }
        self.date.set((second, date));
        date
    }
}

/// Serves connections until it is told to stop.
pub(crate) async fn run(
    worker: Rc<Worker>,
    acceptor: Option<TlsAcceptor>,
    mut orders: UnboundedReceiver<Order>,
) {
    let driver = worker.clone();
    tokio::task::spawn_local(async move { driver.timers.drive().await });
    while let Some(Order::Serve(accepted)) = orders.recv().await {
        worker.counters().accepted.add(1);
        // The count of open connections ends with this value, wherever it is dropped.
        let open = Rc::new(Open(worker.clone()));
        let id = accepted.id;
        // A socket that cannot be registered is closed; the client sees it.
        let Ok(plain) = accepted.into_plain() else { continue };
        match acceptor.clone() {
            None => {
                let conn = Conn::new(Transport::Plain(plain), open, id);
                tokio::task::spawn_local(conn::serve(conn));
            }
            Some(acceptor) => {
                tokio::task::spawn_local(async move {
                    match Box::pin(shake_hands(&open.0, acceptor, plain)).await {
                        None => {}
                        Some(socket) if socket.get_ref().1.alpn_protocol() == Some(tls::HTTP2) => {
                            Box::pin(http2::serve(socket, open, id)).await;
                        }
                        Some(socket) => {
                            conn::serve(Conn::new(Transport::Tls(socket), open, id)).await
                        }
                    }
                });
            }
        }
    }
}

/// The server's side of the TLS handshake; `None` when it fails, which the client has been told.
async fn shake_hands(
    worker: &Worker,
    acceptor: TlsAcceptor,
    plain: Plain,
) -> Option<Box<TlsStream<Plain>>> {
    let handshake = worker.timers.within(HANDSHAKE_LIMIT, acceptor.accept(plain)).await;
    Some(Box::new(handshake?.ok()?))
}

/// A connection that is counted as open.
pub(crate) struct Open(pub(crate) Rc<Worker>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.counters().closed.add(1);
    }
}

/// The response to `GET /` in full, ready to be copied; only its date changes.
pub(crate) struct HomePage {
    bytes: Vec<u8>,
    date_at: usize,
}

impl HomePage {
    fn new() -> Self {
        let mut response = Response::new(200);
        pages::home_page(&mut response);
        let mut bytes = Vec::new();
        let date = [b'#'; DATE_LEN];
        response.render(&mut bytes, false, Persistence::Silent, &date);
        // It was rendered a moment ago, and nothing else on the page looks like it.
        let date_at = memchr::memmem::find(&bytes, &date).unwrap_or(0);
        HomePage { bytes, date_at }
    }

    pub(crate) fn render(&mut self, out: &mut Vec<u8>, date: &[u8; DATE_LEN]) {
        // The place was found in these bytes, as long as a date.
        self.bytes[self.date_at..self.date_at + DATE_LEN].copy_from_slice(date);
        out.extend_from_slice(&self.bytes);
    }
}
