//! What Linux does and the libraries do not, or not as fast. Here: options of sockets.

mod discard;
mod info;
mod stamp;
mod stream;
#[cfg(test)]
mod testing;

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use tokio::io::unix::AsyncFd;
use tokio::net::TcpSocket;

pub(crate) use self::discard::discard;
pub(crate) use self::info::TcpInfo;
pub(crate) use self::stamp::{CONTROL, in_control, recv};
pub(crate) use self::stream::{poll_discard, poll_read, poll_send_file, poll_write, send_file};
#[cfg(test)]
pub(crate) use self::testing::stamped;

/// Lets `bind` choose no port, so that `connect` can choose one that is free toward its destination
/// (ip(7), IP_BIND_ADDRESS_NO_PORT; it serves IPv6 sockets too).
pub(crate) fn leave_port_to_connect(socket: &TcpSocket) -> io::Result<()> {
    set(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)
}

/// Lets `connect` take the ports of a range one after the other (ip(7), IP_LOCAL_PORT_RANGE; the number
/// is that of linux/in.h, which the libc crate lacks). It serves IPv6 sockets too.
pub(crate) fn ports_in_turn(socket: &impl AsRawFd, range: (u16, u16)) -> io::Result<()> {
    const IP_LOCAL_PORT_RANGE: libc::c_int = 51;
    let both = u32::from(range.1) << 16 | u32::from(range.0);
    set(socket, libc::IPPROTO_IP, IP_LOCAL_PORT_RANGE, both.cast_signed())
}

/// Asks the kernel to stamp what arrives on a socket (socket(7), SO_TIMESTAMPING).
pub(crate) fn stamp_arrivals(socket: &impl AsRawFd) -> io::Result<()> {
    let flags = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    set(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags as libc::c_int)
}

/// Bounds the window that a socket offers, before it is connected (tcp(7), TCP_WINDOW_CLAMP). Its buffer
/// stays as large as it is: one that is smaller than a packet of a fast network would have it sent again.
pub(crate) fn bound_window(socket: &impl AsRawFd, bytes: u32) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    set(socket, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, bytes)
}

/// A socket whose calls block: io_uring waits by itself, unless the descriptor is non-blocking.
pub(crate) fn blocking(socket: TcpSocket) -> io::Result<OwnedFd> {
    // SAFETY: `into_raw_fd` gives up the ownership of an open descriptor, which is taken here at once.
    let fd = unsafe { OwnedFd::from_raw_fd(socket.into_raw_fd()) };
    rustix::io::ioctl_fionbio(&fd, false)?;
    Ok(fd)
}

/// A descriptor that tokio watches for something to read, at edges.
pub(crate) fn watch(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the `OwnedFd` is an open descriptor, which the `AsyncFd` owns and which is never
    // replaced: it stays open, and the same, until the `AsyncFd` is dropped.
    unsafe { AsyncFd::register_with_interest(fd, tokio::io::Interest::READABLE) }
        .map_err(io::Error::from)
}

/// Sets an option whose value is a number.
fn set(
    socket: &impl AsRawFd,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the descriptor is open as long as `socket` is borrowed, and the option's value is read
    // from `value`, which lives over the call and has the size given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use rustix::net::{AddressFamily, SocketType, connect, socket};

    use super::*;

    #[test]
    fn ports_are_given_out_one_after_the_other() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let to = listener.local_addr().expect("an address");
        let ports: Option<Vec<u16>> = (0..20)
            .map(|_| {
                let socket =
                    socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
                ports_in_turn(&socket, (32_768, 60_999)).ok()?;
                connect(&socket, &to).expect("a connection");
                let (_, from) = listener.accept().expect("a connection");
                // Its port stays taken, as those of a run's connections do.
                std::mem::forget(socket);
                Some(from.port())
            })
            .collect();
        let Some(ports) = ports else { return println!("not tested: Linux before 6.3") };
        let odd = ports.iter().filter(|port| *port % 2 == 1).count();
        // Who else takes ports on this machine may take several of one parity, but hardly all of them.
        assert!((1..=19).contains(&odd), "every second port first: {ports:?}");
    }

    #[test]
    fn a_window_can_be_bounded() {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        bound_window(&socket, 25_000).expect("an option of all sockets");
    }
}
