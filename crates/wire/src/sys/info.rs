//! TCP_INFO, read field by field.

use std::os::fd::AsRawFd;

use crate::arrivals::Inflow;

/// What the kernel knows of a TCP connection (tcp(7), TCP_INFO).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TcpInfo {
    /// Smoothed round trip time in µs; right after `connect`, that of SYN and SYN-ACK. 0: none was
    /// measured.
    rtt_us: u32,
    /// How long ago, in ms, the last data came that continued the stream: what came behind a gap does not
    /// count before the gap is closed.
    last_data_ms: u32,
    /// How long ago, in ms, the last ACK came.
    last_ack_ms: u32,
    /// Segments that were sent again, SYNs too.
    total_retrans: u32,
    /// Bytes that the other side has acknowledged, the SYN left out.
    bytes_acked: u64,
    /// Segments that had arrived already when they arrived once more, as the other side says (RFC 2883); 0
    /// before Linux 4.19.
    dsack_dups: u32,
    /// Segments that arrived behind a gap; 0 before Linux 5.4.
    out_of_order: u32,
}

impl TcpInfo {
    /// `None`: the socket is none of TCP, or the kernel is older than 4.1.
    pub(crate) fn of(socket: &impl AsRawFd) -> Option<TcpInfo> {
        // The fields' places in linux/tcp.h's `struct tcp_info`, which only grows at its end; the libc
        // crate's does not have all of them.
        const LAST_DATA_RECV: usize = 52;
        const LAST_ACK_RECV: usize = 56;
        const RTT: usize = 68;
        const TOTAL_RETRANS: usize = 100;
        const BYTES_ACKED: usize = 120;
        const DSACK_DUPS: usize = 216;
        const RCV_OOOPACK: usize = 224;
        const LENGTH: usize = 228;
        // What an older kernel does not write stays 0.
        const LEAST: usize = 128;
        let mut info = [0u8; LENGTH];
        let mut length = LENGTH as libc::socklen_t;
        // SAFETY: the descriptor is open as long as `socket` is borrowed; the kernel writes at most
        // `length` bytes to `info`, which has that many, and both live over the call.
        let result = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                info.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        if result != 0 || (length as usize) < LEAST {
            return None;
        }
        let word = |at: usize| Some(u32::from_ne_bytes(info.get(at..at + 4)?.try_into().ok()?));
        let acked = u64::from_ne_bytes(info.get(BYTES_ACKED..BYTES_ACKED + 8)?.try_into().ok()?);
        Some(TcpInfo {
            rtt_us: word(RTT)?,
            last_data_ms: word(LAST_DATA_RECV)?,
            last_ack_ms: word(LAST_ACK_RECV)?,
            total_retrans: word(TOTAL_RETRANS)?,
            // The SYN takes a place in the sequence, and is counted as a byte.
            bytes_acked: acked.saturating_sub(1),
            dsack_dups: word(DSACK_DUPS)?,
            out_of_order: word(RCV_OOOPACK)?,
        })
    }

    /// That of a connection on virtual time.
    #[cfg(test)]
    pub(crate) fn made_up(
        last_data_ms: u32,
        bytes_acked: u64,
        total_retrans: u32,
        out_of_order: u32,
    ) -> TcpInfo {
        let (rtt_us, last_ack_ms, dsack_dups) = (0, 0, 0);
        TcpInfo {
            rtt_us,
            last_data_ms,
            last_ack_ms,
            total_retrans,
            bytes_acked,
            dsack_dups,
            out_of_order,
        }
    }

    /// How long the handshake took of a connection that was begun `elapsed_ns` ago and has carried nothing.
    pub(crate) fn handshake_ns(&self, elapsed_ns: u64) -> u64 {
        // If the SYN was sent again the round trip is that of the second one, or none: what is left is the
        // age of the SYN-ACK, in ms.
        if self.total_retrans > 0 || self.rtt_us == 0 {
            return elapsed_ns.saturating_sub(u64::from(self.last_ack_ms) * 1_000_000);
        }
        u64::from(self.rtt_us) * 1_000
    }

    /// Segments that were sent again since the connection was begun because they were lost. One that was sent again
    /// for nothing, as its acknowledgement was late (a probe for a lost tail, RFC 8985), delayed nothing.
    pub(crate) fn retransmitted(&self) -> u32 {
        self.total_retrans.saturating_sub(self.dsack_dups)
    }

    /// What arrived, in which order, and when.
    pub(crate) fn inflow(&self) -> Inflow {
        Inflow {
            out_of_order: self.out_of_order,
            last_ns: u64::from(self.last_data_ms) * 1_000_000,
            tick_ns: tick_ns(),
        }
    }

    /// Bytes that the other side's kernel has acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.bytes_acked
    }
}

/// How far apart the moments are that TCP knows: a tick of the kernel's clock, in ns.
fn tick_ns() -> u64 {
    /// Of a kernel with the slowest clock that is usual.
    const LONGEST: u64 = 10_000_000;
    let mut tick = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes to `tick`, which is borrowed for that and lives over the call.
    let result = unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut tick) };
    if result == 0 { u64::try_from(tick.tv_nsec).unwrap_or(LONGEST) } else { LONGEST }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const INFO: TcpInfo = TcpInfo {
        rtt_us: 3_000,
        last_data_ms: 0,
        last_ack_ms: 0,
        total_retrans: 0,
        bytes_acked: 0,
        dsack_dups: 0,
        out_of_order: 0,
    };

    #[test]
    fn what_was_sent_again_for_nothing_was_not_lost() {
        let info = TcpInfo { total_retrans: 3, dsack_dups: 2, ..INFO };
        assert_eq!(info.retransmitted(), 1);
        assert_eq!(TcpInfo { dsack_dups: 4, ..info }.retransmitted(), 0);
    }

    /// A SYN that was lost costs its time too: 1,003 ms until the second one was answered, which took 3 ms.
    #[test]
    fn a_handshake_with_a_lost_syn_lasts_until_its_last_answer() {
        assert_eq!(INFO.handshake_ns(1_003_000_000), 3_000_000);
        let again = TcpInfo { total_retrans: 1, ..INFO };
        assert_eq!(again.handshake_ns(1_003_000_000), 1_003_000_000);
        let seen_late = TcpInfo { last_ack_ms: 40, ..again };
        assert_eq!(seen_late.handshake_ns(1_043_000_000), 1_003_000_000);
        assert_eq!(TcpInfo { rtt_us: 0, ..INFO }.handshake_ns(5_000_000), 5_000_000);
    }

    #[test]
    fn the_kernel_counts_what_was_acknowledged() {
        use std::io::{Read as _, Write as _};
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let to = listener.local_addr().expect("an address");
        let mut stream = std::net::TcpStream::connect(to).expect("a connection");
        let info = TcpInfo::of(&stream).expect("a TCP socket");
        assert_eq!(info.bytes_acked, 0);
        assert!(info.rtt_us > 0, "{info:?}");
        stream.write_all(b"hello").expect("open");
        let (mut peer, _) = listener.accept().expect("a connection");
        peer.read_exact(&mut [0; 5]).expect("open");
        peer.write_all(b"x").expect("open");
        stream.read_exact(&mut [0; 1]).expect("open");
        assert_eq!(TcpInfo::of(&stream).map(|info| info.bytes_acked), Some(5));
    }
}
