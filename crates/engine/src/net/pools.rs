//! Who owns connections: a user, an iteration of it, or a pool of its worker. What is borrowed is a
//! guard: however a request ends, dropping it gives back what it held.
//!
//! A connection of HTTP/1.1 is lent to one request at a time. One of HTTP/2 stays in its pool, and
//! requests have streams of it; a user's own is in a pool of one connection.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::{Rc, Weak};

use squall_wire::{Connection, Peer, Session, Stream};
use tokio::sync::{Notify, Semaphore};

use super::origins::KnownOrigin;

/// The connections that users of a worker share, or requests of a user, by origin.
/// Until there is one it is one word: most users have none.
#[derive(Default)]
pub(crate) struct Pools(OnceCell<Box<ByOrigin>>);

/// Fewer pools than these are kept even if they are empty.
const FEW_POOLS: usize = 64;

/// In the order of the origins' numbers.
#[derive(Default)]
struct ByOrigin {
    pools: RefCell<Vec<Rc<Pool>>>,
    /// How many pools were left when those were dropped last that are empty.
    left: Cell<usize>,
}

/// A connection of a user's own that carries no request.
pub(crate) struct Idle {
    pub origin: Rc<KnownOrigin>,
    /// The iteration in which it was used last, as far as it is told from those around it.
    pub iteration: u32,
    pub connection: Connection,
}

/// Connections to one origin, and how many more there may be.
pub(crate) struct Pool {
    origin: Rc<KnownOrigin>,
    permits: Semaphore,
    /// Connections of HTTP/1.1 that carry no request.
    idle: RefCell<Vec<Connection>>,
    /// Connections of HTTP/2; and whether each counts as one of the pool's.
    sessions: RefCell<Vec<(Session, bool)>>,
    /// Told once for each request that may go on. While there is room and somebody waits, one of those who
    /// wait has been told.
    pub room: Notify,
    /// Requests that wait for room.
    pub waiting: Cell<usize>,
    /// The iteration of its user, if it has one, in which it was used last.
    pub iteration: Cell<u32>,
}

impl Pools {
    /// The pool of an origin, made with room for so many connections if there is none.
    pub(crate) fn of(&self, origin: &Rc<KnownOrigin>, size: usize) -> Rc<Pool> {
        let all = self.0.get_or_init(Box::default);
        let mut pools = all.pools.borrow_mut();
        let place = |pools: &[Rc<Pool>]| {
            pools.binary_search_by_key(&origin.number, |pool| pool.origin.number)
        };
        let at = place(&pools).unwrap_or_else(|mut at| {
            if pools.len() >= FEW_POOLS.max(2 * all.left.get()) {
                pools.retain(|pool| Rc::strong_count(pool) > 1 || !pool.is_empty());
                all.left.set(pools.len());
                at = place(&pools).unwrap_or_else(|at| at);
            }
            let pool = Pool {
                origin: origin.clone(),
                permits: Semaphore::new(size),
                idle: RefCell::default(),
                sessions: RefCell::default(),
                room: Notify::new(),
                waiting: Cell::new(0),
                iteration: Cell::new(0),
            };
            pools.insert(at, Rc::new(pool));
            at
        });
        pools[at].clone()
    }

    /// Leaves out some, by their origins and when they were used last.
    pub(crate) fn retain(&self, is_kept: impl Fn(&KnownOrigin, u32) -> bool) {
        if let Some(pools) = self.0.get() {
            let mut pools = pools.pools.borrow_mut();
            pools.retain(|pool| is_kept(&pool.origin, pool.iteration.get()));
        }
    }

    /// Forgets all of them.
    pub(crate) fn clear(&self) {
        if let Some(pools) = self.0.get() {
            pools.pools.borrow_mut().clear();
        }
    }
}

impl Pool {
    /// A stream of the session with the fewest, or the right to make another connection if all of them are
    /// in use; `None`: there is no room.
    pub(crate) fn take(self: &Rc<Self>) -> Option<Place> {
        let place = {
            let sessions = self.sessions.borrow();
            let with_room = sessions.iter().map(|(session, _)| session).filter(|s| s.has_room());
            let best = with_room.min_by_key(|session| session.streams());
            let permit = match best {
                Some(best) if best.streams() == 0 => None,
                _ => Permit::try_acquire(self),
            };
            match permit {
                Some(permit) => Some(Place::Connection(Some(permit))),
                None => best.and_then(Session::stream).map(Place::Stream),
            }
        };
        if self.waiting.get() > 0 && place.is_some() && self.has_room() {
            self.room.notify_one();
        }
        place
    }

    /// As [`Pool::take`], unless others wait: they go first.
    pub(crate) fn take_in_turn(self: &Rc<Self>) -> Option<Place> {
        if self.waiting.get() > 0 { None } else { self.take() }
    }

    /// Whether there is no connection in it.
    fn is_empty(&self) -> bool {
        self.idle.borrow().is_empty() && self.sessions.borrow().is_empty()
    }

    fn has_room(&self) -> bool {
        self.permits.available_permits() > 0
            || self.sessions.borrow().iter().any(|(session, _)| session.has_room())
    }

    /// There may be room now.
    fn notify(&self) {
        if self.waiting.get() > 0 {
            self.room.notify_one();
        }
    }

    /// Gives up sessions that take no more requests. Those that are still on them finish there; another
    /// connection may take their place.
    fn drop_closed(&self) {
        let all = self.sessions.take();
        let (open, closed): (Vec<_>, Vec<_>) = all.into_iter().partition(|(s, _)| s.is_open());
        self.sessions.replace(open);
        self.permits.add_permits(closed.iter().filter(|(_, counts)| *counts).count());
    }

    /// Takes a new connection of HTTP/2, and gives a stream of it if it is still open.
    pub(crate) fn adopt(
        self: &Rc<Self>,
        session: Session,
        permit: Option<Permit>,
    ) -> Option<Stream> {
        let stream = session.stream()?;
        let pool: Weak<Pool> = Rc::downgrade(self);
        session.on_change(move |open| {
            let Some(pool) = pool.upgrade() else { return };
            if !open {
                pool.drop_closed();
            }
            pool.notify();
        });
        let counts = permit.is_some();
        if let Some(permit) = permit {
            permit.spend();
        }
        self.sessions.borrow_mut().push((session, counts));
        Some(stream)
    }
}

/// The right to have one of a pool's connections.
pub(crate) struct Permit {
    pool: Rc<Pool>,
    /// It belongs to a connection that stays in the pool.
    spent: bool,
}

impl Permit {
    /// A connection of its pool that is open.
    pub(crate) fn idle(&self) -> Option<Connection> {
        self.pool.idle.borrow_mut().pop()
    }

    pub(crate) async fn acquire(pool: Rc<Pool>) -> Permit {
        // A semaphore that nobody closes gives a permit at some time.
        if let Ok(permit) = pool.permits.acquire().await {
            permit.forget(); // it goes back with this guard
        }
        Permit { pool, spent: false }
    }

    fn try_acquire(pool: &Rc<Pool>) -> Option<Permit> {
        pool.permits.try_acquire().ok()?.forget(); // it goes back with this guard
        Some(Permit { pool: pool.clone(), spent: false })
    }

    fn spend(mut self) {
        self.spent = true;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if !self.spent {
            self.pool.permits.add_permits(1);
            self.pool.notify();
        }
    }
}

/// A request that waits for room, counted while it lives.
pub(crate) struct Waiting<'p>(&'p Cell<usize>);

impl<'p> Waiting<'p> {
    pub(crate) fn enter(count: &'p Cell<usize>) -> Self {
        count.set(count.get() + 1);
        Waiting(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// What a request may have.
pub(crate) enum Place {
    /// A connection for itself, of a pool if there is a permit.
    Connection(Option<Permit>),
    /// A stream of a connection that is open.
    Stream(Stream),
}

/// What carries a request.
pub(crate) enum Carrier {
    /// HTTP/1.1.
    Connection(Connection),
    /// HTTP/2.
    Stream(Stream),
}

/// What carries a request that has it for itself. Dropped, a connection is closed, and a stream reset.
pub(crate) struct Borrowed {
    pub carrier: Carrier,
    origin: Rc<KnownOrigin>,
    /// Dropped last: the connection is gone, or idle in the pool, before another may take its place.
    permit: Option<Permit>,
}

impl Borrowed {
    pub(crate) fn new(carrier: Carrier, origin: &Rc<KnownOrigin>, permit: Option<Permit>) -> Self {
        Borrowed { carrier, origin: origin.clone(), permit }
    }

    pub(crate) fn is_http2(&self) -> bool {
        matches!(self.carrier, Carrier::Stream(_))
    }

    /// Whether the connection has carried a request before.
    pub(crate) fn used(&self) -> bool {
        match &self.carrier {
            Carrier::Connection(connection) => connection.used(),
            Carrier::Stream(stream) => stream.used(),
        }
    }

    /// Who is at the other end of the connection.
    pub(crate) fn peer(&self) -> Peer {
        match &self.carrier {
            Carrier::Connection(connection) => connection.peer(),
            Carrier::Stream(stream) => stream.peer(),
        }
    }

    /// Segments that were lost and had to be sent again since this was last asked; of HTTP/2 it is not known for
    /// which request.
    pub(crate) fn newly_retransmitted(&mut self) -> u32 {
        match &mut self.carrier {
            Carrier::Connection(connection) => connection.newly_retransmitted(),
            Carrier::Stream(stream) => stream.newly_retransmitted(),
        }
    }

    /// The request is over: the connection waits for the next one, or is closed if it cannot carry one.
    /// `own` are the idle connections of its user, who uses them in this iteration.
    pub(crate) fn give_back(self, own: &RefCell<Vec<Idle>>, iteration: u64) {
        let Borrowed { carrier: Carrier::Connection(connection), origin, permit } = self else {
            return;
        };
        if !connection.reusable() {
            return;
        }
        match &permit {
            Some(permit) => permit.pool.idle.borrow_mut().push(connection),
            None => {
                let mut connections = own.borrow_mut();
                if connections.capacity() == 0 {
                    // Most users have one: a list that grows by itself begins with room for four.
                    connections.reserve_exact(1);
                }
                let iteration = in_few_bits(iteration);
                connections.push(Idle { origin, iteration, connection });
            }
        }
    }
}

/// The number of an iteration, as far as it takes to tell it from those around it.
pub(crate) fn in_few_bits(iteration: u64) -> u32 {
    iteration as u32
}
