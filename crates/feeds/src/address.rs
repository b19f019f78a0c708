//! Receivers that are a host and a port.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

/// Connects to the first of a host's addresses that can be had.
///
/// # Errors
/// None can; why the last of them cannot.
pub fn connect<T>(
    address: &str,
    mut connect: impl FnMut(SocketAddr) -> io::Result<T>,
) -> io::Result<T> {
    let mut last = io::Error::other("the host has no address");
    for address in address.to_socket_addrs()? {
        match connect(address) {
            Ok(connection) => return Ok(connection),
            Err(error) => last = error,
        }
    }
    Err(last)
}
