//! Which processes of this machine listen where a plan's connections go: sockets that listen are in `/proc/net/tcp`, and
//! the processes that have them open in `/proc/PID/fd` (proc(5)).

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;

use crate::proc::proc_address;

/// Most open files of a process that are looked at: a server opens what it listens on before anything else, ...
const MAX_FILES: usize = 256;
/// ... and of all processes together.
const MAX_ALL_FILES: usize = 50_000;
/// Most processes that count as the target.
const MAX_PROCESSES: usize = 64;
/// The state of a socket that listens, in the kernel's table.
const LISTENS: &str = "0A";

/// Those of some destinations that are this machine itself: only its own addresses can be bound.
pub(super) fn local(destinations: &[SocketAddr]) -> Vec<SocketAddr> {
    let is_local = |to: &&SocketAddr| UdpSocket::bind((to.ip(), 0)).is_ok();
    destinations.iter().filter(is_local).copied().collect()
}

/// The processes that listen on any of these addresses, as far as this one may see their files.
pub(super) fn processes(addresses: &[SocketAddr]) -> Vec<u32> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let files = tables.iter().filter_map(|path| fs::File::open(path).ok());
    let sockets: HashSet<String> =
        files.flat_map(|file| sockets_in(BufReader::new(file), addresses)).collect();
    if sockets.is_empty() {
        return Vec::new();
    }
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut left = MAX_ALL_FILES;
    let found = processes.filter(|process| has_any(*process, &sockets, &mut left));
    found.take(MAX_PROCESSES).collect()
}

/// The sockets of a table that listen on any of these addresses, as `/proc/PID/fd` names them.
fn sockets_in(table: impl BufRead, addresses: &[SocketAddr]) -> Vec<String> {
    let lines = table.lines().skip(1).map_while(Result::ok);
    // Those that listen come first, and the others can be tens of thousands.
    let listening = lines.take_while(|line| line.split_whitespace().nth(3) == Some(LISTENS));
    let socket = |line: String| {
        let mut words = line.split_whitespace();
        let (address, port) = words.nth(1)?.rsplit_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        let any = address.bytes().all(|digit| digit == b'0');
        let is_meant = |to: &SocketAddr| to.port() == port && (any || is_at(address, to.ip()));
        // After the local address: remote address, state, queues, timer, retransmissions, user, timeout, inode.
        let inode = words.nth(7)?;
        addresses.iter().any(is_meant).then(|| format!("socket:[{inode}]"))
    };
    listening.filter_map(socket).collect()
}

/// Whether an address of the table is this one; those of IPv4 may stand in the table of IPv6.
fn is_at(address: &str, ip: IpAddr) -> bool {
    let mapped = |ip: std::net::Ipv4Addr| proc_address(IpAddr::V6(ip.to_ipv6_mapped()));
    address == proc_address(ip) || matches!(ip, IpAddr::V4(ip) if address == mapped(ip))
}

/// Whether a process has one of these sockets open; so many more files may be looked at.
fn has_any(process: u32, sockets: &HashSet<String>, left: &mut usize) -> bool {
    let folder = Path::new("/proc").join(process.to_string()).join("fd");
    let files = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_FILES.min(*left));
    let files = files.inspect(|_| *left -= 1);
    let mut names = files.filter_map(|file| fs::read_link(file.path()).ok());
    names.any(|name| name.to_str().is_some_and(|name| sockets.contains(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn sockets_that_listen_are_found_by_address_and_port() {
        let line = |address: &str, state: &str, inode: u32| {
            let (own, remote) = (crate::proc::proc_socket(socket(address)), "00000000:0000");
            format!(
                "   0: {own} {remote} {state} 00000000:00000000 00:00000000 00000000     0        0 {inode} 1 0 100 0 0 10 0\n"
            )
        };
        let found = |to: &str, lines: &[String]| {
            sockets_in(format!("  sl  local_address\n{}", lines.concat()).as_bytes(), &[socket(to)])
        };
        let lines = [
            line("127.0.0.1:80", LISTENS, 1),
            line("0.0.0.0:80", LISTENS, 2),
            line("10.0.0.1:80", LISTENS, 3),
            line("127.0.0.1:81", LISTENS, 4),
            line("127.0.0.1:80", "01", 5),
        ];
        assert_eq!(found("127.0.0.1:80", &lines), ["socket:[1]", "socket:[2]"]);
        let of_ipv6 = [line("[::]:80", LISTENS, 6), line("[::ffff:127.0.0.1]:80", LISTENS, 7)];
        assert_eq!(found("127.0.0.1:80", &of_ipv6), ["socket:[6]", "socket:[7]"]);
        assert_eq!(found("[::1]:80", &of_ipv6), ["socket:[6]"]);
    }

    #[test]
    fn a_process_that_listens_is_found() {
        let own = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = own.local_addr().expect("an address");
        assert_eq!(local(&[address, socket("192.0.2.1:80")]), [address]);
        assert_eq!(processes(&[address]), [std::process::id()]);
        assert!(processes(&[socket("127.0.0.1:1")]).is_empty());
    }
}
