//! Which local ports are taken toward the plan's destinations, according to the system's tables of sockets.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};

use crate::proc::{port_range, proc_address, proc_socket};

/// Local ports that may be used toward the plan's destinations.
#[derive(Debug)]
pub struct Ports {
    /// The plan's source addresses; none: the system chooses.
    sources: Vec<String>,
    /// Where the plan's connections go.
    destinations: Vec<String>,
    /// The first and the last one.
    pub range: (u64, u64),
}

impl Ports {
    pub fn new(sources: &[IpAddr], destinations: &[SocketAddr]) -> Ports {
        Ports {
            sources: sources.iter().map(|own| proc_address(*own)).collect(),
            destinations: destinations.iter().map(|to| proc_socket(*to)).collect(),
            range: port_range(),
        }
    }

    /// Local ports of the range in use, in any state, toward that destination of the plan that uses the most,
    /// from its own source addresses; if it has none, from that address which uses the most, as requests may have some.
    /// What others have open toward other destinations takes none of them.
    pub fn used(&self) -> u64 {
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
        let files = tables.iter().filter_map(|path| fs::File::open(path).ok());
        self.used_in(files.map(|file| BufReader::with_capacity(1 << 16, file)))
    }

    /// The same, according to these tables of sockets.
    fn used_in(&self, tables: impl Iterator<Item = impl BufRead>) -> u64 {
        let mut toward: HashMap<(usize, u128), u64> = HashMap::new();
        for mut table in tables {
            // A line at a time: the whole table can have tens of megabytes.
            let mut line = String::new();
            while table.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
                if let Some(user) = self.user(&line) {
                    *toward.entry(user).or_default() += 1;
                }
                line.clear();
            }
        }
        toward.into_values().max().unwrap_or(0)
    }

    /// What a socket of the system's table takes a local port for, if it takes one of the range toward a destination of
    /// the plan, from an address that counts: which destination it is, and the address, if the plan has none of its own.
    fn user(&self, line: &str) -> Option<(usize, u128)> {
        let mut words = line.split_whitespace().skip(1);
        let (local, remote) = (words.next()?, words.next()?);
        let to = self.destinations.iter().position(|own| own == remote)?;
        let (from, port) = local.rsplit_once(':')?;
        let port = u64::from_str_radix(port, 16).unwrap_or(0);
        let (is_own, address) = match self.sources.is_empty() {
            true => (true, u128::from_str_radix(from, 16).unwrap_or(0)),
            false => (self.sources.iter().any(|own| own == from), 0),
        };
        let (low, high) = self.range;
        (is_own && (low..=high).contains(&port)).then_some((to, address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCALHOST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    /// Sockets that others have toward other destinations, or from other addresses, take none of the ports.
    #[test]
    fn ports_in_use_are_counted_toward_own_destinations() {
        let socket = |text: &str| text.parse::<SocketAddr>().expect("an address");
        let (own, other) = (socket("127.0.0.1:80"), socket("127.0.0.1:81"));
        let line = |port: usize, to: SocketAddr| {
            let from = socket(&format!("127.0.0.1:{port}"));
            format!("   0: {} {} 01 00000000:00000000\n", proc_socket(from), proc_socket(to))
        };
        let mut table = "  sl  local_address rem_address   st tx_queue rx_queue\n".to_owned();
        (1_000..1_030).for_each(|port| table.push_str(&line(port, own)));
        (2_000..2_050).for_each(|port| table.push_str(&line(port, other)));
        table.push_str(&line(999, own)); // not of the range
        let used = |sources: &[IpAddr]| {
            let ports = Ports { range: (1_000, 9_999), ..Ports::new(sources, &[own]) };
            ports.used_in([table.as_bytes()].into_iter())
        };
        assert_eq!((used(&[]), used(&[LOCALHOST])), (30, 30));
        assert_eq!(used(&[IpAddr::from([127, 0, 0, 2])]), 0);
    }

    /// The system's table is no snapshot: where sockets of other tests come and go, lines are left out or come twice.
    #[test]
    fn ports_in_use_are_read_from_the_system() {
        let listen = |address: &str| std::net::TcpListener::bind((address, 0)).expect("a port");
        let (own, other) = (listen("127.0.0.1"), listen("127.0.0.1"));
        let connect = |to: &std::net::TcpListener, count: usize| -> Vec<_> {
            let to = to.local_addr().expect("an address");
            (0..count).map(|_| std::net::TcpStream::connect(to).expect("it listens")).collect()
        };
        let held = [connect(&own, 30), connect(&other, 50)];
        let to = [own.local_addr().expect("an address")];
        let used = Ports::new(&[], &to).used();
        assert!((20..=40).contains(&used), "{used}: {held:?}");
    }
}
