//! A worker's connections, from the listener to their end: TLS, and the protocol that the client chose in it.

use std::rc::Rc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::conn::Conn;
use crate::http2;
use crate::listener::Order;
use crate::serve::serve;
use crate::tls;
use crate::transport::{Plain, Transport};
use crate::worker::{Open, Worker};

/// A client that has not finished its TLS handshake by then is disconnected.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);

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
                tokio::task::spawn_local(serve(conn));
            }
            Some(acceptor) => {
                tokio::task::spawn_local(async move {
                    match Box::pin(shake_hands(&open.0, acceptor, plain)).await {
                        None => {}
                        Some(socket) if socket.get_ref().1.alpn_protocol() == Some(tls::HTTP2) => {
                            Box::pin(http2::serve(socket, open, id)).await;
                        }
                        Some(socket) => serve(Conn::new(Transport::Tls(socket), open, id)).await,
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
