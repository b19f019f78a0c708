//! Who may be here at a time. A connection has a place until its client has shown that it may ask, or until it has its response.
//! There is always one for who comes: if all are taken, somebody else has to leave, from the client that has most of them.

use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most places, and most of them of one client.
pub const MAX_PLACES: usize = 32;
pub const MAX_OF_CLIENT: usize = 16;

/// The places of a server. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Places(Arc<Mutex<Taken>>);

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    guests: Vec<Guest>,
}

#[derive(Debug)]
struct Guest {
    number: u64,
    client: IpAddr,
    /// Its connection, to end it.
    stream: TcpStream,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub struct Place {
    places: Places,
    number: u64,
}

impl Places {
    /// A place for a connection; who has to leave for it finds its connection ended. `None`: the system has no more descriptors.
    pub fn take(&self, stream: &TcpStream) -> Option<Place> {
        let (client, stream) = (stream.peer_addr().ok()?.ip(), stream.try_clone().ok()?);
        let mut taken = self.taken();
        let clients: Vec<IpAddr> = taken.guests.iter().map(|guest| guest.client).collect();
        if let Some(index) = leaves(&clients, client) {
            // One that has ended already needs no end.
            let _ = taken.guests.remove(index).stream.shutdown(Shutdown::Both);
        }
        let number = taken.next;
        taken.next += 1;
        taken.guests.push(Guest { number, client, stream });
        Some(Place { places: self.clone(), number })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        // Each change is whole, so that a panic elsewhere leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken().guests.retain(|guest| guest.number != self.number);
    }
}

/// Which of those that are here, the oldest first, has to leave for one of a client.
fn leaves(clients: &[IpAddr], newcomer: IpAddr) -> Option<usize> {
    let of = |client: IpAddr| clients.iter().filter(|own| **own == client).count();
    let oldest_of = |client: IpAddr| clients.iter().position(|own| *own == client);
    if of(newcomer) >= MAX_OF_CLIENT {
        return oldest_of(newcomer);
    }
    if clients.len() < MAX_PLACES {
        return None;
    }
    oldest_of(*clients.iter().max_by_key(|client| of(**client))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(number: u8) -> IpAddr {
        [10, 0, 0, number].into()
    }

    #[test]
    fn there_is_a_place_for_who_comes() {
        assert_eq!(leaves(&[], client(1)), None);
        let mut clients = vec![client(2)];
        clients.extend([client(1); MAX_OF_CLIENT - 1]);
        assert_eq!(leaves(&clients, client(1)), None);
        clients.push(client(1));
        // Who has too many makes room itself, with its oldest.
        assert_eq!(leaves(&clients, client(1)), Some(1));
        assert_eq!(leaves(&clients, client(3)), None);
        let rest = MAX_PLACES - clients.len();
        clients.extend([client(3)].repeat(rest));
        // When all are taken, it is who has most of them.
        assert_eq!(leaves(&clients, client(2)), Some(1));
        assert_eq!(leaves(&clients, client(4)), Some(1));
        // However many clients there are.
        let many: Vec<IpAddr> = (0..MAX_PLACES as u8).map(client).collect();
        assert!(leaves(&many, client(200)).is_some());
    }
}
