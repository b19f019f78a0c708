//! Samples the metrics of the host that squall runs on (proc(5)). Missing values are 0: without `/proc`
//! there are no host metrics, and everything else works.

mod aside;
mod listeners;
mod ports;

use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::{Instant, SystemTime};

use rustix::process::{Resource, getrlimit};
use squall_metrics::HostSample;

use crate::network_interfaces::NetworkInterfaces;
use crate::proc::{number, process_stat, read, sockets};
use aside::Aside;
use ports::Ports;

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
        let sockets = sockets();
        (sample.tcp_in_use, sample.time_wait) = (sockets.in_use, sockets.time_wait);
        sample.tcp_memory_bytes = sockets.memory_bytes;
        segments(&mut sample);
        process(&mut sample);
        let network = self.interfaces.sample();
        (sample.network_bytes, sample.link_used_permille) = (network.bytes, network.used_permille);
        (sample.target_processes, sample.target_cpu_ticks, sample.target_waited_us) =
            self.aside.target();
        sample
    }
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
