//! Looks at the machine that the generator runs on (proc(5)). What is not there is 0: a system without
//! `/proc` has no surroundings, and everything else works.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use rustix::process::{Resource, getrlimit};
use squall_measure::Machine;

use crate::links::Links;
use crate::needs::Has;

/// Ports are counted only when so large a part of them may be in use, ...
const PORTS_FROM: f64 = 0.25;
/// ... and, as the kernel writes a line for each socket of the machine, no more often than this many
/// times the time that it took: it may cost 1 % of a processor.
const PORTS_REST: u32 = 100;

/// Looks at the machine, again and again.
#[derive(Debug)]
pub struct Looker {
    /// Source addresses that the plan has, at least 1.
    sources: u64,
    ports: u64,
    /// When ports may be counted again.
    count_at: Instant,
    links: Links,
}

impl Looker {
    /// For a plan with so many source addresses.
    pub fn new(sources: usize) -> Looker {
        Looker {
            sources: sources.max(1) as u64,
            ports: 0,
            count_at: Instant::now(),
            links: Links::default(),
        }
    }

    /// One look.
    pub fn look(&mut self) -> Machine {
        let mut machine = Machine {
            open_files: open_files(),
            open_files_limit: getrlimit(Resource::Nofile).current.unwrap_or(0),
            ..Machine::default()
        };
        sockets(&mut machine);
        segments(&mut machine);
        process(&mut machine);
        processors(&mut machine);
        let links = self.links.look();
        (machine.network_bytes, machine.link_used_permille) = (links.bytes, links.used_permille);
        let (low, high) = port_range();
        machine.ports_limit = (high + 1).saturating_sub(low) * self.sources;
        let possible = machine.time_wait + machine.tcp_in_use;
        if possible as f64 >= machine.ports_limit as f64 * PORTS_FROM {
            let begin = Instant::now();
            if begin >= self.count_at {
                self.ports = ports_used(low, high);
                self.count_at = begin + begin.elapsed() * PORTS_REST;
            }
        } else {
            self.ports = 0;
        }
        machine.ports_used = self.ports;
        machine
    }
}

/// Processors that this process may use.
pub fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}

/// A field of `/proc/self/stat`, by its number in proc(5) less 3: fields are counted behind the name,
/// which may hold anything.
pub fn own_stat() -> impl Fn(usize) -> u64 {
    let stat = read("/proc/self/stat");
    let behind = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<u64> = behind.split_whitespace().map(|text| number(Some(text))).collect();
    move |at| fields.get(at).copied().unwrap_or(0)
}

/// What the machine has for a load.
pub fn has() -> Has {
    let files = getrlimit(Resource::Nofile);
    let memory = read("/proc/meminfo");
    let available = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = number(available.and_then(|text| text.split_whitespace().next()));
    let mut machine = Machine::default();
    sockets(&mut machine);
    Has {
        files: files.current.unwrap_or(u64::MAX),
        files_hard: files.maximum.unwrap_or(u64::MAX),
        tables: cfg!(target_os = "linux"),
        ports: port_range(),
        time_wait: machine.time_wait,
        memory: kib << 10,
        processors: cores(),
        us_per_request: None,
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn number(text: Option<&str>) -> u64 {
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Open files of the process, or of that of its threads that has most, where they have tables of their
/// own. Linux 6.2 and later say their number as the folder's size.
fn open_files() -> u64 {
    let count = |folder: &Path| match fs::metadata(folder).map(|folder| folder.len()) {
        Ok(0) => fs::read_dir(folder).map_or(0, |entries| entries.count() as u64),
        Ok(count) => count,
        Err(_) => 0,
    };
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads.map(|thread| count(&thread.path().join("fd"))).max().unwrap_or(0)
}

fn sockets(machine: &mut Machine) {
    let text = read("/proc/net/sockstat");
    let tcp = text.lines().find_map(|line| line.strip_prefix("TCP:")).unwrap_or_default();
    let words: Vec<&str> = tcp.split_whitespace().collect();
    let of = |name: &str| {
        let at = words.iter().position(|word| *word == name);
        number(at.and_then(|at| words.get(at + 1).copied()))
    };
    machine.tcp_in_use = of("inuse");
    machine.time_wait = of("tw");
    machine.tcp_memory_bytes = of("mem") * rustix::param::page_size() as u64;
}

fn segments(machine: &mut Machine) {
    let tcp = table(&read("/proc/net/snmp"), "Tcp:");
    machine.segments_sent = tcp.get("OutSegs").copied().unwrap_or(0);
    machine.retransmits = tcp.get("RetransSegs").copied().unwrap_or(0);
    machine.resets_received = tcp.get("EstabResets").copied().unwrap_or(0);
    machine.resets_sent = tcp.get("OutRsts").copied().unwrap_or(0);
    let more = table(&read("/proc/net/netstat"), "TcpExt:");
    machine.listen_overflows = more.get("ListenOverflows").copied().unwrap_or(0);
    machine.listen_drops = more.get("ListenDrops").copied().unwrap_or(0);
}

/// Names and numbers of a table that has them in two lines with the same beginning.
fn table(text: &str, begin: &str) -> HashMap<String, u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(begin));
    let (names, numbers) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let numbers = numbers.split_whitespace().map(|text| number(Some(text)));
    names.split_whitespace().map(str::to_owned).zip(numbers).collect()
}

fn process(machine: &mut Machine) {
    let stat = own_stat();
    machine.minor_faults = stat(7);
    machine.major_faults = stat(9);
    let pages = number(read("/proc/self/statm").split_whitespace().nth(1));
    machine.rss_bytes = pages * rustix::param::page_size() as u64;
}

fn processors(machine: &mut Machine) {
    let text = read("/proc/stat");
    let all = text.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    // user, nice, system, idle, iowait, irq, softirq, steal; guests are a part of user.
    let ticks: Vec<u64> = all.split_whitespace().take(8).map(|text| number(Some(text))).collect();
    machine.cpu_ticks = ticks.iter().sum();
    machine.steal_ticks = ticks.get(7).copied().unwrap_or(0);
}

/// First and last local port that the system gives out, if it says so.
pub fn ports() -> Option<(u16, u16)> {
    let (low, high) = port_range();
    Some((u16::try_from(low).ok()?, u16::try_from(high).ok()?)).filter(|(low, _)| *low > 0)
}

fn port_range() -> (u64, u64) {
    let text = read("/proc/sys/net/ipv4/ip_local_port_range");
    let mut words = text.split_whitespace();
    (number(words.next()), number(words.next()))
}

/// Local ports of the range in use toward the destination that has most, in any state.
fn ports_used(low: u64, high: u64) -> u64 {
    let mut toward: HashMap<String, u64> = HashMap::new();
    for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in read(path).lines().skip(1) {
            let mut words = line.split_whitespace().skip(1);
            let (Some(local), Some(remote)) = (words.next(), words.next()) else { continue };
            let port = local.rsplit(':').next().and_then(|hex| u64::from_str_radix(hex, 16).ok());
            let listens = remote.ends_with(":0000");
            if !listens && port.is_some_and(|port| (low..=high).contains(&port)) {
                *toward.entry(remote.to_owned()).or_default() += 1;
            }
        }
    }
    toward.into_values().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_two_lines() {
        let text = "Ip: A B\nIp: 1 2\nTcp: OutSegs MaxConn\nTcp: 7 -1\n";
        let tcp = table(text, "Tcp:");
        assert_eq!((tcp["OutSegs"], tcp["MaxConn"]), (7, 0));
        assert!(table("", "Tcp:").is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_machine_is_there() {
        let machine = Looker::new(2).look();
        assert!(machine.open_files > 2 && machine.open_files_limit > machine.open_files);
        assert!(machine.cpu_ticks > 0 && machine.rss_bytes > 1 << 20);
        assert!(machine.ports_limit > 1_000 && machine.ports_limit.is_multiple_of(2));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn ports_in_use_are_counted_by_destination() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let to = listener.local_addr().expect("an address");
        let held: Vec<_> = (0..50).map(|_| std::net::TcpStream::connect(to)).collect();
        let (low, high) = port_range();
        assert!(ports_used(low, high) >= 50, "{held:?}");
    }
}
