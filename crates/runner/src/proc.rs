//! What proc(5) says of this machine and this process. Missing values are 0: without `/proc` there are none.

use std::fs;
use std::net::{IpAddr, SocketAddr};

/// A file as text; empty if it cannot be read.
pub fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// A number in such a file; 0 if it is none.
pub fn number(text: Option<&str>) -> u64 {
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// CPUs that this process may use.
pub fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}

/// A field of `/proc/self/stat`, see [`stat_fields`].
pub fn process_stat() -> impl Fn(usize) -> u64 {
    stat_fields("/proc/self/stat")
}

/// A field of the `/proc/PID/stat` at this path, by its number in proc(5) minus 3: fields are counted after the name,
/// which may contain anything.
pub fn stat_fields(path: &str) -> impl Fn(usize) -> u64 + use<> {
    let stat = read(path);
    let behind = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<u64> = behind.split_whitespace().map(|text| number(Some(text))).collect();
    move |at| fields.get(at).copied().unwrap_or(0)
}

/// Connections of the machine, as `/proc/net/sockstat` counts them.
#[derive(Debug, Default)]
pub struct Sockets {
    pub in_use: u64,
    pub time_wait: u64,
    pub memory_bytes: u64,
}

/// The machine's TCP sockets.
pub fn sockets() -> Sockets {
    let text = read("/proc/net/sockstat");
    let tcp = text.lines().find_map(|line| line.strip_prefix("TCP:")).unwrap_or_default();
    let words: Vec<&str> = tcp.split_whitespace().collect();
    let of = |name: &str| {
        let at = words.iter().position(|word| *word == name);
        number(at.and_then(|at| words.get(at + 1).copied()))
    };
    Sockets {
        in_use: of("inuse"),
        time_wait: of("tw"),
        memory_bytes: of("mem") * rustix::param::page_size() as u64,
    }
}

/// How many threads of the machine ran or were ready to run, on average over the last minute (getloadavg(3)).
pub fn load_average() -> f64 {
    let text = read("/proc/loadavg");
    text.split_whitespace().next().and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// First and last ephemeral local port, if the system reports them.
pub fn ports() -> Option<(u16, u16)> {
    let (low, high) = port_range();
    Some((u16::try_from(low).ok()?, u16::try_from(high).ok()?)).filter(|(low, _)| *low > 0)
}

/// The same; zeros if it does not.
pub fn port_range() -> (u64, u64) {
    let text = read("/proc/sys/net/ipv4/ip_local_port_range");
    let mut words = text.split_whitespace();
    (number(words.next()), number(words.next()))
}

/// An address as `/proc/net/tcp` writes it: words of 32 bits as they lie in memory, in hexadecimal digits.
pub fn proc_address(address: IpAddr) -> String {
    let words = |bytes: &[u8]| {
        bytes
            .as_chunks()
            .0
            .iter()
            .map(|word| format!("{:08X}", u32::from_ne_bytes(*word)))
            .collect()
    };
    match address {
        IpAddr::V4(address) => words(&address.octets()),
        IpAddr::V6(address) => words(&address.octets()),
    }
}

/// An address and a port as `/proc/net/tcp` writes them.
pub fn proc_socket(socket: SocketAddr) -> String {
    format!("{}:{:04X}", proc_address(socket.ip()), socket.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_as_the_kernel_does() {
        let words = |text: &str| proc_socket(text.parse().expect("an address"));
        assert_eq!(words("127.0.0.1:8080"), "0100007F:1F90");
        assert_eq!(words("[::1]:80"), "00000000000000000000000001000000:0050");
    }
}
