//! How samples come to connections: of their user, or of a pool of the worker.

use std::pin::{Pin, pin};
use std::rc::Rc;

use squall_plan::model::ConnectionReuse;
use squall_wire::{ConnectTimes, Error, Http, Opened};

use crate::net::in_flight::{Cancel, InFlight};
use crate::net::origins::KnownOrigin;
use crate::net::pools::{Borrowed, Carrier, Permit, Place, Pool, Waiting, in_few_bits};
use crate::user::Core;
use crate::worker::Worker;

impl Worker {
    /// This worker's part of what the process has of a pool; at least one, so that it can do anything.
    fn pool_size(&self, size: u32) -> usize {
        let roster = self.roster.borrow();
        let size = roster.part().process().count_below(u64::from(size)) as usize;
        let of = self.of as usize;
        (size / of + usize::from((self.index as usize) < size % of)).max(1)
    }

    /// What the plan says of its pool; `None`: users share no connections.
    pub(super) fn pool(&self) -> Option<u32> {
        match self.program.connections {
            ConnectionReuse::Pool(size) => Some(size),
            ConnectionReuse::PerUser
            | ConnectionReuse::PerIteration
            | ConnectionReuse::PerRequest => None,
        }
    }

    /// Whether connections to an origin speak HTTP/2, as far as is known.
    pub(super) fn speaks_http2(&self, origin: &KnownOrigin) -> bool {
        self.program.http != Http::V1 && origin.http2.get()
    }

    /// What a request may have at once where users share no connections: a connection for itself, of
    /// which its user has as many as it needs, or a stream. `None`: it has to wait.
    pub(super) fn place_of_own(&self, user: &Core, origin: &Rc<KnownOrigin>) -> Option<Place> {
        if self.pool().is_some() {
            return None;
        }
        if !self.speaks_http2(origin) {
            return Some(Place::Connection(None));
        }
        self.pool_of(user, origin).take_in_turn()
    }

    /// The pool that a user's requests to an origin use, if they share connections at all.
    fn pool_of(&self, user: &Core, origin: &Rc<KnownOrigin>) -> Rc<Pool> {
        match self.pool() {
            Some(size) => self.pools.of(origin, self.pool_size(size)),
            None => {
                let pool = user.pools.of(origin, 1);
                pool.iteration.set(in_few_bits(user.iteration.get()));
                pool
            }
        }
    }

    /// Waits for the right to have a connection to an origin, or for a stream of one.
    pub(super) async fn place(
        &self,
        user: &Core,
        origin: &Rc<KnownOrigin>,
        in_flight: &InFlight,
    ) -> Result<Place, Cancel> {
        let pool = self.pool_of(user, origin);
        if origin.http2.get() {
            if let Some(place) = pool.take_in_turn() {
                return Ok(place);
            }
            let _waiting = Waiting::enter(&pool.waiting);
            loop {
                in_flight.run(pin!(pool.room.notified())).await?;
                if !origin.http2.get() {
                    // It has turned out to speak HTTP/1.1: the others are told as well.
                    pool.room.notify_one();
                    break;
                }
                if let Some(place) = pool.take() {
                    return Ok(place);
                }
            }
        }
        if self.pool().is_none() {
            return Ok(Place::Connection(None));
        }
        in_flight
            .run(pin!(Permit::acquire(pool)))
            .await
            .map(|permit| Place::Connection(Some(permit)))
    }

    /// A connection to an origin that is open. `fresh`: none of HTTP/1.1 that was used before will do,
    /// and one of the user's own is closed. HTTP/2 tells by itself what is stale.
    pub(super) fn open_connection(
        &self,
        user: &Core,
        origin: &Rc<KnownOrigin>,
        place: Place,
        fresh: bool,
    ) -> Result<Borrowed, Option<Permit>> {
        let permit = match place {
            Place::Stream(stream) => {
                return Ok(Borrowed::new(Carrier::Stream(stream), origin, None));
            }
            Place::Connection(permit) => permit,
        };
        let idle = match &permit {
            Some(_) if fresh => None,
            Some(permit) => permit.idle(),
            None => {
                let mut connections = user.connections.borrow_mut();
                let at = connections.iter().position(|idle| idle.origin == *origin);
                at.map(|at| connections.swap_remove(at).connection).filter(|_| !fresh)
            }
        };
        match idle {
            Some(connection) => Ok(Borrowed::new(Carrier::Connection(connection), origin, permit)),
            None => Err(permit),
        }
    }

    /// A new connection to an origin, and what it took to make it. `window`: see [`squall_wire::connect`].
    pub(super) async fn new_connection(
        &self,
        user: &Core,
        origin: &Rc<KnownOrigin>,
        permit: Option<Permit>,
        in_flight: &InFlight,
        window: Option<u32>,
    ) -> Result<Result<(Borrowed, ConnectTimes), Error>, Cancel> {
        let mut connect = squall_wire::connect(
            &self.client,
            (&origin.origin, &origin.via),
            &in_flight.progress,
            window,
        );
        let (opened, times) = match in_flight.run(Pin::new(&mut connect)).await? {
            Ok(made) => made,
            Err(error) => return Ok(Err(error)),
        };
        self.recorder.count(|counters| counters.connections_opened += 1);
        let borrowed = match opened {
            Opened::Exclusive(connection) => {
                if origin.http2.replace(false) {
                    // Who waits for a stream there waits in vain.
                    self.pool_of(user, origin).room.notify_one();
                }
                // A user has as many of these as it needs.
                let permit = permit.filter(|_| self.pool().is_some());
                Borrowed::new(Carrier::Connection(connection), origin, permit)
            }
            Opened::Multiplexed(session) => {
                origin.http2.set(true);
                self.recorder.count(|counters| counters.http2_connections += 1);
                match self.pool_of(user, origin).adopt(session, permit) {
                    Some(stream) => Borrowed::new(Carrier::Stream(stream), origin, None),
                    None => return Ok(Err(Error::closed_at_once())),
                }
            }
        };
        Ok(Ok((borrowed, times)))
    }

    /// Closes what a user may not keep over the end of its iteration.
    pub(crate) fn end_connections(&self, user: &Core) {
        if self.program.scenarios[user.scenario()].fresh_connections {
            user.connections.borrow_mut().clear();
            user.pools.clear();
        } else if self.program.via_use.of_users {
            // Each iteration may go another way, and would leave its connections behind.
            let ended = in_few_bits(user.iteration.get());
            let is_kept =
                |origin: &KnownOrigin, used: u32| used == ended || !origin.asked.is_of_user;
            user.connections.borrow_mut().retain(|idle| is_kept(&idle.origin, idle.iteration));
            user.pools.retain(is_kept);
        }
    }
}

#[cfg(test)]
mod tests;
