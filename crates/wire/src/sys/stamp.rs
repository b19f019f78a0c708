//! The kernel's stamp of the moment at which bytes arrived (SO_TIMESTAMPING, in the kernel's
//! `Documentation/networking/timestamping.rst`). With it the time that bytes sat in the socket until
//! this program got round to reading them is the program's, and not the server's.

use std::io;
use std::os::fd::AsRawFd;

use crate::socket_facts::Read;

/// Room for one control message with the three times of SCM_TIMESTAMPING: its header of 16 bytes and
/// 48 more.
pub(crate) const CONTROL: usize = 64;

/// Control messages have the alignment of their header.
#[repr(C, align(8))]
struct Control([u8; CONTROL]);

/// Reads what there is, without waiting, with the kernel's stamp of the last of it. 0 bytes: the other side has closed.
pub(crate) fn recv(socket: &impl AsRawFd, buffer: &mut [u8]) -> io::Result<Read> {
    let mut control = Control([0; CONTROL]);
    let mut piece = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: all fields of `msghdr` are integers and pointers, for which zero is a value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    // The C libraries do not agree on its type: `size_t` or `socklen_t`.
    message.msg_controllen = CONTROL as _;
    // SAFETY: `message` points to one piece of memory, `buffer`, borrowed for writing and of the
    // length that is said, and to `control`, of the given length; all outlive the call. The
    // C library's `recvmsg` is left out because a thread can be cancelled in it, and pays for that.
    let read = unsafe {
        libc::syscall(libc::SYS_recvmsg, socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT)
    };
    let bytes = usize::try_from(read).map_err(|_| io::Error::last_os_error())?;
    let written: usize = message.msg_controllen as _;
    let stamp = control.0.get(..written.min(CONTROL)).and_then(in_control);
    Ok(Read { bytes, stamp_ns: stamp.unwrap_or(0) })
}

/// The first time of SCM_TIMESTAMPING in control messages, in ns since 1970; `None`: there is none.
pub(crate) fn in_control(control: &[u8]) -> Option<u64> {
    let header = size_of::<libc::cmsghdr>();
    let word = |at: usize| Some(i32::from_ne_bytes(control.get(at..at + 4)?.try_into().ok()?));
    let long = |at: usize| Some(i64::from_ne_bytes(control.get(at..at + 8)?.try_into().ok()?));
    let (level, kind) = (word(header - 8)?, word(header - 4)?);
    if level != libc::SOL_SOCKET || kind != libc::SCM_TIMESTAMPING {
        return None;
    }
    let seconds = u64::try_from(long(header)?).ok().filter(|seconds| *seconds > 0)?;
    Some(seconds * 1_000_000_000 + u64::try_from(long(header + 8)?).ok()?)
}

#[cfg(test)]
mod tests {
    use super::super::testing::stamped;
    use super::*;
    use std::io::Write;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    #[test]
    fn bytes_that_sat_in_the_socket_are_old() {
        let (reader, mut writer) = stamped();
        let mut buffer = [0; 16];
        let sent = Instant::now();
        writer.write_all(b"hello").expect("open");
        reader.peek(&mut buffer).expect("open");
        sleep(Duration::from_millis(20));
        let read = recv(&reader, &mut buffer).expect("open");
        let now = crate::Clock::new(sent).system_ns();
        let ago = now.checked_sub(read.stamp_ns);
        assert_eq!(&buffer[..read.bytes], b"hello");
        // The stamp is of the system's clock, which may be set a little meanwhile.
        let most = (sent.elapsed() + Duration::from_secs(1)).as_nanos() as u64;
        let ago = ago.expect("a stamp");
        assert!((20_000_000..most).contains(&ago), "{ago} ns");
        drop(writer);
        reader.peek(&mut buffer).expect("closed");
        assert_eq!(recv(&reader, &mut buffer).expect("closed"), Read { bytes: 0, stamp_ns: 0 });
    }
}
