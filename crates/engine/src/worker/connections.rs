//! Who owns connections: a user, an iteration of it, or a pool of its worker.

use std::cell::RefCell;
use std::rc::Rc;

use squall_plan::model::ConnectionReuse;
use squall_wire::{ConnectTimes, Connection, Error, Origin};
use tokio::sync::Semaphore;

use super::Worker;
use super::flight::{Cut, Flight};
use crate::user::User;

/// Connections that users of a worker share, by origin.
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
        pools[index]
            .get_or_insert_with(|| {
                let (permits, idle) = (Semaphore::new(size), RefCell::new(Vec::new()));
                Rc::new(Pool { permits, idle })
            })
            .clone()
    }
}

/// A connection for one request, and what it took to make it, if it is new.
pub(super) struct Borrowed {
    pub connection: Connection,
    pub made: Option<ConnectTimes>,
}

impl Worker {
    /// This worker's part of the shared connections; at least one, so that it can do anything.
    fn shared_size(&self, size: u32) -> usize {
        let (size, of) = (size as usize, self.of as usize);
        (size / of + usize::from((self.index as usize) < size % of)).max(1)
    }

    /// A connection to an origin: one that is open, or a new one. A shared one may have to be
    /// waited for. `window`: see [`squall_wire::connect`].
    pub(super) async fn borrow(
        &self,
        user: &mut User,
        origin: u32,
        flight: &Flight,
        window: Option<u32>,
        fresh: bool,
    ) -> Result<Result<Borrowed, Error>, Cut> {
        if let ConnectionReuse::Pool(size) = self.program.connections {
            let pool = self.pools.of(origin, self.shared_size(size));
            let permit = flight.run(pool.permits.acquire()).await?;
            if let Ok(permit) = permit {
                permit.forget(); // given back by `give_back`
            }
            if !fresh && let Some(connection) = pool.idle.borrow_mut().pop() {
                return Ok(Ok(Borrowed { connection, made: None }));
            }
        } else if let Some(at) = user.connections.iter().position(|(own, _)| *own == origin) {
            let (_, connection) = user.connections.swap_remove(at);
            if !fresh {
                return Ok(Ok(Borrowed { connection, made: None }));
            }
        }
        let to: Rc<Origin> = self.origins.borrow()[origin as usize].clone();
        let made =
            flight.run(squall_wire::connect(&self.client, &to, &flight.progress, window)).await;
        match made {
            Ok(Ok((connection, times))) => {
                self.recorder.count(|counters| counters.connections_opened += 1);
                Ok(Ok(Borrowed { connection, made: Some(times) }))
            }
            Ok(Err(error)) => {
                self.release(origin);
                Ok(Err(error))
            }
            Err(cut) => {
                self.release(origin);
                Err(cut)
            }
        }
    }

    /// Keeps a connection for the next request, or closes it if it cannot carry one.
    pub(super) fn give_back(&self, user: &mut User, origin: u32, connection: Connection) {
        let reusable = connection.reusable();
        match self.program.connections {
            ConnectionReuse::Pool(size) => {
                if reusable {
                    let pool = self.pools.of(origin, self.shared_size(size));
                    pool.idle.borrow_mut().push(connection);
                }
                self.release(origin);
            }
            ConnectionReuse::PerUser | ConnectionReuse::PerIteration => {
                if reusable {
                    user.connections.push((origin, connection));
                }
            }
        }
    }

    /// A shared connection is free, or gone: another may take its place.
    pub(super) fn release(&self, origin: u32) {
        if let ConnectionReuse::Pool(size) = self.program.connections {
            self.pools.of(origin, self.shared_size(size)).permits.add_permits(1);
        }
    }

    /// Closes what a user may not keep over its iterations.
    pub(super) fn end_connections(&self, user: &mut User) {
        if self.program.connections == ConnectionReuse::PerIteration {
            user.connections.clear();
        }
    }
}
