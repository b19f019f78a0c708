//! Socket options of Linux that no library offers in a safe form.

use std::io;
use std::os::fd::AsRawFd;

/// Lets `bind` choose no port, so that `connect` can choose one that is free toward its destination
/// (ip(7), IP_BIND_ADDRESS_NO_PORT; it serves IPv6 sockets too).
pub(crate) fn leave_port_to_connect(socket: &impl AsRawFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is open as long as `socket` is borrowed, and the option's value is read
    // from `on`, which lives over the call and has the size that is said.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
