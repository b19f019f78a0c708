//! Which connections are made on the virtual time of a thread.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;

use super::socket::VirtualSocket;
use crate::timeline::{now, sleep_until};

/// What a connection to an address comes to.
type Dial = Box<dyn FnMut(SocketAddr) -> io::Result<VirtualSocket>>;

thread_local! {
    static NETWORK: RefCell<Option<Dial>> = const { RefCell::new(None) };
}

/// From now on this thread's connections are those that `dial` gives, and none of the system's.
pub fn set_network(dial: impl FnMut(SocketAddr) -> io::Result<VirtualSocket> + 'static) {
    NETWORK.set(Some(Box::new(dial)));
}

/// Connects; `None`: this thread's connections are the system's.
pub(crate) async fn dial(to: SocketAddr) -> Option<io::Result<VirtualSocket>> {
    let dialled = NETWORK.with_borrow_mut(|network| network.as_mut().map(|dial| dial(to)))?;
    if let Ok(socket) = &dialled {
        sleep_until(now() + socket.round_trip_ns()).await;
    }
    Some(dialled)
}
