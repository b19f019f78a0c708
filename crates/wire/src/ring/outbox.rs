//! Bytes and addresses that the kernel reads while a request to it is in flight: they are owned here, and not
//! by the sender, which may be dropped meanwhile.

use std::io::IoSlice;
use std::net::SocketAddr;

/// What is larger is sent by a system call of its own: one more costs nothing beside the copying.
pub(super) const SMALL: usize = 4096;

/// Copies of what is on its way out. A place is taken until the kernel has completed the sending.
#[derive(Default)]
pub(super) struct Outbox {
    places: Vec<Box<[u8; SMALL]>>,
    free: Vec<u32>,
}

impl Outbox {
    /// Copies pieces that are together not larger than [`SMALL`]; returns the place, the address of the
    /// copy and its length. The copy stays where it is until the place is freed.
    pub(super) fn put(&mut self, pieces: &[IoSlice<'_>]) -> (u32, *const u8, u32) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(Box::new([0; SMALL]));
            (self.places.len() - 1) as u32
        });
        let bytes = &mut self.places[place as usize];
        let mut length = 0;
        for piece in pieces {
            bytes[length..length + piece.len()].copy_from_slice(piece);
            length += piece.len();
        }
        (place, bytes.as_ptr(), length as u32)
    }

    /// The kernel is done with a place.
    pub(super) fn free(&mut self, place: u32) {
        self.free.push(place);
    }
}

/// An address in the kernel's form.
pub(super) struct Address {
    storage: libc::sockaddr_storage,
    length: libc::socklen_t,
}

impl Address {
    pub(super) fn new(to: SocketAddr) -> Box<Address> {
        // SAFETY: all fields are integers or arrays of them, for which zero is a value.
        let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
        let place = &raw mut storage;
        let length = match to {
            SocketAddr::V4(to) => {
                let address = libc::sockaddr_in {
                    sin_family: libc::AF_INET as libc::sa_family_t,
                    sin_port: to.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(to.ip().octets()) },
                    sin_zero: [0; 8],
                };
                // SAFETY: the storage is as large as any address, and aligned for all (socket(7)).
                unsafe { place.cast::<libc::sockaddr_in>().write(address) };
                size_of_val(&address)
            }
            SocketAddr::V6(to) => {
                let address = libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as libc::sa_family_t,
                    sin6_port: to.port().to_be(),
                    sin6_flowinfo: to.flowinfo(),
                    sin6_addr: libc::in6_addr { s6_addr: to.ip().octets() },
                    sin6_scope_id: to.scope_id(),
                };
                // SAFETY: as above.
                unsafe { place.cast::<libc::sockaddr_in6>().write(address) };
                size_of_val(&address)
            }
        };
        Box::new(Address { storage, length: length as libc::socklen_t })
    }

    pub(super) fn parts(&self) -> (*const libc::sockaddr, libc::socklen_t) {
        ((&raw const self.storage).cast(), self.length)
    }
}
