//! The kernel's stamp of the moment at which bytes arrived (SO_TIMESTAMPING, in the kernel's
//! `Documentation/networking/timestamping.rst`). With it the time that bytes lay in the socket until
//! this program got round to reading them is the program's, and not the server's. Linux only.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Room for one control message with the three times of SCM_TIMESTAMPING: its header of 16 bytes and
/// 48 more.
const CONTROL: usize = 64;

/// Control messages have the alignment of their header.
#[repr(C, align(8))]
struct Control([u8; CONTROL]);

/// Reads what there is, without waiting, and says how many ns ago the kernel got the last of it; `None`: it did not
/// say. 0 bytes: the other side has closed.
pub(crate) fn recv(socket: &impl AsRawFd, buffer: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
    let mut control = MaybeUninit::<Control>::uninit();
    let mut piece = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: all fields of `msghdr` are integers and pointers, for which zero is a value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = CONTROL;
    // SAFETY: `message` points to one piece of memory, `buffer`, borrowed for writing and of the
    // length that is said, and to `control`, of the length that is said; all live over the call. The
    // C library's `recvmsg` is left out because a thread can be cancelled in it, and pays for that.
    let read = unsafe {
        libc::syscall(libc::SYS_recvmsg, socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT)
    };
    let read = usize::try_from(read).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the kernel has written `msg_controllen` bytes of control messages, each with a header
    // that says its length; CMSG_FIRSTHDR gives none if not even one header fits.
    let stamp = unsafe {
        let first = libc::CMSG_FIRSTHDR(&raw const message);
        let whole = size_of::<libc::cmsghdr>() + size_of::<libc::timespec>();
        (!first.is_null()
            && (*first).cmsg_level == libc::SOL_SOCKET
            && (*first).cmsg_type == libc::SCM_TIMESTAMPING
            && (*first).cmsg_len >= whole)
            .then(|| libc::CMSG_DATA(first).cast::<libc::timespec>().read_unaligned())
    };
    Ok((read, stamp.and_then(since)))
}

/// How many ns ago a moment of the system's clock was; `None`: never, or in the future, as it is when
/// somebody has set the clock.
fn since(stamp: libc::timespec) -> Option<u64> {
    let seconds = u64::try_from(stamp.tv_sec).ok().filter(|seconds| *seconds > 0)?;
    let then = UNIX_EPOCH + Duration::new(seconds, u32::try_from(stamp.tv_nsec).ok()?);
    let ago = SystemTime::now().duration_since(then).ok()?;
    u64::try_from(ago.as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::thread::sleep;

    #[test]
    fn bytes_that_lay_in_the_socket_are_old() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let reader = TcpStream::connect(listener.local_addr().expect("an address")).expect("open");
        crate::sys::stamp_arrivals(&reader).expect("an option of all TCP sockets");
        let (mut writer, _) = listener.accept().expect("a connection");
        let mut buffer = [0; 16];
        // The kernel begins to stamp a moment after the first socket on the machine asks for it.
        let mut seen = None;
        for _ in 0..100 {
            writer.write_all(b"hello").expect("open");
            sleep(Duration::from_millis(20));
            let (read, ago) = recv(&reader, &mut buffer).expect("open");
            assert_eq!(&buffer[..read], b"hello");
            seen = ago;
            if ago.is_some() {
                break;
            }
        }
        let ago = seen.expect("a stamp");
        assert!((20_000_000..60_000_000_000).contains(&ago), "{ago} ns");
        drop(writer);
        assert_eq!(recv(&reader, &mut buffer).expect("closed"), (0, None));
    }
}
