//! Who owns connections: a user, an iteration of it, or a pool of its worker. What is borrowed is a
//! guard: however a request ends, dropping it gives back what it held.

use std::cell::RefCell;
use std::rc::Rc;

use squall_plan::model::ConnectionReuse;
use squall_wire::{ConnectTimes, Connection, Error};
use tokio::sync::Semaphore;

use super::in_flight::{Cancel, InFlight};
use crate::user::Core;
use crate::worker::Worker;

/// The connections that users of a worker share, by origin.
#[derive(Default)]
pub(crate) struct Pools {
    by_origin: RefCell<Vec<Option<Rc<Pool>>>>,
}

/// Connections to one origin, and how many more there may be.
struct Pool {
    permits: Semaphore,
    idle: RefCell<Vec<Connection>>,
}

impl Pools {
    fn of(&self, origin: u32, size: usize) -> Rc<Pool> {
        let mut pools = self.by_origin.borrow_mut();
        let index = origin as usize;
        if pools.len() <= index {
            pools.resize_with(index + 1, || None);
        }
        let new = || Rc::new(Pool { permits: Semaphore::new(size), idle: RefCell::default() });
        pools[index].get_or_insert_with(new).clone()
    }
}

/// The right to have one of a pool's connections.
pub(super) struct Permit(Rc<Pool>);

impl Permit {
    async fn acquire(pool: Rc<Pool>) -> Permit {
        // A semaphore that nobody closes gives a permit at some time.
        if let Ok(permit) = pool.permits.acquire().await {
            permit.forget(); // it goes back with this guard
        }
        Permit(pool)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.permits.add_permits(1);
    }
}

/// A connection that a request has for itself. Dropped, it is closed.
pub(super) struct Borrowed {
    pub connection: Connection,
    origin: u32,
    /// Dropped last: the connection is gone, or idle in the pool, before another may take its place.
    permit: Option<Permit>,
}

impl Borrowed {
    /// The request is over: the connection waits for the next one, or is closed if it cannot carry one.
    pub(super) fn give_back(self, user: &Core) {
        let Borrowed { connection, origin, permit } = self;
        if !connection.reusable() {
            return;
        }
        match &permit {
            Some(Permit(pool)) => pool.idle.borrow_mut().push(connection),
            None => user.connections.borrow_mut().push((origin, connection)),
        }
    }
}

impl Worker {
    /// This worker's part of a pool; at least one, so that it can do anything.
    fn pool_size(&self, size: u32) -> usize {
        let (size, of) = (size as usize, self.of as usize);
        (size / of + usize::from((self.index as usize) < size % of)).max(1)
    }

    /// What the plan says of its pool; `None`: users share no connections.
    pub(super) fn pool(&self) -> Option<u32> {
        match self.program.connections {
            ConnectionReuse::Pool(size) => Some(size),
            ConnectionReuse::PerUser | ConnectionReuse::PerIteration => None,
        }
    }

    /// Waits for the right to have a connection to an origin, where users share them; `None` where
    /// they do not.
    pub(super) async fn permit(
        &self,
        origin: u32,
        in_flight: &InFlight,
    ) -> Result<Option<Permit>, Cancel> {
        let Some(size) = self.pool() else { return Ok(None) };
        let pool = self.pools.of(origin, self.pool_size(size));
        in_flight.run(Permit::acquire(pool)).await.map(Some)
    }

    /// A connection to an origin that is idle. `fresh`: none will do, and one of the user's own is
    /// closed.
    pub(super) fn idle_connection(
        &self,
        user: &Core,
        origin: u32,
        permit: Option<Permit>,
        fresh: bool,
    ) -> Result<Borrowed, Option<Permit>> {
        let idle = match &permit {
            Some(_) if fresh => None,
            Some(Permit(pool)) => pool.idle.borrow_mut().pop(),
            None => {
                let mut connections = user.connections.borrow_mut();
                let at = connections.iter().position(|(own, _)| *own == origin);
                at.map(|at| connections.swap_remove(at).1).filter(|_| !fresh)
            }
        };
        match idle {
            Some(connection) => Ok(Borrowed { connection, origin, permit }),
            None => Err(permit),
        }
    }

    /// A new connection to an origin, and what it took to make it. `window`: see [`squall_wire::connect`].
    pub(super) async fn new_connection(
        &self,
        origin: u32,
        permit: Option<Permit>,
        in_flight: &InFlight,
        window: Option<u32>,
    ) -> Result<Result<(Borrowed, ConnectTimes), Error>, Cancel> {
        let to = self.origin(origin);
        let connect = squall_wire::connect(&self.client, &to.origin, &in_flight.progress, window);
        let made = in_flight.run(connect).await?;
        Ok(made.map(|(connection, times)| {
            self.recorder.count(|counters| counters.connections_opened += 1);
            (Borrowed { connection, origin, permit }, times)
        }))
    }

    /// Closes what a user may not keep over its iterations.
    pub(crate) fn end_connections(&self, user: &Core) {
        if self.program.connections == ConnectionReuse::PerIteration {
            user.connections.borrow_mut().clear();
        }
    }
}
