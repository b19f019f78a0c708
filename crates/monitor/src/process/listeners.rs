//! Sockets that listen, with their queues. The kernel says it by netlink (sock_diag(7)); where it does not, `/proc/net/tcp`
//! says all but how long a queue may get.

use std::io;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, netlink, recv, send,
    socket_with,
};

use crate::system::System;

/// A socket that listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listener {
    pub port: u16,
    /// Its number, by which files of processes name it.
    pub inode: u64,
    /// Whose it is.
    pub user: u32,
    /// Connections that wait to be accepted.
    pub queue: u64,
    /// How many may wait, if that is known.
    pub limit: Option<u64>,
}

/// Most that are looked at.
const MAX_LISTENERS: usize = 4_096;
/// The state of a socket that listens.
const LISTEN: u32 = 10;

/// The sockets of this network namespace that listen for TCP.
pub(crate) fn listeners(system: &System) -> Vec<Listener> {
    let asked = match system.is_this_machine() {
        true => [2_u8, 10].into_iter().map(ask).collect::<io::Result<Vec<_>>>(),
        false => Err(io::ErrorKind::Unsupported.into()),
    };
    match asked {
        Ok(own) => own.concat(),
        Err(_) => {
            let tables = ["proc/net/tcp", "proc/net/tcp6"];
            tables.into_iter().flat_map(|path| in_table(system, path)).collect()
        }
    }
}

/// Those of an address family, by netlink.
fn ask(family: u8) -> io::Result<Vec<Listener>> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        Some(netlink::SOCK_DIAG),
    )?;
    bind(&socket, &netlink::SocketAddrNetlink::new(0, 0))?;
    rustix::net::sockopt::set_socket_timeout(
        &socket,
        rustix::net::sockopt::Timeout::Recv,
        Some(std::time::Duration::from_millis(200)),
    )?;
    send(&socket, &request(family), SendFlags::empty())?;
    let (mut found, mut buffer) = (Vec::new(), vec![0; 32 << 10]);
    while found.len() < MAX_LISTENERS {
        let (read, _) = recv(&socket, &mut buffer[..], RecvFlags::empty())?;
        match answers(&buffer[..read], &mut found) {
            Answer::More if read > 0 => {}
            Answer::More | Answer::Done => break,
            Answer::Refused => return Err(io::ErrorKind::Unsupported.into()),
        }
    }
    Ok(found)
}

/// A `SOCK_DIAG_BY_FAMILY` request for all TCP sockets in the state LISTEN: the header of a message (linux/netlink.h), and an
/// `inet_diag_req_v2` (linux/inet_diag.h).
fn request(family: u8) -> Vec<u8> {
    const SOCK_DIAG_BY_FAMILY: u16 = 20;
    const REQUEST_AND_DUMP: u16 = 0x301;
    const TCP: u8 = 6;
    const LENGTH: u32 = 16 + 56;
    let mut out = Vec::with_capacity(LENGTH as usize);
    out.extend(LENGTH.to_ne_bytes());
    out.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    out.extend(REQUEST_AND_DUMP.to_ne_bytes());
    out.extend([0; 8]);
    out.extend([family, TCP, 0, 0]);
    out.extend((1_u32 << LISTEN).to_ne_bytes());
    out.resize(LENGTH as usize, 0);
    out
}

#[derive(Debug, PartialEq, Eq)]
enum Answer {
    More,
    Done,
    Refused,
}

/// Takes the sockets of some messages: each an `inet_diag_msg` behind its header.
fn answers(mut bytes: &[u8], found: &mut Vec<Listener>) -> Answer {
    const ERROR: u16 = 2;
    const DONE: u16 = 3;
    while let Some(length) = word(bytes, 0) {
        let length = length as usize;
        let Some(body) = bytes.get(16..length) else { return Answer::Done };
        let kind = u16::from_ne_bytes([bytes[4], bytes[5]]);
        match kind {
            ERROR => return Answer::Refused,
            DONE => return Answer::Done,
            _ => found.extend(listener(body)),
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Answer::More
}

fn listener(message: &[u8]) -> Option<Listener> {
    let port = u16::from_be_bytes([*message.get(4)?, *message.get(5)?]);
    let [queue, limit, user, inode] = [56, 60, 64, 68].map(|at| word(message, at));
    Some(Listener {
        port,
        inode: inode?.into(),
        user: user?,
        queue: queue?.into(),
        limit: limit.map(u64::from),
    })
}

/// The word of 32 bits at a place.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_ne_bytes(*bytes))
}

/// Those of a table such as `/proc/net/tcp`.
fn in_table(system: &System, path: &str) -> Vec<Listener> {
    let text = system.text(path).unwrap_or_default();
    let listener = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let (_, port) = words.get(1)?.rsplit_once(':')?;
        let (_, queue) = words.get(4)?.rsplit_once(':')?;
        Some(Listener {
            port: u16::from_str_radix(port, 16).ok()?,
            inode: words.get(9)?.parse().ok()?,
            user: words.get(7)?.parse().ok()?,
            queue: u64::from_str_radix(queue, 16).ok()?,
            limit: None,
        })
    };
    // Those that listen come first.
    let lines = text.lines().skip(1);
    let listening = lines.take_while(|line| line.split_ascii_whitespace().nth(3) == Some("0A"));
    listening.filter_map(listener).take(MAX_LISTENERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listeners_are_in_the_table() {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(root.path().join("proc/net")).expect("a folder");
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0\n   \
            1: 0100007F:1F90 0100007F:A000 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0 100 0 0 10 0\n";
        std::fs::write(root.path().join("proc/net/tcp"), table).expect("a file");
        let found = listeners(&System::below(root.path()));
        let expected = Listener { port: 8080, inode: 4711, user: 1000, queue: 3, limit: None };
        assert_eq!(found, [expected]);
    }

    /// The backlog of the kernel's answer is the one that was asked for.
    #[test]
    fn this_machine_says_what_listens() {
        let own = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = own.local_addr().expect("an address").port();
        let waiting = std::net::TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        let found = listeners(&System::default());
        let found = found.iter().find(|other| other.port == port).expect("it is there");
        assert_eq!(found.queue, 1, "{waiting:?}");
        assert!(found.limit.is_none_or(|limit| limit >= 128), "{found:?}");
    }

    #[test]
    fn messages_may_hold_anything() {
        let mut found = Vec::new();
        let message = |length: u32, kind: u16| {
            let mut bytes = length.to_ne_bytes().to_vec();
            bytes.extend(kind.to_ne_bytes());
            bytes
        };
        assert_eq!(answers(&[], &mut found), Answer::More);
        assert_eq!(answers(&[1, 0, 0, 0], &mut found), Answer::Done);
        assert_eq!(answers(&message(16, 20), &mut found), Answer::Done);
        let mut refused = message(16, 2);
        refused.resize(16, 0);
        assert_eq!(answers(&refused, &mut found), Answer::Refused);
        assert!(found.is_empty());
    }
}
