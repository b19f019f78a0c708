//! Samples the metrics of the host that squall runs on (proc(5)). Missing values are 0: without `/proc`
//! there are no host metrics, and everything else works.

mod aside;
mod listeners;

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::{Instant, SystemTime};

use rustix::process::{Resource, getrlimit};
use squall_metrics::HostSample;

use crate::capacity::Available;
use crate::network_interfaces::NetworkInterfaces;
use aside::Aside;

/// Ports are counted only when at least this share of them may be in use: the kernel writes a line for each socket of the
/// host.
const MIN_PORT_USE: f64 = 0.25;

/// Takes samples of the host. None but the last takes long: what does is read on a thread of its own.
#[derive(Debug)]
pub struct HostSampler {
    /// Ports available toward one destination.
    ports_limit: u64,
    /// Whether the plan's connections go to this machine.
    target_is_local: bool,
    aside: Aside,
    interfaces: NetworkInterfaces,
    clock: SystemClock,
}

impl HostSampler {
    /// A sampler for a plan with these source addresses, whose connections go to these destinations.
    pub fn new(sources: &[IpAddr], destinations: &[SocketAddr]) -> HostSampler {
        let (ports, local) = (Ports::new(sources, destinations), listeners::local(destinations));
        let (low, high) = ports.range;
        HostSampler {
            ports_limit: (high + 1).saturating_sub(low) * sources.len().max(1) as u64,
            target_is_local: !local.is_empty(),
            aside: Aside::new(local, ports),
            interfaces: NetworkInterfaces::default(),
            clock: SystemClock::default(),
        }
    }

    /// Takes a sample.
    pub fn sample(&mut self) -> HostSample {
        let sample = self.sample_without_ports();
        HostSample { ports_used: self.aside.ports(self.may_use_many(&sample)), ..sample }
    }

    /// Takes a sample after the load, which nothing waits for any more: all that takes long is read for it.
    pub fn last_sample(&mut self) -> HostSample {
        self.aside.look_at_target();
        let sample = self.sample_without_ports();
        match self.may_use_many(&sample) {
            true => HostSample { ports_used: self.aside.count_ports(), ..sample },
            false => sample,
        }
    }

    /// Whether so many sockets are there that a good part of the ports may be in use.
    fn may_use_many(&self, sample: &HostSample) -> bool {
        (sample.time_wait + sample.tcp_in_use) as f64 >= self.ports_limit as f64 * MIN_PORT_USE
    }

    fn sample_without_ports(&mut self) -> HostSample {
        let mut sample = HostSample {
            open_files: open_files(),
            open_files_limit: getrlimit(Resource::Nofile).current.unwrap_or(0),
            ports_limit: self.ports_limit,
            target_is_local: u64::from(self.target_is_local),
            clock_step_us: self.clock.step_us(Instant::now(), SystemTime::now()),
            ..cpu_sample()
        };
        sockets(&mut sample);
        segments(&mut sample);
        process(&mut sample);
        let network = self.interfaces.sample();
        (sample.network_bytes, sample.link_used_permille) = (network.bytes, network.used_permille);
        (sample.target_processes, sample.target_cpu_ticks, sample.target_waited_us) =
            self.aside.target();
        sample
    }
}

/// Local ports that may be used toward the plan's destinations.
#[derive(Debug)]
struct Ports {
    /// The plan's source addresses; none: the system chooses.
    sources: Vec<String>,
    /// Where the plan's connections go.
    destinations: Vec<String>,
    /// The first and the last one.
    range: (u64, u64),
}

impl Ports {
    fn new(sources: &[IpAddr], destinations: &[SocketAddr]) -> Ports {
        Ports {
            sources: sources.iter().map(|own| proc_address(*own)).collect(),
            destinations: destinations.iter().map(|to| proc_socket(*to)).collect(),
            range: port_range(),
        }
    }

    /// Local ports of the range in use, in any state, toward that destination of the plan that uses the most,
    /// from its own source addresses; if it has none, from that address which uses the most, as requests may have some.
    /// What others have open toward other destinations takes none of them.
    fn used(&self) -> u64 {
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

/// An address as `/proc/net/tcp` writes it: words of 32 bits as they lie in memory, in hexadecimal digits.
fn proc_address(address: IpAddr) -> String {
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
fn proc_socket(socket: SocketAddr) -> String {
    format!("{}:{:04X}", proc_address(socket.ip()), socket.port())
}

/// Watches the system's clock, which can be set, against the steady one.
#[derive(Debug, Default)]
struct SystemClock(Option<(Instant, SystemTime)>);

impl SystemClock {
    /// By how much it has jumped since the last time it was looked at, in µs.
    fn step_us(&mut self, steady: Instant, system: SystemTime) -> u64 {
        let Some((steady_before, system_before)) = self.0.replace((steady, system)) else {
            return 0;
        };
        let expected = system_before + (steady - steady_before);
        let step = system.duration_since(expected).unwrap_or_else(|back| back.duration());
        step.as_micros() as u64
    }
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
fn stat_fields(path: &str) -> impl Fn(usize) -> u64 + use<> {
    let stat = read(path);
    let behind = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<u64> = behind.split_whitespace().map(|text| number(Some(text))).collect();
    move |at| fields.get(at).copied().unwrap_or(0)
}

/// What the host has available for a load.
pub fn available() -> Available {
    let files = getrlimit(Resource::Nofile);
    let memory = read("/proc/meminfo");
    let available = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = number(available.and_then(|text| text.split_whitespace().next()));
    let mut sample = HostSample::default();
    sockets(&mut sample);
    Available {
        files: files.current.unwrap_or(u64::MAX),
        files_hard: files.maximum.unwrap_or(u64::MAX),
        tables: cfg!(target_os = "linux"),
        ports: port_range(),
        time_wait: sample.time_wait,
        memory: kib << 10,
        cpus: cores(),
        us_per_request: None,
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn number(text: Option<&str>) -> u64 {
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Open files of the process or, where threads have tables of their own, of the thread with the most.
/// Linux 6.2 and later report their number as the size of the folder.
fn open_files() -> u64 {
    let count = |folder: &Path| match fs::metadata(folder).map(|folder| folder.len()) {
        Ok(0) => fs::read_dir(folder).map_or(0, |entries| entries.count() as u64),
        Ok(count) => count,
        Err(_) => 0,
    };
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads.map(|thread| count(&thread.path().join("fd"))).max().unwrap_or(0)
}

fn sockets(sample: &mut HostSample) {
    let text = read("/proc/net/sockstat");
    let tcp = text.lines().find_map(|line| line.strip_prefix("TCP:")).unwrap_or_default();
    let words: Vec<&str> = tcp.split_whitespace().collect();
    let of = |name: &str| {
        let at = words.iter().position(|word| *word == name);
        number(at.and_then(|at| words.get(at + 1).copied()))
    };
    sample.tcp_in_use = of("inuse");
    sample.time_wait = of("tw");
    sample.tcp_memory_bytes = of("mem") * rustix::param::page_size() as u64;
}

fn segments(sample: &mut HostSample) {
    let tcp = table(&read("/proc/net/snmp"), "Tcp:");
    sample.segments_sent = tcp.get("OutSegs").copied().unwrap_or(0);
    sample.retransmits = tcp.get("RetransSegs").copied().unwrap_or(0);
    sample.resets_received = tcp.get("EstabResets").copied().unwrap_or(0);
    sample.resets_sent = tcp.get("OutRsts").copied().unwrap_or(0);
    let more = table(&read("/proc/net/netstat"), "TcpExt:");
    sample.out_of_order = more.get("TCPOFOQueue").copied().unwrap_or(0);
    sample.listen_overflows = more.get("ListenOverflows").copied().unwrap_or(0);
    sample.listen_drops = more.get("ListenDrops").copied().unwrap_or(0);
}

/// Names and values of a table that has them in two lines with the same prefix.
fn table(text: &str, begin: &str) -> HashMap<String, u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(begin));
    let (names, numbers) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let numbers = numbers.split_whitespace().map(|text| number(Some(text)));
    names.split_whitespace().map(str::to_owned).zip(numbers).collect()
}

fn process(sample: &mut HostSample) {
    let stat = process_stat();
    sample.minor_faults = stat(7);
    sample.major_faults = stat(9);
    let pages = number(read("/proc/self/statm").split_whitespace().nth(1));
    sample.rss_bytes = pages * rustix::param::page_size() as u64;
}

/// What of a sample says who has the CPUs, without the target.
pub fn cpu_sample() -> HostSample {
    let text = read("/proc/stat");
    let all = text.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    // user, nice, system, idle, iowait, irq, softirq, steal; guests are a part of user.
    let ticks: Vec<u64> = all.split_whitespace().take(8).map(|text| number(Some(text))).collect();
    let of = |at: usize| ticks.get(at).copied().unwrap_or(0);
    let (stat, cpu_ticks) = (process_stat(), ticks.iter().sum::<u64>());
    let pressure = read("/proc/pressure/cpu");
    let some = pressure.lines().find_map(|line| line.strip_prefix("some "));
    let total = some.and_then(|line| line.rsplit_once("total=")).map(|(_, total)| total);
    HostSample {
        cpu_ticks,
        cpu_busy_ticks: cpu_ticks - of(3) - of(4),
        interrupt_ticks: of(5) + of(6),
        steal_ticks: of(7),
        own_cpu_ticks: stat(11) + stat(12),
        cpu_pressure_us: number(total),
        ..HostSample::default()
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

fn port_range() -> (u64, u64) {
    let text = read("/proc/sys/net/ipv4/ip_local_port_range");
    let mut words = text.split_whitespace();
    (number(words.next()), number(words.next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCALHOST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn tables_of_two_lines() {
        let text = "Ip: A B\nIp: 1 2\nTcp: OutSegs MaxConn\nTcp: 7 -1\n";
        let tcp = table(text, "Tcp:");
        assert_eq!((tcp["OutSegs"], tcp["MaxConn"]), (7, 0));
        assert!(table("", "Tcp:").is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_host_has_values() {
        let mut sampler = HostSampler::new(&[LOCALHOST, IpAddr::from([127, 0, 0, 2])], &[]);
        let sample = sampler.sample();
        assert!(sample.open_files > 2 && sample.open_files_limit > sample.open_files);
        assert!(
            sample.cpu_ticks > sample.cpu_busy_ticks
                && sample.cpu_busy_ticks > 0
                && sample.rss_bytes > 1 << 20
        );
        assert!(sample.ports_limit > 1_000 && sample.ports_limit.is_multiple_of(2));
        assert_eq!((sample.target_is_local, sample.target_processes), (0, 0));
        let here = HostSampler::new(&[], &[SocketAddr::new(LOCALHOST, 80)]).sample();
        assert_eq!(here.target_is_local, 1);
    }

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
    #[cfg(target_os = "linux")]
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

    #[test]
    fn addresses_are_written_as_the_kernel_does() {
        let words = |text: &str| proc_socket(text.parse().expect("an address"));
        assert_eq!(words("127.0.0.1:8080"), "0100007F:1F90");
        assert_eq!(words("[::1]:80"), "00000000000000000000000001000000:0050");
    }

    #[test]
    fn a_clock_that_is_set_is_seen() {
        let (mut clock, steady, system) =
            (SystemClock::default(), Instant::now(), SystemTime::now());
        let second = std::time::Duration::from_secs(1);
        assert_eq!(clock.step_us(steady, system), 0);
        assert_eq!(clock.step_us(steady + second, system + second), 0);
        assert_eq!(clock.step_us(steady + 2 * second, system + 5 * second), 3_000_000);
        assert_eq!(clock.step_us(steady + 3 * second, system + 2 * second), 4_000_000);
    }
}
