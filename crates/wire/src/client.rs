//! What the connections of one worker share: the read buffer, the turn of addresses, names that
//! were looked up late.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use crate::h1::KnownHeads;
use crate::progress::Clock;
use crate::settings::Shared;

/// Bytes read at a time. Larger bodies cost fewer calls, smaller buffers stay in the cache.
const BUFFER: usize = 64 << 10;

/// One worker's side of its connections.
pub struct Client {
    pub(crate) shared: Arc<Shared>,
    clock: Clock,
    buffer: RefCell<Box<[u8]>>,
    /// Heads of answers that came before.
    pub(crate) heads: RefCell<KnownHeads>,
    /// Connections made, from which the turn of addresses follows.
    turn: Cell<usize>,
    /// Addresses of names that were not known before the run.
    pub(crate) late: RefCell<HashMap<String, Rc<[SocketAddr]>>>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

impl Client {
    /// A worker's client. Workers begin at different addresses.
    pub fn new(shared: Arc<Shared>, clock: Clock, worker: usize) -> Rc<Client> {
        Rc::new(Client {
            shared,
            clock,
            buffer: RefCell::new(vec![0; BUFFER].into()),
            heads: RefCell::default(),
            turn: Cell::new(worker),
            late: RefCell::new(HashMap::new()),
        })
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The read buffer. It is held within one poll only, so that no two connections meet in it.
    pub(crate) fn buffer(&self) -> RefMut<'_, Box<[u8]>> {
        self.buffer.borrow_mut()
    }

    pub(crate) fn next_turn(&self) -> usize {
        let turn = self.turn.get();
        self.turn.set(turn.wrapping_add(1));
        turn
    }

    /// The source address of a connection to `to`: the next one of its family.
    pub(crate) fn source(&self, to: SocketAddr, turn: usize) -> Option<IpAddr> {
        let from = &self.shared.settings.from;
        let count = from.iter().filter(|address| address.is_ipv4() == to.is_ipv4()).count();
        if count == 0 {
            return None;
        }
        from.iter().filter(|address| address.is_ipv4() == to.is_ipv4()).nth(turn % count).copied()
    }
}
